//! What a link does to packets beyond queueing, sending, delaying and losing them.

use crate::{Rate, Time};
use serde::{Deserialize, Serialize};

/// What else happens to packets on a link. By default nothing does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Effects {
    /// What comes too fast is dropped before the queue.
    pub policer: Option<Policer>,
    /// ACK thinning: a plain ACK that comes while an older one of its flow waits in the queue has that one dropped, as
    /// long as the ACKs for which one stands are no more than so many. At least 2; in a drop-tail queue alone.
    pub ack_thinning: Option<u32>,
    /// ACK compression, aggregation: what leaves the transmitter is held until the next whole multiple of
    /// this time (of the simulated clock), all at once; as on links that grant the medium in slots.
    pub slot: Option<Time>,
    /// A delay that differs from packet to packet.
    pub jitter: Option<Jitter>,
    /// Each packet that is not lost comes out of the line twice with this probability, the second right after the
    /// first.
    pub duplication: f64,
    /// How the ECN field of packets that arrive is changed, before policer and queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn_remark: Option<EcnRemark>,
}

/// A change of the ECN field that RFC 3168 does not allow on a path, and that some paths make all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnRemark {
    /// Each packet becomes Not-ECT ("bleaching"): queues drop it where they would mark it, and earlier marks are lost.
    Bleach,
    /// CE becomes ECT(0): earlier marks are lost.
    Unmark,
    /// ECT(1) becomes ECT(0): a dual queue takes L4S packets for classic ones.
    Ect1ToEct0,
}

impl EcnRemark {
    /// The words by which settings call them, in the order of the variants.
    pub const WORDS: [&'static str; 3] = ["bleach", "unmark", "ect1-to-ect0"];
    const ALL: [EcnRemark; 3] = [EcnRemark::Bleach, EcnRemark::Unmark, EcnRemark::Ect1ToEct0];

    /// Returns the one of this word.
    pub fn find(word: &str) -> Option<EcnRemark> {
        let place = EcnRemark::WORDS.iter().position(|known| *known == word)?;
        Some(EcnRemark::ALL[place])
    }

    /// Returns its word.
    pub fn word(self) -> &'static str {
        EcnRemark::WORDS[self as usize]
    }
}

/// A token bucket: it fills at a rate up to a burst, and a packet passes that finds as many bytes in it as it has, which it
/// takes; others are dropped. It begins full.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Policer {
    /// Rate at which it fills, counted on wire bytes.
    pub rate: Rate,
    /// Bytes that it holds.
    pub burst: u64,
}

/// A delay that is drawn for each packet, beyond the link's own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Jitter {
    /// How it is distributed.
    pub shape: JitterShape,
    /// Whether packets may overtake each other. If not, one that would waits for the one before it.
    pub reorders: bool,
}

/// How a jitter is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JitterShape {
    /// Uniform from nothing to this.
    Uniform(Time),
    /// Exponential with this mean, cut off at ten times the mean.
    Exponential(Time),
    /// Normal with this mean and standard deviation, cut off at zero and at the mean plus five deviations.
    Normal(Time, Time),
    /// With this probability a packet is late by this time, else by nothing: with reordering, packets behind it
    /// overtake it.
    Sometimes(f64, Time),
}
