//! cwnd's congestion control algorithms for the QUIC implementation [s2n-quic](https://docs.rs/s2n-quic).
//!
//! [`endpoint`] returns what `with_congestion_controller` of s2n-quic's builders takes:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = s2n_quic::Server::builder().with_congestion_controller(cwnd_quic_s2n::endpoint("bbr3")?)?;
//! # let _ = server;
//! # Ok(())
//! # }
//! ```
//!
//! The text is that of cwnd's command line, `NAME` or `NAME:PARAMETER=VALUE,…`; [`cwnd_cc::all`] lists the algorithms. [`Endpoint`] takes an
//! algorithm of your own, and settings. What the adapter reports to an algorithm is described in [`cwnd_cc::transport`].
//!
//! # What differs from noq and quinn
//!
//! - s2n-quic leaves pacing to the congestion control. The controllers pace at the algorithm's rate. Without one they pace at 1.25 windows per
//!   smoothed round-trip time, or 2 in slow start. A burst has 10 datagrams, or what the rate sends in 1 ms.
//! - s2n-quic reports ECN-CE marks with their number, and each lost packet. It does not report spurious losses.
//! - One datagram may leave at the beginning of a recovery period while the window is full (RFC 9002 section 7.3.2).
//! - s2n-quic's interface for congestion control is unstable: a minor version can change it. This crate is for s2n-quic 1.91.

mod controller;
mod pacer;

pub use controller::Controller;

pub use cwnd_quic::{AlgorithmError, Settings};

use cwnd_cc::CongestionControl;
use cwnd_quic::Controllers;
use s2n_quic::provider::congestion_controller as s2n;

/// Returns an endpoint whose connections use a registered algorithm: `NAME` or `NAME:PARAMETER=VALUE,…`.
///
/// # Errors
/// There is no such algorithm, or it refuses its parameters.
pub fn endpoint(algorithm: &str) -> Result<Endpoint, AlgorithmError> {
    Endpoint::named(algorithm)
}

/// Gives each path of each connection a controller. It is the provider of congestion control for clients and servers.
#[derive(Clone, Debug)]
pub struct Endpoint(Controllers);

impl Endpoint {
    /// Returns an endpoint with a registered algorithm, as [`endpoint`] does.
    ///
    /// # Errors
    /// There is no such algorithm, or it refuses its parameters.
    pub fn named(text: &str) -> Result<Endpoint, AlgorithmError> {
        Controllers::named(text).map(Endpoint)
    }

    /// Returns an endpoint with an algorithm of your own. `build` is called for each path of each connection.
    pub fn new(build: impl Fn() -> Box<dyn CongestionControl> + Send + Sync + 'static) -> Endpoint {
        Endpoint(Controllers::new(build))
    }

    /// Sets the settings.
    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Endpoint {
        Endpoint(self.0.with_settings(settings))
    }

    /// Returns a controller for a path that takes datagrams of `datagram` bytes.
    fn controller(&self, datagram: u16) -> Controller {
        Controller::new(self.clone(), self.0.algorithm(), datagram, &self.0.adapter_settings(datagram))
    }
}

impl s2n::Endpoint for Endpoint {
    type CongestionController = Controller;

    fn new_congestion_controller(&mut self, path_info: s2n::PathInfo<'_>) -> Controller {
        self.controller(path_info.max_datagram_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use s2n::CongestionController;

    #[test]
    fn every_algorithm_has_a_controller() {
        for info in cwnd_cc::all() {
            let controller = endpoint(info.name).unwrap().controller(1_200);
            // Hybla begins with less.
            assert!((2_400..=12_000).contains(&controller.congestion_window()), "{}", info.name);
            assert!(!controller.is_congestion_limited());
        }
    }
}
