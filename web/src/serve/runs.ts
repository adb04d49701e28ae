/** One run on this machine: natively simulated, or over its kernel. */

import { Charts, colours } from "../charts";
import { byId, make } from "../dom";
import { Series } from "../series";
import { fromHash, lines, rateText, short, timeText } from "../setup";
import { request, ServerError, type Machine } from "./api";
import { frames, type End, type Frame } from "./frames";
import { inline } from "./inline";
import { columns, table } from "./table";

const EXAMPLES: [string, string[]][] = [
  ["CUBIC and BBR v3 at 1 Gbit/s", ["rate=1 Gbit/s", "rtt=40 ms", "buffer=3300", "duration=60 s", "flow=cubic", "flow=bbr3"]],
  ["a hundred flows at 10 Gbit/s", ["rate=10 Gbit/s", "rtt=40 ms", "buffer=33000", "duration=20 s", "flow=cubic; count=50", "flow=bbr3; count=50"]],
  ["over the kernel: its CUBIC and its Reno", ["rate=50 Mbit/s", "rtt=40 ms", "buffer=167", "duration=20 s", "flow=cubic-linux", "flow=newreno; start=5 s"]],
];

export class Runs {
  private readonly text = make("textarea", { id: "lines", rows: 7, spellcheck: "false" });
  private readonly simulate: HTMLButtonElement;
  private readonly overKernel: HTMLButtonElement;
  private readonly stop: HTMLButtonElement;
  private readonly lab = make("p", { class: "note" });
  private readonly charts: Charts;
  private abort: AbortController | null = null;
  private series = new Series();
  private stale = false;

  constructor(private readonly failed: (error: unknown) => void) {
    this.charts = new Charts(byId("charts"), () => this.showFlows());
    const example = make("select", { id: "example", change: () => {
      const chosen = EXAMPLES[Number(example.value)];
      if (chosen) this.text.value = chosen[1].join("\n");
    } }, ...EXAMPLES.map(([title], i) => make("option", { value: i }, title)));
    this.simulate = make("button", { id: "simulate", type: "button", class: "primary", click: () => void this.run("/api/simulation") }, "Simulate");
    this.overKernel = make("button", { id: "over-kernel", type: "button", disabled: true, click: () => void this.run("/api/kernel-run") }, "Run over the kernel");
    this.stop = make("button", { id: "stop", type: "button", hidden: true, click: () => this.abort?.abort() }, "Stop");
    byId("setting").append(
      make("label", { for: "example" }, "Example ", example),
      make("label", { for: "lines" }, "Settings of ", make("code", {}, "cwnd compare"), ", one a line, as the bench writes them"), this.text,
      make("div", { class: "row" }, this.simulate, this.overKernel, this.stop), this.lab);
    byId("setting").addEventListener("submit", (event) => event.preventDefault());
    this.text.value = fromAddress() ?? EXAMPLES[0]![1].join("\n");
    addEventListener("hashchange", () => (this.text.value = fromAddress() ?? this.text.value));
    requestAnimationFrame(() => this.frame());
  }

  /** Says whether runs over the kernel are possible. */
  machine(machine: Machine): void {
    this.overKernel.disabled = machine.lab_problem !== null;
    this.lab.replaceChildren(inline(machine.lab_problem === null
      ? "A run over the kernel takes the run's duration, and needs the machine for itself. `newreno`, `cubic-linux` and `bbr` are the kernel's own there; `NAME@host` is any that it has."
      : `Runs over the kernel are not available. ${machine.lab_problem}.`));
  }

  private async run(path: string): Promise<void> {
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    this.series = new Series();
    this.problem(null);
    this.running(true);
    byId("run-status").textContent = "The run begins.";
    try {
      const response = await request(path, { method: "POST", body: this.text.value, signal: abort.signal });
      let ended = false;
      for await (const frame of frames(response.body!)) ended = this.take(frame) || ended;
      if (!ended) throw new ServerError(0, "the server ended the run");
    } catch (error) {
      if (abort.signal.aborted) byId("run-status").textContent = "Stopped.";
      else if (error instanceof ServerError && error.status !== 0 && error.status !== 401) this.problem(error);
      else this.failed(error);
    } finally {
      if (this.abort === abort) this.running(false);
    }
  }

  private running(on: boolean): void {
    // A button that is hidden loses the focus.
    const moves = document.activeElement === this.stop;
    this.stop.hidden = !on;
    if (!on && moves) this.simulate.focus();
  }

  /** Shows a frame. Returns whether it is the last. */
  private take(frame: Frame): boolean {
    const status = byId("run-status");
    switch (frame.kind) {
      case "described":
        this.series.describe(frame.description);
        byId("charts").hidden = false;
        this.charts.begin(this.series, frame.description.duration);
        return false;
      case "rows":
        this.series.add(frame.rows);
        status.textContent = `${frame.now.toFixed(2)} s of ${short(this.series.description!.duration)} s; ${Math.round(frame.packets).toLocaleString("en")} packets in ${frame.took.toFixed(1)} s`;
        this.stale = true;
        return false;
      case "end":
        this.end(frame.end);
        return true;
      case "problem":
        this.problem(new ServerError(500, frame.message));
        return true;
    }
  }

  private end(end: End): void {
    const status = byId("run-status");
    const shown = this.series.description!.flows.length;
    const parts = [`${status.textContent}`];
    if (end.packets !== undefined && end.packets > 0) {
      parts[0] = `${short(this.series.description!.duration)} s of the network in ${end.took.toFixed(2)} s: ${Math.round(end.packets).toLocaleString("en")} packets, ${Math.round((end.took * 1e9) / end.packets)} ns each`;
    }
    if (end.flows > shown) parts.push(`the charts show the first ${shown} of ${end.flows} flows`);
    if (end.implementations?.length) parts.push(`run by ${end.implementations.join(", ")}`);
    if (end.warnings.length > 0) parts.push(`not valid: ${end.warnings.join("; ")}`);
    status.textContent = `${parts.join("; ")}.`;
    this.stale = true;
  }

  private problem(error: ServerError | null): void {
    const place = byId("run-problems");
    place.hidden = error === null;
    if (!error) return;
    byId("run-status").textContent = "";
    const said = this.text.value.split("\n");
    const item = (line: number, key: string, message: string) => make("li", {}, inline(`${line > 0 ? `${said[line - 1] ?? ""}: ` : key ? `${key}: ` : ""}${message}`));
    place.replaceChildren(make("p", {}, inline(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}${error.problems.length > 0 ? ":" : "."}`)),
      ...(error.problems.length > 0 ? [make("ul", {}, ...error.problems.map((one) => item(one.line, one.key, one.message)))] : []));
  }

  private frame(): void {
    if (this.stale) {
      this.stale = false;
      this.charts.draw();
      this.showFlows();
    }
    requestAnimationFrame(() => this.frame());
  }

  private showFlows(): void {
    const series = this.series;
    const description = series.description;
    if (!description || series.length === 0) return;
    const index = Math.min(this.charts.index ?? series.length - 1, series.length - 1);
    const all = colours();
    const rows = description.flows.map((flow, i) => {
      const state = series.state(i, index);
      const goodput = series.flows[i]!.goodput[index];
      const swatch = make("span", { class: "swatch", "aria-hidden": "true", style: `background:${all[i]}` });
      const name = make("span", {}, swatch, flow.algorithm);
      if (!state) return [name, "", "", "", "", "", "not started"];
      return [name, short(state.cwnd), Number.isFinite(state.ssthresh) ? short(state.ssthresh) : "none", goodput == null ? "" : rateText(goodput),
        Number.isNaN(state.srtt) ? "" : timeText(state.srtt), state.retransmitted.toLocaleString("en"), state.recovery];
    });
    byId("flows").replaceChildren(table(`Flows at ${timeText(series.times[index]!)}`,
      columns(["flow", "word"], ["cwnd", "number"], ["ssthresh", "number"], ["goodput", "number"], ["RTT", "number"], ["retransmitted", "number"], ["recovery", "word"]), rows));
  }
}

/** The setting in the part of the address after `#`, which the bench writes. */
function fromAddress(): string | null {
  const hash = location.hash.slice(1);
  if (!hash.includes("=")) return null;
  try {
    return lines(fromHash(hash)).join("\n");
  } catch {
    return null;
  }
}
