//! What each shortcut of the fast path saves: instructions a packet with all shortcuts, and what leaving one out adds.

use super::rows::{LINK_ROWS, ROWS, Row};
use super::{chosen, measure};
use crate::table::{cells, table};
use std::path::Path;
use std::thread;

/// The values of the flag `--no-fast-path`.
const LEFT_OUT: &[&str] =
    &["single-endpoint", "plain-runs", "inline-receiver", "zero-queue", "steady", "all"];

/// Simulated seconds of the two runs between which instructions are counted.
const COUNTED: [u32; 2] = [5, 10];

/// Returns a table of the instructions a packet in each row whose name contains a text, and of what leaving out each shortcut adds, in %.
///
/// # Errors
/// There is no such row, no valgrind, or a run fails.
pub fn costs(wanted: &str) -> Result<String, String> {
    let rows = chosen(ROWS.iter().chain(queued_rows()), wanted)?;
    let program = measure::build_counted()?;
    let rows: Result<Vec<Vec<String>>, String> = rows.into_iter().map(|row| cost(&program, row)).collect();
    let head = [
        [cells(&["", "instructions", "without"]), vec![String::new(); LEFT_OUT.len() - 1]].concat(),
        [cells(&["", "a packet"]), cells(LEFT_OUT)].concat(),
    ];
    Ok(table(&[0], &head, &rows?))
}

/// Bottlenecks that keep their queues.
fn queued_rows() -> impl Iterator<Item = &'static Row> + Clone {
    LINK_ROWS.iter().filter(|row| ["CoDel", "FQ-CoDel"].contains(&row.name))
}

/// A row of the table. Instructions do not depend on the load of the machine, so the runs share its cores.
fn cost(program: &Path, row: &Row) -> Result<Vec<String>, String> {
    let options: Vec<Vec<&str>> =
        std::iter::once(vec![]).chain(LEFT_OUT.iter().map(|name| vec!["--no-fast-path", *name])).collect();
    let at_once = thread::available_parallelism().map_or(1, usize::from);
    let mut counts = Vec::new();
    for some in options.chunks(at_once) {
        let counted: Vec<Result<f64, String>> = thread::scope(|scope| {
            let threads: Vec<_> = some
                .iter()
                .map(|more| scope.spawn(|| measure::instructions(program, row, more, COUNTED)))
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
        });
        counts.extend(counted.into_iter().collect::<Result<Vec<f64>, String>>()?);
    }
    let added = counts[1..].iter().map(|count| format!("{:+.1} %", 100.0 * (count / counts[0] - 1.0)));
    let cells: Vec<String> =
        [row.name.to_owned(), format!("{:.0}", counts[0])].into_iter().chain(added).collect();
    eprintln!("{}", cells.join("  "));
    Ok(cells)
}
