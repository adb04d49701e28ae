/** Programs to begin with. */

export interface Example {
  id: string;
  title: string;
  code: string;
}

/** The name by which the setting calls the visitor's algorithm. */
export const OWN = "own.js";

const RENO = `// Reno: one segment more each round trip, half the window at a loss.
function on_ack(ack, window) {
  if (!ack.may_grow) return;
  let acked = ack.acked;
  if (window.in_slow_start) acked = window.slow_start(acked);
  if (acked > 0) window.increase(acked, window.cwnd);
}

function on_loss(loss, window) {
  window.ssthresh = window.cwnd / 2;
}
`;

const AIMD = `// AIMD with other constants. Write parameters at the flow, such as alpha=2,beta=0.3.
const alpha = Number(parameters.alpha ?? 1);
const beta = Number(parameters.beta ?? 0.2);

function on_ack(ack, window) {
  if (!ack.may_grow) return;
  if (window.in_slow_start) window.slow_start(ack.acked);
  else window.cwnd += (alpha * ack.acked) / window.cwnd;
}

function on_loss(loss, window) {
  window.ssthresh = window.cwnd * (1 - beta);
}
`;

const DELAY = `// Delay: keep about this many packets in the queue, as Vegas does.
const target = Number(parameters.target ?? 5);

function on_ack(ack, window) {
  if (!ack.may_grow || !ack.round_start || !(ack.srtt > 0)) return;
  const queued = window.cwnd * (1 - ack.min_rtt / ack.srtt);
  if (queued > target) {
    window.cwnd -= 1;
    window.ssthresh = Math.min(window.ssthresh, window.cwnd);
  } else if (window.in_slow_start) {
    window.cwnd *= 2;
  } else {
    window.cwnd += 1;
  }
}

function on_loss(loss, window) {
  window.ssthresh = window.cwnd * 0.75;
}
`;

const RATE = `// Rate: send at the highest delivery rate of the last ten round trips, and probe for more every eighth.
const needs = { pacing: true, rate: true };
const rates = new Array(10).fill(0);

function on_ack(ack, window) {
  const now = ack.round % rates.length;
  if (ack.round_start) rates[now] = 0;
  if (ack.rate > rates[now]) rates[now] = ack.rate;
  const best = Math.max(...rates);
  if (best === 0 || !(ack.min_rtt > 0)) return;
  const gain = ack.round < 10 ? 2 : ack.round % 8 === 0 ? 1.25 : ack.round % 8 === 1 ? 0.75 : 1;
  window.pacing_rate = gain * best;
  window.cwnd = Math.max(4, 2 * best * ack.min_rtt);
}

function on_loss(loss, window) {
  window.ssthresh = window.cwnd;
}
`;

export const EXAMPLES: Example[] = [
  { id: "reno", title: "Reno", code: RENO },
  { id: "aimd", title: "AIMD with other constants", code: AIMD },
  { id: "delay", title: "Delay-based", code: DELAY },
  { id: "rate", title: "Paced to the measured rate", code: RATE },
];
