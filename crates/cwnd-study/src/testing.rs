//! A study and engines for tests: the one takes no time, and its outcomes follow from the seed; the other takes some, and
//! sees whether it is alone.

use crate::{EngineKind, Engines, Study};
use cwnd_scenario::{
    Cost, Emulation, Engine, EngineError, FlowOutcome, Identity, LinkOutcome, Observed, Outcome, Problem,
    Sample, SampleState, Scenario, Time, Trace,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Two algorithms, two buffers, three repeats.
pub const STUDY: &str = r#"
title = "A study"
question = "What then?"
[scenario]
rate = "10 Mbit/s"
flows = 2
duration = "10 s"
stack = "ns2"
access-rate = "bottleneck"
access-buffer = "bottleneck"
[run]
repeats = 3
metrics = ["throughput_bps"]
[[axes]]
name = "variant"
key = "algorithm"
values = ["cubic", "newreno"]
[[axes]]
name = "buffer"
key = "buffer"
values = [5, 50]
"#;

/// The same, with the traces of one buffer's first two repeats.
pub fn traced() -> Study {
    study(&format!("{STUDY}[trace]\nsample = \"1 s\"\nrepeats = 2\nwhere = {{ buffer = 50 }}\n"))
}

#[track_caller]
pub fn study(text: &str) -> Study {
    Study::parse("toy", "toy.toml", text, &|_| Ok(())).unwrap_or_else(|error| panic!("{error}"))
}

/// The engine.
#[derive(Default)]
pub struct Toy {
    /// How many runs it has done.
    pub runs: AtomicUsize,
    /// Version of `newreno`.
    pub newreno: u32,
    /// Runs with this seed panic.
    pub panics_at: Option<u64>,
    /// Runs with this seed fail.
    pub fails_at: Option<u64>,
    /// What a run may need, bytes.
    pub memory: f64,
    /// How long a run takes.
    pub lasts: Duration,
    /// How many runs are on.
    pub on: Arc<AtomicUsize>,
}

impl Engine for Toy {
    fn check(&self, scenario: &Scenario) -> Result<Cost, Vec<Problem>> {
        let packets = scenario.duration.as_secs_f64();
        Ok(Cost { packets, cpu_s: 1e-6 * packets, wall_s: 1e-6 * packets, memory: self.memory })
    }

    fn identity(&self, scenario: &Scenario) -> Identity {
        let newreno = scenario.flows.iter().any(|flow| flow.algorithm.name == "newreno");
        Identity::new("toy", [("toy", if newreno { self.newreno } else { 0 }.to_string())])
    }

    fn run(&self, scenario: &Scenario) -> Result<Outcome, EngineError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let _on = On::new(&self.on);
        thread::sleep(self.lasts);
        assert_ne!(Some(scenario.seed), self.panics_at, "the seed is bad");
        if Some(scenario.seed) == self.fails_at {
            return Err(EngineError::Failed("the seed is no good".to_owned()));
        }
        let received = 1_000 * scenario.seed + u64::from(self.newreno);
        let flow = |_: &_| FlowOutcome {
            packets_sent: received + 3,
            packets_received: received,
            packets_in_flight: 3,
            wire_bytes_received: received * 1_000,
            bytes_in_order: received * 960,
            rtt_sum_s: 0.1 * received as f64,
            rtt_samples: received,
            rtt_min: Some(Time::from_millis(204)),
            rtt_max: Some(Time::from_millis(210)),
            cwnd_integral: 1.0 / 3.0,
            cwnd: 12.5,
            ssthresh: f64::INFINITY,
            ..FlowOutcome::default()
        };
        let link = |link: &cwnd_scenario::LinkSpec| LinkOutcome {
            name: link.name.clone(),
            ..LinkOutcome::default()
        };
        Ok(Outcome {
            begin: scenario.warm_up,
            end: scenario.duration,
            flows: scenario.flows.iter().map(flow).collect(),
            links: scenario.network.links.iter().map(link).collect(),
            trace: scenario.sample.map(|every| trace(scenario, every)),
            emulation: None,
        })
    }
}

/// A simulator, and no laboratory.
pub fn simulator(engine: Arc<Toy>) -> Engines {
    Engines::new(engine).with(EngineKind::Kernel, Err("there is no laboratory here".to_owned()))
}

/// Counts a run while it is on.
struct On<'a>(&'a AtomicUsize);

impl On<'_> {
    fn new(count: &AtomicUsize) -> On<'_> {
        count.fetch_add(1, Ordering::SeqCst);
        On(count)
    }
}

impl Drop for On<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// An engine in real time, with the outcomes of [`Toy`].
#[derive(Default)]
pub struct ToyLab {
    /// How many runs it has done, those that were ended included.
    pub runs: AtomicUsize,
    /// How long a run takes.
    pub lasts: Duration,
    /// Ends a run.
    pub stop: Arc<AtomicBool>,
    /// How many runs are on, of whatever engine.
    pub on: Arc<AtomicUsize>,
    /// Why what it finds is not valid.
    pub validity_warnings: Vec<String>,
}

impl Engine for ToyLab {
    fn check(&self, _: &Scenario) -> Result<Cost, Vec<Problem>> {
        Ok(Cost { packets: 1.0, cpu_s: 0.0, wall_s: self.lasts.as_secs_f64(), memory: 0.0 })
    }

    fn identity(&self, _: &Scenario) -> Identity {
        Identity::new("toy laboratory", [])
    }

    fn run(&self, scenario: &Scenario) -> Result<Outcome, EngineError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let _on = On::new(&self.on);
        let begin = Instant::now();
        while begin.elapsed() < self.lasts {
            if self.stop.load(Ordering::Relaxed) {
                return Err(EngineError::Failed("stopped".to_owned()));
            }
            if self.on.load(Ordering::SeqCst) != 1 {
                return Err(EngineError::Failed("it is not alone".to_owned()));
            }
            thread::sleep(Duration::from_millis(1));
        }
        let emulation = Emulation {
            late_p50: Time(5_000),
            late_p99: Time(80_000),
            late_max: Time::from_millis(2),
            rate_error: Some(0.001),
            steal: 0.02,
            validity_warnings: self.validity_warnings.clone(),
            host: "6.18.0 x86_64".to_owned(),
            implementations: Vec::new(),
        };
        Ok(Outcome { emulation: Some(emulation), ..Toy::default().run(scenario)? })
    }
}

fn trace(scenario: &Scenario, every: Time) -> Trace {
    let times: Vec<Time> = (1..=5).map(|i| Time(i * every.0 + 1)).collect();
    let sample = |(time_index, flow)| Sample {
        time_index,
        flow,
        cwnd: 10.0 + time_index as f64 / 3.0,
        ssthresh: if time_index < 2 { f64::INFINITY } else { 7.5 },
        rtt: (time_index > 0).then_some(Time(204_000_000 + scenario.seed)),
        delivered_bytes: 1_448 * time_index as u64,
        in_flight: 9,
        sent: None,
        state: if time_index == 3 { SampleState::Recovery } else { SampleState::Open },
    };
    Trace {
        queues: vec!["bottleneck".to_owned()],
        samples: (0..times.len()).flat_map(|i| [(i, 0), (i, 1)]).map(sample).collect(),
        queue_lengths: (0..times.len() as u32).map(|i| vec![i]).collect(),
        observed: vec![Observed { flow: 1, name: "gain".to_owned(), values: vec![0.5; times.len()] }],
        times,
    }
}
