//! Westwood+: reduces the window to the measured bandwidth-delay product after a loss.
//!
//! S. Mascolo, C. Casetti, M. Gerla, M. Y. Sanadidi, R. Wang, "TCP Westwood: Bandwidth Estimation for Enhanced
//! Transport over Wireless Links", ACM MobiCom 2001; L. A. Grieco, S. Mascolo, "Performance Evaluation and
//! Comparison of Westwood+, New Reno, and Vegas TCP Congestion Control", ACM CCR 34(2), 2004. With W the window
//! in segments and BWE the bandwidth in segments a second (see [`crate::parts::bandwidth`]):
//!
//! ```text
//! slow start, congestion avoidance   as Reno
//! loss      ssthresh = max(BWE RTTmin, 2);  W = ssthresh if that is less
//! timeout   ssthresh = max(BWE RTTmin, 2);  W = 1
//! ```
//!
//! | parameter | default | values | source |
//! |---|---|---|---|
//! | `set_at` | `loss` | `loss`, `recovery-end` | papers; see below |
//!
//! Interpretations:
//! - The window is set where the loss is found, as in the papers. Linux halves it during recovery and sets `W = ssthresh = BWE
//!   RTTmin` at its end, up or down: `set_at = recovery-end`. That estimate includes the deliveries of the recovery, which
//!   Linux counts by its own rules, and incompletely (`westwood/linux.rs`).
//! - *ssthresh may exceed W*, so that a loss in the slow start after a timeout does not end the slow start (the papers' "if W
//!   > ssthresh"). The window itself is never raised.
//! - RTTmin is the smallest of the connection; Linux resets it at a timeout.
//! - Before the first estimate, which takes at least 50 ms, it halves like Reno; Linux sets two segments.

mod linux;
#[cfg(test)]
mod tests;

use crate::observable::bits_per_second;
use crate::parts::{bandwidth::BandwidthFilter, reno};
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, CongestionKind, DupAck, Init, Nanos,
    Observable, Observation, ParameterSet, Signal, Window, build,
};
use linux::WestwoodLinux;

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "westwood",
    title: "TCP Westwood+",
    year: 2004,
    reference: "L. A. Grieco, S. Mascolo, Performance Evaluation and Comparison of Westwood+, New Reno, and \
                Vegas TCP Congestion Control, ACM CCR 34(2), 2004; S. Mascolo et al., TCP Westwood, MobiCom \
                2001",
    summary: "Grows as Reno; at a loss it keeps what its measured bandwidth needs over the least RTT.",
    strengths: "Over links with random losses it gives up only the queue, not half of the window.",
    weaknesses: "Grows no faster than Reno, so long fast paths fill slowly; its estimate lags, and is too low \
                 after pauses and too high where ACKs come in bunches.",
    signals: &[Signal::Loss, Signal::Rate],
    based_on: "NewReno",
    implemented_in: "Linux (westwood), ns-2, ns-3",
    reconstruction: false,
    version: 5,
    parameters: WestwoodParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Westwood>,
};

words! {
    /// Time at which the window is set to the bandwidth-delay product.
    pub enum SetAt {
        /// When the loss is found.
        Loss = "loss",
        /// At the end of recovery; until then it is halved. The bandwidth is measured as in Linux.
        RecoveryEnd = "recovery-end",
    }
}

parameters! {
    /// Settings of [`Westwood`].
    pub struct WestwoodParameters {
        /// Time at which the window is set to the bandwidth-delay product.
        set_at: word(SetAt::Loss), "", "papers; Linux has recovery-end";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new("bandwidth", "BWE", "bit/s", "Bandwidth estimate from the rate of ACKs, payload."),
    Observable::new("pipe", "BWE RTTmin", "segments", "What a loss lowers ssthresh to."),
];

/// TCP Westwood+.
#[derive(Clone, Debug)]
pub struct Westwood {
    parameters: WestwoodParameters,
    /// The bandwidth estimate for a window set at the loss, and for one set at the end of recovery.
    bandwidth: BandwidthFilter,
    linux: WestwoodLinux,
    /// The loss of the current recovery.
    loss: Option<Loss>,
}

#[derive(Clone, Copy, Debug)]
struct Loss {
    cwnd: f64,
}

impl Configurable for Westwood {
    type Parameters = WestwoodParameters;

    fn new(parameters: WestwoodParameters) -> Self {
        Westwood {
            parameters,
            bandwidth: BandwidthFilter::default(),
            linux: WestwoodLinux::default(),
            loss: None,
        }
    }
}

impl CongestionControl for Westwood {
    fn init(&mut self, _window: &mut Window, init: &Init) {
        self.linux.begin(init);
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        match self.parameters.set_at {
            SetAt::Loss => drop(self.bandwidth.on_ack(ack)),
            SetAt::RecoveryEnd => self.linux.on_ack(ack, window.mss()),
        }
        reno::increase(window, ack);
    }

    fn on_dup_ack(&mut self, window: &mut Window, dup: &DupAck) {
        if self.parameters.set_at == SetAt::RecoveryEnd {
            self.linux.on_dup_ack(dup.now, window.mss());
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.loss = None;
        if congestion.is_repeated_timeout() {
            return;
        }
        let Congestion { kind, min_rtt, .. } = *congestion;
        let cwnd = window.cwnd;
        let needed = match self.parameters.set_at {
            SetAt::Loss => self.bandwidth.pipe(min_rtt).unwrap_or(cwnd / 2.0),
            SetAt::RecoveryEnd if kind == CongestionKind::Timeout => self.linux.pipe(window.mss()),
            SetAt::RecoveryEnd => cwnd / 2.0,
        };
        window.set_ssthresh_for_loss(needed);
        if kind == CongestionKind::Timeout {
            return self.linux.forget_least_rtt();
        }
        self.loss = Some(Loss { cwnd });
        if self.parameters.set_at == SetAt::Loss {
            window.recovery_cwnd = Some(window.ssthresh.min(cwnd));
        }
    }

    fn on_recovery_exit(&mut self, window: &mut Window, now: Nanos) {
        let Some(loss) = self.loss.take() else { return };
        match self.parameters.set_at {
            SetAt::Loss if window.cwnd > loss.cwnd => window.set_cwnd(loss.cwnd),
            SetAt::Loss => {}
            SetAt::RecoveryEnd => {
                // The ACK that ends the recovery may first end a span.
                self.linux.end_span(now, window.mss());
                window.set_ssthresh(self.linux.pipe(window.mss()));
                window.set_cwnd(window.ssthresh);
            }
        }
    }

    fn on_undo(&mut self, _window: &mut Window, _now: Nanos) {
        self.loss = None;
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, at: &Observation, values: &mut [f64]) {
        if self.parameters.set_at == SetAt::RecoveryEnd {
            return values.copy_from_slice(&self.linux.observe(window));
        }
        let pipe = self.bandwidth.pipe(at.min_rtt).unwrap_or(f64::NAN);
        values.copy_from_slice(&[bits_per_second(self.bandwidth.segments_per_second(), window), pipe]);
    }
}
