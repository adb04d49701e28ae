//! Pairs of cells that differ in one axis.

use super::{Selection, Study};
use std::collections::BTreeMap;

impl Study {
    /// Returns all pairs of selected cells (a, b) that differ in one axis alone, where a has the label `of` and b one of `over`.
    pub(crate) fn pairs(
        &self,
        axis: &str,
        of: &str,
        over: &[String],
        select: &Selection,
    ) -> Vec<(usize, usize)> {
        let Some(axis) = self.axis(axis) else { return Vec::new() };
        let point = |label: &str| self.axes[axis].points.iter().position(|point| point.label == label);
        let Some(of) = point(of) else { return Vec::new() };
        let cells: Vec<usize> = self.select(select).collect();
        let at: BTreeMap<&[usize], usize> =
            cells.iter().map(|cell| (self.cells[*cell].coordinates.as_slice(), *cell)).collect();
        let mut pairs = Vec::new();
        for a in cells.iter().copied().filter(|cell| self.cells[*cell].coordinates[axis] == of) {
            for b in over.iter().filter_map(|label| point(label)) {
                let mut coordinates = self.cells[a].coordinates.clone();
                coordinates[axis] = b;
                pairs.extend(at.get(coordinates.as_slice()).map(|b| (a, *b)));
            }
        }
        pairs
    }
}
