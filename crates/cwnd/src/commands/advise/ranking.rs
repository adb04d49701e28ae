//! From the runs to a ranked list: means with 95 % intervals, which are as good as the first, and harm to CUBIC.

use super::{
    candidates::{Modules, NEIGHBOUR, OnHost},
    criterion::{Criterion, Quantity},
    study::{Cells, LOSS, NEIGHBOUR_RTT, NEIGHBOUR_THROUGHPUT},
};
use cwnd_metrics::{
    Better, harm, harm_of_less, relative_gain,
    statistics::{Paired, Summary, holm},
};
use cwnd_scenario::AlgorithmSpec;
use cwnd_study::{Results, RunResult};

/// The candidates in order, the best first.
pub struct Ranking {
    /// One for each candidate.
    pub rows: Vec<Row>,
    /// CUBIC by itself and next to another flow of CUBIC: what the harm of the others is compared with.
    pub reference: Neighbour,
}

/// A candidate.
pub struct Row {
    /// The algorithm.
    pub spec: AlgorithmSpec,
    /// How it gets onto this host.
    pub on_host: OnHost,
    /// Throughput, RTT and completion time in base units, in the order of [`Quantity::ALL`]; none where not measured.
    pub quantities: [Option<Summary>; 3],
    /// Share of packets lost.
    pub loss: Option<Summary>,
    /// What it is ranked by.
    pub value: Option<Summary>,
    /// Whether its interval overlaps with that of the first one.
    pub as_good_as_first: bool,
    /// (value - that of the first) / that of the first, paired by seed.
    pub difference: Option<Summary>,
    /// What it costs a flow of CUBIC.
    pub neighbour: Neighbour,
}

/// A flow of CUBIC next to another flow.
pub struct Neighbour {
    /// Its throughput, bit/s.
    pub throughput: Option<Summary>,
    /// Its mean RTT, seconds.
    pub rtt: Option<Summary>,
    /// Harm to its throughput: (alone - beside) / alone, paired by seed.
    pub throughput_harm: Option<Summary>,
    /// Harm to its delay: (beside - alone) / beside, paired by seed.
    pub rtt_harm: Option<Summary>,
    /// The differences from the harms of another flow of CUBIC, paired by seed.
    compared: [Option<Paired>; 2],
    /// How each harm compares with that of another flow of CUBIC.
    pub verdicts: [Verdict; 2],
}

/// How a harm compares with that of another flow of CUBIC: by a t-test of the differences, paired by seed, at the level of 5 %
/// with Holm's correction for the number of candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is significantly less.
    Less,
    /// No significant difference.
    Same,
    /// It is significantly more.
    More,
    /// Nothing was measured.
    Unknown,
}

impl Verdict {
    /// Returns a word for it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Less => "less",
            Verdict::Same => "same",
            Verdict::More => "more",
            Verdict::Unknown => "–",
        }
    }
}

impl Ranking {
    /// Ranks candidates by the results of their study.
    pub fn of(
        results: &Results,
        cells: &Cells,
        candidates: &[AlgorithmSpec],
        criterion: &Criterion,
        modules: &Modules,
    ) -> Ranking {
        let values = |cell: usize, value: &dyn Fn(&RunResult) -> Option<f64>| -> Vec<Option<f64>> {
            results.runs_of(cell).iter().map(value).collect()
        };
        let metric = |cell: usize, name: &str| values(cell, &|run| run.metric(name));
        let neighbour = |cell: usize| {
            let harm_of = |cell: usize, name: &str, of: fn(f64, f64) -> Option<f64>| {
                paired(&metric(cells.alone, name), &metric(cell, name), of)
            };
            let compare = |name: &str, of: fn(f64, f64) -> Option<f64>| {
                compared(&harm_of(cells.with_itself, name, of), &harm_of(cell, name, of))
            };
            Neighbour {
                throughput: summary(&metric(cell, NEIGHBOUR_THROUGHPUT)),
                rtt: summary(&metric(cell, NEIGHBOUR_RTT)),
                throughput_harm: summary(&harm_of(cell, NEIGHBOUR_THROUGHPUT, harm)),
                rtt_harm: summary(&harm_of(cell, NEIGHBOUR_RTT, harm_of_less)),
                compared: [compare(NEIGHBOUR_THROUGHPUT, harm), compare(NEIGHBOUR_RTT, harm_of_less)],
                verdicts: [Verdict::Unknown; 2],
            }
        };
        let value =
            |cell: usize| values(cell, &|run| criterion.value(|quantity| run.metric(quantity.metric())));
        let mut rows: Vec<(Vec<Option<f64>>, Row)> =
            (candidates.iter().zip(&cells.own).zip(&cells.with_other))
                .map(|((spec, own), with_other)| {
                    let row = Row {
                        spec: spec.clone(),
                        on_host: OnHost::of(spec, modules),
                        quantities: Quantity::ALL.map(|quantity| summary(&metric(*own, quantity.metric()))),
                        loss: summary(&metric(*own, LOSS)),
                        value: summary(&value(*own)),
                        as_good_as_first: false,
                        difference: None,
                        neighbour: neighbour(*with_other),
                    };
                    (value(*own), row)
                })
                .collect();
        // What has no value stands last, in the order of the candidates.
        let badness = |row: &Row| match (row.value, criterion.better()) {
            (None, _) => f64::INFINITY,
            (Some(value), Better::Less) => value.mean,
            (Some(value), _) => -value.mean,
        };
        rows.sort_by(|(_, a), (_, b)| badness(a).total_cmp(&badness(b)));
        judge(&mut rows.iter_mut().map(|(_, row)| &mut row.neighbour).collect::<Vec<_>>());
        if let Some((first, best)) = rows.first().map(|(values, row)| (values.clone(), row.value)) {
            for (values, row) in &mut rows {
                row.as_good_as_first = overlap(best, row.value);
                row.difference = summary(&paired(&first, values, |first, value| relative_gain(value, first)));
            }
        }
        Ranking {
            rows: rows.into_iter().map(|(_, row)| row).collect(),
            reference: neighbour(cells.with_itself),
        }
    }

    /// Returns the candidate that is recommended, and why. Of those that are as good as the first it takes, in this order: one
    /// that harms CUBIC's throughput no more than another flow of CUBIC; one that the kernel has; one that can be loaded; the
    /// first in the ranking.
    ///
    /// # Errors
    /// Why none is recommended: nothing was measured, or no flow has delivered anything.
    pub fn choice(&self) -> Result<(&Row, String), String> {
        if self.is_without_throughput() {
            return Err("every throughput is 0, so the runs do not distinguish the algorithms. Nothing gets through this path \
                        in the counted time: check --loss, --buffer, --policer and --mtu, and that --duration is long enough"
                .to_owned());
        }
        let key = |row: &&Row| {
            let harms = row.neighbour.verdicts[0] == Verdict::More;
            let trouble = match row.on_host {
                OnHost::Available(_) => 0,
                OnHost::Module(_) => 1,
                OnHost::Load(_) => 2,
                OnHost::Nowhere => 3,
            };
            (trouble == 3, harms, trouble)
        };
        let good = || self.rows.iter().filter(|row| row.as_good_as_first && row.value.is_some());
        let chosen = good().min_by_key(key).ok_or("no algorithm has a value to be ranked by")?;
        let first = &self.rows[0];
        let mut why = match (good().count(), std::ptr::eq(chosen, first)) {
            (1, _) if self.rows.len() == 1 => "it is the only candidate".to_owned(),
            (1, _) if self.measured() == 1 => "it is the only one with a value to be ranked by".to_owned(),
            (1, _) => "it is better than all others".to_owned(),
            (count, true) => format!("it is the first of {count} that are equally good"),
            (count, false) => {
                let mut why = format!(
                    "it is one of {count} that are equally good; before {}, the first, it ",
                    first.spec
                );
                why += match (key(&first), key(&chosen)) {
                    ((true, ..), (false, ..)) => "has an implementation for this host's kernel",
                    ((_, true, _), (_, false, _)) => {
                        "was not found to harm a flow of CUBIC more than another flow of CUBIC does"
                    }
                    _ => "needs less to be loaded on this host",
                };
                why
            }
        };
        match chosen.neighbour.verdicts[0] {
            Verdict::More => why += ". It takes more from a flow of CUBIC than another flow of CUBIC would",
            Verdict::Less => {
                why += ". It takes no more from a flow of CUBIC than another flow of CUBIC would"
            }
            // It is the other flow itself.
            Verdict::Same if chosen.spec.to_string() == NEIGHBOUR => {}
            Verdict::Same => {
                why += ". No difference was found between what it takes from a flow of CUBIC and what another flow of CUBIC takes";
            }
            Verdict::Unknown => {}
        }
        Ok((chosen, why))
    }

    /// Returns how many candidates have a value to be ranked by.
    pub fn measured(&self) -> usize {
        self.rows.iter().filter(|row| row.value.is_some()).count()
    }

    /// Returns whether throughput was measured and is 0 in all runs of all candidates.
    pub fn is_without_throughput(&self) -> bool {
        let throughputs = || self.rows.iter().filter_map(|row| row.quantities[0]);
        throughputs().count() > 0 && throughputs().all(|throughput| throughput.mean == 0.0)
    }
}

/// Applies a function to the pairs of two lists that have both values.
fn paired(a: &[Option<f64>], b: &[Option<f64>], of: impl Fn(f64, f64) -> Option<f64>) -> Vec<Option<f64>> {
    a.iter().zip(b).map(|(a, b)| of((*a)?, (*b)?)).collect()
}

fn summary(values: &[Option<f64>]) -> Option<Summary> {
    Summary::of(&values.iter().copied().flatten().collect::<Vec<f64>>())
}

/// Compares harms with those of another flow of CUBIC, in the runs that have both.
fn compared(reference: &[Option<f64>], harm: &[Option<f64>]) -> Option<Paired> {
    let pairs = reference.iter().zip(harm).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
    Paired::of(&pairs.collect::<Vec<(f64, f64)>>())
}

/// Gives all candidates their verdicts: with many of them some would differ by chance.
fn judge(neighbours: &mut [&mut Neighbour]) {
    const LEVEL: f64 = 0.05;
    for quantity in 0..2 {
        let p: Vec<f64> = neighbours
            .iter()
            .map(|one| one.compared[quantity].and_then(|paired| paired.p).unwrap_or(1.0))
            .collect();
        for (neighbour, p) in neighbours.iter_mut().zip(holm(&p)) {
            neighbour.verdicts[quantity] = match neighbour.compared[quantity] {
                None => Verdict::Unknown,
                Some(paired) if p < LEVEL && paired.mean_difference > 0.0 => Verdict::More,
                Some(paired) if p < LEVEL && paired.mean_difference < 0.0 => Verdict::Less,
                Some(_) => Verdict::Same,
            };
        }
    }
}

/// Returns whether the 95 % intervals of two means overlap; a mean of a single value has none, and is its own.
fn overlap(a: Option<Summary>, b: Option<Summary>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    let ends = |summary: Summary| summary.interval().unwrap_or((summary.mean, summary.mean));
    let ((a_least, a_most), (b_least, b_most)) = (ends(a), ends(b));
    a_least <= b_most && b_least <= a_most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Option<Summary> {
        Summary::of(values)
    }

    /// By hand: of two values the interval is mean +- 12.706 |a - b| / 2, so 10 and 11 are 10.5 +- 6.35.
    #[test]
    fn overlapping_intervals_are_as_good() {
        assert!(overlap(of(&[10.0, 11.0]), of(&[15.0, 16.0])));
        assert!(!overlap(of(&[10.0, 11.0]), of(&[24.0, 25.0])));
        assert!(overlap(of(&[3.0, 3.0]), of(&[3.0, 3.0])));
        assert!(!overlap(of(&[3.0, 3.0]), of(&[3.1, 3.1])));
        assert!(!overlap(of(&[3.0]), None));
    }

    fn row(name: &str, throughputs: &[f64], verdict: Verdict) -> Row {
        let unmeasured = Neighbour {
            throughput: None,
            rtt: None,
            throughput_harm: None,
            rtt_harm: None,
            compared: [None; 2],
            verdicts: [verdict; 2],
        };
        Row {
            spec: AlgorithmSpec { name: name.to_owned(), ..AlgorithmSpec::default() },
            on_host: OnHost::Nowhere,
            quantities: [of(throughputs), None, None],
            loss: None,
            value: of(throughputs),
            as_good_as_first: true,
            difference: None,
            neighbour: unmeasured,
        }
    }

    fn ranking(rows: Vec<Row>) -> Ranking {
        let Row { neighbour: reference, .. } = row("cubic-linux", &[], Verdict::Unknown);
        Ranking { rows, reference }
    }

    #[test]
    fn what_is_said_of_harm_was_found() {
        let why = |name: &str, verdict: Verdict| {
            ranking(vec![row(name, &[1e6], verdict)]).choice().map(|(_, why)| why).unwrap()
        };
        let no_more = ". It takes no more from a flow of CUBIC than another flow of CUBIC would";
        assert_eq!(why("bbr3", Verdict::Less), format!("it is the only candidate{no_more}"));
        let same = why("bbr3", Verdict::Same);
        assert!(same.contains("No difference was found") && !same.contains("no more"), "{same}");
        assert_eq!(why(NEIGHBOUR, Verdict::Same), "it is the only candidate");
    }

    #[test]
    fn what_is_said_of_the_others_was_found() {
        let mut two = vec![row("bbr3", &[2e6], Verdict::Unknown), row("copa", &[1e6], Verdict::Unknown)];
        two[1].as_good_as_first = false;
        assert_eq!(ranking(two).choice().map(|(_, why)| why).unwrap(), "it is better than all others");
        let mut two = vec![row("bbr3", &[2e6], Verdict::Unknown), row("copa", &[], Verdict::Unknown)];
        two[1].as_good_as_first = false;
        assert_eq!(
            ranking(two).choice().map(|(_, why)| why).unwrap(),
            "it is the only one with a value to be ranked by"
        );
    }

    #[test]
    fn nothing_is_recommended_where_nothing_arrives() {
        let two = |other: f64| {
            ranking(vec![
                row("bbr3", &[other, other], Verdict::Unknown),
                row("copa", &[0.0, 0.0], Verdict::Unknown),
            ])
        };
        assert!(two(0.0).choice().is_err_and(|why| why.contains("every throughput is 0")));
        assert!(two(1.0).choice().is_ok());
        assert!(ranking(vec![row("copa", &[], Verdict::Unknown)]).choice().is_err());
    }

    #[test]
    fn harm_is_more_or_less_by_its_paired_differences() {
        let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
        let reference = some(&[0.50, 0.60, 0.40]);
        let verdicts = |harms: &[&[f64]]| -> Vec<Verdict> {
            let neighbour = |harm: &&[f64]| Neighbour {
                throughput: None,
                rtt: None,
                throughput_harm: None,
                rtt_harm: None,
                compared: [compared(&reference, &some(harm)), None],
                verdicts: [Verdict::Unknown; 2],
            };
            let mut all: Vec<Neighbour> = harms.iter().map(neighbour).collect();
            judge(&mut all.iter_mut().collect::<Vec<_>>());
            assert!(all.iter().all(|one| one.verdicts[1] == Verdict::Unknown));
            all.iter().map(|one| one.verdicts[0]).collect()
        };
        // Differences 0.20, 0.21, 0.19: far from 0 with little spread (p = 0.0008), though the harms themselves spread.
        let (more, less): (&[f64], &[f64]) = (&[0.70, 0.81, 0.59], &[0.30, 0.39, 0.21]);
        assert_eq!(
            verdicts(&[more, less, &[0.40, 0.80, 0.41]]),
            [Verdict::More, Verdict::Less, Verdict::Same]
        );
        assert_eq!(verdicts(&[&[0.50, 0.60, 0.40]]), [Verdict::Same]);
        // Differences 0.2, 0.3, 0.22: t = 7.8, p = 0.016, which is no longer significant among four.
        let weak: &[f64] = &[0.70, 0.90, 0.62];
        assert_eq!(verdicts(&[weak]), [Verdict::More]);
        assert_eq!(verdicts(&[weak; 4]), [Verdict::Same; 4]);
    }
}
