/** The simulator's WebAssembly module: one instance, one run. See crates/cwnd-wasm/src/abi.rs. */

import { imports, ProgramError, type Program, type WindowFunctions } from "./own/runtime";

/** What a problem of the visitor's program has as its key. Its line is one of the program. */
export const PROGRAM = "your algorithm";

/** Something wrong with a setting. */
export interface Problem {
  /** The line of the setting, counted from 1; 0 if it is not about one line. */
  line: number;
  key: string;
  message: string;
}

/** What a run consists of. */
export interface Description {
  duration: number;
  rowLength: number;
  ofLink: number;
  ofFlow: number;
  packetBytes: number;
  /** Of the bottleneck, bit/s; null if it is unlimited. */
  rate: number | null;
  /** The bottleneck's queue limit, packets; null if there is none. */
  limit: number | null;
  queue: string;
  states: string[];
  flows: FlowDescription[];
}

export interface FlowDescription {
  algorithm: string;
  name: string;
  start: number;
  stop: number | null;
  baseRtt: number;
  observables: string[];
}

export interface Parameter {
  name: string;
  about: string;
  unit: string;
  default: string;
  valid: string;
}

export interface Observable {
  name: string;
  symbol: string;
  unit: string;
  about: string;
  modes: string[];
}

export interface Algorithm {
  name: string;
  title: string;
  year: number;
  summary: string;
  strengths: string;
  weaknesses: string;
  reference: string;
  signals: string[];
  parameters: Parameter[];
  observables: Observable[];
}

export interface Exports extends WindowFunctions {
  memory: WebAssembly.Memory;
  cwnd_input(length: number): number;
  cwnd_text(): number;
  cwnd_text_length(): number;
  cwnd_panic(): number;
  cwnd_panic_length(): number;
  cwnd_trace(): void;
  cwnd_open(): number;
  cwnd_run(until: number, every: number): number;
  cwnd_change(): number;
  cwnd_rows(): number;
  cwnd_rows_length(): number;
  cwnd_now(): number;
  cwnd_packets(): number;
  cwnd_digest(): void;
  cwnd_catalogue(): void;
  /** Only in the module with studies. */
  cwnd_study_bench?(cell: number): number;
}

/** A result, or everything that is wrong. */
export type Result<T> = { ok: true; value: T } | { ok: false; problems: Problem[] };

export class Lab {
  private constructor(readonly wasm: Exports) {}

  /** Creates an instance of the compiled module. `program` is the algorithm that the visitor wrote, if there is one. */
  static async create(module: WebAssembly.Module, program?: Program): Promise<Lab> {
    let exports: Exports | null = null;
    const instance = await WebAssembly.instantiate(module, imports(program, () => exports!));
    exports = instance.exports as unknown as Exports;
    return new Lab(exports);
  }

  /**
   * Makes the run of a setting: lines `KEY=VALUE` and `@TIME KEY=VALUE`. `trace` is the content of the delivery trace that it names; null
   * if the page does not have one.
   */
  open(setting: string, trace: string | null = null): Result<Description> {
    return this.guarded(() => {
      if (trace !== null) {
        this.write(trace);
        this.wasm.cwnd_trace();
      }
      this.write(setting);
      return this.wasm.cwnd_open();
    }, (text) => JSON.parse(text) as Description);
  }

  /** Makes a run of the study that the instance has read: the first repeat of a cell. */
  openCell(cell: number): Result<Description> {
    return this.guarded(() => this.wasm.cwnd_study_bench!(cell), (text) => JSON.parse(text) as Description);
  }

  /**
   * Runs until a time and takes a sample at each multiple of `every`; both are seconds. The samples are a view of the module's memory,
   * valid until the next call.
   */
  run(until: number, every: number): Result<Float64Array> {
    return this.guarded(() => this.wasm.cwnd_run(until, every), () =>
      new Float64Array(this.wasm.memory.buffer, this.wasm.cwnd_rows(), this.wasm.cwnd_rows_length()),
    );
  }

  /** Changes a setting now: a line `KEY=VALUE`. */
  change(line: string): Result<Description> {
    return this.guarded(() => {
      this.write(line);
      return this.wasm.cwnd_change();
    }, (text) => JSON.parse(text) as Description);
  }

  /** The time to which the run has come, seconds. */
  get now(): number {
    return this.wasm.cwnd_now();
  }

  /** How many data packets have come to the bottleneck's queue. */
  get packets(): number {
    return this.wasm.cwnd_packets();
  }

  /** The hash of all samples and of the outcome so far, 16 hexadecimal digits. */
  digest(): string {
    this.wasm.cwnd_digest();
    return this.text();
  }

  catalogue(): Algorithm[] {
    this.wasm.cwnd_catalogue();
    return JSON.parse(this.text()) as Algorithm[];
  }

  private guarded<T>(work: () => number, value: (text: string) => T): Result<T> {
    try {
      if (work() === 1) return { ok: true, value: value(this.text()) };
      return { ok: false, problems: JSON.parse(this.text()) as Problem[] };
    } catch (error) {
      if (error instanceof ProgramError) return { ok: false, problems: [{ line: error.line, key: PROGRAM, message: error.message }] };
      const panic = this.read(this.wasm.cwnd_panic(), this.wasm.cwnd_panic_length());
      return { ok: false, problems: [{ line: 0, key: "simulator", message: panic || String(error) }] };
    }
  }

  private write(text: string): void {
    const bytes = new TextEncoder().encode(text);
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
