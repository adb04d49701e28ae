// Runs settings with the module, and prints their digests. Called by crates/cwnd-wasm/tests/identity.rs.
import { readFileSync } from "node:fs";

const wasm = readFileSync(process.argv[2]);
const { settings, pieces, every } = JSON.parse(readFileSync(0, "utf8"));
const module = await WebAssembly.compile(wasm);
// No setting has an algorithm of the page.
const page = { create: () => 0, needs: () => 0, on_event: () => {} };
const digests = [];
for (const setting of settings) {
  const { exports: lab } = await WebAssembly.instantiate(module, { page });
  const text = () =>
    new TextDecoder().decode(new Uint8Array(lab.memory.buffer, lab.cwnd_text(), lab.cwnd_text_length()));
  const bytes = new TextEncoder().encode(setting);
  const at = lab.cwnd_input(bytes.length);
  new Uint8Array(lab.memory.buffer, at, bytes.length).set(bytes);
  if (lab.cwnd_open() !== 1) throw new Error(`${text()} in\n${setting}`);
  for (let piece = 1; piece <= pieces; piece++) {
    if (lab.cwnd_run((3 * piece) / pieces, every) !== 1) throw new Error(`${text()} in\n${setting}`);
  }
  lab.cwnd_digest();
  digests.push(text());
}
console.log(JSON.stringify(digests));
