/** A run as the page sees it: its worker, its samples, and how far it is to go. */

import type { Simulator } from "./load";
import type { Description, Problem } from "./module";
import { Series } from "./series";
import { microseconds } from "./time";
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
/** For how long the visitor's program may keep the worker, s. */
const LIMIT = 5;
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
  private readonly worker: Promise<Worker>;
  private waiting: ((reply: Reply) => void)[] = [];
  private watch = 0;
  private ended = false;
  private goal = 0;
  private busy = false;

  /**
   * `program` is the algorithm that the visitor wrote, if a flow runs it; `trace` is the content of the delivery trace that the
   * setting names, if the page has it.
   */
  constructor(
    simulator: Simulator,
    setting: string,
    readonly duration: number,
    private readonly events: Events,
    private readonly program: string | null = null,
    trace: string | null = null,
  ) {
    this.every = duration / SAMPLES;
    this.series = new Series();
    this.worker = this.start();
    // A compiled module stays within its origin, and a program has another one.
    const module = program === null ? simulator.module : simulator.bytes;
    this.ask({ kind: "open", module, setting, trace }, (reply) => this.described(reply));
  }

  private async start(): Promise<Worker> {
    const worker = this.program === null
      ? new Worker(new URL("./worker.ts", import.meta.url), { type: "module" })
      : await this.startProgram(this.program);
    worker.onmessage = (event: MessageEvent<Reply>) => {
      clearTimeout(this.watch);
      this.waiting.shift()?.(event.data);
    };
    worker.onerror = (event) => this.fail([{ line: 0, key: "worker", message: event.message || "the page's policy does not allow it" }]);
    return worker;
  }

  private async startProgram(program: string): Promise<Worker> {
    const own = await import("./own/worker");
    const problems = own.check(program);
    if (problems.length > 0) this.fail(problems);
    return own.worker(program);
  }

  private fail(problems: Problem[]): void {
    if (!this.ended) this.events.problems(problems);
    this.end();
  }

  /** Lets the run go on until a time, seconds, a whole number of microseconds. It comes there as fast as it can. */
  runTo(time: number): void {
    this.goal = Math.min(Math.max(this.goal, microseconds(time)), this.duration);
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

  /** Changes a setting as soon as the worker has answered what it was asked for before, and says when it has. */
  change(line: string, changed: () => void): void {
    this.ask({ kind: "change", line }, (reply) => {
      if (reply.kind === "described") changed();
      this.described(reply);
    });
  }

  end(): void {
    this.ended = true;
    this.waiting = [];
    clearTimeout(this.watch);
    void this.worker.then((worker) => worker.terminate(), () => undefined);
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
    this.worker.then((worker) => {
      if (this.ended) return;
      worker.postMessage(request);
      clearTimeout(this.watch);
      if (this.program !== null) this.watch = window.setTimeout(() => void this.hangs(this.program!), LIMIT * 1000);
    }, (error) => this.fail([{ line: 0, key: "worker", message: String(error) }]));
  }

  private async hangs(program: string): Promise<void> {
    const own = await import("./own/worker");
    this.fail(own.endless(program, LIMIT));
  }
}
