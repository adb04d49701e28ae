//! A run as the table and the document of a comparison show it.

use crate::output::comparison::{TableRow, rows};
use cwnd_experiment::FlowGroup;
use cwnd_metrics::{RunMetrics, View};
use cwnd_scenario::{Emulation, Identity};
use cwnd_study::{RunResult, StoredRun, StoredState};
use serde::Serialize;

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
    /// CPU time of the thread that ran it, seconds.
    pub cpu_s: f64,
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
        let cpu_ns_per_packet = (packets > 0).then(|| cpu_s * 1e9 / packets as f64);
        Some(Measured {
            seed: run.seed,
            identity: spec.identity,
            metrics: RunMetrics::new(&scenario, &outcome),
            rows: rows(&View::new(&scenario, &outcome), groups),
            emulation: run.emulation.clone(),
            timing: Timing { cpu_s, cpu_ns_per_packet, packets },
        })
    }
}
