/** A worker that holds one run. It answers each request once. In front of it there may be the visitor's program (own/worker.ts). */

import { Lab, type Description, type Problem } from "./module";
import type { Program } from "./own/runtime";
import { microseconds } from "./time";

export type Request =
  | { kind: "open"; module: WebAssembly.Module | ArrayBuffer; setting: string; trace: string | null }
  | { kind: "run"; until: number; every: number }
  | { kind: "change"; line: string };

export type Reply =
  | { kind: "described"; description: Description }
  | { kind: "rows"; rows: Float64Array; now: number; packets: number; took: number }
  | { kind: "problems"; problems: Problem[] };

/** For how long it runs before it answers, ms: requests are frequent, and the page stays responsive. */
const BUDGET = 24;

let lab: Lab | null = null;

self.onmessage = async (event: MessageEvent<Request>) => {
  try {
    await answer(event.data);
  } catch (error) {
    reply({ kind: "problems", problems: [{ line: 0, key: "worker", message: String(error) }] });
  }
};

async function answer(request: Request): Promise<void> {
  if (request.kind === "open") {
    const module = request.module instanceof ArrayBuffer ? await WebAssembly.compile(request.module) : request.module;
    lab = await Lab.create(module, (self as { program?: Program }).program);
    const opened = lab.open(request.setting, request.trace);
    if (opened.ok) reply({ kind: "described", description: opened.value });
    else reply({ kind: "problems", problems: opened.problems });
    return;
  }
  if (lab === null) throw new Error("open a run first");
  if (request.kind === "change") {
    const changed = lab.change(request.line);
    if (changed.ok) reply({ kind: "described", description: changed.value });
    else reply({ kind: "problems", problems: changed.problems });
    return;
  }
  run(lab, request.until, request.every);
}

function run(lab: Lab, until: number, every: number): void {
  const begin = performance.now();
  const pieces: Float64Array[] = [];
  let [now, length] = [lab.now, 0];
  do {
    // A change is noted in microseconds, and a run may be changed wherever it has come to.
    const next = Math.min(until, microseconds(now + every));
    const ran = lab.run(next, every);
    if (!ran.ok) return reply({ kind: "problems", problems: ran.problems });
    pieces.push(ran.value.slice());
    length += ran.value.length;
    now = lab.now;
  } while (now < until - 1e-9 && performance.now() - begin < BUDGET);
  const rows = new Float64Array(length);
  let at = 0;
  for (const piece of pieces) {
    rows.set(piece, at);
    at += piece.length;
  }
  const took = performance.now() - begin;
  reply({ kind: "rows", rows, now, packets: lab.packets, took }, [rows.buffer]);
}

function reply(reply: Reply, transfer: Transferable[] = []): void {
  (self as unknown as Worker).postMessage(reply, transfer);
}
