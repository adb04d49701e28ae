//! Builders of common networks, and of whole scenarios from the options that a person gives.
//!
//! A builder takes a plain struct and makes a [`Network`](crate::Network) with the route of every flow:
//! [`Path`] is one line between two hosts, [`Dumbbell`] is many hosts on either side of one line, [`ParkingLot`] several
//! lines in a row, [`Incast`] many hosts behind one port, [`Satellite`] a hybrid of wires and a satellite, and a [`Graph`]
//! is drawn link by link. [`ExperimentSpec`] holds the options of an experiment, all with defaults, and makes a
//! [`Scenario`](crate::Scenario) of them. [`settings`] lists the words by which flags and studies set them.
//!
//! Flows are numbered from 1 wherever a person reads them (`access-1`, `--flow`, tables); in Rust they are
//! indices from 0, in the scenario's order.
//!
//! ```
//! use cwnd_scenario::{FlowGroup, build::ExperimentSpec};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let spec = ExperimentSpec { rate: "100 Mbit/s".parse()?, buffer: "0.5 BDP".parse()?, ..ExperimentSpec::default() };
//! let four: FlowGroup = "cubic; count=4".parse()?;
//! let late: FlowGroup = "elastic:beta=0.8; start=21 s; rtt=320 ms".parse()?;
//! let scenario = spec.scenario(&[four, late], 1).expect("nothing contradicts");
//! assert_eq!(scenario.flows.len(), 5);
//! assert_eq!(scenario.base_rtt(4).to_string(), "320 ms");
//! # Ok(())
//! # }
//! ```

mod cross_flows;
mod dumbbell;
mod experiment;
mod graph;
mod incast;
mod line;
mod line_options;
mod parking_lot;
mod path;
mod row;
mod satellite;
mod schedule_choice;
pub mod settings;
mod stack_choice;

pub use cross_flows::CrossFlows;
pub use dumbbell::{Access, Dumbbell};
pub use experiment::{ExperimentSpec, SatelliteChoice, Topology};
pub use graph::{Graph, GraphLink};
pub use incast::Incast;
pub use line::{Bottleneck, Built, Endpoints, LineDelay, Route};
pub use line_options::{LineOptions, TraceFile};
pub use parking_lot::ParkingLot;
pub use path::Path;
pub use satellite::{Satellite, SatelliteLink};
pub use schedule_choice::{RateChange, ScheduleChoice, StepChoice};
pub use stack_choice::{EcnChoice, StackChoice};

/// The most flows that a builder accepts: beyond it the network's description alone would fill a machine.
pub const MAX_FLOWS: u32 = 100_000;
