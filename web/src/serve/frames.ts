/** The samples of a run, as the server sends them: frames of a kind, a length and a content (crates/cwnd-serve/src/run_stream.rs). */

import type { Description } from "../module";

export type Frame =
  | { kind: "described"; description: Description }
  | { kind: "rows"; rows: Float64Array; now: number; packets: number; took: number }
  | { kind: "end"; end: End }
  | { kind: "problem"; message: string };

export interface End {
  /** Seconds. */
  took: number;
  packets?: number;
  /** Flows of the run; the first eight are sent. */
  flows: number;
  warnings: string[];
  implementations?: string[];
}

const HEAD = 8;
/** Numbers before the rows of a frame. */
const BEFORE = 3;

/** Reads the frames of a response. */
export async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const reader = body.getReader();
  let waiting = new Uint8Array(0);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      waiting = joined(waiting, value);
      for (;;) {
        const length = frameLength(waiting);
        if (length === null || waiting.length < HEAD + length) break;
        yield frame(String.fromCharCode(waiting[0]!), waiting.slice(HEAD, HEAD + length));
        waiting = waiting.slice(HEAD + length);
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function frameLength(bytes: Uint8Array): number | null {
  return bytes.length < HEAD ? null : new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
}

function frame(kind: string, content: Uint8Array): Frame {
  const text = () => new TextDecoder().decode(content);
  switch (kind) {
    case "d":
      return { kind: "described", description: JSON.parse(text()) as Description };
    case "e":
      return { kind: "end", end: JSON.parse(text()) as End };
    case "r": {
      const numbers = new Float64Array(content.slice().buffer);
      return { kind: "rows", rows: numbers.slice(BEFORE), now: numbers[0]!, packets: numbers[1]!, took: numbers[2]! };
    }
    default:
      return { kind: "problem", message: text() };
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
