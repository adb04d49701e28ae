//! A packet-level simulator of TCP congestion control: exact, deterministic and fast.
//!
//! [`Simulator`] is the engine that runs whole scenarios; [`Simulation`] is one run, which can be halted at
//! any time, looked at, changed and continued. ARCHITECTURE.md says how it works: stages with frontiers
//! instead of a queue of events.

mod check;
mod cost;
mod engine;
mod factory;
#[doc(hidden)]
pub mod fault;
#[doc(hidden)]
pub mod graph;
#[doc(hidden)]
pub mod host;
pub mod link;
mod merge;
mod merging;
pub mod net;
#[doc(hidden)]
pub mod online;
mod opening;
mod outcome;
mod ring;
#[doc(hidden)]
pub mod setup;
mod shortcut;
mod simulation;
mod solo;
pub mod watch;

pub use check::check_with;
pub use engine::{LINUX_VERSION, NS2_VERSION, Simulator, VERSION, run_with};
pub use factory::{Factory, registered};
pub use simulation::{FlowState, Simulation};
