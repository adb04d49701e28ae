//! Everything that a QUIC endpoint draws, seeded from the scenario.

use cwnd_link::{Purpose, Stream};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

/// The instant of the simulation's clock at zero. It lies a day ahead, so that implementations can subtract from an instant.
static ZERO: LazyLock<Instant> = LazyLock::new(|| Instant::now() + Duration::from_secs(86_400));

/// Returns the instant of a time on the simulation's clock, ns.
pub fn instant(ns: u64) -> Instant {
    *ZERO + Duration::from_nanos(ns)
}

/// Returns the time of an instant on the simulation's clock, ns. An instant before zero is zero.
pub fn nanoseconds(instant: Instant) -> u64 {
    instant.saturating_duration_since(*ZERO).as_nanos().try_into().unwrap_or(u64::MAX)
}

/// Bytes from a random stream.
pub struct Bytes(Mutex<Stream>);

impl Bytes {
    /// Returns the stream of one end of a flow.
    pub fn new(seed: u64, channel: u32) -> Bytes {
        // Indices of TCP flows' algorithms are small numbers; these lie beyond them.
        Bytes(Mutex::new(Stream::new(seed, Purpose::Algorithm, (1 << 40) + u64::from(channel))))
    }

    /// Returns the next bytes.
    pub fn next<const N: usize>(&self) -> [u8; N] {
        let mut stream = self.0.lock().expect("no holder of the lock panics");
        let mut bytes = [0; N];
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&stream.next_u64().to_le_bytes()[..part.len()]);
        }
        bytes
    }
}
