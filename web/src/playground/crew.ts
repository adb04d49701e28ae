/** The workers of the playground: one that reads studies and writes reports, and several that do the runs. */

import type { Opened } from "./module";
import type { Reply, Request } from "./worker";

/** A worker that answers requests in their order. */
class Member {
  private readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  private waiting: { done(value: unknown): void; failed(error: Error): void }[] = [];
  private dead: Error | null = null;

  constructor(module: WebAssembly.Module) {
    this.worker.onmessage = (event: MessageEvent<Reply>) => {
      const first = this.waiting.shift();
      if (event.data.ok) first?.done(event.data.value);
      else first?.failed(new Error(event.data.message));
    };
    this.worker.onerror = (event) => this.end(new Error(event.message || "the worker ended"));
    void this.ask({ kind: "start", module }).catch(() => undefined);
  }

  ask<T>(request: Request, transfer: Transferable[] = []): Promise<T> {
    if (this.dead) return Promise.reject(this.dead);
    return new Promise((done, failed) => {
      this.waiting.push({ done: (value) => done(value as T), failed });
      this.worker.postMessage(request, transfer);
    });
  }

  end(why: Error): void {
    this.dead = why;
    this.worker.terminate();
    this.waiting.forEach((one) => one.failed(why));
    this.waiting = [];
  }
}

/** The runs were cancelled. */
export class Cancelled extends Error {}

export class Crew {
  private desk: Member;
  private runners: Member[] = [];

  constructor(private readonly module: WebAssembly.Module) {
    this.desk = new Member(module);
  }

  schema(): Promise<string> {
    return this.desk.ask({ kind: "schema" });
  }

  /** Reads a study, which is then the one that is run. */
  open(text: string, scale: string): Promise<Opened> {
    return this.desk.ask({ kind: "open", text, scale });
  }

  /**
   * Does the runs of a study that can be opened, and returns its report, with the script of live reports unless that is empty. A
   * cancelled study has a report of what was done.
   */
  async run(text: string, scale: string, places: number[], script: Promise<string>, progress: (done: number) => void): Promise<string> {
    const spare = Math.max(1, (navigator.hardwareConcurrency || 2) - 1);
    const runners = Array.from({ length: Math.min(spare, places.length, 16) }, () => new Member(this.module));
    this.runners = runners;
    // The desk may have read something else meanwhile.
    await this.open(text, scale);
    const left = [...places].reverse();
    let done = 0;
    const work = async (runner: Member): Promise<void> => {
      await runner.ask({ kind: "open", text, scale });
      for (let place = left.pop(); place !== undefined; place = left.pop()) {
        const result = await runner.ask<Uint8Array<ArrayBuffer>>({ kind: "run", place });
        await this.desk.ask({ kind: "put", place, result }, [result.buffer]);
        progress((done += 1));
      }
    };
    try {
      await Promise.all(runners.map(work));
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
    } finally {
      runners.forEach((runner) => runner.end(new Cancelled()));
    }
    return this.desk.ask({ kind: "report", script: await script });
  }

  cancel(): void {
    this.runners.forEach((runner) => runner.end(new Cancelled()));
  }
}
