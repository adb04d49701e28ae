//! How many times as fast a run is on two threads.

use super::measure::{self, Measurement};
use super::rows::{self, THREAD_ROWS};
use crate::statistics::{ends, median};
use crate::table::{cells, table};
use std::path::Path;

/// Runs each row on one thread and on two in turn, and returns the table of the ratios.
pub fn gains(cwnd: &Path, runs: usize) -> Result<String, String> {
    let mut texts = Vec::new();
    for &(name, bar) in THREAD_ROWS {
        let row = rows::named(name);
        eprintln!("{name}, on one thread and on two: {runs} runs");
        let mut pairs = Vec::with_capacity(runs);
        for pair in 0..runs {
            let run = |threads| measure::run_on(cwnd, row, row.seconds, threads);
            // They begin in turn: the first may have to wait for memory that the host of a virtual machine has taken back.
            let begins_with_one = pair % 2 == 0;
            let [first, second] = if begins_with_one { [1, 2] } else { [2, 1] };
            let (first, second) = (run(first)?, run(second)?);
            pairs.push(if begins_with_one { (first, second) } else { (second, first) });
        }
        let ratios = |of: fn(&Measurement) -> f64| -> Vec<f64> {
            pairs.iter().map(|(one, two)| of(one) / of(two)).collect()
        };
        let (wall, cpu) = (ratios(|run| run.wall_s), ratios(|run| run.cpu_s));
        let ((least, greatest), gain) = (ends(&wall), median(&wall));
        texts.push(vec![
            name.to_owned(),
            format!("{gain:.2}"),
            format!("{least:.2} to {greatest:.2}"),
            format!("{bar:.1}{}", if gain < bar { " (under)" } else { "" }),
            format!("{:.2}", 1.0 / median(&cpu)),
        ]);
    }
    let head = [
        cells(&["", "times as fast", "", "at least", "CPU time"]),
        cells(&["", "median", "range", "", "times"]),
    ];
    let title =
        format!("Two threads against one, the whole process by the clock; median of {runs} pairs\n\n");
    Ok(title + &table(&[0], &head, &texts))
}
