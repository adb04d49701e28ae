/** The rows of the algorithm x path matrix for the catalogue. `cargo xtask web --matrix` makes matrix.json. */

import { make } from "./dom";
import { short } from "./setup";
import matrix from "./matrix.json";

/** A value for each path; null if the study has none. */
type Values = (number | null)[];
type Row = "alone" | "jain" | "delay" | "cubic";

const algorithms = matrix.algorithms as Record<string, Record<Row, Values>>;
type Path = Record<string, string | undefined>;
const paths: Path[] = matrix.paths;

/** The strongest shading, percent of the accent colour: text stays readable on it. */
const SHADE = 26;

const ROWS: [Row, string][] = [
  ["alone", "Utilisation, one flow"],
  ["jain", "Jain's index, four flows"],
  ["delay", "Mean queueing delay of the four, ms"],
  ["cubic", "Share of the rate that two flows leave to two CUBIC flows"],
];

/** The largest delay of a path among all algorithms, to which the shading is relative. */
const largest = paths.map((_, path) => Math.max(...Object.values(algorithms).map((rows) => rows.delay[path] ?? 0)));

function cell(row: Row, value: number | null, path: number): HTMLElement {
  if (value === null) return make("td", {}, "–");
  const part = row === "delay" ? value / (largest[path] || 1) : value;
  const text = row === "delay" ? short(Number((value * 1e3).toPrecision(3))) : value.toFixed(2);
  const percent = Math.round(SHADE * Math.min(1, part));
  return make("td", { style: `background: color-mix(in srgb, var(--accent) ${percent}%, transparent)` }, text);
}

/** The table of an algorithm, or why there is none. */
export function matrixOf(name: string): HTMLElement {
  const rows = algorithms[name];
  if (!rows) return make("p", { class: "about" }, "It is not in the algorithm × path matrix.");
  const { command, version, commit } = matrix.made;
  return make("div", { class: "scroll matrix", tabindex: 0, role: "region", "aria-label": `Algorithm × path matrix: ${name}` },
    make("table", {},
      make("caption", {}, "On eleven paths ", make("span", {}, `means of the repeats of ${command}, ${version}, commit ${commit}`)),
      make("thead", {}, make("tr", {}, make("td", {}), ...paths.map((path) => make("th", { scope: "col" }, path["name"]!)))),
      make("tbody", {}, ...ROWS.map(([row, title]) => make("tr", {},
        make("th", { scope: "row" }, title), ...rows[row].map((value, path) => cell(row, value, path)))))));
}

/** What the columns and the shading of the tables mean, and the settings of each path. */
export function matrixLegend(): HTMLElement {
  const columns: [string, string][] = [
    ["name", "path"], ["rate", "rate"], ["rtt", "base RTT"], ["buffer", "buffer"], ["queue", "queue"], ["loss", "random loss"], ["duration", "duration"],
  ];
  const settings = (path: Path): Path => {
    const marks = path["ecn_threshold"] ? `${path["queue"]}, marks above ${path["ecn_threshold"]} packets` : path["queue"];
    const buffer = /^\d+$/.test(path["buffer"]!) ? `${path["buffer"]} packets` : path["buffer"];
    return { ...path, queue: marks, buffer, loss: path["loss"] ?? path["per"] ?? "none" };
  };
  return make("details", {}, make("summary", {}, "The paths of the tables"),
    make("p", { class: "about" }, "A darker cell has a larger value. Delays are shaded relative to the largest of all algorithms on the same path. "
      + "An equal share for two CUBIC flows of four is 0.5 of the rate, on a path that is fully used. The tables are an overview: each path is one of many possible settings."),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The paths of the tables" },
      make("table", {}, make("thead", {}, make("tr", {}, ...columns.map(([, title]) => make("th", { scope: "col" }, title)))),
        make("tbody", {}, ...paths.map(settings).map((path) => make("tr", {},
          make("th", { scope: "row" }, path["name"]!), ...columns.slice(1).map(([key]) => make("td", {}, path[key] ?? ""))))))));
}
