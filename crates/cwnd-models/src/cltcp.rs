//! CLTCP: the gamma correction of the congestion level, the equilibrium of N, and the throughput.
//!
//! X. Jiang, G. Jin, "CLTCP: An Adaptive TCP Congestion Control Algorithm Based on Congestion Level", IEEE
//! Communications Letters 19(8), 2015, section III.
//!
//! ```text
//! N = N + 1 - alpha^d N, at rest N = alpha^-d                                             (equation 5)
//! T_reno  = 1/RTT sqrt(3/(2 PLR))                                                         (equation 6)
//! T_cltcp = N/RTT sqrt(3/(2 PLR)) = 1/(alpha^d RTT) sqrt(3/(2 PLR))                  (equations 7, 8)
//! ```
//!
//! Interpretations:
//! - The values of d in figure 1 are not in the public text, but that d = 1 is the dotted line in the middle.
//! - Equation 8 is infinite at alpha = 0: N then grows by one a round trip for ever, as equation 5 says.
//! - Equation 7 follows from equation 4 but for the mean: for N packets a round trip and a decrease to 1 - b, with
//!   b = 2/(3N + 1), the rate of regular losses is sqrt(N (2 - b)/(2 b PLR))/RTT = sqrt(3 N^2/(2 PLR))/RTT. It is exact
//!   for losses at regular distances, and the authors' choice of b is what makes it so. Losses at random distances give
//!   more, as the window then differs from loss to loss; see [`random_loss_throughput`].

use super::{Line, Model, Panel, Quantity, ratios, steps};

/// The paper's d.
pub const D: f64 = 0.5;

/// Returns alpha^d, from 0 to 1; `alpha` is from 0 to 1, `d` positive.
pub fn level(alpha: f64, d: f64) -> f64 {
    libm::pow(alpha, d)
}

/// Returns N after one update (equation 5).
pub fn next_n(n: f64, alpha: f64, d: f64) -> f64 {
    n + 1.0 - level(alpha, d) * n
}

/// Returns the equilibrium of N: alpha^-d, at least 1; infinite at alpha = 0.
pub fn resting_n(alpha: f64, d: f64) -> f64 {
    1.0 / level(alpha, d)
}

/// Returns the throughput of N Reno flows, packets per second (equation 7): `rtt` in s, `loss` the packet loss ratio, above 0.
pub fn throughput(n: f64, rtt: f64, loss: f64) -> f64 {
    n / rtt * libm::sqrt(3.0 / (2.0 * loss))
}

/// Returns the fraction of the window that N flows lose at a loss (equation 4): a half at N = 1.
pub fn decrease(n: f64) -> f64 {
    2.0 / (3.0 * n + 1.0)
}

/// Returns the rate, packets per second, if every packet is lost independently with probability `loss`, as in a simulator.
///
/// Equation 7 lets losses come at regular distances. With random ones W^2 rises by 2N a packet and falls to f = (1 - b)^2
/// of itself at a loss, so that what a packet meets is W^2 = 2N/PLR times the sum of f^i x_i, where the x_i are
/// independent and exponential with mean 1. A packet takes RTT/W, so the rate is 1/(RTT mean(1/W)). For Reno this is
/// 1.31/(RTT sqrt(PLR)) (T. J. Ott, J. H. B. Kemperman, M. Mathis, 1996) instead of 1.22. Every loss counts here; a real
/// sender answers those of one round trip once, and so gets more where windows hold several.
pub fn random_loss_throughput(n: f64, rtt: f64, loss: f64) -> f64 {
    let kept = 1.0 - decrease(n);
    libm::sqrt(2.0 * n / loss) / (rtt * inverse_root_mean(kept * kept))
}

/// The mean of S^(-1/2) for S = sum of f^i x_i: S^(-1/2) is the integral of exp(-s S)/sqrt(pi s) over positive s, and the
/// mean of exp(-s S) is the product of 1/(1 + s f^i).
fn inverse_root_mean(f: f64) -> f64 {
    let product = |s: f64| {
        let (mut value, mut term) = (1.0, s);
        while term > 1e-17 {
            value /= 1.0 + term;
            term *= f;
        }
        value
    };
    // With s = e^u the integrand is smooth and falls off on both sides: the trapezoidal rule is as good as exact.
    let step = 0.05;
    let at = |i: i32| libm::exp(step * f64::from(i));
    let sum: f64 = (-1_600..=1_600).map(at).map(|s| libm::sqrt(s) * product(s)).sum();
    sum * step / libm::sqrt(core::f64::consts::PI)
}

/// Figure 1: the gamma correction.
pub const FIGURE_1: Model = Model {
    name: "cltcp-figure-1",
    title: "alpha^d for several d",
    source: "CLTCP, figure 1",
    reading: "The algorithm has d = 0.5. The other values of the printed figure are not in its text.",
    x: Quantity::linear("congestion level alpha", "").within(0.0, 1.0),
    panels: figure_1,
};

fn figure_1() -> Vec<Panel> {
    let line = |d: &f64| {
        // Equal steps in the root, because small d rise steeply from 0.
        let points = steps(0.0, 1.0, 300).map(|u| u * u * u).map(|alpha| (alpha, level(alpha, *d)));
        Line::curve(format!("d = {d}"), points.collect())
    };
    let lines = [0.25, D, 1.0, 2.0, 4.0].iter().map(line).collect();
    vec![Panel { title: "", y: Quantity::linear("alpha^d", "").within(0.0, 1.0), lines }]
}

/// The throughput model of section III.
pub const THROUGHPUT: Model = Model {
    name: "cltcp-throughput",
    title: "Throughput model of CLTCP against the congestion level",
    source: "CLTCP, equations 5 to 8",
    reading: "N at rest, and the throughput of one flow with packets of 1,000 bytes at an RTT of 80 ms and d = 0.5, where nothing \
              else limits it. At alpha = 1 CLTCP is Reno.",
    x: Quantity::log("congestion level alpha", "").within(1e-3, 1.0),
    panels: throughput_figure,
};

fn throughput_figure() -> Vec<Panel> {
    let n = ratios(1e-3, 1.0, 100).map(|alpha| (alpha, resting_n(alpha, D))).collect();
    let line = |loss: &f64| {
        let rate = |alpha: f64| throughput(resting_n(alpha, D), 0.08, *loss) * 8_000.0 / 1e6;
        let points = ratios(1e-3, 1.0, 100).map(|alpha| (alpha, rate(alpha))).collect();
        Line::curve(format!("{} % lost", 100.0 * loss), points)
    };
    vec![
        Panel {
            title: "",
            y: Quantity::log("N at rest", "flows").within(1.0, 100.0),
            lines: vec![Line::curve("any loss", n)],
        },
        Panel {
            title: "",
            y: Quantity::log("throughput", "Mbit/s"),
            lines: [1e-4, 1e-3, 0.01, 0.05].iter().map(line).collect(),
        },
    ]
}

#[cfg(test)]
mod tests;
