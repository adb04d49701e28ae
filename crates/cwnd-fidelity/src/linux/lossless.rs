//! Single flows without random loss: curves, and the bars of each.

use super::Findings;
use super::cases::{CASES, Case, RTT, SINGLE_FROM, SINGLE_TIME};
use super::curves::Curve;
use super::ours::{self, Flow};
use super::recordings::Recordings;
use crate::cwnd::Cwnd;
use crate::parallel::parallel;
use crate::table::{cells, table};

/// A recorded flow, and cwnd's.
pub struct Both {
    pub case: &'static Case,
    pub recorded: Curve,
    pub recorded_episodes: u32,
    pub ours: Flow,
}

impl Both {
    /// Returns the distance between the two curves.
    pub fn distance(&self) -> f64 {
        self.recorded.distance(&self.ours.curve)
    }
}

/// Runs all cases.
pub fn run(cwnd: &Cwnd, recordings: &Recordings) -> Result<Vec<Both>, String> {
    parallel(CASES.len(), |number| {
        let case = &CASES[number];
        let (recorded, recorded_episodes) = recordings.lossless[case.module].clone();
        Ok(Both { case, recorded, recorded_episodes, ours: ours::lossless(cwnd, case)? })
    })
}

/// Returns the cells of a recorded number, cwnd's, and their relative difference with a mark if it is beyond the bar; and whether
/// it is.
fn ratio(theirs: f64, ours: f64, bar: f64) -> (Vec<String>, bool) {
    let apart = ours / theirs - 1.0;
    let beyond = apart.abs() > bar;
    let mark = if beyond { "!" } else { "" };
    (vec![format!("{theirs:.2}"), format!("{ours:.2}"), format!("{:+.1} %{mark}", 100.0 * apart)], beyond)
}

/// Compares every number with its bar.
pub fn compare(flows: &[Both]) -> Findings {
    let mut findings = Findings::default();
    let mut rows = Vec::new();
    for both in flows {
        let Both { case, recorded, recorded_episodes, ours } = both;
        let mut row = vec![case.module.to_owned()];
        let mut miss = |bar: &str, beyond: bool| {
            if beyond {
                findings.missed.push(format!("{}, {bar}", case.module));
            }
        };
        let (by_throughput, by_cwnd) = if case.by_means { (0.05, 0.1) } else { (0.03, 0.1) };
        for (name, from) in [("throughput", 0.0), ("throughput from 5 s", SINGLE_FROM)] {
            let goodput = |curve: &Curve| curve.goodput(from, SINGLE_TIME);
            let (cells, beyond) = ratio(goodput(recorded), goodput(&ours.curve), by_throughput);
            row.extend(cells);
            miss(name, beyond);
        }
        let mean = |curve: &Curve| curve.mean_cwnd(SINGLE_FROM, SINGLE_TIME);
        let (cells, beyond) = ratio(mean(recorded), mean(&ours.curve), by_cwnd);
        row.extend(cells);
        miss("mean cwnd", beyond);
        let more = f64::from(*recorded_episodes) - f64::from(ours.episodes);
        let beyond = more.abs() > (0.2 * f64::from(*recorded_episodes)).max(1.0) && !case.by_means;
        row.push(recorded_episodes.to_string());
        row.push(format!("{}{}", ours.episodes, if beyond { "!" } else { "" }));
        miss("episodes", beyond);
        let (theirs, first) = (recorded.first_loss(), ours.curve.first_loss());
        let beyond = match (theirs, first) {
            // The recording is sampled each 100 ms, cwnd each 10 ms.
            (Some((before, by)), Some((_, at))) => at < before - 2.0 * RTT || at > by + 2.0 * RTT,
            (None, None) => false,
            _ => true,
        } && !case.by_means;
        let time = |first: Option<(f64, f64)>| first.map_or("–".to_owned(), |(_, by)| format!("{by:.2}"));
        row.push(time(theirs));
        row.push(format!("{}{}", time(first), if beyond { "!" } else { "" }));
        miss("first loss", beyond);
        let distance = both.distance();
        let beyond = distance > 0.1 && !case.by_means;
        row.push(format!("{distance:.3}{}", if beyond { "!" } else { "" }));
        miss("distance", beyond);
        rows.push(row);
    }
    let head = [
        cells(&[
            "",
            "Mbit/s",
            "",
            "",
            "from 5 s",
            "",
            "",
            "mean cwnd",
            "",
            "",
            "episodes",
            "",
            "first loss, s",
            "",
            "distance",
        ]),
        cells(&[
            "", "Linux", "cwnd", "", "Linux", "cwnd", "", "Linux", "cwnd", "", "Linux", "cwnd", "Linux",
            "cwnd", "",
        ]),
    ];
    findings.text = format!(
        "Without random loss: one flow, 100 Mbit/s, 40 ms, 100 packets, 30 s (! is beyond the bar)\n\n{}",
        table(&[0], &head, &rows)
    );
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_numbers_beyond_the_bar() {
        assert_eq!(ratio(100.0, 102.9, 0.03), (cells(&["100.00", "102.90", "+2.9 %"]), false));
        assert_eq!(ratio(100.0, 96.0, 0.03), (cells(&["100.00", "96.00", "-4.0 %!"]), true));
    }
}
