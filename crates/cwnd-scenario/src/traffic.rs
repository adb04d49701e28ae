//! When applications give their flows data to send.

mod distribution;
mod notation;
mod sizes;
mod workload;

pub use distribution::Quantity;
pub use sizes::{FlowSizes, SizeTable, SizeTableError};

use crate::{Rate, Time};
use serde::{Deserialize, Serialize};

/// When a flow's application has data to send. [`FlowSpec::bytes`](crate::FlowSpec::bytes) ends any of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Traffic {
    /// Always.
    #[default]
    Bulk,
    /// By turns: as much as the network takes while it is on, nothing new while it is off. It begins on.
    OnOff {
        /// How long it is on.
        on: Distribution<Time>,
        /// How long it is off.
        off: Distribution<Time>,
    },
    /// At this rate of payload, a packet at a time, as a live stream: what the network does not take is kept, and sent as soon
    /// as it does. The first packet is there at the start, and packet n (from 0) n packets' payload / rate later.
    Live(Rate),
    /// Frames of a media encoder that follows the congestion control: each frame has the size that the algorithm's rate gives
    /// (`on_frame` of `cwnd-cc`), in whole packets and at least one. A frame is a message. If a frame that is not sent yet has waited for
    /// the deadline, the sender discards all of which nothing is sent. The receiver acknowledges each packet at once.
    Media {
        /// The encoder's greatest rate of payload.
        rate: Rate,
        /// Time from frame to frame.
        interval: Time,
        /// A frame that is not acknowledged after this time is late.
        deadline: Time,
    },
    /// Bursts at a constant rate, whatever the network says: the flow has no congestion control and repairs no losses, as an
    /// attacker's UDP source (A. Kuzmanovic and E. Knightly, Low-Rate TCP-Targeted Denial of Service Attacks, SIGCOMM 2003). It
    /// begins with a burst. The algorithm of the flow has no part in it.
    Pulses {
        /// Payload sent during a burst.
        rate: Rate,
        /// How long a burst is.
        on: Time,
        /// From the end of a burst to the beginning of the next.
        off: Time,
    },
    /// Message after message on one connection: the next is there a while after all of the one before it is
    /// acknowledged. Requests travel outside of the simulated network; a message is a response.
    Responses {
        /// Bytes of a message, rounded up to whole packets.
        size: Distribution<u64>,
        /// How long the application thinks after a message.
        think: Distribution<Time>,
    },
}

/// A distribution of times (in nanoseconds) or sizes (in bytes). Draws are rounded to whole units; sizes are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution<T> {
    /// Always the same.
    Constant(T),
    /// Exponential with this mean.
    Exponential(T),
    /// Uniform between two values.
    Uniform(T, T),
    /// Pareto with this mean and shape (over 1): heavy-tailed; cut off at a thousand times the mean (so that the mean of what
    /// is drawn is a little less, which [`Distribution::mean`] knows).
    Pareto(T, f64),
    /// Lognormal with this mean and the standard deviation of the logarithm.
    Lognormal(T, f64),
    /// A measured one.
    Measured(Workload),
}

/// Flow sizes that were measured, as cumulative distributions that papers tabulate or plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// A cluster that answers web searches (Alizadeh et al., DCTCP, SIGCOMM 2010).
    WebSearch,
    /// A cluster for data mining (Greenberg et al., VL2, SIGCOMM 2009).
    DataMining,
}
