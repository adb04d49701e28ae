//! Which algorithm the connections of a QUIC implementation get, and with which settings.

use cwnd_cc::{
    Arithmetic, CongestionControl, FlowHints, IllegalValue, Nanos, ParameterError, WindowConfig, transport,
};
use cwnd_scenario::notation::NotationError;
use cwnd_scenario::{AlgorithmSpec, nearest};
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::AtomicU64;
#[cfg(any(feature = "noq", feature = "quinn"))]
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Gives each connection, and each of its paths, an algorithm. It is the `ControllerFactory` of noq (feature `noq`) and of quinn
/// (feature `quinn`); `cwnd-quic-s2n` builds on it.
#[derive(Clone)]
pub struct Controllers {
    build: Arc<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>,
    settings: Settings,
    /// Where all connections count their congestion episodes.
    episodes: Option<Arc<AtomicU64>>,
    /// Where the first value is noted that no window may have.
    illegal_value: Option<Arc<OnceLock<(Nanos, IllegalValue)>>>,
}

/// The settings of [`Controllers`].
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Initial window, datagrams (RFC 9002 section 7.2: ten).
    pub initial_window: f64,
    /// Largest window, datagrams.
    pub largest_window: f64,
    /// How the window grows. The default is that of today's Linux, whole datagrams, as in most runs of the simulator.
    pub arithmetic: Arithmetic,
    /// The seed of the algorithm's own random choices; by default each connection has another.
    pub seed: Option<u64>,
    /// Properties of the transfer. A deadline counts from `origin`, with s2n-quic from the connection's first packet.
    pub hints: FlowHints,
    /// noq and quinn only: the zero of the algorithm's clock; by default the beginning of each connection.
    pub origin: Option<Instant>,
    /// quinn only: whether the window is lowered to shape the flow to the algorithm's pacing rate, which quinn ignores
    /// ([`quinn`](crate::quinn)).
    pub shape_by_window: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            initial_window: 10.0,
            largest_window: f64::INFINITY,
            arithmetic: Arithmetic::Linux,
            seed: None,
            hints: FlowHints::default(),
            origin: None,
            shape_by_window: true,
        }
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

impl Controllers {
    /// Returns controllers with a registered algorithm: `NAME` or `NAME:PARAMETER=VALUE,…`, as on cwnd's command line.
    ///
    /// # Errors
    /// There is no such algorithm, or it refuses its parameters.
    pub fn named(text: &str) -> Result<Controllers, AlgorithmError> {
        let spec: AlgorithmSpec = text.parse().map_err(AlgorithmError::Notation)?;
        let Some(info) = cwnd_cc::find(&spec.name) else { return Err(AlgorithmError::Unknown(spec.name)) };
        let build = move || {
            let parameters = spec.all_parameters().map(|(name, text)| (name.as_str(), text.as_str()));
            info.build_from_text(parameters)
        };
        build().map_err(AlgorithmError::Parameter)?;
        Ok(Controllers::new(move || build().expect("the parameters were accepted before")))
    }

    /// Returns controllers with an algorithm of your own. `build` is called for each path of each connection.
    pub fn new(build: impl Fn() -> Box<dyn CongestionControl> + Send + Sync + 'static) -> Controllers {
        Controllers {
            build: Arc::new(build),
            settings: Settings::default(),
            episodes: None,
            illegal_value: None,
        }
    }

    /// Sets the settings.
    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Controllers {
        Controllers { settings, ..self }
    }

    /// Sets a counter to which connections add their congestion episodes: losses, marks and persistent congestion that the algorithm is
    /// told to answer. noq and quinn only.
    #[must_use]
    pub fn counting_episodes(self, counter: Arc<AtomicU64>) -> Controllers {
        Controllers { episodes: Some(counter), ..self }
    }

    /// Sets where the first value is noted that an algorithm sets and that no [window](cwnd_cc::Window) may have, such as a `cwnd` of
    /// NaN, and when on the clock of [`Settings::origin`]. The connection continues, but its windows say nothing about the algorithm.
    /// noq and quinn only.
    #[must_use]
    pub fn noting_illegal_values(self, first: Arc<OnceLock<(Nanos, IllegalValue)>>) -> Controllers {
        Controllers { illegal_value: Some(first), ..self }
    }

    /// Notes a value that no window may have, if it is the first.
    #[cfg(any(feature = "noq", feature = "quinn"))]
    pub(crate) fn note_illegal_value(&self, found: (Nanos, IllegalValue)) {
        if let Some(first) = &self.illegal_value {
            first.get_or_init(|| found);
        }
    }

    /// Adds to the counter of congestion episodes, if there is one.
    #[cfg(any(feature = "noq", feature = "quinn"))]
    pub(crate) fn add_episodes(&self, episodes: u64) {
        if let Some(counter) = &self.episodes {
            counter.fetch_add(episodes, Ordering::Relaxed);
        }
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the algorithm of a path.
    pub fn algorithm(&self) -> Box<dyn CongestionControl> {
        (self.build)()
    }

    /// Returns the settings of the adapter of a path that takes datagrams of `datagram` bytes.
    pub fn adapter_settings(&self, datagram: u16) -> transport::Settings {
        let Settings { initial_window, largest_window, arithmetic, seed, hints, .. } = self.settings;
        let window = WindowConfig {
            initial_cwnd: initial_window,
            clamp: largest_window,
            mss: u32::from(datagram),
            arithmetic,
            ..WindowConfig::default()
        };
        let seed = seed.unwrap_or_else(|| RandomState::new().build_hasher().finish());
        transport::Settings { window, seed, hints, ..transport::Settings::default() }
    }
}

impl fmt::Debug for Controllers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controllers").field("settings", &self.settings).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_checked_at_once() {
        let message = |text: &str| Controllers::named(text).unwrap_err().to_string();
        assert_eq!(
            message("cubic:beta=2"),
            "parameter `beta` cannot be `2`: it takes a number from 0.1 to 0.95"
        );
        assert!(
            message("cubik")
                .starts_with("no algorithm is called `cubik`; did you mean `cubic`? There are newreno, ")
        );
        assert_eq!(message("cubic:"), "column 7: a parameter is written `name=value`, after the colon");
        assert!(Controllers::named("BBRv3").is_ok() && Controllers::named("elastic:beta=0.7").is_ok());
    }
}
