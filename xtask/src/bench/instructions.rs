//! Instruction counts of some rows, compared with those recorded, so that a loss of speed is seen in the change that causes it.
//!
//! Callgrind counts the same instructions whatever else the machine does. They depend on the compiler, so that its version is
//! recorded, and counts of another one are not compared.

use super::measure;
use super::rows::{self, Row};
use crate::command::{install, output, root, succeeds};
use crate::table::{cells, table};
use std::fs;
use std::process::Command;

/// Rows that are counted: each stack with few and with many flows, the defaults, and a queue that is not drop-tail.
const COUNTED_ROWS: [&str; 6] = [
    "4 flows",
    "1,000 flows",
    "4 flows, the linux stack",
    "1,000 flows, the linux stack",
    "defaults, 4 flows, 204 ms",
    "FQ-CoDel",
];
/// Simulated seconds of the two runs between which instructions are counted.
const COUNTED: [u32; 2] = [4, 8];
/// The most that a count may rise, as a part of the recorded one.
const TOLERANCE: f64 = 0.03;
/// Where they are recorded: the compiler's version, then a row a line.
const RECORDED: &str = "xtask/instructions.tsv";

/// Counts all rows, and writes them.
pub fn record() -> Result<bool, String> {
    let mut text = format!("{}\n", compiler()?);
    for (row, count) in count()? {
        text += &format!("{row}\t{count:.1}\n");
    }
    fs::write(root().join(RECORDED), text).map_err(|error| format!("{RECORDED}: {error}"))?;
    println!("  {} counts recorded in {RECORDED}", COUNTED_ROWS.len());
    Ok(true)
}

/// Counts all rows, and prints them with those recorded. Returns whether none has risen by more than the tolerance.
pub fn compare() -> Result<bool, String> {
    let recorded = recorded()?;
    if recorded.compiler != compiler()? {
        return Err(format!(
            "{RECORDED} was recorded with {}; `cargo xtask bench --instructions --record` records with this compiler",
            recorded.compiler
        ));
    }
    let mut all = true;
    let mut lines = Vec::new();
    for (row, count) in count()? {
        let before = recorded.counts.iter().find(|(name, _)| name == row);
        let before = before.ok_or_else(|| format!("{RECORDED} has no row \"{row}\""))?.1;
        let change = count / before - 1.0;
        let over = change > TOLERANCE;
        all &= !over;
        let note = if over { "more than 3 %" } else { "" };
        lines.push(vec![
            row.to_owned(),
            format!("{before:.0}"),
            format!("{count:.0}"),
            format!("{:+.1} %", 100.0 * change),
            note.to_owned(),
        ]);
    }
    println!("Instructions a data packet (callgrind)\n");
    print!("{}", table(&[0, 4], &[cells(&["", "recorded", "now", "change", ""])], &lines));
    if !all {
        println!(
            "\n  A rise that is worth its cost is recorded by `cargo xtask bench --instructions --record`."
        );
    }
    Ok(all)
}

/// Returns why counts cannot be compared on this machine. Installs valgrind where permitted.
pub fn obstacle() -> Option<String> {
    let differs = || {
        let (recorded, here) = (recorded().ok()?.compiler, compiler().ok()?);
        (recorded != here).then(|| format!("{RECORDED} was recorded with {recorded}, and this is {here}"))
    };
    let valgrind = || {
        if succeeds(Command::new("valgrind").arg("--version")) { None } else { install("valgrind").err() }
    };
    differs().or_else(valgrind)
}

/// What is recorded.
struct Recorded {
    compiler: String,
    counts: Vec<(String, f64)>,
}

fn recorded() -> Result<Recorded, String> {
    let text = fs::read_to_string(root().join(RECORDED)).map_err(|error| format!("{RECORDED}: {error}"))?;
    let mut lines = text.lines();
    let compiler = lines.next().unwrap_or_default().to_owned();
    let count = |line: &str| {
        let (row, count) = line.split_once('\t')?;
        Some((row.to_owned(), count.parse().ok()?))
    };
    let counts = lines.map(|line| count(line).ok_or_else(|| format!("{RECORDED}: what is \"{line}\"?")));
    Ok(Recorded { compiler, counts: counts.collect::<Result<_, _>>()? })
}

/// Returns the compiler's version and the architecture.
fn compiler() -> Result<String, String> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = output(Command::new(rustc).arg("--version"))?;
    Ok(format!("{}, {}", version.trim(), std::env::consts::ARCH))
}

/// Counts rows, as many at a time as there are cores: what is counted does not depend on the load.
fn count() -> Result<Vec<(&'static str, f64)>, String> {
    let program = &measure::build_counted()?;
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts = Vec::new();
    for names in COUNTED_ROWS.chunks(at_once) {
        let rows: Vec<&Row> = names.iter().map(|name| rows::named(name)).collect();
        let counted: Vec<Result<f64, String>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (rows.iter())
                .map(|row| scope.spawn(|| measure::instructions(program, row, &[], COUNTED)))
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
        });
        for (name, count) in names.iter().zip(counted) {
            counts.push((*name, count?));
        }
    }
    Ok(counts)
}
