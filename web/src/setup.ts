/** What the form holds, and its text: the lines of the module and the URL. */

import { OWN } from "./own/examples";

export interface Flow {
  algorithm: string;
  /** Parameters as they are written: `beta=0.8,fast_convergence=off`. */
  parameters: string;
  /** Seconds; null for the start that the other settings give it. */
  start: number | null;
  /** Seconds; null for the path's. */
  rtt: number | null;
  /** Options that the form has no control for, as they are written: `count=3`. */
  options: string[];
}

export interface Change {
  /** Seconds. */
  at: number;
  key: string;
  value: string;
}

export interface Setup {
  /** Bit/s; with a trace its mean. */
  rate: number;
  /** The name of the delivery trace that sets the rate (traces.ts); empty if the rate is constant. */
  trace: string;
  /** Base round-trip time, seconds. */
  rtt: number;
  /** Packets. */
  buffer: number;
  /** Probability of a random loss. */
  loss: number;
  queue: string;
  ecn: boolean;
  /** Seconds. */
  duration: number;
  seed: number;
  flows: Flow[];
  /** Other settings of `cwnd compare`, `KEY=VALUE`. */
  more: string[];
  changes: Change[];
  /** The program of the visitor's algorithm as the URL has it (packed.ts); empty if no link brought one. */
  program: string;
}

/** To how many flows the form adds one; a link may have more. */
export const MOST_FLOWS = 8;
/** Packets. The default follows from the BDP at the beginning, and would limit the flows if the path grew while they run. */
const WINDOW = "100000";

/** A flow that the form adds. */
export function newFlow(): Flow {
  return { algorithm: "cubic", parameters: "", start: null, rtt: null, options: [] };
}

/** The values that sliders change during a run. */
export type Sliders = Pick<Setup, "rate" | "rtt" | "buffer" | "loss">;

export function sliders(setup: Setup): Sliders {
  const { rate, rtt, buffer, loss } = setup;
  return { rate, rtt, buffer, loss };
}

export function standard(): Setup {
  return {
    rate: 20e6,
    trace: "",
    rtt: 0.04,
    buffer: 67,
    loss: 0,
    queue: "drop-tail",
    ecn: false,
    duration: 60,
    seed: 1,
    flows: [newFlow()],
    more: [],
    changes: [],
    program: "",
  };
}

/** Whether a flow runs the algorithm that the visitor wrote. */
export function runsOwn(setup: Setup): boolean {
  return setup.flows.some((flow) => flow.algorithm === OWN);
}

/** A number with at most four significant digits, without an exponent. */
export function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** How many significant digits of a decimal number a double keeps. */
const DIGITS = 15;

/** A number with all the digits that it was written with. */
function exact(value: number): string {
  return String(Number(value.toPrecision(DIGITS)));
}

function inUnitOfRate(bits: number, number: (value: number) => string): string {
  if (bits >= 1e9) return `${number(bits / 1e9)} Gbit/s`;
  if (bits >= 1e6) return `${number(bits / 1e6)} Mbit/s`;
  return `${number(bits / 1e3)} kbit/s`;
}

function inUnitOfTime(seconds: number, number: (value: number) => string): string {
  if (seconds >= 1 || seconds === 0) return `${number(seconds)} s`;
  if (seconds >= 1e-3) return `${number(seconds * 1e3)} ms`;
  return `${number(seconds * 1e6)} us`;
}

/** A rate to look at; {@link exactRate} is for texts that are read again. */
export function rateText(bits: number): string {
  return inUnitOfRate(bits, short);
}

export function exactRate(bits: number): string {
  return inUnitOfRate(bits, exact);
}

/** A time to look at; {@link exactTime} is for texts that are read again. */
export function timeText(seconds: number): string {
  return inUnitOfTime(seconds, short);
}

export function exactTime(seconds: number): string {
  return inUnitOfTime(seconds, exact);
}

/** A time of a run, in seconds, to the nanosecond as the module counts. */
export function runTime(seconds: number): string {
  return `${String(Number(seconds.toFixed(9)))} s`;
}

export function flowText(flow: Flow): string {
  const parameters = flow.parameters.trim();
  let text = flow.algorithm + (parameters ? `:${parameters}` : "");
  if (flow.start !== null) text += `; start=${runTime(flow.start)}`;
  if (flow.rtt !== null) text += `; rtt=${exactTime(flow.rtt)}`;
  return [text, ...flow.options].join("; ");
}

/** The settings at the beginning, without flows and changes: key and value. */
export function settings(setup: Setup): [string, string][] {
  const all: [string, string][] = [
    setup.trace ? ["rate-trace", setup.trace] : ["rate", exactRate(setup.rate)],
    ["rtt", exactTime(setup.rtt)],
    ["buffer", String(setup.buffer)],
    ["queue", setup.queue],
    ["ecn", setup.ecn ? "on" : "off"],
    ["duration", exactTime(setup.duration)],
    ["receive-window", WINDOW],
    ["seed", String(setup.seed)],
  ];
  if (setup.loss > 0) all.push(["per", exact(setup.loss)]);
  const others = setup.more.map((line): [string, string] => {
    const at = line.indexOf("=");
    return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  const said = new Set(others.map(([key]) => key));
  if (said.has("delay")) said.add("rtt");
  if (said.has("loss")) said.add("per");
  return [...all.filter(([key]) => !said.has(key)), ...others];
}

/** The lines that the module reads. */
export function lines(setup: Setup): string[] {
  return [
    ...settings(setup).map(([key, value]) => (value ? `${key}=${value}` : key)),
    ...setup.flows.map((flow) => `flow=${flowText(flow)}`),
    ...setup.changes.map((change) => `@${runTime(change.at)} ${change.key}=${change.value}`),
  ];
}

/** The part of the URL after `#`. */
export function toHash(setup: Setup): string {
  const program = runsOwn(setup) && setup.program ? [`program=${setup.program}`] : [];
  return [...lines(setup), ...program].map((line) => readable(line)).join("&");
}

/** A line for a URL, with the characters as they are that mean nothing there. */
function readable(line: string): string {
  const kept: [string, string][] = [["%20", "+"], ["%3D", "="], ["%40", "@"], ["%2F", "/"], ["%3A", ":"], ["%3B", ";"], ["%2C", ","]];
  return kept.reduce((text, [code, character]) => text.replaceAll(code, character), encodeURIComponent(line));
}

/** The setup of a URL. What the form has no control for goes to the other settings; the module checks them. */
export function fromHash(hash: string): Setup {
  const decoded = hash.split("&").filter(Boolean).map((part) => decodeURIComponent(part.replaceAll("+", " ")));
  return fromLines(decoded);
}

export function fromLines(all: string[]): Setup {
  const setup = { ...standard(), flows: [] as Flow[], more: [] as string[], changes: [] as Change[] };
  for (const line of all) {
    if (!readLine(setup, line)) setup.more.push(line);
  }
  setup.changes.sort((one, other) => one.at - other.at);
  if (setup.flows.length === 0 && !describesFlows(setup.more)) setup.flows = standard().flows;
  return setup;
}

/** Whether other settings say what the flows are, so that a list of flows would contradict them. */
function describesFlows(more: string[]): boolean {
  return more.some((line) => /^(algorithm|mix)\s*=/.test(line));
}

/** Replaces the other settings. Flows among them come to the end of the list, as they do in the module. */
export function putOthers(setup: Setup, all: string[]): void {
  const flows = all.filter((line) => /^flow\s*=/.test(line));
  flows.forEach((line) => readLine(setup, line));
  setup.more = all.filter((line) => !flows.includes(line));
  if (describesFlows(setup.more)) setup.flows = [];
  else if (setup.flows.length === 0) setup.flows = standard().flows;
}

function readLine(setup: Setup, line: string): boolean {
  const change = /^@ *(\S+ \S+) +([\w-]+) *=(.*)$/.exec(line);
  if (change) {
    return put(readTime(change[1]!), (at) => setup.changes.push({ at, key: change[2]!, value: change[3]!.trim() }));
  }
  const at = line.indexOf("=");
  const [key, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  switch (key) {
    case "rate":
      return put(readRate(value), (rate) => (setup.rate = rate));
    case "rate-trace":
      setup.trace = value;
      return value !== "";
    case "rtt":
      return put(readTime(value), (rtt) => (setup.rtt = rtt));
    case "buffer":
      return put(readWhole(value), (buffer) => (setup.buffer = buffer));
    case "per":
      return put(readNumber(value), (loss) => (setup.loss = loss));
    case "queue":
      setup.queue = value;
      return true;
    case "ecn":
      return put(value === "on" ? 1 : value === "off" ? 0 : null, (on) => (setup.ecn = on === 1));
    case "duration":
      return put(readTime(value), (duration) => (setup.duration = duration));
    case "receive-window":
      return value === WINDOW;
    case "program":
      setup.program = value;
      return true;
    case "seed":
      return put(readWhole(value), (seed) => (setup.seed = seed));
    case "flow":
      setup.flows.push(readFlow(value));
      return true;
    default:
      return false;
  }
}

/** Reads a flow. An option that the form has no control for, or cannot read, stays as it is: the module checks it. */
function readFlow(text: string): Flow {
  const [first, ...options] = text.split(";").map((part) => part.trim());
  const colon = first!.indexOf(":");
  const flow: Flow = {
    ...newFlow(),
    algorithm: colon < 0 ? first! : first!.slice(0, colon),
    parameters: colon < 0 ? "" : first!.slice(colon + 1),
  };
  for (const option of options) {
    const [key, value] = option.split("=").map((part) => part.trim());
    const time = readTime(value ?? "");
    if (time !== null && (key === "start" || key === "rtt") && flow[key] === null) flow[key] = time;
    else flow.options.push(option);
  }
  return flow;
}

function put(value: number | null, set: (value: number) => unknown): boolean {
  if (value === null) return false;
  set(value);
  return true;
}

/** Reads a whole number. One with more digits than a double keeps stays a text among the other settings. */
function readWhole(text: string): number | null {
  return /^\d+$/.test(text) ? readNumber(text) : null;
}

function readNumber(text: string): number | null {
  const value = Number(text);
  const digits = text.replace(/e.*$/i, "").replace(".", "").replace(/^0+/, "").length;
  return text !== "" && Number.isFinite(value) && value >= 0 && digits <= DIGITS ? value : null;
}

export function readRate(text: string): number | null {
  return readQuantity(text, { "Gbit/s": 1e9, "Mbit/s": 1e6, "kbit/s": 1e3, "bit/s": 1 });
}

export function readTime(text: string): number | null {
  return readQuantity(text, { h: 3600, min: 60, s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 });
}

function readQuantity(text: string, units: Record<string, number>): number | null {
  const parts = /^([\d.]+(?:e-?\d+)?) ?([a-zA-Z/]+)$/.exec(text.trim());
  const unit = parts && units[parts[2]!];
  const number = parts && readNumber(parts[1]!);
  return unit === undefined || unit === null || number === null ? null : Number((number * unit).toPrecision(DIGITS));
}

/** What the sliders show after all changes. */
export function afterChanges(setup: Setup): Sliders {
  const last = { ...setup, flows: [], more: [], changes: [] };
  setup.changes.forEach((change) => readLine(last, `${change.key}=${change.value}`));
  return sliders(last);
}

/** The value of another setting, which takes precedence over the form; null if it is not there. */
export function other(setup: Setup, key: string): string | null {
  const line = setup.more.find((one) => one.split("=")[0]!.trim() === key);
  return line === undefined ? null : line.slice(line.indexOf("=") + 1).trim();
}

/** The line of the other settings that says what a slider would; null if the slider does. */
export function insteadOf(setup: Setup, key: string): string | null {
  const keys = { rtt: ["rtt", "delay"], per: ["per", "loss"] }[key] ?? [key];
  const said = keys.find((one) => other(setup, one) !== null);
  return said === undefined ? null : `${said}=${other(setup, said)}`;
}

/** Bytes of a full packet with the frame's header, as the module counts them. */
export const PACKET = 1514;

/** The bandwidth-delay product, full packets; NaN if other settings have the rate or the round-trip time. */
export function bdp(setup: Setup): number {
  const known = insteadOf(setup, "rate") === null && insteadOf(setup, "rtt") === null;
  return known ? (setup.rate * setup.rtt) / (PACKET * 8) : NaN;
}
