//! The simulator as a WebAssembly module, for the laboratory in a web page (`web/`).
//!
//! An instance of the module holds one run. The page describes it by the settings of `cwnd compare`, one a line ([`Setting`]); runs
//! it piece by piece; changes it while it runs; and reads samples from the module's memory ([`Bench`]). The module has no threads,
//! no clock and no source of randomness: a run's outcome is the same to the bit as that of the native simulator.
//!
//! A flow can run an algorithm that the page supplies as a program ([`scripted`]).
//!
//! With the feature `study` the module also reads study files, does their runs and writes their reports (`Playground`). It is then several times
//! as large, so that the bench has a module without it.
//!
//! [`abi`] has the functions that the module exports. They exchange numbers and UTF-8 texts only, so that the page needs no generated
//! bindings.

#![deny(unsafe_code)]

pub mod abi;
mod bench;
mod catalogue;
mod json;
#[cfg(feature = "study")]
mod playground;
pub mod scripted;
mod setting;

pub use bench::{Bench, OF_FLOW, OF_LINK, describe};
pub use catalogue::catalogue;
#[cfg(feature = "study")]
pub use playground::Playground;
pub use setting::{LineProblem, Setting};
