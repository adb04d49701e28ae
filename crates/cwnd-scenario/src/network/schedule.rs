//! Links whose rate and delay vary.

use crate::{Rate, Time};
use std::fmt;
use std::sync::Arc;

/// How a link varies over time, on the scenario's clock.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// Rate and delay at given times; before the first step they are the link's own.
    Steps(Steps),
    /// Packets leave at given times only; the link's rate says nothing but what buffers are reckoned with.
    Trace(DeliveryTrace),
}

/// Rate and delay that change at given times.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    /// In rising order of time.
    pub steps: Vec<Step>,
    /// After this time it all begins again, if ever; later than the last step.
    pub period: Option<Time>,
}

/// From a time on a link has this rate and delay. A new rate applies to the bits that remain of the packet in
/// transmission, a new delay to packets that leave the transmitter from then on; none overtakes those before it unless
/// jitter lets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// When.
    pub at: Time,
    /// The rate; zero is an outage: the transmitter stands still, and packets wait.
    pub rate: Rate,
    /// The propagation delay.
    pub delay: Time,
}

/// Times at which up to 1,500 bytes may leave, as a recorded link had them: a Mahimahi trace (Netravali et al., USENIX ATC
/// 2015). Packets that wait share an opportunity as far as their bytes fit, a packet may need several, and what
/// is left of an opportunity when nothing waits is lost. At its end the trace begins again.
#[derive(Clone, PartialEq)]
pub struct DeliveryTrace {
    /// The file's name, for people.
    pub name: String,
    /// The times in milliseconds, not falling, at least one, the last more than zero: it is the trace's length.
    pub times_ms: Arc<[u32]>,
}

impl DeliveryTrace {
    /// Bytes of an opportunity.
    pub const BYTES: u32 = 1500;

    /// The mean rate.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.times_ms.len() as u64 * u64::from(DeliveryTrace::BYTES) * 8;
        Rate(bits * 1000 / u64::from(self.times_ms.last().copied().unwrap_or(1).max(1)))
    }
}

/// The name, and enough of the content to tell it from another: this text decides what is run again.
impl fmt::Debug for DeliveryTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // FNV-1a, over the bytes of all times.
        let hash = self
            .times_ms
            .iter()
            .flat_map(|time| time.to_le_bytes())
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        write!(f, "DeliveryTrace({} times, {hash:016x})", self.times_ms.len())
    }
}
