//! `cargo xtask bench`: what a simulated packet costs, in CPU time, instructions and memory, and what an ACK
//! costs each algorithm.
//!
//! Each measurement is a process of its own. Nothing here fails because something is slow: the machine is
//! noisy, so the numbers stand beside their bars and beside the machine's load.

mod acks;
mod instructions;
mod machine;
mod measure;
mod peers;
mod record;
mod rows;
mod shortcuts;
pub mod sweeps;
mod threads;

use crate::json;
use crate::options::Options;
use crate::statistics::{ends, median};
use crate::table::{cells, table};
use measure::Measurement;
use record::Section;
use rows::{LINK_ROWS, ROWS, Row};
use std::path::Path;

/// Its options, for the list.
pub const OPTIONS: &str = "[--runs 5] [--rows TEXT] [--acks-only] [--links-only] [--threads] [--peers] [--sweeps] [--shortcuts] \
     [--no-callgrind] [--record] [--instructions [--record]] [--reference 'PROGRAM ARGUMENTS']";

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
/// Only the same work in ns-2 and ns-3.
const PEERS: &str = "--peers";
/// Only sweeps of short runs.
const SWEEPS: &str = "--sweeps";
/// Compares instruction counts with those recorded, or records them.
const INSTRUCTIONS: &str = "--instructions";
/// Writes what is measured into docs/speed.md, or the instruction counts into their file.
const RECORD: &str = "--record";
/// Only rows whose name contains this.
const ROWS_NAMED: &str = "--rows";

pub use instructions::obstacle;

/// Measure everything, and print it.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let switches =
        [NO_CALLGRIND, ACKS_ONLY, LINKS_ONLY, THREADS, PEERS, SWEEPS, SHORTCUTS, INSTRUCTIONS, RECORD];
    let options = Options::new(arguments, &[REFERENCE, RUNS, ROWS_NAMED], &switches)?;
    let runs = options.number(RUNS, 5)?;
    let wanted = options.text(ROWS_NAMED).unwrap_or_default();
    let mut other = [ACKS_ONLY, LINKS_ONLY, THREADS, PEERS, SWEEPS, INSTRUCTIONS].into_iter();
    let other = other.find(|one| options.has(one)).or(options.text(REFERENCE).map(|_| REFERENCE));
    if let (Some(other), false) = (other, wanted.is_empty()) {
        return Err(format!("{ROWS_NAMED} and {other} exclude each other: leave one of them out"));
    }
    if options.has(ACKS_ONLY) {
        print_acks(runs)?;
        return Ok(true);
    }
    if options.has(SHORTCUTS) {
        print!("{}", shortcuts::costs(wanted)?);
        return Ok(true);
    }
    if options.has(INSTRUCTIONS) {
        return if options.has(RECORD) { instructions::record() } else { instructions::compare() };
    }
    let cwnd = json::build_cwnd()?;
    let record = options.has(RECORD);
    let command = |switch: &str| format!("cargo xtask bench {switch}");
    if options.has(LINKS_ONLY) {
        return show("links", &command(LINKS_ONLY), record, || links(&cwnd, runs));
    }
    if options.has(THREADS) {
        return show("threads", &command(THREADS), record, || threads::gains(&cwnd, runs));
    }
    if options.has(PEERS) {
        return show("peers", &command(PEERS), record, || peers::speeds(&cwnd, runs));
    }
    if options.has(SWEEPS) {
        return show("sweeps", &command(SWEEPS), record, || sweeps::costs(&cwnd));
    }

    let rows = chosen(ROWS.iter(), wanted)?;
    if record && !wanted.is_empty() {
        return Err(format!("{RECORD} records all rows: leave out {ROWS_NAMED}"));
    }
    let given = std::iter::once("cargo xtask bench").chain(options.has(NO_CALLGRIND).then_some(NO_CALLGRIND));
    let given = given.collect::<Vec<_>>().join(" ");
    show("rows", &given, record, || all_rows(&cwnd, &rows, runs, !options.has(NO_CALLGRIND)))?;
    if !wanted.is_empty() {
        return Ok(true);
    }
    println!();
    show("threads", &command(THREADS), record, || threads::gains(&cwnd, runs))?;
    println!();
    show("links", &command(LINKS_ONLY), record, || links(&cwnd, runs))?;
    println!();
    print_acks(runs)?;
    if let Some(reference) = options.text(REFERENCE) {
        println!("\n{}", against(reference, &cwnd, runs)?);
    }
    Ok(true)
}

/// Returns the rows whose names contain a text.
///
/// # Errors
/// There is none.
fn chosen(
    rows: impl Iterator<Item = &'static Row> + Clone,
    wanted: &str,
) -> Result<Vec<&'static Row>, String> {
    let chosen: Vec<&Row> = rows.clone().filter(|row| row.name.contains(wanted)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = rows.map(|row| row.name).collect();
        return Err(format!(
            "{ROWS_NAMED}: no row's name contains \"{wanted}\"; there are {}",
            names.join("; ")
        ));
    }
    Ok(chosen)
}

/// Measures something, and prints it with the machine. Writes it into a section of docs/speed.md if it is to be recorded.
fn show(
    section: &str,
    command: &str,
    is_recorded: bool,
    measure: impl FnOnce() -> Result<String, String>,
) -> Result<bool, String> {
    let load_before = machine::load();
    let text = measure()?;
    print!("{text}");
    println!("\n{}; load average {load_before} before, {} after", machine::describe(), machine::load());
    if is_recorded {
        record::record(&Section { name: section, command, text: &text, load_before: &load_before })?;
    }
    Ok(true)
}

/// Returns the tables of CPU time and of memory.
fn all_rows(cwnd: &Path, rows: &[&Row], runs: usize, counted: bool) -> Result<String, String> {
    let mut measured = Vec::with_capacity(rows.len());
    for row in rows {
        eprintln!("{}: {runs} runs", row.name);
        let all: Result<Vec<Measurement>, String> =
            (0..runs).map(|_| measure::run(cwnd, row, row.seconds)).collect();
        measured.push(all?);
    }
    let counts = if counted { instructions(rows) } else { Err("not asked for".to_owned()) };
    let mut text = format!("CPU time of `cwnd compare`, median of {runs} runs (least to greatest)\n\n");
    text += &costs(rows, &measured, counts.as_deref().ok());
    text += "\n  Per data packet that arrives at the bottleneck's queue. The bars are the project's own.\n";
    if let Err(why) = counts {
        text += &format!("  Instructions: skipped: {why}\n");
    }
    text += &format!("\nPeak memory of the process in runs {LONGER} times as long\n\n");
    Ok(text + &memory(cwnd, rows, &measured)?)
}

/// Returns what four flows cost with other bottlenecks than a drop-tail queue before a constant rate.
fn links(cwnd: &Path, runs: usize) -> Result<String, String> {
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
    let head = [
        cells(&["", "ns a packet", "", "over drop-tail", "at most"]),
        cells(&["", "median", "range", "ns", "ns"]),
    ];
    let title = format!("Four flows over other bottlenecks; median of {runs} runs\n\n");
    Ok(title + &table(&[0], &head, &rows))
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
fn instructions(rows: &[&Row]) -> Result<Vec<Option<f64>>, String> {
    let program = measure::build_counted()?;
    let count = |row: &&Row| {
        let counted = [row.seconds / 10, row.seconds * 3 / 10];
        if counted[0] == 0 {
            return Ok(None);
        }
        eprintln!("{}: instructions", row.name);
        measure::instructions(&program, row, &[], counted).map(Some)
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
