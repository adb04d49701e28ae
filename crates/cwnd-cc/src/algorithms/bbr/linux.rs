//! What Linux 6.1's `tcp_bbr` does beyond the draft, or otherwise (`rules = linux`).
//!
//! ```text
//! units      BtlBw in 2^-24 segments a microsecond, RTT in microseconds, gains in 1/256, all rounded down; windows are whole
//! BtlBw      counts in 10 rounds after its own; three values approximate the maximum (`parts::candidate_max`)
//! RTprop     only a shorter RTT renews it, an equal one does not; its age counts in whole milliseconds
//! target     BDP, rounded up, + extra_acked (at most what BtlBw delivers in 100 ms) + 3 bursts, rounded up to an even number,
//!            + 2 in the phase that probes
//! in flight  less what leaves the network until pacing lets the next burst go, plus that burst while it probes
//! timeout    the search for a plateau begins again; an undone recovery has the same effect
//! policers   see `policer.rs`
//! ```
//!
//! Not imitated: an ACK that seems delayed, of a single segment that is not full, does not renew an expired RTprop.

use super::control::SINGLE_SEGMENTS_BELOW;
use super::policer::{Report, Verdict};
use super::{Bbr, Mode};
use crate::{Ack, Nanos, RateSample, State, Window};

/// Units of a rate: 2^-24 segments a microsecond.
const RATE_BITS: u32 = 24;
const UNIT: f64 = 1e6 / (1u64 << RATE_BITS) as f64;

/// Units of a gain.
const GAINS: f64 = 256.0;

/// Largest burst: bytes (the largest buffer of a socket's output, less the headers), and segments.
const LARGEST_BURST: u64 = 65_215;
const MOST_SEGMENTS: u64 = 127;

/// Time for whose deliveries the allowance for aggregation suffices.
const MOST_AGGREGATION: Nanos = Nanos::from_millis(100);

/// Smallest window, and the initial window, in segments.
const LEAST_WINDOW: u64 = 4;
const INITIAL_WINDOW: u64 = 10;

/// Returns the rate of a sample, segments a second; none if its interval is shorter than a microsecond.
pub(super) fn rate_of(sample: &RateSample) -> Option<f64> {
    let micros = sample.interval.0 / 1000;
    (micros > 0).then(|| ((sample.delivered << RATE_BITS) / micros) as f64 * UNIT)
}

/// Returns a gain as Linux rounds it: the one of Startup up, others down.
pub(super) fn rounded_gain(gain: f64, up: bool) -> f64 {
    if up { libm::ceil(gain * GAINS) / GAINS } else { libm::floor(gain * GAINS) / GAINS }
}

/// Returns a time without its parts of a microsecond.
pub(super) fn whole_micros(time: Nanos) -> Nanos {
    Nanos(time.0 / 1000 * 1000)
}

/// Returns a time without its parts of a millisecond, the resolution of Linux's jiffies.
pub(super) fn whole_millis(time: Nanos) -> Nanos {
    Nanos(time.0 / 1_000_000 * 1_000_000)
}

/// Returns a rate in Linux's units.
fn units(rate: f64) -> u128 {
    libm::round(rate / UNIT) as u128
}

/// Returns the segments that a rate delivers in a time, rounded down.
fn delivered_in(rate: f64, time: Nanos) -> u64 {
    ((units(rate) * u128::from(time.0 / 1000)) >> RATE_BITS) as u64
}

fn gain_units(gain: f64) -> u128 {
    (gain * GAINS) as u128
}

/// Returns the segments of a burst at the pacing rate.
fn burst(window: &Window) -> u64 {
    let least = if window.pacing_rate < SINGLE_SEGMENTS_BELOW as f64 { 1 } else { 2 };
    let bytes = ((window.pacing_rate as u64) >> 10).min(LARGEST_BURST);
    (bytes / u64::from(window.mss().max(1))).max(least).min(MOST_SEGMENTS)
}

/// Returns whether the state is one in which losses are repaired.
fn repairs(state: State) -> bool {
    matches!(state, State::Recovery | State::Loss)
}

impl Bbr {
    /// Returns the bandwidth that paces and sets the window: BtlBw, or the long-term rate of a policer.
    pub(super) fn linux_bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or(self.bandwidth.get())
    }

    /// Returns the pacing rate of a bandwidth and a gain, bytes a second.
    pub(super) fn linux_pacing_rate(&self, window: &Window, bandwidth: f64, gain: f64) -> f64 {
        let micros = libm::round(1e6 * (1.0 - self.parameters.pacing_margin)) as u128;
        let rate = (units(bandwidth) * u128::from(window.mss()) * gain_units(gain)) >> 8;
        // A rate of nothing would never send again.
        (((rate * micros) >> RATE_BITS) as f64).max(1.0)
    }

    /// Returns the first bandwidth: the initial window per round-trip time.
    pub(super) fn linux_first_bandwidth(&self, rtt: Nanos) -> f64 {
        (((self.initial_cwnd as u64) << RATE_BITS) / (rtt.0 / 1000).max(1)) as f64 * UNIT
    }

    /// Returns the bandwidth-delay product times a gain, rounded up.
    fn linux_bdp(&self, bandwidth: f64, gain: f64) -> u64 {
        if self.rtprop == Nanos::MAX {
            return INITIAL_WINDOW;
        }
        let product = units(bandwidth) * u128::from(self.rtprop.0 / 1000);
        let product = (product * gain_units(gain)) >> 8;
        product.div_ceil(1 << RATE_BITS) as u64
    }

    /// Returns a window with room for the bursts under way at both ends.
    fn with_bursts(&self, window: &Window, segments: u64) -> u64 {
        let segments = (segments + 3 * burst(window)).next_multiple_of(2);
        let probes = self.mode == Mode::ProbeBw && self.cycle == 0;
        segments + if probes { 2 } else { 0 }
    }

    /// Returns what may be in flight at a gain, segments.
    pub(super) fn linux_inflight(&self, window: &Window, gain: f64) -> f64 {
        self.with_bursts(window, self.linux_bdp(self.bandwidth.get(), gain)) as f64
    }

    /// Returns what is in the network when the next burst leaves, if `in_flight` segments are now.
    pub(super) fn in_network(&self, window: &Window, ack: &Ack, in_flight: u32) -> f64 {
        let burst = if self.pacing_gain > 1.0 { burst(window) } else { 0 };
        let delivered = delivered_in(self.linux_bandwidth(), ack.compat.until_departure);
        (u64::from(in_flight) + burst).saturating_sub(delivered) as f64
    }

    /// Updates the detection of policers by an ACK with a sample.
    pub(super) fn sample_policer(&mut self, window: &Window, ack: &Ack, limited: bool) {
        self.delivered_at = ack.now;
        self.report_to_policer(window, ack.lost > 0, limited);
    }

    pub(super) fn report_to_policer(&mut self, window: &Window, losses: bool, app_limited: bool) {
        let report = Report {
            ms: self.delivered_at.0 / 1_000_000,
            delivered: self.delivered,
            lost: self.lost,
            losses,
            app_limited,
            round_start: self.round_start,
            in_probe_bw: self.mode == Mode::ProbeBw,
        };
        match self.policer.on_report(&report, f64::from(window.mss())) {
            Verdict::Unchanged => {}
            Verdict::Policed if self.mode == Mode::ProbeBw => self.pacing_gain = 1.0,
            Verdict::Policed => {}
            Verdict::Expired => self.enter_probe_bw(self.delivered_at),
        }
    }

    pub(super) fn sample_aggregation(&mut self, window: &Window, ack: &Ack) {
        let bandwidth = self.linux_bandwidth();
        let expected = |span| delivered_in(bandwidth, span);
        self.aggregation.on_ack(ack.now, ack.acked, self.round_start, window.cwnd, expected);
    }

    /// Sets the window by an ACK: it conserves packets in the first round of a recovery, returns to the window of before at the
    /// end, and otherwise moves towards its target.
    pub(super) fn set_linux_cwnd(&mut self, window: &mut Window, ack: &Ack) {
        let mut cwnd = window.cwnd as u64;
        if ack.acked > 0 {
            cwnd = self.next_linux_cwnd(window, ack, cwnd);
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(LEAST_WINDOW);
        }
        window.set_cwnd(cwnd as f64);
    }

    fn next_linux_cwnd(&mut self, window: &Window, ack: &Ack, mut cwnd: u64) -> u64 {
        let acked = u64::from(ack.acked);
        let conserved = u64::from(ack.in_flight) + acked;
        cwnd = match ack.lost {
            0 => cwnd,
            lost => cwnd.saturating_sub(u64::from(lost)).max(1),
        };
        let before = core::mem::replace(&mut self.state, ack.state);
        if ack.state == State::Recovery && before != State::Recovery {
            self.conserving = true;
            self.round_end = ack.delivered;
            cwnd = conserved;
        } else if repairs(before) && !repairs(ack.state) {
            self.conserving = false;
            cwnd = cwnd.max(self.prior_cwnd as u64);
        }
        if self.conserving {
            return cwnd.max(conserved);
        }
        let target = self.linux_target(window);
        if self.filled_pipe {
            cwnd = (cwnd + acked).min(target);
        } else if cwnd < target || ack.delivered + 1 < INITIAL_WINDOW {
            // Linux counts the SYN as delivered.
            cwnd += acked;
        }
        cwnd.max(LEAST_WINDOW)
    }

    fn linux_target(&self, window: &Window) -> u64 {
        let bandwidth = self.linux_bandwidth();
        let allowance = match self.filled_pipe {
            true => self.aggregation.extra_acked().min(delivered_in(bandwidth, MOST_AGGREGATION)),
            false => 0,
        };
        self.with_bursts(window, self.linux_bdp(bandwidth, self.cwnd_gain) + allowance)
    }

    /// Handles a congestion episode: the window is saved, and changes only with the next ACK.
    pub(super) fn on_linux_congestion(&mut self, window: &mut Window, timeout: bool) {
        self.save_cwnd(window);
        window.restart_cwnd = 1.0;
        if timeout {
            self.state = State::Loss;
            self.full_bandwidth = 0.0;
            self.round_start = true;
            self.report_to_policer(window, true, false);
        }
    }

    /// Handles an undone reduction.
    pub(super) fn on_linux_undo(&mut self) {
        self.full_bandwidth = 0.0;
        self.full_rounds = 0;
        self.policer.reset();
    }

    /// Returns whether losses are being repaired, or were at the last ACK that changed the window.
    pub(super) fn linux_repairs(&self) -> bool {
        repairs(self.state)
    }
}
