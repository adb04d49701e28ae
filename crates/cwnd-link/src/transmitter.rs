//! When packets leave a transmitter.

use crate::SerialTime;
use cwnd_scenario::{Rate, Schedule};

/// A transmitter: packets leave it one after the other, each when its last bit has been sent.
#[derive(Clone, Debug)]
pub struct Transmitter {
    serial: SerialTime,
}

impl Transmitter {
    /// An idle transmitter. The scenario's time zero is `origin` on the clock of all that follows.
    pub fn new(rate: Rate, schedule: Option<&Schedule>, origin: u64) -> Transmitter {
        let _ = (schedule, origin);
        Transmitter { serial: SerialTime::new(rate) }
    }

    /// When a packet of so many wire bytes leaves that begins at `now`, which is never earlier than the last answer;
    /// `u64::MAX` if never. `waited`: it waited behind another one, until that had left just now.
    #[inline]
    pub fn finish(&mut self, now: u64, bytes: u32, waited: bool) -> u64 {
        let _ = waited;
        now + self.serial.of(bytes)
    }

    /// The least time that a packet of so many bytes ever takes.
    pub fn least_time(&self, bytes: u32) -> u64 {
        self.serial.of(bytes)
    }

    /// The rate changes at `now`, before all else that happens then. The packet in transmission, if there is one, would
    /// have left at `leaves`; answers when it leaves now.
    pub fn set_rate(&mut self, now: u64, rate: Rate, leaves: Option<u64>) -> Option<u64> {
        let old = std::mem::replace(&mut self.serial, SerialTime::new(rate));
        leaves.map(|leaves| now + self.serial.convert(leaves - now, old))
    }
}
