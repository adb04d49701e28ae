//! What both kernel generations of CUBIC share: the cubic function and the Reno-friendly window, in the kernel's
//! integers where the window is kept in integers.

use crate::{Arithmetic, Nanos, Window};

/// The kernel's C: 41 * 10 / 1024 segments/s^3, nearest to 0.4 in its fixed point.
pub(super) const KERNEL_C: f64 = 410.0 / 1024.0;

/// While the window stays the same, the kernel computes anew only after more than this many milliseconds (HZ/32).
pub(super) const HOLD_MS: u64 = 31;

/// Whole milliseconds, the jiffies of a kernel at HZ = 1000 (and of ns-2).
#[inline]
pub(super) fn jiffies(time: Nanos) -> u64 {
    time.0 / 1_000_000
}

/// One epoch: from one loss to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Epoch {
    /// When it began (`epoch_start`); none until the first ACK after a loss.
    pub start: Option<Nanos>,
    /// W_max, or the window at the start if that is higher (`bic_origin_point`).
    origin: f64,
    /// K, in the units of `elapsed`.
    k: f64,
    /// Acknowledged segments that the Reno-friendly window has not counted (`ack_cnt`).
    acked: f64,
    /// Reno-friendly window (`tcp_cwnd`).
    friendly: f64,
}

impl Epoch {
    /// Count acknowledged segments towards the Reno-friendly window.
    #[inline]
    pub fn count(&mut self, acked: f64) {
        self.acked += acked;
    }

    /// Begin at the window's value, `acked` segments being acknowledged just now. `w_max` is 0 if unknown.
    #[cold]
    pub fn begin(&mut self, window: &Window, now: Nanos, acked: f64, w_max: f64, c: f64) {
        let cwnd = window.cwnd;
        self.start = Some(now);
        self.acked = acked;
        self.friendly = cwnd;
        self.origin = w_max.max(cwnd);
        // K = cbrt((W_max - W)/C), in 1/1024 s for integers. The kernel's own root is low by up to 0.2 %.
        self.k = if w_max > cwnd { libm::cbrt((w_max - cwnd) / c) } else { 0.0 };
        if window.arithmetic() != Arithmetic::Real {
            self.k = libm::floor(self.k * 1024.0);
        }
    }

    /// W(t + delay) = origin + C (t - K)^3, and whether that time is past the origin.
    ///
    /// `delay_jiffies` looks ahead for integers, `delay` for real numbers.
    #[inline]
    pub fn target(
        &self,
        window: &Window,
        now: Nanos,
        delay: Nanos,
        delay_jiffies: u64,
        c: f64,
    ) -> (f64, bool) {
        let start = self.start.unwrap_or(now);
        if window.arithmetic() == Arithmetic::Real {
            let offset = (now.since(start) + delay).as_secs_f64() - self.k;
            return (self.origin + c * offset * offset * offset, offset >= 0.0);
        }
        // Time in 1/1024 s, as the kernel turns jiffies into it.
        let elapsed = jiffies(now).saturating_sub(jiffies(start)).saturating_add(delay_jiffies);
        let t = (elapsed.saturating_mul(1024) / 1000) as f64;
        let offset = (t - self.k).abs() / 1024.0;
        let delta = libm::floor(c * offset * offset * offset);
        if t < self.k { (self.origin - delta, false) } else { (self.origin + delta, true) }
    }

    /// Take the counted segments into the Reno-friendly window, one segment for `per_segment`, and bound `cnt`,
    /// the segments to acknowledge for each one of growth, so that the window keeps up with it.
    #[inline]
    pub fn keep_up_with_reno(&mut self, window: &Window, per_segment: f64, cnt: f64) -> f64 {
        let cwnd = window.cwnd;
        if window.arithmetic() == Arithmetic::Real {
            self.friendly += self.acked / per_segment;
            self.acked = 0.0;
        } else {
            let per_segment = libm::floor(per_segment).max(1.0);
            if self.acked > per_segment {
                // The kernel takes steps while more than `per_segment` are left, so up to `per_segment` stay.
                let steps = libm::ceil(self.acked / per_segment) - 1.0;
                self.acked -= steps * per_segment;
                self.friendly += steps;
            }
        }
        if self.friendly > cwnd { cnt.min(window.whole(cwnd / (self.friendly - cwnd))) } else { cnt }
    }
}

/// Segments to acknowledge for one segment of the Reno-friendly window, divided by the window: 1/alpha with
/// alpha = 3 (1 - beta)/(1 + beta). The kernel keeps it in eighths, rounded down.
pub(super) fn reno_divisor(arithmetic: Arithmetic, beta: f64) -> f64 {
    if arithmetic == Arithmetic::Real {
        return (1.0 + beta) / (3.0 * (1.0 - beta));
    }
    let beta = libm::floor(beta * 1024.0);
    libm::floor(libm::floor(8.0 * (1024.0 + beta) / 3.0) / (1024.0 - beta)) / 8.0
}
