//! The list of metrics as a document.

use super::registry::{Better, Metric, Scope, all};
use std::fmt::Write;

/// `docs/metrics.md`: every metric with its unit, formula and meaning.
pub fn markdown() -> String {
    let mut text = String::from(INTRODUCTION);
    type Belongs = fn(&Metric) -> bool;
    let sections: [(&str, Belongs); 5] = [
        ("Of flows and messages, from counts", |m| {
            !m.needs_samples() && !m.is_of_emulation() && (m.is_of(Scope::Run) || m.is_of(Scope::Flow))
        }),
        ("Of flows, from samples over time", |m| m.needs_samples() && !m.is_of(Scope::Queue)),
        ("Of links and their queues", |m| m.is_of(Scope::Queue)),
        ("Of an emulated network", |m| m.is_of_emulation()),
        ("Of two results", |m| m.is_of(Scope::Comparison)),
    ];
    for (title, belongs) in sections {
        let _ = write!(text, "\n## {title}\n");
        for metric in all().filter(|metric| belongs(metric)) {
            text += &entry(metric);
        }
    }
    text
}

const INTRODUCTION: &str = "\
# Metrics

`cwnd metrics --markdown` prints this page from the list that the program computes by; a test holds the two together.

Wire bytes count headers as the stack defines them; payload does not. The counted time lasts from the end of the warm-up
(0 if there is none) to the end of the run. A run's own figures are those of its forward flows; reverse flows are the
load against which they run. Short flows have a part in sums and in queues; what speaks of flows one by one (Jain's index,
windows, completion times) leaves them out where there are others. What cannot be measured is not there.
Each entry states the range of the metric's values; random scenarios check it in the tests.

| name | of what |
|---|---|
| `throughput_bps` | all forward flows |
| `flow2.throughput_bps` | the second flow, forward or reverse, in runs of up to 64 flows |
| `elastic.throughput_bps` | the forward flows of an algorithm, where several share |
| `background.throughput_bps` | the forward flows of a group of this name (`flow = [\"cubic; count=4; group=background\"]`); with `cross-flows` there are `own` and `cross` |
| `short.slowdown_p99` | short flows that started in the counted time; `short-small`: under 100 KB, `short-large`: over 1 MB; without overlap `short-to-10KB`, `short-to-100KB` (from 10 KB), `short-to-1MB` (from 100 KB), `short-large` |
| `bottleneck.mean_packets` | a link and its queue, by the link's name: the bottleneck, links that several forward flows share, and with up to four flows the senders' own |

Of a part of a run from somewhere in it, metrics are those of a run with that warm-up and that duration.

Metrics that are made from samples are there if the run is sampled. A study that asks for one samples by itself, every
100 ms unless `[trace]` says otherwise; for `backoff_factor` and `epoch_time_s` at least every tenth of the shortest base RTT, up to a
million times. Those of an emulated network are there if a real kernel ran over one (`engine = \"kernel\"`). Percentiles are
interpolated between the two nearest values, as NumPy does.
";

fn entry(metric: &Metric) -> String {
    let unit = if metric.unit.is_empty() { String::new() } else { format!(", {}", metric.unit) };
    let better = match metric.better {
        Better::More => "; more is better",
        Better::Less => "; less is better",
        Better::Neither => "",
    };
    let of = match metric.scopes {
        scopes if scopes.contains(&Scope::Short) => {
            " Also of one flow, of an algorithm or a group, and of short flows."
        }
        scopes if scopes.contains(&Scope::Flow) && !scopes.contains(&Scope::Run) => {
            " Of one flow, and of an algorithm or a group."
        }
        scopes if scopes.contains(&Scope::Flow) => " Also of one flow, and of an algorithm or a group.",
        scopes if scopes.contains(&Scope::Algorithm) => " Also of an algorithm or a group.",
        _ => "",
    };
    let mut text = format!(
        "\n**`{}`**: {}{unit}; {}{better}.{of}\n\n    {}\n",
        metric.name, metric.title, metric.range, metric.formula
    );
    if !metric.about.is_empty() {
        let _ = write!(text, "\n{}\n", metric.about);
    }
    if !metric.source.is_empty() {
        let _ = write!(text, "\nSource: {}.\n", metric.source);
    }
    text
}
