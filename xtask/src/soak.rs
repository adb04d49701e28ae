//! `cargo xtask soak`: whether programs that run for long keep their memory and their open files.
//!
//! Each part is a process of its own. Its resident memory and its descriptors are sampled while it works; the first quarter of the
//! samples is the warm-up.

mod link;
mod serve;
mod watch;

use crate::bench::sweeps;
use crate::command::{root, shown};
use crate::json;
use crate::options::Options;
use crate::table::{cells, table};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use watch::Watched;

pub const OPTIONS: &str =
    "[--part study|flow|serve|link] [--runs 1000000] [--hours 24] [--requests 100000] [--minutes 10]";

const PART: &str = "--part";
const RUNS: &str = "--runs";
const HOURS: &str = "--hours";
const REQUESTS: &str = "--requests";
const MINUTES: &str = "--minutes";

/// How much the memory may grow after the warm-up, MiB. The allocator returns pages late.
const BOUND_MIB: f64 = 8.0;
/// How much a study's may grow in addition for each run, bytes: it keeps what each run had measured for its report.
const BOUND_PER_RUN: f64 = sweeps::BAR_MEMORY;
/// How many descriptors more may be open.
const BOUND_DESCRIPTORS: f64 = 4.0;

struct Part {
    name: &'static str,
    /// What it does.
    load: String,
    /// Returns why it cannot run, and what would change that.
    obstacle: fn() -> Option<String>,
    command: Command,
    /// Uses the program until it ends. Returns what was done.
    work: Work,
    bound_mib: f64,
}

type Work = Box<dyn FnOnce(&mut Child) -> Result<String, String>>;

/// Runs the parts, or one of them. Returns whether memory and descriptors of each stayed within their bounds.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[PART, RUNS, HOURS, REQUESTS, MINUTES], &[])?;
    let cwnd = json::build_cwnd()?;
    let directory = root().join("target/soak").join(std::process::id().to_string());
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    fs::create_dir_all(&directory).map_err(failed)?;
    let parts = [
        study(&cwnd, &directory, options.number(RUNS, 1_000_000)?)?,
        flow(&cwnd, options.number(HOURS, 24)?),
        serve::part(&cwnd, &directory, options.number(REQUESTS, 100_000)?)?,
        link::part(&cwnd, options.number(MINUTES, 10)?),
    ];
    let wanted = options.text(PART);
    if let Some(name) = wanted.filter(|name| parts.iter().all(|part| part.name != *name)) {
        let names = parts.map(|part| part.name).join(", ");
        return Err(format!("{PART} \"{name}\": say one of {names}"));
    }
    let parts = parts.into_iter().filter(|part| wanted.is_none_or(|name| part.name == name));
    let (mut rows, mut good) = (Vec::new(), true);
    for part in parts {
        let (row, is_flat) = part.run()?;
        rows.push(row);
        good &= is_flat;
    }
    let head = [
        cells(&["", "load", "time", "memory", "", "", "", "descriptors", "", "", "result"]),
        cells(&["", "", "s", "begin", "end", "growth", "at most", "begin", "end", "at most", ""]),
    ];
    print!("\n{}", table(&[0, 1, 10], &head, &rows));
    println!(
        "\n  Memory in MiB. The begin is the median of the second quarter of the samples, the end that of the last. Descriptors may be \
         {BOUND_DESCRIPTORS} more."
    );
    fs::remove_dir_all(&directory).map_err(failed)?;
    Ok(good)
}

/// A study of short runs, of at least this number.
fn study(cwnd: &Path, directory: &Path, runs: usize) -> Result<Part, String> {
    let file = directory.join("study.toml");
    let (text, runs) = study_text(runs);
    fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut command = Command::new(cwnd);
    command.arg("run").arg(&file).arg("--out").arg(directory.join("results")).args([
        "--threads",
        "2",
        "--quiet",
    ]);
    Ok(Part {
        name: "study",
        load: format!("{runs} runs"),
        obstacle: || None,
        command,
        work: Box::new(ended),
        // From the middle of the second quarter to the middle of the last is half of the runs.
        bound_mib: BOUND_MIB + runs as f64 / 2.0 * BOUND_PER_RUN / f64::from(1 << 20),
    })
}

/// Returns a study of at least this number of short runs, and their number. A cell has a limited number of repeats, so that many runs
/// are in cells of different buffers.
fn study_text(runs: usize) -> (String, usize) {
    /// The most repeats that `cwnd check` accepts.
    const REPEATS: usize = 100_000;
    let cells = runs.div_ceil(REPEATS).max(1);
    let repeats = runs.div_ceil(cells);
    let mut text = sweeps::study(repeats as u32);
    if cells > 1 {
        // The bandwidth-delay product is 33 packets.
        let buffers: Vec<usize> = (33..33 + cells).collect();
        text += &format!("[[axes]]\nname = \"buffer\"\nkey = \"buffer\"\nvalues = {buffers:?}\n");
    }
    (text, cells * repeats)
}

/// One flow for long.
fn flow(cwnd: &Path, hours: usize) -> Part {
    let mut command = Command::new(cwnd);
    command.args(["compare", "cubic", "--rate", "20 Mbit/s", "--rtt", "40 ms", "--per", "1e-4"]);
    command
        .args(["--repeats", "1", "--threads", "1", "--quiet", "--duration", &format!("{} s", 3600 * hours)])
        .stdout(Stdio::null());
    Part {
        name: "flow",
        load: format!("{hours} simulated hours"),
        obstacle: || None,
        command,
        work: Box::new(ended),
        bound_mib: BOUND_MIB,
    }
}

/// Waits for a program that must succeed, and whose end is all there is to tell.
fn ended(child: &mut Child) -> Result<String, String> {
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() { Ok("it ended".to_owned()) } else { Err(status.to_string()) }
}

impl Part {
    /// Returns its row, and whether it stayed within its bounds.
    fn run(mut self) -> Result<(Vec<String>, bool), String> {
        let Part { name, load, bound_mib, .. } = self;
        println!("── {name}: {}", shown(&self.command));
        if let Some(obstacle) = (self.obstacle)() {
            println!("SKIPPED: {obstacle}");
            let nothing = std::iter::repeat_n(String::new(), 8);
            let row = [name.to_owned(), load].into_iter().chain(nothing).chain(["SKIPPED".to_owned()]);
            return Ok((row.collect(), true));
        }
        self.command.stdin(Stdio::null());
        let Watched { memory, descriptors, seconds, done } =
            watch::watch(&mut self.command, self.work).map_err(|why| format!("{name}: {why}"))?;
        let is_flat = memory.growth() <= bound_mib && descriptors.growth() <= BOUND_DESCRIPTORS;
        let result = if is_flat { "flat" } else { "GROWS" };
        println!("── {name}: {result} in {seconds:.0} s; {done}");
        let row = vec![
            name.to_owned(),
            load,
            format!("{seconds:.0}"),
            format!("{:.1}", memory.begin),
            format!("{:.1}", memory.end),
            format!("{:+.1}", memory.growth()),
            format!("{bound_mib:.1}"),
            format!("{:.0}", descriptors.begin),
            format!("{:.0}", descriptors.end),
            format!("{:.0}", descriptors.begin + BOUND_DESCRIPTORS),
            result.to_owned(),
        ];
        Ok((row, is_flat))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_runs_are_several_cells() {
        let (text, runs) = study_text(1_000_000);
        assert!(
            text.contains("repeats = 100000\n")
                && text.ends_with("values = [33, 34, 35, 36, 37, 38, 39, 40, 41, 42]\n"),
            "{text}"
        );
        assert_eq!(runs, 1_000_000);
        let (text, runs) = study_text(50_000);
        assert!(text.contains("repeats = 50000\n") && !text.contains("axes"), "{text}");
        assert_eq!((runs, study_text(100_001).1), (50_000, 100_002));
    }
}
