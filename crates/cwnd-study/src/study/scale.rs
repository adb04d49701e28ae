//! How much of a study is run: all of it, or a part that takes minutes.

use crate::{Cell, EngineKind, Figure, FigureKind, Selection, Study, Table};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// How much of a study is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunScale {
    /// All of it: the publication's own grids and repeats, as the file has them.
    #[default]
    Paper,
    /// What the file's `[quick]` leaves of it; all if it has none.
    Quick,
    /// What a machine checks at every change: of the quick scale one repeat, and of every axis that is a quantity the
    /// first and the last value that there is with all else equal.
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
        let quick = whole.quick.clone().unwrap_or_default();
        let mut cells: Vec<usize> = whole.select(&quick.axes).collect();
        if scale == RunScale::Sample {
            cells = whole.at_the_ends(&cells);
        }
        let mut study = whole.keeping(&cells);
        study.repeats = if scale == RunScale::Sample { 1 } else { quick.repeats.unwrap_or(whole.repeats) };
        study.reduced = Some(Reduced { scale, whole: Box::new(whole.clone()) });
        study
    }

    /// The engines that answer its cells, in the order in which they are run.
    pub fn engines(&self) -> Vec<EngineKind> {
        let all: BTreeSet<EngineKind> = self.cells.iter().map(|cell| cell.engine).collect();
        all.into_iter().collect()
    }

    /// The study, at the same scale, with one engine alone: of a study that has an axis of engines the cells that are
    /// for this one; of another all cells, whatever the file says of them.
    ///
    /// # Errors
    /// The axis has no cell for it; with what would be right.
    pub fn on_engine(&self, engine: EngineKind) -> Result<Study, String> {
        let mut study = self.whole().clone();
        match study.engine_axis.map(|axis| study.axes[axis].name.clone()) {
            None => study.cells.iter_mut().for_each(|cell| cell.engine = engine),
            Some(axis) => {
                let its = |cell: &usize| study.cells[*cell].engine == engine;
                let cells: Vec<usize> = (0..study.cells.len()).filter(its).collect();
                if cells.is_empty() {
                    return Err(format!(
                        "the axis `{axis}` has no cell for the engine `{engine}`: add a point for it to the study"
                    ));
                }
                study = study.keeping(&cells);
            }
        }
        let repeats = self.repeats;
        let mut study = study.at_scale(self.scale());
        study.repeats = repeats;
        match study.cells.is_empty() {
            true => Err(format!(
                "the {} scale leaves no cell for the engine `{engine}`: choose another --scale",
                study.scale()
            )),
            false => Ok(study),
        }
    }

    /// The study with some of its cells, and of its axes the points that any of these has; figures and tables of other cells alone
    /// are left out.
    fn keeping(&self, cells: &[usize]) -> Study {
        let kept: Vec<Vec<usize>> = (0..self.axes.len()).map(|axis| self.points_of(cells, axis)).collect();
        let mut study = self.clone();
        for (axis, kept) in study.axes.iter_mut().zip(&kept) {
            axis.points = kept.iter().map(|point| axis.points[*point].clone()).collect();
        }
        study.cells = cells.iter().filter_map(|cell| self.cells[*cell].among(&kept)).collect();
        // Of what is left nothing would be in these.
        let is_left = |select: &Selection| study.select(select).next().is_some();
        let tables: Vec<Table> = self.tables.iter().filter(|table| is_left(&table.select)).cloned().collect();
        let is_drawn = |figure: &&Figure| match &figure.kind {
            FigureKind::Model { .. } => true,
            FigureKind::Deviation { table } => tables.iter().any(|left| left.name == *table),
            _ => is_left(&figure.select),
        };
        let figures: Vec<Figure> = self.figures.iter().filter(is_drawn).cloned().collect();
        study.figures = figures;
        study.tables = tables;
        study
    }

    /// Of some cells those that stand at an end of every axis that is a quantity: no cell before them, or none behind
    /// them, differs in that axis alone. Of a full grid these are its corners; of a grid in which one axis varies at a
    /// time, the ends of its arms. A derived metric's reference is kept, since without it there are no values.
    fn at_the_ends(&self, cells: &[usize]) -> Vec<usize> {
        let mut kept = cells.to_vec();
        for axis in (0..self.axes.len()).filter(|axis| self.is_quantity(*axis)) {
            let mut ends: BTreeMap<Vec<usize>, (usize, usize)> = BTreeMap::new();
            let others = |cell: usize| {
                let mut others = self.cells[cell].coordinates.clone();
                (others.remove(axis), others)
            };
            for (point, others) in cells.iter().map(|cell| others(*cell)) {
                let (first, last) = ends.entry(others).or_insert((point, point));
                (*first, *last) = (point.min(*first), point.max(*last));
            }
            kept.retain(|cell| {
                let (point, others) = others(*cell);
                let is_end = ends.get(&others).is_some_and(|(first, last)| point == *first || point == *last);
                is_end || self.is_reference(axis, point)
            });
        }
        kept
    }

    fn is_quantity(&self, axis: usize) -> bool {
        self.axes[axis].points.iter().all(|point| point.value.is_some())
    }

    fn is_reference(&self, axis: usize, point: usize) -> bool {
        let axis = &self.axes[axis];
        let label = &axis.points[point].label;
        self.derived.iter().any(|derived| derived.axis == axis.name && derived.reference == *label)
    }

    /// The points of an axis that any of some cells has, in the axis's order.
    fn points_of(&self, cells: &[usize], axis: usize) -> Vec<usize> {
        let points: BTreeSet<usize> = cells.iter().map(|cell| self.cells[*cell].coordinates[axis]).collect();
        points.into_iter().collect()
    }
}

impl Cell {
    /// The cell with its coordinates among the kept points; none if one of its points is not kept.
    fn among(&self, kept: &[Vec<usize>]) -> Option<Cell> {
        let place = |(point, kept): (&usize, &Vec<usize>)| kept.iter().position(|kept| kept == point);
        let coordinates: Option<Vec<usize>> = self.coordinates.iter().zip(kept).map(place).collect();
        Some(Cell { coordinates: coordinates?, ..self.clone() })
    }
}
