//! From runs to the figure that a claim speaks of.

use crate::{ClaimKind, Results, Selection, Study};
use cwnd_scenario::{metrics::relative_gain, statistics::Summary};

/// A measure over the repeats, and what to know of it.
pub(super) struct Measured {
    pub summary: Option<Summary>,
    pub note: Option<String>,
}

pub(super) fn measure(results: &Results, kind: &ClaimKind) -> Measured {
    let study = &results.study;
    let one = |metric: &str, cell: usize, repeat: usize| results.runs_of(cell)[repeat].metric(metric);
    match kind {
        ClaimKind::Mean { metric, select } => {
            let cells: Vec<usize> = study.select(select).collect();
            averaged(results, cells.len(), |place, repeat| one(metric, cells[place], repeat))
        }
        ClaimKind::Extreme { metric, select, greatest } => {
            let cells: Vec<usize> = study.select(select).collect();
            let value = |place: usize, repeat| one(metric, cells[place], repeat);
            let name = |place: usize| format!("in `{}`", study.cell_label(cells[place]));
            extreme(results, cells.len(), *greatest, value, name)
        }
        ClaimKind::Gain { metric, axis, of, over, select, greatest, absolute } => {
            let pairs = pairs(study, axis, of, over, select);
            let value = |place: usize, repeat| {
                let (a, b): (usize, usize) = pairs[place];
                gain(one(metric, a, repeat)?, one(metric, b, repeat)?, *absolute)
            };
            if !greatest {
                return averaged(results, pairs.len(), value);
            }
            let name = |place: usize| {
                let (a, b) = pairs[place];
                format!("`{}` against `{}`", study.cell_label(a), study.cell_label(b))
            };
            extreme(results, pairs.len(), true, value, name)
        }
        ClaimKind::Wins { metric, axis, of, over, select } => {
            let pairs = pairs(study, axis, of, over, select);
            averaged(results, pairs.len(), |place, repeat| {
                let (a, b) = pairs[place];
                Some(f64::from(u8::from(one(metric, a, repeat)? > one(metric, b, repeat)?)))
            })
        }
    }
}

/// (a - b) / b, or a - b.
fn gain(a: f64, b: f64, absolute: bool) -> Option<f64> {
    if absolute { Some(a - b) } else { relative_gain(a, b) }
}

/// For each repeat the mean over all places. A repeat in which a place has no value is left out.
fn averaged(results: &Results, places: usize, value: impl Fn(usize, usize) -> Option<f64>) -> Measured {
    if places == 0 {
        return nothing("no cells belong to it");
    }
    let repeats = results.study.repeats as usize;
    let means: Vec<f64> = (0..repeats)
        .filter_map(|repeat| {
            let values: Option<Vec<f64>> = (0..places).map(|place| value(place, repeat)).collect();
            values.map(|values| values.iter().sum::<f64>() / places as f64)
        })
        .collect();
    let note =
        (means.len() < repeats).then(|| format!("{} of {repeats} repeats have all of it", means.len()));
    Measured { summary: Summary::of(&means), note }
}

/// The place with the greatest (or least) mean over the repeats. A place without any value is passed over.
fn extreme(
    results: &Results,
    places: usize,
    greatest: bool,
    value: impl Fn(usize, usize) -> Option<f64>,
    name: impl Fn(usize) -> String,
) -> Measured {
    let repeats = results.study.repeats as usize;
    let mut best: Option<(usize, Summary)> = None;
    let mut missing = 0;
    for place in 0..places {
        let values: Vec<f64> = (0..repeats).filter_map(|repeat| value(place, repeat)).collect();
        missing += repeats - values.len();
        let Some(summary) = Summary::of(&values) else { continue };
        let better = best.is_none_or(|(_, best)| match greatest {
            true => summary.mean > best.mean,
            false => summary.mean < best.mean,
        });
        if better {
            best = Some((place, summary));
        }
    }
    let Some((place, summary)) = best else {
        return nothing(if places == 0 { "no cells belong to it" } else { "no run has measured it" });
    };
    let gaps = if missing > 0 { format!("; {missing} values are missing") } else { String::new() };
    Measured { summary: Some(summary), note: Some(name(place) + &gaps) }
}

fn nothing(why: &str) -> Measured {
    Measured { summary: None, note: Some(why.to_owned()) }
}

/// All pairs of selected cells (a, b) that differ in one axis alone, where a has the label `of` and b one of `over`.
pub(crate) fn pairs(
    study: &Study,
    axis: &str,
    of: &str,
    over: &[String],
    select: &Selection,
) -> Vec<(usize, usize)> {
    let Some(axis) = study.axis(axis) else { return Vec::new() };
    let point = |label: &str| study.axes[axis].points.iter().position(|point| point.label == label);
    let Some(of) = point(of) else { return Vec::new() };
    let cells: Vec<usize> = study.select(select).collect();
    let at: std::collections::BTreeMap<&[usize], usize> =
        cells.iter().map(|cell| (study.cells[*cell].coordinates.as_slice(), *cell)).collect();
    let mut pairs = Vec::new();
    for a in cells.iter().copied().filter(|cell| study.cells[*cell].coordinates[axis] == of) {
        for b in over.iter().filter_map(|label| point(label)) {
            let mut coordinates = study.cells[a].coordinates.clone();
            coordinates[axis] = b;
            pairs.extend(at.get(coordinates.as_slice()).map(|b| (a, *b)));
        }
    }
    pairs
}
