//! Simulations on several threads: they use the threads, and the outcome is that on one thread.
//!
//! The differential test runs random scenarios on threads, too. These scenarios are larger, so that threads are used as users get
//! them.

use cwnd_experiment::{ExperimentSpec, FlowGroup, LineDelay};
use cwnd_scenario::{AlgorithmSpec, Helpers, Outcome, Rate, Scenario, StackProfile, Time};
use cwnd_sim::{Options, Simulation, registered, run_with_options};

/// A dumbbell whose bottleneck has `settings`, written as the flags of `cwnd compare`.
fn scenario(flows: u32, stack: StackProfile, change: impl FnOnce(&mut ExperimentSpec)) -> Scenario {
    let cubic = AlgorithmSpec { name: "cubic".to_owned(), ..AlgorithmSpec::default() };
    let mut spec = ExperimentSpec {
        stack: stack.into(),
        rate: Rate(1_000_000_000),
        delay: LineDelay::BaseRtt(Time::from_millis(40)),
        duration: Time::from_millis(500),
        ..ExperimentSpec::default()
    };
    change(&mut spec);
    spec.scenario(&[FlowGroup::new(cubic, flows)], 1).expect("a network")
}

fn run(scenario: &Scenario, threads: usize) -> Outcome {
    let options = Options { helpers: Helpers::uncounted(threads - 1), ..Options::default() };
    run_with_options(scenario, &registered, &options).expect("a run")
}

fn scenarios() -> [Scenario; 5] {
    let queue = |text: &'static str| {
        move |spec: &mut ExperimentSpec| spec.forward.queue = Some(text.parse().expect("a queue"))
    };
    [
        scenario(200, StackProfile::Linux, |_| {}),
        scenario(200, StackProfile::Linux, |spec| spec.sample = Some(Time::from_millis(20))),
        scenario(100, StackProfile::Linux, queue("fq-codel")),
        scenario(100, StackProfile::Linux, |spec| spec.forward.loss = Some("1e-3".parse().expect("a loss"))),
        scenario(600, StackProfile::Ns2, |_| {}),
    ]
}

#[test]
fn the_outcome_is_that_on_one_thread() {
    for scenario in scenarios() {
        let expected = run(&scenario, 1);
        for threads in [2, 3, 8] {
            assert!(run(&scenario, threads) == expected, "another outcome on {threads} threads");
        }
    }
}

#[test]
fn threads_are_used_and_given_back() {
    for scenario in scenarios() {
        let helpers = Helpers::uncounted(1);
        let options = Options { helpers: helpers.clone(), ..Options::default() };
        let mut simulation =
            Simulation::with_options(&scenario, &registered, &options).expect("a simulation");
        simulation.run_until(scenario.duration);
        assert_eq!((simulation.threads(), helpers.spare()), (2, 0));
        drop(simulation);
        assert_eq!(helpers.spare(), 1);
    }
}

/// Threads can be had later, and a change of the network ends them for a moment.
#[test]
fn threads_come_and_go_within_a_run() {
    let scenario = scenario(200, StackProfile::Linux, |_| {});
    let (half, end) = (Time(scenario.duration.0 / 2), scenario.duration);
    let run = |helpers: &Helpers, more: usize| {
        let options = Options { helpers: helpers.clone(), ..Options::default() };
        let mut simulation =
            Simulation::with_options(&scenario, &registered, &options).expect("a simulation");
        simulation.run_until(half);
        let bottleneck = scenario.network.bottleneck;
        simulation.set_rate(bottleneck, Rate(500_000_000)).expect("a rate");
        helpers.give_back(more);
        simulation.run_until(end);
        (simulation.threads(), simulation.outcome())
    };
    let (_, expected) = run(&Helpers::default(), 0);
    for (before, more) in [(0, 1), (1, 0), (1, 2)] {
        let (threads, outcome) = run(&Helpers::uncounted(before), more);
        assert!(threads > 1, "{threads} threads");
        assert!(outcome == expected, "another outcome with {before} helpers and then {more} more");
    }
}

/// Few hosts are left to one thread.
#[test]
fn a_small_run_stays_on_one_thread() {
    let scenario = scenario(4, StackProfile::Linux, |_| {});
    let options = Options { helpers: Helpers::uncounted(3), ..Options::default() };
    let mut simulation = Simulation::with_options(&scenario, &registered, &options).expect("a simulation");
    simulation.run_until(scenario.duration);
    assert_eq!(simulation.threads(), 1);
}
