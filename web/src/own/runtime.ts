/** The visitor's algorithm in its worker: the functions that the module imports, and what the program sees. */

/** What a program defines. */
interface Handlers {
  init?: (window: WindowView) => void;
  on_ack?: (ack: object, window: WindowView) => void;
  on_loss?: (loss: object, window: WindowView) => void;
  on_ecn?: (loss: object, window: WindowView) => void;
  on_timeout?: (loss: object, window: WindowView) => void;
  needs: { pacing?: boolean; rate?: boolean };
}

/** A program, as `own/worker.ts` puts it in front of the worker's source. */
export interface Program {
  /** How many lines it has: a line of the source after them is not the visitor's. */
  lines: number;
  create(parameters: Record<string, string>): Handlers;
}

/** The functions of the module that change the window of the flow whose event is handled. */
export interface WindowFunctions {
  cwnd_window(field: number): number;
  cwnd_set_window(field: number, value: number): void;
  cwnd_slow_start(acked: number): number;
  cwnd_increase(acked: number, perSegment: number): void;
}

/** Something that the program did wrong. */
export class ProgramError extends Error {
  /** `line` is 0 if it is not known. */
  constructor(readonly line: number, message: string) {
    super(message);
  }
}

/** The name of the program in the engine's stack traces. */
export const SOURCE = "own-algorithm.js";

// The events and their numbers: crates/cwnd-wasm/src/scripted.rs.
const [INIT, ACK, LOSS, ECN, TIMEOUT] = [0, 1, 2, 3, 4];
const ACK_NUMBERS = [
  "now", "acked", "cumulative", "lost", "marked", "rtt", "srtt", "min_rtt", "in_flight", "prior_in_flight", "state",
  "may_grow", "cwnd_limited", "app_limited", "round_start", "round", "delivered", "rate",
];
const LOSS_NUMBERS = ["now", "in_flight", "flight_size", "lost", "rtt", "srtt", "min_rtt", "in_slow_start"];
const BOOLEANS = new Set(["may_grow", "cwnd_limited", "app_limited", "round_start", "in_slow_start"]);
const STATES = ["open", "disorder", "cwr", "recovery", "loss"];
const [CWND, SSTHRESH, PACING_RATE, SEGMENT_BYTES, IN_SLOW_START] = [0, 1, 2, 3, 4];
const [NEEDS_PACING, NEEDS_RATE] = [1, 2];

/** The flow's window, as the program sees it. A value that cannot be is refused where it is assigned. */
class WindowView {
  constructor(private readonly module: () => WindowFunctions, private readonly event: () => number) {}

  get cwnd(): number {
    return this.module().cwnd_window(CWND);
  }
  set cwnd(value: number) {
    if (this.event() >= LOSS) throw new Error("cwnd cannot be set here: set ssthresh, and the sender lowers cwnd to it");
    this.set(CWND, "cwnd", value);
  }
  get ssthresh(): number {
    return this.module().cwnd_window(SSTHRESH);
  }
  set ssthresh(value: number) {
    this.set(SSTHRESH, "ssthresh", value);
  }
  get pacing_rate(): number {
    return this.module().cwnd_window(PACING_RATE);
  }
  set pacing_rate(value: number) {
    this.set(PACING_RATE, "pacing_rate", value);
  }
  get segment_bytes(): number {
    return this.module().cwnd_window(SEGMENT_BYTES);
  }
  get in_slow_start(): boolean {
    return this.module().cwnd_window(IN_SLOW_START) === 1;
  }
  /** One segment more for each acknowledged one, up to ssthresh; returns the acknowledged segments that are left. */
  slow_start(acked: number): number {
    return this.module().cwnd_slow_start(positive("slow_start", acked));
  }
  /** One segment more for `perSegment` acknowledged ones, counted as the stack counts. */
  increase(acked: number, perSegment: number): void {
    this.module().cwnd_increase(positive("increase", acked), positive("increase", perSegment));
  }

  private set(field: number, name: string, value: number): void {
    if (field !== SSTHRESH && field !== PACING_RATE && value === Infinity) throw new Error(`${name} cannot be infinite`);
    this.module().cwnd_set_window(field, positive(name, value));
  }
}

function positive(name: string, value: number): number {
  if (typeof value !== "number") throw new Error(`${name} needs a number, not ${JSON.stringify(value) ?? String(value)}`);
  if (Number.isNaN(value)) throw new Error(`${name} needs a number, and this is NaN: one of its terms is not known or not a number`);
  if (value < 0) throw new Error(`${name} cannot be negative: this is ${value}`);
  return value;
}

/** The imports of the module. `module` gives the functions of the instance, which exists later. */
export function imports(program: Program | undefined, module: () => WindowFunctions & { memory: WebAssembly.Memory }): WebAssembly.Imports {
  const flows: { handlers: Handlers; window: WindowView; ack: Record<string, unknown>; loss: Record<string, unknown> }[] = [];
  let event = INIT!;
  const create = (at: number, length: number): number => {
    if (!program) throw new ProgramError(0, "there is no program");
    const text = new TextDecoder().decode(new Uint8Array(module().memory.buffer, at, length));
    const parameters = Object.fromEntries(text.split("\n").filter(Boolean).map((line) => line.split("=", 2) as [string, string]));
    const handlers = located(program, () => program.create(parameters));
    for (const name of ["on_ack", "on_loss"] as const) {
      if (!handlers[name]) throw new ProgramError(0, `it has no function ${name}`);
    }
    const window = complete(new WindowView(module, () => event), "window");
    return flows.push({ handlers, window, ack: {}, loss: {} }) - 1;
  };
  const needs = (flow: number): number => {
    const { pacing, rate } = flows[flow]!.handlers.needs;
    return (pacing ? NEEDS_PACING! : 0) + (rate ? NEEDS_RATE! : 0);
  };
  const onEvent = (number: number, kind: number, at: number): void => {
    const flow = flows[number]!;
    event = kind;
    const handlers = flow.handlers;
    if (kind === INIT) return located(program!, () => handlers.init?.(flow.window));
    const names = kind === ACK ? ACK_NUMBERS : LOSS_NUMBERS;
    const shown = kind === ACK ? flow.ack : flow.loss;
    const numbers = new Float64Array(module().memory.buffer, at, names.length);
    names.forEach((name, i) => (shown[name] = BOOLEANS.has(name) ? numbers[i] === 1 : name === "state" ? STATES[numbers[i]!] : numbers[i]));
    if (kind === ACK) return located(program!, () => handlers.on_ack!(complete(shown, "ack"), flow.window));
    shown.kind = kind === LOSS ? "loss" : kind === ECN ? "ecn" : "timeout";
    const handler = (kind === ECN ? handlers.on_ecn : kind === TIMEOUT ? handlers.on_timeout : undefined) ?? handlers.on_loss!;
    located(program!, () => handler(complete(shown, "loss"), flow.window));
  };
  return { page: { create, needs, on_event: onEvent } };
}

/** The same object, which refuses names that it does not have: a misspelt one would be `undefined`. */
function complete<T extends object>(object: T, called: string): T {
  const known = (key: string | symbol): boolean => {
    if (typeof key === "symbol" || key in object) return true;
    throw new Error(`${called} has no ${key}`);
  };
  return new Proxy(object, {
    get: (target, key) => {
      known(key);
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
    set: (target, key, value) => known(key) && Reflect.set(target, key, value),
  });
}

/** Runs a part of the program; an exception says at which line it happened. */
function located<T>(program: Program, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const stack = error instanceof Error ? (error.stack ?? "") : "";
    const lines = Array.from(stack.matchAll(new RegExp(`${SOURCE}:(\\d+)`, "g")), (match) => Number(match[1]));
    throw new ProgramError(lines.find((line) => line <= program.lines) ?? 0, error instanceof Error ? error.message : String(error));
  }
}
