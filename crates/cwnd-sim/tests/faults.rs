//! Faults put into the engine: the comparison with the naive simulator must find each of them.
//!
//! `cargo test -p cwnd-sim --features faults --test faults -- --nocapture` also tells what found which.
#![cfg(feature = "faults")]

mod generator;
mod harness;
mod naive;
#[allow(dead_code, reason = "coverage is the other test's business")]
mod verdict;

use cwnd_sim::fault;

/// Scenarios tried for each fault, at most.
const SEEDS: u64 = 3000;

#[test]
fn each_is_found() {
    // Some faults make the engine panic, which is one way to be found.
    std::panic::set_hook(Box::new(|_| {}));
    let mut missed = Vec::new();
    for fault in fault::ALL {
        fault::set(Some(fault));
        match (0..SEEDS).find_map(|seed| harness::check(seed).err()) {
            Some(text) => println!("{fault:?} is found by {}\n", text.trim()),
            None => missed.push(fault),
        }
        fault::set(None);
    }
    drop(std::panic::take_hook());
    assert!(missed.is_empty(), "these are not found: {missed:?}");
}
