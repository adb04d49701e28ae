/** Studies of the repository that a browser runs within seconds. Each is loaded when it is chosen. */

const FILES = import.meta.glob<string>("../../../studies/{networks,cltcp}/{slow-starts,queues,recovery,incast,parking-lot,cdg,prague,exponent}.toml", {
  query: "?raw",
  import: "default",
});

export interface Example {
  /** Its path below `studies/`, without the extension. */
  name: string;
  text(): Promise<string>;
}

export const EXAMPLES: Example[] = Object.entries(FILES).map(([path, text]) => ({
  name: path.replace(/^.*studies\//, "").replace(/\.toml$/, ""),
  text,
}));

/** What the page begins with. */
export const FIRST = `title = "CUBIC and BBR v3 against the buffer"
question = "How much delay does the throughput of each algorithm cost, with buffers of a quarter of a BDP to four?"

[scenario]
rate = "20 Mbit/s"
rtt = "40 ms"
duration = "30 s"
per = 0.0001

[run]
repeats = 5
metrics = ["throughput_bps", "rtt_mean_s", "loss_ratio"]

[[axes]]
name = "buffer"
title = "Buffer"
key = "buffer"
values = ["0.25 BDP", "1 BDP", "4 BDP"]

[[axes]]
name = "algorithm"
title = "Algorithm"
key = "algorithm"
values = ["cubic", "bbr3"]

[[figures]]
name = "throughput"
title = "Throughput"
kind = "line"
x = "buffer"
y = "throughput_bps"
series = "algorithm"

[[figures]]
name = "delay"
title = "Mean round-trip time"
kind = "line"
x = "buffer"
y = "rtt_mean_s"
series = "algorithm"

[[tables]]
name = "all"
title = "All cells"
rows = ["buffer", "algorithm"]
metrics = ["throughput_bps", "rtt_mean_s", "loss_ratio"]

[[claims]]
text = "With a buffer of four BDPs, BBR v3's round trips are less than half as long as CUBIC's."
measure = "gain"
metric = "rtt_mean_s"
axis = "algorithm"
of = "bbr3"
over = ["cubic"]
where = { buffer = "4 BDP" }
expect = "< -0.5"
`;
