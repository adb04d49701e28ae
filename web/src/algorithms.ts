/** The catalogue: every algorithm with its idea, parameters and state, and a live run of each against CUBIC. */

import equations from "virtual:equations";
import { Charts } from "./charts";
import { byId, make } from "./dom";
import { withModule, type Simulator } from "./load";
import { matrixLegend, matrixOf } from "./matrix";
import type { Algorithm } from "./module";
import { linkToMachine } from "./pages";
import { Run } from "./run";
import { fromLines, lines, toHash } from "./setup";
import "./style.css";
import "./equations.css";

/** The path of the live runs: the buffer is one BDP. */
const PATH = ["rate=20 Mbit/s", "rtt=40 ms", "buffer=67", "duration=30 s"];
/** How far a live run comes in a second, seconds. */
const SPEED = 6;

/** What runs when an algorithm is shown: with CUBIC from the tenth second on, and with marks if these are its first signal. */
function shown(algorithm: Algorithm): string[] {
  const marks = algorithm.signals[0] === "ecn" ? ["ecn=on", "ecn-threshold=20"] : [];
  return [...PATH, ...marks, `flow=${algorithm.name}`, "flow=cubic; start=10 s"];
}

/** The live run of an algorithm. There is one at a time. */
class Show {
  private readonly run: Run;
  private readonly charts: Charts;
  private last = performance.now();
  private ended = false;
  private readonly wrong = make("p", { class: "wrong", role: "alert" });

  constructor(simulator: Simulator, algorithm: Algorithm, readonly place: HTMLElement) {
    const parent = make("div", {});
    place.replaceChildren(
      make("p", { class: "about" }, `Flow 1 is ${algorithm.name}; flow 2 is cubic, from 10 s on. ${PATH.slice(0, 3).join(", ")}.`), parent, this.wrong);
    this.charts = new Charts(parent, () => undefined);
    const setting = lines(fromLines(shown(algorithm))).join("\n");
    this.run = new Run(simulator, setting, 30, {
      described: () => this.charts.begin(this.run.series, 30),
      advanced: () => this.charts.draw(),
      problems: (problems) => (this.wrong.textContent = problems.map((one) => `${one.key}: ${one.message}`).join("; ")),
    });
    requestAnimationFrame((time) => this.frame(time));
  }

  end(): void {
    this.ended = true;
    this.run.end();
    this.place.replaceChildren();
  }

  private frame(time: number): void {
    if (this.ended || this.run.finished) return;
    const passed = Math.min(100, time - this.last) / 1000;
    this.last = time;
    if (this.run.idle) this.run.runTo(this.run.now + passed * SPEED);
    requestAnimationFrame((next) => this.frame(next));
  }
}

let show: Show | null = null;

function entry(simulator: Simulator, algorithm: Algorithm): HTMLElement {
  const place = make("div", { class: "show" });
  const button = make("button", { type: "button", "aria-label": `Run it here: ${algorithm.title}`, click: () => {
    show?.end();
    show = new Show(simulator, algorithm, place);
  } }, "Run it here");
  const link = make("a", { href: `./#${toHash(fromLines(shown(algorithm)))}`, "aria-label": `Open on the bench: ${algorithm.title}` }, "Open on the bench");
  const parameters = algorithm.parameters.map((one) =>
    [one.name, one.default, one.unit === "1" ? "" : one.unit, one.valid, one.about]);
  const state = algorithm.observables.map((one) =>
    [one.name, one.symbol, one.unit === "1" ? "" : one.unit, one.modes.length > 0 ? `${one.about}: ${one.modes.join(", ")}` : one.about]);
  return make("article", { id: algorithm.name, "data-words": words(algorithm) },
    make("h2", {}, algorithm.title, make("span", {}, ` ${algorithm.name}, ${algorithm.year}; reacts to ${algorithm.signals.join(", ")}`)),
    make("p", {}, algorithm.summary),
    ...typeset(algorithm),
    make("div", { class: "actions" }, button, link),
    place,
    matrixOf(algorithm.name),
    make("details", {}, make("summary", {}, "Strengths, weaknesses, parameters, state"),
      make("dl", {},
        make("dt", {}, "Strengths"), make("dd", {}, algorithm.strengths),
        make("dt", {}, "Weaknesses"), make("dd", {}, algorithm.weaknesses),
        make("dt", {}, "Source"), make("dd", {}, algorithm.reference)),
      table("Parameters", ["name", "default", "unit", "valid", "meaning"], parameters, "It has no parameters."),
      table("State, with the equations of the source", ["name", "symbol", "unit", "meaning"], state, "It shows no state but its window.")));
}

/** Lets the keyboard scroll the boxes whose equation is wider than they are. */
const boxes = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  }
});

/** Returns the equations of an algorithm. The build made their MathML. */
function typeset(algorithm: Algorithm): HTMLElement[] {
  const all = (equations[algorithm.name] ?? []).map(([math, caption], i) => {
    const id = `${algorithm.name}-equation-${i + 1}`;
    const parsed = new DOMParser().parseFromString(math, "text/xml").documentElement;
    const box = make("div", { class: "scroll", role: "group", "aria-labelledby": id }, document.importNode(parsed, true));
    boxes.observe(box);
    return make("figure", { class: "equation" }, box, make("figcaption", { id }, caption));
  });
  return all.length > 0 ? [make("div", { class: "equations" }, ...all)] : [];
}

function words(algorithm: Algorithm): string {
  return [algorithm.name, algorithm.title, algorithm.summary, algorithm.signals.join(" ")].join(" ").toLowerCase();
}

function table(caption: string, head: string[], rows: string[][], none: string): HTMLElement {
  if (rows.length === 0) return make("p", { class: "about" }, none);
  return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    make("table", {}, make("caption", {}, caption),
      make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((text) => make("td", {}, text)))))));
}

function filter(): void {
  const wanted = byId<HTMLInputElement>("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const article of byId("list").querySelectorAll("article")) {
    const has = wanted.every((word) => article.dataset["words"]!.includes(word));
    article.hidden = !has;
    found += has ? 1 : 0;
  }
  byId("status").textContent = found === 0 ? "No algorithm has all these words: use fewer." : `${found} ${found === 1 ? "algorithm" : "algorithms"}`;
}

linkToMachine();
void withModule((simulator, lab) => {
  byId("list").before(matrixLegend());
  byId("list").append(...lab.catalogue().map((algorithm) => entry(simulator, algorithm)));
  byId("words").addEventListener("input", filter);
  byId("filter").addEventListener("submit", (event) => event.preventDefault());
  filter();
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
});
