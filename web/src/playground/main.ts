/** The study playground: a study in an editor, its cost, its runs in workers, its report. */

import { byId, make } from "../dom";
import type { Editor, Mark } from "../editor";
import { pack, unpack } from "../packed";
import { keep, kept, linkToMachine } from "../pages";
import { short, timeText } from "../setup";
import "../style.css";
import { completion } from "./completion";
import { Crew } from "./crew";
import { EXAMPLES, FIRST } from "./examples";
import type { Diagnostic, StudyDescription } from "./module";
import wasm from "../../../target/web/cwnd-study.wasm?url";

/** About how many times longer a run takes here than in the native simulator: docs/how-to/web.md has the measurement. */
const SLOWER = 2;
/** More than this a browser does not give to a worker, bytes. */
const MEMORY = 2e9;
/** The keys under which the texts of addresses are kept begin with this. */
const KEPT = "cwnd-study";

class Playground {
  private editor: Editor | null = null;
  private study: StudyDescription | null = null;
  private running = false;
  private report = "";
  /** The address of which the text is, and the text that it has. */
  private address = location.hash;
  private original = FIRST;
  private readonly run = byId<HTMLButtonElement>("run");
  private readonly cancel = byId<HTMLButtonElement>("cancel");
  private readonly scale = byId<HTMLSelectElement>("scale");
  private readonly example = byId<HTMLSelectElement>("example");

  constructor(private readonly crew: Crew) {
    this.example.append(make("option", { value: "" }, "choose an example"),
      ...EXAMPLES.map((one) => make("option", { value: one.name }, one.name)));
    this.example.addEventListener("change", () => void this.choose());
    this.scale.addEventListener("change", () => void this.check(this.editor!.text));
    this.run.addEventListener("click", () => void this.start());
    this.cancel.addEventListener("click", () => this.crew.cancel());
    byId("copy-link").addEventListener("click", () => void this.copyLink());
    byId("save").addEventListener("click", () => this.save());
  }

  async begin(): Promise<void> {
    const [{ Editor }, schema] = await Promise.all([import("../editor"), this.crew.schema()]);
    let text = FIRST;
    let problem: Diagnostic | null = null;
    const packed = /^#study=([\w-]+)$/.exec(location.hash);
    if (packed) {
      text = await unpack(packed[1]!).catch(() => {
        problem = { line: 0, column: 1, width: 1, message: "the link cannot be read: it is cut or changed; this is the first example", help: "" };
        return FIRST;
      });
    }
    this.original = text;
    if (problem === null) text = written() ?? text;
    this.editor = new Editor(byId("editor"), {
      label: "Study file, TOML",
      language: "toml",
      text,
      check: (text) => this.check(text),
      complete: completion(schema),
      run: () => this.run.click(),
    });
    await this.check(text);
    if (problem) this.problems([problem]);
    addEventListener("pagehide", () => this.keep());
    // A tab in the background may be ended without a word.
    document.addEventListener("visibilitychange", () => document.hidden && this.keep());
    // Another link, in the address of this page.
    addEventListener("hashchange", () => location.hash !== this.address && location.reload());
  }

  private async choose(): Promise<void> {
    const chosen = EXAMPLES.find((one) => one.name === this.example.value);
    if (!chosen || !this.editor) return;
    this.editor.text = await chosen.text();
    await this.check(this.editor.text);
  }

  /** Reads a study, shows what it would cost or what is wrong, and returns the lines that are. */
  private async check(text: string): Promise<Mark[]> {
    // The study that is run must stay where it is run.
    if (this.running) return [];
    try {
      const opened = await this.crew.open(text, this.scale.value);
      if (this.running) return [];
      this.study = opened.ok ? opened.study : null;
      if (opened.ok) this.showCost(opened.study);
      else byId("status").textContent = "The study cannot run yet.";
      this.problems(opened.ok ? [] : opened.problems);
      this.buttons();
      return opened.ok ? [] : opened.problems.map(({ line, message, help }) => ({ line, message: help ? `${message}. ${help}` : message }));
    } catch (error) {
      this.study = null;
      this.buttons();
      this.problems([{ line: 0, column: 1, width: 1, message: String(error), help: "reload the page" }]);
      return [];
    }
  }

  private showCost(study: StudyDescription): void {
    const packets = study.packets >= 1e9 ? `${short(Number((study.packets / 1e9).toPrecision(2)))} billion` : `${short(Number((study.packets / 1e6).toPrecision(2)))} million`;
    const workers = Math.min(Math.max(1, (navigator.hardwareConcurrency || 2) - 1), study.runs.length);
    const time = timeText(Number(((study.seconds * SLOWER) / workers).toPrecision(2)));
    const each = study.repeats === 1 ? "1 run each" : `${study.repeats} repeats each`;
    byId("status").textContent = `${study.cells} cells, ${each}: ${study.runs.length} runs, about ${packets} packets, about ${time} in ${workers} ${workers === 1 ? "worker" : "workers"}.`;
    if (study.memory > MEMORY) {
      this.study = null;
      byId("status").textContent += ` The largest run needs about ${short(study.memory / 1e9)} GB, more than a browser gives: run this study with cwnd.`;
    }
  }

  private async start(): Promise<void> {
    if (this.running || !this.editor) return;
    const text = this.editor.text;
    // It may have changed since it was checked.
    await this.check(text);
    const study = this.study;
    if (!study || this.running) return;
    this.running = true;
    this.buttons();
    this.problems([]);
    const progress = byId<HTMLProgressElement>("progress");
    const all = study.runs.length;
    const show = (done: number) => {
      progress.value = done / all;
      byId("status").textContent = `${done} of ${all} runs are done.`;
    };
    progress.hidden = false;
    show(0);
    const begin = performance.now();
    let done = 0;
    try {
      this.report = await this.crew.run(text, this.scale.value, study.runs.map(Number), liveScript(), (now) => show((done = now)));
      const frame = byId<HTMLIFrameElement>("report");
      frame.srcdoc = this.report;
      frame.hidden = false;
      byId("empty").hidden = true;
      const seconds = timeText(Number(((performance.now() - begin) / 1000).toPrecision(2)));
      byId("status").textContent = done === all ? `All ${all} runs are done, in ${seconds}.` : `Cancelled after ${done} of ${all} runs; the report has these.`;
    } catch (error) {
      this.problems([{ line: 0, column: 1, width: 1, message: String(error), help: "" }]);
      byId("status").textContent = "The study failed.";
    }
    progress.hidden = true;
    this.running = false;
    this.buttons();
    this.cancel.blur();
    if (this.editor.text !== text) await this.check(this.editor.text);
  }

  private problems(problems: Diagnostic[]): void {
    const place = byId("problems");
    place.hidden = problems.length === 0;
    place.replaceChildren(make("ul", {}, ...problems.map((problem) => {
      const text = `${problem.message}${problem.help ? `. ${problem.help}` : ""}`;
      if (problem.line === 0) return make("li", {}, text);
      return make("li", {}, make("button", { type: "button", class: "link", click: () => this.editor?.show(problem.line) }, `Line ${problem.line}`), `: ${text}`);
    })));
  }

  private buttons(): void {
    this.run.disabled = this.running || this.study === null;
    this.cancel.disabled = !this.running;
    this.example.disabled = this.scale.disabled = this.running;
    byId<HTMLButtonElement>("save").disabled = this.report === "";
  }

  /** Keeps the text for when this page is loaded again, unless it is what the address has anyway. */
  private keep(): void {
    const text = this.editor?.text ?? this.original;
    keep(KEPT + this.address, text === this.original ? "" : text);
  }

  private async copyLink(): Promise<void> {
    const text = this.editor?.text ?? "";
    history.replaceState(null, "", `#study=${await pack(text)}`);
    [this.address, this.original] = [location.hash, text];
    try {
      await navigator.clipboard.writeText(location.href);
      byId("status").textContent = "The link is in the clipboard.";
    } catch {
      byId("status").textContent = "The browser does not allow copying: copy the address of this page.";
    }
  }

  private save(): void {
    const url = URL.createObjectURL(new Blob([this.report], { type: "text/html" }));
    const link = make("a", { href: url, download: "report.html" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }
}

/**
 * The text that was written at this address before; null if there is none. A link has its own text, except where the page is loaded
 * again or returned to.
 */
function written(): string | null {
  const navigation = performance.getEntriesByType("navigation")[0];
  const returns = navigation instanceof PerformanceNavigationTiming && ["reload", "back_forward"].includes(navigation.type);
  return returns || location.hash === "" ? kept(KEPT + location.hash) || null : null;
}

/** The script that lets a report simulate its runs; empty if it cannot be loaded. */
async function liveScript(): Promise<string> {
  try {
    const response = await fetch(new URL("live-report.js", document.baseURI));
    return response.ok ? await response.text() : "";
  } catch {
    return "";
  }
}

async function begin(): Promise<void> {
  byId("status").textContent = "The simulator is loading.";
  try {
    const response = await fetch(wasm);
    if (!response.ok) throw new Error(`the simulator cannot be loaded: ${response.status} ${response.statusText}`);
    const playground = new Playground(new Crew(await WebAssembly.compile(await response.arrayBuffer())));
    await playground.begin();
    Object.assign(window, { cwnd: playground });
  } catch (error) {
    byId("status").textContent = "";
    const place = byId("problems");
    place.textContent = `The page could not begin: ${String(error)}. A current browser with WebAssembly is needed; reload the page to try again.`;
    place.hidden = false;
  }
}

linkToMachine();
void begin();
