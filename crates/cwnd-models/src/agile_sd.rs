//! Agile-SD: the agility factor over an epoch, and the length of the epoch.
//!
//! M. A. Alrshah, M. Othman, B. Ali, Z. M. Hanapi, "Agile-SD: A Linux-based TCP congestion control algorithm for
//! supporting high-speed and short-distance networks", JNCA 55, 2015, section 3.
//!
//! ```text
//! lambda = max(lambda_max gap_current/gap_total, lambda_min)                               (equation 1)
//! gap_total = max(cwnd_loss - cwnd_degraded, 1), gap_current = max(cwnd_loss - cwnd, 1)   (equations 2, 3)
//! alpha  = lambda/cwnd, added for each ACK                                                (equations 4, 5)
//! epoch  = sum of RTT/lambda_i over the cycles                                            (equation 6)
//! ```
//!
//! The window grows by lambda a round trip. In real numbers, with G = cwnd_loss - cwnd_degraded and lambda_min = 1, the
//! gap closes exponentially until it is G/lambda_max, which takes G ln(lambda_max)/lambda_max round trips, and the
//! rest, G/lambda_max packets, at one a round trip: together G (1 + ln lambda_max)/lambda_max, 70 % of NewReno's G
//! at lambda_max = 3.
//!
//! Contradictions in the paper:
//! - *The example* (section 3.3: windows from 9 to 12, lambda_max = 4, RTT 20 ms) lets lambda be 4, 3, 2, 1. Equation 1
//!   gives 4, 8/3, 4/3 and 4/3 at 9, 10, 11 and 12 packets, because gap_total is 3: 42.5 ms instead of 41.66. With
//!   gap_current at 0 where the window is back at the loss (what the authors' module has) the last is 1, and the sum
//!   47.5 ms. The example counts four cycles for three packets, for itself and for the standard TCP's 80 ms; to *reach*
//!   12 takes three: 27.5 ms by equation 1 against 60.
//! - *Equation 3* keeps gap_current at 1 or more, so that lambda never falls under lambda_max/gap_total. Where gap_total
//!   is smaller than lambda_max, lambda stays over 1 at the loss's window. The figures are drawn for windows where this
//!   does not show; [`lambda`] follows the equations as printed.
//! - *lambda_max = 1* is said to be exactly NewReno. It is from cwnd_degraded up; under it (after a timeout) equation 1
//!   gives more than lambda_max.

use super::{Line, Model, Panel, Path, Quantity, steps};

/// beta2 of the paper: the fraction kept at a loss in congestion avoidance.
pub const BETA: f64 = 0.95;
/// lambda_max of the paper.
pub const LAMBDA_MAX: f64 = 3.0;

/// A window between two losses: `degraded` after one, `loss` at the next; packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// cwnd_loss.
    pub loss: f64,
    /// cwnd_degraded, at most cwnd_loss.
    pub degraded: f64,
    /// lambda_max, at least 1; with 1 the growth is NewReno's.
    pub lambda_max: f64,
}

/// Returns the agility factor as printed (equations 1 to 3), packets per round trip.
pub fn lambda(epoch: &Epoch, window: f64) -> f64 {
    let total = (epoch.loss - epoch.degraded).max(1.0);
    let current = (epoch.loss - window).max(1.0);
    (epoch.lambda_max * current / total).max(1.0)
}

/// Returns equation 6: the sum of RTT/lambda over the cycles, in the unit of `rtt`.
pub fn epoch_time(rtt: f64, lambdas: &[f64]) -> f64 {
    lambdas.iter().map(|lambda| rtt / lambda).sum()
}

impl Epoch {
    fn gap(&self) -> f64 {
        self.loss - self.degraded
    }

    /// Returns the gap at which lambda reaches 1.
    fn last(&self) -> f64 {
        self.gap() / self.lambda_max
    }

    /// Returns the time of that, round trips.
    fn turn(&self) -> f64 {
        self.last() * libm::log(self.lambda_max)
    }

    /// Returns the time between two losses in real numbers, round trips.
    pub fn round_trips(&self) -> f64 {
        self.turn() + self.last()
    }

    /// Returns the window a number of round trips after the loss, in real numbers; from the end of the epoch on cwnd_loss.
    pub fn window(&self, round_trips: f64) -> f64 {
        let gap = if round_trips < self.turn() {
            self.gap() * libm::exp(-round_trips / self.last())
        } else {
            (self.last() - (round_trips - self.turn())).max(0.0)
        };
        self.loss - gap
    }
}

/// From the answer to one loss to the answer to the next on a path whose pipe is full even after a loss, s: the epoch with
/// round trips of W/rate, a packet past the brim, and two round trips at a full buffer to notice the loss and to mend it.
pub fn cycle(path: &Path, lambda_max: f64) -> f64 {
    let top = path.window_max();
    let epoch = Epoch { loss: top, degraded: BETA * top, lambda_max };
    let (gap, last) = (epoch.gap(), epoch.last());
    // The integrals of (top - g)/lambda(g) over the gap g, down to where lambda is 1 and from there.
    let fast = last * (top * libm::log(lambda_max) - (gap - last));
    let slow = last * (top - 0.5 * last);
    (fast + slow) / path.packet_rate() + 3.0 * path.rtt_max()
}

/// Equation 6 on a path whose pipe is full even after a loss, s: a cycle a packet, from the window after a loss to the one at
/// the loss, with the round trip W/rate and the agility factor that each window has.
pub fn cycles(path: &Path, lambda_max: f64) -> f64 {
    let loss = path.window_max();
    let epoch = Epoch { loss, degraded: BETA * loss, lambda_max };
    let windows = (0..=epoch.gap() as u32).map(|packets| epoch.degraded + f64::from(packets));
    windows.map(|window| epoch_time(window / path.packet_rate(), &[lambda(&epoch, window)])).sum()
}

/// An epoch on the paper's path: 1 Gbit/s and 12 ms, a maximum window of 1,500 packets.
fn papers(lambda_max: f64) -> Epoch {
    Epoch { loss: 1_500.0, degraded: BETA * 1_500.0, lambda_max }
}

const LAMBDA_MAXIMA: [f64; 4] = [1.0, 2.0, LAMBDA_MAX, 4.0];

fn label(lambda_max: f64) -> std::string::String {
    match lambda_max {
        1.0 => "standard TCP (lambda_max = 1)".into(),
        lambda_max => format!("Agile-SD, lambda_max = {lambda_max}"),
    }
}

/// Figure 4: the window over an epoch.
pub const FIGURE_4: Model = Model {
    name: "agile-sd-figure-4",
    title: "Window over an epoch, Agile-SD and the standard TCP",
    source: "Agile-SD, figure 4",
    reading: "From a loss at 1,500 packets, of which 95 % are kept (beta2), back to 1,500. The standard TCP starts from the \
              same window here, so that only the growth differs; it would really halve, and take 750 round trips.",
    x: Quantity::linear("time since the loss", "RTTs").from(0.0),
    panels: figure_4,
};

fn figure_4() -> Vec<Panel> {
    let line = |lambda_max: &f64| {
        let epoch = papers(*lambda_max);
        let points = steps(0.0, epoch.round_trips(), 200).map(|t| (t, epoch.window(t))).collect();
        Line::curve(label(*lambda_max), points)
    };
    let mut lines: Vec<Line> = LAMBDA_MAXIMA.iter().map(line).collect();
    let end = papers(1.0).round_trips();
    let level = |label: &str, w: f64| Line::guide(label, vec![(0.0, w), (end, w)]);
    lines.push(level("cwnd at the loss", 1_500.0));
    lines.push(level("cwnd after it", BETA * 1_500.0));
    vec![Panel { title: "", y: Quantity::linear("cwnd", "packets").within(1_420.0, 1_505.0), lines }]
}

/// Figure 5: the agility factor over epochs.
pub const FIGURE_5: Model = Model {
    name: "agile-sd-figure-5",
    title: "The agility factor lambda over two epochs",
    source: "Agile-SD, figure 5",
    reading: "It starts at lambda_max after a loss and comes down to lambda_min = 1, until the next loss puts it back. Losses at \
              1,500 packets, 95 % kept.",
    x: Quantity::linear("time since the first loss", "RTTs").from(0.0),
    panels: figure_5,
};

fn figure_5() -> Vec<Panel> {
    let line = |lambda_max: &f64| {
        let epoch = papers(*lambda_max);
        let length = epoch.round_trips();
        let at = |t: f64| lambda(&epoch, epoch.window(t));
        let one = |start: f64| steps(0.0, length, 200).map(move |t| (start + t, at(t)));
        Line::curve(label(*lambda_max), one(0.0).chain(one(length)).collect())
    };
    let lines = LAMBDA_MAXIMA.iter().map(line).collect();
    vec![Panel { title: "", y: Quantity::linear("lambda", "packets an RTT").within(0.0, 4.5), lines }]
}

/// Figure 6: alpha and lambda against the utilisation.
pub const FIGURE_6: Model = Model {
    name: "agile-sd-figure-6",
    title: "lambda and alpha against the utilisation",
    source: "Agile-SD, figure 6, equations 4 and 5",
    reading: "The window as a share of the window at the loss, 1,500 packets, of which 95 % were kept. alpha = lambda / cwnd is \
              what an ACK adds, from lambda_max / cwnd down to 1 / cwnd.",
    x: Quantity::linear("cwnd / cwnd at the loss", "%").within(95.0, 100.0),
    panels: figure_6,
};

fn figure_6() -> Vec<Panel> {
    let over = |value: &dyn Fn(f64, f64) -> f64| -> Vec<Line> {
        let line = |lambda_max: &f64| {
            let epoch = papers(*lambda_max);
            let point = |w: f64| (100.0 * w / epoch.loss, value(lambda(&epoch, w), w));
            Line::curve(label(*lambda_max), steps(epoch.degraded, epoch.loss, 200).map(point).collect())
        };
        LAMBDA_MAXIMA.iter().map(line).collect()
    };
    vec![
        Panel {
            title: "",
            y: Quantity::linear("lambda", "packets an RTT").within(0.0, 4.5),
            lines: over(&|l, _| l),
        },
        Panel {
            title: "",
            y: Quantity::linear("alpha", "1/1,000 packet an ACK").from(0.0),
            lines: over(&|l, w| 1e3 * l / w),
        },
    ]
}

#[cfg(test)]
mod tests;
