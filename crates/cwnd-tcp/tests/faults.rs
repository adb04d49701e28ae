//! Faults put into the endpoint: the comparison with the independent endpoint must find each of them.
//!
//! `cargo test --release -p cwnd-tcp --features faults --test faults -- --nocapture` also tells which exchange finds which.
#![cfg(feature = "faults")]

#[path = "independent/algorithm.rs"]
mod algorithm;
#[path = "independent/clock.rs"]
mod clock;
#[path = "independent/counting.rs"]
mod counting;
#[path = "independent/exchange.rs"]
mod exchange;
#[path = "independent/receiver.rs"]
mod receiver;
#[path = "independent/run.rs"]
#[allow(dead_code, reason = "only the other test runs many exchanges")]
mod run;
#[path = "independent/sender.rs"]
mod sender;
#[path = "independent/settings.rs"]
mod settings;
#[path = "independent/timed.rs"]
mod timed;
#[path = "independent/timed_output.rs"]
mod timed_output;
#[path = "independent/timed_recovery.rs"]
mod timed_recovery;

use cwnd_scenario::Recovery;
use cwnd_tcp::fault::{self, Fault};
use exchange::Coverage;

/// Exchanges tried with each recovery for a fault, at most: those of an ordinary run.
const SEEDS: u64 = 100_000;

#[test]
fn each_is_found() {
    // Some faults make the endpoint panic, which is one way to be found.
    std::panic::set_hook(Box::new(|_| {}));
    let mut missed = Vec::new();
    for fault in fault::ALL {
        fault::set(Some(fault));
        match find(fault) {
            Some(text) => println!("{fault:?} is found by {text}\n"),
            None => missed.push(fault),
        }
        fault::set(None);
    }
    drop(std::panic::take_hook());
    assert!(missed.is_empty(), "these are not found: {missed:?}");
}

fn find(fault: Fault) -> Option<String> {
    let recoveries: &[Recovery] = match fault {
        Fault::NothingHeld => &[Recovery::Ns2],
        Fault::TwoSacksMeanLoss | Fault::NewDataNotCounted => &[Recovery::Prr],
        Fault::StaleEcho | Fault::NoWindowAtTimeout => &[Recovery::Rack],
        _ => &[Recovery::Linux, Recovery::Prr],
    };
    let mut seeds = (0..SEEDS).flat_map(|seed| recoveries.iter().map(move |&recovery| (seed, recovery)));
    seeds.find_map(|(seed, recovery)| run::check(seed, recovery, &mut Coverage::default()).err())
}
