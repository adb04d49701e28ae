/** Delivery traces of the bench: the built-in ones, a file of the visitor, and the control that chooses one. */

import { make } from "./dom";
import lte from "./traces/lte.trace?url";
import step from "./traces/step.trace?url";

export interface BuiltIn {
  /** The name of the file, by which a link has it. */
  name: string;
  title: string;
  about: string;
  address: string;
}

export const BUILT_IN: BuiltIn[] = [
  {
    name: "lte.trace", title: "LTE (model, 30 s)", address: lte,
    about: "A model of an LTE downlink: the rate wanders up to 12 Mbit/s and stops at times. cargo xtask traces makes the same file.",
  },
  {
    name: "step.trace", title: "Steps (10 s)", address: step,
    about: "6 Mbit/s for 5 s, then 1.2 Mbit/s for 5 s.",
  },
];

/** The largest file, bytes: about ten minutes at 12 Mbit/s. */
export const MOST_BYTES = 4_000_000;

/** The value of the control for a file that is not yet chosen. */
const FILE = "file";

/** The contents of traces by name. A file of the visitor stays in this page. */
export class Traces {
  private readonly contents = new Map<string, string>();
  /** The visitor's file that was read last. */
  own: string | null = null;

  /** Returns the content of a trace; null if it is a file that this page does not have. */
  async content(name: string): Promise<string | null> {
    const known = this.contents.get(name);
    const builtIn = BUILT_IN.find((trace) => trace.name === name);
    if (known !== undefined || !builtIn) return known ?? null;
    const response = await fetch(builtIn.address);
    if (!response.ok) throw new Error(`the trace ${name} cannot be loaded: ${response.status} ${response.statusText}`);
    const text = await response.text();
    this.contents.set(name, text);
    return text;
  }

  /** Reads a file of the visitor and returns the name by which it is known. An error says what is wrong. */
  async read(file: File): Promise<string> {
    if (file.size > MOST_BYTES) {
      throw new Error(`${file.name} has ${(file.size / 1e6).toFixed(1)} MB; at most ${MOST_BYTES / 1e6} MB can be read. Cut it, for example with head -n 500000`);
    }
    // The name is one line of the setting.
    const plain = file.name.replaceAll(/[\x00-\x1f]/g, " ").trim() || "my.trace";
    const name = isBuiltIn(plain) ? `own-${plain}` : plain;
    this.contents.set(name, await file.text());
    this.own = name;
    return name;
  }
}

export function isBuiltIn(name: string): boolean {
  return BUILT_IN.some((trace) => trace.name === name);
}

/** The mean rate of a trace, bit/s: 1,500 bytes a line, and the last line is the length. Null if the text is not a trace. */
export function meanRate(content: string): number | null {
  const text = content.trimEnd();
  const rate = (text.split("\n").length * 1500 * 8 * 1000) / Number(text.slice(text.lastIndexOf("\n") + 1));
  return Number.isFinite(rate) ? rate : null;
}

/** What the control calls. */
export interface TraceChanges {
  /** A trace by its name; empty for a constant rate. */
  trace(name: string): void;
  traceFile(file: File): void;
}

/** The control. `own` is the visitor's file that was read last. */
export function traceControl(active: string, own: string | null, changes: TraceChanges): HTMLElement {
  const names = BUILT_IN.map((trace): [string, string] => [trace.name, trace.title]);
  for (const name of [own, active]) if (name && !names.some(([known]) => known === name)) names.push([name, name]);
  const about = make("p", { class: "about", id: "trace-about" }, description(active));
  const wrong = make("span", { id: "trace-wrong", class: "wrong", role: "alert" });
  const file = make("input", {
    id: "trace-file", type: "file", "aria-label": "File in Mahimahi's format", "aria-describedby": "trace-wrong",
    change: () => file.files?.[0] && changes.traceFile(file.files[0]),
  });
  file.hidden = active === "" || isBuiltIn(active);
  const select = make("select", { id: "trace", "aria-describedby": "trace-about trace-wrong", change: () => {
    if (select.value !== FILE) return changes.trace(select.value);
    file.hidden = false;
    about.textContent = "Choose a file in Mahimahi's format: each line is a time in whole milliseconds at which up to 1,500 bytes may leave.";
    file.focus();
  } },
    make("option", { value: "", selected: active === "" }, "none: the rate is constant"),
    ...names.map(([name, title]) => make("option", { value: name, selected: name === active }, title)),
    make("option", { value: FILE }, "a file of yours…"));
  return make("div", { class: "trace" }, make("label", { for: "trace" }, "Rate by a trace"), select, file, wrong, about, ...save(active));
}

function description(active: string): string {
  if (active === "") return "";
  const builtIn = BUILT_IN.find((trace) => trace.name === active);
  return builtIn?.about ?? `${active} stays on this machine. A link has its name only: whoever opens the link must choose the file.`;
}

/** A link that saves a built-in trace, which copied commands and studies name. */
function save(active: string): HTMLElement[] {
  const builtIn = BUILT_IN.find((trace) => trace.name === active);
  return builtIn ? [make("a", { href: builtIn.address, download: builtIn.name }, "Save the trace")] : [];
}

/** Shows at the control what is wrong with the trace. */
export function traceWrong(message: string): void {
  const place = document.getElementById("trace-wrong");
  if (place) place.textContent = message.charAt(0).toUpperCase() + message.slice(1);
  document.getElementById("trace")?.setAttribute("aria-invalid", String(message !== ""));
}
