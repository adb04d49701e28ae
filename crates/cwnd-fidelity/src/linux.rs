//! Compares `--stack linux` with recordings of Linux 6.1.
//!
//! The recordings (`data/linux-6.1.tar.gz` and `linux-6.1-cases.tar.gz`, each with a `README.md` inside) are single flows with
//! and without random loss, pairs of flows over one path, transfers with given losses, flows with reordering, and late starts. cwnd runs the same flows. The results are printed, written to `data/linux-6.1.txt`, so that each
//! change shows as a difference in the repository, and plotted on an HTML page.

mod bbr_cases;
mod cases;
mod curves;
mod given;
mod lossless;
mod lossy;
mod matrix;
mod ours;
mod page;
mod pairs;
mod record;
mod recordings;

pub use record::run as record;

use crate::cwnd::Cwnd;
use crate::program;
use std::collections::BTreeSet;

/// Default number of seeds of the runs with random loss.
const SEEDS: usize = 200;

/// The known misses: lines of `NAME: WHY`.
const KNOWN: &str = "linux-6.1-misses.txt";

/// The result of a part of the comparison: a text, and the names of the missed bars.
#[derive(Default)]
struct Findings {
    text: String,
    missed: Vec<String>,
}

impl Findings {
    fn add(&mut self, other: Findings) {
        self.text += &other.text;
        self.missed.extend(other.missed);
    }
}

/// Runs and prints the comparison. Returns false if a bar is missed that is not a known miss.
pub fn run(seeds: Option<usize>) -> Result<bool, String> {
    let cwnd = Cwnd::find()?;
    let recordings = recordings::read()?;
    let flows = lossless::run(&cwnd, &recordings)?;
    let mut findings = lossless::compare(&flows);
    findings.add(matrix::compare(&flows, &recordings));
    let lossy = lossy::compare(&cwnd, &recordings, seeds.unwrap_or(SEEDS))?;
    let pairs = pairs::compare(&cwnd, &recordings)?;
    let tables = [lossy.text.clone(), pairs.text.clone()];
    findings.add(lossy);
    findings.add(pairs);
    let cases = cases::read()?;
    findings.add(given::transfers(&cwnd, &cases)?);
    findings.add(given::singles(&cwnd, &cases)?);
    findings.add(given::late_starts(&cwnd, &cases)?);
    findings.add(bbr_cases::compare(&cwnd, &cases)?);
    let (judged, known) = judge(&findings.missed)?;
    findings.text += &judged;
    print!("{}", findings.text);
    let [lossy, pairs] = tables;
    let curves = pairs::curves(&cwnd)?;
    let page = page::write(&page::Contents { flows, recordings, lossy, pairs, curves, judged })?;
    println!("\nBoth curves of each flow: {}", page.display());
    keep(&findings.text)?;
    Ok(known)
}

/// Writes the results to `data`. An unchanged file is not written, because a newer one makes cargo build `cwnd` again.
fn keep(text: &str) -> Result<(), String> {
    const FILE: &str = "linux-6.1.txt";
    if program::read_data(FILE).is_ok_and(|last| last == text) {
        return Ok(());
    }
    std::fs::write(program::data(FILE), text).map_err(|error| format!("{FILE}: {error}"))
}

/// Compares the missed bars with the known misses. Returns a text, and whether all are known.
fn judge(missed: &[String]) -> Result<(String, bool), String> {
    let text = program::read_data(KNOWN)?;
    let known = parse(&text)?;
    let mut report =
        format!("\n{} bars are missed, {} are written down ({KNOWN})\n", missed.len(), known.len());
    let mut all_known = true;
    for miss in missed {
        let why = known.iter().find(|(name, _)| name == miss).map(|(_, why)| *why);
        all_known &= why.is_some();
        report += &format!("  {miss}: {}\n", why.unwrap_or("not written down!"));
    }
    let missed: BTreeSet<&str> = missed.iter().map(String::as_str).collect();
    for (name, _) in known.iter().filter(|(name, _)| !missed.contains(name)) {
        report += &format!("  {name} is written down, but met\n");
    }
    Ok((report, all_known))
}

/// Parses the known misses: names and reasons.
fn parse(text: &str) -> Result<Vec<(&str, &str)>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            line.split_once(": ").filter(|(_, why)| !why.is_empty()).ok_or_else(|| {
                format!("{KNOWN}:{}: \"{line}\" is not a known miss; write NAME: WHY", number + 1)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_miss_has_a_reason() {
        let known = parse("# no\nreno, throughput: because\n").unwrap();
        assert_eq!(known, [("reno, throughput", "because")]);
        assert!(parse("reno, throughput\n").is_err());
        assert!(parse("reno, throughput: \n").is_err());
    }
}
