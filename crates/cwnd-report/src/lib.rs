//! What people look at: tables for the terminal, figures for papers.
//!
//! - [`plot`]: line figures as self-contained SVG, and the figure of windows and queues over time;
//! - [`report`]: a study's results as one HTML page;
//! - [`figures`]: the figures of a study;
//! - [`engines`]: how far two engines that answered the same are apart;
//! - [`doubts`]: runs over an emulated network that are not to be believed, and why;
//! - [`descriptive`]: tables of what algorithms are, from the registry;
//! - [`table`]: aligned columns of text;
//! - [`topology`]: the picture of a network;
//! - [`number`]: numbers as people read them, with SI prefixes or thousands separators.
#![forbid(unsafe_code)]

pub mod descriptive;
pub mod doubts;
pub mod engines;
mod estimate;
pub mod figures;
mod made_by;
mod measure;
pub mod number;
pub mod plot;
pub mod report;
pub mod series;
pub mod table;
pub mod topology;
