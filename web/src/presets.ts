/** Settings that show one thing each. */

export interface Preset {
  id: string;
  title: string;
  /** What to look at. */
  about: string;
  lines: string[];
}

export const PRESETS: Preset[] = [
  {
    id: "sawtooth",
    title: "The sawtooth",
    about: "NewReno adds a segment each round trip and halves its window at a loss. With a buffer of one BDP the link stays busy.",
    lines: ["rate=10 Mbit/s", "rtt=80 ms", "buffer=67", "duration=60 s", "flow=newreno"],
  },
  {
    id: "bufferbloat",
    title: "Bufferbloat",
    about: "CUBIC fills a buffer of fifteen BDPs. The throughput gains nothing, and the round-trip time grows tenfold. Choose the queue “CoDel”.",
    lines: ["rate=20 Mbit/s", "rtt=40 ms", "buffer=1000", "duration=60 s", "flow=cubic"],
  },
  {
    id: "cubic-bbr",
    title: "CUBIC against BBR",
    about: "BBR v3 measures rate and delay instead of waiting for losses. Make the buffer smaller or larger while they run, and see who wins.",
    lines: ["rate=50 Mbit/s", "rtt=40 ms", "buffer=330", "duration=60 s", "flow=cubic", "flow=bbr3; start=5 s"],
  },
  {
    id: "cellular",
    title: "A cellular link",
    about: "The trace of an LTE model sets the rate. From 6 s to 27 s the link nearly stops: packets wait, both windows collapse, and round-trip times exceed 4 s.",
    lines: ["rate-trace=lte.trace", "rtt=60 ms", "buffer=300", "duration=30 s", "flow=cubic", "flow=bbr3"],
  },
  {
    id: "satellite",
    title: "A satellite",
    about: "Hybla grows as if its round trip were a short one, and overflows the buffer again and again. NewReno gets next to nothing beside it. Alone, it reaches 4 of the 20 Mbit/s.",
    lines: ["rate=20 Mbit/s", "rtt=600 ms", "buffer=1000", "per=0.0001", "duration=120 s", "flow=newreno", "flow=hybla"],
  },
  {
    id: "incast",
    title: "Incast",
    about: "Eight servers answer at once through one port with a small buffer. Their first windows alone overflow it.",
    lines: [
      "rate=1 Gbit/s", "rtt=100 us", "topology=incast", "access-delay=10 us", "buffer=64", "duration=1 s",
      ...Array.from({ length: 8 }, () => "flow=newreno"),
    ],
  },
  {
    id: "ecn",
    title: "ECN",
    about: "CoDel marks packets instead of dropping them: CUBIC backs off, and no packet is lost. Clear “ECN” to see the drops.",
    lines: ["rate=20 Mbit/s", "rtt=40 ms", "buffer=300", "queue=codel:ecn=on", "ecn=on", "duration=60 s", "flow=cubic", "flow=cubic; start=10 s"],
  },
  {
    id: "own",
    title: "Your own algorithm",
    about: "The first flow runs the program above the charts, beside CUBIC. Change a line and press Ctrl+Enter.",
    lines: ["rate=20 Mbit/s", "rtt=40 ms", "buffer=67", "duration=60 s", "flow=own.js", "flow=cubic"],
  },
  {
    id: "elastic",
    title: "Elastic-TCP against CUBIC",
    about: "A long fast path. Elastic-TCP grows by the root of the window times the delay ratio, and wins losses back sooner than CUBIC.",
    lines: ["rate=400 Mbit/s", "rtt=200 ms", "buffer=3300", "per=0.00001", "duration=60 s", "flow=elastic", "flow=cubic"],
  },
  {
    id: "agile-sd",
    title: "Agile-SD against CUBIC",
    about: "A short fast path with a small buffer. Agile-SD gives up little at a loss and wins it back at up to three times NewReno's pace.",
    lines: ["rate=1 Gbit/s", "rtt=10 ms", "buffer=80", "duration=20 s", "flow=agile-sd", "flow=cubic"],
  },
  {
    id: "cltcp",
    title: "CLTCP against NewReno",
    about: "CLTCP behaves as many NewReno flows while few packets are marked. The queue marks those that find more than 20 packets.",
    lines: ["rate=100 Mbit/s", "rtt=100 ms", "buffer=800", "ecn=on", "ecn-threshold=20", "duration=60 s", "flow=cltcp", "flow=newreno"],
  },
  {
    id: "invs",
    title: "Invs against CUBIC",
    about: "Random losses on a fast path: where the queue is short, Invs takes a loss for noise and gives up little.",
    lines: ["rate=100 Mbit/s", "rtt=100 ms", "buffer=800", "per=0.0001", "duration=60 s", "flow=invs", "flow=cubic"],
  },
];
