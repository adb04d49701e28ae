//! What people look at: tables for the terminal, figures for papers, and traces for other tools.
//!
//! - [`plot`]: line figures as self-contained SVG, and the figure of windows and queues over time;
//! - [`trace_file`]: the samples of runs as CSV or Parquet;
//! - [`table`]: aligned columns of text;
//! - [`number`]: numbers as people read them, with SI prefixes or thousands separators;
//! - [`output_file`]: files that are written whole or not at all.
#![forbid(unsafe_code)]

pub mod number;
pub mod output_file;
mod parquet;
pub mod plot;
pub mod table;
pub mod trace_file;
mod traced_run;

pub use traced_run::TracedRun;
