/**
 * The script of a live report (`cwnd report DIR --live web/dist/live-report.js`): a reader chooses a point of a figure, and the run behind it
 * is simulated in the page. The module is a part of the script, so that the page needs no network.
 */

import uplot from "uplot/dist/uPlot.min.css?inline";
import packed from "virtual:cwnd-study-module";
import { Charts } from "../charts";
import { make } from "../dom";
import { Lab } from "../module";
import { StudyModule } from "../playground/module";
import { Series } from "../series";
import { timeText } from "../setup";

/** For how long the page computes before it draws, ms. */
const BUDGET = 20;
/** About how many samples a run has. */
const SAMPLES = 1500;

const COLOURS = {
  light: "--edge:#868d99;--grid:#e3e6ea;--queue:#3f6fb5;--drop:#c3271b;--mark:#8a5a00;--flow-1:#0b5cad;--flow-2:#c2410c;--flow-3:#157a3c;--flow-4:#8b2fa8;--flow-5:#a16207;--flow-6:#0e7490;--flow-7:#be185d;--flow-8:#4b5563;",
  dark: "--edge:#7d8592;--grid:#2b313a;--queue:#5f92dd;--drop:#ff7b6e;--mark:#e0b04c;--flow-1:#6cb0ff;--flow-2:#ff9a5c;--flow-3:#5fd38a;--flow-4:#d79bf0;--flow-5:#e6c34a;--flow-6:#58cfe3;--flow-7:#ff8fc0;--flow-8:#b6bdc8;",
};
const STYLE = `${uplot}
:root{${COLOURS.light}}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){${COLOURS.dark}}}
:root[data-theme=dark]{${COLOURS.dark}}
[data-link]{cursor:pointer}
[data-link]:hover,[data-link]:focus,[data-link][aria-pressed=true]{stroke:var(--accent);stroke-width:2;outline:none}
.live{border:1px solid var(--edge);border-radius:6px;padding:.6rem .8rem;margin:.6rem 0}
.live figure{margin:.4rem 0}
.live figcaption{font-size:.85rem}
.live .swatch{display:inline-block;width:.8rem;height:.8rem;border-radius:3px;margin:0 .35rem;vertical-align:-1px}
.live .legend{white-space:nowrap}
.live button{font:inherit;color:inherit;background:none;border:1px solid var(--edge);border-radius:6px;padding:.2rem .6rem;cursor:pointer}
@media print{.live,.live-hint{display:none}}`;

interface Study {
  text: string;
  scale: string;
}

/** The run that is shown. There is one at a time. */
class Show {
  private readonly status = make("p", { role: "status" });
  private readonly panel: HTMLElement;
  private readonly place = make("div", { tabindex: 0, role: "group", "aria-label": "Charts over time. Left and right arrow move the cursor, plus and minus zoom, Escape shows everything." });
  private readonly charts = new Charts(this.place, () => undefined);
  private readonly series = new Series();
  private ended = false;

  constructor(private readonly link: Element, private readonly lab: Lab) {
    const label = link.getAttribute("aria-label") ?? "";
    const close = make("button", { type: "button", click: () => {
      this.end();
      (link as unknown as HTMLElement).focus();
    } }, "Close");
    this.panel = make("div", { class: "live", role: "region", "aria-label": `Run: ${label}` },
      make("p", {}, make("b", {}, label), " (first repeat, simulated here) ", close), this.status, this.place);
    link.setAttribute("aria-pressed", "true");
    link.closest(".picture")!.after(this.panel);
    const opened = lab.openCell(Number(link.getAttribute("data-link")));
    if (!opened.ok) {
      this.status.textContent = opened.problems.map((problem) => `${problem.key}: ${problem.message}`).join("; ");
      return;
    }
    const { duration, flows } = opened.value;
    this.series.describe(opened.value);
    const names = flows.slice(0, 8).map((flow, i) =>
      make("span", { class: "legend" }, make("span", { class: "swatch", style: `background:var(--flow-${i + 1})` }), `${i + 1} ${flow.algorithm}`));
    this.panel.firstElementChild!.after(make("p", {}, ...names, flows.length > 8 ? ` and ${flows.length - 8} more flows` : ""));
    this.charts.begin(this.series, duration);
    this.advance(duration);
  }

  private advance(duration: number): void {
    if (this.ended) return;
    const begin = performance.now();
    while (this.lab.now < duration - 1e-9 && performance.now() - begin < BUDGET) {
      const every = duration / SAMPLES;
      const ran = this.lab.run(Math.min(duration, this.lab.now + every), every);
      if (!ran.ok) {
        this.status.textContent = ran.problems.map((problem) => problem.message).join("; ");
        return;
      }
      this.series.add(ran.value.slice());
    }
    this.charts.draw();
    this.status.textContent = `${timeText(Number(this.lab.now.toPrecision(4)))} of ${timeText(duration)}`;
    if (this.lab.now < duration - 1e-9) setTimeout(() => this.advance(duration));
  }

  end(): void {
    this.ended = true;
    this.link.removeAttribute("aria-pressed");
    this.panel.remove();
  }
}

async function lab(study: Study): Promise<Lab> {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  const lab = await Lab.create(module);
  const opened = StudyModule.of(lab).open(study.text, study.scale);
  if (!opened.ok) throw new Error(opened.problems.map((problem) => problem.message).join("; "));
  return lab;
}

function begin(study: Study): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  let ready: Promise<Lab> | null = null;
  let show: Show | null = null;
  const choose = async (link: Element): Promise<void> => {
    show?.end();
    const picture = link.closest(".picture")!;
    const hint = picture.parentElement!.querySelector(".live-hint")!;
    try {
      hint.textContent = "The simulator is starting.";
      const simulator = await (ready ??= lab(study));
      hint.textContent = HINT;
      show?.end();
      show = new Show(link, simulator);
    } catch (error) {
      ready = null;
      hint.textContent = `The run cannot be simulated: ${String(error)}`;
    }
  };
  for (const picture of document.querySelectorAll(".picture")) {
    if (picture.querySelector("[data-link]")) picture.after(make("p", { class: "live-hint", role: "status" }, HINT));
  }
  for (const link of document.querySelectorAll("[data-link]")) {
    link.addEventListener("click", () => void choose(link));
    link.addEventListener("keydown", (event) => {
      const { key } = event as KeyboardEvent;
      if (key !== "Enter" && key !== " ") return;
      event.preventDefault();
      void choose(link);
    });
  }
}

const HINT = "Choose a point to simulate its run and see it over time.";

const place = document.getElementById("live-study");
if (place) begin(JSON.parse(place.textContent ?? "") as Study);
