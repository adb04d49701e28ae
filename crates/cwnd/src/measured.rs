//! A run as the table and the document of a comparison show it.

use cwnd_experiment::FlowGroup;
use cwnd_metrics::{RunMetrics, View};
use cwnd_scenario::{Emulation, Identity};
use cwnd_study::{RunResult, RunState, StoredRun, StoredState};
use serde::Serialize;
use std::collections::BTreeMap;

/// A run that was done, read from its store.
pub struct Measured {
    /// Its seed.
    pub seed: u64,
    /// The engine, and the versions of what took part.
    pub identity: Identity,
    /// Its metrics, as the JSON document has them.
    pub metrics: RunMetrics,
    /// What the rows of the table show: the whole run, then each group of flows where there are several.
    pub rows: Vec<TableRow>,
    /// How well the network kept its times, if it was an emulated one.
    pub emulation: Option<Box<Emulation>>,
    /// What it cost.
    pub timing: Timing,
}

/// What a run cost.
#[derive(Clone, Copy, Serialize)]
pub struct Timing {
    /// CPU time of the threads that simulated it, seconds. None for a kernel, whose work is in other threads and processes.
    pub cpu_s: Option<f64>,
    /// The same for each data packet that arrived at the bottleneck's queue, nanoseconds.
    pub cpu_ns_per_packet: Option<f64>,
    /// How many such packets there were.
    #[serde(skip)]
    pub packets: u64,
}

impl Measured {
    /// Computes the metrics of a run from the scenario and the counts that the store has; none if it was not run.
    pub fn new(run: &RunResult, groups: &[FlowGroup], stored: Option<StoredRun>) -> Option<Measured> {
        let StoredRun { state, cpu_s, .. } = stored?;
        let StoredState::Done { spec, scenario, outcome, .. } = state else { return None };
        let bottleneck = outcome.links.get(scenario.network.bottleneck);
        let packets = bottleneck.map_or(0, |link| link.data_arrived);
        let cpu_s = Some(cpu_s).filter(|_| run.emulation.is_none());
        let cpu_ns_per_packet = cpu_s.filter(|_| packets > 0).map(|cpu_s| cpu_s * 1e9 / packets as f64);
        let mut rows = rows(&View::new(&scenario, &outcome), groups);
        if let (RunState::Done(metrics), Some(link)) = (&run.state, bottleneck) {
            let value = |name: &str| metrics.get(&format!("{}.{name}", link.name)).copied();
            rows[0].extend(QUEUE_DELAYS.iter().filter_map(|name| Some((*name, value(name)?))));
        }
        Some(Measured {
            seed: run.seed,
            identity: spec.identity,
            metrics: RunMetrics::new(&scenario, &outcome),
            rows,
            emulation: run.emulation.clone(),
            timing: Timing { cpu_s, cpu_ns_per_packet, packets },
        })
    }
}

/// The name of the metric of completion times.
pub const COMPLETION: &str = "completion_time_s";
/// The name of the metric of fairness.
pub const FAIRNESS: &str = "jain_index";
/// The name of the metric of utilisation.
pub const UTILISATION: &str = "utilisation";
/// The name of the metric of the bottleneck's queue.
pub const QUEUE: &str = "mean_packets";
/// The names of the metrics of the percentiles of the queue delay at the bottleneck, which sampled runs have.
pub const QUEUE_DELAYS: [&str; 2] = ["link_queue_delay_p95_s", "link_queue_delay_p99_s"];
/// The metrics of flows that the table shows.
const METRICS: [&str; 9] = [
    "throughput_bps",
    "goodput_bps",
    UTILISATION,
    COMPLETION,
    "loss_ratio",
    FAIRNESS,
    "rtt_mean_s",
    "retransmissions",
    "timeouts",
];

/// The values of a row of the table in one run, by the names of their metrics, in base units.
pub type TableRow = BTreeMap<&'static str, f64>;

/// Returns the rows of a run: all forward flows, then each group of flows where there are several.
pub fn rows(view: &View<'_>, groups: &[FlowGroup]) -> Vec<TableRow> {
    let metric = |name: &str| cwnd_metrics::all().find(|metric| metric.name == name);
    let reverse = view.reverse();
    let row = |flows: &[usize]| -> TableRow {
        let values = METRICS.iter().filter_map(|name| {
            let shown = match *name {
                // Of one flow there is no fairness.
                FAIRNESS => flows.len() > 1,
                // Reverse flows load the other direction, and others may not come to the bottleneck.
                UTILISATION => {
                    !flows.iter().any(|flow| reverse.contains(flow))
                        && flows.iter().any(|flow| view.crosses_bottleneck(*flow))
                }
                _ => true,
            };
            Some((*name, metric(name)?.of_flows(view, flows).filter(|_| shown)?))
        });
        values.collect()
    };
    let mut all = row(&view.forward());
    all.extend(metric(QUEUE).and_then(|metric| Some((QUEUE, metric.of_link(view, view.bottleneck())?))));
    let mut rows = vec![all];
    let mut first = 0;
    for group in groups.iter().filter(|_| groups.len() > 1) {
        let flows: Vec<usize> = (first..first + group.count as usize).collect();
        first += flows.len();
        rows.push(row(&flows));
    }
    rows
}
