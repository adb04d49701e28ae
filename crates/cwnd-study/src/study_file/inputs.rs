//! What a study's text does not have: the files that it names, each read once, and what is not said.

use cwnd_experiment::Defaults;
use cwnd_scenario::{DeliveryTrace, SizeTable};
use std::{cell::RefCell, collections::BTreeMap};

/// The delivery traces and the tables of flow sizes of a study, and the rules of what it does not say.
pub(super) struct Inputs<'a> {
    pub defaults: Defaults,
    /// The text of a file, or why there is none.
    read: &'a dyn Fn(&str) -> Result<String, String>,
    traces: RefCell<BTreeMap<String, Result<DeliveryTrace, String>>>,
    sizes: RefCell<BTreeMap<String, Result<SizeTable, String>>>,
}

impl<'a> Inputs<'a> {
    pub fn new(defaults: Defaults, read: &'a dyn Fn(&str) -> Result<String, String>) -> Inputs<'a> {
        Inputs { defaults, read, traces: RefCell::default(), sizes: RefCell::default() }
    }

    /// The trace in a file, which is called by its path as the study has it.
    pub fn trace(&self, path: &str) -> Result<DeliveryTrace, String> {
        let parse = |text: String| {
            DeliveryTrace::parse(path, &text).map_err(|error| format!("`{path}` is no trace: {error}"))
        };
        let mut traces = self.traces.borrow_mut();
        traces.entry(path.to_owned()).or_insert_with(|| (self.read)(path).and_then(parse)).clone()
    }

    /// The table of sizes in a file, which is called by its path as the study has it.
    pub fn sizes(&self, path: &str) -> Result<SizeTable, String> {
        let parse = |text: String| {
            SizeTable::parse(path, &text).map_err(|error| format!("`{path}` is no table of sizes: {error}"))
        };
        let mut sizes = self.sizes.borrow_mut();
        sizes.entry(path.to_owned()).or_insert_with(|| (self.read)(path).and_then(parse)).clone()
    }

    /// All tables of sizes that were read, by path.
    pub fn all_sizes(&self) -> Vec<SizeTable> {
        self.sizes.borrow().values().flatten().cloned().collect()
    }

    /// All traces that were read, by path.
    pub fn traces(&self) -> Vec<DeliveryTrace> {
        self.traces.borrow().values().flatten().cloned().collect()
    }
}
