//! Invs: approaches a saturation point faster on larger paths, and classifies losses by the queue.
//!
//! Z. Wang, X. Zeng, M. Xu, X. Liu, L. Chen, "Invs: A New Congestion Control Algorithm for Heterogeneous
//! Networks", 2016. With W the window in segments and Wsp the window at which the path was last saturated:
//!
//! ```text
//! W += (Wsp - W)/(k Wsp)          W < Wsp     for each acknowledged segment               (equation 1)
//! W += (W - Wsp)/(k W)            W > Wsp
//! W += 1/W                        W = Wsp
//! k  = max(c log2(RTTref/RTTmin) log2(BDPref/BDPest), 1)                                  (equation 2)
//! W at least W_TCP(t) = beta Wmax + 3 (1 - beta)/(1 + beta) t/RTT                         (equation 15)
//! loss   buffer >= min(delta, maxbuffer): W = beta W, else W = min(BDPest, W)          (equations 3, 4)
//! loss   Wsp = W (1 + beta)/2 if W < Wsp, else W, of the window before the loss           (equation 5)
//! buffer = (RTT - RTTmin) BWest, maxbuffer its greatest since the last timeout            (equation 6)
//! BWest  = a1 BWest + a2 delivered/span    each span longer than max(RTT, 20 ms)          (figure 2)
//! BDPest = BWest RTTmin
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `c` | 1 | 0.001 to 10 | not given; see below |
//! | `beta` | 0.8 | 0.1 to 0.95 | not given, the fraction kept; CUBIC's of ns-2.35, which equations 5 and 15 mirror |
//! | `delta` | 30 segments | 1 to 10,000 | not given, "for large buffer links" |
//! | `threshold` | `margin` | `margin`, `literal`, `last-rtt`, `fixed` | see below |
//! | `a2` | 0.125 | 0.01 to 1 | not given, a1 = 1 - a2; Westwood+'s |
//! | `rtt_ref` | 1 s | 0.01 to 10 | paper |
//! | `bdp_ref` | 500 Mbit | 0.1 to 100,000 | paper |
//! | `wsp_on_congestion_only` | off | | equation 5 is for every loss |
//! | `rtt_min_reset` | off | | section 2.4.2 resets at a threshold that it does not give |
//! | `factor` | `logarithmic` | `logarithmic`, `linear`, `fixed` | equation 2; the others are those of section 3.2.3 |
//! | `fixed_k` | 20 | 1 to 1,000 | k with `factor=fixed`; about that of 100 Mbit/s and 80 to 100 ms |
//! | `slope` | `corrected` | `corrected`, `printed` | of W_TCP; see below |
//! | `growth` | `equation-1` | `equation-1`, `equation-7` | see below |
//!
//! Errors in the paper, which the defaults do not follow:
//! - *Equation 15* prints the reciprocal of the slope, 3 (1 + beta)/(1 - beta) t/RTT: 27 segments a round trip at beta = 0.8.
//!   A Reno flow's mean rate with a decrease to beta is that of 3 (1 - beta)/(1 + beta), a third. `slope=printed` follows it.
//! - *Equations 7 to 9* contradict equation 1: they let the gap to Wsp shrink to beta (k - beta)/k of it in a round trip, faster
//!   than k allows. They model the throughput; `growth=equation-7` makes them the growth below Wsp.
//!
//! Variations that the paper's text discusses:
//! - *Section 3.2.3* compares k with a fixed one and with "a linear function": `factor=linear` leaves out the logarithms,
//!   k = c (RTTref/RTTmin) (BDPref/BDPest). c = 0.0278 then gives the k of c = 1 at 100 Mbit/s and 80 ms.
//! - *Section 2.3* compares its threshold with a fixed one: `threshold=fixed` is delta alone.
//!
//! Interpretations:
//! - *c* = 1 gives the paper's results: against Reno about 80 % of 100 Mbit/s at 100 ms, and fairness at 10 Mbit/s and 10 ms.
//!   On the reference path, k is 1.
//! - *k where a logarithm is not positive*, from RTTref or BDPref on, is 1; two negative logarithms would make it grow again.
//!   k is updated with BWest. Before the first estimate, growth is Reno's.
//! - *Equal*: a real-valued window never equals Wsp exactly and would almost stop before it. A window within one segment of
//!   Wsp counts as equal.
//! - *Wsp before the first loss* is 0, so that a slow start that ends at a threshold continues by 1/k.
//! - *The threshold*: a loss from a full buffer may have a sample just below maxbuffer. It would not count as a congestion
//!   loss while maxbuffer < delta. `margin` compares with min(delta, 0.9 maxbuffer), `literal` as printed, `last-rtt` takes
//!   the greatest buffer of this round trip and the last one instead of the last sample. Without an estimate, a loss is a
//!   congestion loss; so is a mark.
//! - *BDPest* uses the flow's own rate. It is therefore the flow's share of the path. In equation 2 it is in bits, elsewhere
//!   in segments. Delivered segments include SACKed ones.
//! - *W_TCP* starts at beta Wmax or where congestion avoidance begins, if that is less: a window just lowered to BDPest is not
//!   raised again. t counts from there, without pauses of the application. W_TCP raises the window by at most one segment for
//!   each acknowledged one.
//! - *Timeout*: ssthresh by equation 3, Wsp by equation 5, maxbuffer = 0, BWest stays.
//! - *RTTmin* belongs to the connection. With `rtt_min_reset`, it becomes the smallest sample of a round trip when that is
//!   more than max(1 s, 2 RTTmin) above it. A deep buffer would reach smaller thresholds.

#[cfg(test)]
mod tests;

use crate::observable::{bits_per_second, known};
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, CongestionKind, Nanos, Observable,
    Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "invs",
    title: "Invs",
    year: 2016,
    reference: "Z. Wang, X. Zeng, M. Xu, X. Liu, L. Chen, Invs: A New Congestion Control Algorithm for \
                Heterogeneous Networks, 2016",
    summary: "Grows towards the last saturation point at a pace set by RTT and BDP, and backs off to the BDP \
              where the queue says that a loss was not congestion.",
    strengths: "One algorithm for slow and fast paths: near Reno on small ones, fast on large ones, and little \
                harmed by random losses while the queue is short.",
    weaknesses: "Constants that decide its losses are not published; a queue shorter than its threshold hides \
                 congestion; estimates its share, so that many flows grow slowly.",
    signals: &[Signal::Loss, Signal::Delay, Signal::Rate],
    based_on: "CUBIC, Westwood+, Veno",
    implemented_in: "the authors' ns-2 module, not public",
    reconstruction: false,
    version: 1,
    parameters: InvsParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Invs>,
};

words! {
    /// Rule that classifies a loss as a congestion loss.
    pub enum Threshold {
        /// The last buffer estimate is at least `min(delta, 0.9 maxbuffer)`.
        Margin = "margin",
        /// As printed: at least `min(delta, maxbuffer)`.
        Literal = "literal",
        /// The largest estimate of this and the last round trip is at least `min(delta, maxbuffer)`.
        LastRtt = "last-rtt",
        /// The last buffer estimate is at least `delta`.
        Fixed = "fixed",
    }
}

words! {
    /// The increase factor as a function of the path.
    pub enum Factor {
        /// `c log2(RTTref/RTTmin) log2(BDPref/BDPest)`: equation 2.
        Logarithmic = "logarithmic",
        /// `c (RTTref/RTTmin) (BDPref/BDPest)`.
        Linear = "linear",
        /// `fixed_k` on every path.
        Fixed = "fixed",
    }
}

words! {
    /// Slope of W_TCP.
    pub enum Slope {
        /// `3 (1 - beta)/(1 + beta)` segments a round trip.
        Corrected = "corrected",
        /// `3 (1 + beta)/(1 - beta)`, as equation 15 prints it.
        Printed = "printed",
    }
}

words! {
    /// Growth below the saturation point.
    pub enum Growth {
        /// A window gains `W (Wsp - W)/(k Wsp)` in a round trip.
        Equation1 = "equation-1",
        /// The gap to Wsp shrinks to `beta (k - beta)/k` of it in a round trip.
        Equation7 = "equation-7",
    }
}

parameters! {
    /// Settings of [`Invs`].
    pub struct InvsParameters {
        /// Scale of k.
        c: number(1.0, 0.001..=10.0), "1", "not given; gives the paper's shares against Reno";
        /// The fraction of the window kept at a congestion loss.
        beta: number(0.8, 0.1..=0.95), "1", "not given; CUBIC's in ns-2.35";
        /// Queue length from which a loss is a congestion loss, with large buffers.
        delta: number(30.0, 1.0..=10_000.0), "segments", "not given, and no text supports a value";
        /// Rule that classifies a loss as a congestion loss.
        threshold: word(Threshold::Margin), "", "equation 3 is literal";
        /// Weight of a new bandwidth sample.
        a2: number(0.125, 0.01..=1.0), "1", "not given; Westwood+'s";
        /// RTTref.
        rtt_ref: number(1.0, 0.01..=10.0), "s", "paper";
        /// BDPref.
        bdp_ref: number(500.0, 0.1..=100_000.0), "Mbit", "paper";
        /// Whether only congestion losses change the saturation point.
        wsp_on_congestion_only: switch(false), "", "equation 5 is for every loss";
        /// Whether the smallest RTT is replaced when a whole round trip is far above it.
        rtt_min_reset: switch(false), "", "section 2.4.2, whose threshold is not given";
        /// The increase factor as a function of the path.
        factor: word(Factor::Logarithmic), "", "equation 2; section 3.2.3 discusses the others";
        /// The increase factor with `factor=fixed`.
        fixed_k: number(20.0, 1.0..=1_000.0), "1", "about equation 2 at 100 Mbit/s and 80 to 100 ms";
        /// Slope of W_TCP.
        slope: word(Slope::Corrected), "", "equation 15 prints the reciprocal";
        /// Growth below the saturation point.
        growth: word(Growth::Equation1), "", "equation 7 contradicts equation 1";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new(
        "k",
        "k",
        "1",
        "Increase factor max(c log2(RTTref/RTTmin) log2(BDPref/BDPest), 1), equation 2.",
    ),
    Observable::new(
        "w_sp",
        "Wsp",
        "segments",
        "Saturation point: the window of the last loss, or less, equation 5.",
    ),
    Observable::new(
        "slope",
        "W(t + RTT) - W(t)",
        "segments",
        "Growth in a round trip: W times that of an acknowledged segment, equation 1.",
    ),
    Observable::new("w_max", "Wmax", "segments", "The window at the last loss, equation 15."),
    Observable::new("bandwidth", "BWest", "bit/s", "Bandwidth estimate, payload, figure 2."),
    Observable::new("bdp", "BDPest", "segments", "BWest RTTmin."),
    Observable::new("buffer", "buffer_est", "segments", "Segments queued: (RTT - RTTmin) BWest, equation 6."),
    Observable::new("buffer_max", "maxbuffer", "segments", "The greatest buffer_est since the last timeout."),
];

const MIN_SPAN: Nanos = Nanos::from_millis(20);
const MARGIN: f64 = 0.9;
/// Largest distance from Wsp that counts as equal, segments.
const EQUAL: f64 = 1.0;

/// Invs.
#[derive(Clone, Debug)]
pub struct Invs {
    parameters: InvsParameters,
    /// Growth of W_TCP, segments a round trip.
    reno_slope: f64,
    goal: Goal,
    before: Goal,
    /// 1/k and 1/(k Wsp); none before there is an estimate.
    pace: Option<(f64, f64)>,
    path: Path,
}

/// State that an undone loss restores.
#[derive(Clone, Copy, Debug)]
struct Goal {
    /// Wsp.
    saturation: f64,
    /// Wmax; infinite before the first loss.
    w_max: f64,
    /// Beginning of congestion avoidance, and W_TCP at that time.
    epoch: Option<(Nanos, f64)>,
}

impl Configurable for Invs {
    type Parameters = InvsParameters;

    fn new(parameters: InvsParameters) -> Self {
        let goal = Goal { saturation: 0.0, w_max: f64::INFINITY, epoch: None };
        let (lost, kept) = (1.0 - parameters.beta, 1.0 + parameters.beta);
        Invs {
            reno_slope: match parameters.slope {
                Slope::Corrected => 3.0 * lost / kept,
                Slope::Printed => 3.0 * kept / lost,
            },
            goal,
            before: goal,
            pace: None,
            path: Path::default(),
            parameters,
        }
    }
}

impl CongestionControl for Invs {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if self.path.on_ack(ack, &self.parameters) {
            self.renew_pace(window.mss());
        }
        if !ack.may_grow() {
            return;
        }
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        self.grow(window, ack, acked);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        self.before = self.goal;
        let InvsParameters { beta, wsp_on_congestion_only, .. } = self.parameters;
        let cwnd = window.cwnd;
        let congested = congestion.kind == CongestionKind::Ecn || self.path.is_congested(&self.parameters);
        if congested || !wsp_on_congestion_only {
            let earlier = cwnd < self.goal.saturation;
            self.goal.saturation = if earlier { cwnd * (1.0 + beta) / 2.0 } else { cwnd };
        }
        self.goal.w_max = cwnd;
        self.goal.epoch = None;
        self.renew_gap_pace();
        window.set_ssthresh_for_loss(if congested { beta * cwnd } else { self.path.bdp().min(cwnd) });
        if congestion.kind == CongestionKind::Timeout {
            self.path.forget_queues();
        }
    }

    fn on_undo(&mut self, _window: &mut Window, _now: Nanos) {
        self.goal = self.before;
        self.renew_gap_pace();
    }

    fn on_idle_restart(&mut self, _window: &mut Window, now: Nanos, idle: Nanos) {
        if let Some((since, _)) = &mut self.goal.epoch {
            *since = (*since + idle).min(now);
        }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        let path = &self.path;
        let measured = |value: f64| if path.bandwidth > 0.0 { value } else { f64::NAN };
        values.copy_from_slice(&[
            self.pace.map_or(f64::NAN, |(per_k, _)| known(1.0 / per_k)),
            known(self.goal.saturation),
            self.growth(window.cwnd),
            known(self.goal.w_max),
            bits_per_second(Some(path.bandwidth), window),
            measured(path.bdp()),
            measured(path.queue),
            measured(path.greatest_queue),
        ]);
    }
}

impl Invs {
    #[inline]
    fn grow(&mut self, window: &mut Window, ack: &Ack, acked: u32) {
        let cwnd = window.cwnd;
        let saturation = self.goal.saturation;
        let gap = saturation - cwnd;
        window.increase_weighted(acked, self.growth(cwnd), cwnd);
        if gap >= EQUAL && window.cwnd > saturation {
            // With an ACK of many segments, equation 1 below Wsp must not exceed Wsp.
            window.set_cwnd(saturation);
        }
        let (since, w_tcp) = self.goal.epoch.unwrap_or_else(|| self.begin_epoch(cwnd, ack.now));
        if ack.srtt.0 > 0 {
            let w_tcp = w_tcp + self.reno_slope * ack.now.secs_since(since) / ack.srtt.as_secs_f64();
            if w_tcp > window.cwnd {
                window.set_cwnd(w_tcp.min(window.cwnd + f64::from(acked)));
            }
        }
    }

    /// Returns equation 1 times W, the growth a window of acknowledged segments: (Wsp - W) W/(k Wsp) below Wsp, (W - Wsp)/k
    /// above it, and 1 at it. Or what equation 7 says of it.
    #[inline]
    fn growth(&self, cwnd: f64) -> f64 {
        let gap = self.goal.saturation - cwnd;
        match self.pace {
            Some((per_k, per_gap)) if gap >= EQUAL => match self.parameters.growth {
                Growth::Equation1 => gap * per_gap * cwnd,
                // Less beta (1 - beta/k) of the gap: the window gains the rest of it.
                Growth::Equation7 => {
                    let beta = self.parameters.beta;
                    gap * (1.0 - beta * (1.0 - beta * per_k))
                }
            },
            Some((per_k, _)) if gap <= -EQUAL => -gap * per_k,
            _ => 1.0,
        }
    }

    #[cold]
    fn begin_epoch(&mut self, cwnd: f64, now: Nanos) -> (Nanos, f64) {
        let epoch = (now, cwnd.min(self.parameters.beta * self.goal.w_max));
        self.goal.epoch = Some(epoch);
        epoch
    }

    /// Computes 1/k and 1/(k Wsp) (equation 2) after a new BWest.
    #[inline(never)]
    fn renew_pace(&mut self, mss: u32) {
        let bits = self.path.bdp() * f64::from(mss) * 8.0;
        let per_k = 1.0 / increase_factor(&self.parameters, self.path.rtt_min.as_secs_f64(), bits);
        self.pace = Some((per_k, per_k / self.goal.saturation));
    }

    fn renew_gap_pace(&mut self) {
        if let Some((per_k, per_gap)) = &mut self.pace {
            *per_gap = *per_k / self.goal.saturation;
        }
    }
}

/// Returns k for RTTmin in seconds and BDPest in bits.
fn increase_factor(parameters: &InvsParameters, rtt_min: f64, bdp_bits: f64) -> f64 {
    let (rtts, bdps) = (parameters.rtt_ref / rtt_min, parameters.bdp_ref * 1e6 / bdp_bits);
    let (rtts, bdps) = match parameters.factor {
        Factor::Logarithmic => (libm::log2(rtts), libm::log2(bdps)),
        Factor::Linear => (rtts, bdps),
        Factor::Fixed => return parameters.fixed_k,
    };
    if rtts > 0.0 && bdps > 0.0 { (parameters.c * rtts * bdps).max(1.0) } else { 1.0 }
}

/// Estimates of the path (section 2.4).
#[derive(Clone, Debug)]
struct Path {
    rtt_min: Nanos,
    /// Smallest RTT of this round trip.
    round_rtt: Nanos,
    /// BWest, segments a second; 0 before the first sample.
    bandwidth: f64,
    /// Beginning of the current bandwidth sample; none before the first ACK.
    begun: Option<Nanos>,
    delivered: u64,
    /// buffer_est, segments: the last one, the largest of this round trip and of the one before, and maxbuffer.
    queue: f64,
    round_queue: f64,
    last_round_queue: f64,
    greatest_queue: f64,
}

impl Default for Path {
    fn default() -> Self {
        Path {
            rtt_min: Nanos::MAX,
            round_rtt: Nanos::MAX,
            bandwidth: 0.0,
            begun: None,
            delivered: 0,
            queue: 0.0,
            round_queue: 0.0,
            last_round_queue: 0.0,
            greatest_queue: 0.0,
        }
    }
}

impl Path {
    /// Measures an ACK. Returns whether there is a new bandwidth estimate.
    #[inline]
    fn on_ack(&mut self, ack: &Ack, parameters: &InvsParameters) -> bool {
        if ack.round_start {
            self.end_round(parameters.rtt_min_reset);
        }
        let renewed = self.measure_bandwidth(ack, parameters.a2);
        if let Some(rtt) = ack.rtt {
            self.rtt_min = self.rtt_min.min(rtt);
            self.round_rtt = self.round_rtt.min(rtt);
            self.queue = rtt.since(self.rtt_min).as_secs_f64() * self.bandwidth;
            if self.queue > self.round_queue {
                self.round_queue = self.queue;
                self.greatest_queue = self.greatest_queue.max(self.queue);
            }
        }
        renewed
    }

    fn end_round(&mut self, reset: bool) {
        let reset_from = Nanos::from_millis(1000).max(self.rtt_min + self.rtt_min);
        if reset && self.round_rtt != Nanos::MAX && self.round_rtt.since(self.rtt_min) > reset_from {
            self.rtt_min = self.round_rtt;
        }
        self.round_rtt = Nanos::MAX;
        self.last_round_queue = core::mem::replace(&mut self.round_queue, 0.0);
    }

    #[inline]
    fn measure_bandwidth(&mut self, ack: &Ack, a2: f64) -> bool {
        let Some(begun) = self.begun else {
            self.begun = Some(ack.now);
            return false;
        };
        self.delivered += u64::from(ack.acked);
        let span = ack.now.since(begun);
        let Some(rtt) = ack.rtt else { return false };
        if span <= rtt || span <= MIN_SPAN {
            return false;
        }
        let sample = self.delivered as f64 / span.as_secs_f64();
        let first = self.bandwidth == 0.0;
        self.bandwidth = if first { sample } else { self.bandwidth + a2 * (sample - self.bandwidth) };
        self.begun = Some(ack.now);
        self.delivered = 0;
        self.bandwidth > 0.0
    }

    fn forget_queues(&mut self) {
        self.round_queue = 0.0;
        self.last_round_queue = 0.0;
        self.greatest_queue = 0.0;
    }

    /// Returns BDPest, segments.
    fn bdp(&self) -> f64 {
        self.bandwidth * self.rtt_min.as_secs_f64()
    }

    /// Returns whether a loss is a congestion loss by the queue (the condition of equations 3 and 4).
    fn is_congested(&self, parameters: &InvsParameters) -> bool {
        if self.bandwidth == 0.0 {
            return true;
        }
        let (queue, greatest) = match parameters.threshold {
            Threshold::Margin => (self.queue, MARGIN * self.greatest_queue),
            Threshold::Literal => (self.queue, self.greatest_queue),
            Threshold::LastRtt => (self.round_queue.max(self.last_round_queue), self.greatest_queue),
            Threshold::Fixed => (self.queue, f64::INFINITY),
        };
        queue >= parameters.delta.min(greatest)
    }
}
