//! The simulator as an engine: whole runs, with a trace if asked for.

use crate::factory::Factory;
use crate::simulation::{Options, Simulation};
use cwnd_scenario::{
    Cost, Engine, EngineError, Helpers, Identity, Observed, Outcome, Problem, Recovery, Sample, Scenario,
    Time, Trace,
};
use std::borrow::Cow;

/// The packet-level simulator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simulator;

/// Counts up whenever outcomes change, so that stored results are told apart.
pub const VERSION: u32 = 8;

/// Counts up whenever none change but those of senders that recover as Linux does.
pub const LINUX_VERSION: u32 = 10;

/// The same of senders that recover as ns-2's TCP-Linux does.
pub const NS2_VERSION: u32 = 1;

/// The same of senders without SACK, with any recovery.
pub const NO_SACK_VERSION: u32 = 1;

impl Engine for Simulator {
    fn check(&self, scenario: &Scenario) -> Result<Cost, Vec<Problem>> {
        crate::check::check_with(scenario, &crate::factory::registered)
    }

    fn identity(&self, scenario: &Scenario) -> Identity {
        let version = match scenario.stack.recovery {
            Recovery::Linux | Recovery::Rack => format!("{VERSION}.{LINUX_VERSION}"),
            Recovery::Ns2 => format!("{VERSION}.{NS2_VERSION}"),
            Recovery::Prr => VERSION.to_string(),
        };
        let version = if scenario.stack.sack { version } else { format!("{version}.n{NO_SACK_VERSION}") };
        let mut identity = Identity::new("cwnd-sim", [("cwnd-sim", version)]);
        for name in scenario.flows.iter().map(|flow| &flow.algorithm.name) {
            if !identity.versions.contains_key(name) {
                let version = cwnd_cc::find(name).map_or(0, |info| info.version);
                identity.versions.insert(name.clone(), version.to_string());
            }
        }
        identity
    }

    fn run(&self, scenario: &Scenario) -> Result<Outcome, EngineError> {
        run_with(scenario, &crate::factory::registered)
    }

    fn run_with_helpers(&self, scenario: &Scenario, helpers: &Helpers) -> Result<Outcome, EngineError> {
        let options = Options { helpers: helpers.clone(), ..Options::default() };
        run_with_options(scenario, &crate::factory::registered, &options)
    }
}

/// Runs a whole scenario with algorithms of this factory.
///
/// # Errors
/// The scenario is refused, an algorithm cannot be created, or one sets a value that no [window](cwnd_cc::Window) may have.
pub fn run_with(scenario: &Scenario, factory: Factory<'_>) -> Result<Outcome, EngineError> {
    run_with_options(scenario, factory, &Options::default())
}

/// Runs a whole scenario with algorithms of this factory and these options.
///
/// # Errors
/// See [`run_with`].
pub fn run_with_options(
    scenario: &Scenario,
    factory: Factory<'_>,
    options: &Options,
) -> Result<Outcome, EngineError> {
    let mut run = CountedRun::new(Simulation::create(Cow::Borrowed(scenario), factory, options)?);
    let trace = scenario.sample.map(|every| run_sampled(&mut run, scenario, every, &options.helpers));
    if run.simulation.failure().is_none() {
        run.until(scenario.duration);
    }
    if options.helpers.is_stopped() {
        return Err(EngineError::stopped());
    }
    if let Some(error) = run.simulation.failure() {
        return Err(error);
    }
    if cfg!(debug_assertions) {
        let outcome = run.simulation.outcome();
        run.simulation.check_deliveries(&outcome).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    Ok(Outcome { trace, ..run.outcome() })
}

/// A simulation whose outcome is counted from the end of its warm-up.
pub struct CountedRun<'s> {
    /// It is to be run by [`CountedRun::until`] alone.
    pub simulation: Simulation<'s>,
    /// When the warm-up ends, while that is to come.
    warm_up: Option<Time>,
    /// What had happened then.
    before: Option<Outcome>,
}

impl<'s> CountedRun<'s> {
    /// Creates the run of a simulation that has not begun.
    pub fn new(simulation: Simulation<'s>) -> CountedRun<'s> {
        let warm_up = Some(simulation.scenario.warm_up).filter(|time| *time > Time::ZERO);
        CountedRun { simulation, warm_up, before: None }
    }

    /// Does everything before the time of a sample.
    fn until_sample(&mut self, time: Time, end: Time) {
        match self.warm_up {
            Some(warm_up) if warm_up > time => self.simulation.run_senders_until(time, warm_up),
            Some(_) => self.until(time),
            None => self.simulation.run_senders_until(time, end),
        }
    }

    /// Does everything that happens before a time; see [`Simulation::run_until`].
    pub fn until(&mut self, time: Time) {
        if let Some(warm_up) = self.warm_up.take_if(|warm_up| *warm_up <= time) {
            self.simulation.run_until(warm_up);
            if self.simulation.is_stopped() {
                return;
            }
            self.before = Some(self.simulation.outcome_before());
        }
        self.simulation.run_until(time);
    }

    /// Returns the outcome up to now: what came after the end of the warm-up, once that has come.
    pub fn outcome(&self) -> Outcome {
        let outcome = self.simulation.outcome();
        match &self.before {
            Some(before) => outcome.since(before),
            None => outcome,
        }
    }
}

/// Run to the end, and record each flow that has started and is not short, and each queue, at 0, `every`, 2 `every`, …:
/// the state just before what happens then.
fn run_sampled(run: &mut CountedRun<'_>, scenario: &Scenario, every: Time, helpers: &Helpers) -> Trace {
    let network = &scenario.network;
    let links = network.sampled_links();
    let mut trace = Trace {
        queues: links.iter().map(|&link| network.links[link].name.clone()).collect(),
        ..Trace::default()
    };
    let lasting = (0..scenario.flows.len()).filter(|flow| !scenario.flows[*flow].short);
    let starts: Vec<(usize, u64)> = lasting.map(|flow| (flow, scenario.start_of(flow).0)).collect();
    let mut observed: Vec<FlowStates> =
        starts.iter().map(|(flow, _)| FlowStates::new(&run.simulation, *flow)).collect();
    let mut time = Time(0);
    while time <= scenario.duration {
        run.until_sample(time, scenario.duration);
        if helpers.is_stopped() {
            break;
        }
        let simulation = &run.simulation;
        // The run has no outcome: nothing is gained by its rest.
        if starts.iter().any(|(flow, _)| simulation.sender(*flow).illegal_value().is_some()) {
            break;
        }
        let time_index = trace.times.len();
        trace.times.push(time);
        trace.queue_lengths.push(links.iter().map(|&link| simulation.queue_length(link) as u32).collect());
        for (&(flow, start), states) in starts.iter().zip(&mut observed) {
            states.sample(simulation, start <= time.0);
            if start > time.0 {
                continue;
            }
            let state = simulation.flow(flow);
            trace.samples.push(Sample {
                time_index,
                flow,
                cwnd: state.cwnd,
                ssthresh: state.ssthresh,
                rtt: state.srtt,
                delivered_bytes: state.delivered_bytes,
                in_flight: state.in_flight,
                sent: Some(state.sent),
                state: state.state,
            });
        }
        time = Time(time.0.saturating_add(every.0));
    }
    trace.observed = observed.into_iter().flat_map(|states| states.series).collect();
    trace
}

/// The state of a flow's algorithm over time.
struct FlowStates {
    flow: usize,
    series: Vec<Observed>,
    /// The values of one sample.
    values: Vec<f64>,
}

impl FlowStates {
    fn new(simulation: &Simulation, flow: usize) -> FlowStates {
        let names = simulation.observables(flow).iter();
        let series: Vec<Observed> = names
            .map(|observable| Observed { flow, name: observable.name.to_owned(), values: Vec::new() })
            .collect();
        let values = vec![f64::NAN; series.len()];
        FlowStates { flow, series, values }
    }

    /// Adds a sample; NaN before the flow starts.
    fn sample(&mut self, simulation: &Simulation, started: bool) {
        if started {
            simulation.observe(self.flow, &mut self.values);
        }
        for (series, value) in self.series.iter_mut().zip(&self.values) {
            series.values.push(*value);
        }
    }
}
