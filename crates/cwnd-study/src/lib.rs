//! From a question in a file to results that can be trusted.
//!
//! - [`Study`]: what a study file says, checked and expanded: axes, cells, figures, tables and claims. [`Study::load`]
//!   reads one, or says everything that is wrong with it ([`StudyError`]);
//! - [`Results`]: what its runs gave, cell by cell and repeat by repeat;
//! - [`store`]: where what came of every run is kept, and [`runner`], which does the runs that it has not;
//! - [`claims`]: whether what is claimed was measured;
//! - [`export`]: results as tables for other tools;
//! - [`diff`]: what changed between two runs of a study;
//! - [`trace_file`]: the samples of runs as CSV or Parquet;
//! - [`input_file`]: files that a person names, read within bounds;
//! - [`memory`]: how much memory runs may use;
//! - [`output_file`]: files that are written whole or not at all.
//!
//! The feature `store`, which is on by default, has the store, the runner, exports and files of samples. Without it a program reads studies, runs
//! them itself and collects [`Results::put`], as the web page does.
//!
//! Engines are known by their trait alone, and by what study files call them ([`EngineKind`]).
#![forbid(unsafe_code)]
// Without the store, what only it calls is unused.
#![cfg_attr(not(feature = "store"), allow(dead_code))]

pub mod claims;
pub mod diff;
mod engines;
#[cfg(feature = "store")]
pub mod export;
pub mod input_file;
mod key;
pub mod memory;
mod metric_values;
pub mod output_file;
mod paper;
#[cfg(feature = "store")]
mod parquet;
mod provenance;
mod results;
#[cfg(feature = "store")]
pub mod runner;
mod sampled;
#[cfg(feature = "store")]
pub mod store;
mod store_error;
mod study;
mod study_file;
#[cfg(test)]
mod testing;
#[cfg(feature = "store")]
pub mod trace_file;
mod traced_run;

pub use engines::{EngineKind, Engines, KernelSeries, SharedEngine};
pub use key::{Difference, RunKey, RunSpec, ScenarioText};
pub use metric_values::MetricValues;
pub use paper::{By, Paper, PaperItem};
pub use provenance::Provenance;
pub use results::{Results, RunResult, RunState};
pub use sampled::Samples;
#[cfg(feature = "store")]
pub use store::{KeptStudy, RunCounts, Store, StoredRun, StoredState};
pub use store_error::{StoreError, StoreErrorKind};
pub use study::{
    Axis, Cell, Citation, Cited, Claim, ClaimKind, ClaimTest, Derived, Expectation, Explanation, FLOW_PANELS,
    Figure, FigureKind, Formula, PairSummary, Per, Phrase, Point, Printed, Quick, Range, Reason, Reduced,
    RunScale, Scale, Selection, StatedAt, StatedLine, Study, Table, TracePlan,
};
pub use study_file::{
    CheckName, Diagnostic, MAX_CELLS, MAX_FLOWS, MAX_REPEATS, Named, Place, StudyError, keys,
    markdown as study_file_markdown, schema,
};
pub use traced_run::{STATE, TracedRun};

/// The version of this program, which the store writes into each row.
const VERSION: &str = env!("CARGO_PKG_VERSION");
