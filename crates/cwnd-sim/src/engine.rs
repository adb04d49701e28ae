//! The simulator as an engine: whole runs, with a trace if asked for.

use crate::factory::Factory;
use crate::simulation::Simulation;
use cwnd_scenario::{Cost, Engine, EngineError, Outcome, Problem, Sample, Scenario, Time, Trace};

/// The packet-level simulator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simulator;

/// Counts up whenever the outcome of any scenario changes, so that stored results are told apart.
pub const VERSION: u32 = 1;

/// The queues of all links are traced while there are no more than so many; else those of the bottleneck
/// and of the link against it.
const TRACED_LINKS: usize = 200;

impl Engine for Simulator {
    fn check(&self, scenario: &Scenario) -> Result<Cost, Vec<Problem>> {
        crate::check::check_with(scenario, &crate::factory::registered)
    }

    fn identity(&self, scenario: &Scenario) -> String {
        let mut algorithms: Vec<String> = scenario
            .flows
            .iter()
            .map(|flow| {
                let version = cwnd_cc::find(&flow.algorithm.name).map_or(0, |info| info.version);
                format!("{} v{version}", flow.algorithm)
            })
            .collect();
        algorithms.sort_unstable();
        algorithms.dedup();
        format!("cwnd-sim v{VERSION}\n{}\n{scenario:?}", algorithms.join("\n"))
    }

    fn run(&self, scenario: &Scenario) -> Result<Outcome, EngineError> {
        run_with(scenario, &crate::factory::registered)
    }
}

/// Run a whole scenario with algorithms from elsewhere.
pub fn run_with(scenario: &Scenario, factory: Factory<'_>) -> Result<Outcome, EngineError> {
    let mut simulation = Simulation::with_factory(scenario, factory)?;
    let trace = scenario.sample.map(|every| run_sampled(&mut simulation, scenario, every));
    simulation.run_until(scenario.duration);
    let mut outcome = simulation.outcome();
    outcome.trace = trace;
    Ok(outcome)
}

/// Run to the end, and record each flow that has started and each queue at 0, `every`, 2 `every`, …: the
/// state just before what happens then.
fn run_sampled(simulation: &mut Simulation, scenario: &Scenario, every: Time) -> Trace {
    let network = &scenario.network;
    let reverse = network.links.iter().position(|link| {
        let bottleneck = &network.links[network.bottleneck];
        (link.from, link.to) == (bottleneck.to, bottleneck.from)
    });
    let links: Vec<usize> = if network.links.len() <= TRACED_LINKS {
        (0..network.links.len()).collect()
    } else {
        [Some(network.bottleneck), reverse].into_iter().flatten().collect()
    };
    let mut trace = Trace {
        queues: links.iter().map(|&link| network.links[link].name.clone()).collect(),
        ..Trace::default()
    };
    let starts: Vec<u64> =
        (0..scenario.flows.len()).map(|flow| crate::setup::start(scenario, flow)).collect();
    let mut time = Time(0);
    while time <= scenario.duration {
        simulation.run_until(time);
        let time_index = trace.times.len();
        trace.times.push(time);
        trace.queue_lengths.push(links.iter().map(|&link| simulation.queue_length(link) as u32).collect());
        for flow in (0..scenario.flows.len()).filter(|&flow| starts[flow] <= time.0) {
            let state = simulation.flow(flow);
            trace.samples.push(Sample {
                time_index,
                flow,
                cwnd: state.cwnd,
                ssthresh: state.ssthresh,
                rtt: state.srtt,
                delivered_bytes: state.delivered_bytes,
                in_flight: state.in_flight,
                state: state.state,
            });
        }
        time = Time(time.0.saturating_add(every.0));
    }
    trace
}
