//! Builders of common networks. Each takes a plain struct and makes a network with the routes of all flows.

mod access;
mod dumbbell;
mod graph;
mod incast;
mod parking_lot;
mod path;
mod row;
mod satellite;

pub use access::Access;
pub use dumbbell::Dumbbell;
pub(crate) use graph::Drawn;
pub use graph::{Graph, GraphLink};
pub use incast::Incast;
pub use parking_lot::ParkingLot;
pub use path::Path;
pub use satellite::{Satellite, SatelliteLink};
