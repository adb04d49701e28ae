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

use cwnd_cc::transport::Settings as AdapterSettings;
use cwnd_cc::{Arithmetic, CongestionControl, FlowHints, ParameterError, WindowConfig};
use cwnd_scenario::notation::NotationError;
use cwnd_scenario::{AlgorithmSpec, nearest};
use s2n_quic::provider::congestion_controller as s2n;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

/// Returns an endpoint whose connections use a registered algorithm: `NAME` or `NAME:PARAMETER=VALUE,…`.
///
/// # Errors
/// There is no such algorithm, or it refuses its parameters.
pub fn endpoint(algorithm: &str) -> Result<Endpoint, AlgorithmError> {
    Endpoint::named(algorithm)
}

/// Gives each path of each connection a controller. It is the provider of congestion control for clients and servers.
#[derive(Clone)]
pub struct Endpoint {
    build: Arc<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>,
    settings: Settings,
}

/// The settings of an [`Endpoint`].
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Initial window, datagrams (RFC 9002 section 7.2: ten).
    pub initial_window: f64,
    /// Largest window, datagrams.
    pub largest_window: f64,
    /// How the window grows. The default is that of today's Linux, whole datagrams.
    pub arithmetic: Arithmetic,
    /// The seed of the algorithm's own random choices; by default each connection has another.
    pub seed: Option<u64>,
    /// Properties of the transfer. A deadline counts from the connection's first packet.
    pub hints: FlowHints,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            initial_window: 10.0,
            largest_window: f64::INFINITY,
            arithmetic: Arithmetic::Linux,
            seed: None,
            hints: FlowHints::default(),
        }
    }
}

impl Endpoint {
    /// Returns an endpoint with a registered algorithm, as [`endpoint`] does.
    ///
    /// # Errors
    /// There is no such algorithm, or it refuses its parameters.
    pub fn named(text: &str) -> Result<Endpoint, AlgorithmError> {
        let spec: AlgorithmSpec = text.parse().map_err(AlgorithmError::Notation)?;
        let Some(info) = cwnd_cc::find(&spec.name) else { return Err(AlgorithmError::Unknown(spec.name)) };
        let build = move || {
            let parameters = spec.all_parameters().map(|(name, text)| (name.as_str(), text.as_str()));
            info.build_from_text(parameters)
        };
        build().map_err(AlgorithmError::Parameter)?;
        Ok(Endpoint::new(move || build().expect("the parameters were accepted before")))
    }

    /// Returns an endpoint with an algorithm of your own. `build` is called for each path of each connection.
    pub fn new(build: impl Fn() -> Box<dyn CongestionControl> + Send + Sync + 'static) -> Endpoint {
        Endpoint { build: Arc::new(build), settings: Settings::default() }
    }

    /// Sets the settings.
    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Endpoint {
        Endpoint { settings, ..self }
    }

    /// Returns a controller for a path that takes datagrams of `datagram` bytes.
    fn controller(&self, datagram: u16) -> Controller {
        let Settings { initial_window, largest_window, arithmetic, seed, hints } = self.settings;
        let window = WindowConfig {
            initial_cwnd: initial_window,
            clamp: largest_window,
            mss: u32::from(datagram),
            arithmetic,
            ..WindowConfig::default()
        };
        let seed = seed.unwrap_or_else(|| RandomState::new().build_hasher().finish());
        let settings = AdapterSettings { window, seed, hints, ..AdapterSettings::default() };
        Controller::new(self.clone(), (self.build)(), datagram, &settings)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl s2n::Endpoint for Endpoint {
    type CongestionController = Controller;

    fn new_congestion_controller(&mut self, path_info: s2n::PathInfo<'_>) -> Controller {
        self.controller(path_info.max_datagram_size)
    }
}

/// Why there is no algorithm for a text.
#[derive(Clone, Debug, PartialEq)]
pub enum AlgorithmError {
    /// The text is not of the form `NAME` or `NAME:PARAMETER=VALUE,…`.
    Notation(NotationError),
    /// No algorithm has this name.
    Unknown(String),
    /// A parameter is unknown or out of its range.
    Parameter(ParameterError),
}

impl fmt::Display for AlgorithmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AlgorithmError::Notation(error) => error.fmt(f),
            AlgorithmError::Unknown(name) => {
                let known: Vec<&str> = cwnd_cc::all().iter().map(|info| info.name).collect();
                write!(f, "no algorithm is called `{name}`")?;
                if let Some(meant) = nearest(name, known.iter().copied()) {
                    write!(f, "; did you mean `{meant}`?")?;
                }
                write!(f, " There are {}", known.join(", "))
            }
            AlgorithmError::Parameter(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AlgorithmError {}

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

    #[test]
    fn a_text_is_checked_at_once() {
        let message = |text: &str| endpoint(text).unwrap_err().to_string();
        assert_eq!(
            message("cubic:beta=2"),
            "parameter `beta` cannot be `2`: it takes a number from 0.1 to 0.95"
        );
        assert!(
            message("cubik")
                .starts_with("no algorithm is called `cubik`; did you mean `cubic`? There are newreno, ")
        );
        assert!(endpoint("BBRv3").is_ok() && endpoint("elastic:beta=0.7").is_ok());
    }
}
