/** A run of the bench for the command line: the command, and the study. Both are made from the lines that the module reads. */

import { exactRate, exactTime, flowText, fromLines, lines, other, readRate, readTime, runTime, settings, timeText, type Change, type Flow, type Setup } from "./setup";

/** What a schedule changes at one time. */
interface Step {
  rate?: string;
  delay?: string;
}

/** What the command line and a study can say of the changes, and the changes that they cannot. */
interface Planned {
  schedule: string | null;
  /** The rate of the access links, if the schedule would change their default. */
  access: string | null;
  flows: string[];
  left: Change[];
  /** Lines of changes whose time the page does not read. */
  unread: string[];
}

/** Propagation delay of a flow's access links, there and back, seconds; null if the topology or the text is another one. */
function accessRtt(setup: Setup): number | null {
  const topology = other(setup, "topology") ?? "dumbbell";
  if (topology === "path") return 0;
  if (topology !== "dumbbell") return null;
  // A dumbbell has one at each side, in both directions, of 1 ms if nothing else is said.
  const delay = readTime(other(setup, "access-delay") ?? "1 ms");
  return delay === null ? null : 4 * delay;
}

/** The delay of the bottleneck that a schedule needs for this base round-trip time; null if a schedule cannot have it. */
function scheduledDelay(setup: Setup, rtt: number): string | null {
  const access = accessRtt(setup);
  if (access === null) return null;
  const nanoseconds = Math.round((rtt - access) * 1e9);
  // Both directions of a schedule have the same whole number of nanoseconds.
  return nanoseconds < 0 || nanoseconds % 2 === 1 ? null : exactTime(nanoseconds / 2e9);
}

/** How many times the bottleneck's rate the access links have by default (crates/cwnd-experiment/src/experiment/topology.rs). */
const ACCESS = 10;
/** The greatest rate that the module reads, bit/s. */
const MOST_RATE = 1e13;

/** The default rate of the run's access links, bit/s; null if the page does not read the rate of the bottleneck. */
function accessRate(setup: Setup): number | null {
  const text = other(setup, "rate");
  if (text !== null && /^unlimited$/i.test(text)) return Infinity;
  const rate = text === null ? setup.rate : readRate(text);
  return rate === null ? null : Math.max(rate, Math.min(ACCESS * Math.round(rate), MOST_RATE));
}

/** Whether the default rate of the access links follows from the steps of a schedule. With an incast or a satellite it does not. */
function accessFollows(setup: Setup): boolean {
  return ["dumbbell", "parking-lot"].includes(other(setup, "topology") ?? "dumbbell") && other(setup, "access-rate") === null;
}

/** The rate of the run's access links, bit/s; null if the page does not know it. */
export function accessLinks(setup: Setup): number | null {
  const said = other(setup, "access-rate");
  if (said !== null) return readRate(said);
  return accessFollows(setup) ? accessRate(setup) : null;
}

/** The rate of the access links that a schedule must have beside it: its own default is at least twice the rate of its greatest step, and the run's is not. */
function scheduledAccess(setup: Setup, steps: Step[]): string | null {
  const access = accessFollows(setup) ? accessRate(setup) : null;
  const greatest = Math.max(...steps.map(({ rate }) => (rate === undefined ? 0 : readRate(rate)!)));
  return access !== null && 2 * greatest > access ? exactRate(access) : null;
}

/** The entry of the list of flows that has the flow with this number, and no other one. */
function entryOf(flows: Flow[], number: number): number | undefined {
  let left = number;
  for (const [entry, flow] of flows.entries()) {
    const count = Number(flow.options.find((option) => /^count\s*=/.test(option))?.split("=")[1] ?? 1);
    if (left >= 1 && left <= count) return count === 1 ? entry : undefined;
    left -= count;
  }
  return undefined;
}

/** Has a flow of the list stop as a change says; returns whether the list can say that. */
function stop(texts: string[], flows: Flow[], change: Change): boolean {
  const entry = change.key === "stop" ? entryOf(flows, Number(change.value)) : undefined;
  if (entry === undefined || /;\s*stop\s*=/.test(texts[entry]!)) return false;
  texts[entry] += `; stop=${runTime(change.at)}`;
  return true;
}

/** The setup as the module has it: flows and changes among the other settings have their places, too. */
function asRun(form: Setup): { setup: Setup; plan: Planned } {
  const setup = fromLines(lines(form));
  // The page reads the usual units only, and the module others, too.
  const unread = setup.more.filter((line) => line.startsWith("@"));
  const plan = planned(setup);
  const more = setup.more.filter((line) => !unread.includes(line));
  if (plan.access !== null) more.push(`access-rate=${plan.access}`);
  return { setup: { ...setup, more }, plan: { ...plan, unread } };
}

function planned(setup: Setup): Omit<Planned, "unread"> {
  const flows = setup.flows.map((flow) => flowText(flow));
  const steps = new Map<number, Step>();
  const left = setup.changes.filter((change) => {
    const step = stepOf(setup, change);
    if (step) steps.set(change.at, { ...steps.get(change.at), ...step });
    return !step && !stop(flows, setup.flows, change);
  });
  const texts = [...steps].map(([at, { rate, delay }]) => `${runTime(at)}: ${[rate, delay].filter(Boolean).join(", ")}`);
  return { schedule: texts.length > 0 ? texts.join("; ") : null, access: scheduledAccess(setup, [...steps.values()]), flows, left };
}

/** What the link has from the time of a change on; null if a schedule cannot say it. */
function stepOf(setup: Setup, change: Change): Step | null {
  // A trace excludes a schedule. The steps of another schedule would set rate and delay back, so they cannot be joined.
  if (setup.trace !== "" || other(setup, "schedule") !== null) return null;
  if (change.key === "rate") {
    // Without the rate at the beginning, that of the access links is unknown.
    const known = readRate(change.value) !== null && (!accessFollows(setup) || accessRate(setup) !== null);
    return known ? { rate: change.value } : null;
  }
  const time = readTime(change.value);
  if (time === null) return null;
  const delay = change.key === "rtt" ? scheduledDelay(setup, time) : null;
  return delay === null ? null : { delay };
}

function quoted(text: string): string {
  return /^[\w.:=,/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function notes(setup: Setup, { left, unread }: Planned): string {
  const file = setup.trace ? [`# It reads the trace ${setup.trace}: the page saves those that it brings.\n`] : [];
  const changes = [...left.map((change) => `${runTime(change.at)}: ${change.key}=${change.value}`), ...unread.map((line) => line.slice(1).trim())];
  return [...file, ...changes.map((change) => `# The page changed at ${change}\n`)].join("");
}

/** The same run on the command line. A change that has no flag is a comment. */
export function command(form: Setup): string {
  const { setup, plan } = asRun(form);
  const words = ["cwnd compare"];
  plan.flows.forEach((flow) => words.push(`--flow ${quoted(flow)}`));
  for (const [key, value] of settings(setup)) {
    // The algorithm has no flag.
    if (key === "algorithm") words[0] += ` ${quoted(value)}`;
    else words.push(`--${key} ${quoted(value)}`);
  }
  if (plan.schedule) words.push(`--schedule ${quoted(plan.schedule)}`);
  words.push("--plot bench.svg");
  return notes(setup, plan) + words.join(" \\\n  ");
}

/** The same run as a study file. */
export function study(form: Setup): string {
  const { setup, plan } = asRun(form);
  const all = settings(setup).filter(([key]) => key !== "seed");
  if (plan.schedule) all.push(["schedule", plan.schedule]);
  const assigned = ([key, value]: [string, string]) => {
    const bare = /^(\d+(\.\d+)?(e-?\d+)?)$/.test(value);
    return `${key} = ${bare ? value : JSON.stringify(value)}\n`;
  };
  // The only point of the axis has the flows.
  const isFlows = ([key]: [string, string]) => key === "mix" || key === "algorithm";
  const flows = plan.flows.length > 0 ? [`flow = [\n${plan.flows.map((flow) => `  ${JSON.stringify(flow)},\n`).join("")}]\n`] : all.filter(isFlows).map(assigned);
  const scenario = all.filter((setting) => plan.flows.length > 0 || !isFlows(setting)).map(assigned);
  return `${notes(setup, plan)}title = "From the bench"
question = "How do these flows share the path?"

[scenario]
${scenario.join("")}
[run]
seed = ${other(setup, "seed") ?? setup.seed}
metrics = ["throughput_bps", "loss_ratio", "jain_index", "rtt_mean_s", "queueing_delay_mean_s"]

[trace]
sample = ${JSON.stringify(timeText(setup.duration / 500))}

[[axes]]
name = "flows"
title = "Flows"

[[axes.points]]
label = "bench"
${flows.join("")}
[[tables]]
name = "flows"
title = "The run"
rows = ["flows"]
metrics = ["throughput_bps", "loss_ratio", "jain_index", "rtt_mean_s", "queueing_delay_mean_s"]
`;
}
