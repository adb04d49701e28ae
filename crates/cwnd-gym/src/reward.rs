//! Rewards of an interval.

use crate::Interval;
use crate::features::{Extremes, ORCA_DELAY_MARGIN, delay_metric};
use serde::{Deserialize, Serialize};

/// The reward of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Reward {
    /// `0.001 (10 throughput - 1000 latency - 2000 loss)`, with throughput in packets a second ([`Interval::received_pps`]), latency
    /// as the mean round-trip time in seconds (zero without samples), and loss as [`Interval::loss_ratio`]. Aurora (Jay and
    /// others, ICML 2019); the coefficients are those of PCC-RL's `network_sim.py` ("Very high thpt" and
    /// `REWARD_SCALE`).
    Aurora,
    /// `(throughput - 5 loss) / highest throughput x delay metric`, with packets delivered and lost a second, and the highest
    /// throughput of the episode so far; zero before the first packet. Orca (Abbasloo and others, SIGCOMM 2020),
    /// as `envwrapper.py` has it, with its margin of 1.25 times the smallest round-trip time.
    Orca,
    /// `ln(throughput / rate) - delay_weight x ln(RTT / base RTT)`, with the bottleneck's rate and the path's base round-trip time.
    /// The objective of Remy (Winstein and Balakrishnan, SIGCOMM 2013), in units of the path; `delay_weight` is its
    /// delta. Throughput counts as at least 0.1 % of the rate, and the round-trip time is the smoothed one if the interval has
    /// no sample.
    Power {
        /// Delta, the weight of delay; 1 maximises the logarithm of throughput by delay.
        delay_weight: f64,
    },
}

/// What a reward knows of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathFacts {
    /// The bottleneck's rate, bit/s; zero if it is unlimited.
    pub rate_bps: f64,
    /// Propagation delays there and back, seconds.
    pub base_rtt_s: f64,
}

impl Reward {
    pub(crate) fn of(&self, interval: &Interval, extremes: &Extremes, path: &PathFacts) -> f64 {
        match self {
            Reward::Aurora => {
                let throughput = interval.received_pps();
                0.001 * (10.0 * throughput - 1000.0 * interval.rtt_mean_s - 2000.0 * interval.loss_ratio())
            }
            Reward::Orca => {
                if extremes.highest_pps <= 0.0 {
                    return 0.0;
                }
                let useful = interval.throughput_pps() - 5.0 * interval.loss_pps();
                useful / extremes.highest_pps * delay_metric(interval, ORCA_DELAY_MARGIN)
            }
            Reward::Power { delay_weight } => {
                let share = (interval.throughput_bps() / path.rate_bps).max(0.001);
                let rtt = if interval.rtt_samples > 0 { interval.rtt_mean_s } else { interval.srtt_s };
                let delay = if rtt > 0.0 && path.base_rtt_s > 0.0 { rtt / path.base_rtt_s } else { 1.0 };
                libm::log(share) - delay_weight * libm::log(delay)
            }
        }
    }

    /// Returns whether it is defined only where the bottleneck has a rate.
    pub(crate) fn needs_rate(&self) -> bool {
        matches!(self, Reward::Power { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let interval = Interval {
            duration_s: 0.5,
            packet_bytes: 1500,
            sent: 130,
            acked: 101,
            lost: 25,
            rtt_samples: 101,
            rtt_mean_s: 0.2,
            srtt_s: 0.25,
            min_rtt_s: 0.1,
            ..Interval::default()
        };
        let extremes = Extremes { least_mean_rtt_s: 0.2, highest_pps: 404.0 };
        let path = PathFacts { rate_bps: 4_848_000.0, base_rtt_s: 0.1 };
        let near = |reward: Reward, expected: f64| {
            let found = reward.of(&interval, &extremes, &path);
            assert!((found - expected).abs() < 1e-12, "{reward:?}: {found}");
        };
        // 10 x 200 - 1000 x 0.2 - 2000 x 25 / 126 = 1403.17.
        near(Reward::Aurora, 0.001 * (2000.0 - 200.0 - 2000.0 * 25.0 / 126.0));
        // 202 - 5 x 50 = -48 of 404; 0.125 / 0.25.
        near(Reward::Orca, -48.0 / 404.0 * 0.5);
        // Half the rate, twice the delay: ln(1/2) - ln(2).
        near(Reward::Power { delay_weight: 1.0 }, -2.0 * std::f64::consts::LN_2);
    }

    #[test]
    fn its_names_in_json_have_hyphens() {
        let power = Reward::Power { delay_weight: 2.0 };
        let text = r#"{"power":{"delay-weight":2.0}}"#;
        assert_eq!(serde_json::to_string(&power).unwrap(), text);
        assert_eq!(serde_json::from_str::<Reward>(text).unwrap(), power);
    }

    #[test]
    fn without_packets_every_reward_is_finite() {
        for reward in [Reward::Aurora, Reward::Orca, Reward::Power { delay_weight: 1.0 }] {
            let empty = Interval { duration_s: 1.0, packet_bytes: 1500, ..Interval::default() };
            let path = PathFacts { rate_bps: 1e6, base_rtt_s: 0.1 };
            assert!(reward.of(&empty, &Extremes::default(), &path).is_finite());
        }
    }
}
