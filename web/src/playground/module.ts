/** The module with studies: one instance, one study. See crates/cwnd-wasm/src/abi/study.rs. */

import type { Lab } from "../module";
import { imports, type WindowFunctions } from "../own/runtime";

/** A study that was read, and what it would cost. */
export interface StudyDescription {
  title: string;
  question: string;
  cells: number;
  repeats: number;
  /** Data packets and ACKs of all runs, about. */
  packets: number;
  /** CPU time of all runs in the native simulator, about, s. */
  seconds: number;
  /** Of the largest run, bytes. */
  memory: number;
  /** The places of the runs that are to be done. */
  runs: string[];
}

/** Something wrong with a study file. */
export interface Diagnostic {
  /** Counted from 1; 0 if it has no place. */
  line: number;
  /** In characters, counted from 1. */
  column: number;
  width: number;
  message: string;
  help: string;
}

export type Opened = { ok: true; study: StudyDescription } | { ok: false; problems: Diagnostic[] };

interface Exports extends WindowFunctions {
  memory: WebAssembly.Memory;
  cwnd_input(length: number): number;
  cwnd_text(): number;
  cwnd_text_length(): number;
  cwnd_panic(): number;
  cwnd_panic_length(): number;
  cwnd_study_schema(): void;
  cwnd_study_open(): number;
  cwnd_study_run(place: number): number;
  cwnd_study_result(): number;
  cwnd_study_put(place: number): number;
  cwnd_study_report(): void;
}

export class StudyModule {
  private constructor(private readonly wasm: Exports) {}

  static async create(module: WebAssembly.Module): Promise<StudyModule> {
    let exports: Exports | null = null;
    const instance = await WebAssembly.instantiate(module, imports(undefined, () => exports!));
    exports = instance.exports as unknown as Exports;
    return new StudyModule(exports);
  }

  /** The studies of an instance that has a run as well. */
  static of(lab: Lab): StudyModule {
    return new StudyModule(lab.wasm as unknown as Exports);
  }

  /** The JSON Schema of study files. */
  schema(): string {
    return this.guarded(() => (this.wasm.cwnd_study_schema(), this.text()));
  }

  /** Reads a study file at a scale: `paper`, `quick` or `sample`. */
  open(text: string, scale: string): Opened {
    return this.guarded(() => {
      this.write(new TextEncoder().encode(`${scale}\n${text}`));
      if (this.wasm.cwnd_study_open() === 1) return { ok: true, study: JSON.parse(this.text()) as StudyDescription };
      return { ok: false, problems: JSON.parse(this.text()) as Diagnostic[] };
    });
  }

  /** Does a run; the bytes are for `put` of any instance with the same study. */
  run(place: number): Uint8Array<ArrayBuffer> {
    return this.guarded(() => {
      const length = this.wasm.cwnd_study_run(place);
      return new Uint8Array(this.wasm.memory.buffer, this.wasm.cwnd_study_result(), length).slice();
    });
  }

  put(place: number, result: Uint8Array): void {
    this.guarded(() => {
      this.write(result);
      if (this.wasm.cwnd_study_put(place) !== 1) throw new Error("a worker's result cannot be read");
    });
  }

  /** The report of what has been put so far, an HTML page. With the script of live reports, it simulates runs itself. */
  report(script: string): string {
    return this.guarded(() => {
      this.write(new TextEncoder().encode(script));
      this.wasm.cwnd_study_report();
      return this.text();
    });
  }

  /** An exception of the module is a panic, whose message it has kept. */
  private guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      throw new Error(this.read(this.wasm.cwnd_panic(), this.wasm.cwnd_panic_length()) || String(error));
    }
  }

  private write(bytes: Uint8Array): void {
    const at = this.wasm.cwnd_input(bytes.length);
    new Uint8Array(this.wasm.memory.buffer, at, bytes.length).set(bytes);
  }

  private text(): string {
    return this.read(this.wasm.cwnd_text(), this.wasm.cwnd_text_length());
  }

  private read(at: number, length: number): string {
    return new TextDecoder().decode(new Uint8Array(this.wasm.memory.buffer, at, length));
  }
}
