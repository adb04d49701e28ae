//! Pairs of flows that share the bottleneck. One run each is recorded, and two flows are chaotic; so many starts of ours
//! stand against it.

use super::Findings;
use super::cases::{self, PAIR_FROM, PAIR_OFFSET, PAIR_TIME, PAIRS};
use super::curves::Curve;
use super::ours;
use super::recordings::Recordings;
use crate::fidelity::parallel;
use crate::statistics::mean;
use crate::table::{cells, table};
use std::path::Path;

/// How many starts of ours, within one round-trip time.
const STARTS: usize = 20;

/// Run all pairs.
pub fn compare(cwnd: &Path, recordings: &Recordings) -> Result<Findings, String> {
    let answers = parallel(PAIRS.len(), |at| ours::pair(cwnd, PAIRS[at].map(cases::of), STARTS));
    let mut findings = Findings::default();
    let mut rows = Vec::new();
    for ((names, recorded), answer) in PAIRS.iter().zip(&recordings.pairs).zip(answers) {
        let answer = answer?;
        for flow in 0..2 {
            let since = if flow == 1 { PAIR_OFFSET } else { 0.0 };
            let theirs = recorded[flow].goodput(PAIR_FROM - since, PAIR_TIME - since);
            let mut ours: Vec<f64> = answer.iter().map(|flows| flows[flow].goodput).collect();
            ours.sort_by(f64::total_cmp);
            let (low, high) = (percentile(&ours, 0.05), percentile(&ours, 0.95));
            let apart = mean(&ours) / theirs - 1.0;
            let beyond = apart.abs() > 0.15 && !(low..=high).contains(&theirs);
            let name = format!("{}-{} {}", names[0], names[1], names[flow]);
            rows.push(vec![
                format!("{name} {}", flow + 1),
                format!("{theirs:.2}"),
                format!("{:.2}", mean(&ours)),
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

/// Ours of each pair, started when the recorded ones were.
pub fn curves(cwnd: &Path) -> Result<Vec<[Curve; 2]>, String> {
    let answers = parallel(PAIRS.len(), |at| ours::pair_curves(cwnd, PAIRS[at].map(cases::of)));
    answers.into_iter().collect()
}

/// Of sorted numbers, between the nearest two.
fn percentile(sorted: &[f64], part: f64) -> f64 {
    let at = part * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn lies_between_the_nearest() {
        assert_eq!(percentile(&[1.0, 2.0, 3.0], 0.5), 2.0);
        assert!((percentile(&[0.0, 10.0, 20.0], 0.05) - 1.0).abs() < 1e-9);
    }
}
