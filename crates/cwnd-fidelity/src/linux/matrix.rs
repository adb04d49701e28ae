//! The confusion matrix: the recording that is nearest to cwnd's curve of each algorithm.

use super::Findings;
use super::cases::MODULES;
use super::curves::Curve;
use super::lossless::Both;
use super::recordings::Recordings;
use crate::table::{cells, table};

/// Distance below which two recordings count as one.
const SAME_DISTANCE: f64 = 0.06;

/// Returns the distances of cwnd's curve of an algorithm from all recordings, in the order of [`MODULES`].
pub fn distances(both: &Both, recordings: &Recordings) -> [f64; MODULES.len()] {
    MODULES.map(|module| recordings.lossless[module].0.distance(&both.ours.curve))
}

/// Formats the matrix. The nearest recording must be the algorithm's own, or one like it.
pub fn compare(flows: &[Both], recordings: &Recordings) -> Findings {
    let recorded = |module: &str| &recordings.lossless[module].0;
    let mut findings = Findings::default();
    let mut rows = Vec::new();
    for both in flows {
        let distances = distances(both, recordings);
        let nearest = (0..MODULES.len()).min_by(|&a, &b| distances[a].total_cmp(&distances[b])).unwrap_or(0);
        let own = is_like(both.case.module, MODULES[nearest], recorded);
        if !own && !both.case.by_means {
            findings.missed.push(format!("{}, nearest", both.case.module));
        }
        let mut row = vec![both.case.module.to_owned()];
        row.extend(distances.iter().map(|distance| format!("{distance:.2}")));
        row.push(format!("{}{}", MODULES[nearest], if own { "" } else { "!" }));
        rows.push(row);
    }
    let head: Vec<String> = std::iter::once("ours").chain(MODULES).chain(["nearest"]).map(short).collect();
    findings.text = format!(
        "\nDistances of our curves (rows) from the recordings (columns)\n\n{}",
        table(&[0, MODULES.len() + 1], &[head, cells(&[])], &rows)
    );
    findings
}

/// Returns whether the nearest recording counts as the algorithm's own.
fn is_like<'a>(own: &str, nearest: &str, recorded: impl Fn(&str) -> &'a Curve) -> bool {
    own == nearest || recorded(own).distance(recorded(nearest)) < SAME_DISTANCE
}

/// Returns the name of a column.
pub fn short(name: &str) -> String {
    name.replace("cubic-nohystart", "nohystart").replace("dctcp-ecn50", "ecn50")
}

#[cfg(test)]
mod tests {
    use super::super::curves::Point;
    use super::*;

    #[test]
    fn similar_recordings_count_as_one() {
        let curve = |cwnd: f64| Curve(vec![Point { time: 2.0, cwnd, acked: 0.0, lost: false }]);
        let (a, b, c) = (curve(100.0), curve(105.0), curve(107.0));
        let recorded = |name: &str| match name {
            "a" => &a,
            "b" => &b,
            _ => &c,
        };
        assert!(is_like("a", "b", recorded));
        assert!(!is_like("a", "c", recorded));
    }
}
