//! HyStart++: slow start that becomes conservative when delay rises, and resumes if that was jitter.
//!
//! RFC 9406. Rounds are windows of data; each has its smallest RTT.
//!
//! - Slow start: `cwnd += min(N, L)` for N acknowledged segments. Once the round has 8 samples and
//!   `currentRoundMinRTT >= lastRoundMinRTT + RttThresh`, Conservative Slow Start (CSS) begins and its
//!   baseline is `currentRoundMinRTT`. `RttThresh` is `lastRoundMinRTT / 8` within 4 to 16 ms.
//! - CSS: `cwnd += min(N, L) / 4`. Once the round has 8 samples and `currentRoundMinRTT < baseline`, it was jitter: slow start
//!   resumes. After 5 rounds, including the one in which CSS began, `ssthresh := cwnd`.
//! - A loss or a mark ends it permanently: it runs in the initial slow start only (section 4.3).
//!
//! L is 8 for a flow that is not paced and unlimited for one that is, as section 4.3 recommends.

use super::round::RoundRtt;
use crate::{Ack, Nanos, Window};

const MIN_RTT_THRESH: Nanos = Nanos::from_millis(4);
const MAX_RTT_THRESH: Nanos = Nanos::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
const L_UNPACED: u32 = 8;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    SlowStart,
    Conservative { baseline: Nanos, rounds: u32 },
    Over,
}

/// HyStart++'s state.
#[derive(Clone, Debug)]
pub struct HyStartPlusPlus {
    phase: Phase,
    last_round_min: Nanos,
    round: RoundRtt,
}

impl Default for HyStartPlusPlus {
    fn default() -> Self {
        HyStartPlusPlus { phase: Phase::SlowStart, last_round_min: Nanos::MAX, round: RoundRtt::EMPTY }
    }
}

impl HyStartPlusPlus {
    /// Measures an ACK in slow start, and grows the window if allowed. Returns the acknowledged segments that remain for
    /// congestion avoidance.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack) -> u32 {
        self.measure(window, ack);
        if !ack.may_grow() {
            return 0;
        }
        if !window.in_slow_start() {
            return ack.acked;
        }
        let limit = if window.pacing_rate.is_finite() { u32::MAX } else { L_UNPACED };
        match self.phase {
            Phase::SlowStart => window.slow_start(ack.acked.min(limit)),
            Phase::Conservative { .. } => {
                window.increase(ack.acked.min(limit), CSS_GROWTH_DIVISOR);
                0
            }
            Phase::Over => window.slow_start(ack.acked),
        }
    }

    /// Handles a loss, a mark or a timeout.
    pub fn end(&mut self) {
        self.phase = Phase::Over;
    }

    fn measure(&mut self, window: &mut Window, ack: &Ack) {
        if self.phase == Phase::Over {
            return;
        }
        if ack.round_start {
            self.last_round_min = self.round.min;
            self.round = RoundRtt::EMPTY;
            if let Phase::Conservative { rounds, .. } = &mut self.phase {
                *rounds += 1;
                if *rounds >= CSS_ROUNDS {
                    window.set_ssthresh(window.cwnd);
                    self.phase = Phase::Over;
                    return;
                }
            }
        }
        let Some(rtt) = ack.rtt else { return };
        self.round.add(rtt);
        if self.round.samples < N_RTT_SAMPLE {
            return;
        }
        match self.phase {
            Phase::SlowStart if self.last_round_min != Nanos::MAX => {
                let threshold =
                    Nanos(self.last_round_min.0 / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if self.round.min >= self.last_round_min + threshold {
                    self.phase = Phase::Conservative { baseline: self.round.min, rounds: 0 };
                }
            }
            Phase::Conservative { baseline, .. } if self.round.min < baseline => {
                self.phase = Phase::SlowStart;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arithmetic;
    use crate::testing::{ack_rtt, window_with};

    /// A round of `samples` ACKs of one segment each.
    fn round(hystart: &mut HyStartPlusPlus, window: &mut Window, samples: u32, rtt_ms: u64) {
        for n in 0..samples {
            hystart.on_ack(window, &Ack { round_start: n == 0, ..ack_rtt(0, rtt_ms) });
        }
    }

    fn slow_start() -> (HyStartPlusPlus, Window) {
        (HyStartPlusPlus::default(), window_with(100.0, f64::INFINITY, Arithmetic::Real))
    }

    fn conservative(hystart: &HyStartPlusPlus) -> bool {
        matches!(hystart.phase, Phase::Conservative { .. })
    }

    #[test]
    fn eight_samples_over_the_last_rounds_least_enter_css() {
        // 100 ms, then 112.5 ms are the threshold: 112 ms stay, 113 ms enter at the eighth sample.
        for (rtt, enters) in [(112, false), (113, true)] {
            let (mut hystart, mut window) = slow_start();
            round(&mut hystart, &mut window, 8, 100);
            round(&mut hystart, &mut window, 7, rtt);
            assert!(!conservative(&hystart));
            hystart.on_ack(&mut window, &ack_rtt(0, rtt));
            assert_eq!(conservative(&hystart), enters);
        }
    }

    #[test]
    fn css_grows_by_a_quarter() {
        let (mut hystart, mut window) = slow_start();
        round(&mut hystart, &mut window, 8, 100);
        assert_eq!(window.cwnd, 108.0);
        round(&mut hystart, &mut window, 8, 120);
        // The eighth of these found the delay and grew conservatively: 7 + 1/4.
        assert_eq!(window.cwnd, 115.25);
        round(&mut hystart, &mut window, 8, 120);
        assert_eq!(window.cwnd, 117.25);
    }

    #[test]
    fn jitter_lets_slow_start_resume() {
        let (mut hystart, mut window) = slow_start();
        round(&mut hystart, &mut window, 8, 100);
        round(&mut hystart, &mut window, 8, 120);
        round(&mut hystart, &mut window, 8, 119);
        assert_eq!(hystart.phase, Phase::SlowStart);
        assert!(window.ssthresh.is_infinite());
    }

    #[test]
    fn five_rounds_of_css_end_slow_start() {
        // The round in which it began counts as the first.
        let (mut hystart, mut window) = slow_start();
        round(&mut hystart, &mut window, 8, 100);
        for _ in 0..5 {
            round(&mut hystart, &mut window, 8, 120);
            assert!(window.ssthresh.is_infinite());
        }
        let cwnd = window.cwnd;
        let left = hystart.on_ack(&mut window, &Ack { round_start: true, ..ack_rtt(0, 120) });
        assert_eq!((window.ssthresh, window.cwnd, left), (cwnd, cwnd, 1));
    }

    #[test]
    fn an_unpaced_flow_counts_eight_segments_an_ack() {
        for (pacing_rate, cwnd) in [(f64::INFINITY, 108.0), (1e6, 150.0)] {
            let (mut hystart, mut window) = slow_start();
            window.pacing_rate = pacing_rate;
            hystart.on_ack(&mut window, &Ack { acked: 50, ..ack_rtt(0, 100) });
            assert_eq!(window.cwnd, cwnd);
        }
    }

    #[test]
    fn after_a_loss_slow_start_is_the_standard_one() {
        let (mut hystart, mut window) = slow_start();
        round(&mut hystart, &mut window, 8, 100);
        hystart.end();
        round(&mut hystart, &mut window, 8, 200);
        round(&mut hystart, &mut window, 8, 400);
        assert_eq!((window.cwnd, window.ssthresh), (124.0, f64::INFINITY));
    }
}
