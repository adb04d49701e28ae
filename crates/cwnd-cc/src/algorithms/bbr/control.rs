//! BBR's state machine, and the pacing rate and window that follow from the model.

use super::{Bbr, Mode};
use crate::{Ack, Nanos, Window};

/// Gains of the cycle's phases: one above the rate, one below it by the same amount, the others at it.
const PHASES: usize = 8;
const DRAINING_PHASE: usize = 1;

/// Smallest window, large enough for delayed ACKs.
const MIN_PIPE_CWND: f64 = 4.0;

/// Rates in payload bytes per second up to which one segment, or two, are sent in a burst (1.2 and 24 Mbit/s).
pub(super) const SINGLE_SEGMENTS_BELOW: u64 = 1_200_000 / 8;
const TWO_SEGMENTS: f64 = 24e6 / 8.0;
const GREATEST_QUANTUM: f64 = 65_536.0;

impl Bbr {
    /// Sets the first pacing rate: the initial window per round-trip time, times the gain of Startup.
    pub(super) fn guess_pacing(&mut self, window: &mut Window, rtt: Option<Nanos>) {
        let known = rtt.filter(|rtt| rtt.0 > 0);
        self.guessed = known.is_none();
        let rtt = known.unwrap_or(Nanos::from_millis(1));
        if self.is_linux() {
            let bandwidth = self.linux_first_bandwidth(rtt);
            window.pacing_rate = self.linux_pacing_rate(window, bandwidth, self.parameters.high_gain);
            return;
        }
        let rtt = rtt.as_secs_f64();
        window.pacing_rate = self.parameters.high_gain * self.initial_cwnd / rtt * f64::from(window.mss());
    }

    pub(super) fn set_pacing(&mut self, window: &mut Window, gain: f64) {
        let rate = if self.is_linux() {
            self.linux_pacing_rate(window, self.linux_bandwidth(), gain)
        } else {
            let margin = 1.0 - self.parameters.pacing_margin;
            gain * self.bandwidth.get() * f64::from(window.mss()) * margin
        };
        if rate > 0.0 && (self.filled_pipe || rate > window.pacing_rate) {
            window.pacing_rate = rate;
        }
    }

    /// Returns `gain` bandwidth-delay products plus three quanta, segments.
    pub(super) fn inflight(&self, window: &Window, gain: f64) -> f64 {
        if self.is_linux() {
            return self.linux_inflight(window, gain);
        }
        if self.rtprop == Nanos::MAX {
            return self.initial_cwnd;
        }
        gain * self.bdp + 3.0 * send_quantum(window)
    }

    pub(super) fn step_startup_and_drain(&mut self, window: &mut Window, ack: &Ack) {
        if self.mode == Mode::Startup && self.filled_pipe {
            self.mode = Mode::Drain;
            self.pacing_gain = self.drain_gain;
            // BBR does not read ssthresh; it shows others that slow start is over.
            window.set_ssthresh(self.inflight(window, 1.0).min(window.cwnd));
        }
        if self.mode == Mode::Drain && self.counted(window, ack, ack.in_flight) <= self.inflight(window, 1.0)
        {
            self.enter_probe_bw(ack.now);
        }
    }

    /// Returns the segments in flight as the state machine counts them.
    fn counted(&self, window: &Window, ack: &Ack, in_flight: u32) -> f64 {
        if self.is_linux() { self.in_network(window, ack, in_flight) } else { f64::from(in_flight) }
    }

    pub(super) fn enter_probe_bw(&mut self, now: Nanos) {
        self.mode = Mode::ProbeBw;
        self.cwnd_gain = self.parameters.cwnd_gain;
        // A random phase except the draining one; `advance_cycle` moves to the next.
        self.cycle = PHASES - 1 - self.draws.below(PHASES as u32 - 1) as usize;
        self.advance_cycle(now);
    }

    pub(super) fn advance_cycle(&mut self, now: Nanos) {
        self.cycle = (self.cycle + 1) % PHASES;
        self.cycle_stamp = now;
        let above = self.parameters.probe_gain;
        self.pacing_gain = match self.cycle {
            _ if self.policer.rate().is_some() => 1.0,
            0 => above,
            DRAINING_PHASE => 2.0 - above,
            _ => 1.0,
        };
    }

    pub(super) fn step_probe_bw(&mut self, window: &Window, ack: &Ack) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let full_length = ack.now.since(self.cycle_stamp) > self.rtprop;
        let before = self.counted(window, ack, ack.prior_in_flight);
        let next = match self.cycle {
            _ if self.policer.rate().is_some() => full_length,
            0 => full_length && (ack.lost > 0 || before >= self.inflight(window, self.pacing_gain)),
            DRAINING_PHASE => full_length || before <= self.inflight(window, 1.0),
            _ => full_length,
        };
        if next {
            self.advance_cycle(ack.now);
        }
    }

    pub(super) fn step_probe_rtt(&mut self, window: &mut Window, ack: &Ack, expired: bool) {
        if self.mode != Mode::ProbeRtt && expired && !self.idle_restart {
            self.save_cwnd(window);
            self.mode = Mode::ProbeRtt;
            self.pacing_gain = 1.0;
            self.cwnd_gain = 1.0;
            self.probe_rtt_done = None;
            self.throttled.0 = ack.delivered;
        }
        if self.mode == Mode::ProbeRtt {
            // In Linux the mark is lifted when more than this number is delivered, not when it is reached.
            let beyond = u64::from(self.is_linux());
            self.throttled.1 = ack.delivered + u64::from(ack.in_flight.max(1)) + beyond;
            self.hold_probe_rtt(window, ack);
        }
        self.idle_restart &= self.is_linux() && ack.rate.is_none();
    }

    fn hold_probe_rtt(&mut self, window: &mut Window, ack: &Ack) {
        if self.probe_rtt_done.is_none() {
            if f64::from(ack.in_flight) <= MIN_PIPE_CWND {
                let duration = Nanos((self.parameters.probe_rtt_duration * 1e9) as u64);
                self.probe_rtt_done = Some(self.stamp(ack.now) + duration);
                self.probe_rtt_round_done = false;
                self.round_end = ack.delivered;
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done {
            self.end_probe_rtt_if_due(window, ack.now);
        }
    }

    /// Ends ProbeRTT if its time is over.
    pub(super) fn end_probe_rtt_if_due(&mut self, window: &mut Window, now: Nanos) {
        if self.probe_rtt_done.is_none_or(|done| self.stamp(now) <= done) {
            return;
        }
        self.rtprop_stamp = self.stamp(now);
        self.restore_cwnd(window);
        if self.filled_pipe {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
            self.pacing_gain = self.parameters.high_gain;
            self.cwnd_gain = self.parameters.high_gain;
        }
    }

    pub(super) fn save_cwnd(&mut self, window: &Window) {
        let repairs = if self.is_linux() { self.linux_repairs() } else { self.in_recovery };
        let unmodulated = !repairs && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if unmodulated { window.cwnd } else { self.prior_cwnd.max(window.cwnd) };
    }

    pub(super) fn restore_cwnd(&mut self, window: &mut Window) {
        window.set_cwnd(window.cwnd.max(self.prior_cwnd));
    }

    pub(super) fn set_cwnd(&mut self, window: &mut Window, ack: &Ack) {
        let acked = f64::from(ack.acked);
        let in_flight = f64::from(ack.in_flight);
        let mut cwnd = window.cwnd;
        if self.entering {
            self.entering = false;
            cwnd = in_flight + acked.max(1.0);
        } else if self.round_start {
            self.conserving = false;
        }
        if ack.lost > 0 {
            cwnd = (cwnd - f64::from(ack.lost)).max(1.0);
        }
        if self.conserving {
            cwnd = cwnd.max(in_flight + acked);
        } else {
            let target = self.inflight(window, self.cwnd_gain);
            if self.filled_pipe {
                cwnd = (cwnd + acked).min(target);
            } else if cwnd < target || (ack.delivered as f64) < self.initial_cwnd {
                cwnd += acked;
            }
            cwnd = cwnd.max(MIN_PIPE_CWND);
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(MIN_PIPE_CWND);
        }
        window.set_cwnd(cwnd);
    }
}

/// Returns the segments of a burst (draft section 4.2.2).
fn send_quantum(window: &Window) -> f64 {
    let mss = f64::from(window.mss().max(1));
    let rate = window.pacing_rate;
    if rate < SINGLE_SEGMENTS_BELOW as f64 {
        1.0
    } else if rate < TWO_SEGMENTS {
        2.0
    } else {
        (rate * 1e-3).min(GREATEST_QUANTUM) / mss
    }
}
