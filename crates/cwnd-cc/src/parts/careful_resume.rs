//! Careful Resume: slow start that jumps to half of the window that an earlier connection had.
//!
//! RFC 9959. The phases, with `saved_cwnd` and `saved_rtt` of an earlier connection on the path:
//!
//! - *Reconnaissance*: slow start, until the initial window is acknowledged without congestion. If the least round-trip time is then at most half
//!   of `saved_rtt`, the path is another one, and slow start continues (Normal).
//! - *Unvalidated*: `PipeSize = flight_size`, `cwnd = saved_cwnd/2`, paced over a round trip. It ends when the window is used, when a segment is
//!   acknowledged that was sent in it, or after a round trip. If what is in flight is then less than the initial window or not above PipeSize,
//!   `cwnd = PipeSize` and the flow is Normal; else `cwnd = flight_size`.
//! - *Validating*: slow start, until the last segment is acknowledged that was sent in the Unvalidated phase. Then the flow is Normal.
//! - *Safe Retreat*, at congestion in the last two: the window falls to PipeSize/2 and does not grow. Once the last unvalidated segment is
//!   acknowledged, `ssthresh = PipeSize/2`, and the flow is Normal.
//! - PipeSize grows by what is acknowledged in all phases after Reconnaissance. A timeout ends Careful Resume.
//!
//! Interpretations:
//! - The jump takes place with the ACK that completes the initial window, unless slow start has already come as far.
//! - Lifetimes, several users of one set of parameters and signals of path changes are for whoever saves the parameters.
//! - The pacing rate is cwnd/RTT until the flow is Normal; afterwards it is unlimited.
//! - The window of a transport that reduces it over a round trip (proportional rate reduction) reaches PipeSize/2 at the end of that.

use crate::{Ack, CongestionKind, Nanos, Window};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Reconnaissance,
    /// Segments sent before it, and its begin.
    Unvalidated {
        first: u64,
        since: Nanos,
    },
    /// Segments sent when the Unvalidated phase ended.
    Validating {
        last: u64,
    },
    SafeRetreat {
        last: u64,
    },
    Normal,
}

/// Careful Resume's state.
#[derive(Clone, Debug)]
pub struct CarefulResume {
    phase: Phase,
    saved_cwnd: f64,
    saved_rtt: Nanos,
    initial_cwnd: f64,
    acknowledged: u64,
    /// Segments sent at the last ACK.
    sent: u64,
    pipe_size: f64,
}

/// Share of the saved window that a jump may have, and of PipeSize that a retreat leaves.
const HALF: f64 = 0.5;

impl CarefulResume {
    /// Creates the state of a flow with what an earlier connection has saved: its window in segments, zero for none, and its least round-trip time.
    pub fn new(saved_cwnd: f64, saved_rtt: Nanos) -> CarefulResume {
        let phase = if saved_cwnd > 0.0 { Phase::Reconnaissance } else { Phase::Normal };
        CarefulResume {
            phase,
            saved_cwnd,
            saved_rtt,
            initial_cwnd: 0.0,
            acknowledged: 0,
            sent: 0,
            pipe_size: 0.0,
        }
    }

    /// Returns whether every ACK is to be reported, inside and outside of slow start.
    pub fn is_active(&self) -> bool {
        self.phase != Phase::Normal
    }

    /// Handles an ACK. Returns the acknowledged segments that remain for congestion avoidance.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack) -> u32 {
        if self.initial_cwnd == 0.0 {
            self.initial_cwnd = window.cwnd;
        }
        self.acknowledged += u64::from(ack.cumulative);
        self.sent = ack.sent;
        if !matches!(self.phase, Phase::Reconnaissance | Phase::Normal) {
            self.pipe_size += f64::from(ack.acked);
        }
        match self.phase {
            Phase::Unvalidated { first, since } => {
                self.end_unvalidated(window, ack, first, since);
                self.pace(window, ack);
                return 0;
            }
            Phase::SafeRetreat { last } => {
                if self.acknowledged >= last {
                    window.set_ssthresh(window.ssthresh.min(self.pipe_size * HALF));
                    self.become_normal(window);
                }
                return 0;
            }
            Phase::Validating { last } if self.acknowledged >= last => self.become_normal(window),
            Phase::Validating { .. } => self.pace(window, ack),
            Phase::Reconnaissance | Phase::Normal => {}
        }
        let left = if !ack.may_grow() {
            0
        } else if window.in_slow_start() {
            window.slow_start(ack.acked)
        } else {
            ack.acked
        };
        if self.phase == Phase::Reconnaissance && self.acknowledged as f64 >= self.initial_cwnd {
            self.jump(window, ack);
        }
        left
    }

    /// Handles a congestion episode. Returns the window that Safe Retreat leaves, if it begins.
    pub fn on_congestion(&mut self, window: &mut Window, kind: CongestionKind) -> Option<f64> {
        let last = match self.phase {
            Phase::Unvalidated { .. } => self.sent,
            Phase::Validating { last } => last,
            Phase::Reconnaissance | Phase::SafeRetreat { .. } | Phase::Normal => {
                if kind == CongestionKind::Timeout || self.phase == Phase::Reconnaissance {
                    self.become_normal(window);
                }
                return None;
            }
        };
        if kind == CongestionKind::Timeout {
            self.become_normal(window);
            return None;
        }
        self.phase = Phase::SafeRetreat { last };
        window.pacing_rate = f64::INFINITY;
        Some(self.pipe_size * HALF)
    }

    fn jump(&mut self, window: &mut Window, ack: &Ack) {
        let jump = self.saved_cwnd * HALF;
        let path_changed = ack.min_rtt.0 <= self.saved_rtt.0 / 2;
        if path_changed || jump <= window.cwnd || !window.in_slow_start() {
            return self.become_normal(window);
        }
        self.pipe_size = f64::from(ack.in_flight);
        self.phase = Phase::Unvalidated { first: ack.sent, since: ack.now };
        window.set_cwnd(jump);
        self.pace(window, ack);
    }

    fn end_unvalidated(&mut self, window: &mut Window, ack: &Ack, first: u64, since: Nanos) {
        let used = f64::from(ack.prior_in_flight) >= window.cwnd;
        let acknowledged = self.acknowledged > first;
        if !used && !acknowledged && ack.now.since(since) <= ack.srtt {
            return;
        }
        let flight_size = f64::from(if used { ack.prior_in_flight } else { ack.in_flight });
        if flight_size < self.initial_cwnd || flight_size <= self.pipe_size {
            window.set_cwnd(self.pipe_size.max(self.initial_cwnd));
            self.become_normal(window);
        } else {
            window.set_cwnd(flight_size);
            self.phase = Phase::Validating { last: ack.sent };
        }
    }

    fn become_normal(&mut self, window: &mut Window) {
        if self.is_active() {
            window.pacing_rate = f64::INFINITY;
        }
        self.phase = Phase::Normal;
    }

    fn pace(&self, window: &mut Window, ack: &Ack) {
        if self.is_active() && ack.srtt > Nanos::ZERO {
            window.pacing_rate = window.cwnd * f64::from(window.mss()) / ack.srtt.as_secs_f64();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ack_rtt, window_with};
    use crate::{Arithmetic, State};

    fn resume() -> (CarefulResume, Window) {
        let window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
        (CarefulResume::new(200.0, Nanos::from_millis(100)), window)
    }

    /// An ACK of `acked` segments that leaves `in_flight` segments in flight.
    fn ack(ms: u64, acked: u32, sent: u64, in_flight: u32) -> Ack {
        let prior_in_flight = in_flight + acked;
        Ack { acked, cumulative: acked, sent, in_flight, prior_in_flight, ..ack_rtt(ms, 100) }
    }

    /// A flow that has jumped: 10 of 18 segments sent are acknowledged, and 8 are in flight.
    fn jumped() -> (CarefulResume, Window) {
        let (mut resume, mut window) = resume();
        resume.on_ack(&mut window, &ack(100, 4, 14, 10));
        assert_eq!((window.cwnd, window.pacing_rate), (14.0, f64::INFINITY));
        resume.on_ack(&mut window, &ack(104, 6, 18, 8));
        (resume, window)
    }

    #[test]
    fn the_initial_window_is_confirmed_before_the_jump() {
        // 200/2 = 100 segments, in 100 ms: 1,448,000 bytes a second.
        let (resume, window) = jumped();
        assert_eq!((window.cwnd, resume.pipe_size), (100.0, 8.0));
        assert!((window.pacing_rate - 1_448_000.0).abs() < 1e-6);
        assert!(resume.is_active() && window.ssthresh.is_infinite());
    }

    #[test]
    fn a_path_of_half_the_round_trip_time_is_another() {
        for (saved_ms, jumps) in [(199, true), (200, false)] {
            let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
            let mut resume = CarefulResume::new(200.0, Nanos::from_millis(saved_ms));
            resume.on_ack(&mut window, &ack(100, 10, 10, 0));
            assert_eq!(window.cwnd, if jumps { 100.0 } else { 20.0 });
            assert_eq!(resume.is_active(), jumps);
        }
    }

    #[test]
    fn congestion_before_the_jump_ends_it() {
        let (mut resume, mut window) = resume();
        resume.on_ack(&mut window, &ack(100, 4, 14, 10));
        assert_eq!(resume.on_congestion(&mut window, CongestionKind::Loss), None);
        assert!(!resume.is_active());
    }

    #[test]
    fn the_window_is_validated_when_all_of_it_is_acknowledged() {
        let (mut resume, mut window) = jumped();
        // 18 segments were sent before the jump; 8 more are acknowledged while 92 are sent: the window is not used yet, and stays.
        resume.on_ack(&mut window, &ack(150, 8, 105, 87));
        assert_eq!((window.cwnd, resume.pipe_size), (100.0, 16.0));
        // The first unvalidated segment is acknowledged, with 99 in flight, which is above PipeSize.
        resume.on_ack(&mut window, &ack(204, 1, 118, 99));
        assert_eq!((window.cwnd, resume.phase), (100.0, Phase::Validating { last: 118 }));
        // Slow start, up to the last of the 118.
        resume.on_ack(&mut window, &ack(250, 98, 160, 43));
        assert_eq!(window.cwnd, 198.0);
        assert!(resume.is_active() && window.pacing_rate.is_finite());
        resume.on_ack(&mut window, &ack(251, 1, 160, 42));
        assert_eq!((window.cwnd, window.pacing_rate), (199.0, f64::INFINITY));
        assert!(!resume.is_active());
    }

    #[test]
    fn a_window_that_is_not_used_is_taken_back() {
        // A round trip later 12 segments are in flight, no more than the 8 + 6 of PipeSize.
        let (mut resume, mut window) = jumped();
        resume.on_ack(&mut window, &ack(205, 6, 30, 12));
        assert_eq!((window.cwnd, resume.is_active()), (14.0, false));
    }

    #[test]
    fn congestion_retreats_to_half_of_what_was_delivered() {
        let (mut resume, mut window) = jumped();
        resume.on_ack(&mut window, &ack(204, 12, 118, 99));
        // PipeSize is 8 + 12.
        assert_eq!(resume.on_congestion(&mut window, CongestionKind::Loss), Some(10.0));
        window.set_ssthresh(10.0);
        window.set_cwnd(10.0);
        let recovering = Ack { state: State::Recovery, ..ack(260, 56, 130, 40) };
        assert_eq!((resume.on_ack(&mut window, &recovering), window.cwnd), (0, 10.0));
        // 22 + 56 are acknowledged; after the other 40 PipeSize is 116, and half of it is no bound to the present threshold.
        window.set_ssthresh(100.0);
        resume.on_ack(&mut window, &ack(300, 40, 140, 20));
        assert_eq!((window.ssthresh, resume.is_active()), (58.0, false));
    }

    #[test]
    fn a_timeout_ends_it() {
        let (mut resume, mut window) = jumped();
        assert_eq!(resume.on_congestion(&mut window, CongestionKind::Timeout), None);
        assert_eq!((resume.is_active(), window.pacing_rate), (false, f64::INFINITY));
    }

    #[test]
    fn nothing_saved_is_slow_start() {
        let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
        let mut resume = CarefulResume::new(0.0, Nanos::from_millis(100));
        resume.on_ack(&mut window, &ack(100, 10, 10, 0));
        assert_eq!((window.cwnd, resume.is_active()), (20.0, false));
    }
}
