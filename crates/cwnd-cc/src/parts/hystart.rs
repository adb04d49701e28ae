//! HyStart: slow start that ends before the queue overflows.
//!
//! S. Ha, I. Rhee, "Taming the Elephants: New TCP Slow Start", NCSU 2008 (Computer Networks 55, 2011), with the constants and
//! the refinements of Linux 5.6 and later. Two signals end slow start at the current window (`ssthresh := cwnd`), from 16
//! segments up:
//!
//! - *ACK train*: ACKs that follow each other within 2 ms, since the round began, for longer than half the
//!   least RTT. A whole window sent back to back then fills the forward path. Linux adds to the least RTT
//!   the time of four 64 KiB bursts at the pacing rate (twice `cwnd / srtt`), at most 1 ms, and does not
//!   halve the sum for a flow that is paced, since pacing alone spreads the train over half an RTT.
//! - *Delay*: the least RTT of the round, once 8 samples are in, exceeds the least RTT by more than an eighth
//!   of it, the eighth kept within 4 to 16 ms.
//!
//! A round begins when everything is acknowledged that was sent before the round before it. Linux 5.16 to 6.13 followed rounds from
//! 16 segments up only, so that the first one began in the middle of a round trip ([`HyStart::with_late_rounds`]).
//!
//! Linux checks whenever `cwnd < ssthresh`, even in a recovery whose rate reduction lowered the window below `ssthresh`. This
//! file does the same. The checks restart after a timeout.

use super::round::RoundRtt;
use crate::{Ack, Nanos, Window};

const LOW_WINDOW: f64 = 16.0;
const TRAIN_GAP: Nanos = Nanos::from_millis(2);
const SAMPLES: u32 = 8;
const MIN_THRESHOLD: Nanos = Nanos::from_millis(4);
const MAX_THRESHOLD: Nanos = Nanos::from_millis(16);
const BURST_BYTES: f64 = 4.0 * 65_536.0;
const MAX_BURST: Nanos = Nanos::from_millis(1);

/// HyStart's state.
#[derive(Clone, Debug)]
pub struct HyStart {
    found: bool,
    /// With late rounds: segments to acknowledge until the round ends; negative if the next checked ACK begins one.
    left: Option<i64>,
    round_start: Nanos,
    last_ack: Nanos,
    rtt: RoundRtt,
}

impl HyStart {
    /// Creates the state of a flow that starts now.
    pub fn new(now: Nanos) -> Self {
        HyStart { found: false, left: None, round_start: now, last_ack: now, rtt: RoundRtt::EMPTY }
    }

    /// Creates the state of a flow that starts now, whose rounds begin at a window of 16 segments.
    pub fn with_late_rounds(now: Nanos) -> Self {
        HyStart { left: Some(-1), ..HyStart::new(now) }
    }

    /// Returns the state of a flow whose slow start begins again, with the same rule for rounds.
    pub fn restarted(&self, now: Nanos) -> Self {
        HyStart { left: self.left.map(|_| -1), ..HyStart::new(now) }
    }

    /// Checks an ACK in slow start, and ends slow start at a signal. `delay_min` is the smallest RTT of the path,
    /// [`Nanos::MAX`] if unknown.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack, delay_min: Nanos) {
        if self.found {
            return;
        }
        match &mut self.left {
            Some(left) => *left = left.saturating_sub(i64::from(ack.cumulative)).max(-1),
            None if ack.round_start => *self = HyStart::new(ack.now),
            None => {}
        }
        let Some(rtt) = ack.rtt else { return };
        if window.cwnd < LOW_WINDOW || delay_min == Nanos::MAX {
            return;
        }
        if self.left.is_some_and(|left| left < 0) {
            *self = HyStart { left: Some(i64::from(ack.in_flight)), ..HyStart::new(ack.now) };
        }
        if ack.now.since(self.last_ack) <= TRAIN_GAP {
            self.last_ack = ack.now;
            self.found = ack.now.since(self.round_start) > train_threshold(window, ack, delay_min);
        }
        if self.rtt.samples >= SAMPLES {
            self.rtt.min = self.rtt.min.min(rtt);
            let threshold = Nanos(delay_min.0 / 8).clamp(MIN_THRESHOLD, MAX_THRESHOLD);
            self.found |= self.rtt.min > delay_min + threshold;
        } else {
            self.rtt.add(rtt);
        }
        if self.found {
            window.set_ssthresh(window.cwnd);
        }
    }
}

fn train_threshold(window: &Window, ack: &Ack, delay_min: Nanos) -> Nanos {
    // rate = 2 cwnd mss / srtt, so the bursts take BURST_BYTES srtt / (2 cwnd mss).
    let window_bytes = 2.0 * window.cwnd * f64::from(window.mss().max(1));
    let burst = Nanos((BURST_BYTES * ack.srtt.0 as f64 / window_bytes) as u64).min(MAX_BURST);
    let threshold = delay_min + burst;
    if window.pacing_rate.is_finite() { threshold } else { Nanos(threshold.0 / 2) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arithmetic;
    use crate::testing::{ack_rtt, window_with};

    const DELAY_MIN: Nanos = Nanos::from_millis(100);

    fn slow_start(cwnd: f64) -> Window {
        window_with(cwnd, f64::INFINITY, Arithmetic::Linux)
    }

    #[test]
    fn the_ninth_sample_over_the_threshold_ends_slow_start() {
        // 100/8 = 12.5 ms are allowed; ACKs 10 ms apart make no train.
        for (rtt, left) in [(112, false), (113, true)] {
            let mut hystart = HyStart::new(Nanos::ZERO);
            let mut window = slow_start(20.0);
            for n in 0..8 {
                hystart.on_ack(&mut window, &ack_rtt(10 + 10 * n, rtt), DELAY_MIN);
            }
            assert!(window.ssthresh.is_infinite());
            hystart.on_ack(&mut window, &ack_rtt(90, rtt), DELAY_MIN);
            assert_eq!(window.ssthresh == 20.0, left);
        }
    }

    #[test]
    fn the_threshold_is_between_4_and_16_ms() {
        // RTTmin 8 ms: 4 ms, not 1. RTTmin 400 ms: 16 ms, not 50.
        for (base, within, over) in [(8, 12, 13), (400, 416, 417)] {
            for (rtt, left) in [(within, false), (over, true)] {
                let mut hystart = HyStart::new(Nanos::ZERO);
                let mut window = slow_start(20.0);
                for n in 0..9 {
                    hystart.on_ack(&mut window, &ack_rtt(10 + 10 * n, rtt), Nanos::from_millis(base));
                }
                assert_eq!(window.ssthresh.is_finite(), left, "{rtt}");
            }
        }
    }

    #[test]
    fn a_train_longer_than_half_the_round_trip_ends_slow_start() {
        // ACKs 1 ms apart. Four bursts of 64 KiB at 2 * 20 * 1448 B in 100 ms take over 1 ms, so (100 +
        // 1)/2 = 50.5 ms are allowed; the ACK at 51 ms is past that.
        let mut hystart = HyStart::new(Nanos::ZERO);
        let mut window = slow_start(20.0);
        for ms in 1..51 {
            hystart.on_ack(&mut window, &ack_rtt(ms, 100), DELAY_MIN);
        }
        assert!(window.ssthresh.is_infinite());
        hystart.on_ack(&mut window, &ack_rtt(51, 100), DELAY_MIN);
        assert_eq!(window.ssthresh, 20.0);
    }

    #[test]
    fn the_bursts_of_a_fast_sender_are_short() {
        // 256 KiB at 2 * 10,000 * 1448 B in 100 ms take 0.905193 ms, under the 1 ms that is the most.
        let window = slow_start(10_000.0);
        let threshold = train_threshold(&window, &ack_rtt(0, 100), DELAY_MIN);
        assert_eq!(threshold, Nanos((100_000_000 + 905_193) / 2));
    }

    #[test]
    fn a_paced_train_may_last_the_round_trip() {
        let mut hystart = HyStart::new(Nanos::ZERO);
        let mut window = slow_start(20.0);
        window.pacing_rate = 1e6;
        for ms in 1..101 {
            hystart.on_ack(&mut window, &ack_rtt(ms, 100), DELAY_MIN);
        }
        assert!(window.ssthresh.is_infinite());
        hystart.on_ack(&mut window, &ack_rtt(102, 100), DELAY_MIN);
        assert_eq!(window.ssthresh, 20.0);
    }

    #[test]
    fn a_gap_breaks_the_train_and_a_round_begins_a_new_one() {
        let mut hystart = HyStart::new(Nanos::ZERO);
        let mut window = slow_start(20.0);
        for ms in (1..40).chain(45..100) {
            hystart.on_ack(&mut window, &ack_rtt(ms, 100), DELAY_MIN);
        }
        assert!(window.ssthresh.is_infinite());
        // A round that begins at 100 ms: its train is too long 51 ms later.
        for ms in 100..151 {
            hystart.on_ack(&mut window, &Ack { round_start: ms == 100, ..ack_rtt(ms, 100) }, DELAY_MIN);
        }
        assert!(window.ssthresh.is_infinite());
        hystart.on_ack(&mut window, &ack_rtt(151, 100), DELAY_MIN);
        assert_eq!(window.ssthresh, 20.0);
    }

    #[test]
    fn late_rounds_begin_at_16_segments() {
        // At 14 and 15 segments nothing counts. At 16 a round begins, which lasts until the 16 segments then in flight and one more
        // are acknowledged: the 9th sample of 300 ms comes with the 9th ACK of two segments, and that begins the next round. With
        // ACKs of one segment the 9th sample is in the round.
        for (acked, left) in [(2, false), (1, true)] {
            let mut hystart = HyStart::with_late_rounds(Nanos::ZERO);
            for n in 0..9 {
                let ack = Ack { cumulative: acked, in_flight: 16, ..ack_rtt(10 + 10 * n, 300) };
                hystart.on_ack(&mut slow_start(15.0), &ack, DELAY_MIN);
            }
            let mut window = slow_start(16.0);
            for n in 0..10 {
                let ack = Ack { cumulative: acked, in_flight: 15, ..ack_rtt(200 + 10 * n, 300) };
                hystart.on_ack(&mut window, &ack, DELAY_MIN);
            }
            assert_eq!(window.ssthresh.is_finite(), left, "ACKs of {acked}");
        }
    }

    #[test]
    fn small_windows_are_left_alone() {
        let mut hystart = HyStart::new(Nanos::ZERO);
        let mut window = slow_start(15.0);
        for ms in 1..200 {
            hystart.on_ack(&mut window, &ack_rtt(ms, 300), DELAY_MIN);
        }
        assert!(window.ssthresh.is_infinite());
    }
}
