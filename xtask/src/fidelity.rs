//! `cargo xtask fidelity`: how close the stacks are to what they imitate.
//!
//! `--linux`: recordings of Linux 6.1 and `--stack linux` (`linux.rs`). `--ns2`: ns-2.35 itself and `--stack ns2`, side by
//! side. ns-2.35 runs its TCP-Linux agents over the dumbbell of `xtask/fidelity/dumbbell.tcl`; cwnd runs its own
//! algorithms over the same network, with flows that start at the same nanoseconds. ns-2 takes hours for
//! P2's cells, so that what it answers is recorded once (`--record`); a check runs ours, and enough of ns-2 to see that
//! it still answers the same. Single flows are compared window by window (`--windows`). With
//! ns-2's clock in the place of the engine's, most runs are the same to the packet (`--clock`).

mod cells;
mod check;
mod clock;
mod linux;
mod misses;
mod ns2;
mod ours;
mod rows;
mod singles;

use crate::options::Options;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Its options, for the list.
pub const OPTIONS: &str = "[--linux] [--seeds N] | --ns2 [--record | --windows | --clock] [--seeds N]";

const LINUX: &str = "--linux";
const NS2: &str = "--ns2";
const RECORD: &str = "--record";
const WINDOWS: &str = "--windows";
const CLOCK: &str = "--clock";
const SEEDS: &str = "--seeds";

/// How many seeds of ours stand against the recordings with random loss.
const LINUX_SEEDS: usize = 200;

/// Run both, and print what they say. False if a bar is missed that is not known to be.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[SEEDS], &[LINUX, NS2, RECORD, WINDOWS, CLOCK])?;
    // The recordings of Linux need nothing installed, so that `--linux` goes without saying.
    if ![NS2, RECORD, WINDOWS, CLOCK].iter().any(|option| options.has(option)) {
        return linux::run(options.number(SEEDS, LINUX_SEEDS)?);
    }
    if options.has(RECORD) {
        return rows::record();
    }
    if options.has(CLOCK) {
        let mut rows = rows::read()?;
        let seeds = options.number(SEEDS, 1)? as u64;
        // Cells that miss a bar with the engine's clock are asked for in all their starts.
        let missed = misses::written()?;
        rows.retain(|row| row.key.seed <= seeds || missed.iter().any(|miss| miss.is_in(&row.key)));
        let same = clock::print_crowds()?;
        return Ok(clock::print(&rows)? && same);
    }
    let cwnd = crate::json::build_cwnd()?;
    if options.has(WINDOWS) {
        singles::print(&cwnd, &ns2::find()?)?;
        return Ok(true);
    }
    let begin = Instant::now();
    let mut rows = rows::read()?;
    let seeds = options.number(SEEDS, usize::MAX)? as u64;
    rows.retain(|row| row.key.seed <= seeds && cells::PAIRS.contains(&row.key.pair));
    let same = rows::still_the_same(&rows)?;
    let answers = check::ask(&cwnd, &rows)?;
    println!(
        "Four flows in P2's network: 1 Gbit/s, RTT 204 ms, access queues of 25 packets, 150 s; means ± 95 %."
    );
    println!(
        "  Throughput counts headers. Bars: throughput within 5 %, drops within 15 %, Jain within 0.05;"
    );
    println!(
        "  ! is beyond, ? is beyond though the 95 % interval of the paired differences reaches into the bar."
    );
    let missed = check::print(&answers);
    let known = judge(&missed)?;
    println!("\n{} runs in {:.0} s", rows.len(), begin.elapsed().as_secs_f64());
    Ok(same && known)
}

/// Hold what is missed against what is written down.
fn judge(missed: &[misses::Miss]) -> Result<bool, String> {
    let written = misses::written()?;
    println!(
        "\n{} bars are missed, {} are written down (xtask/fidelity/misses.txt)",
        missed.len(),
        written.len()
    );
    for miss in missed {
        let known = written.iter().find(|known| known.is_of(miss));
        println!("  {miss}: {}", known.map_or("not written down!", |known| &known.why));
    }
    for known in written.iter().filter(|known| !missed.iter().any(|miss| miss.is_of(known))) {
        println!("  {known} is written down, but met");
    }
    Ok(missed.iter().all(|miss| written.iter().any(|known| known.is_of(miss))))
}

/// Do so many jobs on all cores; the answers come in the jobs' order.
fn parallel<T: Send>(jobs: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let answers: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= jobs {
                        return;
                    }
                    let answer = job(at);
                    answers.lock().unwrap_or_else(|e| e.into_inner()).push((at, answer));
                }
            });
        }
    });
    let mut answers = answers.into_inner().unwrap_or_else(|e| e.into_inner());
    answers.sort_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}
