/** A worker of the playground: it holds a study, and does what it is asked one by one. */

import { StudyModule } from "./module";

export type Request =
  | { kind: "start"; module: WebAssembly.Module }
  | { kind: "schema" }
  | { kind: "open"; text: string; scale: string }
  | { kind: "run"; place: number }
  | { kind: "put"; place: number; result: Uint8Array<ArrayBuffer> }
  | { kind: "report"; script: string };

/** What came of a request, or the message of its failure. */
export type Reply = { ok: true; value: unknown } | { ok: false; message: string };

let study: StudyModule | null = null;

self.onmessage = async (event: MessageEvent<Request>) => {
  try {
    const value = await answer(event.data);
    post({ ok: true, value }, value instanceof Uint8Array ? [value.buffer] : []);
  } catch (error) {
    post({ ok: false, message: error instanceof Error ? error.message : String(error) });
  }
};

async function answer(request: Request): Promise<unknown> {
  if (request.kind === "start") {
    study = await StudyModule.create(request.module);
    return null;
  }
  if (study === null) throw new Error("start first");
  switch (request.kind) {
    case "schema":
      return study.schema();
    case "open":
      return study.open(request.text, request.scale);
    case "run":
      return study.run(request.place);
    case "put":
      return study.put(request.place, request.result);
    case "report":
      return study.report(request.script);
  }
}

function post(reply: Reply, transfer: Transferable[] = []): void {
  (self as unknown as Worker).postMessage(reply, transfer);
}
