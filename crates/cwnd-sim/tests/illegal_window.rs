//! An algorithm that sets a window with which its flow could never send again ends the run with an error.

use cwnd_cc::{Ack, Congestion, CongestionControl, Init, Needs, Parameters, Window};
use cwnd_experiment::{ExperimentSpec, FlowGroup, LineDelay, StackChoice};
use cwnd_scenario::{AlgorithmSpec, EngineError, Rate, Recovery, Scenario, StackProfile, Time};
use cwnd_sim::{Options, Shortcuts, Simulation, run_with, run_with_options};

/// When the algorithm makes its change.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    Init,
    /// At this ACK and all later ones.
    Ack(u32),
    Congestion,
}

/// NewReno, whose window is changed.
struct Broken {
    inner: Box<dyn CongestionControl>,
    when: When,
    change: fn(&mut Window),
    acks: u32,
    paced: bool,
}

impl CongestionControl for Broken {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.inner.init(window, init);
        if self.paced {
            window.pacing_rate = 1e6;
        }
        if self.when == When::Init {
            (self.change)(window);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.inner.on_ack(window, ack);
        self.acks += 1;
        if matches!(self.when, When::Ack(first) if self.acks >= first) {
            (self.change)(window);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.inner.on_congestion(window, congestion);
        if self.when == When::Congestion {
            (self.change)(window);
        }
    }

    fn needs(&self) -> Needs {
        Needs { pacing: self.paced, ..self.inner.needs() }
    }
}

/// One flow for 10 s over 10 Mbit/s with a delay of 20 ms each way.
fn scenario(stack: StackChoice, overhead: Option<Time>) -> Scenario {
    let setup = ExperimentSpec {
        rate: Rate(10_000_000),
        delay: LineDelay::OneWay(Time::from_millis(20)),
        buffer: 33.into(),
        duration: Time::from_secs(10),
        send_overhead: overhead,
        stack,
        ..ExperimentSpec::default()
    };
    let algorithm = AlgorithmSpec { name: "my-thing".to_owned(), ..AlgorithmSpec::default() };
    setup.scenario(&[FlowGroup::new(algorithm, 1)], 1).expect("a network")
}

fn factory(
    when: When,
    paced: bool,
    change: fn(&mut Window),
) -> impl Fn(&AlgorithmSpec) -> Result<Box<dyn CongestionControl>, String> {
    move |_| {
        let info = cwnd_cc::find("newreno").ok_or("newreno is missing")?;
        let inner = (info.build)(&Parameters::new()).map_err(|error| error.to_string())?;
        Ok(Box::new(Broken { inner, when, change, acks: 0, paced }))
    }
}

fn stacks() -> [StackChoice; 3] {
    let prr = StackChoice { recovery: Some(Recovery::Prr), ..StackProfile::Linux.into() };
    [StackProfile::Linux.into(), StackProfile::Ns2.into(), prr]
}

/// Runs it on every stack, with and without send overhead and shortcuts. Returns the error of each.
fn errors(when: When, paced: bool, change: fn(&mut Window)) -> Vec<String> {
    let mut errors = Vec::new();
    for stack in stacks() {
        for (overhead, shortcuts) in [(None, Shortcuts::default()), (Some(Time::ZERO), Shortcuts::NONE)] {
            let scenario = scenario(stack.clone(), overhead);
            let options = Options { shortcuts, ..Options::default() };
            match run_with_options(&scenario, &factory(when, paced, change), &options) {
                Err(EngineError::Failed(message)) => errors.push(message),
                other => panic!("{when:?} {:?}: {other:?}", scenario.stack.profile),
            }
        }
    }
    errors
}

#[track_caller]
fn check(when: When, paced: bool, change: fn(&mut Window), expected: &str) {
    for message in errors(when, paced, change) {
        let (set, rule) = expected.split_once("; ").expect("a value and a rule");
        assert!(message.starts_with(&format!("flow 1: my-thing set {set} at ")), "{message}");
        assert!(message.ends_with(&format!("; {rule}")), "{message}");
    }
}

#[test]
fn a_window_that_lets_nothing_go_ends_the_run() {
    let later = When::Ack(200);
    for when in [later, When::Init] {
        let rule = "it must be at least 1 segment";
        check(when, false, |window| window.cwnd = f64::NAN, &format!("cwnd to NaN; {rule}"));
        check(when, false, |window| window.cwnd = 0.0, &format!("cwnd to 0; {rule}"));
    }
    check(later, false, |window| window.cwnd = -5.0, "cwnd to -5; it must be at least 1 segment");
    check(later, false, |window| window.cwnd = 0.5, "cwnd to 0.5; it must be at least 1 segment");
    let nan = |window: &mut Window| window.ssthresh = f64::NAN;
    let rule = "it must be a number of segments, or infinite";
    check(When::Congestion, false, nan, &format!("ssthresh to NaN; {rule}"));
    let nan = |window: &mut Window| window.recovery_cwnd = Some(f64::NAN);
    check(When::Congestion, false, nan, "recovery_cwnd to NaN; it must be a number of segments");
}

#[test]
fn a_pacing_rate_that_is_none_ends_the_run() {
    let rule = "it must be above 0, or infinite to send without pacing";
    for when in [When::Ack(200), When::Init] {
        check(when, true, |window| window.pacing_rate = 0.0, &format!("pacing_rate to 0; {rule}"));
        check(when, true, |window| window.pacing_rate = -1.0, &format!("pacing_rate to -1; {rule}"));
        check(when, true, |window| window.pacing_rate = f64::NAN, &format!("pacing_rate to NaN; {rule}"));
    }
}

#[test]
fn the_error_has_the_time_of_the_first_such_value() {
    let mut scenario = scenario(StackProfile::Linux.into(), None);
    let factory = factory(When::Init, false, |window| window.cwnd = 0.0);
    let expected = "flow 1: my-thing set cwnd to 0 at 0 s; it must be at least 1 segment";
    scenario.start_jitter = Time::ZERO;
    assert_eq!(run_with(&scenario, &factory), Err(EngineError::Failed(expected.to_owned())));
    let mut simulation = Simulation::with_factory(&scenario, &factory).expect("a run");
    assert_eq!(simulation.failure(), None);
    simulation.run_until(Time::from_millis(1));
    assert_eq!(simulation.failure(), Some(EngineError::Failed(expected.to_owned())));
    // A run with samples and a warm-up ends with the same.
    (scenario.sample, scenario.warm_up) = (Some(Time::from_millis(100)), Time::from_secs(5));
    assert_eq!(run_with(&scenario, &factory), Err(EngineError::Failed(expected.to_owned())));
}

#[test]
fn the_smallest_legal_values_let_a_run_end() {
    for stack in stacks() {
        let scenario = scenario(stack, None);
        let smallest = |window: &mut Window| (window.cwnd, window.pacing_rate) = (1.0, 1e4);
        let outcome = run_with(&scenario, &factory(When::Ack(1), true, smallest)).expect("an outcome");
        assert!(outcome.flows[0].packets_received > 20, "{:?}", outcome.flows[0]);
    }
}
