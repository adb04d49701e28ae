//! A trained policy as a congestion control: a small network from a JSON file, in any run of the simulator.
//!
//! A study calls it `policy:file=FILE.json`. [`factory`] creates it, and [`identify`] adds the file's content to the identity of a
//! run.
//!
//! The file has the `action`, `features`, `history`, `interval` and `warm-up-rtts` of the [`EnvConfig`] that
//! the policy was trained with, and its `layers`:
//!
//! ```json
//! {
//!   "format": "cwnd-policy-1",
//!   "action": {"rate": {"scale": 0.025, "least-pps": 40, "most-pps": 1000, "limit": 1e12}},
//!   "features": ["sent-latency-inflation", "latency-ratio", "send-ratio"],
//!   "history": 1,
//!   "interval": {"mean-rtts": {"times": 0.5, "first": 1.5}},
//!   "warm-up-rtts": 3,
//!   "activation": "tanh",
//!   "layers": [{"weights": [[-10, -1, -1]], "bias": [2]}]
//! }
//! ```
//!
//! `weights` has a row for each output of the layer. The activation function follows each layer but the last. A policy of
//! [`Action::Discrete`] has an output for each step and takes the greatest; any other has one output, the action.
//!
//! A flow differs from an environment in what it can know. An interval ends with the first ACK at or after its end. Rates count
//! payload bytes, because an algorithm does not know the headers ([`Feature::SendRate`] and [`Feature::ReceiveRate`] only).

mod flow;
mod network;

pub use network::{Activation, Layer};

use crate::{
    Action, ActionSpace, EnvConfig, Feature, GymError, IntervalLength, PathRanges, Source, Transport,
};
use cwnd_cc::{CongestionControl, Observable};
use cwnd_scenario::{AlgorithmSpec, Identity, Scenario};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// The name by which a study calls a policy.
pub const NAME: &str = "policy";

/// The version of how a flow obeys a policy. Runs under another version are not taken for equal.
pub const VERSION: u32 = 1;

/// What a flow with a policy shows of its state.
pub const OBSERVABLES: [Observable; 2] = flow::OBSERVABLES;

/// The value of [`Policy::format`].
pub const FORMAT: &str = "cwnd-policy-1";

/// The largest file, bytes.
const LARGEST_FILE: u64 = 64 << 20;

/// A trained policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Policy {
    /// [`FORMAT`].
    pub format: String,
    /// [`EnvConfig::action`].
    pub action: Action,
    /// [`EnvConfig::features`].
    pub features: Vec<Feature>,
    /// [`EnvConfig::history`].
    pub history: usize,
    /// [`EnvConfig::interval`]. The base round-trip time is the first that the flow measures.
    pub interval: IntervalLength,
    /// [`EnvConfig::warm_up_rtts`].
    pub warm_up_rtts: f64,
    /// The first rate, packets a second, if actions set the rate; without it the initial window in a round-trip time, or 100
    /// where the handshake measures none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_rate_pps: Option<f64>,
    /// The activation function.
    #[serde(default)]
    pub activation: Activation,
    /// The layers, from the observation to the action.
    pub layers: Vec<Layer>,
}

impl Policy {
    /// Creates a policy for an environment.
    ///
    /// # Errors
    /// The layers do not fit each other, the observation or the action.
    pub fn new(config: &EnvConfig, activation: Activation, layers: Vec<Layer>) -> Result<Policy, GymError> {
        let policy = Policy {
            format: FORMAT.to_owned(),
            action: config.action.clone(),
            features: config.features.clone(),
            history: config.history,
            interval: config.interval,
            warm_up_rtts: config.warm_up_rtts,
            first_rate_pps: None,
            activation,
            layers,
        };
        policy.check()?;
        Ok(policy)
    }

    /// Reads a policy from the text of its file.
    ///
    /// # Errors
    /// The text is no JSON, a field is missing, unknown or invalid, or the layers do not fit.
    pub fn from_json(text: &str) -> Result<Policy, GymError> {
        let policy: Policy =
            serde_json::from_str(text).map_err(|error| GymError::Policy(format!("policy: {error}")))?;
        policy.check()?;
        Ok(policy)
    }

    /// Returns the text of its file.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a policy from a file.
    ///
    /// # Errors
    /// The file cannot be read; see also [`Policy::from_json`].
    pub fn read(path: &Path) -> Result<Policy, GymError> {
        Policy::from_json(&read(path)?)
            .map_err(|error| GymError::Policy(format!("{}: {error}", path.display())))
    }

    /// Returns the action for an observation.
    ///
    /// # Panics
    /// If the observation has another length than the features of the history.
    pub fn act(&self, observation: &[f32]) -> f32 {
        assert_eq!(observation.len(), self.history * self.features.len(), "the observation's length");
        let output = network::evaluate(&self.layers, self.activation, observation);
        match self.action.space() {
            ActionSpace::Box { low, high } => (output[0] as f32).clamp(low, high),
            ActionSpace::Discrete(_) => {
                let mut best = 0;
                for (i, value) in output.iter().enumerate() {
                    if *value > output[best] {
                        best = i;
                    }
                }
                best as f32
            }
        }
    }

    fn check(&self) -> Result<(), GymError> {
        let refuse = |message: String| Err(GymError::Policy(message));
        if self.format != FORMAT {
            return refuse(format!("format: is `{}`; this version reads `{FORMAT}`", self.format));
        }
        if let Some(pps) = self.first_rate_pps.filter(|pps| !(*pps > 0.0 && pps.is_finite())) {
            return refuse(format!("first-rate-pps: is {pps}; it must be a positive number"));
        }
        // What it shares with an environment has an environment's rules.
        let config = EnvConfig {
            source: Source::Paths(PathRanges::aurora()),
            transport: Transport::Tcp,
            interval: self.interval,
            warm_up_rtts: self.warm_up_rtts,
            action: self.action.clone(),
            features: self.features.clone(),
            history: self.history,
            ..EnvConfig::aurora()
        };
        config.check()?;
        let outputs = match self.action.space() {
            ActionSpace::Box { .. } => 1,
            ActionSpace::Discrete(count) => count,
        };
        network::check(&self.layers, self.history * self.features.len(), outputs).map_err(GymError::Policy)
    }
}

/// Creates the algorithm of a flow: a policy, or a registered algorithm. It is a [factory](cwnd_sim::Factory).
///
/// # Errors
/// The policy's file cannot be read or is invalid, or there is no such algorithm.
pub fn factory(spec: &AlgorithmSpec) -> Result<Box<dyn CongestionControl>, String> {
    let Some(file) = file_of(spec) else { return cwnd_sim::registered(spec) };
    let policy = Policy::read(Path::new(file?)).map_err(|error| error.to_string())?;
    algorithm(Arc::new(policy))
}

/// Creates the algorithm of a flow that obeys a policy.
///
/// # Errors
/// The algorithm below it ([`Action::WindowOver`]) cannot be created.
pub fn algorithm(policy: Arc<Policy>) -> Result<Box<dyn CongestionControl>, String> {
    Ok(Box::new(flow::PolicyFlow::new(policy)?))
}

/// Returns what identifies a policy in a run's identity: the SHA-256 of its file. None if the algorithm is not a policy.
pub fn version(spec: &AlgorithmSpec) -> Option<Result<String, String>> {
    let text = file_of(spec)?.and_then(|file| read(Path::new(file)).map_err(|error| error.to_string()));
    Some(text.map(|text| {
        Sha256::digest(text.as_bytes()).iter().fold("sha256:".to_owned(), |mut version, byte| {
            let _ = write!(version, "{byte:02x}");
            version
        })
    }))
}

/// Adds to the identity of a scenario's runs what its policies depend on: the content of each file, the version of the algorithm
/// below it ([`Action::WindowOver`]), and [`VERSION`]. A scenario without policies keeps its identity.
pub fn identify(scenario: &Scenario, identity: &mut Identity) {
    for spec in scenario.flows.iter().map(|flow| &flow.algorithm) {
        let Some(version) = version(spec) else { continue };
        identity.versions.insert(NAME.to_owned(), VERSION.to_string());
        // A file that cannot be read is refused before a run.
        identity
            .versions
            .insert(spec.to_string(), version.unwrap_or_else(|error| format!("unknown: {error}")));
        let policy = file_of(spec).and_then(Result::ok).and_then(|file| Policy::read(Path::new(file)).ok());
        if let Some(Action::WindowOver { algorithm, .. }) = policy.map(|policy| policy.action) {
            let version = cwnd_cc::find(&algorithm.name).map_or(0, |info| info.version);
            identity.versions.insert(algorithm.name, version.to_string());
        }
    }
}

/// Returns the file that the parameters of a policy name; none if the algorithm is not a policy.
fn file_of(spec: &AlgorithmSpec) -> Option<Result<&str, String>> {
    if spec.name != NAME {
        return None;
    }
    let file = spec.parameters.get("file").filter(|_| spec.parameters.len() == 1);
    Some(
        file.map(String::as_str).ok_or_else(|| {
            format!("`{spec}`: a policy has one parameter, its file: `{NAME}:file=FILE.json`")
        }),
    )
}

fn read(path: &Path) -> Result<String, GymError> {
    let refuse = |message: String| GymError::Policy(format!("{}: {message}", path.display()));
    let metadata = std::fs::metadata(path).map_err(|error| refuse(error.to_string()))?;
    if !metadata.is_file() || metadata.len() > LARGEST_FILE {
        return Err(refuse("is no regular file of at most 64 MiB".to_owned()));
    }
    std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))
}
