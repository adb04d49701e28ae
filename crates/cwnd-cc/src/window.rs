//! The window that a transport and its algorithm share, and the two arithmetics by which it grows.

use crate::Ack;
use core::fmt;

/// How fractional growth is kept.
///
/// Linux's window is an integer and grows by counting ACKs, so every algorithm in it truncates. A curve from real-valued
/// growth cannot be converted into the kernel's afterwards. The stack profile selects the arithmetic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// Real-valued, as papers write their equations.
    #[default]
    Real,
    /// Today's Linux: integer window, an ACK counter that keeps its remainder, several steps per ACK.
    Linux,
    /// Linux 2.6 and ns-2.35's TCP-Linux: integer window, one count per ACK, and a counter that restarts from zero after each
    /// step, so that a step takes one ACK more than its divisor.
    Linux26,
}

/// Initial values of a [`Window`].
#[derive(Clone, Copy, Debug)]
pub struct WindowConfig {
    /// Initial window, segments.
    pub initial_cwnd: f64,
    /// Initial slow-start threshold, segments; infinite when the stack sets none.
    pub initial_ssthresh: f64,
    /// Largest window, segments.
    pub clamp: f64,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// How fractional growth is kept.
    pub arithmetic: Arithmetic,
    /// Whether `cwnd == ssthresh` still counts as slow start (ns-2.35 and Linux before 4.x: yes).
    pub slow_start_at_ssthresh: bool,
}

impl Default for WindowConfig {
    fn default() -> Self {
        WindowConfig {
            initial_cwnd: 10.0,
            initial_ssthresh: f64::INFINITY,
            clamp: f64::INFINITY,
            mss: 1448,
            arithmetic: Arithmetic::Real,
            slow_start_at_ssthresh: false,
        }
    }
}

/// The state that a transport reads after every event.
///
/// An algorithm may set any value that its field's documentation allows; [`Window::illegal_value`] finds others. The simulator ends a
/// run with an error in which an algorithm sets another value: a TCP flow could never send again, and what a QUIC flow sends would say
/// nothing about the algorithm.
#[derive(Clone, Debug)]
pub struct Window {
    /// Congestion window, segments, at least 1. The transport sends while its floor exceeds the segments in flight.
    pub cwnd: f64,
    /// Slow-start threshold, segments, not NaN; infinite when not set. A window that is set to it has at least 1 segment.
    pub ssthresh: f64,
    /// The window to hold during recovery, segments, not NaN; `None` means `ssthresh`. Reset at each event.
    pub recovery_cwnd: Option<f64>,
    /// The window after a retransmission timeout, segments, not NaN.
    pub restart_cwnd: f64,
    /// The rate at which to space packets, payload bytes a second, above 0; infinite when the algorithm does not pace.
    pub pacing_rate: f64,
    clamp: f64,
    mss: u32,
    counter: u32,
    credit: f64,
    /// Acknowledged segments that have caused no step yet (Reno of Linux 2.6).
    acknowledged: u32,
    arithmetic: Arithmetic,
    slow_start_at_ssthresh: bool,
}

/// A value that no [`Window`] may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IllegalValue {
    /// The field's name.
    pub field: &'static str,
    /// The value.
    pub value: f64,
    /// What the field must be.
    pub rule: &'static str,
}

impl fmt::Display for IllegalValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}; it must be {}", self.field, self.value, self.rule)
    }
}

/// Smallest slow-start threshold, segments (RFC 5681 section 3.1, equation 4).
pub const MIN_SSTHRESH: f64 = 2.0;

impl Window {
    /// Creates a window with the stack's initial values.
    pub fn new(config: &WindowConfig) -> Self {
        Window {
            cwnd: config.initial_cwnd,
            ssthresh: config.initial_ssthresh,
            recovery_cwnd: None,
            restart_cwnd: 1.0,
            pacing_rate: f64::INFINITY,
            clamp: config.clamp.max(1.0),
            mss: config.mss,
            counter: 0,
            credit: 0.0,
            acknowledged: 0,
            arithmetic: config.arithmetic,
            slow_start_at_ssthresh: config.slow_start_at_ssthresh,
        }
    }

    /// Returns whether the window and the pacing rate let a flow send: the part of [`Window::illegal_value`] that a transport checks
    /// after every event. Comparisons with NaN are false.
    #[inline(always)]
    pub fn lets_send(&self) -> bool {
        self.cwnd >= 1.0 && self.pacing_rate > 0.0
    }

    /// Returns the first field with a value that is not allowed.
    pub fn illegal_value(&self) -> Option<IllegalValue> {
        const NUMBER: &str = "a number of segments";
        let recovery_cwnd = self.recovery_cwnd.unwrap_or_default();
        // Windows are set to the thresholds, so that these are the cause where both are NaN.
        let fields = [
            ("ssthresh", self.ssthresh, !self.ssthresh.is_nan(), "a number of segments, or infinite"),
            ("recovery_cwnd", recovery_cwnd, !recovery_cwnd.is_nan(), NUMBER),
            ("restart_cwnd", self.restart_cwnd, !self.restart_cwnd.is_nan(), NUMBER),
            ("cwnd", self.cwnd, self.cwnd >= 1.0, "at least 1 segment"),
            (
                "pacing_rate",
                self.pacing_rate,
                self.pacing_rate > 0.0,
                "above 0, or infinite to send without pacing",
            ),
        ];
        let wrong = fields.into_iter().find(|(_, _, is_legal, _)| !is_legal);
        wrong.map(|(field, value, _, rule)| IllegalValue { field, value, rule })
    }

    /// Returns the payload of a full segment, bytes.
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// Sets the payload of a full segment, bytes. Windows in segments keep their values. Transports call it, algorithms do not.
    pub fn set_mss(&mut self, bytes: u32) {
        self.mss = bytes;
    }

    /// Returns the largest window allowed, segments.
    pub fn clamp(&self) -> f64 {
        self.clamp
    }

    /// Returns the arithmetic by which the window grows.
    pub fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// Returns whether the flow is in slow start.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.below_ssthresh(self.cwnd)
    }

    /// Returns whether a window of `segments` would be in slow start: under `ssthresh`, or at it where the stack
    /// counts that too.
    #[inline]
    pub fn below_ssthresh(&self, segments: f64) -> bool {
        segments < self.ssthresh || (self.slow_start_at_ssthresh && segments == self.ssthresh)
    }

    /// Grows the window by standard slow start: one segment for each acknowledged one, up to `ssthresh`. Returns how many
    /// acknowledged segments are left for congestion avoidance.
    #[inline]
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        match self.arithmetic {
            Arithmetic::Linux26 => {
                // One step an ACK, and the window may end one over ssthresh (`<=`).
                self.acknowledged = 0;
                self.cwnd = at_most(self.cwnd + 1.0, self.clamp);
                0
            }
            Arithmetic::Real | Arithmetic::Linux => {
                let room = self.ssthresh - self.cwnd;
                let acked = f64::from(acked);
                if acked <= room {
                    self.cwnd = at_most(self.cwnd + acked, self.clamp);
                    return 0;
                }
                self.cwnd = self.ssthresh.max(self.cwnd).min(self.clamp);
                (acked - room.max(0.0)) as u32
            }
        }
    }

    /// Grows the window additively: one segment for every `per_segment` acknowledged ones (for Reno that is `cwnd`).
    ///
    /// Real arithmetic adds `acked / per_segment`; the integer ones truncate `per_segment` and count.
    #[inline]
    pub fn increase(&mut self, acked: u32, per_segment: f64) {
        match self.arithmetic {
            Arithmetic::Real => {
                self.cwnd = at_most(self.cwnd + f64::from(acked) / per_segment, self.clamp);
            }
            Arithmetic::Linux => {
                let per = truncate(per_segment);
                let mut step = 0;
                if self.counter >= per {
                    self.counter = 0;
                    step = 1;
                }
                self.counter = self.counter.saturating_add(acked);
                if self.counter >= per {
                    step = u32::saturating_add(step, self.counter / per);
                    self.counter %= per;
                }
                if step > 0 {
                    self.cwnd = at_most(self.cwnd + f64::from(step), self.clamp);
                }
            }
            Arithmetic::Linux26 => {
                if self.counter >= truncate(per_segment) {
                    self.counter = 0;
                    self.cwnd = at_most(self.cwnd + 1.0, self.clamp);
                } else {
                    self.counter += 1;
                }
            }
        }
    }

    /// Grows the window by one segment for each window of acknowledged ones, as modules with their own copy of Reno do. In
    /// Linux 2.6's arithmetic the ACK that completes the window takes the step; with [`Window::increase`] the next ACK does.
    #[inline]
    pub fn increase_by_window(&mut self, acked: u32) {
        if self.arithmetic != Arithmetic::Linux26 {
            return self.increase(acked, self.cwnd);
        }
        let window = truncate(self.cwnd);
        self.counter += u32::from(self.counter < window);
        if self.counter >= window {
            self.counter = 0;
            self.cwnd = at_most(self.cwnd + 1.0, self.clamp);
        }
    }

    /// Grows the window as Reno does: one segment for each window of acknowledged ones.
    ///
    /// Linux 2.6, and so ns-2.35, counts the bytes that are acknowledged in congestion avoidance (RFC 3465) where its
    /// algorithms that end in Reno grow: at most one step per ACK, and the remainder stays.
    #[inline]
    pub fn increase_as_reno(&mut self, ack: &Ack, acked: u32) {
        if self.arithmetic != Arithmetic::Linux26 {
            return self.increase(acked, self.cwnd);
        }
        self.acknowledged = self.acknowledged.saturating_add(ack.cumulative);
        let window = truncate(self.cwnd);
        if self.acknowledged >= window {
            self.acknowledged -= window;
            self.cwnd = at_most(self.cwnd + 1.0, self.clamp);
        }
    }

    /// Counts acknowledged segments in the counter of [`Window::increase`]. Returns true, and resets the counter, if it had
    /// reached a window before; the ACK of that call is not counted.
    pub fn count_window(&mut self, acked: u32) -> bool {
        let full = self.counter >= truncate(self.cwnd);
        self.counter = if full { 0 } else { self.counter.saturating_add(acked) };
        full
    }

    /// Grows the window additively and keeps the remainder in every arithmetic: `weight` segments for every
    /// `per_segment` acknowledged ones, as in `cwnd += weight / cwnd` an ACK.
    ///
    /// Real arithmetic adds `acked * weight / per_segment`. The integer ones give each acknowledged segment
    /// (each ACK, in [`Arithmetic::Linux26`]) `weight` credits and take a step for `per_segment` of them,
    /// which is how modules that count in scaled integers behave.
    #[inline(always)]
    pub fn increase_weighted(&mut self, acked: u32, weight: f64, per_segment: f64) {
        match self.arithmetic {
            Arithmetic::Real => {
                self.cwnd = at_most(self.cwnd + f64::from(acked) * weight / per_segment, self.clamp);
                return;
            }
            Arithmetic::Linux => self.credit += f64::from(acked) * weight,
            Arithmetic::Linux26 => self.credit += weight,
        }
        if self.credit >= per_segment {
            self.spend_credit(per_segment);
        }
    }

    #[inline(never)]
    fn spend_credit(&mut self, per_segment: f64) {
        let steps = libm::floor(self.credit / per_segment);
        self.credit -= steps * per_segment;
        self.cwnd = at_most(self.cwnd + steps, self.clamp);
    }

    /// Sets the window, kept within one segment and the clamp (and whole, where the arithmetic is).
    #[inline]
    pub fn set_cwnd(&mut self, segments: f64) {
        self.cwnd = self.whole(segments).clamp(1.0, self.clamp);
    }

    /// Lowers the window outside a congestion episode, as delay-based algorithms do. At least two segments remain. The
    /// slow-start threshold falls with the window, so that slow start does not restore it.
    pub fn lower_cwnd(&mut self, segments: f64) {
        if self.whole(segments) < self.cwnd {
            self.set_cwnd(segments.max(MIN_SSTHRESH.min(self.cwnd)));
        }
        if self.in_slow_start() {
            let under = if self.slow_start_at_ssthresh { 1.0 } else { 0.0 };
            self.set_ssthresh(self.cwnd - under);
        }
    }

    /// Returns how many segments an ACK of `acked` counts as in an algorithm's own window: Linux 2.6 counts each ACK as
    /// one.
    #[inline]
    pub fn counted(&self, acked: u32) -> f64 {
        if self.arithmetic == Arithmetic::Linux26 { 1.0 } else { f64::from(acked) }
    }

    /// Sets the slow-start threshold, at least two segments (and whole, where the arithmetic is).
    #[inline]
    pub fn set_ssthresh(&mut self, segments: f64) {
        self.ssthresh = self.whole(segments).max(MIN_SSTHRESH);
    }

    /// Sets the slow-start threshold for a congestion episode and resets the counted fraction of a step, as every Linux
    /// version does when it reduces.
    #[inline]
    pub fn set_ssthresh_for_loss(&mut self, ssthresh: f64) {
        self.set_ssthresh(ssthresh);
        self.reset_counter();
    }

    /// Resets the fraction of a step that the integer arithmetics have counted.
    pub fn reset_counter(&mut self) {
        self.counter = 0;
        self.credit = 0.0;
        self.acknowledged = 0;
    }

    /// Returns `segments` as the arithmetic stores them: rounded down if windows are integers.
    #[inline]
    pub fn whole(&self, segments: f64) -> f64 {
        match self.arithmetic {
            Arithmetic::Real => segments,
            _ => libm::floor(segments),
        }
    }
}

/// Returns the smaller of two numbers, in one instruction; `f64::min` takes three because it handles NaN.
#[inline]
fn at_most(segments: f64, limit: f64) -> f64 {
    if segments > limit { limit } else { segments }
}

#[inline]
fn truncate(per_segment: f64) -> u32 {
    (per_segment as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{window, window_with};
    use alloc::string::ToString;

    #[test]
    fn values_with_which_no_flow_could_send_are_found() {
        let with = |change: fn(&mut Window)| {
            let mut window = Window::new(&WindowConfig::default());
            change(&mut window);
            assert!(window.lets_send() || window.illegal_value().is_some());
            window.illegal_value().map(|illegal| illegal.to_string())
        };
        assert_eq!(with(|_| ()), None);
        assert_eq!(with(|window| (window.cwnd, window.pacing_rate) = (1.0, 1e-9)), None);
        assert_eq!(with(|window| window.recovery_cwnd = Some(-1.0)), None);
        let expected = [
            (with(|window| window.cwnd = f64::NAN), "cwnd is NaN; it must be at least 1 segment"),
            (with(|window| window.cwnd = 0.5), "cwnd is 0.5; it must be at least 1 segment"),
            (with(|window| window.set_cwnd(f64::NAN)), "cwnd is NaN; it must be at least 1 segment"),
            (
                with(|window| (window.ssthresh, window.cwnd) = (f64::NAN, f64::NAN)),
                "ssthresh is NaN; it must be a number of segments, or infinite",
            ),
            (
                with(|window| window.recovery_cwnd = Some(f64::NAN)),
                "recovery_cwnd is NaN; it must be a number of segments",
            ),
            (
                with(|window| window.restart_cwnd = f64::NAN),
                "restart_cwnd is NaN; it must be a number of segments",
            ),
            (
                with(|window| window.pacing_rate = 0.0),
                "pacing_rate is 0; it must be above 0, or infinite to send without pacing",
            ),
        ];
        for (found, text) in expected {
            assert_eq!(found.as_deref(), Some(text));
        }
    }

    #[test]
    fn linux_keeps_the_remainder_and_takes_several_steps() {
        // 25 acknowledged at one step for 10: two steps, 5 are kept; 5 more make the third.
        let mut linux = window(10.0, Arithmetic::Linux);
        linux.increase(25, 10.9);
        assert_eq!(linux.cwnd, 12.0);
        linux.increase(5, 10.9);
        assert_eq!(linux.cwnd, 13.0);
    }

    #[test]
    fn linux_26_counts_acks_and_drops_the_remainder() {
        // Whatever an ACK acknowledges it counts once; the step comes with the ACK after the tenth.
        let mut linux = window(10.0, Arithmetic::Linux26);
        for _ in 0..10 {
            linux.increase(100, 10.9);
        }
        assert_eq!(linux.cwnd, 10.0);
        linux.increase(1, 10.9);
        assert_eq!(linux.cwnd, 11.0);
    }

    #[test]
    fn reno_of_linux_26_counts_segments_and_keeps_what_is_over() {
        // 10 segments: the tenth makes the step. Then 11: 25 at once make one step, and 14 are over, so that the next ACK
        // makes another. 15 - 12 = 3 are left, to which 9 more are not enough for 13, and 10 are.
        let mut window = window(10.0, Arithmetic::Linux26);
        let mut acked = |cumulative| {
            window.increase_as_reno(&Ack { cumulative, ..Ack::default() }, 1);
            window.cwnd
        };
        assert_eq!([9, 1].map(&mut acked), [10.0, 11.0]);
        assert_eq!([25, 1, 9, 1].map(&mut acked), [12.0, 13.0, 13.0, 14.0]);
        // Slow start and a reduction forget it.
        let mut slow = window_with(4.0, 4.0, Arithmetic::Linux26);
        slow.acknowledged = 3;
        slow.slow_start(1);
        assert_eq!((slow.cwnd, slow.acknowledged), (5.0, 0));
        slow.acknowledged = 3;
        slow.set_ssthresh_for_loss(2.0);
        assert_eq!(slow.acknowledged, 0);
        // Elsewhere it is the plain increase: a real window of 5 grows by 2/5.
        let mut real = window_with(5.0, 2.0, Arithmetic::Real);
        real.increase_as_reno(&Ack { cumulative: 9, ..Ack::default() }, 2);
        assert_eq!(real.cwnd, 5.4);
    }

    #[test]
    fn weighted_steps_keep_their_remainder() {
        // 3 for each of 10: three ACKs are worth 9, the fourth makes a step and leaves 2, so the next takes
        // three.
        for arithmetic in [Arithmetic::Linux, Arithmetic::Linux26] {
            let mut window = window(10.0, arithmetic);
            let mut taken = [0.0; 7];
            for step in &mut taken {
                window.increase_weighted(1, 3.0, 10.0);
                *step = window.cwnd;
            }
            assert_eq!(taken, [10.0, 10.0, 10.0, 11.0, 11.0, 11.0, 12.0]);
        }
        let mut real = window(10.0, Arithmetic::Real);
        real.increase_weighted(4, 3.0, 10.0);
        assert_eq!(real.cwnd, 11.2);
    }

    #[test]
    fn a_reduction_forgets_what_was_counted() {
        let mut window = window(10.0, Arithmetic::Linux);
        window.increase(9, 10.0);
        window.increase_weighted(9, 1.0, 10.0);
        window.set_ssthresh_for_loss(5.9);
        assert_eq!(window.ssthresh, 5.0);
        window.increase(9, 10.0);
        window.increase_weighted(9, 1.0, 10.0);
        assert_eq!(window.cwnd, 10.0);
    }

    #[test]
    fn what_is_given_up_to_delay_is_not_won_back_by_slow_start() {
        // 60 of 100, under a threshold of 80: the threshold follows, one lower where it counts as slow start.
        for (arithmetic, ssthresh) in [(Arithmetic::Real, 60.0), (Arithmetic::Linux26, 59.0)] {
            let mut window = window_with(100.0, 80.0, arithmetic);
            window.lower_cwnd(60.0);
            assert_eq!((window.cwnd, window.ssthresh), (60.0, ssthresh));
            assert!(!window.in_slow_start());
            // Two segments stay, and nothing is raised.
            window.lower_cwnd(-5.0);
            assert_eq!((window.cwnd, window.ssthresh), (2.0, 2.0));
            window.lower_cwnd(50.0);
            assert_eq!(window.cwnd, 2.0);
        }
        let mut single = window(1.0, Arithmetic::Real);
        single.lower_cwnd(0.0);
        assert_eq!(single.cwnd, 1.0);
    }

    #[test]
    fn slow_start_may_include_the_threshold() {
        assert!(window_with(10.0, 10.0, Arithmetic::Linux26).in_slow_start());
        assert!(!window_with(10.0, 10.0, Arithmetic::Linux).in_slow_start());
        // One step an ACK, one over the threshold at the end.
        let mut window = window_with(10.0, 10.0, Arithmetic::Linux26);
        assert_eq!((window.slow_start(5), window.cwnd), (0, 11.0));
    }

    #[test]
    fn nothing_passes_the_clamp() {
        for arithmetic in [Arithmetic::Real, Arithmetic::Linux, Arithmetic::Linux26] {
            let config = WindowConfig { clamp: 12.0, arithmetic, ..WindowConfig::default() };
            let mut window = Window::new(&config);
            for _ in 0..100 {
                window.slow_start(100);
                window.increase(100, 1.0);
                window.increase_weighted(100, 100.0, 1.0);
                window.set_cwnd(1e9);
            }
            assert_eq!(window.cwnd, 12.0);
        }
    }
}
