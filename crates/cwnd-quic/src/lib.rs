//! cwnd's congestion control algorithms for the QUIC implementations [noq](https://docs.rs/noq) and [quinn](https://docs.rs/quinn), and
//! both implementations as flows of cwnd's simulator.
//!
//! [`noq::factory`] (feature `noq`) and [`quinn::factory`] (feature `quinn`) return what a `TransportConfig` takes:
//!
//! ```
//! # #[cfg(feature = "noq")]
//! let mut transport = noq_proto::TransportConfig::default();
//! # #[cfg(feature = "noq")]
//! transport.congestion_controller_factory(cwnd_quic::noq::factory("bbr3")?);
//! # #[cfg(feature = "quinn")]
//! let mut transport = quinn_proto::TransportConfig::default();
//! # #[cfg(feature = "quinn")]
//! transport.congestion_controller_factory(cwnd_quic::quinn::factory("elastic:beta=0.7")?);
//! # Ok::<(), cwnd_quic::AlgorithmError>(())
//! ```
//!
//! The text is that of cwnd's command line; `cwnd algorithms` and [`cwnd_cc::all`] list the algorithms. [`Controllers`] takes an algorithm
//! of your own, and settings. What the adapters report to an algorithm is described in [`cwnd_cc::transport`].
//!
//! With the feature `net`, [`host`] runs both implementations in simulated time, together with TCP flows, with these adapters.
#![forbid(unsafe_code)]

#[cfg(any(feature = "noq", feature = "quinn"))]
mod controller;
mod controllers;
#[cfg(feature = "net")]
pub mod host;
#[cfg(feature = "noq")]
pub mod noq;
#[cfg(feature = "quinn")]
pub mod quinn;

pub use controllers::{AlgorithmError, Controllers, Settings};
