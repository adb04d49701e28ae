//! What an environment is.

use crate::{Action, ActionSpace, Feature, FirstRate, GymError, Interval, PathRanges, Reward, Source};
use cwnd_scenario::{AlgorithmSpec, Time};
use serde::{Deserialize, Serialize};

/// Everything that decides what an environment does, except the seed. [`EnvConfig::aurora`] and [`EnvConfig::orca`] are presets.
///
/// Its form in JSON has the fields' names in kebab case; a field that is left out has the value of [`EnvConfig::aurora`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct EnvConfig {
    /// Where an episode's path comes from.
    pub source: Source,
    /// How the flow that learns sends.
    pub transport: Transport,
    /// Flows of registered algorithms that share the route of the flow that learns, from the start.
    pub competitors: Vec<AlgorithmSpec>,
    /// How long a step is.
    pub interval: IntervalLength,
    /// How long the flow sends at its first rate, or with its initial window, before the first observation: in base round-trip
    /// times. PCC-RL runs twice 1.5.
    pub warm_up_rtts: f64,
    /// The first rate, for [`Action::Rate`]. The limits of the action apply to it only once an action was taken, as in PCC-RL.
    pub first_rate: FirstRate,
    /// What an action means.
    pub action: Action,
    /// What an observation has of each interval.
    pub features: Vec<Feature>,
    /// How many intervals an observation has; PCC-RL has 10.
    pub history: usize,
    /// The reward.
    pub reward: Reward,
    /// After how many steps an episode is truncated; PCC-RL has 400. An episode of a scenario also ends with the scenario's
    /// duration.
    pub max_steps: u32,
}

/// How the flow that learns sends its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// TCP, as in every other run of the simulator: lost segments are retransmitted. Any scenario, and competitors.
    Tcp,
    /// Datagrams: nothing is retransmitted, each packet is acknowledged by itself, and a loss is known when the packet's ACK
    /// would have come. That is the transport of PCC-RL's simulator. Links are those of the simulator, and so are the times of
    /// all packets. One flow with [`Action::Rate`] over one drop-tail link of constant rate in each direction; more than ten
    /// times as fast.
    #[default]
    Datagram,
}

/// How long a step is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum IntervalLength {
    /// Multiples of the mean round-trip time of the latest interval that had a sample; before the first sample, of the base
    /// round-trip time. PCC-RL has 0.5, and 1.5 at first.
    MeanRtts {
        /// The multiple.
        times: f64,
        /// The multiple of the base round-trip time, before the first sample.
        first: f64,
    },
    /// Multiples of the flow's smoothed round-trip time; before the first sample, of the base round-trip time.
    SmoothedRtts {
        /// The multiple.
        times: f64,
    },
    /// A constant time.
    Fixed {
        /// The time.
        time: Time,
    },
}

impl Default for EnvConfig {
    fn default() -> EnvConfig {
        EnvConfig::aurora()
    }
}

impl EnvConfig {
    /// Returns the environment in which Aurora was trained: the ranges, actions, observations and rewards of PCC-RL's
    /// `network_sim.py` and `sender_obs.py` (github.com/PCCproject/PCC-RL).
    pub fn aurora() -> EnvConfig {
        EnvConfig {
            source: Source::Paths(PathRanges::aurora()),
            transport: Transport::Datagram,
            competitors: Vec::new(),
            interval: IntervalLength::MeanRtts { times: 0.5, first: 1.5 },
            warm_up_rtts: 3.0,
            first_rate: FirstRate::OfBottleneck(0.3, 1.5),
            action: Action::aurora(),
            features: Feature::AURORA.to_vec(),
            history: 10,
            reward: Reward::Aurora,
            max_steps: 400,
        }
    }

    /// Returns an environment after Orca (github.com/Soheil-ab/Orca): its actions over CUBIC, its features and reward
    /// (`envwrapper.py`), and steps of 20 ms (`report_period` of `orca-server-mahimahi.cc`). The ranges of the paths are this
    /// project's: see [`PathRanges::orca`].
    pub fn orca() -> EnvConfig {
        EnvConfig {
            source: Source::Paths(PathRanges::orca()),
            transport: Transport::Tcp,
            interval: IntervalLength::Fixed { time: Time::from_millis(20) },
            warm_up_rtts: 2.0,
            action: Action::orca(),
            features: Feature::ORCA.to_vec(),
            reward: Reward::Orca,
            ..EnvConfig::aurora()
        }
    }

    /// Reads a configuration from JSON.
    ///
    /// # Errors
    /// The text is no JSON, or a field is unknown or has a value of another type. [`crate::Env::new`] checks the values.
    pub fn from_json(text: &str) -> Result<EnvConfig, GymError> {
        serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            // Callers have fields, not lines.
            let message = message.rsplit_once(" at line ").map_or(&*message, |(what, _)| what);
            GymError::config("configuration", message)
        })
    }

    /// Returns the configuration as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Returns the number of values of an observation.
    pub fn observation_length(&self) -> usize {
        self.history * self.features.len()
    }

    /// Returns the least and the greatest value of each number of an observation.
    pub fn observation_bounds(&self) -> (Vec<f32>, Vec<f32>) {
        let bounds = self.features.iter().map(|feature| feature.bounds());
        std::iter::repeat_n(bounds, self.history).flatten().unzip()
    }

    /// Returns the space of an action.
    pub fn action_space(&self) -> ActionSpace {
        self.action.space()
    }

    /// Returns whether a feature needs the regression line of the round-trip times.
    pub(crate) fn needs_slope(&self) -> bool {
        self.features.contains(&Feature::LatencyGradient)
    }

    /// Checks all values that do not depend on a scenario.
    ///
    /// # Errors
    /// A value is out of its range; the message says what would be valid.
    pub fn check(&self) -> Result<(), GymError> {
        let rtts = 1e-3..=1e3;
        let is_length = match self.interval {
            IntervalLength::MeanRtts { times, first } => rtts.contains(&times) && rtts.contains(&first),
            IntervalLength::SmoothedRtts { times } => rtts.contains(&times),
            IntervalLength::Fixed { time } => (1_000..=3_600_000_000_000).contains(&time.0),
        };
        if !is_length {
            let message = "a step is 0.001 to 1,000 round-trip times, or 1 us to 1 h";
            return Err(GymError::config("interval", message));
        }
        if !(0.0..=1000.0).contains(&self.warm_up_rtts) {
            let message = format!("is {}; it must be 0 to 1,000", self.warm_up_rtts);
            return Err(GymError::config("warm-up-rtts", message));
        }
        let is_rate = match self.first_rate {
            FirstRate::OfBottleneck(low, high) => low > 0.0 && low <= high && high <= 1000.0,
            FirstRate::Packets(pps) => pps > 0.0 && pps <= 1e12,
        };
        if !is_rate {
            let message = "must be more than 0: two multiples of the bottleneck's rate, the lower one first, or packets a \
                           second";
            return Err(GymError::config("first-rate", message));
        }
        self.action.check()?;
        if self.features.is_empty() {
            return Err(GymError::config("features", "there are none; an observation needs at least 1"));
        }
        if !(1..=1000).contains(&self.history) {
            return Err(GymError::config("history", format!("is {}; it must be 1 to 1,000", self.history)));
        }
        if let Reward::Power { delay_weight } = self.reward
            && !(0.0..=1000.0).contains(&delay_weight)
        {
            let message = format!("is {delay_weight}; it must be 0 to 1,000");
            return Err(GymError::config("reward.power.delay-weight", message));
        }
        if self.max_steps == 0 {
            return Err(GymError::config("max-steps", "is 0; an episode has at least 1"));
        }
        self.source.check()
    }
}

impl IntervalLength {
    /// Returns the length of the interval after `last`, ns, where the latest mean round-trip time is `mean_rtt_s` (zero before
    /// the first sample).
    pub(crate) fn after(&self, last: &Interval, mean_rtt_s: f64, base_rtt_s: f64) -> u64 {
        let of = |times: f64, rtt_s: f64, first: f64| {
            let seconds = if rtt_s > 0.0 { times * rtt_s } else { first * base_rtt_s };
            ((seconds * 1e9) as u64).max(SHORTEST_NS)
        };
        match *self {
            IntervalLength::MeanRtts { times, first } => of(times, mean_rtt_s, first),
            IntervalLength::SmoothedRtts { times } => of(times, last.srtt_s, times),
            IntervalLength::Fixed { time } => time.0,
        }
    }
}

/// The shortest interval, ns.
const SHORTEST_NS: u64 = 1_000;
