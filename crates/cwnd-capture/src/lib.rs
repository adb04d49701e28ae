//! Runs of the simulator as other tools read them: packet captures for Wireshark ([`Capture`]).
//!
//! A capture changes nothing of a run. What it holds that the simulator's packets do not say, and what it leaves open, is told
//! in [`headers`].
#![forbid(unsafe_code)]

mod capture;
pub mod headers;
pub mod pcapng;
mod points;

pub use capture::{Capture, EPOCH_S, capture};
pub use points::{default_points, point};
