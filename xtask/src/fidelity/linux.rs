//! `cargo xtask fidelity --linux`: recordings of a real Linux 6.1 and `--stack linux`, side by side.
//!
//! The recordings (`xtask/fidelity/linux-6.1.tar.gz`, told of in the `README.md` inside) are single flows with and without
//! random loss and pairs of flows over one path. cwnd runs the same; what comes out is printed, kept in
//! `xtask/fidelity/linux-6.1.txt`, so that a change shows as a difference, and drawn on a page.

mod cases;
mod curves;
mod lossless;
mod lossy;
mod matrix;
mod ours;
mod page;
mod pairs;
mod recordings;

use crate::command;
use std::collections::BTreeSet;
use std::path::Path;

/// What a part of the check says: text, and the names of the bars that are missed.
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

/// Run everything with so many seeds for random losses, and print it. False if a bar is missed that is not written down.
pub fn run(seeds: usize) -> Result<bool, String> {
    let cwnd = crate::json::build_cwnd()?;
    let recordings = recordings::read()?;
    let flows = lossless::ask(&cwnd, &recordings)?;
    let mut findings = lossless::compare(&flows);
    findings.add(matrix::print(&flows, &recordings));
    let lossy = lossy::compare(&cwnd, &recordings, seeds)?;
    let pairs = pairs::compare(&cwnd, &recordings)?;
    let tables = [lossy.text.clone(), pairs.text.clone()];
    findings.add(lossy);
    findings.add(pairs);
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

/// Where what was found last is kept.
fn keep(text: &str) -> Result<(), String> {
    let path = folder().join("linux-6.1.txt");
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn folder() -> std::path::PathBuf {
    command::root().join("xtask/fidelity")
}

/// Hold what is missed against what is written down: lines of `NAME: WHY`.
fn judge(missed: &[String]) -> Result<(String, bool), String> {
    let path = folder().join("linux-6.1-misses.txt");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let written = written(&text, &path)?;
    let mut said = format!(
        "\n{} bars are missed, {} are written down ({})\n",
        missed.len(),
        written.len(),
        "linux-6.1-misses.txt"
    );
    let mut known = true;
    for miss in missed {
        let why = written.iter().find(|(name, _)| name == miss).map(|(_, why)| *why);
        known &= why.is_some();
        said += &format!("  {miss}: {}\n", why.unwrap_or("not written down!"));
    }
    let missed: BTreeSet<&str> = missed.iter().map(String::as_str).collect();
    for (name, _) in written.iter().filter(|(name, _)| !missed.contains(name)) {
        said += &format!("  {name} is written down, but met\n");
    }
    Ok((said, known))
}

fn written<'a>(text: &'a str, path: &Path) -> Result<Vec<(&'a str, &'a str)>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(at, line)| {
            line.split_once(": ")
                .filter(|(_, why)| !why.is_empty())
                .ok_or_else(|| format!("{}:{}: \"{line}\" is no miss; say NAME: WHY", path.display(), at + 1))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_down_has_a_reason() {
        let path = Path::new("misses");
        let read = written("# no\nreno, throughput: because\n", path).unwrap();
        assert_eq!(read, [("reno, throughput", "because")]);
        assert!(written("reno, throughput\n", path).is_err());
        assert!(written("reno, throughput: \n", path).is_err());
    }
}
