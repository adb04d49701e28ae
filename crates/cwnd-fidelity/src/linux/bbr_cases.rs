//! The flows of BBR in the second archive: a long path, and messages.
//!
//! BBR enters its gain cycle at a random phase. A recording is one sample; cwnd's numbers are means of several seeds.

use super::Findings;
use super::cases::{CaseRecordings, Path, Single};
use super::curves::Curve;
use super::{ours, recordings};
use crate::cwnd::Cwnd;
use crate::table::{cells, table};
use cwnd_metrics::statistics::{Summary, percentiles};

/// Flows of one sender.
static FLOWS: [Single; 2] = [
    flow("h3-bbr-s1", Path { rate: "20 Mbit/s", delay: "99684 us", buffer: 60, time: 60.0 }, &[]),
    flow(
        "resp200k-bbr-s1-f20001",
        Path { rate: "20 Mbit/s", delay: "24684 us", buffer: 50, time: 20.0 },
        &["--traffic", "responses:size=200000,think=300 ms"],
    ),
];

const fn flow(file: &'static str, path: Path, options: &'static [&'static str]) -> Single {
    Single { file, module: "bbr", path, options, is_random: true, given_losses: false }
}

const SEEDS: usize = 20;
/// The largest differences in goodput, mean window and retransmissions.
const BARS: [(&str, f64); 3] = [("goodput", 0.01), ("mean cwnd", 0.03), ("retransmissions", 0.05)];
/// Window in ProbeRTT, segments, and the largest difference of the times at which it begins, seconds.
const PROBE_RTT: f64 = 4.0;
const PROBE_TIME: f64 = 0.2;

/// Compares all of BBR's recordings.
pub fn compare(cwnd: &Cwnd, recorded: &CaseRecordings) -> Result<Findings, String> {
    let folder = recordings::unpack("linux-6.1-cases.tar.gz")?;
    let mut findings = Findings::default();
    let mut rows = Vec::new();
    let mut probes = String::new();
    for single in &FLOWS {
        let file = folder.path().join("linux-6.1-cases").join(format!("{}.csv", single.file));
        let recording = recordings::recording(&file)?;
        let runs = ours::single(cwnd, single, recorded, SEEDS)?;
        let name = single.file.split("-s1").next().unwrap_or(single.file);
        let (curve, time) = (&recording.curve, single.path.time);
        let theirs = [curve.goodput(0.0, time), curve.mean_cwnd(0.0, time), recording.retransmissions];
        let mut row = vec![name.to_owned()];
        for (quantity, (bar, within)) in BARS.iter().enumerate() {
            let ours: Vec<f64> =
                runs.iter().map(|run| [run.goodput, run.cwnd, run.retransmissions][quantity]).collect();
            let (summary, range) =
                Summary::of(&ours).zip(percentiles(&ours, &[0.0, 100.0])).ok_or("there is no run")?;
            let apart = summary.mean / theirs[quantity] - 1.0;
            let beyond = apart.abs() > *within;
            row.push(format!("{:.2}", theirs[quantity]));
            row.push(format!("{:.2}", summary.mean));
            row.push(format!("{:.2} to {:.2}", range[0], range[1]));
            row.push(format!("{:+.1} %{}", 100.0 * apart, if beyond { "!" } else { "" }));
            if beyond {
                findings.missed.push(format!("{name}, {bar}"));
            }
        }
        rows.push(row);
        if !single.options.is_empty() {
            continue;
        }
        let (theirs, ours) = (probe_rtt(curve), probe_rtt(&ours::single_curve(cwnd, single)?));
        let late = |(theirs, ours): (&f64, &f64)| (theirs - ours).abs() > PROBE_TIME;
        let beyond = theirs.len() != ours.len() || theirs.iter().zip(&ours).any(late);
        let mark = if beyond { "!" } else { "" };
        probes +=
            &format!("  {name} probes the RTT at {} s, ours at {} s{mark}\n", list(&theirs), list(&ours));
        if beyond {
            findings.missed.push(format!("{name}, ProbeRTT"));
        }
    }
    let quantity = ["Linux", "cwnd", "least to most", ""];
    let head = [
        cells(&["", "Mbit/s", "", "", "", "mean cwnd", "", "", "", "sent again"]),
        [cells(&[""]), cells(&quantity), cells(&quantity), cells(&quantity)].concat(),
    ];
    findings.text = format!(
        "\nBBR over a long path (h3), and messages of 200 kB (resp200k), means of {SEEDS} seeds\n\n{}\n{probes}",
        table(&[0], &head, &rows)
    );
    Ok(findings)
}

/// Returns the times at which the window falls to ProbeRTT's.
fn probe_rtt(curve: &Curve) -> Vec<f64> {
    let begins = |pair: &&[super::curves::Point]| pair[0].cwnd > PROBE_RTT && pair[1].cwnd <= PROBE_RTT;
    curve.0.windows(2).filter(begins).map(|pair| pair[1].time).collect()
}

fn list(times: &[f64]) -> String {
    let times: Vec<String> = times.iter().map(|time| format!("{time:.1}")).collect();
    times.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::curves::Point;

    #[test]
    fn finds_where_the_window_falls() {
        let point = |(at, &cwnd): (usize, &f64)| Point { time: at as f64, cwnd, acked: 0.0, lost: false };
        let curve = Curve([10.0, 4.0, 4.0, 80.0, 3.0].iter().enumerate().map(point).collect());
        assert_eq!(probe_rtt(&curve), [1.0, 4.0]);
        assert_eq!(list(&[10.1, 20.5]), "10.1, 20.5");
    }
}
