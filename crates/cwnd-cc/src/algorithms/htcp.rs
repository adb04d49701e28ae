//! H-TCP: growth increases with the time since the last loss, and a reduction removes only the queued part.
//!
//! D. Leith, R. Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004, and
//! draft-leith-tcp-htcp-06 (2008). With W the window in segments and D the time since the last congestion
//! event:
//!
//! ```text
//! f(D)   = 1                                            D <= D_L
//! f(D)   = 1 + 10 (D - D_L) + ((D - D_L)/2)^2           otherwise,  D_L = 1 s
//! f      = max(f RTTmin/RTTref, 1)                      RTT scaling, RTTref = 100 ms
//! alpha  = 2 (1 - beta) f(D)
//! congestion avoidance   W += alpha/W for each acknowledged segment
//! loss, mark, timeout    W = beta W
//! beta   = 0.5                   if |B(k) - B(k-1)| > 0.2 B(k-1)
//! beta   = RTTmin/RTTmax         otherwise, within 0.5 to 0.8
//! ```
//!
//! B(k) is the largest throughput between the congestion events k - 1 and k.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `delta_l` | 1 s | 0 to 60 | paper |
//! | `adaptive_backoff` | on | | paper; beta is 0.5 without |
//! | `rtt_scaling` | off | | paper, as an option; on in Linux and ns-2.35, off in FreeBSD |
//!
//! Interpretations:
//! - *The square is of half the time*: 0.25 (D - D_L)^2. Some surveys omit the brackets and print 0.5; Linux, ns-2.35, ns-3
//!   and FreeBSD all compute 0.25.
//! - D restarts at the beginning and at the end of a recovery, as in Linux.
//! - *B* is measured once per round trip: delivered segments divided by its duration, averaged as (3 old + 1 new)/4. The
//!   largest average counts. In the first three round trips after an event, the average restarts (Linux). Recoveries do not
//!   count. With fewer than two values of B, beta is 0.5.
//! - *RTTmax* follows samples outside of recovery by at most 20 ms per sample, which limits outliers. Each event reduces it to
//!   RTTmin + 0.95 (RTTmax - RTTmin) (Linux). RTTmin never ages.
//! - *RTT scaling* is Linux's: RTTmin/RTTref within 0.1 to 2, and never slower than f = 1.
//! - A timeout is handled as a loss (Linux).
//! - *Integers*: `linux.rs` has the modules of Linux 6.1 and of ns-2.35, which round f down and measure by other rules. They also keep
//!   a half at the first steady event after an unsteady one, and where RTTmin is below 10 ms. Linux measures in ticks of the kernel's
//!   timer (`--timer-hz`).

mod linux;
#[cfg(test)]
mod tests;

use self::linux::HTcpLinux;
use crate::observable::{bits_per_second, known};
use crate::{
    Ack, AlgorithmInfo, Arithmetic, Configurable, Congestion, CongestionControl, Init, Nanos, Observable,
    Observation, ParameterSet, Signal, State, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "htcp",
    title: "H-TCP",
    year: 2004,
    reference: "D. Leith, R. Shorten, H-TCP: TCP for high-speed and long-distance networks, PFLDnet 2004; \
                draft-leith-tcp-htcp-06 (2008)",
    summary: "Grows as a square function of the time since the last loss, and gives up only as much as \
              empties the queue.",
    strengths: "Flows of one path converge fast from any windows, because growth depends on time \
                alone; Reno where losses are a second apart or less.",
    weaknesses: "On fast long paths Reno is left behind; growth is fastest just before the loss, so that a \
                 long epoch ends with many losses at once; random losses a second apart keep it Reno.",
    signals: &[Signal::Loss, Signal::Delay, Signal::Ecn],
    based_on: "NewReno",
    implemented_in: "Linux (htcp), FreeBSD (cc_htcp), ns-2.35, ns-3",
    reconstruction: false,
    version: 5,
    parameters: HTcpParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<HTcp>,
};

parameters! {
    /// Settings of [`HTcp`].
    pub struct HTcpParameters {
        /// Time after a congestion event with Reno's growth.
        delta_l: number(1.0, 0.0..=60.0), "s", "paper";
        /// Whether a reduction removes only the queued part, not half, while the throughput is steady.
        adaptive_backoff: switch(true), "", "paper";
        /// Whether growth is proportional to the round-trip time, so that shares do not depend on it.
        rtt_scaling: switch(false), "", "paper, an option; on in Linux and ns-2.35";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new("alpha", "alpha", "segments", "Growth in a round trip: 2 (1 - beta) f(D)."),
    Observable::new(
        "beta",
        "beta",
        "1",
        "Share of the window that the last loss left: RTTmin/RTTmax, within 0.5 to 0.8.",
    ),
    Observable::new("elapsed", "D", "s", "Time since the last congestion event."),
    Observable::new("rtt_max", "RTTmax", "s", "The greatest round-trip time, as the backoff uses it."),
    Observable::new(
        "throughput",
        "B(k)",
        "bit/s",
        "The greatest average throughput since the last event, payload.",
    ),
];

const BETA: (f64, f64) = (0.5, 0.8);
const RTT_REF: f64 = 0.1;
const MOST_RTT_RISE: Nanos = Nanos::from_millis(20);
const RTT_MAX_KEPT: f64 = 0.95;
/// Round trips after an event in which the average throughput restarts.
const FRESH_ROUNDS: u32 = 3;

/// H-TCP.
#[derive(Clone, Debug)]
pub struct HTcp {
    parameters: HTcpParameters,
    epoch: Epoch,
    before: Epoch,
    throughput: Throughput,
    /// The module's state, which replaces the other fields where windows are whole numbers.
    linux: HTcpLinux,
}

/// State that an undone event restores.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Time of the last congestion event, or of the beginning of the connection.
    since: Nanos,
    /// The fraction kept at that event.
    beta: f64,
    rtt_max: Nanos,
    /// B(k-1); 0 if there is none.
    last_peak: f64,
}

impl Configurable for HTcp {
    type Parameters = HTcpParameters;

    fn new(parameters: HTcpParameters) -> Self {
        let epoch = Epoch { since: Nanos::ZERO, beta: BETA.0, rtt_max: Nanos::ZERO, last_peak: 0.0 };
        let throughput = Throughput::default();
        HTcp { parameters, epoch, before: epoch, throughput, linux: HTcpLinux::new() }
    }
}

impl CongestionControl for HTcp {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.epoch.since = init.now;
        self.linux.init(window, init);
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if window.arithmetic() != Arithmetic::Real {
            return self.linux.on_ack(window, ack, &self.parameters);
        }
        let calm = matches!(ack.state, State::Open | State::Disorder);
        self.throughput.on_ack(ack, calm);
        if let Some(rtt) = ack.rtt
            && calm
            && rtt > self.epoch.rtt_max
        {
            let least = self.epoch.rtt_max.max(ack.min_rtt);
            self.epoch.rtt_max = rtt.min(least + MOST_RTT_RISE);
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
        let alpha = self.alpha(ack.now, ack.min_rtt);
        window.increase_weighted(acked, alpha, window.cwnd);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return self.linux.on_repeated_timeout(window, congestion);
        }
        if window.arithmetic() != Arithmetic::Real {
            let ssthresh = self.linux.on_congestion(window, congestion, &self.parameters);
            return window.set_ssthresh_for_loss(ssthresh);
        }
        self.before = self.epoch;
        let peak = self.throughput.peak;
        self.epoch.beta = self.backoff(peak, congestion.min_rtt);
        self.epoch.last_peak = peak;
        self.epoch.since = congestion.now;
        if self.epoch.rtt_max > congestion.min_rtt {
            let queue = self.epoch.rtt_max.since(congestion.min_rtt).0 as f64;
            self.epoch.rtt_max = congestion.min_rtt + Nanos((RTT_MAX_KEPT * queue) as u64);
        }
        self.throughput.restart();
        window.set_ssthresh_for_loss(self.epoch.beta * window.cwnd);
    }

    fn on_recovery_exit(&mut self, window: &mut Window, now: Nanos) {
        self.epoch.since = now;
        self.linux.on_recovery_exit(window, now);
    }

    fn on_undo(&mut self, _window: &mut Window, now: Nanos) {
        self.epoch = self.before;
        self.linux.on_undo(now);
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, at: &Observation, values: &mut [f64]) {
        if window.arithmetic() != Arithmetic::Real {
            return values.copy_from_slice(&self.linux.observe(window, at.now));
        }
        values.copy_from_slice(&[
            self.alpha(at.now, at.min_rtt),
            self.epoch.beta,
            at.now.secs_since(self.epoch.since),
            known(self.epoch.rtt_max.as_secs_f64()),
            bits_per_second(Some(self.throughput.peak), window),
        ]);
    }
}

impl HTcp {
    /// Growth, segments per round trip.
    #[inline]
    fn alpha(&self, now: Nanos, min_rtt: Nanos) -> f64 {
        let past = now.secs_since(self.epoch.since) - self.parameters.delta_l;
        let mut f = if past > 0.0 { 1.0 + 10.0 * past + 0.25 * past * past } else { 1.0 };
        if self.parameters.rtt_scaling && min_rtt != Nanos::MAX {
            f = (f * (min_rtt.as_secs_f64() * (1.0 / RTT_REF)).clamp(0.1, 2.0)).max(1.0);
        }
        2.0 * (1.0 - self.epoch.beta) * f
    }

    /// Returns the fraction of the window to keep.
    fn backoff(&self, peak: f64, min_rtt: Nanos) -> f64 {
        let (least, most) = BETA;
        let last = self.epoch.last_peak;
        let steady = last > 0.0 && (peak - last).abs() <= 0.2 * last;
        if !self.parameters.adaptive_backoff || !steady || self.epoch.rtt_max.0 == 0 {
            return least;
        }
        (min_rtt.0 as f64 / self.epoch.rtt_max.0 as f64).clamp(least, most)
    }
}

/// B(k): the largest throughput since the last event.
#[derive(Clone, Debug, Default)]
struct Throughput {
    /// Beginning of the round trip; none until the end of a recovery.
    begun: Option<Nanos>,
    delivered: u64,
    /// Round trips since the last event.
    rounds: u32,
    /// Segments a second.
    average: f64,
    peak: f64,
}

impl Throughput {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, calm: bool) {
        if !calm {
            self.begun = None;
        } else if self.begun.is_none() || ack.round_start {
            self.end_round(ack);
        } else {
            self.delivered += u64::from(ack.acked);
        }
    }

    fn end_round(&mut self, ack: &Ack) {
        if let Some(begun) = self.begun {
            let span = ack.now.since(begun).as_secs_f64();
            self.delivered += u64::from(ack.acked);
            if span > 0.0 {
                self.take_sample(self.delivered as f64 / span);
            }
        }
        self.begun = Some(ack.now);
        self.delivered = 0;
    }

    fn take_sample(&mut self, sample: f64) {
        self.rounds = self.rounds.saturating_add(1);
        if self.rounds <= FRESH_ROUNDS {
            self.average = sample;
            self.peak = sample;
        } else {
            self.average = (3.0 * self.average + sample) / 4.0;
            self.peak = self.peak.max(self.average);
        }
    }

    /// Handles an event. The measured values remain until there is a new sample.
    fn restart(&mut self) {
        self.begun = None;
        self.rounds = 0;
    }
}
