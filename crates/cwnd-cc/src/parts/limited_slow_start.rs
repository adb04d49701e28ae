//! Limited slow start: large windows do not double.
//!
//! RFC 3742 (S. Floyd, 2004), section 2, with W the window in segments, for each acknowledged segment:
//!
//! ```text
//! W <= max_ssthresh   W += 1
//! W >  max_ssthresh   W += 1/K,   K = int(W / (max_ssthresh/2))
//! ```
//!
//! A window above `max_ssthresh` = 100 therefore grows by 50 to 75 segments per round trip, closer to 50 the larger it is.
//! Slow start can then not lose half of a huge window at once. (Linux 2.6 had it as `tcp_max_ssthresh`, off by default, with
//! exactly `max_ssthresh/2` per round trip.)

use crate::{Ack, Arithmetic, Window};

/// `max_ssthresh`, segments, as the RFC recommends.
pub const MAX_SSTHRESH: f64 = 100.0;

/// Limited slow start.
#[derive(Clone, Debug)]
pub struct LimitedSlowStart {
    max_ssthresh: f64,
}

impl Default for LimitedSlowStart {
    fn default() -> Self {
        LimitedSlowStart::new(MAX_SSTHRESH)
    }
}

impl LimitedSlowStart {
    /// Creates a slow start that doubles up to `max_ssthresh` segments.
    pub fn new(max_ssthresh: f64) -> Self {
        LimitedSlowStart { max_ssthresh }
    }

    /// Handles an ACK in slow start: grows the window if allowed. Returns the acknowledged segments that remain for congestion
    /// avoidance.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack) -> u32 {
        if !ack.may_grow() {
            return 0;
        }
        if !window.in_slow_start() {
            ack.acked
        } else if window.cwnd <= self.max_ssthresh {
            self.double(window, ack.acked)
        } else {
            self.grow_slower(window, ack.acked)
        }
    }

    /// Runs standard slow start until the window is above `max_ssthresh`.
    fn double(&self, window: &mut Window, acked: u32) -> u32 {
        let steps = (libm::floor(self.max_ssthresh - window.cwnd) as u32).saturating_add(1);
        if acked <= steps || window.arithmetic() == Arithmetic::Linux26 {
            return window.slow_start(acked);
        }
        let left = window.slow_start(steps);
        if window.in_slow_start() { self.grow_slower(window, acked - steps) } else { left + (acked - steps) }
    }

    fn grow_slower(&self, window: &mut Window, acked: u32) -> u32 {
        let k = libm::floor(window.cwnd / (self.max_ssthresh / 2.0)).max(1.0);
        let room = (window.ssthresh - window.cwnd) * k;
        if f64::from(acked) < room {
            window.increase(acked, k);
            return 0;
        }
        window.set_cwnd(window.ssthresh);
        (f64::from(acked) - room) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ack, acks_for_a_segment, assert_near, window_with};
    use crate::{Congestion, CongestionControl};

    fn grown(cwnd: f64, ssthresh: f64, acked: u32) -> (f64, u32) {
        let mut window = window_with(cwnd, ssthresh, Arithmetic::Real);
        let left = LimitedSlowStart::default().on_ack(&mut window, &Ack { acked, ..ack(0) });
        (window.cwnd, left)
    }

    #[test]
    fn growth_for_a_segment_is_one_over_k() {
        // K = int(W/50). 99 and 100: standard. 101: K = 2. 149: K = int(2.98) = 2. 150: 3. 1000: 20.
        for (cwnd, growth) in
            [(99.0, 1.0), (100.0, 1.0), (101.0, 0.5), (149.0, 0.5), (150.0, 1.0 / 3.0), (1000.0, 0.05)]
        {
            assert_near(grown(cwnd, f64::INFINITY, 1).0 - cwnd, growth, 1e-12);
        }
    }

    #[test]
    fn one_ack_may_pass_max_ssthresh() {
        // From 98: 99, 100, 101; then K = int(101/50) = 2 for the other five: 103.5.
        assert_eq!(grown(98.0, f64::INFINITY, 8), (103.5, 0));
    }

    #[test]
    fn what_is_left_at_the_threshold_is_handed_over() {
        // 200 to 201 takes K = 4 segments; six of ten are left. At 50 with ssthresh 51 one of three is used.
        assert_eq!(grown(200.0, 201.0, 10), (201.0, 6));
        assert_eq!(grown(50.0, 51.0, 3), (51.0, 2));
        // At 98 with ssthresh 100 two of eight are used.
        assert_eq!(grown(98.0, 100.0, 8), (100.0, 6));
    }

    #[test]
    fn integer_arithmetics_count_the_segments_of_a_step() {
        // W = 200: K = 4, so a step takes 4 ACKs, 5 in Linux 2.6.
        struct Alone(LimitedSlowStart);
        impl CongestionControl for Alone {
            fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
                self.0.on_ack(window, ack);
            }
            fn on_congestion(&mut self, _: &mut Window, _: &Congestion) {}
        }
        for (arithmetic, acks) in [(Arithmetic::Linux, 4), (Arithmetic::Linux26, 5)] {
            let mut window = window_with(200.0, 1000.0, arithmetic);
            assert_eq!(
                acks_for_a_segment(&mut Alone(LimitedSlowStart::default()), &mut window, &ack(0)),
                acks
            );
        }
    }

    #[test]
    fn nothing_grows_without_leave() {
        let mut window = window_with(200.0, 1000.0, Arithmetic::Real);
        let idle = Ack { cwnd_limited: false, ..ack(0) };
        assert_eq!(LimitedSlowStart::default().on_ack(&mut window, &idle), 0);
        assert_eq!(window.cwnd, 200.0);
    }
}
