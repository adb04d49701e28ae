//! Elastic-TCP: the utilisation ratio, the worked example and the epochs.
//!
//! M. A. Alrshah, M. A. Al-Maqri, M. Othman, "Elastic-TCP: Flexible Congestion Control Algorithm to Adapt for High-BDP
//! Networks", IEEE Systems Journal 13(2), 2019 (arXiv 1904.13105), sections II and III.
//!
//! ```text
//! BDP = rate RTT / packet size                                                            (equation 1)
//! UR  = RTTcur / RTTmax                                                                   (equation 2)
//! ```
//!
//! Interpretations:
//! - *Figure 2.* The text calls UR the used share of "buffer and BDP". Once the pipe is full this is exact, since RTT =
//!   W/rate there. Before that RTT stays at RTTbase, and UR says RTTbase/RTTmax however little is used: the figure shows
//!   both. UR is said to lie in [0, 1], but is never under RTTbase/RTTmax.
//! - *Figure 5* is without numbers in the public text. It is drawn over the RTT on a path of 1 Gbit/s with packets of
//!   1,000 bytes, as in the worked example: without a buffer, and with the quarter of a BDP that the simulations' 6,400
//!   packets are. A second figure has the windows.
//! - *The order of the variants* depends on the buffer. Without one Compound's model climbs faster than Elastic-TCP's
//!   (Wmax^(3/4)/8 passes sqrt(Wmax) from 4,096 packets on); with one it is held at a queue of 30 packets, and its
//!   epoch is then as long as NewReno's.

use super::epoch::{CUBIC_2008, Growth};
use super::{Line, Model, Panel, Path, Quantity, ratios, steps};

/// The rate of the worked example and of the simulations, bit/s.
pub const RATE_BPS: f64 = 1e9;
/// The packets of both, bytes.
pub const PACKET_BYTES: f64 = 1_000.0;

/// UR = RTTcur/RTTmax, from RTTbase/RTTmax to 1 (equation 2); times in one unit, both positive.
pub fn utilisation_ratio(rtt_current: f64, rtt_max: f64) -> f64 {
    rtt_current / rtt_max
}

/// WWF = sqrt(RTTmax/RTTcur W) = sqrt(W/UR): packets a round trip (algorithm 1, the root of the product).
pub fn weight(ratio: f64, window: f64) -> f64 {
    libm::sqrt(window / ratio)
}

/// The path of the worked example (section II): 1 Gbit/s, packets of 1 KB, no buffer; `rtt` in s.
pub fn example(rtt: f64) -> Path {
    Path { rate_bps: RATE_BPS, rtt, packet_bytes: PACKET_BYTES, buffer: 0.0 }
}

/// Round trips that NewReno takes from half of a window to all of it.
pub fn newreno_round_trips(window: f64) -> f64 {
    window - 0.5 * window
}

/// Figure 2: what the round-trip time says of the utilisation.
pub const FIGURE_2: Model = Model {
    name: "elastic-figure-2",
    title: "The round-trip time and the utilisation ratio of a growing window",
    source: "Elastic-TCP, figure 2",
    reading: "One flow over 1 Gbit/s and a base RTT of 204 ms (a pipe of 25,500 packets of 1,000 bytes), as its window \
              grows. Once the pipe is full, the ratio RTT / RTTmax is the used share of pipe and buffer; before that it \
              stays at RTTbase / RTTmax, however little is used.",
    x: Quantity::linear("used share of BDP and buffer", "%").within(0.0, 100.0),
    panels: figure_2,
};

fn figure_2() -> Vec<Panel> {
    let buffers = [1_600.0, 6_400.0, 12_750.0, 25_500.0];
    let label = |buffer: f64| format!("buffer of {:.2} BDP", buffer / 25_500.0);
    let path = |buffer: f64| Path { buffer, ..example(0.204) };
    let over = |buffer: f64, value: &dyn Fn(&Path, f64) -> f64| {
        let path = path(buffer);
        let top = path.window_max();
        // The corner at a full pipe is a point of its own.
        let windows = [0.0, path.bdp(), top];
        let points = windows.map(|w| (100.0 * w / top, value(&path, w)));
        Line::curve(label(buffer), points.into())
    };
    let rtt = |path: &Path, w: f64| 1e3 * path.rtt_at(w);
    let ratio = |path: &Path, w: f64| 100.0 * utilisation_ratio(path.rtt_at(w), path.rtt_max());
    let mut ratios: Vec<Line> = buffers.iter().map(|b| over(*b, &ratio)).collect();
    ratios.push(Line::guide("the used share itself", vec![(0.0, 0.0), (100.0, 100.0)]));
    vec![
        Panel {
            title: "",
            y: Quantity::linear("RTT", "ms").from(0.0),
            lines: buffers.iter().map(|b| over(*b, &rtt)).collect(),
        },
        Panel { title: "", y: Quantity::linear("RTT / RTTmax", "%").within(0.0, 100.0), lines: ratios },
    ]
}

/// The variants of figure 5. The paper gives Elastic-TCP's beta nowhere: the one that its text supports, and the one
/// that makes epochs as short as its figure 7 has them.
pub const VARIANTS: [(&str, Growth); 5] = [
    ("NewReno", Growth::NewReno),
    ("CUBIC (2008)", CUBIC_2008),
    ("C-TCP (2006)", Growth::Compound),
    ("Elastic-TCP, beta 0.5", Growth::Elastic { beta: 0.5 }),
    ("Elastic-TCP, beta 0.8", Growth::Elastic { beta: 0.8 }),
];

/// Figure 5: how long an epoch is.
pub const FIGURE_5: Model = Model {
    name: "elastic-figure-5",
    title: "Epoch time against round-trip time",
    source: "Elastic-TCP, figure 5 and the example of section II",
    reading: "One flow over 1 Gbit/s with packets of 1,000 bytes, from the window that a loss leaves to the next loss. Without \
              a buffer: the worked example, NewReno's 62 ms at 1 ms and 625 s at 100 ms. With a quarter of the BDP: as \
              the simulations have it at 6,400 packets; C-TCP holds its queue at 30 packets then until its loss window \
              has caught up, so that its epoch is NewReno's. The printed figure's own axes are not in the public text.",
    x: Quantity::log("base RTT", "ms").within(1.0, 400.0),
    panels: figure_5,
};

fn figure_5() -> Vec<Panel> {
    let panel = |title, share: f64| {
        let line = |(label, growth): &(&str, Growth)| {
            let epoch = |ms: f64| {
                let path = example(1e-3 * ms);
                (ms, growth.epoch(&Path { buffer: share * path.bdp(), ..path }))
            };
            Line::curve(*label, ratios(1.0, 400.0, 120).map(epoch).collect())
        };
        let y = Quantity::log("epoch", "s").within(0.001, 20_000.0);
        Panel { title, y, lines: VARIANTS.iter().map(line).collect() }
    };
    vec![panel("No buffer", 0.0), panel("Buffer of a quarter of the BDP", 0.25)]
}

/// Figure 5, read as windows over one epoch.
pub const FIGURE_5_WINDOWS: Model = Model {
    name: "elastic-figure-5-windows",
    title: "Windows over one epoch",
    source: "Elastic-TCP, figure 5, read as windows over time",
    reading: "One flow over 1 Gbit/s, a base RTT of 204 ms (a pipe of 25,500 packets of 1,000 bytes) and 6,400 packets of \
              buffer, from a loss to the next one. The epochs of NewReno and C-TCP go on far to the right, for 57 minutes: C-TCP \
              keeps the pipe just full in that time, NewReno fills it in the last 25.",
    x: Quantity::linear("time since the loss", "s").within(0.0, 60.0),
    panels: figure_5_windows,
};

fn figure_5_windows() -> Vec<Panel> {
    let path = Path { buffer: 6_400.0, ..example(0.204) };
    let end = 60.0;
    let line = |(label, growth): &(&str, Growth)| Line::curve(*label, until(growth.windows(&path, 400), end));
    let mut lines: Vec<Line> = VARIANTS.iter().map(line).collect();
    let level = |label: &str, w: f64| Line::guide(label, steps(0.0, end, 2).map(|t| (t, w)).collect());
    lines.push(level("BDP", path.bdp()));
    lines.push(level("BDP and buffer", path.window_max()));
    vec![Panel { title: "", y: Quantity::linear("cwnd", "packets").within(10_000.0, 35_000.0), lines }]
}

/// The path on which the model is held against runs: 100 Mbit/s, 100 ms, packets of 1,000 bytes with ns-2's 50 of headers.
pub fn held_against(buffer: f64) -> Path {
    Path { rate_bps: 1e8, rtt: 0.1, packet_bytes: 1_050.0, buffer }
}

/// Cycles against the buffer, on the path of the study that runs them.
pub const CYCLES: Model = Model {
    name: "elastic-cycles",
    title: "Epoch time against buffer",
    source: "Elastic-TCP, figure 5, on a path that can be simulated for many epochs",
    reading: "One flow over 100 Mbit/s and 100 ms, a pipe of 1,190 packets: the epoch of the model, a packet more, and two round \
              trips at a full buffer to notice the loss and to mend it. C-TCP's line breaks where the buffer holds more \
              than its 30 packets of queue.",
    x: Quantity::log("buffer", "packets").within(20.0, 1_200.0),
    panels: cycles,
};

fn cycles() -> Vec<Panel> {
    let line = |(label, growth): &(&str, Growth)| {
        let cycle = |buffer: f64| (buffer, growth.cycle(&held_against(buffer)));
        Line::curve(*label, ratios(20.0, 1_200.0, 160).map(cycle).collect())
    };
    vec![Panel {
        title: "",
        y: Quantity::log("epoch", "s").within(0.5, 200.0),
        lines: VARIANTS.iter().map(line).collect(),
    }]
}

/// The points up to a time, with one on the line at that time if it continues.
fn until(points: Vec<(f64, f64)>, end: f64) -> Vec<(f64, f64)> {
    let within = points.partition_point(|(t, _)| *t <= end);
    let mut kept = points[..within].to_vec();
    if let (Some(before), Some(after)) = (kept.last().copied(), points.get(within)) {
        let share = (end - before.0) / (after.0 - before.0);
        kept.push((end, before.1 + share * (after.1 - before.1)));
    }
    kept
}

#[cfg(test)]
mod tests;
