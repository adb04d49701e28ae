//! HyStart++: slow start that turns conservative when delay rises, and goes back if that was jitter.
//!
//! RFC 9406. Rounds are windows of data; each has its least RTT.
//!
//! - Slow start: `cwnd += min(N, L)` for N acknowledged segments. Once the round has 8 samples and
//!   `currentRoundMinRTT >= lastRoundMinRTT + RttThresh`, Conservative Slow Start (CSS) begins and its
//!   baseline is `currentRoundMinRTT`. `RttThresh` is `lastRoundMinRTT / 8` within 4 to 16 ms.
//! - CSS: `cwnd += min(N, L) / 4`. Once the round has 8 samples and `currentRoundMinRTT < baseline`, it was
//!   jitter: slow start resumes. After 5 rounds, the one in which CSS began included, `ssthresh := cwnd`.
//! - A loss or a mark ends it for good: it runs in the initial slow start only (section 4.3).
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
    /// Measure an ACK in slow start and grow the window if it may. Returns how many acknowledged segments
    /// are left for congestion avoidance.
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

    /// A loss, a mark or a timeout was seen.
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
