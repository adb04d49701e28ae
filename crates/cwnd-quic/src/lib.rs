//! The QUIC implementations noq and quinn with cwnd's congestion control, and as flows of the simulator.
//!
//! With the feature `net`, [`host`] runs both implementations in simulated time beside TCP flows.
#![forbid(unsafe_code)]

#[cfg(feature = "net")]
pub mod host;
