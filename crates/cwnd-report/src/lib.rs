//! What people look at: tables for the terminal, figures for papers.
//!
//! - [`plot`]: line figures as self-contained SVG, and the figure of windows and queues over time;
//! - [`table`]: aligned columns of text;
//! - [`number`]: numbers as people read them, with SI prefixes or thousands separators.
#![forbid(unsafe_code)]

pub mod number;
pub mod plot;
pub mod table;
