//! Builders of common networks, and of whole scenarios from the options that a person gives.
//!
//! A builder takes a plain struct and makes a [`Network`](crate::Network) with the route of every flow:
//! [`Path`] is one line between two hosts, [`Dumbbell`] is many hosts on either side of one line. [`Setup`] holds
//! the options of a comparison, all with defaults, and makes a [`Scenario`](crate::Scenario) of them. [`Experiment`] adds
//! the flows, and [`settings`] are the words in which all of it is said.
//!
//! Flows are numbered from 1 wherever a person reads them (`access-1`, `--flow`, tables); in Rust they are
//! indices from 0, in the scenario's order.
//!
//! ```
//! use cwnd_scenario::{FlowGroup, build::Setup};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let setup = Setup { rate: "100 Mbit/s".parse()?, buffer: "0.5 BDP".parse()?, ..Setup::default() };
//! let four: FlowGroup = "cubic; count=4".parse()?;
//! let late: FlowGroup = "elastic:beta=0.8; start=21 s; rtt=320 ms".parse()?;
//! let scenario = setup.scenario(&[four, late], 1).expect("nothing contradicts");
//! assert_eq!(scenario.flows.len(), 5);
//! assert_eq!(scenario.base_rtt(4).to_string(), "320 ms");
//! # Ok(())
//! # }
//! ```

mod dumbbell;
mod experiment;
mod line;
mod path;
pub mod settings;
mod setup;
mod stack_choice;

pub use dumbbell::{Access, Dumbbell};
pub use experiment::Experiment;
pub use line::{Bottleneck, Built, Endpoints, LineDelay, Route};
pub use path::Path;
pub use setup::{Setup, Topology};
pub use stack_choice::{EcnChoice, StackChoice};

/// The most flows that a builder accepts: beyond it the network's description alone would fill a machine.
pub const MAX_FLOWS: u32 = 100_000;
