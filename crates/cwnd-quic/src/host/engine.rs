//! Whole runs of scenarios with QUIC flows, with a trace if asked for.

use crate::host::check::{has_quic, is_unseeded};
use crate::host::run::Run;
use cwnd_scenario::{EngineError, Helpers, Identity, Observed, Outcome, Scenario, Time, Trace, Transport};
use cwnd_sim::Factory;

/// Counts up whenever outcomes of scenarios with QUIC flows change.
pub const VERSION: u32 = 3;

/// The versions of the implementations with which this crate is built. A test compares them with `Cargo.lock`.
pub const IMPLEMENTATIONS: [(Transport, &str); 2] =
    [(Transport::Noq, "1.4.0"), (Transport::Quinn, "0.11.19")];

/// Returns the identity of a run with what takes part in it only if flows have QUIC. The version of an algorithm that is an
/// implementation's own is the implementation's. Those that cannot be [seeded](crate::host::is_unseeded) are named as such.
pub fn identified(scenario: &Scenario, mut identity: Identity) -> Identity {
    if !has_quic(scenario) {
        return identity;
    }
    identity.versions.insert("cwnd-quic".to_owned(), VERSION.to_string());
    for (transport, version) in IMPLEMENTATIONS {
        if scenario.flows.iter().any(|flow| flow.transport == transport) {
            identity.versions.insert(transport.name().to_owned(), version.to_owned());
        }
    }
    identity.versions.retain(|name, _| Transport::owner_of(name).is_none());
    for algorithm in
        scenario.flows.iter().map(|flow| &flow.algorithm).filter(|algorithm| is_unseeded(algorithm))
    {
        identity.versions.insert(algorithm.name.clone(), "unseeded".to_owned());
    }
    identity
}

/// Runs a whole scenario. TCP flows have the algorithms of `factory`, QUIC flows too, or their implementation's own.
///
/// # Errors
/// The scenario is refused, an algorithm cannot be created or sets a value that no window may have, or a connection fails.
pub fn run_with(scenario: &Scenario, factory: Factory<'_>) -> Result<Outcome, EngineError> {
    run_with_helpers(scenario, factory, &Helpers::default())
}

/// Does the same, and fails when the helpers say that it is to stop. It uses no threads.
///
/// # Errors
/// See [`run_with`].
pub fn run_with_helpers(
    scenario: &Scenario,
    factory: Factory<'_>,
    helpers: &Helpers,
) -> Result<Outcome, EngineError> {
    crate::host::check_with(scenario, factory).map_err(EngineError::Refused)?;
    let run = Run { helpers: helpers.clone(), ..Run::new(scenario, factory)? };
    let mut run = Counted { run, warm_up: scenario.warm_up, before: None };
    let trace = match scenario.sample {
        Some(every) => Some(run.sampled(every)?),
        None => None,
    };
    run.until(scenario.duration)?;
    let outcome = run.run.outcome();
    let counted = match &run.before {
        Some(before) => outcome.since(before),
        None => outcome,
    };
    Ok(Outcome { trace, ..counted })
}

/// A run that records the outcome at the end of its warm-up.
struct Counted<'a> {
    run: Run<'a>,
    /// When the warm-up ends; zero when it has.
    warm_up: Time,
    before: Option<Outcome>,
}

impl Counted<'_> {
    fn until(&mut self, time: Time) -> Result<(), EngineError> {
        if self.warm_up > Time::ZERO && self.warm_up <= time {
            self.run.until(self.warm_up)?;
            self.before = Some(self.run.outcome());
            self.warm_up = Time::ZERO;
        }
        self.run.until(time)
    }

    /// Runs to the end, and records the state just before 0, `every`, 2 `every`, …: of each flow that has started and is not short,
    /// and of each queue. Observables are those of TCP flows.
    fn sampled(&mut self, every: Time) -> Result<Trace, EngineError> {
        let scenario = self.run.scenario;
        let links = scenario.network.sampled_links();
        let flows: Vec<usize> =
            (0..scenario.flows.len()).filter(|flow| !scenario.flows[*flow].short).collect();
        let mut trace = Trace {
            queues: links.iter().map(|&link| scenario.network.links[link].name.clone()).collect(),
            ..Trace::default()
        };
        let mut observed: Vec<Vec<Observed>> =
            flows.iter().map(|&flow| observables(&self.run, flow)).collect();
        let mut time = Time::ZERO;
        while time <= scenario.duration {
            self.until(time)?;
            let time_index = trace.times.len();
            trace.times.push(time);
            trace.queue_lengths.push(links.iter().map(|&link| self.run.queue_length(link)).collect());
            for (&flow, series) in flows.iter().zip(&mut observed) {
                let started = scenario.start_of(flow) <= time;
                observe(&self.run, flow, started, series);
                if started {
                    trace.samples.push(self.run.sample(flow, time_index));
                }
            }
            time = Time(time.0.saturating_add(every.0));
        }
        trace.observed = observed.into_iter().flatten().collect();
        Ok(trace)
    }
}

fn observables(run: &Run<'_>, flow: usize) -> Vec<Observed> {
    let observables = run.tcp_sender(flow).map_or(&[][..], |sender| sender.observables());
    let series = observables.iter();
    series.map(|one| Observed { flow, name: one.name.to_owned(), values: Vec::new() }).collect()
}

/// Adds a sample to each series; NaN before the flow starts.
fn observe(run: &Run<'_>, flow: usize, started: bool, series: &mut [Observed]) {
    let mut values = vec![f64::NAN; series.len()];
    if let Some(sender) = run.tcp_sender(flow).filter(|_| started) {
        sender.observe(run.driver.now(), &mut values);
    }
    series.iter_mut().zip(values).for_each(|(series, value)| series.values.push(value));
}
