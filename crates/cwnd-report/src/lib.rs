//! Tables for the terminal, figures of studies and reports as web pages.
//!
//! - [`trace_figure`]: the figure of throughput, RTT, windows and queues over time;
//! - [`figure_file`]: figures as files: SVG, PNG, PDF;
//! - [`report`]: a study's results as one HTML page;
//! - [`figures`]: the figures of a study;
//! - [`explanation`]: why claims are not reproduced, with numbers from the runs;
//! - [`engines`]: how far two engines that answered the same are apart;
//! - [`validity_warnings`]: runs over an emulated network that are not valid, and why;
//! - [`descriptive`]: tables of what algorithms are, from the registry;
//! - [`measure`]: metrics with units of a handy size;
//! - [`sampled_throughput`]: throughput over time, from samples;
//! - [`table`]: aligned columns of text;
//! - [`topology`]: the picture of a network.
#![forbid(unsafe_code)]

pub mod descriptive;
pub mod engines;
mod estimate;
pub mod explanation;
pub mod figure_file;
pub mod figures;
mod html;
mod made_by;
pub mod measure;
pub mod report;
pub mod sampled_throughput;
pub mod series;
pub mod spread;
pub mod table;
pub mod topology;
pub mod trace_figure;
pub mod validity_warnings;
