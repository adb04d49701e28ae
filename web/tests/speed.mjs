// The CPU time of the module for each data packet that comes to the bottleneck: node tests/speed.mjs [MODULE]
// The least of several runs counts, because other processes only slow a run down.
import { readFileSync } from "node:fs";

const RUNS = 5;
const FLOWS = ["cubic", "cubic", "cubic", "cubic"];
const SECONDS = 60;
const setting = ["rate=1 Gbit/s", "rtt=204 ms", `duration=${SECONDS} s`, "receive-window=100000", ...FLOWS.map((flow) => `flow=${flow}`)].join("\n");

const file = process.argv[2] ?? new URL("../../target/web/cwnd.wasm", import.meta.url);
const module = await WebAssembly.compile(readFileSync(file));
const page = { create: () => 0, needs: () => 0, on_event: () => {} };
const costs = [];
let packets = 0;
for (let run = 0; run < RUNS; run++) {
  const { exports: lab } = await WebAssembly.instantiate(module, { page });
  const bytes = new TextEncoder().encode(setting);
  const at = lab.cwnd_input(bytes.length);
  new Uint8Array(lab.memory.buffer, at, bytes.length).set(bytes);
  if (lab.cwnd_open() !== 1) throw new Error("the setting is wrong");
  const begin = process.cpuUsage();
  if (lab.cwnd_run(SECONDS, SECONDS / 1500) !== 1) throw new Error("the run failed");
  const { user, system } = process.cpuUsage(begin);
  packets = lab.cwnd_packets();
  costs.push(((user + system) * 1000) / packets);
}
console.log(`${Math.min(...costs).toFixed(1)} ns a packet (${packets.toLocaleString("en")} packets; runs: ${costs.map((cost) => cost.toFixed(1)).join(", ")})`);
