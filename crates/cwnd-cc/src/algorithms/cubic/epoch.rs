//! The common part of both kernel generations of CUBIC: the cubic function and the Reno-friendly window, in real numbers and
//! in the kernel's integers.
//!
//! The kernel computes in `cnt`, the segments to acknowledge for one segment of growth. In real numbers, the same rules use
//! `W/cnt`, the growth per round trip, which saves divisions.

use crate::{Arithmetic, Nanos, Observable, Window};

/// The kernel's C: 41 * 10 / 1024 segments/s^3, nearest to 0.4 in its fixed point.
pub(super) const KERNEL_C: f64 = 410.0 / 1024.0;

/// While the window stays the same, the kernel computes again only after more than this number of milliseconds (HZ/32).
pub(super) const HOLD_MS: u64 = 31;

/// Growth per round trip where the cubic function gives none: cnt = 100 W.
pub(super) const LEAST_GROWTH: f64 = 0.01;

/// Whole milliseconds, the jiffies of a kernel at HZ = 1000 (and of ns-2).
#[inline]
pub(super) fn jiffies(time: Nanos) -> u64 {
    time.0 / 1_000_000
}

/// What Linux's and the first CUBIC show of their state.
pub(super) const OBSERVABLES: &[Observable] = &[
    Observable::new(
        "w_max",
        "W_max",
        "segments",
        "The window of the last loss, reduced by fast convergence.",
    ),
    Observable::new(
        "origin",
        "origin",
        "segments",
        "Plateau of this epoch: W_max, or the window at its beginning if that was higher.",
    ),
    Observable::new(
        "k",
        "K",
        "s",
        "Time from the epoch's beginning to its plateau: cbrt((W_max - W_epoch)/C).",
    ),
    Observable::new(
        "target",
        "W(t + RTTmin)",
        "segments",
        "The cubic function C (t - K)^3 + W_max, RTTmin ahead.",
    ),
    Observable::new("w_est", "Wtcp", "segments", "The Reno-friendly window."),
];

/// An epoch: the time between two losses.
#[derive(Clone, Debug, Default)]
pub(super) struct Epoch {
    /// Its beginning (`epoch_start`); none until the first ACK after a loss.
    pub start: Option<Nanos>,
    /// W_max, or the window at the start if that is higher (`bic_origin_point`).
    origin: f64,
    /// K: seconds, or 1/1024 s in integers.
    k: f64,
    /// Acknowledged segments that the Reno-friendly window has not counted (`ack_cnt`).
    acked: f64,
    /// Reno-friendly window (`tcp_cwnd`).
    friendly: f64,
    /// Acknowledged segments for each segment of growth of the Reno-friendly window, divided by the window: 1/alpha.
    reno_divisor: f64,
}

impl Epoch {
    /// Begins an epoch at the current window. `w_max` is 0 if unknown.
    #[cold]
    pub fn begin(&mut self, window: &Window, now: Nanos, w_max: f64, c: f64, beta: f64) {
        let cwnd = window.cwnd;
        let mut k = if w_max > cwnd { libm::cbrt((w_max - cwnd) / c) } else { 0.0 };
        if window.arithmetic() != Arithmetic::Real {
            // The kernel's own cube root is off by up to 0.15 %, to either side.
            k = libm::floor(k * 1024.0);
        }
        *self = Epoch {
            start: Some(now),
            origin: w_max.max(cwnd),
            k,
            acked: 0.0,
            friendly: cwnd,
            reno_divisor: reno_divisor(window.arithmetic(), beta),
        };
    }

    /// Returns origin + C (t - K)^3 in real numbers, with t the time since the epoch began plus `ahead`, and whether t is
    /// after K.
    #[inline]
    pub fn curve(&self, now: Nanos, ahead: Nanos, c: f64) -> (f64, bool) {
        let t = (now.since(self.start.unwrap_or(now)) + ahead).as_secs_f64();
        let offset = t - self.k;
        (self.origin + c * offset * offset * offset, offset >= 0.0)
    }

    /// Returns the same in integers, with `ahead` in jiffies, time in 1/1024 s and the cubic term rounded towards zero.
    #[inline]
    pub fn curve_in_integers(&self, now: Nanos, ahead: u64, c: f64) -> (f64, bool) {
        let elapsed = jiffies(now).saturating_sub(jiffies(self.start.unwrap_or(now)));
        let t = (elapsed.saturating_add(ahead).saturating_mul(1024) / 1000) as f64;
        let offset = (t - self.k).abs() / 1024.0;
        let term = libm::floor(c * offset * offset * offset);
        if t < self.k { (self.origin - term, false) } else { (self.origin + term, true) }
    }

    /// Returns the plateau, K in seconds, the cubic function `ahead` of now and the Reno-friendly window; NaN between epochs.
    pub fn observe(&self, window: &Window, now: Nanos, ahead: Nanos, c: f64) -> [f64; 4] {
        if self.start.is_none() {
            return [f64::NAN; 4];
        }
        match window.arithmetic() {
            Arithmetic::Real => [self.origin, self.k, self.curve(now, ahead, c).0, self.friendly],
            _ => {
                let target = self.curve_in_integers(now, jiffies(ahead + Nanos(999_999)), c).0;
                [self.origin, self.k / 1024.0, target, self.friendly]
            }
        }
    }

    /// Grows the Reno-friendly window in real numbers for `acked` segments, and returns it.
    #[inline]
    pub fn reno_friendly(&mut self, cwnd: f64, acked: f64) -> f64 {
        self.friendly += acked / (cwnd * self.reno_divisor);
        self.friendly
    }

    /// Counts acknowledged segments for the Reno-friendly window in integers.
    #[inline]
    pub fn count(&mut self, acked: f64) {
        self.acked += acked;
    }

    /// Grows the Reno-friendly window in integers by the counted segments, and bounds `cnt` so that the window follows it.
    #[inline]
    pub fn keep_up_with_reno(&mut self, cwnd: f64, cnt: f64) -> f64 {
        let per_segment = libm::floor(cwnd * self.reno_divisor).max(1.0);
        if self.acked > per_segment {
            // One step for each `per_segment` while more than that are left, so that up to `per_segment` remain.
            let steps = libm::ceil(self.acked / per_segment) - 1.0;
            self.acked -= steps * per_segment;
            self.friendly += steps;
        }
        if self.friendly > cwnd { cnt.min(libm::floor(cwnd / (self.friendly - cwnd))) } else { cnt }
    }
}

/// Returns cnt for a target in integers; 100 W where the target is not above the window.
#[inline]
pub(super) fn cnt_to(target: f64, cwnd: f64) -> f64 {
    if target > cwnd { libm::floor(cwnd / (target - cwnd)) } else { 100.0 * cwnd }
}

/// Returns 1/alpha with alpha = 3 (1 - beta)/(1 + beta). The kernel stores it in eighths, rounded down.
fn reno_divisor(arithmetic: Arithmetic, beta: f64) -> f64 {
    if arithmetic == Arithmetic::Real {
        return (1.0 + beta) / (3.0 * (1.0 - beta));
    }
    let beta = libm::floor(beta * 1024.0);
    libm::floor(libm::floor(8.0 * (1024.0 + beta) / 3.0) / (1024.0 - beta)) / 8.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reno_divisor_is_rounded_down_to_eighths() {
        // beta 819/1024: 8 * 1843/3 = 4914.67 -> 4914; 4914/205 = 23.97 -> 23; 23/8 = 2.875, exactly 2.9967.
        assert_eq!(reno_divisor(Arithmetic::Linux26, 819.0 / 1024.0), 2.875);
        assert!((reno_divisor(Arithmetic::Real, 819.0 / 1024.0) - 2.99675).abs() < 1e-5);
        // beta 717/1024: 8 * 1741/3 = 4642.67 -> 4642; 4642/307 = 15.12 -> 15; 15/8 = 1.875.
        assert_eq!(reno_divisor(Arithmetic::Linux, 717.0 / 1024.0), 1.875);
        // RFC 8312's 0.7: 1.7/0.9 = 1/0.5294.
        assert!((reno_divisor(Arithmetic::Real, 0.7) - 1.7 / 0.9).abs() < 1e-12);
    }

    const fn ms(ms: u64) -> Nanos {
        Nanos::from_millis(ms)
    }

    /// Lost at 1,000 segments; begun at 2 s with a window of 700.
    fn begun(arithmetic: Arithmetic) -> Epoch {
        let mut epoch = Epoch { acked: 7.0, ..Epoch::default() };
        epoch.begin(&crate::testing::window(700.0, arithmetic), ms(2000), 1000.0, 0.4, 0.7);
        epoch
    }

    #[test]
    fn an_epoch_begins_with_its_own_plateau() {
        // K = cbrt(300/0.4) = 9.085603 s; in integers floor(9303.66) = 9303. Over W_max K is 0 and the plateau at
        // the window.
        let (real, whole) = (begun(Arithmetic::Real), begun(Arithmetic::Linux));
        assert!((real.k - 9.085_603).abs() < 1e-6);
        assert_eq!((whole.k, whole.origin, whole.friendly, whole.acked), (9303.0, 1000.0, 700.0, 0.0));
        let mut over = Epoch::default();
        over.begin(&crate::testing::window(700.0, Arithmetic::Real), ms(2000), 650.0, 0.4, 0.7);
        assert_eq!((over.k, over.origin, over.start), (0.0, 700.0, Some(ms(2000))));
    }

    #[test]
    fn the_curve_in_real_numbers() {
        // 2 s and 100 ms ahead: 1000 - 0.4 (9.085603 - 2.1)^3 = 863.6448. 12 s: 1000 + 0.4 * 2.914397^3 = 1009.9016.
        let epoch = begun(Arithmetic::Real);
        for (at, ahead, value, past) in [(4000, 100, 863.6448, false), (14_000, 0, 1009.9016, true)] {
            let (target, is_past) = epoch.curve(ms(at), ms(ahead), 0.4);
            assert!((target - value).abs() < 1e-4 && is_past == past, "{target}");
        }
        // At K itself it is past it, and an epoch that has not begun begins now.
        let flat = Epoch { origin: 700.0, ..Epoch::default() };
        assert_eq!(flat.curve(ms(5000), Nanos::ZERO, 0.4), (700.0, true));
    }

    #[test]
    fn the_curve_in_integers() {
        // 2,100 ms are floor(2100 * 1.024) = 2150: 0.4 (7153/1024)^3 = 136.34, so 1000 - 136. 12,000 ms are 12,288:
        // 0.4 (2985/1024)^3 = 9.91, so 1009.
        let epoch = begun(Arithmetic::Linux);
        assert_eq!(epoch.curve_in_integers(ms(4000), 100, 0.4), (864.0, false));
        assert_eq!(epoch.curve_in_integers(ms(14_000), 0, 0.4), (1009.0, true));
        let flat = Epoch { origin: 700.0, ..Epoch::default() };
        assert_eq!(flat.curve_in_integers(ms(5000), 0, 0.4), (700.0, true));
    }

    #[test]
    fn cnt_is_what_it_takes_to_the_target() {
        // 700/(864 - 700) = 4.27; where the target is no higher 100 W.
        for (target, cnt) in [(864.0, 4.0), (700.0, 70_000.0), (600.0, 70_000.0)] {
            assert_eq!(cnt_to(target, 700.0), cnt);
        }
    }

    #[test]
    fn the_reno_window_grows_by_a_share_of_what_is_acknowledged() {
        // 7 of 7 segments at 1/0.529412: 7 + 0.529412, and as much again.
        let mut epoch = Epoch { friendly: 7.0, reno_divisor: 1.7 / 0.9, ..Epoch::default() };
        for friendly in [7.529_411_76, 8.058_823_53] {
            assert!((epoch.reno_friendly(7.0, 7.0) - friendly).abs() < 1e-8);
        }
        // A window so small that its share is under a segment counts each segment.
        let mut least = Epoch { friendly: 1.0, reno_divisor: 0.5, ..Epoch::default() };
        least.count(3.0);
        least.keep_up_with_reno(1.0, 100.0);
        assert_eq!((least.friendly, least.acked), (3.0, 1.0));
    }

    #[test]
    fn the_reno_window_takes_a_step_while_more_than_a_share_is_left() {
        // A window of 8 and a divisor of 1.875 make a share of 15 segments.
        let mut epoch = Epoch { friendly: 8.0, reno_divisor: 1.875, ..Epoch::default() };
        epoch.count(15.0);
        assert_eq!(epoch.keep_up_with_reno(8.0, 800.0), 800.0);
        assert_eq!((epoch.friendly, epoch.acked), (8.0, 15.0));
        // One more makes 16 > 15: one step, one left. Then cnt is at most 8/(9 - 8).
        epoch.count(1.0);
        assert_eq!(epoch.keep_up_with_reno(8.0, 800.0), 8.0);
        assert_eq!((epoch.friendly, epoch.acked), (9.0, 1.0));
        // 44 more make 45 = 3 shares: two steps, one share is left; cnt at most 8/3 = 2.
        epoch.count(44.0);
        assert_eq!(epoch.keep_up_with_reno(8.0, 800.0), 2.0);
        assert_eq!((epoch.friendly, epoch.acked), (11.0, 15.0));
    }
}
