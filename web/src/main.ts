/** The bench: the form, one run, and what is drawn of it. */

import { PathPicture } from "./animation";
import { charts, colours } from "./charts";
import { command, study } from "./copied";
import { byId, make } from "./dom";
import { Form } from "./form";
import { withModule, type Simulator } from "./load";
import { PROGRAM, type Lab, type Problem } from "./module";
import { EXAMPLES } from "./own/examples";
import { Panel } from "./own/panel";
import { pack, unpack } from "./packed";
import { linkToMachine } from "./pages";
import { PRESETS } from "./presets";
import { Run } from "./run";
import { microseconds } from "./time";
import { isBuiltIn, meanRate, Traces, traceWrong } from "./traces";
import { afterChanges, fromHash, fromLines, lines, newFlow, runsOwn, short, sliders, standard, timeText, toHash, type Change, type Setup, type Sliders } from "./setup";
import "./style.css";

/** The setting that problems of a trace have. */
const TRACE = "rate-trace";
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 100];

class Bench {
  /** What the form shows: the sliders as they are now. */
  private setup: Setup = standard();
  /** What the sliders were at the beginning of the run. */
  private atBegin: Sliders = sliders(this.setup);
  private preset = "";
  private run: Run | null = null;
  private playing = true;
  private speed = 5;
  private lastFrame = 0;
  private stale = false;
  /** Whether the run repeats changes, which the sliders follow. */
  private repeats = false;
  /** The time to which a run that has begun again goes as fast as it can. */
  private until = 0;
  /** Whether the run was refused. */
  private refused = false;
  private shownTime = 0;
  private readonly charts = charts(() => (this.stale = true));
  private readonly picture = new PathPicture(byId<HTMLCanvasElement>("path"));
  private readonly form: Form;
  private readonly play: HTMLButtonElement;

  private readonly traces = new Traces();
  /** The content of the trace that the setting names; null if this page does not have it. */
  private content: string | null = null;

  /** The visitor's algorithm. */
  private program = EXAMPLES[0]!.code;
  private readonly panel = new Panel(() => this.program, (program) => void this.write(program));

  constructor(private readonly simulator: Simulator, lab: Lab) {
    this.form = new Form(byId<HTMLFormElement>("setup"), lab.catalogue(), () => this.setup, {
      live: (key, value) => this.live(key, value),
      restart: () => this.edited(),
      preset: (id) => void this.choose(id),
      addFlow: () => this.addFlow(),
      removeFlow: (index) => this.removeFlow(index),
      trace: (name) => void this.follow(name),
      traceFile: (file) => void this.readTrace(file),
      begun: () => this.begun,
      ownTrace: () => this.traces.own,
    });
    this.play = make("button", { id: "play", type: "button", click: () => this.setPlaying(!this.playing) });
    this.toolbar();
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) !== toHash(this.begun)) void this.fromUrl();
    });
    addEventListener("keydown", (event) => {
      if (event.key === " " && (event.target === document.body || event.target === byId("charts"))) {
        event.preventDefault();
        this.setPlaying(!this.playing);
      }
    });
    void this.fromUrl();
    requestAnimationFrame((time) => this.frame(time));
  }

  private toolbar(): void {
    const speed = make("select", { id: "speed", change: () => (this.speed = Number(speed.value)) },
      ...SPEEDS.map((value) => make("option", { value, selected: value === this.speed }, `${value} ×`)),
      make("option", { value: 1e9 }, "as fast as possible"));
    const button = (id: string, text: string, click: () => void, title = "") => make("button", { id, type: "button", title, click }, text);
    byId("transport").append(
      this.play,
      button("step", "Step one RTT", () => this.step()),
      button("restart", "Restart", () => this.restart(), "Begins again with the sliders as they are. “Back” in the browser brings back what was changed during the run."),
      make("label", { for: "speed" }, "Speed ", speed),
      button("zoom-out", "Show everything", () => this.charts.zoom([0, this.setup.duration])),
      button("copy-link", "Copy link", () => void this.copyLink()),
      button("copy-command", "Copy as command", () => this.copyText("The command", command)),
      button("copy-study", "Copy as study", () => this.copyText("The study", study)),
    );
    this.setPlaying(true);
  }

  /** Copies a text for the command line, which cannot hold a program of this page. */
  private copyText(what: string, text: (setup: Setup) => string): void {
    if (!runsOwn(this.setup)) return void this.copy(what, text(this.begun));
    byId("status").textContent = `${what} cannot hold your algorithm: only this page runs it. Copy the link instead.`;
    this.shownTime = performance.now() + 4000;
  }

  private async copyLink(): Promise<void> {
    await this.copy("The link", location.href);
    const { trace } = this.setup;
    if (!trace || isBuiltIn(trace)) return;
    byId("status").textContent += ` It does not hold your file ${trace}: whoever opens it must choose the file.`;
    this.shownTime = performance.now() + 6000;
  }

  private async copy(what: string, text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      byId("status").textContent = `${what} is in the clipboard.`;
    } catch {
      const area = make("textarea", { rows: 8, readonly: true, "aria-label": what });
      area.value = text;
      this.showProblems([make("p", {}, `${what}; the browser does not allow copying, so copy it from here:`), area]);
      area.select();
    }
    this.shownTime = performance.now() + 2000;
  }

  private setPlaying(playing: boolean): void {
    this.playing = playing;
    this.play.textContent = playing ? "Pause" : "Play";
    if (this.run && !playing) this.halt(this.run);
    if (playing && this.run?.finished) this.again();
  }

  /** Halts a run where it is. What was to come is repeated when it goes on. */
  private halt(run: Run): void {
    run.halt();
    if (run.now >= this.until) return;
    this.until = 0;
    this.repeats = this.setup.changes.length > 0;
  }

  /** Repeats the run with its changes. */
  private again(): void {
    this.open(0);
    this.showSliders(0);
    this.begin();
  }

  private step(): void {
    this.setPlaying(false);
    const run = this.run;
    if (!run?.series.description) return;
    const rtts = run.series.description.flows.map((flow) => flow.baseRtt);
    run.runTo(run.now + Math.max(Math.min(...rtts), run.every));
  }

  private async fromUrl(): Promise<void> {
    const hash = location.hash.slice(1);
    if (hash === "") return this.choose(PRESETS[0]!.id);
    try {
      const setup = fromHash(hash);
      if (setup.program) this.program = await unpack(setup.program);
      this.setup = setup;
    } catch {
      this.setup = standard();
      this.form.show("");
      this.open(0);
      return this.problems([{ line: 0, key: "the link", message: "it cannot be read: it is cut or changed; this is the standard setting" }]);
    }
    await this.load();
    const text = lines(this.setup).join("\n");
    const same = PRESETS.find((preset) => lines(fromLines(preset.lines)).join("\n") === text);
    this.preset = (this.setup.program === "" && same?.id) || "";
    this.atBegin = sliders(this.setup);
    Object.assign(this.setup, afterChanges(this.setup));
    this.form.show(this.preset);
    this.open(this.setup.changes.at(-1)?.at ?? 0);
    this.goOn();
  }

  /** Lets a trace set the rate; without a name the rate is constant. */
  private async follow(name: string): Promise<void> {
    this.setup.trace = name;
    await this.load();
    this.edited();
  }

  private async readTrace(file: File): Promise<void> {
    try {
      await this.follow(await this.traces.read(file));
    } catch (error) {
      traceWrong(error instanceof Error ? error.message : String(error));
    }
  }

  /** Loads the trace of the setting, and sets the rate to its mean. */
  private async load(): Promise<void> {
    const { setup } = this;
    this.content = null;
    if (!setup.trace) return;
    try {
      this.content = await this.traces.content(setup.trace);
    } catch (error) {
      this.problems([{ line: 0, key: "rate-trace", message: String(error) }]);
    }
    if (this.setup !== setup) return;
    const rate = this.content === null ? null : meanRate(this.content);
    if (rate !== null) setup.rate = Number(rate.toPrecision(4));
  }

  private async choose(id: string): Promise<void> {
    const preset = PRESETS.find((one) => one.id === id);
    if (!preset) return;
    this.setup = fromLines(preset.lines);
    await this.load();
    this.preset = id;
    this.form.show(id);
    this.open(0);
    this.begin();
  }

  /** Something has changed that only a new run can have. */
  private edited(): void {
    this.preset = "";
    this.setup.changes = [];
    this.form.show("");
    this.open(0);
    this.goOn();
  }

  /** Plays a run that has begun again, unless the visitor has paused it. */
  private goOn(): void {
    if (this.play.textContent !== "Play") this.begin();
  }

  private begin(): void {
    this.playing = true;
    this.play.textContent = "Pause";
  }

  private restart(): void {
    // The changes stay in the history of the browser.
    if (this.setup.changes.length > 0) history.pushState(null, "", location.hash);
    this.setup.changes = [];
    this.open(0);
    this.begin();
  }

  /** The time that the run has reached, or will have reached in a moment; 0 before it begins and after its end. */
  private get present(): number {
    return this.run && !this.run.finished && !this.refused ? Math.max(this.run.now, this.until) : 0;
  }

  private live(key: string, value: string): void {
    const run = this.run;
    const now = this.present;
    if (!run || now === 0 || this.refused) {
      this.setup.changes = [];
      this.open(0);
      return this.goOn();
    }
    run.halt();
    // What the worker was asked for before comes first, so the change may come later than the page's present time.
    const change = { at: microseconds(now), key, value };
    if (this.repeats || run.now < now) {
      // From here on the run is another one than the one that is repeated.
      this.setup.changes = this.setup.changes.filter(({ at }) => at <= change.at);
      this.note(change);
      return this.open(change.at);
    }
    this.note(change);
    run.change(`${key}=${value}`, () => {
      change.at = microseconds(run.now);
      this.note(change);
    });
  }

  /** Notes a change, so that the URL and the texts have it. */
  private note(change: Change): void {
    const same = (one: Change) => one === change || (one.at === change.at && one.key === change.key);
    this.setup.changes = [...this.setup.changes.filter((one) => !same(one)), change];
    this.url();
  }

  private addFlow(): void {
    const now = this.present;
    const { algorithm, parameters, rtt } = this.setup.flows.at(-1) ?? newFlow();
    // At the beginning the start is that of the other flows.
    const start = Number(now.toFixed(3)) || null;
    this.setup.flows.push({ ...newFlow(), algorithm, parameters, rtt, start });
    this.preset = "";
    this.form.show("");
    // The run begins again and repeats what has happened, now with the new flow.
    this.open(now);
    this.goOn();
  }

  private removeFlow(index: number): void {
    this.setup.flows.splice(index, 1);
    this.setup.changes = this.setup.changes.filter((change) => change.key !== "stop");
    this.preset = "";
    this.form.show("");
    // Without a flow for which the run was refused, it is where it was.
    this.open(this.refused ? this.until : this.present);
    this.goOn();
  }

  /** Runs a program as the visitor's algorithm. */
  private async write(program: string): Promise<void> {
    this.program = program;
    this.setup.program = await pack(program);
    this.edited();
  }

  /** Begins a run and lets it go to a time as fast as it can. */
  private open(until: number): void {
    this.run?.end();
    if (this.setup.changes.length === 0) this.atBegin = sliders(this.setup);
    this.repeats = this.setup.changes.some((change) => change.at > until);
    this.until = until;
    this.refused = false;
    this.form.refresh();
    this.url();
    byId("problems").hidden = true;
    traceWrong("");
    const program = runsOwn(this.setup) ? this.program : null;
    this.panel.show(program);
    if (program !== null && this.setup.program === "") {
      const { setup } = this;
      void pack(program).then((packed) => ((setup.program = packed), this.url()));
    }
    const missing = this.missingTrace();
    if (missing) {
      this.refused = true;
      this.run = null;
      return this.problems([missing]);
    }
    const run: Run = new Run(this.simulator, lines(this.begun).join("\n"), this.setup.duration, {
      described: () => {
        if (this.run === run && run.series.length === 0) this.charts.begin(run.series, run.duration);
        if (this.run === run) this.stale = true;
      },
      advanced: () => (this.stale = true),
      problems: (problems) => {
        if (this.run !== run) return;
        this.refused = true;
        this.problems(problems);
      },
    }, program, this.content);
    this.run = run;
    run.runTo(until);
  }

  private missingTrace(): Problem | null {
    const { trace, more } = this.setup;
    if (more.some((line) => line.startsWith("reverse-rate-trace"))) {
      return { line: 0, key: "reverse-rate-trace", message: "the page reads a trace for the forward direction only" };
    }
    if (!trace || this.content !== null) return null;
    return { line: 0, key: TRACE, message: `This page does not have the file ${trace}: choose it` };
  }

  /** Shows the sliders as they are in a run that repeats changes. */
  private showSliders(now: number): void {
    const past = this.setup.changes.filter((change) => change.at <= microseconds(now));
    this.repeats = past.length < this.setup.changes.length;
    Object.assign(this.setup, afterChanges({ ...this.begun, changes: past }));
    this.form.follow();
  }

  /** The setting with the sliders as they were at the beginning, followed by their changes. */
  private get begun(): Setup {
    return { ...this.setup, ...this.atBegin };
  }

  private url(): void {
    history.replaceState(null, "", `#${toHash(this.begun)}`);
  }

  private problems(problems: Problem[]): void {
    const said = lines(this.begun);
    this.panel.mark(problems.filter((problem) => problem.key === PROGRAM));
    const trace = problems.find((problem) => problem.key === TRACE);
    if (trace) traceWrong(`${trace.message}.`);
    const items = problems.map((problem) => {
      if (problem.key === TRACE) return make("li", {}, "The trace is wrong: see “Rate by a trace”.");
      if (problem.key === PROGRAM) {
        const line = problem.line > 0 ? `${PROGRAM}, line ${problem.line}` : PROGRAM;
        return make("li", {}, `${line}: ${problem.message}`);
      }
      const line = problem.line > 0 ? `${said[problem.line - 1] ?? ""}: ` : `${problem.key}: `;
      return make("li", {}, line + problem.message);
    });
    this.showProblems([make("p", {}, "This cannot run:"), make("ul", {}, ...items)]);
  }

  private showProblems(children: Node[]): void {
    const place = byId("problems");
    place.replaceChildren(...children);
    place.hidden = false;
  }

  private frame(time: number): void {
    const passed = Math.min(100, time - this.lastFrame) / 1000;
    this.lastFrame = time;
    const run = this.run;
    if (run) {
      if (this.playing && run.idle) {
        run.runTo(run.now + passed * this.speed);
      }
      if (this.playing && run.finished) {
        this.playing = false;
        this.play.textContent = "Play again";
      }
      if (this.repeats && run.now >= this.until) this.showSliders(run.now);
      if (this.stale && run.series.length > 0) this.drawAll(run, passed);
    }
    requestAnimationFrame((next) => this.frame(next));
  }

  private drawAll(run: Run, passed: number): void {
    this.stale = false;
    this.charts.draw();
    const rtt = run.series.description?.flows[0]?.baseRtt ?? 1;
    this.picture.draw(run.series, this.playing ? (passed * Math.min(this.speed, 5)) / rtt / 4 : 0);
    this.showState(run);
    const now = performance.now();
    if (now > this.shownTime + 250 || run.finished) {
      this.shownTime = Math.max(this.shownTime, now);
      const cost = run.packets > 0 ? `, ${short(Math.round((run.took * 1e6) / run.packets))} ns a packet` : "";
      byId("status").textContent = `${run.now.toFixed(run.duration < 5 ? 4 : 2)} s of ${timeText(run.duration)}; ${run.packets.toLocaleString("en")} packets${cost}`;
    }
  }

  /** The table of the flows at the cursor, or at the end. */
  private showState(run: Run): void {
    const series = run.series;
    const index = Math.min(this.charts.index ?? series.length - 1, series.length - 1);
    const flows = series.description?.flows ?? [];
    const head = ["flow", "window", "ssthresh", "RTT", "in flight", "resent", "recovery", "state of the algorithm"];
    const rows = flows.map((flow, i) => {
      const state = series.state(i, index);
      const name = make("th", { scope: "row" }, make("span", { class: "swatch", style: `background:${colours()[i] ?? ""}` }), `${i + 1} ${flow.algorithm}`);
      if (!state) return make("tr", {}, name, make("td", { colspan: 7 }, `starts at ${timeText(flow.start)}`));
      const known = (value: number, show: (value: number) => string) => (Number.isFinite(value) ? show(value) : "–");
      const observables = state.observables.map((one) => `${one.name} ${known(one.value, short)}`).join(", ");
      const cells = [
        known(state.cwnd, short), known(state.ssthresh, short), known(state.srtt, timeText), short(state.inFlight),
        short(state.retransmitted), state.recovery, observables,
      ];
      return make("tr", {}, name, ...cells.map((text) => make("td", {}, text)));
    });
    byId("state").replaceChildren(make("table", {},
      make("caption", {}, `State at ${(series.times[index] ?? 0).toFixed(run.duration < 5 ? 4 : 2)} s`),
      make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...rows)));
  }

  /** For the tests in a browser: the windows of a flow at all samples. */
  samples(flow: number): (number | null)[] {
    return this.run?.series.flows[flow]?.cwnd ?? [];
  }

  /** For the tests in a browser. A run has finished when its end is drawn. */
  get measured(): { drawn: number; now: number; finished: boolean } {
    return { drawn: this.charts.drawn, now: this.run?.now ?? 0, finished: !this.stale && (this.run?.finished ?? false) };
  }
}

linkToMachine();
void withModule((simulator, lab) => {
  Object.assign(window, { cwnd: new Bench(simulator, lab) });
});
