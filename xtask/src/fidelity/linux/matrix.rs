//! The confusion matrix: which recording lies nearest to our curve of each algorithm.

use super::Findings;
use super::cases::MODULES;
use super::curves::Curve;
use super::lossless::Both;
use super::recordings::Recordings;
use crate::table::{cells, table};

/// Recordings nearer to each other than this count as one.
const ALIKE: f64 = 0.06;

/// The distances of our curve of an algorithm from all recordings, in the order of [`MODULES`].
pub fn distances(both: &Both, recordings: &Recordings) -> [f64; MODULES.len()] {
    MODULES.map(|module| recordings.lossless[module].0.distance(&both.ours.curve))
}

/// Print it; the nearest recording must be an algorithm's own, or one like it.
pub fn print(flows: &[Both], recordings: &Recordings) -> Findings {
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

fn is_like<'a>(own: &str, nearest: &str, recorded: impl Fn(&str) -> &'a Curve) -> bool {
    own == nearest || recorded(own).distance(recorded(nearest)) < ALIKE
}

pub fn short(name: &str) -> String {
    name.replace("cubic-nohystart", "nohystart").replace("dctcp-ecn50", "ecn50")
}

#[cfg(test)]
mod tests {
    use super::super::curves::Point;
    use super::*;

    #[test]
    fn what_is_alike_counts_as_one() {
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
