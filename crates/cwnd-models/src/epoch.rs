//! Time between two losses of a flow that is alone on its path.
//!
//! An epoch goes from the window that a loss leaves, beta Wmax, to Wmax = BDP + buffer, where the buffer overflows. With
//! a growth of g(W) packets a round trip
//!
//! ```text
//! dW/dt = g(W)/RTT(W),   RTT(W) = max(RTTbase, W/rate)
//! T     = integral of RTT(W)/g(W) dW from beta Wmax to Wmax
//! ```
//!
//! NewReno has g = 1, Elastic-TCP g = sqrt(RTTmax/RTT W), Compound TCP alpha W^k while the queue is short. CUBIC goes by
//! the clock. The Elastic-TCP paper's own equations 3 to 6 are on a page that is lost from its public text; this follows
//! from its algorithm 1.
//!
//! A real sender's epoch is longer by what [`Growth::cycle`] adds: the window must pass Wmax by a whole packet before one is
//! dropped, the loss is noticed a round trip after that, and recovery takes another, both with a full buffer.

use super::Path;
use cwnd_cc::parts::highspeed_response::LOW_WINDOW;

/// A variant whose epochs are modelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// One packet a round trip, half of the window kept.
    NewReno,
    /// Elastic-TCP; the paper gives no `beta`, the fraction kept.
    Elastic {
        /// Fraction of the window kept at a loss, 0 to 1.
        beta: f64,
    },
    /// CUBIC with C in packets/s^3.
    Cubic {
        /// The cubic's scale, packets/s^3.
        c: f64,
        /// Fraction of the window kept at a loss, 0 to 1.
        beta: f64,
    },
    /// Compound TCP of the 2006 paper: alpha = 1/8, beta = 1/2, k = 3/4, a queue of gamma = 30 packets.
    Compound,
}

/// CUBIC as of 2008, which the papers simulated.
pub const CUBIC_2008: Growth = Growth::Cubic { c: 0.4, beta: 0.8 };

const ALPHA: f64 = 0.125;
const K: f64 = 0.75;
const GAMMA: f64 = 30.0;

impl Growth {
    /// The fraction of the window kept at a loss.
    pub fn beta(&self) -> f64 {
        match *self {
            Growth::NewReno | Growth::Compound => 0.5,
            Growth::Elastic { beta } | Growth::Cubic { beta, .. } => beta,
        }
    }

    /// Returns the length of an epoch, s.
    pub fn epoch(&self, path: &Path) -> f64 {
        let top = path.window_max();
        let start = self.beta() * top;
        match *self {
            Growth::NewReno | Growth::Elastic { .. } => self.climb(path, start, top),
            Growth::Cubic { c, beta } => cubic_k(c, beta, top).min(friendly(beta, path, top)),
            Growth::Compound => {
                let stay = Stay::new(path);
                self.climb(path, start, stay.window) + stay.time + stay.then(path, top)
            }
        }
    }

    /// From the answer to one loss to the answer to the next, s: the epoch, the time to pass Wmax by one packet, and two
    /// round trips at a full buffer, in which the loss is noticed and mended.
    ///
    /// What remains to a simulation: the window at the loss is that of a round trip after the overflow, so that an epoch
    /// begins a little over beta Wmax. Growth of many packets a round trip comes in bursts, which a buffer of few packets
    /// drops before the pipe is full; see the study `elastic/models`.
    pub fn cycle(&self, path: &Path) -> f64 {
        let (top, rtt) = (path.window_max(), path.rtt_max());
        let passing = match *self {
            Growth::NewReno => rtt,
            Growth::Elastic { .. } => rtt / libm::sqrt(top),
            // The cubic is flat at Wmax: it is a packet over it cbrt(1/C) later. Reno's line is straight.
            Growth::Cubic { c, beta } if cubic_k(c, beta, top) < friendly(beta, path, top) => {
                libm::cbrt(1.0 / c)
            }
            Growth::Cubic { beta, .. } => rtt / friendly_slope(beta),
            Growth::Compound if Stay::new(path).window < top => rtt,
            Growth::Compound => rtt / (ALPHA * libm::pow(top, K)).max(1.0),
        };
        self.epoch(path) + passing + 2.0 * rtt
    }

    /// The window over one epoch: time in s and packets, from the loss on.
    pub fn windows(&self, path: &Path, points: usize) -> Vec<(f64, f64)> {
        let top = path.window_max();
        let start = self.beta() * top;
        match *self {
            Growth::NewReno | Growth::Elastic { .. } => {
                super::steps(start, top, points).map(|w| (self.climb(path, start, w), w)).collect()
            }
            Growth::Cubic { c, beta } => {
                let (k, slope) = (cubic_k(c, beta, top), friendly_slope(beta) / path.rtt);
                let window = |t: f64| {
                    let cubic = top - c * (k - t) * (k - t) * (k - t);
                    cubic.max(start + slope * t).min(top)
                };
                super::steps(0.0, self.epoch(path), points).map(|t| (t, window(t))).collect()
            }
            Growth::Compound => {
                let stay = Stay::new(path);
                let to = stay.window;
                let first = super::steps(start, to, points).map(|w| (self.climb(path, start, w), w));
                let passed = self.climb(path, start, to) + stay.time;
                let then = super::steps(to, top, points).map(|w| (passed + stay.then(path, w), w));
                let mut all: Vec<(f64, f64)> = first.chain(then).collect();
                all.dedup();
                all
            }
        }
    }

    /// Returns the time from one window to another, s, for growth that depends on the window.
    fn climb(&self, path: &Path, from: f64, to: f64) -> f64 {
        let full = path.bdp();
        // The pipe is not full, then it is.
        let (low, high) = ((from, to.min(full)), (from.max(full), to));
        let mut time = 0.0;
        if low.1 > low.0 {
            time += path.rtt * self.round_trips(path, low.0, low.1);
        }
        if high.1 > high.0 {
            time += self.full_pipe(path, high.0, high.1) / path.packet_rate();
        }
        time
    }

    /// Returns the integral of 1/g over windows that do not fill the pipe.
    fn round_trips(&self, path: &Path, from: f64, to: f64) -> f64 {
        match *self {
            Growth::Elastic { .. } => {
                // g = sqrt(rho W) with rho = RTTmax/RTTbase
                let rho = path.rtt_max() / path.rtt;
                2.0 * (libm::sqrt(to) - libm::sqrt(from)) / libm::sqrt(rho)
            }
            Growth::Compound => {
                let (low, high) = (to.min(LOW_WINDOW).max(from), from.max(LOW_WINDOW).min(to));
                let fast = |w: f64| libm::pow(w, 1.0 - K) / (ALPHA * (1.0 - K));
                (low - from) + if to > high { fast(to) - fast(high) } else { 0.0 }
            }
            _ => to - from,
        }
    }

    /// Returns the integral of W/g over windows that fill the pipe.
    fn full_pipe(&self, path: &Path, from: f64, to: f64) -> f64 {
        match *self {
            // g = sqrt(RTTmax/RTT W) = sqrt(Wmax), since RTT is W/rate
            Growth::Elastic { .. } => (to * to - from * from) / (2.0 * libm::sqrt(path.window_max())),
            Growth::Compound if from >= LOW_WINDOW => {
                let fast = |w: f64| libm::pow(w, 2.0 - K) / (ALPHA * (2.0 - K));
                fast(to) - fast(from)
            }
            _ => (to * to - from * from) / 2.0,
        }
    }
}

/// K = cbrt((1 - beta) Wmax/C): when the cubic is back at Wmax, s.
pub fn cubic_k(c: f64, beta: f64, window_max: f64) -> f64 {
    libm::cbrt((1.0 - beta) * window_max / c)
}

/// 3 (1 - beta)/(1 + beta) packets a round trip: what CUBIC's "TCP-friendly" line rises by.
fn friendly_slope(beta: f64) -> f64 {
    3.0 * (1.0 - beta) / (1.0 + beta)
}

/// When that line is at Wmax, s, with the base round trip: a window that follows it has hardly any queue before the end.
fn friendly(beta: f64, path: &Path, window_max: f64) -> f64 {
    (1.0 - beta) * window_max / friendly_slope(beta) * path.rtt
}

/// Returns the value of Compound's total window while the loss window replaces the delay window, and the duration.
///
/// From gamma packets of queue on the delay window gives way as fast as the loss window grows. A loss in the steady
/// state meets no delay window, so that the loss window begins at Wmax/2 and gains one packet every round trip of the
/// epoch. The true delay window swings around this mean.
struct Stay {
    window: f64,
    time: f64,
}

impl Stay {
    fn new(path: &Path) -> Stay {
        let top = path.window_max();
        let start = Growth::Compound.beta() * top;
        let window = (path.bdp() + GAMMA).min(top).max(start);
        if window >= top {
            return Stay { window, time: 0.0 };
        }
        // One packet a round trip of the fast climb.
        let passed = Growth::Compound.climb(path, start, window);
        let rounds = passed / path.rtt;
        Stay { window, time: (window - start - rounds).max(0.0) * path.rtt_at(window) }
    }

    /// Returns the time of Reno's growth from there, s.
    fn then(&self, path: &Path, to: f64) -> f64 {
        Growth::NewReno.climb(path, self.window.min(to), to)
    }
}

#[cfg(test)]
mod tests;
