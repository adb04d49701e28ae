//! Pairs of flows that share the bottleneck. Two flows are chaotic, and each pair is recorded once. The recording is therefore
//! compared with many start times in cwnd.

use super::Findings;
use super::cases::{self, PAIR_FROM, PAIR_OFFSET, PAIR_TIME, PAIRS};
use super::curves::Curve;
use super::ours;
use super::recordings::Recordings;
use crate::cwnd::Cwnd;
use crate::parallel::parallel;
use crate::table::{cells, table};
use cwnd_metrics::statistics::{Summary, percentiles};

/// Number of start times in cwnd, within one round-trip time.
const STARTS: usize = 20;

/// Runs all pairs, and compares their throughput with the recorded one.
pub fn compare(cwnd: &Cwnd, recordings: &Recordings) -> Result<Findings, String> {
    let results = parallel(PAIRS.len(), |number| ours::pair(cwnd, PAIRS[number].map(cases::of), STARTS))?;
    let mut findings = Findings::default();
    let mut rows = Vec::new();
    for ((names, recorded), runs) in PAIRS.iter().zip(&recordings.pairs).zip(results) {
        for flow in 0..2 {
            let since = if flow == 1 { PAIR_OFFSET } else { 0.0 };
            let theirs = recorded[flow].goodput(PAIR_FROM - since, PAIR_TIME - since);
            let ours: Vec<f64> = runs.iter().map(|flows| flows[flow].goodput).collect();
            let summary = Summary::of(&ours).zip(percentiles(&ours, &[5.0, 95.0]));
            let (Summary { mean, .. }, range) = summary.ok_or("there is no run")?;
            let (low, high) = (range[0], range[1]);
            let apart = mean / theirs - 1.0;
            let beyond = apart.abs() > 0.15 && !(low..=high).contains(&theirs);
            let name = format!("{}-{} {}", names[0], names[1], names[flow]);
            rows.push(vec![
                format!("{name} {}", flow + 1),
                format!("{theirs:.2}"),
                format!("{mean:.2}"),
                format!("{:+.1} %{}", 100.0 * apart, if beyond { "!" } else { "" }),
                format!("{low:.1} to {high:.1}"),
            ]);
            if beyond {
                findings.missed.push(format!("{}-{} flow {}, throughput", names[0], names[1], flow + 1));
            }
        }
    }
    let head = [cells(&["", "Linux", "cwnd", "", "5th to 95th"])];
    findings.text = format!(
        "\nPairs over 330 packets, the second 10 s later; Mbit/s from 20 to 60 s, ours of {STARTS} starts\n\n{}",
        table(&[0], &head, &rows)
    );
    Ok(findings)
}

/// Runs each pair with the recorded start times.
pub fn curves(cwnd: &Cwnd) -> Result<Vec<[Curve; 2]>, String> {
    parallel(PAIRS.len(), |number| ours::pair_curves(cwnd, PAIRS[number].map(cases::of)))
}
