//! Queue disciplines.

use crate::Time;
use serde::{Deserialize, Serialize};

/// What a queue does beyond dropping what does not fit. Thresholds in packets count what waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discipline {
    /// Nothing: first in, first out, and drop what does not fit; mark over [`QueueSpec::ecn_threshold`](crate::QueueSpec).
    #[default]
    DropTail,
    /// Random early detection.
    Red(Red),
    /// Controlled delay.
    #[serde(rename = "codel")]
    CoDel(CoDel),
    /// A queue for each flow, each with CoDel.
    #[serde(rename = "fq-codel")]
    FqCoDel(FqCoDel),
    /// Proportional integral controller, enhanced.
    Pie(Pie),
    /// Two coupled queues, for L4S and classic traffic.
    #[serde(rename = "dualpi2")]
    DualPi2(DualPi2),
}

impl Discipline {
    /// Whether it may mark packets.
    pub fn marks(&self) -> bool {
        match self {
            Discipline::DropTail => false,
            Discipline::Red(Red { ecn, .. })
            | Discipline::CoDel(CoDel { ecn, .. })
            | Discipline::FqCoDel(FqCoDel { codel: CoDel { ecn, .. }, .. })
            | Discipline::Pie(Pie { ecn, .. }) => *ecn,
            Discipline::DualPi2(_) => true,
        }
    }
}

/// Random early detection (S. Floyd and V. Jacobson, IEEE/ACM ToN 1(4), 1993), with the `gentle` variant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Red {
    /// The average queue at which it begins, packets; 5.
    pub min: f64,
    /// The average queue at which the probability is `p_max`, packets; 15.
    pub max: f64,
    /// The probability there; 0.1.
    pub p_max: f64,
    /// Weight of a new length in the average; 0.002. With 1 the length itself counts.
    pub weight: f64,
    /// From `max` to twice `max` the probability rises to 1 instead of jumping there; on.
    pub gentle: bool,
    /// Mark packets that can be marked instead of dropping them, up to where the probability is 1; off.
    pub ecn: bool,
}

impl Default for Red {
    fn default() -> Red {
        Red { min: 5.0, max: 15.0, p_max: 0.1, weight: 0.002, gentle: true, ecn: false }
    }
}

/// Controlled delay (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CoDel {
    /// The standing delay that is acceptable; 5 ms.
    pub target: Time,
    /// How long it may be exceeded before the first drop: a worst-case round trip; 100 ms.
    pub interval: Time,
    /// Mark packets that can be marked instead of dropping them; off.
    pub ecn: bool,
}

impl Default for CoDel {
    fn default() -> CoDel {
        CoDel { target: Time::from_millis(5), interval: Time::from_millis(100), ecn: false }
    }
}

/// Flow queues with CoDel (RFC 8290).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FqCoDel {
    /// Number of queues into which flows are hashed; 1024.
    pub queues: u32,
    /// Bytes that a queue may send in a round; 1514.
    pub quantum: u32,
    /// CoDel's parameters for each of them; `ecn` is on, as in Linux.
    pub codel: CoDel,
}

impl Default for FqCoDel {
    fn default() -> FqCoDel {
        FqCoDel { queues: 1024, quantum: 1514, codel: CoDel { ecn: true, ..CoDel::default() } }
    }
}

/// Proportional integral controller, enhanced (RFC 8033).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Pie {
    /// The delay that it steers to; 15 ms.
    pub target: Time,
    /// How often the probability is computed again; 15 ms.
    pub update: Time,
    /// Weight of the difference to the target, 1/s; 0.125.
    pub alpha: f64,
    /// Weight of the trend, 1/s; 1.25.
    pub beta: f64,
    /// How long a burst passes freely; 150 ms.
    pub max_burst: Time,
    /// Mark packets that can be marked instead of dropping them, while the probability is under `ecn_most`; off.
    pub ecn: bool,
    /// See `ecn`; 0.1.
    #[serde(rename = "max-mark-probability")]
    pub ecn_most: f64,
}

impl Default for Pie {
    fn default() -> Pie {
        Pie {
            target: Time::from_millis(15),
            update: Time::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Time::from_millis(150),
            ecn: false,
            ecn_most: 0.1,
        }
    }
}

/// Dual queue coupled AQM with PI2 (RFC 9332, appendix A). Packets that are ECT(1) or CE go into the L queue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DualPi2 {
    /// The classic queue's target delay; 15 ms.
    pub target: Time,
    /// How often the base probability is computed again; 16 ms.
    pub update: Time,
    /// Integral gain, 1/s; 0.16.
    pub alpha: f64,
    /// Proportional gain, 1/s; 3.2.
    pub beta: f64,
    /// The coupling factor; 2.
    pub coupling: f64,
    /// Delay in the L queue over which its packets are marked; 1 ms.
    pub step: Time,
    /// The classic queue's greatest probability of marking; beyond it both queues drop; 0.25.
    #[serde(rename = "classic-max-probability")]
    pub classic_most: f64,
    /// The classic queue's share of the link while both have packets; 0.1.
    pub classic_share: f64,
}

impl Default for DualPi2 {
    fn default() -> DualPi2 {
        DualPi2 {
            target: Time::from_millis(15),
            update: Time::from_millis(16),
            alpha: 0.16,
            beta: 3.2,
            coupling: 2.0,
            step: Time::from_millis(1),
            classic_most: 0.25,
            classic_share: 0.1,
        }
    }
}
