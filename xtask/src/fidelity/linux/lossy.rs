//! Single flows with random loss: means over many seeds.

use super::Findings;
use super::cases::{CASES, SINGLE_FROM, SINGLE_TIME};
use super::ours::{self, Means};
use super::recordings::Recordings;
use crate::fidelity::parallel;
use crate::statistics::{deviation, half_interval, mean};
use crate::table::{cells, table};
use std::path::Path;

/// Run all cases with so many seeds, and hold their means against the recorded ones.
pub fn compare(cwnd: &Path, recordings: &Recordings, seeds: usize) -> Result<Findings, String> {
    let answers = parallel(CASES.len(), |at| ours::lossy(cwnd, &CASES[at], seeds));
    let mut findings = Findings::default();
    let mut rows = Vec::new();
    for (case, answer) in CASES.iter().zip(answers) {
        let answer = answer?;
        let recorded = &recordings.lossy[case.module];
        let mut row = vec![case.module.to_owned(), recorded.len().to_string()];
        let throughputs: Vec<f64> =
            recorded.iter().map(|curve| curve.goodput(SINGLE_FROM, SINGLE_TIME)).collect();
        let windows: Vec<f64> =
            recorded.iter().map(|curve| curve.mean_cwnd(SINGLE_FROM, SINGLE_TIME)).collect();
        let ours = |of: fn(&Means) -> f64| answer.iter().map(of).collect::<Vec<f64>>();
        let quantities = [
            ("throughput", throughputs, ours(|means| means.goodput)),
            ("mean cwnd", windows, ours(|means| means.cwnd)),
        ];
        for (name, theirs, ours) in quantities {
            let within = if case.by_means && name == "throughput" { 0.05 } else { 0.1 };
            let beyond = is_beyond(&theirs, &ours, within);
            let half = half_interval(&theirs);
            let spread = if half.is_nan() { "–".to_owned() } else { format!("{half:.2}") };
            let apart = 100.0 * (mean(&ours) / mean(&theirs) - 1.0);
            row.extend([format!("{:.2}", mean(&theirs)), spread, format!("{:.2}", mean(&ours))]);
            row.push(format!("{:.2}", deviation(&ours)));
            row.push(format!("{apart:+.1} %{}", if beyond { "!" } else { "" }));
            if beyond {
                findings.missed.push(format!("{} with loss, {name}", case.module));
            }
        }
        row.push(format!("{:.1}", mean(&ours(|means| means.episodes))));
        rows.push(row);
    }
    let quantity = ["Linux", "± 95 %", "cwnd", "deviation", ""];
    let head = [
        cells(&["", "", "Mbit/s", "", "", "", "", "mean cwnd", "", "", "", "", "episodes"]),
        [cells(&["", "recorded"]), cells(&quantity), cells(&quantity), cells(&["cwnd"])].concat(),
    ];
    findings.text = format!(
        "\nWith random loss of 0.1 %, from 5 to 30 s; ours are means of {seeds} seeds\n\n{}",
        table(&[0], &head, &rows)
    );
    Ok(findings)
}

/// Whether our mean lies neither within this part of theirs, nor in their 95 % interval; nor, where only one was
/// recorded, that one among ours.
fn is_beyond(theirs: &[f64], ours: &[f64], within: f64) -> bool {
    let apart = (mean(ours) - mean(theirs)).abs();
    if let [one] = theirs {
        return apart > within * one && apart > 1.96 * deviation(ours);
    }
    apart > within * mean(theirs) && apart > half_interval(theirs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_a_part_or_an_interval() {
        // 10 ± 3.182 x 1.633 / 2 = 2.6.
        let theirs = [8.0, 10.0, 10.0, 12.0];
        assert!(!is_beyond(&theirs, &[12.5], 0.1));
        assert!(is_beyond(&theirs, &[12.7], 0.1));
        // Of one: 10 %, or twice our own deviation (1, 3 and 5: 2).
        assert!(is_beyond(&[10.0], &[11.1], 0.1));
        assert!(!is_beyond(&[6.0], &[1.0, 3.0, 5.0], 0.1));
    }
}
