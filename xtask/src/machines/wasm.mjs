// Runs a program that was compiled for wasm32-unknown-unknown, and prints what it passes to `print`.
import { readFileSync, writeSync } from "node:fs";

let program;
const host = {
  print: (at, length) => writeSync(1, new Uint8Array(program.exports.memory.buffer, at, length)),
};
program = (await WebAssembly.instantiate(readFileSync(process.argv[2]), { host })).instance;
program.exports.main(0, 0);
