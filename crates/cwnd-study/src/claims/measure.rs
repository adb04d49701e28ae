//! From runs to the figure that a claim speaks of.

use super::judge::ENOUGH;
use crate::{ClaimKind, Expectation, PairSummary, Results, Study};
use cwnd_metrics::relative_gain;
use cwnd_metrics::statistics::{Summary, holm};

/// A measure over the repeats, and what to know of it.
pub(super) struct Measured {
    pub summary: Option<Summary>,
    pub note: Option<String>,
    /// For a stated gain: whether it is over 0.
    pub gain: OverZero,
}

impl Measured {
    /// Removes the interval: repeats of a scenario without randomness are one run.
    pub(super) fn of_one_run(&mut self) {
        if let Some(summary) = &mut self.summary {
            summary.ci95 = None;
            self.gain.p = None;
            self.gain.is_over = summary.mean > 0.0;
        }
    }
}

/// Whether a gain is over 0 by more than chance.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OverZero {
    pub is_over: bool,
    /// Two-sided p-value, corrected if several were tested; none without an interval.
    pub p: Option<f64>,
    /// How many were tested.
    pub tested: usize,
    /// For a stated greatest gain over several rivals: the greatest over each, in parts of what is stated.
    pub rivals: Vec<String>,
}

pub(super) fn measure(results: &Results, kind: &ClaimKind, expect: &Expectation) -> Measured {
    let mut measured = whatever_scale(results, kind, expect);
    let (here, whole) = (places(&results.study, kind), places(results.study.whole(), kind));
    if here < whole {
        let scale = results.study.scale();
        let part = match measured.summary {
            Some(_) => format!("at the {scale} scale, over {here} of {whole} places"),
            None => format!("the {scale} scale has {here} of the {whole} places that it is measured over"),
        };
        let said = measured.note.filter(|_| measured.summary.is_some());
        measured.note = Some(said.map_or(part.clone(), |note| format!("{note}; {part}")));
    }
    measured
}

/// How many cells, or pairs of cells, a measure is taken over.
fn places(study: &Study, kind: &ClaimKind) -> usize {
    match kind {
        ClaimKind::Mean { select, .. } | ClaimKind::Extreme { select, .. } => study.select(select).count(),
        ClaimKind::Gain { axis, of, over, select, .. } | ClaimKind::Wins { axis, of, over, select, .. } => {
            study.pairs(axis, of, over, select).len()
        }
    }
}

fn whatever_scale(results: &Results, kind: &ClaimKind, expect: &Expectation) -> Measured {
    let study = &results.study;
    let one = |metric: &str, cell: usize, repeat: usize| results.runs_of(cell)[repeat].metric(metric);
    match kind {
        ClaimKind::Mean { metric, select } => {
            let cells: Vec<usize> = study.select(select).collect();
            averaged(results, cells.len(), |place, repeat| {
                one(metric, cells[place], repeat).ok_or(Missing::NoValue)
            })
        }
        ClaimKind::Extreme { metric, select, greatest } => {
            let cells: Vec<usize> = study.select(select).collect();
            let value = |place: usize, repeat| one(metric, cells[place], repeat).ok_or(Missing::NoValue);
            let name = |place: usize| format!("in `{}`", study.cell_label(cells[place]));
            let summaries = Summaries::new(results, cells.len(), value);
            let best = summaries.best(*greatest, |_| true);
            summaries.extreme(best, name)
        }
        ClaimKind::Gain { metric, axis, of, over, select, pairs: summary, absolute } => {
            let pairs = study.pairs(axis, of, over, select);
            let value = |place: usize, repeat| {
                let (a, b): (usize, usize) = pairs[place];
                gain(one(metric, a, repeat), one(metric, b, repeat), *absolute)
            };
            if *summary == PairSummary::Mean {
                return averaged(results, pairs.len(), value);
            }
            let name = |place: usize| {
                let (a, b) = pairs[place];
                format!("`{}` against `{}`", study.cell_label(a), study.cell_label(b))
            };
            let summaries = Summaries::new(results, pairs.len(), value);
            if *summary == PairSummary::GreatestAbsolute {
                let summaries = summaries.without_signs();
                let furthest = summaries.best(true, |_| true);
                return summaries.measured(furthest, OverZero::default(), name);
            }
            let rivals = match expect {
                Expectation::Gain(stated) if over.len() > 1 => {
                    let rival = |place: usize| study.label(pairs[place].1, axis);
                    over.iter().filter_map(|label| summaries.against(label, *stated, rival)).collect()
                }
                _ => Vec::new(),
            };
            let mut measured = summaries.greatest_gain(expect, name);
            measured.gain.rivals = rivals;
            measured
        }
        ClaimKind::Wins { metric, axis, of, over, select } => {
            let pairs = study.pairs(axis, of, over, select);
            averaged(results, pairs.len(), |place, repeat| {
                let (a, b) = pairs[place];
                let (a, b) = one(metric, a, repeat).zip(one(metric, b, repeat)).ok_or(Missing::NoValue)?;
                Ok(f64::from(u8::from(a > b)))
            })
        }
    }
}

/// Why a place has no value in a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    /// A run has no value.
    NoValue,
    /// A relative gain would divide by 0.
    ComparedWithZero,
}

/// (a - b) / b, or a - b.
fn gain(a: Option<f64>, b: Option<f64>, absolute: bool) -> Result<f64, Missing> {
    let (a, b) = a.zip(b).ok_or(Missing::NoValue)?;
    match absolute {
        true => Ok(a - b),
        false => relative_gain(a, b).ok_or(match b == 0.0 {
            true => Missing::ComparedWithZero,
            false => Missing::NoValue,
        }),
    }
}

/// Counts the places that have no value in any repeat.
#[derive(Clone, Copy, Debug, Default)]
struct Silent {
    places: usize,
    /// Those where a run has none.
    without_value: usize,
    /// Those where all runs have values, and a gain would always divide by 0.
    compared_with_zero: usize,
}

impl Silent {
    /// Adds a place with these values of its repeats.
    fn add(&mut self, values: &[Result<f64, Missing>]) {
        self.places += 1;
        if values.iter().any(Result::is_ok) {
            return;
        }
        let has_zeros = values.contains(&Err(Missing::ComparedWithZero));
        self.compared_with_zero += usize::from(has_zeros);
        self.without_value += usize::from(!has_zeros);
    }

    /// Says why nothing could be measured.
    fn reason(self) -> String {
        let Silent { places, without_value, compared_with_zero } = self;
        let of = |count: usize| {
            if count == places { String::new() } else { format!(" in {count} of {places} pairs") }
        };
        let zero = || format!("the value to compare with is 0{}", of(compared_with_zero));
        let none = || {
            let have = if without_value == 1 { "has" } else { "have" };
            format!("{without_value} of {places} combinations {have} no value in any repeat")
        };
        match (without_value, compared_with_zero) {
            _ if places == 0 => "no cells belong to it".to_owned(),
            (0, 0) => format!("no repeat has a value of all {places} combinations"),
            (without, 0) if without == places => "no run has a value of it".to_owned(),
            (_, 0) => none(),
            (0, _) => zero(),
            _ => format!("{}, and {}", none(), zero()),
        }
    }
}

/// For each repeat the mean over all places. A repeat in which a place has no value is left out.
fn averaged(
    results: &Results,
    places: usize,
    value: impl Fn(usize, usize) -> Result<f64, Missing>,
) -> Measured {
    let repeats = results.study.repeats as usize;
    let values: Vec<Vec<Result<f64, Missing>>> =
        (0..places).map(|place| (0..repeats).map(|repeat| value(place, repeat)).collect()).collect();
    let mean = |repeat: usize| {
        let values: Result<Vec<f64>, Missing> = values.iter().map(|of_place| of_place[repeat]).collect();
        values
            .ok()
            .filter(|values| !values.is_empty())
            .map(|values| values.iter().sum::<f64>() / places as f64)
    };
    let means: Vec<f64> = (0..repeats).filter_map(mean).collect();
    let note =
        (means.len() < repeats).then(|| format!("{} of {repeats} repeats have all of it", means.len()));
    let Some(summary) = Summary::of(&means) else {
        let mut silent = Silent::default();
        values.iter().for_each(|values| silent.add(values));
        return nothing(&silent.reason());
    };
    let (p, is_over) = (summary.p(), is_over(&summary, summary.p()));
    Measured { summary: Some(summary), note, gain: OverZero { is_over, p, tested: 1, rivals: Vec::new() } }
}

/// Over 0, and by more than chance where there is an interval to say so: then its lower end is over 0.
fn is_over(summary: &Summary, p: Option<f64>) -> bool {
    summary.mean > 0.0 && p.is_none_or(|p| p < 0.05)
}

/// For each place the values of its repeats.
struct Summaries {
    /// Places without any value are left out.
    of: Vec<(usize, Summary)>,
    silent: Silent,
    missing: usize,
}

impl Summaries {
    fn new(
        results: &Results,
        places: usize,
        value: impl Fn(usize, usize) -> Result<f64, Missing>,
    ) -> Summaries {
        let repeats = results.study.repeats as usize;
        let (mut of, mut silent, mut missing) = (Vec::new(), Silent::default(), 0);
        for place in 0..places {
            let values: Vec<Result<f64, Missing>> = (0..repeats).map(|repeat| value(place, repeat)).collect();
            silent.add(&values);
            let values: Vec<f64> = values.into_iter().filter_map(Result::ok).collect();
            missing += repeats - values.len();
            of.extend(Summary::of(&values).map(|summary| (place, summary)));
        }
        Summaries { of, silent, missing }
    }

    /// Returns the same with the magnitude of every mean. The interval of a mean and of its negative are equally wide.
    fn without_signs(mut self) -> Summaries {
        for (_, summary) in &mut self.of {
            summary.mean = summary.mean.abs();
        }
        self
    }

    /// Returns the greatest mean against one rival as a multiple of what is stated, in words.
    fn against<'a>(
        &self,
        label: &str,
        stated: f64,
        rival: impl Fn(usize) -> Option<&'a str>,
    ) -> Option<String> {
        let of_rival = |i: usize| rival(self.of[i].0) == Some(label);
        let best = self.best(true, of_rival)?;
        Some(format!("against {label} {:.2} times what is stated", self.of[best].1.mean / stated))
    }

    /// The index of the greatest (or least) mean of some; of equals the first.
    fn best(&self, greatest: bool, keep: impl Fn(usize) -> bool) -> Option<usize> {
        let mut best: Option<usize> = None;
        for i in (0..self.of.len()).filter(|i| keep(*i)) {
            let mean = |i: usize| self.of[i].1.mean;
            let is_better = best.is_none_or(|best| match greatest {
                true => mean(i) > mean(best),
                false => mean(i) < mean(best),
            });
            if is_better {
                best = Some(i);
            }
        }
        best
    }

    /// The greatest gain. Of a gain that is stated as the most that there is, it is the greatest of those that are surely
    /// over 0, if any is: each of many pairs has its chance to be large by accident.
    fn greatest_gain(&self, expect: &Expectation, name: impl Fn(usize) -> String) -> Measured {
        let greatest = self.best(true, |_| true);
        let Expectation::Gain(stated) = expect else {
            return self.measured(greatest, OverZero::default(), name);
        };
        let has_intervals = self.of.iter().any(|(_, summary)| summary.ci95.is_some());
        // A pair with a single value, where others have more, shows nothing.
        let p: Vec<f64> = self.of.iter().map(|(_, summary)| summary.p().unwrap_or(1.0)).collect();
        let corrected = has_intervals.then(|| holm(&p));
        let p_of = |i: usize| corrected.as_ref().map(|corrected| corrected[i]);
        let sure = |i: usize| is_over(&self.of[i].1, p_of(i));
        let chosen = self.best(true, sure).or(greatest);
        let tested = self.of.len();
        let gain = chosen.map(|i| OverZero { is_over: sure(i), p: p_of(i), tested, rivals: Vec::new() });
        let mut measured = self.measured(chosen, gain.unwrap_or_default(), name);
        let passed_over = greatest.filter(|i| Some(*i) != chosen && self.of[*i].1.mean >= ENOUGH * stated);
        if let (Some(_), Some(note)) = (passed_over, &mut measured.note) {
            *note += "; a greater one is not surely over 0";
        }
        measured
    }

    /// The extreme of all cells. One without any value could be it: a transfer that never ends has no completion time.
    fn extreme(&self, chosen: Option<usize>, name: impl Fn(usize) -> String) -> Measured {
        let places = self.silent.places;
        let silent = places - self.of.len();
        if silent == 0 || self.of.is_empty() {
            return self.measured(chosen, OverZero::default(), name);
        }
        let have = if silent == 1 { "has" } else { "have" };
        nothing(&format!("{silent} of {places} combinations {have} no value, and could be the extreme"))
    }

    fn measured(&self, chosen: Option<usize>, gain: OverZero, name: impl Fn(usize) -> String) -> Measured {
        let Some((place, summary)) = chosen.map(|i| self.of[i]) else {
            return nothing(&self.silent.reason());
        };
        let gaps = match self.missing {
            0 => String::new(),
            1 => "; 1 value is missing".to_owned(),
            missing => format!("; {missing} values are missing"),
        };
        Measured { summary: Some(summary), note: Some(name(place) + &gaps), gain }
    }
}

fn nothing(why: &str) -> Measured {
    Measured { summary: None, note: Some(why.to_owned()), gain: OverZero::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At a p-value of 0.05 the interval of 95 % ends at 0.
    #[test]
    fn an_interval_that_ends_at_0_is_not_over_it() {
        let one = |mean: f64| Summary::of(&[mean]).expect("a value");
        let over = |mean: f64, p| is_over(&one(mean), p);
        assert_eq!([Some(0.049), Some(0.05), None].map(|p| over(1.0, p)), [true, false, true]);
        assert_eq!([0.0, -1.0].map(|mean| over(mean, Some(0.01))), [false, false]);
    }

    #[test]
    fn the_greatest_against_each_rival_is_named() {
        let mean = |(place, mean): (usize, f64)| (place, Summary::of(&[mean]).expect("a value"));
        // Place 1 has no value.
        let of = [(0, 0.2), (2, 0.5), (3, 0.3)].map(mean).into();
        let silent = Silent { places: 4, without_value: 1, compared_with_zero: 0 };
        let summaries = Summaries { of, silent, missing: 1 };
        let against = |label| summaries.against(label, 0.25, |place| Some(["b", "d", "c", "b"][place]));
        assert_eq!(against("b").as_deref(), Some("against b 1.20 times what is stated"));
        assert_eq!(against("c").as_deref(), Some("against c 2.00 times what is stated"));
        assert_eq!(against("d"), None);
    }
}
