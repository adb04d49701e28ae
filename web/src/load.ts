/** Loading the module. */

import { byId } from "./dom";
import { Lab } from "./module";
import wasm from "../../target/web/cwnd.wasm?url";

/** The module, and the bytes of it for a worker of another origin, which does not take a compiled module. */
export interface Simulator {
  module: WebAssembly.Module;
  bytes: ArrayBuffer;
}

/** Loads and compiles the module, and begins the page with it. The page shows why if that fails. */
export async function withModule(begin: (simulator: Simulator, lab: Lab) => void): Promise<void> {
  byId("status").textContent = "The simulator is loading.";
  try {
    const response = await fetch(wasm);
    if (!response.ok) throw new Error(`the simulator cannot be loaded: ${response.status} ${response.statusText}`);
    const bytes = await response.arrayBuffer();
    const module = await WebAssembly.compile(bytes);
    const lab = await Lab.create(module);
    byId("status").textContent = "";
    begin({ module, bytes }, lab);
  } catch (error) {
    byId("status").textContent = "";
    const place = byId("problems");
    place.textContent = `The page could not begin: ${String(error)}. A current browser with WebAssembly is needed; reload the page to try again.`;
    place.hidden = false;
  }
}
