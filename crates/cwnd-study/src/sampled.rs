//! The samples of a run, and metrics that are made from them.

use crate::StoreError;
use cwnd_scenario::{Outcome, Scenario, Trace};
use std::{collections::BTreeMap, path::Path, sync::Arc};

/// Where the samples of a run are.
#[derive(Clone, Debug, PartialEq)]
pub enum Samples {
    /// In a file.
    #[cfg(feature = "store")]
    File {
        /// Its path.
        path: std::path::PathBuf,
        /// SHA-256 of the file. Another hash means that the file is torn or was changed.
        sha256: [u8; 32],
    },
    /// In memory.
    Memory(Arc<Trace>),
}

impl Samples {
    /// Returns the file, if they are in one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            #[cfg(feature = "store")]
            Samples::File { path, .. } => Some(path),
            Samples::Memory(_) => None,
        }
    }

    /// Reads them.
    ///
    /// # Errors
    /// If the file cannot be read any more, or was changed.
    pub fn read(&self) -> Result<Arc<Trace>, StoreError> {
        match self {
            #[cfg(feature = "store")]
            Samples::File { path, sha256 } => crate::trace_file::read(path, sha256).map(Arc::new),
            Samples::Memory(trace) => Ok(Arc::clone(trace)),
        }
    }
}

/// Returns the metrics that take the samples: those that are not there, or not the same, without them.
pub(crate) fn metrics(scenario: &Scenario, outcome: &mut Outcome) -> Option<BTreeMap<String, f64>> {
    scenario.sample?;
    let mut with = cwnd_metrics::values(scenario, outcome);
    let trace = outcome.trace.take();
    let without = cwnd_metrics::values(scenario, outcome);
    outcome.trace = trace;
    with.retain(|name, value| without.get(name).map(|value| value.to_bits()) != Some(value.to_bits()));
    Some(with)
}
