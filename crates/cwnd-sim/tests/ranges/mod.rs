//! The metrics of random scenarios against the ranges that the registry states.

use crate::generator::{self, Dice, factory};
use cwnd_experiment::FlowGroup;
use cwnd_experiment::{ExperimentSpec, LineDelay, StackChoice};
use cwnd_metrics::{self, Measure, Metric};
use cwnd_scenario::{Engine, EngineError, FlowSpec, Outcome, Rate, Scenario, StackProfile, Time, Traffic};
use cwnd_sim::{Simulator, run_with};
use std::collections::{BTreeMap, BTreeSet};

/// Approximate largest number of packets of a scenario.
const PACKETS: f64 = 20_000.0;

/// What rounding may add to a ratio of sums of floating-point numbers.
const ROUNDING: f64 = 1e-9;

/// The metrics that had a value in some scenario.
#[derive(Default)]
pub struct Seen(BTreeSet<&'static str>);

impl Seen {
    /// Returns those that a simulated run can have and none had.
    pub fn missing(&self) -> Vec<&'static str> {
        let of_runs =
            |metric: &&Metric| !matches!(metric.measure, Measure::Emulated(_) | Measure::Comparison(_));
        let names = cwnd_metrics::all().filter(of_runs).map(|metric| metric.name);
        names.filter(|name| !self.0.contains(name)).collect()
    }
}

/// Runs the scenario of a seed, and checks each value.
pub fn check(seed: u64, seen: &mut Seen) -> Result<(), String> {
    let scenario = scenario(seed);
    let outcome = match run_with(&scenario, &factory) {
        Ok(outcome) => outcome,
        Err(EngineError::Refused(problems)) if problems[0].message.contains("in no time") => return Ok(()),
        Err(error) => return Err(format!("seed {seed}: {error}")),
    };
    let values = cwnd_metrics::values(&scenario, &outcome);
    let mut wrong = Vec::new();
    for (name, &value) in &values {
        let metric =
            cwnd_metrics::find(name).ok_or_else(|| format!("seed {seed}: there is no metric {name}"))?;
        seen.0.insert(metric.name);
        if !metric.allows(&scenario, value) {
            wrong.push(format!("seed {seed}: {name} is {value}, out of {}", metric.range));
        }
    }
    relations(&values, &outcome, &mut |text| wrong.push(format!("seed {seed}: {text}")));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// A scenario of the generator with all that metrics depend on besides: warm-ups, samples, reverse and short flows, groups,
/// deadlines.
fn scenario(seed: u64) -> Scenario {
    let mut scenario = generator::scenario(seed);
    let mut dice = Dice::new(seed ^ 0x7261_6e67_6573);
    if dice.one_in(8) {
        scenario.duration = Time(dice.logarithmic(1, scenario.duration.0));
    }
    if let Ok(cost) = Simulator.check(&registered(&scenario)) {
        let part = (PACKETS / cost.packets.max(1.0)).min(1.0);
        scenario.duration = Time(((scenario.duration.0 as f64 * part) as u64).max(1));
    }
    if dice.one_in(2) {
        scenario.warm_up = Time(dice.below(scenario.duration.0));
    }
    let every = dice.pick(&[1_000_000, 20_000_000, 250_000_000]).max(scenario.duration.0 / 2000);
    scenario.sample = (!dice.one_in(4)).then_some(Time(every));
    for (i, flow) in scenario.flows.iter_mut().enumerate() {
        dress(&mut dice, i, flow, scenario.duration);
    }
    scenario
}

fn dress(dice: &mut Dice, i: usize, flow: &mut FlowSpec, duration: Time) {
    flow.reverse = dice.one_in(6);
    flow.short = i > 0
        && flow.bytes.is_some()
        && flow.traffic == Traffic::Bulk
        && flow.stop.is_none()
        && dice.one_in(2);
    flow.group = dice.one_in(2).then(|| dice.pick(&["own", "cross"]).to_owned());
    flow.deadline = dice.one_in(3).then(|| Time(dice.logarithmic(1, duration.0)));
}

/// The same with algorithms that the simulator's estimate knows.
fn registered(scenario: &Scenario) -> Scenario {
    let mut registered = scenario.clone();
    registered.flows.iter_mut().for_each(|flow| flow.algorithm.name = "newreno".to_owned());
    registered
}

/// What must hold between metrics of the same flows or the same link.
fn relations(values: &BTreeMap<String, f64>, outcome: &Outcome, wrong: &mut dyn FnMut(String)) {
    let mut ordered = |less: &str, more: &str| {
        for (name, value) in values {
            let (of, own) = cwnd_metrics::split(name);
            let other = of.map_or(more.to_owned(), |of| format!("{of}.{more}"));
            if own == less
                && let Some(limit) = values.get(&other)
                && *value > limit * (1.0 + ROUNDING) + ROUNDING
            {
                wrong(format!("{name} is {value}, more than {other}, {limit}"));
            }
        }
    };
    ordered("mean_packets", "max_packets");
    ordered("drop_ratio", "loss_ratio");
    ordered("rtt_min_s", "rtt_mean_s");
    ordered("rtt_mean_s", "rtt_max_s");
    ordered("jain_10s_least", "jain_10s");
    if outcome.begin == Time::ZERO {
        // After a warm-up what had arrived beyond a gap may come in order.
        ordered("goodput_bps", "throughput_bps");
    }
}

/// Returns the utilisation of a link of 10 Mbit/s and 50 ms that one flow keeps busy.
pub fn utilisation_of_a_full_link(profile: StackProfile, change: fn(&mut Scenario)) -> f64 {
    let setup = ExperimentSpec {
        rate: Rate(10_000_000),
        delay: LineDelay::OneWay(Time::from_millis(50)),
        stack: StackChoice { profile, ..StackChoice::default() },
        start_jitter: Some(Time::ZERO),
        ..ExperimentSpec::default()
    };
    let newreno = FlowGroup::new("newreno".parse().expect("an algorithm"), 1);
    let mut scenario = setup.scenario(&[newreno], 1).expect("the setup can be met");
    change(&mut scenario);
    let outcome = Simulator.run(&scenario).expect("it runs");
    cwnd_metrics::values(&scenario, &outcome)["utilisation"]
}
