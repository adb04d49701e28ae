//! A source without congestion control, for bursts that ignore the network ([`Traffic::Pulses`](cwnd_scenario::Traffic::Pulses)).

use cwnd_cc::{Ack, Congestion, CongestionControl, Init, Nanos, Needs, Window};
use cwnd_scenario::Rate;

/// Sends at a constant rate while its application has data.
#[derive(Clone, Debug)]
pub struct Unresponsive {
    /// Payload bytes a second.
    rate: f64,
}

impl Unresponsive {
    /// Creates a source of this rate of payload.
    pub fn new(rate: Rate) -> Unresponsive {
        Unresponsive { rate: rate.0 as f64 / 8.0 }
    }

    /// Sets the largest window, so that the rate alone limits the source.
    fn hold(&self, window: &mut Window) {
        /// More segments than any path here holds.
        const LARGEST: f64 = 1e9;
        window.cwnd = window.clamp().min(LARGEST);
        window.recovery_cwnd = Some(window.cwnd);
        window.restart_cwnd = window.cwnd;
        window.pacing_rate = self.rate;
    }
}

impl CongestionControl for Unresponsive {
    fn init(&mut self, window: &mut Window, _init: &Init) {
        self.hold(window);
    }

    fn on_ack(&mut self, window: &mut Window, _ack: &Ack) {
        self.hold(window);
    }

    fn on_congestion(&mut self, window: &mut Window, _congestion: &Congestion) {
        self.hold(window);
    }

    fn on_idle_restart(&mut self, window: &mut Window, _now: Nanos, _idle: Nanos) {
        self.hold(window);
    }

    fn needs(&self) -> Needs {
        Needs { pacing: true, owns_recovery: true, marks_only: true, ..Needs::default() }
    }
}
