/** The panel in which the visitor writes an algorithm. */

import { byId, make } from "../dom";
import type { Editor } from "../editor";
import type { Problem } from "../module";
import { EXAMPLES } from "./examples";

const NAMES: [string, string][] = [
  ["on_ack(ack, window)", "for each ACK that delivers something; it grows the window if ack.may_grow"],
  ["on_loss(loss, window)", "once for each window with a loss; it sets window.ssthresh, to which the sender lowers cwnd"],
  ["on_ecn(loss, window), on_timeout(loss, window)", "for congestion marks and timeouts; without them on_loss is called, and loss.kind tells"],
  ["init(window)", "when the flow begins"],
  ["window", "cwnd, ssthresh (segments), pacing_rate (segments a second), in_slow_start, segment_bytes, slow_start(acked), increase(acked, per_segment)"],
  ["ack", "now, rtt, srtt, min_rtt (seconds; NaN before the first sample), acked, cumulative, lost, marked, in_flight, prior_in_flight, delivered (segments), rate (segments a second), round, round_start, may_grow, cwnd_limited, app_limited, state"],
  ["loss", "kind, now, in_flight, flight_size, lost, rtt, srtt, min_rtt, in_slow_start"],
  ["parameters", "the parameters of the flow: with alpha=2 there, parameters.alpha is \"2\""],
  ["const needs = { pacing: true, rate: true }", "asks for pacing by window.pacing_rate, and for ack.rate"],
];

export class Panel {
  private editor: Promise<Editor> | null = null;
  private readonly place = byId("own");
  private readonly area = make("div", { class: "editor" });
  /** The program that was shown last. */
  private shown: string | null = null;

  constructor(private readonly initial: () => string, private readonly run: (code: string) => void) {}

  /** Shows the panel with a program, or hides it. What the visitor has written since the same program was shown stays. */
  show(code: string | null): void {
    this.place.hidden = code === null;
    if (code === null) return;
    this.editor ??= this.build();
    void this.editor.then((editor) => {
      if (code !== this.shown || editor.text === this.shown) editor.text = code;
      this.shown = code;
    });
  }

  /** Marks lines of the program. */
  mark(problems: Problem[]): void {
    void this.editor?.then((editor) => editor.mark(problems));
  }

  private async build(): Promise<Editor> {
    const example = make("select", { id: "own-example", change: () => {
      const chosen = EXAMPLES.find((one) => one.id === example.value);
      if (chosen) void this.editor!.then((editor) => this.run((editor.text = chosen.code)));
      example.value = "";
    } }, make("option", { value: "" }, "choose an example"), ...EXAMPLES.map((one) => make("option", { value: one.id }, one.title)));
    const run = make("button", { id: "own-run", type: "button", click: () => void this.editor!.then((editor) => this.run(editor.text)) }, "Run this program");
    const rows = NAMES.map(([name, about]) => [make("dt", {}, make("code", {}, name)), make("dd", {}, about)]).flat();
    this.place.replaceChildren(
      make("h2", {}, "Your algorithm"),
      make("div", { class: "actions" }, run, make("label", { for: "own-example" }, "Start from ", example), make("span", { class: "about" }, "Ctrl+Enter runs it.")),
      this.area,
      make("details", {}, make("summary", {}, "What a program can use"), make("dl", {}, ...rows)),
    );
    const [{ Editor }, { check }] = await Promise.all([import("../editor"), import("./worker")]);
    return new Editor(this.area, {
      label: "Program of your algorithm, JavaScript",
      language: "javascript",
      text: this.initial(),
      check,
      run: () => run.click(),
    });
  }
}
