//! The recordings, read from their archive.

use super::cases::{MODULES, PAIRS};
use super::curves::{Curve, Point};
use crate::program;
use crate::samples::Samples;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// All recordings.
pub struct Recordings {
    /// By module: the flow without random loss, and its recovery episodes from the fifth second on.
    pub lossless: BTreeMap<&'static str, (Curve, u32)>,
    /// By module: the flows with random loss, one for each seed.
    pub lossy: BTreeMap<&'static str, Vec<Curve>>,
    /// In the order of [`PAIRS`]; the second flow's times count from its own start.
    pub pairs: Vec<[Curve; 2]>,
}

/// A recorded flow.
#[derive(Clone)]
pub struct Recording {
    pub curve: Curve,
    /// The kernel's count at its end; NaN if it was not recorded.
    pub retransmissions: f64,
}

/// Unpacks and reads the recordings.
pub fn read() -> Result<Recordings, String> {
    let folder = unpack("linux-6.1.tar.gz")?;
    let root = folder.path().join("linux-6.1");
    let curve = |name: &str| Ok::<_, String>(recording(&root.join(name))?.curve);
    let summary = text(&root.join("summary.txt"))?;
    let mut lossless = BTreeMap::new();
    let mut lossy = BTreeMap::new();
    for module in MODULES {
        let flow = curve(&format!("{module}-0.csv"))?;
        let episodes = episodes(&summary, module)
            .ok_or_else(|| format!("summary.txt has no recovery episodes of {module}"))?;
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

/// Unpacks an archive of `data` into a temporary directory.
pub fn unpack(archive: &str) -> Result<TempDir, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
    let archive = program::data(archive);
    program::output(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder.path()))?;
    Ok(folder)
}

/// Reads a file.
pub fn text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the recovery episodes of the flow without random loss, the last word of its line.
fn episodes(summary: &str, module: &str) -> Option<u32> {
    let words = summary.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = words.into_iter().find(|words| words.len() > 2 && words[0] == module && words[1] == "0")?;
    line.last()?.parse().ok()
}

/// Reads the recording of a flow.
pub fn recording(path: &Path) -> Result<Recording, String> {
    parse(&Samples::parse(&text(path)?)).map_err(|why| format!("{}: {why}", path.display()))
}

fn parse(samples: &Samples) -> Result<Recording, String> {
    let [time, cwnd, acked] = ["time_s", "cwnd_pkts", "bytes_acked"].map(|name| samples.column(name));
    let (time, cwnd, acked) = (time?, cwnd?, acked?);
    let retransmitted = samples.column("total_retrans").ok();
    let state = samples.column("ca_state");
    let mut lost = false;
    let points = samples.iter().map(|sample| {
        lost |= match retransmitted {
            Some(retransmitted) => sample.number(retransmitted)? > 0.0,
            // Without the count, a loss shows as recovery (3) or loss (4).
            None => sample.number(state.clone()?)? >= 3.0,
        };
        Ok(Point {
            time: sample.number(time)?,
            cwnd: sample.number(cwnd)?,
            acked: sample.number(acked)?,
            lost,
        })
    });
    let curve = Curve(points.collect::<Result<_, String>>()?);
    let last = samples.iter().last().ok_or("there is no sample")?;
    let retransmissions = retransmitted.map_or(Ok(f64::NAN), |retransmitted| last.number(retransmitted))?;
    Ok(Recording { curve, retransmissions })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_recording() {
        let text = "time_s,cwnd_pkts,bytes_acked,total_retrans\n0.1,40,43441,0\n0.2,160,217201,3\n";
        let Recording { curve, retransmissions } = parse(&Samples::parse(text)).unwrap();
        assert_eq!(retransmissions, 3.0);
        assert_eq!(curve.0.len(), 2);
        assert_eq!((curve.0[1].cwnd, curve.0[1].lost, curve.0[0].lost), (160.0, true, false));
        assert!(parse(&Samples::parse("time_s,cwnd_pkts\n0.1,40\n")).is_err());
        let without =
            "time_s,cwnd_pkts,bytes_acked,ca_state\n0.1,40,43441,0\n0.2,160,217201,3\n0.3,80,300000,0\n";
        let lost = parse(&Samples::parse(without))
            .unwrap()
            .curve
            .0
            .iter()
            .map(|point| point.lost)
            .collect::<Vec<_>>();
        assert_eq!(lost, [false, true, true]);
    }

    #[test]
    fn reads_the_summary() {
        let summary = "cc loss goodput lossev\nreno 0 85 172 3\nreno 0.1 13 197 23\n";
        assert_eq!(episodes(summary, "reno"), Some(3));
        assert_eq!(episodes(summary, "lp"), None);
    }
}
