//! The metrics of one run.
