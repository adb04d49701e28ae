//! Compares `--stack ns2` with ns-2.35.
//!
//! ns-2.35 runs its TCP-Linux agents over the dumbbell of `data/dumbbell.tcl`. cwnd runs its own algorithms over the same
//! network, and its flows start at the same nanoseconds. ns-2 takes hours for the cells of P2, so its results are recorded
//! (`--record`). The check runs cwnd for every recorded run, and ns-2 for two of them, to detect another ns-2. `--windows`
//! compares single flows window by window. `--clock` runs cwnd's endpoints with ns-2's clock: most runs are then the same to
//! the packet.

mod agent;
mod cells;
mod check;
mod clock;
mod misses;
mod ours;
mod rows;
mod singles;

use crate::cwnd::Cwnd;
use std::time::Instant;

/// Options that select one comparison with ns-2.
#[derive(clap::Args)]
#[group(id = "Ns2", multiple = true)]
pub struct Options {
    /// Compares with the recorded rows of ns-2.35, and runs ns-2 for two of them.
    #[arg(long)]
    ns2: bool,
    /// Runs ns-2 for the rows that are not recorded yet.
    #[arg(long)]
    record: bool,
    /// Compares single flows, window by window.
    #[arg(long)]
    windows: bool,
    /// Compares cwnd's endpoints with ns-2's clock with the recorded rows.
    #[arg(long)]
    clock: bool,
}

/// A comparison with ns-2.
pub enum Mode {
    Check,
    Record,
    Windows,
    Clock,
}

impl Options {
    /// Returns the selected comparison; none if no option is given.
    pub fn mode(&self) -> Option<Mode> {
        match self {
            Options { record: true, .. } => Some(Mode::Record),
            Options { clock: true, .. } => Some(Mode::Clock),
            Options { windows: true, .. } => Some(Mode::Windows),
            Options { ns2: true, .. } => Some(Mode::Check),
            _ => None,
        }
    }
}

/// Runs a comparison and prints it. Returns false if a bar is missed that is not a known miss.
pub fn run(mode: Mode, seeds: Option<usize>) -> Result<bool, String> {
    match mode {
        Mode::Record => rows::record().map(|()| true),
        Mode::Clock => compare_with_clock(seeds.unwrap_or(1) as u64),
        Mode::Windows => singles::print(&Cwnd::find()?, &agent::Ns2::find()?).map(|()| true),
        Mode::Check => compare_rows(seeds.map_or(u64::MAX, |seeds| seeds as u64)),
    }
}

fn compare_with_clock(seeds: u64) -> Result<bool, String> {
    let mut rows = rows::read()?;
    // Cells that miss a bar with the engine's clock are compared in all their starts.
    let known = misses::known()?;
    rows.retain(|row| row.key.seed <= seeds || known.iter().any(|miss| miss.is_in(&row.key)));
    let same = clock::print_many_flows()?;
    Ok(clock::print(&rows)? && same)
}

fn compare_rows(seeds: u64) -> Result<bool, String> {
    let cwnd = Cwnd::find()?;
    let begin = Instant::now();
    let mut rows = rows::read()?;
    rows.retain(|row| row.key.seed <= seeds && cells::PAIRS.contains(&row.key.pair));
    let same = rows::are_repeated(&rows)?;
    let results = check::run(&cwnd, &rows)?;
    println!(
        "Four flows in P2's network: 1 Gbit/s, RTT 204 ms, access queues of 25 packets, 150 s; means ± 95 %."
    );
    println!(
        "  Throughput counts headers. Bars: throughput within 5 %, drops within 15 %, Jain within 0.05;"
    );
    println!(
        "  ! is beyond, ? is beyond though the 95 % interval of the paired differences reaches into the bar."
    );
    let missed = check::print(&results);
    let known = judge(&missed)?;
    println!("\n{} runs in {:.0} s", rows.len(), begin.elapsed().as_secs_f64());
    Ok(same && known)
}

/// Compares the missed bars with the known misses, and prints both. Returns whether all are known.
fn judge(missed: &[misses::Miss]) -> Result<bool, String> {
    let known = misses::known()?;
    println!(
        "\n{} bars are missed, {} are written down (crates/cwnd-fidelity/data/misses.txt)",
        missed.len(),
        known.len()
    );
    for miss in missed {
        let entry = known.iter().find(|entry| entry.is_of(miss));
        println!("  {miss}: {}", entry.map_or("not written down!", |entry| &entry.why));
    }
    for entry in known.iter().filter(|entry| !missed.iter().any(|miss| miss.is_of(entry))) {
        println!("  {entry} is written down, but met");
    }
    Ok(missed.iter().all(|miss| known.iter().any(|entry| entry.is_of(miss))))
}
