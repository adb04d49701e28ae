//! How much of a study is run: all of it, or a part that takes minutes.

use crate::{Cell, Selection, Study};
use std::fmt;

/// How much of a study is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunScale {
    /// All of it: the publication's own grids and repeats, as the file has them.
    #[default]
    Paper,
    /// What the file's `[quick]` leaves of it; all if it has none.
    Quick,
    /// What a machine checks at every change: of the quick scale one repeat, and of every axis that is a quantity the
    /// first and the last value.
    Sample,
}

impl RunScale {
    /// All of them, the largest first.
    pub const ALL: [RunScale; 3] = [RunScale::Paper, RunScale::Quick, RunScale::Sample];

    /// By which commands call it.
    pub fn name(self) -> &'static str {
        match self {
            RunScale::Paper => "paper",
            RunScale::Quick => "quick",
            RunScale::Sample => "sample",
        }
    }

    /// The scale of this name.
    pub fn find(name: &str) -> Option<RunScale> {
        RunScale::ALL.into_iter().find(|scale| scale.name() == name)
    }
}

impl fmt::Display for RunScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the quick scale leaves of a study.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quick {
    /// How many times each cell is run; as often as at the paper's scale if none.
    pub repeats: Option<u32>,
    /// The labels that are kept of some axes; all of the others.
    pub axes: Selection,
}

/// What a study is a part of.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduced {
    /// The scale.
    pub scale: RunScale,
    /// All of the study.
    pub whole: Box<Study>,
}

impl Study {
    /// The scale that this is.
    pub fn scale(&self) -> RunScale {
        self.reduced.as_ref().map_or(RunScale::Paper, |reduced| reduced.scale)
    }

    /// All of the study of which this is a part, or this.
    pub fn whole(&self) -> &Study {
        self.reduced.as_ref().map_or(self, |reduced| &reduced.whole)
    }

    /// What is run of the study at a scale. Runs are the same at every scale, with the same keys: what one scale has
    /// run another need not run again.
    #[must_use]
    pub fn at_scale(&self, scale: RunScale) -> Study {
        let whole = self.whole();
        if scale == RunScale::Paper {
            return whole.clone();
        }
        let kept: Vec<Vec<usize>> = (0..whole.axes.len()).map(|axis| whole.kept(axis, scale)).collect();
        let of_quick = whole.quick.as_ref().and_then(|quick| quick.repeats).unwrap_or(whole.repeats);
        let mut study = whole.clone();
        study.repeats = if scale == RunScale::Sample { 1 } else { of_quick };
        for (axis, kept) in study.axes.iter_mut().zip(&kept) {
            axis.points = kept.iter().map(|point| axis.points[*point].clone()).collect();
        }
        study.cells = whole.cells.iter().filter_map(|cell| cell.among(&kept)).collect();
        study.reduced = Some(Reduced { scale, whole: Box::new(whole.clone()) });
        study
    }

    /// The points of an axis that are left.
    fn kept(&self, axis: usize, scale: RunScale) -> Vec<usize> {
        let axis = &self.axes[axis];
        let named = self.quick.as_ref().and_then(|quick| quick.axes.0.get(&axis.name));
        let is_named = |point: &usize| named.is_none_or(|labels| labels.contains(&axis.points[*point].label));
        let kept: Vec<usize> = (0..axis.points.len()).filter(is_named).collect();
        let is_quantity = axis.points.iter().all(|point| point.value.is_some());
        if scale != RunScale::Sample || !is_quantity {
            return kept;
        }
        // Without its reference a derived metric has no values.
        let is_reference = |point: usize| {
            let label = &axis.points[point].label;
            self.derived.iter().any(|derived| derived.axis == axis.name && derived.reference == *label)
        };
        let is_end = |point: usize| kept.first() == Some(&point) || kept.last() == Some(&point);
        kept.iter().copied().filter(|point| is_end(*point) || is_reference(*point)).collect()
    }
}

impl Cell {
    /// The cell with its coordinates among the kept points; none if one of its points is not kept.
    fn among(&self, kept: &[Vec<usize>]) -> Option<Cell> {
        let place = |(point, kept): (&usize, &Vec<usize>)| kept.iter().position(|kept| kept == point);
        let coordinates: Option<Vec<usize>> = self.coordinates.iter().zip(kept).map(place).collect();
        Some(Cell { coordinates: coordinates?, scenario: self.scenario.clone() })
    }
}
