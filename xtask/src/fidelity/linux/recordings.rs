//! The recordings, read from their archive.

use super::cases::{MODULES, PAIRS};
use super::curves::{Curve, Point};
use crate::command;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All that was recorded.
pub struct Recordings {
    /// By module: the flow without random loss, and its recovery episodes from the fifth second on.
    pub lossless: BTreeMap<&'static str, (Curve, u32)>,
    /// By module: the flows with random loss, one for each seed.
    pub lossy: BTreeMap<&'static str, Vec<Curve>>,
    /// In the order of [`PAIRS`]; the second flow's times count from its own start.
    pub pairs: Vec<[Curve; 2]>,
}

/// A folder for the unpacked archive, gone afterwards.
struct Unpacked(PathBuf);

impl Drop for Unpacked {
    fn drop(&mut self) {
        // It is in a directory for temporary files, whatever becomes of it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Unpack and read them.
pub fn read() -> Result<Recordings, String> {
    let folder = Unpacked(std::env::temp_dir().join(format!("cwnd-fidelity-linux-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).map_err(|error| format!("{}: {error}", folder.0.display()))?;
    let archive = super::folder().join("linux-6.1.tar.gz");
    command::output(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&folder.0))?;
    let root = folder.0.join("linux-6.1");
    let curve = |name: &str| curve(&root.join(name));
    let summary = text(&root.join("summary.txt"))?;
    let mut lossless = BTreeMap::new();
    let mut lossy = BTreeMap::new();
    for module in MODULES {
        let flow = curve(&format!("{module}-0.csv"))?;
        let episodes = episodes(&summary, module)
            .ok_or_else(|| format!("summary.txt does not tell the episodes of {module}"))?;
        lossless.insert(module, (flow, episodes));
        let mut flows = vec![curve(&format!("{module}-0.1.csv"))?];
        for seed in 2.. {
            let name = format!("seeds/{module}-0.1-seed{seed}.csv");
            if !root.join(&name).exists() {
                break;
            }
            flows.push(curve(&name)?);
        }
        lossy.insert(module, flows);
    }
    let pairs: Result<Vec<[Curve; 2]>, String> = PAIRS
        .iter()
        .map(|[first, second]| {
            let flow = |number: u32| curve(&format!("pairs/{first}-{second}-buf330-off10-flow{number}.csv"));
            Ok([flow(1)?, flow(2)?])
        })
        .collect();
    Ok(Recordings { lossless, lossy, pairs: pairs? })
}

fn text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Recovery episodes of the flow without loss, the last word of its line.
fn episodes(summary: &str, module: &str) -> Option<u32> {
    let words = summary.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = words.into_iter().find(|words| words.len() > 2 && words[0] == module && words[1] == "0")?;
    line.last()?.parse().ok()
}

fn curve(path: &Path) -> Result<Curve, String> {
    parse(&text(path)?).ok_or_else(|| format!("{}: this is no recording", path.display()))
}

fn parse(text: &str) -> Option<Curve> {
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next()?.split(',').collect();
    let column = |name: &str| head.iter().position(|&known| known == name);
    let (time, cwnd) = (column("time_s")?, column("cwnd_pkts")?);
    let (acked, retrans) = (column("bytes_acked")?, column("total_retrans")?);
    let points: Option<Vec<Point>> = lines
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let number = |column: usize| fields.get(column)?.parse::<f64>().ok();
            Some(Point {
                time: number(time)?,
                cwnd: number(cwnd)?,
                acked: number(acked)?,
                lost: number(retrans)? > 0.0,
            })
        })
        .collect();
    Some(Curve(points?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_recording() {
        let text = "time_s,cwnd_pkts,bytes_acked,total_retrans\n0.1,40,43441,0\n0.2,160,217201,3\n";
        let curve = parse(text).unwrap();
        assert_eq!(curve.0.len(), 2);
        assert_eq!((curve.0[1].cwnd, curve.0[1].lost, curve.0[0].lost), (160.0, true, false));
        assert!(parse("time_s,cwnd_pkts\n0.1,40\n").is_none());
    }

    #[test]
    fn reads_the_summary() {
        let summary = "cc loss goodput lossev\nreno 0 85 172 3\nreno 0.1 13 197 23\n";
        assert_eq!(episodes(summary, "reno"), Some(3));
        assert_eq!(episodes(summary, "lp"), None);
    }
}
