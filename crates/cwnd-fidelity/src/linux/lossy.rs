//! Single flows with random loss: means over many seeds.

use super::Findings;
use super::cases::{self, CASES, SINGLE_FROM, SINGLE_TIME};
use super::ours::{self, Means};
use super::recordings::Recordings;
use crate::cwnd::Cwnd;
use crate::parallel::parallel;
use crate::table::{cells, table};
use cwnd_metrics::statistics::Summary;

/// Runs all cases with the given number of seeds, and compares their means with the recorded ones.
pub fn compare(cwnd: &Cwnd, recordings: &Recordings, seeds: usize) -> Result<Findings, String> {
    let results = parallel(CASES.len(), |number| ours::lossy(cwnd, &CASES[number], seeds, cases::TIMER_HZ))?;
    let mut findings = Findings::default();
    let mut rows = Vec::new();
    for (case, result) in CASES.iter().zip(results) {
        let recorded = &recordings.lossy[case.module];
        let mut row = vec![case.module.to_owned(), recorded.len().to_string()];
        let throughputs: Vec<f64> =
            recorded.iter().map(|curve| curve.goodput(SINGLE_FROM, SINGLE_TIME)).collect();
        let windows: Vec<f64> =
            recorded.iter().map(|curve| curve.mean_cwnd(SINGLE_FROM, SINGLE_TIME)).collect();
        let ours = |of: fn(&Means) -> f64| result.iter().map(of).collect::<Vec<f64>>();
        let quantities = [
            ("throughput", throughputs, ours(|means| means.goodput)),
            ("mean cwnd", windows, ours(|means| means.cwnd)),
        ];
        for (name, theirs, ours) in quantities {
            let within = if case.by_means && name == "throughput" { 0.05 } else { 0.1 };
            let (theirs, ours) = (summary(&theirs)?, summary(&ours)?);
            let beyond = is_beyond(&theirs, &ours, within);
            let spread = theirs.ci95.map_or("–".to_owned(), |half| format!("{half:.2}"));
            let apart = 100.0 * (ours.mean / theirs.mean - 1.0);
            row.extend([format!("{:.2}", theirs.mean), spread, format!("{:.2}", ours.mean)]);
            row.push(format!("{:.2}", deviation(&ours)));
            row.push(format!("{apart:+.1} %{}", if beyond { "!" } else { "" }));
            if beyond {
                findings.missed.push(format!("{} with loss, {name}", case.module));
            }
        }
        row.push(format!("{:.1}", summary(&ours(|means| means.episodes))?.mean));
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

fn summary(values: &[f64]) -> Result<Summary, String> {
    Summary::of(values).ok_or_else(|| "there is no run".to_owned())
}

/// Returns the standard deviation; 0 of a single value.
fn deviation(values: &Summary) -> f64 {
    values.standard_deviation.unwrap_or(0.0)
}

/// Returns whether cwnd's mean is beyond the bar. The difference must exceed a fraction of the recorded mean. It must also exceed
/// the 95 % interval of the recordings; where there is only one recording, that of cwnd's runs.
fn is_beyond(theirs: &Summary, ours: &Summary, within: f64) -> bool {
    let apart = (ours.mean - theirs.mean).abs();
    apart > within * theirs.mean && apart > theirs.ci95.unwrap_or(1.96 * deviation(ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_a_fraction_or_an_interval() {
        let is_beyond = |theirs: &[f64], ours: &[f64], within: f64| {
            super::is_beyond(&summary(theirs).unwrap(), &summary(ours).unwrap(), within)
        };
        // 10 ± 3.182 x 1.633 / 2 = 2.6.
        let theirs = [8.0, 10.0, 10.0, 12.0];
        assert!(!is_beyond(&theirs, &[12.5], 0.1));
        assert!(is_beyond(&theirs, &[12.7], 0.1));
        // With one recording: 10 %, or 1.96 times cwnd's deviation (of 1, 3 and 5: 2).
        assert!(is_beyond(&[10.0], &[11.1], 0.1));
        assert!(!is_beyond(&[6.0], &[1.0, 3.0, 5.0], 0.1));
    }
}
