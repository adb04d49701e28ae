//! The memory that a run is said to need is within a factor of two of what it takes.
//!
//! An allocator counts the bytes of each run, so that the test depends on nothing else that the machine does. The scenarios reach
//! what their memory follows: full windows, full queues, or many samples.

use cwnd_experiment::{Buffer, ExperimentSpec, FlowGroup, LineDelay};
use cwnd_scenario::{AlgorithmSpec, Rate, Scenario, StackProfile, Time};
use cwnd_sim::{check_with, registered, run_with};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// A dumbbell with flows of one algorithm.
struct Case {
    algorithm: &'static str,
    stack: StackProfile,
    flows: u32,
    mbps: u64,
    rtt_ms: u64,
    buffer: &'static str,
    duration_ms: u64,
    sample_ms: u64,
}

/// A case of the default stack.
const fn linux(flows: u32, mbps: u64, rtt_ms: u64, buffer: &'static str, duration_ms: u64) -> Case {
    let (algorithm, stack) = ("cubic", StackProfile::Linux);
    Case { algorithm, stack, flows, mbps, rtt_ms, buffer, duration_ms, sample_ms: 0 }
}

const fn ns2(flows: u32, mbps: u64, rtt_ms: u64, buffer: &'static str, duration_ms: u64) -> Case {
    Case { stack: StackProfile::Ns2, ..linux(flows, mbps, rtt_ms, buffer, duration_ms) }
}

impl Case {
    fn scenario(&self) -> Scenario {
        let algorithm = AlgorithmSpec { name: self.algorithm.to_owned(), ..AlgorithmSpec::default() };
        let spec = ExperimentSpec {
            stack: self.stack.into(),
            rate: Rate(self.mbps * 1_000_000),
            delay: LineDelay::BaseRtt(Time::from_millis(self.rtt_ms)),
            buffer: self.buffer.parse::<Buffer>().expect("a buffer"),
            duration: Time::from_millis(self.duration_ms),
            sample: (self.sample_ms > 0).then(|| Time::from_millis(self.sample_ms)),
            ..ExperimentSpec::default()
        };
        spec.scenario(&[FlowGroup::new(algorithm, self.flows)], 1).expect("a network")
    }

    fn name(&self) -> String {
        format!(
            "{} {:?} x {}, {} Mbit/s, {} ms, {}, {} ms, sampled every {} ms",
            self.algorithm,
            self.stack,
            self.flows,
            self.mbps,
            self.rtt_ms,
            self.buffer,
            self.duration_ms,
            self.sample_ms
        )
    }
}

/// Returns the estimate, and the most bytes that a run had allocated at once.
fn estimated_and_taken(scenario: &Scenario) -> (f64, f64) {
    let estimate = check_with(scenario, &registered).expect("a scenario that can be run").memory;
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    let outcome = run_with(scenario, &registered).expect("a run");
    let taken = ALLOCATED.peak_usage() - before;
    drop(outcome);
    (estimate, taken as f64)
}

/// One test, since allocations of tests that run at the same time would be counted.
#[test]
fn estimates_are_within_a_factor_of_two() {
    let sampled = |case: Case, sample_ms| Case { sample_ms, ..case };
    let of = |algorithm, case: Case| Case { algorithm, ..case };
    let cases = [
        linux(1, 100, 40, "1 BDP", 10_000),
        linux(4, 1_000, 204, "1 BDP", 10_000),
        linux(100, 1_000, 40, "1 BDP", 2_000),
        linux(1_000, 1_000, 40, "1 BDP", 2_000),
        linux(1_000, 10_000, 40, "1 BDP", 500),
        linux(4_000, 10_000, 40, "1 BDP", 500),
        linux(10_000, 1_000, 40, "1 BDP", 500),
        linux(10_000, 10_000, 40, "1 BDP", 500),
        linux(1, 10_000, 200, "1 BDP", 8_000),
        linux(2, 10, 600, "4 BDP", 60_000),
        sampled(linux(4, 100, 40, "1 BDP", 100_000), 4),
        sampled(linux(100, 100, 100, "1 BDP", 30_000), 10),
        of("bbr", linux(4, 1_000, 100, "2 BDP", 10_000)),
        of("bbr3", linux(100, 1_000, 40, "1 BDP", 2_000)),
        sampled(of("bbr3", linux(2, 100, 40, "4 BDP", 60_000)), 4),
        ns2(1, 1_000, 204, "1 BDP", 20_000),
        ns2(4, 1_000, 204, "1 BDP", 10_000),
        ns2(1_000, 1_000, 204, "1 BDP", 3_000),
        of("newreno", ns2(50, 100, 100, "1 BDP", 30_000)),
        sampled(ns2(4, 100, 40, "1 BDP", 100_000), 4),
    ];
    let mut wrong = Vec::new();
    for case in &cases {
        let (estimate, taken) = estimated_and_taken(&case.scenario());
        let line = format!("{}: {:.2} MB estimated, {:.2} taken", case.name(), estimate / 1e6, taken / 1e6);
        println!("{line}, ratio {:.2}", estimate / taken);
        if (case.flows, case.mbps) == (10_000, 10_000) {
            assert!(taken < 1e9, "{line}");
        }
        if !(0.5..=2.0).contains(&(estimate / taken)) {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
