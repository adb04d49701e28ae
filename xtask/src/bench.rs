//! `cargo xtask bench`: what a simulated packet costs, in CPU time, instructions and memory, and what an ACK
//! costs each algorithm.
//!
//! Each measurement is a process of its own. Nothing here fails because something is slow: the machine is
//! noisy, so the numbers stand beside their bars and beside the machine's load.

mod acks;
mod instructions;
mod machine;
mod measure;
mod rows;
mod shortcuts;
mod threads;

use crate::json;
use crate::options::Options;
use crate::statistics::{ends, median};
use crate::table::{cells, table};
use measure::Measurement;
use rows::{LINK_ROWS, ROWS, Row};
use std::path::Path;

/// Its options, for the list.
pub const OPTIONS: &str = "[--runs 5] [--rows TEXT] [--acks-only] [--links-only] [--threads] [--shortcuts] [--no-callgrind] \
     [--instructions [--record]] [--reference 'PROGRAM ARGUMENTS']";

/// How many times longer a run is that shows whether memory grows.
const LONGER: u32 = 4;

const REFERENCE: &str = "--reference";
const RUNS: &str = "--runs";
const NO_CALLGRIND: &str = "--no-callgrind";
const ACKS_ONLY: &str = "--acks-only";
const LINKS_ONLY: &str = "--links-only";
const SHORTCUTS: &str = "--shortcuts";
/// Only what a second thread gains.
const THREADS: &str = "--threads";
/// Compares instruction counts with those recorded, or records them.
const INSTRUCTIONS: &str = "--instructions";
const RECORD: &str = "--record";
/// Only rows whose name contains this.
const ROWS_NAMED: &str = "--rows";

pub use instructions::obstacle;

/// Measure everything, and print it.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let switches = [NO_CALLGRIND, ACKS_ONLY, LINKS_ONLY, THREADS, SHORTCUTS, INSTRUCTIONS, RECORD];
    let options = Options::new(arguments, &[REFERENCE, RUNS, ROWS_NAMED], &switches)?;
    let runs = options.number(RUNS, 5)?;
    if options.has(ACKS_ONLY) {
        print_acks(runs)?;
        return Ok(true);
    }
    let cwnd = json::build_cwnd()?;
    if options.has(SHORTCUTS) {
        print!("{}", shortcuts::costs(&cwnd)?);
        return Ok(true);
    }
    if options.has(INSTRUCTIONS) {
        return if options.has(RECORD) { instructions::record(&cwnd) } else { instructions::compare(&cwnd) };
    }
    let machine = machine::describe();
    let load_before = machine::load();
    if options.has(LINKS_ONLY) {
        print_links(&cwnd, runs)?;
        println!("\n{machine}; load average {load_before} before, {} after", machine::load());
        return Ok(true);
    }

    if options.has(THREADS) {
        print!("{}", threads::gains(&cwnd, runs)?);
        println!("\n{machine}; load average {load_before} before, {} after", machine::load());
        return Ok(true);
    }

    let wanted = options.text(ROWS_NAMED).unwrap_or_default();
    let rows: Vec<&Row> = ROWS.iter().filter(|row| row.name.contains(wanted)).collect();
    if rows.is_empty() {
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        return Err(format!(
            "{ROWS_NAMED}: no row's name contains \"{wanted}\"; there are {}",
            names.join("; ")
        ));
    }
    let mut measured = Vec::with_capacity(rows.len());
    for row in &rows {
        eprintln!("{}: {runs} runs", row.name);
        let all: Result<Vec<Measurement>, String> =
            (0..runs).map(|_| measure::run(&cwnd, row, row.seconds)).collect();
        measured.push(all?);
    }
    let counts =
        if options.has(NO_CALLGRIND) { Err("not asked for".to_owned()) } else { instructions(&cwnd, &rows) };

    println!("CPU time of `cwnd compare`, median of {runs} runs (least to greatest)\n");
    print!("{}", costs(&rows, &measured, counts.as_deref().ok()));
    println!("\n  Per data packet that arrives at the bottleneck's queue. The bars are the project's own.");
    if let Err(why) = counts {
        println!("  Instructions: skipped: {why}");
    }
    println!("\nPeak memory of the process in runs {LONGER} times as long\n");
    print!("{}", memory(&cwnd, &rows, &measured)?);
    if !wanted.is_empty() {
        println!("\n{machine}; load average {load_before} before, {} after", machine::load());
        return Ok(true);
    }
    println!();
    print!("{}", threads::gains(&cwnd, runs)?);
    println!();
    print_links(&cwnd, runs)?;
    println!();
    print_acks(runs)?;
    if let Some(reference) = options.text(REFERENCE) {
        println!("\n{}", against(reference, &cwnd, runs)?);
    }
    println!("\n{machine}; load average {load_before} before, {} after", machine::load());
    Ok(true)
}

/// What four flows cost with other bottlenecks than a drop-tail queue before a constant rate.
fn print_links(cwnd: &Path, runs: usize) -> Result<(), String> {
    let mut rows = Vec::with_capacity(LINK_ROWS.len());
    let mut plain = 0.0;
    for (i, row) in LINK_ROWS.iter().enumerate() {
        eprintln!("{}: {runs} runs", row.name);
        let all: Result<Vec<Measurement>, String> =
            (0..runs).map(|_| measure::run(cwnd, row, row.seconds)).collect();
        let times: Vec<f64> = all?.iter().map(|run| run.ns_per_packet).collect();
        let (time, (least, greatest)) = (median(&times), ends(&times));
        if i == 0 {
            plain = time;
        }
        let over = time - plain;
        let bar = row.bar_ns.filter(|_| i > 0).map_or(String::new(), |bar| bar_text(over, bar));
        let texts =
            [format!("{time:.1}"), format!("{least:.1} to {greatest:.1}"), format!("{over:+.1}"), bar];
        rows.push(std::iter::once(row.name.to_owned()).chain(texts).collect::<Vec<_>>());
    }
    println!("Four flows over other bottlenecks; median of {runs} runs\n");
    let head = [
        cells(&["", "ns a packet", "", "over drop-tail", "at most"]),
        cells(&["", "median", "range", "ns", "ns"]),
    ];
    print!("{}", table(&[0], &head, &rows));
    Ok(())
}

fn print_acks(runs: usize) -> Result<(), String> {
    eprintln!("what an ACK costs: {runs} runs");
    let costs = acks::costs(runs)?;
    println!(
        "What an ACK costs each algorithm at three windows, a loss every thousand; median of {runs} runs\n"
    );
    print!("{costs}");
    println!("\n  The cost of making the events is taken off. The bar is the project's own.");
    Ok(())
}

/// Returns the instructions a packet of each row, by callgrind; none of rows too short to tell the start from the rest.
fn instructions(cwnd: &Path, rows: &[&Row]) -> Result<Vec<Option<f64>>, String> {
    measure::check_valgrind()?;
    let count = |row: &&Row| {
        let counted = [row.seconds / 10, row.seconds * 3 / 10];
        if counted[0] == 0 {
            return Ok(None);
        }
        eprintln!("{}: instructions", row.name);
        measure::instructions(cwnd, row, &[], counted).map(Some)
    };
    rows.iter().map(count).collect()
}

fn costs(rows: &[&Row], measured: &[Vec<Measurement>], instructions: Option<&[Option<f64>]>) -> String {
    let head = [
        cells(&["", "ns a packet", "", "at most", "packets a second", "instructions", "peak memory"]),
        cells(&["", "median", "range", "", "million", "a packet", "MiB"]),
    ];
    let rows: Vec<Vec<String>> = rows
        .iter()
        .zip(measured)
        .enumerate()
        .map(|(i, (row, runs))| {
            let times: Vec<f64> = runs.iter().map(|run| run.ns_per_packet).collect();
            let (least, greatest) = ends(&times);
            let time = median(&times);
            let instructions = instructions.and_then(|counts| counts[i]);
            vec![
                row.name.to_owned(),
                format!("{time:.1}"),
                format!("{least:.1} to {greatest:.1}"),
                row.bar_ns.map_or(String::new(), |bar| bar_text(time, bar)),
                format!("{:.1}", 1e3 / time),
                instructions.map_or("–".to_owned(), |count| format!("{count:.0}")),
                format!("{:.1}", peak(runs)),
            ]
        })
        .collect();
    table(&[0], &head, &rows)
}

/// The bar, and whether a value passes over it.
fn bar_text(value: f64, bar: f64) -> String {
    format!("{bar:.0}{}", if value > bar { " (over)" } else { "" })
}

fn peak(runs: &[Measurement]) -> f64 {
    median(&runs.iter().map(|run| run.peak_mib).collect::<Vec<_>>())
}

/// Whether memory grows with simulated time.
fn memory(cwnd: &Path, rows: &[&Row], measured: &[Vec<Measurement>]) -> Result<String, String> {
    let head = [cells(&["", "as above", "longer", "at most"]), cells(&["", "MiB", "MiB", "MiB"])];
    let mut texts = Vec::new();
    for (row, runs) in rows.iter().zip(measured) {
        let Some(bar) = row.bar_mib else { continue };
        eprintln!("{}: {} s", row.name, LONGER * row.seconds);
        let long = measure::run(cwnd, row, LONGER * row.seconds)?.peak_mib;
        let most = long.max(peak(runs));
        let values = [format!("{:.1}", peak(runs)), format!("{long:.1}"), bar_text(most, bar)];
        texts.push(std::iter::once(row.name.to_owned()).chain(values).collect());
    }
    Ok(table(&[0], &head, &texts))
}

/// Run a reference program and the row of four flows in turn.
fn against(reference: &str, cwnd: &Path, runs: usize) -> Result<String, String> {
    let row = rows::four_flows();
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        theirs.push(measure::reference(reference)?);
        ours.push(measure::run(cwnd, row, row.seconds)?.ns_per_packet);
    }
    let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
    let (least, greatest) = ends(&ratios);
    Ok(format!(
        "In turn with `{reference}`, {runs} times: {} {:.1} ns, the reference {:.1} ns (medians); ratio {:.2} \
         ({least:.2} to {greatest:.2})",
        row.name,
        median(&ours),
        median(&theirs),
        median(&ratios),
    ))
}
