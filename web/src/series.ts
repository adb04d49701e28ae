/** The samples of a run as columns, one for each curve. */

import type { Description } from "./module";

/** Over how many samples a throughput is taken, at least. */
const SMOOTH = 4;

export interface FlowSeries {
  cwnd: (number | null)[];
  /** Bit/s of payload that was acknowledged. */
  goodput: (number | null)[];
  /** Seconds. */
  rtt: (number | null)[];
}

/** A flow's state at a sample. */
export interface FlowState {
  cwnd: number;
  ssthresh: number;
  srtt: number;
  inFlight: number;
  sent: number;
  retransmitted: number;
  recovery: string;
  observables: { name: string; value: number }[];
}

export class Series {
  description: Description | null = null;
  readonly times: number[] = [];
  readonly queue: number[] = [];
  /** Packets that were dropped, lost or marked since the last sample. */
  readonly dropped: number[] = [];
  readonly marked: number[] = [];
  readonly flows: FlowSeries[] = [];
  private readonly rows: Float64Array[] = [];
  private readonly offsets: number[] = [];

  describe(description: Description): void {
    this.description = description;
    let offset = description.ofLink;
    this.offsets.length = 0;
    description.flows.forEach((flow, i) => {
      this.offsets.push(offset);
      offset += description.ofFlow + flow.observables.length;
      this.flows[i] ??= { cwnd: [], goodput: [], rtt: [] };
    });
  }

  get length(): number {
    return this.times.length;
  }

  /** Packets that were dropped or lost, and marked, so far. */
  get totals(): { dropped: number; marked: number } {
    const last = this.rows.at(-1);
    return { dropped: last ? last[2]! + last[3]! : 0, marked: last ? last[4]! : 0 };
  }

  add(data: Float64Array): void {
    const description = this.description!;
    for (let at = 0; at < data.length; at += description.rowLength) {
      this.addRow(data.subarray(at, at + description.rowLength), description);
    }
  }

  /** Returns a flow's state at a sample; null before it starts. */
  state(flow: number, index: number): FlowState | null {
    const row = this.rows[index];
    const description = this.description;
    const about = description?.flows[flow];
    if (!row || !about || this.times[index]! < about.start) return null;
    const at = this.offsets[flow]!;
    return {
      cwnd: row[at]!,
      ssthresh: row[at + 1]!,
      srtt: row[at + 2]!,
      inFlight: row[at + 4]!,
      sent: row[at + 5]!,
      retransmitted: row[at + 6]!,
      recovery: description.states[row[at + 7]!] ?? "",
      observables: about.observables.map((name, i) => ({ name, value: row[at + description.ofFlow + i]! })),
    };
  }

  private addRow(row: Float64Array, description: Description): void {
    const index = this.rows.length;
    const before = this.rows[index - 1];
    this.rows.push(row);
    this.times.push(row[0]!);
    this.queue.push(row[1]!);
    this.dropped.push(before ? row[2]! + row[3]! - before[2]! - before[3]! : 0);
    this.marked.push(before ? row[4]! - before[4]! : 0);
    description.flows.forEach((flow, i) => {
      const series = this.flows[i]!;
      const at = this.offsets[i]!;
      const started = row[0]! >= flow.start;
      const every = index > 0 ? row[0]! - before![0]! : 1;
      const back = Math.max(SMOOTH, Math.ceil(flow.baseRtt / every));
      const past = this.rows[Math.max(0, index - back)]!;
      const took = row[0]! - past[0]!;
      const goodput = took > 0 ? ((row[at + 3]! - past[at + 3]!) * 8) / took : null;
      series.cwnd.push(started ? row[at]! : null);
      series.goodput.push(started ? goodput : null);
      series.rtt.push(started && !Number.isNaN(row[at + 2]!) ? row[at + 2]! : null);
    });
  }
}
