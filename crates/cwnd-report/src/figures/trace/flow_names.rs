//! What the flows of a figure over time are called.

use crate::figures::points::Chosen;
use std::collections::{BTreeMap, BTreeSet};

/// For a flow, from 0, its algorithm, where that tells the flows of a run apart.
pub struct FlowNames(BTreeMap<usize, String>);

impl FlowNames {
    /// Creates the names of the flows that last in these cells. They have their algorithms if those of a cell differ, except flows
    /// that have different ones in different cells.
    pub fn new(chosen: &Chosen<'_>) -> FlowNames {
        let mut algorithms: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        let mut differ = false;
        for cell in &chosen.cells {
            let flows = &chosen.results.study.cells[*cell].scenario.flows;
            let lasting = || flows.iter().enumerate().filter(|(_, flow)| !flow.short);
            differ |= lasting().zip(lasting().skip(1)).any(|((_, a), (_, b))| a.algorithm != b.algorithm);
            for (i, flow) in lasting() {
                algorithms.entry(i).or_default().insert(flow.algorithm.to_string());
            }
        }
        let only = |(flow, names): (usize, BTreeSet<String>)| match names.len() {
            1 => names.into_iter().next().map(|name| (flow, name)),
            _ => None,
        };
        FlowNames(algorithms.into_iter().filter(|_| differ).filter_map(only).collect())
    }

    /// Returns `1`, or `1: cubic`.
    pub fn of(&self, flow: usize) -> String {
        match self.0.get(&flow) {
            None => format!("{}", flow + 1),
            Some(algorithm) => format!("{}: {algorithm}", flow + 1),
        }
    }
}
