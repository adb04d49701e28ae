/** A run as the page sees it: its worker, its samples, and how far it is to go. */

import type { Description, Problem } from "./module";
import { Series } from "./series";
import type { Reply, Request } from "./worker";

export interface Events {
  /** The run exists, or has changed. */
  described(description: Description): void;
  /** There are new samples. */
  advanced(): void;
  problems(problems: Problem[]): void;
}

/** The module's clock counts nanoseconds: a time that is nearer than this has come. */
const TICK = 1e-9;
/** About how many samples a whole run has. */
const SAMPLES = 1500;

export class Run {
  readonly series: Series;
  /** Seconds. */
  now = 0;
  packets = 0;
  /** Time that the module has run, ms. */
  took = 0;
  readonly every: number;
  private readonly worker: Worker;
  private waiting: ((reply: Reply) => void)[] = [];
  private goal = 0;
  private busy = false;

  constructor(module: WebAssembly.Module, setting: string, readonly duration: number, private readonly events: Events) {
    this.every = duration / SAMPLES;
    this.series = new Series();
    this.worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    this.worker.onmessage = (event: MessageEvent<Reply>) => this.waiting.shift()?.(event.data);
    this.worker.onerror = (event) => this.events.problems([{ line: 0, key: "worker", message: event.message }]);
    this.ask({ kind: "open", module, setting, trace: "" }, (reply) => this.described(reply));
  }

  /** Lets the run go on until a time, seconds. It comes there as fast as it can. */
  runTo(time: number): void {
    this.goal = Math.min(Math.max(this.goal, time), this.duration);
    this.goOn();
  }

  /** Stops where it is. */
  halt(): void {
    this.goal = this.now;
  }

  get finished(): boolean {
    return this.now >= this.duration - TICK;
  }

  /** Whether it has come to where it was let go. */
  get idle(): boolean {
    return !this.busy && this.now >= this.goal - TICK;
  }

  change(line: string): void {
    this.ask({ kind: "change", line }, (reply) => this.described(reply));
  }

  end(): void {
    this.waiting = [];
    this.worker.terminate();
  }

  private described(reply: Reply): void {
    if (reply.kind === "described") {
      this.series.describe(reply.description);
      this.events.described(reply.description);
    } else if (reply.kind === "problems") this.events.problems(reply.problems);
    this.goOn();
  }

  private goOn(): void {
    if (this.busy || this.now >= this.goal - TICK || !this.series.description) return;
    this.busy = true;
    this.ask({ kind: "run", until: this.goal, every: this.every }, (reply) => {
      this.busy = false;
      if (reply.kind === "problems") return this.events.problems(reply.problems);
      if (reply.kind !== "rows") return;
      this.series.add(reply.rows);
      this.now = reply.now;
      this.packets = reply.packets;
      this.took += reply.took;
      this.events.advanced();
      this.goOn();
    });
  }

  private ask(request: Request, answer: (reply: Reply) => void): void {
    this.waiting.push(answer);
    this.worker.postMessage(request);
  }
}
