//! A packet-level simulator of TCP congestion control: exact, deterministic and fast.
//!
//! [`Simulator`] is the engine that runs whole scenarios. [`Simulation`] is one run, which can be halted at any time,
//! inspected, changed and continued. ARCHITECTURE.md explains how it works: stages with frontiers instead of a queue of
//! events.

mod check;
mod cost;
mod crew;
mod deliveries;
mod engine;
mod factory;
mod fast;
#[doc(hidden)]
pub mod fault;
#[doc(hidden)]
pub mod graph;
#[doc(hidden)]
pub mod host;
#[doc(hidden)]
pub mod link;
mod merge;
#[doc(hidden)]
pub mod net;
mod outcome;
mod ring;
mod sacks;
#[doc(hidden)]
pub mod setup;
#[doc(hidden)]
pub mod short_list;
mod simulation;
mod slots;
mod stage;
mod unresponsive;
pub mod watch;

pub use check::check_with;
pub use engine::{CountedRun, LINUX_VERSION, NS2_VERSION, Simulator, VERSION, run_with, run_with_options};
pub use factory::{Factory, registered};
pub use fast::Shortcuts;
pub use outcome::LinkTotals;
#[doc(hidden)]
pub use simulation::illegal_value;
pub use simulation::{FlowState, Options, Simulation};
