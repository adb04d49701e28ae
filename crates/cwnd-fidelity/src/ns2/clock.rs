//! cwnd's endpoints with ns-2's clock beside the rows of ns-2.35: the same to the packet, or the differences.

use super::agent::{Clock, Ns2};
use super::cells::{FIFTY_FLOWS, OTHERS, PAIRS, Pair, Run, Starts, fifty_starts_ns, four_flows};
use super::rows::Row;
use crate::parallel::parallel;
use crate::table::{cells, table};

/// A row, and how the run with ns-2's clock differs from it.
struct Comparison<'a> {
    row: &'a Row,
    same: bool,
    /// Relative differences.
    throughput: f64,
    drops: f64,
}

/// Returns whether a row must be the same to the packet. CUBIC differs: the cube root of ns-2's module is a table, which cwnd does
/// not copy. Illinois differs where flows start at time 0: ns-2 treats a segment sent then as one without a send time. One start
/// of YeAH differs, and the reason is not understood.
fn must_be_the_same(row: &Row) -> bool {
    match row.key.pair.module {
        "cubic" => false,
        "illinois" => row.key.starts != Starts::Together,
        "yeah" => (row.key.starts, row.key.buffer, row.key.seed) != (Starts::Packet, 1000, 11),
        _ => true,
    }
}

/// Runs each row, and prints how many are the same. Returns false if one differs that must be the same.
pub fn print(rows: &[Row]) -> Result<bool, String> {
    let program = Clock::find()?;
    let comparisons = parallel(rows.len(), |number| {
        let row = &rows[number];
        let setting = four_flows(row.key.buffer);
        let starts = row.key.starts.times_ns(&setting, row.key.seed);
        let run = program.run(&setting, row.key.pair.algorithm, &starts)?;
        let difference = |ours: f64, theirs: f64| (ours - theirs) / theirs;
        Ok(Comparison {
            row,
            same: run == row.run,
            throughput: difference(run.throughput_mbps(&setting), row.run.throughput_mbps(&setting)),
            drops: difference(run.drops(), row.run.drops()),
        })
    })?;
    let head =
        cells(&["algorithm (module)", "starts", "rows", "the same", "throughput, most", "drops, most"]);
    let lines: Vec<Vec<String>> = PAIRS
        .iter()
        .chain(&OTHERS)
        .flat_map(|&pair| Starts::ALL.map(|starts| line(&comparisons, pair, starts)))
        .flatten()
        .collect();
    print!("{}", table(&[0, 1], &[head], &lines));
    let mut known = true;
    for Comparison { row, throughput, drops, .. } in comparisons.iter().filter(|comparison| !comparison.same)
    {
        let module = row.key.pair.module;
        let expected = !must_be_the_same(row);
        known &= expected;
        let mark = if expected { ' ' } else { '!' };
        println!(
            "{mark} {} {module} {} seed {}: throughput {:+.2} %, drops {:+.2} %",
            row.key.starts.name(),
            row.key.buffer,
            row.key.seed,
            throughput * 100.0,
            drops * 100.0
        );
    }
    Ok(known)
}

/// Number of seeds of the fifty flows' starts.
const SEEDS: u64 = 6;

/// Returns how many of the runs with fifty flows must be the same. Both programs are deterministic. ns-2's clock rounds an RTT
/// sample of half a millisecond either up or down, and the two runs then diverge. docs/fidelity-log.md ("50-flow runs") has the
/// other reasons for YeAH and Compound.
fn runs_that_must_be_the_same(module: &str) -> usize {
    match module {
        "vegas" => 6,
        "highspeed" | "veno" => 5,
        "reno" => 4,
        "bic" | "illinois" | "scalable" => 3,
        "htcp" => 1,
        _ => 0,
    }
}

/// Runs fifty flows, of which some always wait for a timeout, in both programs. Returns false if too few runs are the same.
pub fn print_many_flows() -> Result<bool, String> {
    let (ns2, clock) = (Ns2::find()?, Clock::find()?);
    let pairs: Vec<Pair> = PAIRS.iter().chain(&OTHERS).copied().collect();
    let results = parallel(pairs.len() * SEEDS as usize, |number| {
        let (pair, starts) = (pairs[number / SEEDS as usize], fifty_starts_ns(number as u64 % SEEDS + 1));
        let theirs = ns2.run(&FIFTY_FLOWS, pair.module, &starts)?;
        let ours = clock.run(&FIFTY_FLOWS, pair.algorithm, &starts)?;
        Ok((theirs, ours))
    })?;
    let mut known = true;
    let mut lines = Vec::new();
    for (pair, runs) in pairs.iter().zip(results.chunks(SEEDS as usize)) {
        let same = runs.iter().filter(|(theirs, ours)| theirs == ours).count();
        known &= same >= runs_that_must_be_the_same(pair.module);
        let sum = |of: &dyn Fn(&(Run, Run)) -> u64| runs.iter().map(of).sum::<u64>();
        let (theirs, ours) = (sum(&|(theirs, _)| theirs.timeouts), sum(&|(_, ours)| ours.timeouts));
        lines.push(vec![pair.to_string(), same.to_string(), theirs.to_string(), ours.to_string()]);
    }
    println!("{SEEDS} runs of 50 flows, 100 Mbit/s, RTT 200 ms, {} s", FIFTY_FLOWS.duration);
    let head = cells(&["algorithm (module)", "the same", "timeouts in ns-2", "in cwnd"]);
    println!("{}", table(&[0], &[head], &lines));
    Ok(known)
}

/// Returns the line of a module and a kind of starts; none if no row has them.
fn line(comparisons: &[Comparison], pair: Pair, starts: Starts) -> Option<Vec<String>> {
    let of =
        |comparison: &&Comparison| comparison.row.key.pair == pair && comparison.row.key.starts == starts;
    let comparisons: Vec<&Comparison> = comparisons.iter().filter(of).collect();
    let most = |of: fn(&Comparison) -> f64| {
        let most = comparisons.iter().map(|comparison| of(comparison).abs()).fold(0.0, f64::max);
        format!("{:.2} %", most * 100.0)
    };
    let same = comparisons.iter().filter(|comparison| comparison.same).count();
    (!comparisons.is_empty()).then(|| {
        vec![
            pair.to_string(),
            starts.name().to_owned(),
            comparisons.len().to_string(),
            same.to_string(),
            most(|comparison| comparison.throughput),
            most(|comparison| comparison.drops),
        ]
    })
}
