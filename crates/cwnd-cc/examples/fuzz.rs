//! Random events for every algorithm in every arithmetic: `fuzz EVENTS FIRST-SEED`.
//!
//! A seed decides the events, the parameters and the first window of a life of some thousand events. What must
//! hold is checked after each event. `cargo xtask fuzz` runs this.

#[path = "../tests/transport/mod.rs"]
mod transport;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;
use transport::{RandomEvents, flows};

/// Events of one life of one algorithm.
const LIFE: usize = 2_000;

fn main() -> ExitCode {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [wanted, first] = arguments[..] else {
        eprintln!("fuzz EVENTS FIRST-SEED");
        return ExitCode::from(2);
    };
    let begin = Instant::now();
    let mut events = 0;
    let mut seed = first;
    while events < wanted {
        match live(seed) {
            Ok(lived) => events += lived,
            Err(who) => {
                println!("seed {seed} fails, in {who}: cargo xtask fuzz --events 1 --seed {seed}");
                return ExitCode::FAILURE;
            }
        }
        seed = seed.wrapping_add(1);
    }
    let last = seed.wrapping_sub(1);
    println!("{events} events, seeds {first} to {last}, {:.1} s: all held", begin.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}

/// The life of every algorithm by one seed: how many events it was, or which algorithm failed.
fn live(seed: u64) -> Result<u64, String> {
    // Seed 0 has the default parameters, and every fourth starts as it.
    let parameters = if seed.is_multiple_of(4) { 0 } else { seed };
    let initial = [10.0, 2.0, 1.0][(seed % 3) as usize];
    let mut events = 0;
    for mut flow in flows(initial, parameters) {
        let who = format!("{} ({:?})", flow.name, flow.window.arithmetic());
        let life = || {
            for (event, tick) in RandomEvents::new(seed).take(LIFE) {
                flow.apply(&event, tick);
            }
        };
        catch_unwind(AssertUnwindSafe(life)).map_err(|_| who)?;
        events += LIFE as u64;
    }
    Ok(events)
}
