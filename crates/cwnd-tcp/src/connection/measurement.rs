//! Measurements of a sender: the congestion window over time, and round-trip times.

use crate::fault::{self, Fault};
use crate::rtt::RttEstimator;
use cwnd_cc::{Ack, Nanos};

/// The integral of the congestion window over time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowIntegral {
    /// Segments x ns.
    total: f64,
    /// The time up to which `total` counts. The window has not changed since.
    until: u64,
}

impl WindowIntegral {
    pub fn start(&mut self, now: u64) {
        self.until = now;
    }

    /// Adds the time up to `now`, during which the window was `cwnd`.
    #[inline(always)]
    pub fn add(&mut self, now: u64, cwnd: f64) {
        // Times fit a signed number, which converts to floating point in one instruction.
        self.total += cwnd * (now - self.until) as i64 as f64;
        self.until = now;
    }

    /// Returns the integral up to `now`, where the window is `cwnd` since the last change.
    pub fn at(&self, now: u64, cwnd: f64) -> f64 {
        self.total + cwnd * (now - self.until) as f64
    }
}

/// Round-trip times: the estimator, and how many samples there were.
#[derive(Clone, Debug)]
pub(crate) struct RoundTripTimes {
    pub estimator: RttEstimator,
    /// ACKs that gave no sample. (Every ACK on a fast path gives one.)
    acks_without_sample: u64,
    /// Samples from the handshake.
    handshake_samples: u64,
    /// The latest sample, ns, unless the ACK told to the algorithm last holds it.
    latest: u64,
}

impl RoundTripTimes {
    pub fn new(estimator: RttEstimator) -> RoundTripTimes {
        RoundTripTimes { estimator, acks_without_sample: 0, handshake_samples: 0, latest: 0 }
    }

    /// Takes the sample of the handshake.
    pub fn on_handshake(&mut self, rtt: u64) {
        self.estimator.backoff = 0;
        self.estimator.sample(rtt);
        self.handshake_samples += 1;
    }

    /// Records the sample of an ACK. A sample ends the backoff of the retransmission timer (RFC 6298 section 5).
    #[inline]
    pub fn on_sample(&mut self, rtt: u64) {
        if !fault::is(Fault::SampleKeepsBackoff) {
            self.estimator.backoff = 0;
        }
        self.latest = rtt;
    }

    /// Records an ACK that gives no sample. `told` is what the algorithm was told last.
    #[inline]
    pub fn on_ack_without_sample(&mut self, told: &Ack) {
        self.acks_without_sample += 1;
        self.latest = told.rtt.map_or(self.latest, |latest| latest.0);
    }

    /// Records an ACK that gives neither a sample nor an event for the algorithm.
    pub fn on_ignored_ack(&mut self) {
        self.acks_without_sample += 1;
    }

    /// Returns the latest sample. `told` is what the algorithm was told last.
    pub fn latest(&self, told: &Ack) -> Nanos {
        told.rtt.unwrap_or(Nanos(self.latest))
    }

    /// Returns how many samples `acks` ACKs gave.
    pub fn samples(&self, acks: u64) -> u64 {
        acks - self.acks_without_sample + self.handshake_samples
    }
}
