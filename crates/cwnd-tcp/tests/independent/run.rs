//! Many exchanges, and the shrinking of one that fails.

use crate::exchange::{self, Coverage};
use crate::settings::{FEATURES, Features};
use cwnd_scenario::Recovery;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Exchanges of each recovery in an ordinary run. Without optimisation they take long.
const EXCHANGES: u64 = if cfg!(debug_assertions) { 1_000 } else { 100_000 };

/// Runs exchanges with a recovery; panics with the first that fails, shrunk.
pub fn all(recovery: Recovery) {
    let number = |name: &str| {
        let text = std::env::var(name).ok();
        text.map(|text| text.parse::<u64>().unwrap_or_else(|_| panic!("{name} is a number")))
    };
    let mut coverage = Coverage::default();
    let exchanges = number("CWND_EXCHANGES").unwrap_or(EXCHANGES);
    let seeds = number("CWND_SEED").map_or(0..exchanges, |seed| seed..seed + 1);
    for seed in seeds.clone() {
        if let Err(text) = check(seed, recovery, &mut coverage) {
            panic!("{text}");
        }
    }
    println!("{recovery:?}: {} exchanges agree; they have {:?}", seeds.end - seeds.start, coverage.0);
    if seeds.end - seeds.start >= 1_000 {
        let missing: Vec<_> = coverage.0.iter().filter(|&(_, &count)| count < 100).collect();
        assert!(missing.is_empty(), "hardly covered: {missing:?}");
    }
}

/// Runs an exchange. Returns how it fails, with as few features and events as still fail.
pub fn check(seed: u64, recovery: Recovery, coverage: &mut Coverage) -> Result<(), String> {
    let mut attempt = |features, most| match catch_unwind(AssertUnwindSafe(|| {
        exchange::run(seed, recovery, features, most, coverage)
    })) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            Err((most, format!("panic: {}", text.unwrap_or_default())))
        }
    };
    let Err(mut failure) = attempt(Features::ALL, usize::MAX) else { return Ok(()) };
    let mut features = Features::ALL;
    for at in 0..FEATURES.len() {
        if let Err(smaller) = attempt(features.without(at), usize::MAX) {
            (features, failure) = (features.without(at), smaller);
        }
    }
    let names = features.names().join(", ");
    Err(format!("seed {seed} with {recovery:?}, of the features only [{names}]: {}", failure.1))
}
