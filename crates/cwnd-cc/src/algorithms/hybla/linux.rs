//! Hybla as in today's Linux: eighths of rho and 128ths of a segment, each rounded down, one ACK at a time.
//!
//! ```text
//! rho8  = max(8 SRTT/RTT0, 8)                 renewed when SRTT finds a new minimum
//! start                  W = rho8/8
//! slow start             128 2^(rho8/8) - 128 for each ACK, up to ssthresh: the whole part of the exponent apart
//! congestion avoidance   2 rho8^2/W           for each ACK;  a segment for W ACKs where that is less than one 128th
//! ```
//!
//! Outside the Open state it is Reno. Rounding matters: from a window of 2 rho8^2 on, growth is one segment per round trip, or
//! half of one with delayed ACKs.

use crate::observable::seconds;
use crate::parts::reno;
use crate::{Ack, Nanos, State, Window};

/// 128ths of a segment.
const PARTS: u64 = 128;

/// The state.
#[derive(Clone, Debug)]
pub struct HyblaLinux {
    /// The least smoothed round-trip time.
    least: Nanos,
    rho8: u64,
    /// 128ths of a segment.
    parts: u64,
    /// ACKs since the last step that each added less than a 128th.
    idle: u64,
}

impl Default for HyblaLinux {
    fn default() -> Self {
        HyblaLinux { least: Nanos::MAX, rho8: 8, parts: 0, idle: 0 }
    }
}

impl HyblaLinux {
    /// Handles a new round-trip time.
    pub fn renew(&mut self, srtt: Nanos, rtt0_ms: f64) {
        if srtt.0 > 0 && srtt < self.least {
            self.least = srtt;
            self.rho8 = (8 * srtt.0 / (rtt0_ms * 1e6) as u64).max(8);
        }
    }

    /// Returns the window at the start.
    pub fn start(&self) -> f64 {
        (self.rho8 / 8) as f64
    }

    /// Returns rho and its round-trip time as [`super::OBSERVABLES`] has them.
    pub fn observe(&self) -> [f64; 2] {
        [self.rho8 as f64 / 8.0, seconds(self.least)]
    }

    /// Handles a reduction of the window.
    pub fn forget(&mut self) {
        self.idle = 0;
    }

    /// Handles an ACK that allows growth.
    pub fn grow(&mut self, window: &mut Window, ack: &Ack, max_exponent: f64) {
        if ack.state != State::Open {
            return reno::increase(window, ack);
        }
        let cwnd = window.cwnd as u64;
        let slow_start = window.in_slow_start();
        let growth = if slow_start {
            let fraction = libm::floor(PARTS as f64 * libm::exp2((self.rho8 % 8) as f64 / 8.0)) as u64;
            (fraction << (self.rho8 / 8).min(max_exponent as u64)) - PARTS
        } else {
            let growth = 2 * self.rho8 * self.rho8 / cwnd.max(1);
            self.idle += u64::from(growth < PARTS);
            growth
        };
        let mut grown = cwnd + growth / PARTS;
        self.parts += growth % PARTS;
        if self.parts >= PARTS {
            grown += self.parts / PARTS;
            self.parts %= PARTS;
            self.idle = 0;
        }
        if growth == 0 && self.idle >= cwnd {
            grown += 1;
            self.idle = 0;
        }
        let grown = grown as f64;
        window.set_cwnd(if slow_start { grown.min(window.ssthresh) } else { grown });
    }
}
