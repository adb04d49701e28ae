//! TCP Hybla: a flow on a long path grows as fast, in segments per second, as Reno on a short reference path.
//!
//! C. Caini, R. Firrincieli, "TCP Hybla: a TCP Enhancement for Heterogeneous Networks", International Journal
//! of Satellite Communications and Networking 22(5), 2004. With W the window in segments:
//!
//! ```text
//! rho = max(RTT/RTT0, 1),   RTT0 = 25 ms
//! start                  W = rho W_initial,  ssthresh = rho ssthresh_initial
//! slow start             W += 2^rho - 1      for each acknowledged segment
//! congestion avoidance   W += rho^2/W        for each acknowledged segment
//! loss, mark, timeout    W = W/2
//! pacing                 packets are spaced
//! ```
//!
//! W/RTT therefore grows over time like that of a Reno flow with a round-trip time of RTT0.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `rtt0` | 25 ms | 1 to 1,000 | paper, Linux |
//! | `max_exponent` | 6 | 1 to 16 | see below; 16 in Linux |
//! | `scale_start` | on | | paper |
//! | `pacing` | on | | paper |
//!
//! Interpretations:
//! - *RTT* is the smallest of the connection, so that a queue does not increase growth. (Linux updates rho when the smoothed
//!   RTT has a new minimum, which is nearly the same.)
//! - *The step in slow start* is very large: at 300 ms, rho = 12, each ACK adds 4,095 segments. The paper uses paced packets
//!   and a threshold from an estimate of the bandwidth. Here, the exponent is at most `max_exponent` (63 segments per ACK from
//!   150 ms on) and packets are paced. Without either, one round trip loses tens of thousands of segments. Slow start never
//!   passes ssthresh.
//! - *The pacing rate* is 2 W per smoothed RTT in slow start and 1.2 W after it, as for other paced flows of Linux. With
//!   exactly W per round trip, the window would not be fully used and would not grow.
//! - *Start*: the window is multiplied when the RTT is known, at the handshake or at the first ACK. (Linux replaces the
//!   initial window by rho.)
//! - In the arithmetic of today's Linux (`linux.rs`), everything is in integers, one ACK at a time, and without pacing.
//! - After a timeout, the window grows like Reno's until all lost segments are acknowledged: Linux uses Hybla in the Open
//!   state only.
//! - In Linux 2.6's arithmetic, the window during recovery is `ssthresh/2`, as in that kernel's module.

mod linux;
#[cfg(test)]
mod tests;

use crate::observable::seconds;
use crate::parts::reno;
use crate::{
    Ack, AlgorithmInfo, Arithmetic, Configurable, Congestion, CongestionControl, Init, Nanos, Needs,
    Observable, Observation, ParameterSet, Signal, State, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "hybla",
    title: "TCP Hybla",
    year: 2004,
    reference: "C. Caini, R. Firrincieli, TCP Hybla: a TCP Enhancement for Heterogeneous Networks, Int. J. of \
                Satellite Communications and Networking 22(5), 2004",
    summary: "Reno with the growth of a 25 ms path whatever the RTT: rho^2 segments a round trip for an RTT of \
              rho times 25 ms.",
    strengths: "Gives long paths, satellites above all, the throughput of competing short ones, also under \
                random losses.",
    weaknesses: "Overshoots in slow start by thousands of segments on long paths; halves at any loss; long \
                 paths among themselves are needlessly aggressive, and it is Reno up to 25 ms.",
    signals: &[Signal::Loss, Signal::Delay, Signal::Ecn],
    based_on: "NewReno",
    implemented_in: "Linux (hybla), ns-2.35, ns-3",
    reconstruction: false,
    version: 2,
    parameters: HyblaParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Hybla>,
};

parameters! {
    /// Settings of [`Hybla`].
    pub struct HyblaParameters {
        /// RTT0, the round-trip time of the reference path.
        rtt0: number(25.0, 1.0..=1000.0), "ms", "paper, Linux";
        /// Largest exponent of the step in slow start.
        max_exponent: number(6.0, 1.0..=16.0), "1", "a limit to losses in slow start; 16 in Linux";
        /// Whether the initial window and threshold are multiplied by rho.
        scale_start: switch(true), "", "paper";
        /// Whether packets are paced.
        pacing: switch(true), "", "paper";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new("rho", "rho", "1", "RTT/RTT0, at least 1: the window grows by rho^2 in a round trip."),
    Observable::new("rtt_min", "RTT", "s", "The least round-trip time, which rho is of."),
];

/// Windows per smoothed RTT at the pacing rate, in slow start and after it.
const PACE: (f64, f64) = (2.0, 1.2);

/// TCP Hybla.
#[derive(Clone, Debug)]
pub struct Hybla {
    parameters: HyblaParameters,
    /// The RTT of the next three values; [`Nanos::MAX`] before the first.
    rtt: Nanos,
    rho: f64,
    /// rho^2.
    rho_squared: f64,
    /// 2^rho - 1.
    step: f64,
    /// State of the arithmetic of today's Linux.
    linux: linux::HyblaLinux,
    /// Whether the initial window must still be multiplied.
    unscaled: bool,
}

impl Configurable for Hybla {
    type Parameters = HyblaParameters;

    fn new(parameters: HyblaParameters) -> Self {
        let unscaled = parameters.scale_start;
        let linux = linux::HyblaLinux::default();
        Hybla { parameters, rtt: Nanos::MAX, rho: 1.0, rho_squared: 1.0, step: 1.0, linux, unscaled }
    }
}

impl CongestionControl for Hybla {
    fn init(&mut self, window: &mut Window, init: &Init) {
        if window.arithmetic() == Arithmetic::Linux {
            self.linux.renew(init.rtt.unwrap_or(Nanos::ZERO), self.parameters.rtt0);
            if self.parameters.scale_start {
                window.set_cwnd(self.linux.start());
            }
            return;
        }
        if let Some(rtt) = init.rtt {
            self.renew(rtt);
            self.scale_start(window);
            self.pace(window, rtt);
        }
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if window.arithmetic() == Arithmetic::Linux {
            self.linux.renew(ack.srtt, self.parameters.rtt0);
            if ack.may_grow() {
                self.linux.grow(window, ack, self.parameters.max_exponent);
            }
            return;
        }
        if ack.min_rtt != self.rtt {
            self.renew(ack.min_rtt);
        }
        if ack.may_grow() {
            if self.unscaled && self.rtt != Nanos::MAX {
                self.scale_start(window);
            }
            if ack.state == State::Loss {
                reno::increase(window, ack);
            } else {
                self.grow(window, ack.acked);
            }
        }
        self.pace(window, ack.srtt);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.unscaled = false;
        self.linux.forget();
        if congestion.is_repeated_timeout() {
            return;
        }
        reno::give_up(window, 0.5);
        reno::hold_half_in_recovery(window);
    }

    fn needs(&self) -> Needs {
        Needs { pacing: self.parameters.pacing, ..Needs::default() }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        if window.arithmetic() == Arithmetic::Linux {
            return values.copy_from_slice(&self.linux.observe());
        }
        values.copy_from_slice(&[self.rho, seconds(self.rtt)]);
    }
}

impl Hybla {
    #[cold]
    #[inline(never)]
    fn renew(&mut self, rtt: Nanos) {
        self.rtt = rtt;
        self.rho = (rtt.as_secs_f64() * 1e3 / self.parameters.rtt0).max(1.0);
        self.rho_squared = self.rho * self.rho;
        self.step = libm::exp2(self.rho.min(self.parameters.max_exponent)) - 1.0;
    }

    #[cold]
    fn scale_start(&mut self, window: &mut Window) {
        if self.unscaled {
            self.unscaled = false;
            window.set_cwnd(window.cwnd * self.rho);
            window.set_ssthresh(window.ssthresh * self.rho);
        }
    }

    #[inline]
    fn grow(&mut self, window: &mut Window, acked: u32) {
        let mut left = acked;
        if window.cwnd < window.ssthresh {
            left = self.slow_start(window, acked);
            if left == 0 {
                return;
            }
        }
        window.increase_weighted(left, self.rho_squared, window.cwnd);
    }

    /// Adds `step` segments for each acknowledged one, up to `ssthresh`. Returns the unused acknowledged segments.
    fn slow_start(&self, window: &mut Window, acked: u32) -> u32 {
        let counted = if window.arithmetic() == Arithmetic::Linux26 { 1.0 } else { f64::from(acked) };
        let room = window.ssthresh - window.cwnd;
        if counted * self.step <= room {
            window.increase_weighted(acked, self.step, 1.0);
            return 0;
        }
        window.set_cwnd(window.ssthresh);
        (counted - room / self.step) as u32
    }

    #[inline]
    fn pace(&self, window: &mut Window, srtt: Nanos) {
        if self.parameters.pacing && srtt.0 > 0 {
            let (slow_start, after) = PACE;
            let windows = if window.cwnd < window.ssthresh { slow_start } else { after };
            window.pacing_rate = windows * window.cwnd * f64::from(window.mss()) / srtt.as_secs_f64();
        }
    }
}
