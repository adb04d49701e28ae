//! What a store must have: every state that it may be in, and what is compared.

use cwnd_scenario::{
    FlowOutcome, Identity, LinkOutcome, Outcome, Sample, SampleState, Scenario, Time, Trace,
};
use cwnd_study::store::{Counts, CountsForm, NewContent, NewRun, StoredTrace};
use cwnd_study::{KeptStudy, Provenance, RunKey, RunScale, RunSpec, ScenarioText, StoredState, Study};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

const STUDY: &str = r#"
title = "A study"
question = "What is left after a crash?"
[scenario]
algorithm = "cubic"
rate = "10 Mbit/s"
flows = 2
duration = "10 s"
[[axes]]
name = "buffer"
key = "buffer"
values = [5, 50]
"#;

/// What was stored under a key.
#[derive(Debug, PartialEq)]
pub enum Expected {
    Done {
        scenario: Arc<Scenario>,
        outcome: Arc<Outcome>,
        sampled: BTreeMap<String, f64>,
        trace: Option<[u8; 32]>,
    },
    Failed(String),
}

/// A state of the store: its runs and its study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub runs: BTreeMap<RunKey, Rc<Expected>>,
    pub study: Option<Rc<KeptStudy>>,
}

/// A run to store, and what the store must then return.
pub struct Run {
    pub new: NewRun,
    pub key: RunKey,
    expected: Rc<Expected>,
}

impl State {
    /// Adds a run as the store does: a failure never replaces what was run.
    pub fn add(&mut self, run: &Run) {
        let has_done = matches!(self.runs.get(&run.key).map(Rc::as_ref), Some(Expected::Done { .. }));
        if !(has_done && matches!(*run.expected, Expected::Failed(_))) {
            self.runs.insert(run.key, Rc::clone(&run.expected));
        }
    }
}

impl Expected {
    /// Returns whether this is what the store has found.
    pub fn is(&self, found: &StoredState) -> bool {
        match (self, found) {
            (Expected::Failed(reason), StoredState::Failed(found)) => reason == found,
            (Expected::Done { scenario, outcome, sampled, trace }, StoredState::Done { .. }) => {
                let StoredState::Done { scenario: s, outcome: o, sampled: m, trace: t, .. } = found else {
                    return false;
                };
                (&**scenario, outcome, sampled) == (&**s, o, m)
                    && *trace == t.as_ref().map(|trace| trace.digest)
            }
            _ => false,
        }
    }
}

/// Makes runs and studies.
pub struct Maker {
    cells: Vec<Scenario>,
    texts: Vec<ScenarioText>,
    keys: Vec<Vec<RunKey>>,
    /// Counts what was made, so that no two runs are the same.
    made: u64,
}

impl Maker {
    /// Creates one for the runs of `seeds` seeds in each of two cells.
    pub fn new(seeds: u64) -> Maker {
        let study = Study::parse("crash", "crash.toml", STUDY, &|_| Ok(())).expect("the study is right");
        let cells: Vec<Scenario> = (0..2).map(|cell| study.scenario(cell, 0)).collect();
        let texts = cells.iter().map(ScenarioText::of).collect();
        let mut maker = Maker { cells, texts, keys: Vec::new(), made: 0 };
        maker.keys =
            (0..2).map(|cell| (0..seeds).map(|seed| maker.spec(cell, seed).key()).collect()).collect();
        maker
    }

    pub fn key(&self, cell: usize, seed: u64) -> RunKey {
        self.keys[cell][seed as usize]
    }

    /// Returns the keys of all runs.
    pub fn keys(&self) -> impl Iterator<Item = RunKey> {
        self.keys.iter().flatten().copied()
    }

    pub fn scenario(&self, cell: usize, seed: u64) -> Scenario {
        Scenario { seed, ..self.cells[cell].clone() }
    }

    fn spec(&self, cell: usize, seed: u64) -> RunSpec {
        let identity = Identity::new("crash", [("crash", "1".to_owned())]);
        RunSpec { identity, scenario: self.texts[cell].clone(), seed }
    }

    pub fn done(&mut self, cell: usize, seed: u64, trace: Option<StoredTrace>) -> Run {
        self.made += 1;
        let scenario = self.scenario(cell, seed);
        let received = self.made;
        let flow = |_: &_| FlowOutcome {
            packets_sent: received + 3,
            packets_received: received,
            packets_in_flight: 3,
            cwnd_integral: received as f64 / 3.0,
            ssthresh: f64::INFINITY,
            ..FlowOutcome::default()
        };
        let outcome = Outcome {
            begin: scenario.warm_up,
            end: scenario.duration,
            flows: scenario.flows.iter().map(flow).collect(),
            links: scenario
                .network
                .links
                .iter()
                .map(|link| LinkOutcome { name: link.name.clone(), ..LinkOutcome::default() })
                .collect(),
            trace: None,
            emulation: None,
        };
        let scenario = Arc::new(scenario);
        let counts =
            Counts::new(CountsForm::Encoded, &scenario, outcome.clone()).expect("its counts are finite");
        let sampled: BTreeMap<String, f64> = [("cwnd_max".to_owned(), received as f64)].into();
        let digest = trace.as_ref().map(|trace| trace.digest);
        let content = NewContent::Done { counts, sampled: Some(sampled.clone()), trace };
        self.run(
            cell,
            seed,
            content,
            Expected::Done { scenario, outcome: Arc::new(outcome), sampled, trace: digest },
        )
    }

    /// Makes a failed run, whose reason has `length` bytes or a few more.
    pub fn failed(&mut self, cell: usize, seed: u64, length: usize) -> Run {
        self.made += 1;
        let reason = format!("reason {} ", self.made).repeat(1 + length / 12);
        self.run(cell, seed, NewContent::Failed(reason.clone()), Expected::Failed(reason))
    }

    fn run(&self, cell: usize, seed: u64, content: NewContent, expected: Expected) -> Run {
        let spec = self.spec(cell, seed);
        let key = self.key(cell, seed);
        Run { new: NewRun { key, spec, content, cpu_s: 0.5 }, key, expected: Rc::new(expected) }
    }

    pub fn study(&mut self, length: usize) -> KeptStudy {
        self.made += 1;
        KeptStudy {
            name: format!("study {}", self.made),
            text: format!("# study {}\n", self.made).repeat(1 + length / 12),
            scale: RunScale::default(),
            repeats: 1,
            keys: self.keys[0].clone(),
            provenance: Provenance {
                version: "0".to_owned(),
                commit: None,
                command: "cwnd run crash.toml".to_owned(),
                engine: "crash".to_owned(),
            },
        }
    }

    pub fn trace(&self, seed: u64) -> Trace {
        let times: Vec<Time> = (1..=4).map(|i| Time(i * 1_000_000 + seed)).collect();
        let sample = |(time_index, flow)| Sample {
            time_index,
            flow,
            cwnd: self.made as f64,
            ssthresh: f64::INFINITY,
            rtt: None,
            delivered_bytes: 1_448 * time_index as u64,
            in_flight: 9,
            sent: None,
            state: SampleState::Open,
        };
        Trace {
            queues: vec!["bottleneck".to_owned()],
            samples: (0..times.len()).flat_map(|i| [(i, 0), (i, 1)]).map(sample).collect(),
            queue_lengths: times.iter().map(|_| vec![1]).collect(),
            observed: Vec::new(),
            times,
        }
    }
}
