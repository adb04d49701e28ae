//! Invs: the growth function, and the convergence of two flows.
//!
//! Z. Wang, X. Zeng, M. Xu, X. Liu, L. Chen, "Invs: A New Congestion Control Algorithm for Heterogeneous Networks", 2016,
//! sections 2.1, 2.2 and 3.2.1. W is the window, Wsp the saturation point, in packets.
//!
//! ```text
//! W += (Wsp - W)/(k Wsp)          W < Wsp     for each ACK                                (equation 1)
//! W += (W - Wsp)/(k W)            W > Wsp
//! W += 1/W                        W = Wsp
//! k  = max(c log2(RTTref/RTTmin) log2(BDPref/BDPest), 1)                                  (equation 2)
//! loss: W = beta W; Wsp = W (1 + beta)/2 if W < Wsp, else W                         (equations 4 and 5)
//! ```
//!
//! A round trip has W ACKs. In real numbers the window is then logistic below Wsp, W = Wsp/(1 + (Wsp/W0 - 1) e^(-n/k))
//! after n round trips, and runs away exponentially above it, W = Wsp + (W0 - Wsp) e^(n/k).
//!
//! Contradictions in the paper:
//! - *Equality* is never met by real numbers: the window would stall before Wsp. Within a packet of Wsp it grows by one
//!   a round trip, as in the algorithm.
//! - *Equations 7 to 9*, which the paper derives from equation 1, have the gap shrink by beta (k - beta)/k a round trip;
//!   equation 1 says (k - beta)/k at most. The figures follow equation 1, and so does the steady state in [`steady`].
//! - *Section 3.2.1* lets flow 1 (with the larger window) grow to a higher window before point B "so that" flow 2 gains.
//!   It is flow 2 that goes higher: its saturation point is its window at the loss, flow 1's was lowered. The "formula
//!   (6)" that does this is equation 5.

pub mod steady;

use super::{Line, Model, Panel, Quantity, steps};

/// The fraction kept at a loss that is congestion; the paper gives none (see the algorithm's file).
pub const BETA: f64 = 0.8;
/// RTTref, s.
pub const RTT_REF: f64 = 1.0;
/// BDPref, bit.
pub const BDP_REF: f64 = 500e6;

/// The increase factor k (equation 2), at least 1: `rtt` in s, `bdp` in bit, both positive. From a reference on, where a
/// logarithm is not positive, it is 1.
pub fn increase_factor(c: f64, rtt: f64, bdp: f64) -> f64 {
    let (of_rtt, of_bdp) = (libm::log2(RTT_REF / rtt), libm::log2(BDP_REF / bdp));
    if of_rtt <= 0.0 || of_bdp <= 0.0 { 1.0 } else { (c * of_rtt * of_bdp).max(1.0) }
}

/// Returns the growth of the window in a round trip (equation 1 times the window's ACKs), packets.
pub fn growth(window: f64, saturation: f64, k: f64) -> f64 {
    if (window - saturation).abs() < 1.0 {
        1.0
    } else if window < saturation {
        window * (saturation - window) / (k * saturation)
    } else {
        (window - saturation) / k
    }
}

/// Returns the saturation point after a loss at `window` (equation 5).
pub fn saturation_after(window: f64, saturation: f64, beta: f64) -> f64 {
    if window < saturation { 0.5 * (1.0 + beta) * window } else { window }
}

/// The window over round trips after a loss, from `start`, in real numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// The window at the beginning, over 0.
    pub start: f64,
    /// The saturation point, at least two packets over the start.
    pub saturation: f64,
    /// The increase factor.
    pub k: f64,
}

impl Curve {
    /// Returns the time at which the window is within one packet of the saturation point, round trips.
    pub fn arrival(&self) -> f64 {
        let ratio = |w: f64| self.saturation / w - 1.0;
        self.k * libm::log(ratio(self.start) / ratio(self.saturation - 1.0))
    }

    /// Returns the window after a number of round trips: logistic, then one packet per round trip for two packets, then
    /// exponential.
    pub fn window(&self, round_trips: f64) -> f64 {
        let after = round_trips - self.arrival();
        if after < 0.0 {
            self.saturation / (1.0 + (self.saturation / self.start - 1.0) * libm::exp(-round_trips / self.k))
        } else if after < 2.0 {
            self.saturation - 1.0 + after
        } else {
            self.saturation + libm::exp((after - 2.0) / self.k)
        }
    }
}

/// Figure 1: the growth function.
pub const FIGURE_1: Model = Model {
    name: "invs-figure-1",
    title: "Growth of the window around the saturation point",
    source: "Invs, figure 1",
    reading: "After a loss at 1,000 packets, of which beta = 0.8 are kept. k is the increase factor: 18.7 on a path of 100 Mbit/s \
              and 100 ms, 1 at the reference path of 1 Gbit/s and 500 ms. Reno gains one packet a round trip.",
    x: Quantity::linear("round trips since the loss", "").within(0.0, 200.0),
    panels: figure_1,
};

fn figure_1() -> Vec<Panel> {
    let (saturation, top) = (1_000.0, 1_300.0);
    let start = BETA * saturation;
    let line = |k: &f64| {
        let curve = Curve { start, saturation, k: *k };
        let points = steps(0.0, 200.0, 801).map(|n| (n, curve.window(n)));
        Line::curve(format!("Invs, k = {k}"), points.take_while(|(_, w)| *w <= top).collect())
    };
    let mut lines: Vec<Line> = [5.0, 10.0, 18.7].iter().map(line).collect();
    lines.push(Line::curve("Reno's growth", vec![(0.0, start), (200.0, start + 200.0)]));
    lines.push(Line::guide("saturation point", vec![(0.0, saturation), (200.0, saturation)]));
    vec![Panel { title: "", y: Quantity::linear("cwnd", "packets").within(780.0, top), lines }]
}

/// Two flows that share a path and always lose together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Capacity of path and buffer, packets.
    pub room: f64,
    /// The increase factor of both.
    pub k: f64,
    /// The fraction kept at a loss.
    pub beta: f64,
}

impl Pair {
    /// The windows of the two flows after each loss and at the next one, from a loss at `at` on: the first of them is
    /// the loss itself. `saturations` are those before it.
    ///
    /// Grows both windows by [`growth`] per round trip, in steps of a twentieth, until together they fill the capacity.
    pub fn epochs(&self, at: (f64, f64), saturations: (f64, f64), losses: usize) -> Vec<(f64, f64)> {
        let mut windows = [at.0, at.1];
        let mut saturations = [saturations.0, saturations.1];
        let mut corners = vec![at];
        for _ in 0..losses {
            for (window, saturation) in windows.iter_mut().zip(&mut saturations) {
                *saturation = saturation_after(*window, *saturation, self.beta);
                *window *= self.beta;
            }
            corners.push((windows[0], windows[1]));
            while windows[0] + windows[1] < self.room {
                for (window, saturation) in windows.iter_mut().zip(&saturations) {
                    *window += growth(*window, *saturation, self.k) / 20.0;
                }
            }
            corners.push((windows[0], windows[1]));
        }
        corners
    }
}

/// Figure 3: convergence as vectors.
pub const FIGURE_3: Model = Model {
    name: "invs-figure-3",
    title: "Two Invs flows converge to a fair share",
    source: "Invs, figure 3",
    reading: "Flow 1 holds most of a path of 667 packets (100 Mbit/s, 80 ms, 1,500 bytes) and as many of buffer when flow 2's \
              slow start makes it overflow. Both lose at the same moments, keep beta = 0.8 and grow with k = 21.7 until \
              the next loss. Every second epoch leads back to where it began: both flows passed their saturation points, \
              which are put to the windows at the loss.",
    x: Quantity::linear("cwnd of flow 1", "packets").within(0.0, 1_180.0),
    panels: figure_3,
};

fn figure_3() -> Vec<Panel> {
    let room = 2.0 * 2_000.0 / 3.0;
    let k = increase_factor(1.0, 0.08, 8e6);
    let pair = Pair { room, k, beta: BETA };
    // Flow 1 is under its saturation point, flow 2 in slow start has none.
    let at = (0.85 * room, 0.15 * room);
    let corners = pair.epochs(at, (at.0 + 2.0, 0.0), 20);
    let end = 0.88 * room;
    vec![Panel {
        title: "",
        y: Quantity::linear("cwnd of flow 2", "packets").within(0.0, 1_180.0),
        lines: vec![
            Line::trajectory("windows at losses and after them", corners),
            Line::guide("equal shares", vec![(0.0, 0.0), (end, end)]),
            Line::guide("path and buffer full", vec![(room - end, end), (end, room - end)]),
        ],
    }]
}

#[cfg(test)]
mod tests;
