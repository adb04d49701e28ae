//! From the options that a person gives, by flags or in a study file, to a [`Scenario`](cwnd_scenario::Scenario).
//!
//! A builder takes a plain struct and makes a [`Network`](cwnd_scenario::Network) with the route of every flow:
//! [`Path`] is one line between two hosts, [`Dumbbell`] is many hosts on either side of one line, [`ParkingLot`] several
//! lines in a row, [`Incast`] many hosts behind one port, [`Satellite`] a hybrid of wires and a satellite, and a [`Graph`]
//! is drawn link by link. [`ExperimentSpec`] holds the options of an experiment, all with defaults, and makes a
//! [`Scenario`](cwnd_scenario::Scenario) of them. [`settings`] lists the words by which flags and studies set them.
//!
//! Flows are numbered from 1 wherever a person reads them (`access-1`, `--flow`, tables); in Rust they are
//! indices from 0, in the scenario's order.
//!
//! ```
//! use cwnd_experiment::{ExperimentSpec, FlowGroup};
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

#![forbid(unsafe_code)]

mod buffer;
mod builders;
mod experiment;
mod flow_group;
pub mod kinds;
mod line;
pub mod settings;
mod short_flows;
mod threshold;

pub use buffer::{Buffer, BufferContext, BufferTerm};
pub use builders::{Access, Dumbbell, Graph, GraphLink, Incast, ParkingLot, Path, Satellite, SatelliteLink};
pub use experiment::{
    CrossFlows, Defaults, EcnChoice, ExperimentSpec, LateSteps, OrBottleneck, SatelliteChoice, StackChoice,
    Topology, greatest_bdp,
};
pub use flow_group::{FlowGroup, Mix, Place, Side};
pub use line::{
    Bottleneck, Built, Endpoints, LineDelay, LineOptions, RateChange, Route, ScheduleChoice, StepChoice,
    TraceFile,
};
pub use short_flows::{ArrivalRate, ShortFlowSizes, ShortFlows};
pub use threshold::EcnThreshold;
