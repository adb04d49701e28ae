//! What a study's text does not have: the files that it names, each read once, and what is not said.

use cwnd_experiment::Defaults;
use cwnd_scenario::DeliveryTrace;
use std::{cell::RefCell, collections::BTreeMap};

/// The delivery traces of a study, and the rules of what it does not say.
pub(super) struct Inputs<'a> {
    pub defaults: Defaults,
    /// The text of a file, or why there is none.
    read: &'a dyn Fn(&str) -> Result<String, String>,
    traces: RefCell<BTreeMap<String, Result<DeliveryTrace, String>>>,
}

impl<'a> Inputs<'a> {
    pub fn new(defaults: Defaults, read: &'a dyn Fn(&str) -> Result<String, String>) -> Inputs<'a> {
        Inputs { defaults, read, traces: RefCell::default() }
    }

    /// The trace in a file, which is called by its path as the study has it.
    pub fn trace(&self, path: &str) -> Result<DeliveryTrace, String> {
        let parse = |text: String| {
            DeliveryTrace::parse(path, &text).map_err(|error| format!("`{path}` is no trace: {error}"))
        };
        let mut traces = self.traces.borrow_mut();
        traces.entry(path.to_owned()).or_insert_with(|| (self.read)(path).and_then(parse)).clone()
    }

    /// All that were read, by path.
    pub fn traces(&self) -> Vec<DeliveryTrace> {
        self.traces.borrow().values().flatten().cloned().collect()
    }
}
