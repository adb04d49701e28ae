//! `cargo xtask bench`: what a simulated packet costs, in CPU time, instructions and memory, and what an ACK
//! costs each algorithm.
//!
//! Each measurement is a process of its own. Nothing here fails because something is slow: the machine is
//! noisy, so the numbers stand beside their bars and beside the machine's load.

mod acks;
mod machine;
mod measure;
mod rows;
mod shortcuts;

use crate::json;
use crate::options::Options;
use crate::statistics::{ends, median};
use crate::table::{cells, table};
use measure::Measurement;
use rows::{LINK_ROWS, ROWS, Row};
use std::path::Path;

/// Its options, for the list.
pub const OPTIONS: &str = "[--runs 5] [--acks-only] [--links-only] [--shortcuts] [--no-callgrind] [--reference 'PROGRAM ARGUMENTS']";

/// Simulated seconds of a run, and of a long one for its memory.
const DURATION: u32 = 100;
const LONG: u32 = 400;

/// Simulated seconds of the two runs between which instructions are counted.
const COUNTED: [u32; 2] = [10, 30];

const REFERENCE: &str = "--reference";
const RUNS: &str = "--runs";
const NO_CALLGRIND: &str = "--no-callgrind";
const ACKS_ONLY: &str = "--acks-only";
const LINKS_ONLY: &str = "--links-only";
const SHORTCUTS: &str = "--shortcuts";

/// Measure everything, and print it.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options =
        Options::new(arguments, &[REFERENCE, RUNS], &[NO_CALLGRIND, ACKS_ONLY, LINKS_ONLY, SHORTCUTS])?;
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
    let machine = machine::describe();
    let load_before = machine::load();
    if options.has(LINKS_ONLY) {
        print_links(&cwnd, runs)?;
        println!("\n{machine}; load average {load_before} before, {} after", machine::load());
        return Ok(true);
    }

    let mut measured = Vec::with_capacity(ROWS.len());
    for row in ROWS {
        eprintln!("{}: {runs} runs", row.name);
        let all: Result<Vec<Measurement>, String> =
            (0..runs).map(|_| measure::run(&cwnd, row, DURATION)).collect();
        measured.push(all?);
    }
    let counts =
        if options.has(NO_CALLGRIND) { Err("not asked for".to_owned()) } else { instructions(&cwnd) };

    println!(
        "CPU time of `cwnd compare`, {DURATION} s simulated, median of {runs} runs (least to greatest)\n"
    );
    print!("{}", costs(&measured, counts.as_deref().ok()));
    println!("\n  Per data packet that arrives at the bottleneck's queue. The bars are the project's own.");
    if let Err(why) = counts {
        println!("  Instructions: skipped: {why}");
    }
    println!("\nPeak memory of the process, {LONG} s against {DURATION} s simulated\n");
    print!("{}", memory(&cwnd, &measured)?);
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
            (0..runs).map(|_| measure::run(cwnd, row, DURATION)).collect();
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
    println!("Four flows over other bottlenecks, {DURATION} s simulated; median of {runs} runs\n");
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

/// Instructions a packet of every row, by callgrind.
fn instructions(cwnd: &Path) -> Result<Vec<f64>, String> {
    measure::check_valgrind()?;
    let count = |row: &Row| {
        eprintln!("{}: instructions", row.name);
        measure::instructions(cwnd, row, &[], COUNTED)
    };
    ROWS.iter().map(count).collect()
}

fn costs(measured: &[Vec<Measurement>], instructions: Option<&[f64]>) -> String {
    let head = [
        cells(&["", "ns a packet", "", "at most", "packets a second", "instructions", "peak memory"]),
        cells(&["", "median", "range", "", "million", "a packet", "MiB"]),
    ];
    let rows: Vec<Vec<String>> = ROWS
        .iter()
        .zip(measured)
        .enumerate()
        .map(|(i, (row, runs))| {
            let times: Vec<f64> = runs.iter().map(|run| run.ns_per_packet).collect();
            let (least, greatest) = ends(&times);
            let time = median(&times);
            vec![
                row.name.to_owned(),
                format!("{time:.1}"),
                format!("{least:.1} to {greatest:.1}"),
                row.bar_ns.map_or(String::new(), |bar| bar_text(time, bar)),
                format!("{:.1}", 1e3 / time),
                instructions.map_or("–".to_owned(), |counts| format!("{:.0}", counts[i])),
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
fn memory(cwnd: &Path, measured: &[Vec<Measurement>]) -> Result<String, String> {
    let head = [
        cells(&["", &format!("{DURATION} s"), &format!("{LONG} s"), "at most"]),
        cells(&["", "MiB", "MiB", "MiB"]),
    ];
    let mut rows = Vec::new();
    for (row, runs) in ROWS.iter().zip(measured) {
        let Some(bar) = row.bar_mib else { continue };
        eprintln!("{}: {LONG} s", row.name);
        let long = measure::run(cwnd, row, LONG)?.peak_mib;
        let most = long.max(peak(runs));
        let texts = [format!("{:.1}", peak(runs)), format!("{long:.1}"), bar_text(most, bar)];
        rows.push(std::iter::once(row.name.to_owned()).chain(texts).collect());
    }
    Ok(table(&[0], &head, &rows))
}

/// Run a reference program and the row of four flows in turn.
fn against(reference: &str, cwnd: &Path, runs: usize) -> Result<String, String> {
    let row = rows::four_flows();
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        theirs.push(measure::reference(reference)?);
        ours.push(measure::run(cwnd, row, DURATION)?.ns_per_packet);
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
