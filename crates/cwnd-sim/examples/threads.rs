//! Measures a run on several threads: `cargo run --release -p cwnd-sim --example threads -- [FLOWS [MBPS [RTT_MS [SECONDS [STACK]]]]]`.
//!
//! For each number of threads it prints the time by the clock, the CPU time of all threads and of the busiest thread. Where the
//! machine does other work, the busiest thread's CPU time is the time that the run would take by the clock otherwise, except
//! where threads wait for each other. The outcomes are compared.

use cwnd_experiment::{ExperimentSpec, FlowGroup, LineDelay};
use cwnd_scenario::{AlgorithmSpec, Helpers, Outcome, Rate, Scenario, SpareThreads, StackProfile, Time};
use cwnd_sim::{Options, registered, run_with_options};
use std::time::{Duration, Instant};

const THREADS: [usize; 4] = [1, 2, 4, 8];
/// Each number of threads is measured this many times, in turn; the least counts.
const ROUNDS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |i: usize, default: u64| arguments.get(i).map_or(default, |text| text.parse().expect("a number"));
    let (flows, mbps, rtt, seconds) = (number(0, 1_000), number(1, 1_000), number(2, 40), number(3, 10));
    let stack = match arguments.get(4).map(String::as_str) {
        Some("ns2") => StackProfile::Ns2,
        _ => StackProfile::Linux,
    };
    let spec = ExperimentSpec {
        stack: stack.into(),
        rate: Rate(mbps * 1_000_000),
        delay: LineDelay::BaseRtt(Time::from_millis(rtt)),
        duration: Time::from_secs(seconds),
        ..ExperimentSpec::default()
    };
    let cubic = AlgorithmSpec { name: "cubic".to_owned(), ..AlgorithmSpec::default() };
    let scenario = spec.scenario(&[FlowGroup::new(cubic, flows as u32)], 1).expect("a network");
    println!("{flows} flows, {mbps} Mbit/s, {rtt} ms, {seconds} s, {stack:?}");
    let mut least = [None::<Times>; THREADS.len()];
    let mut expected: Option<Outcome> = None;
    for _ in 0..ROUNDS {
        for (threads, least) in THREADS.into_iter().zip(&mut least) {
            let (outcome, times) = run(&scenario, threads);
            assert!(
                expected.get_or_insert_with(|| outcome.clone()) == &outcome,
                "another outcome on {threads} threads"
            );
            *least = Some(least.map_or(times, |least| least.min(times)));
        }
    }
    let least = least.map(|times| times.expect("it was measured"));
    for (threads, times) in THREADS.into_iter().zip(least) {
        let ratio = |one: Duration, several: Duration| one.as_secs_f64() / several.as_secs_f64();
        println!(
            "{threads} threads: {:.3} s by the clock ({:.2} x), {:.3} s of CPU ({:.2} x), the busiest thread {:.3} s ({:.2} x)",
            times.wall.as_secs_f64(),
            ratio(least[0].wall, times.wall),
            times.cpu.as_secs_f64(),
            ratio(times.cpu, least[0].cpu),
            times.busiest.as_secs_f64(),
            ratio(least[0].busiest, times.busiest),
        );
    }
}

/// How long a run took.
#[derive(Clone, Copy)]
struct Times {
    wall: Duration,
    cpu: Duration,
    busiest: Duration,
}

impl Times {
    fn min(self, other: Times) -> Times {
        Times {
            wall: self.wall.min(other.wall),
            cpu: self.cpu.min(other.cpu),
            busiest: self.busiest.min(other.busiest),
        }
    }
}

fn run(scenario: &Scenario, threads: usize) -> (Outcome, Times) {
    let helpers = Helpers::new(&SpareThreads::new(threads - 1), thread_cpu);
    let options = Options { helpers: helpers.clone(), ..Options::default() };
    let (begin, cpu) = (Instant::now(), thread_cpu());
    let outcome = run_with_options(scenario, &registered, &options).expect("a run");
    let (wall, own, others) = (begin.elapsed(), thread_cpu() - cpu, helpers.cpu_time());
    let busiest = if threads > 1 { own.max(others / (threads - 1) as u32) } else { own };
    (outcome, Times { wall, cpu: own + others, busiest })
}

/// Returns the CPU time of this thread.
fn thread_cpu() -> Duration {
    let text =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells the time of threads");
    let nanos =
        text.split_whitespace().next().and_then(|text| text.parse().ok()).expect("its first number is ns");
    Duration::from_nanos(nanos)
}
