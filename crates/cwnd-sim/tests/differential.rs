//! The engine against the naive simulator of `naive/`, on random scenarios.
//!
//! Each seed is a scenario. It is run plainly, and again with changes at random times, half of them at the
//! very time of an event; at every change, and at the end, both simulators must agree in every field to the
//! bit. The engine must further agree with itself when it is run again, and when its run is split at random
//! times; and every packet must be accounted for.
//!
//! `CWND_SEED=17 cargo test -p cwnd-sim --test differential -- --nocapture` runs a single seed and says what
//! it is; `CWND_SEEDS=5000` runs more of them.

mod generator;
mod harness;
mod naive;
mod ranges;
mod verdict;

use cwnd_scenario::{StackProfile, Time};
use harness::check;
use std::sync::Mutex;
use std::thread;
use verdict::Coverage;

/// Scenarios in an ordinary run: those with lesser seeds, and others that have found a fault.
const SEEDS: u64 = 2000;
const FOUND_FAULTS: [u64; 3] = [3168, 5236, 7259];
/// Number of scenarios that must cover each feature.
const LEAST: u32 = 3;
/// Number of failures after which the test stops, and number of failures that are reported in full.
const ENOUGH: usize = 10;
const SHOWN: usize = 3;

/// Number of scenarios whose metrics are compared with their ranges.
const RANGE_SEEDS: u64 = 1500;

#[test]
fn every_metric_is_within_its_range() {
    let mut seen = ranges::Seen::default();
    let failures: Vec<String> =
        (0..RANGE_SEEDS).filter_map(|seed| ranges::check(seed, &mut seen).err()).collect();
    assert!(failures.is_empty(), "{} of {RANGE_SEEDS} scenarios:\n{}", failures.len(), failures.join("\n"));
    assert!(seen.missing().is_empty(), "never measured: {:?}", seen.missing());
}

/// What is on its way when the counting begins and ends is much of what is sent in so short a time.
#[test]
fn a_full_link_is_full_after_a_warm_up() {
    for (profile, packets) in [(StackProfile::Ns2, 238.0), (StackProfile::Linux, 165.0)] {
        let utilisation = ranges::utilisation_of_a_full_link(profile, |scenario| {
            (scenario.warm_up, scenario.duration) = (Time::from_secs(5), Time::from_millis(5_200));
        });
        // At either end a part of a packet does not count.
        assert!((1.0 - 2.0 / packets..=1.0).contains(&utilisation), "{profile:?}: {utilisation}");
    }
}

/// Nothing has come to the receiver in that time.
#[test]
fn copies_of_a_packet_use_a_link_once() {
    let utilisation = ranges::utilisation_of_a_full_link(StackProfile::Linux, |scenario| {
        scenario.duration = Time::from_millis(40);
        scenario.stack.initial_window = 200;
        let bottleneck = scenario.network.bottleneck;
        scenario.network.links[bottleneck].effects.duplication = 1.0;
    });
    // 33 packets of 1,514 B, which take 1.2 ms each.
    assert!((0.9..=1.0).contains(&utilisation), "{utilisation}");
}

#[test]
fn agrees_with_the_naive_simulator() {
    let from_environment = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>());
    if let Some(seed) = from_environment("CWND_SEED") {
        let seed = seed.expect("CWND_SEED is a number");
        println!("{:#?}", generator::scenario(seed));
        return check(seed)
            .map(|coverage| println!("{}", coverage.table(1)))
            .unwrap_or_else(|e| panic!("{e}"));
    }
    let seeds = from_environment("CWND_SEEDS").map_or(SEEDS, |seeds| seeds.expect("CWND_SEEDS is a number"));
    let (coverage, failures) = check_all(seeds);
    println!("{}", coverage.table(seeds));
    let failed: Vec<u64> = failures.iter().map(|(seed, _)| *seed).collect();
    let shown = failures.iter().take(SHOWN).map(|(_, text)| text.as_str()).collect::<String>();
    assert!(failed.is_empty(), "of the scenarios up to {seeds} these fail: {failed:?}\n{shown}");

    let scarce = coverage.scarce(LEAST);
    assert!(seeds < SEEDS || scarce.is_empty(), "hardly covered: {scarce:?}");
}

/// Checks the scenarios up to `seeds` on all cores, until there are [`ENOUGH`] failures. Returns what they cover, and the
/// failures in the order of their seeds.
fn check_all(seeds: u64) -> (Coverage, Vec<(u64, String)>) {
    let seeds = Mutex::new((0..seeds).chain(FOUND_FAULTS.into_iter().filter(|&seed| seed >= seeds)));
    let found = Mutex::new((Coverage::default(), Vec::new()));
    let work = || {
        loop {
            let Some(seed) = seeds.lock().unwrap().next() else { break };
            if found.lock().unwrap().1.len() >= ENOUGH {
                break;
            }
            let checked = check(seed);
            let (coverage, failures) = &mut *found.lock().unwrap();
            match checked {
                Ok(covered) => coverage.add(&covered),
                Err(failure) => failures.push((seed, failure)),
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, |cores| cores.get());
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let (coverage, mut failures) = found.into_inner().unwrap();
    failures.sort();
    (coverage, failures)
}
