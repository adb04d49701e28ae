//! HighSpeed TCP's response function: the growth of a window, and its reduction at a loss.
//!
//! RFC 3649 (S. Floyd, 2003), section 5, with w the window in segments:
//!
//! ```text
//! b(w) = 0.5 + (High_Decrease - 0.5) (log w - log Low_Window) / (log High_Window - log Low_Window)
//! p(w) = 0.078 / w^1.2
//! a(w) = w^2 p(w) 2 b(w) / (2 - b(w))            segments a round trip
//! ```
//!
//! with Low_Window = 38, High_Window = 83,000 (10 Gbit/s at 100 ms with 1,500 B), High_P = 1e-7 and High_Decrease = 0.1. Up to
//! Low_Window, a = 1 and b = 0.5, as in Reno.
//!
//! Interpretations:
//! - a(w) by the formula is 0.955 at Low_Window; it is at least 1.
//! - Above High_Window, the formula reduces b to 0 at 570,000 segments; b stays at High_Decrease instead.
//! - *Real numbers* follow the formula. *Integers* follow the table of the RFC's appendix B, as Linux does: row n contains the
//!   largest window with a = n, and b is rounded down to 1/256. A window between two rows therefore grows by the larger of
//!   their two increases in integers, and by a value between them in real numbers.

use crate::{Arithmetic, Window};

/// Largest window with Reno's rules.
pub const LOW_WINDOW: f64 = 38.0;
/// High_Window.
pub const HIGH_WINDOW: f64 = 83_000.0;
const HIGH_DECREASE: f64 = 0.1;
/// b at windows up to [`LOW_WINDOW`].
const FIRST_DECREASE: f64 = 0.5;

/// RFC 3649, appendix B: the windows where a(w) is 1, 2, 3, …
#[rustfmt::skip]
const ROWS: [f64; 73] = [
    38.0, 118.0, 221.0, 347.0, 495.0, 663.0, 851.0, 1058.0, 1284.0, 1529.0,
    1793.0, 2076.0, 2378.0, 2699.0, 3039.0, 3399.0, 3778.0, 4177.0, 4596.0, 5036.0,
    5497.0, 5979.0, 6483.0, 7009.0, 7558.0, 8130.0, 8726.0, 9346.0, 9991.0, 10661.0,
    11358.0, 12082.0, 12834.0, 13614.0, 14424.0, 15265.0, 16137.0, 17042.0, 17981.0, 18955.0,
    19965.0, 21013.0, 22101.0, 23230.0, 24402.0, 25618.0, 26881.0, 28193.0, 29557.0, 30975.0,
    32450.0, 33986.0, 35586.0, 37253.0, 38992.0, 40808.0, 42707.0, 44694.0, 46776.0, 48961.0,
    51258.0, 53677.0, 56230.0, 58932.0, 61799.0, 64851.0, 68113.0, 71617.0, 75401.0, 79517.0,
    84035.0, 89053.0, 94717.0,
];

/// The response function of one flow. It stores the last increase, which needs a power and a logarithm and hardly changes
/// while the window grows by a segment.
#[derive(Clone, Debug)]
pub struct HighSpeedResponse {
    /// Window of `increase`.
    at: f64,
    increase: f64,
}

impl Default for HighSpeedResponse {
    fn default() -> Self {
        HighSpeedResponse { at: f64::INFINITY, increase: 1.0 }
    }
}

impl HighSpeedResponse {
    /// Returns a(w), segments per round trip, for the window of up to one segment ago.
    #[inline]
    pub fn increase(&mut self, window: &Window) -> f64 {
        let moved = window.cwnd - self.at;
        if !(-1.0 < moved && moved < 1.0) {
            self.renew(window);
        }
        self.increase
    }

    /// Returns what [`HighSpeedResponse::increase`] returned last; 1 before the first call.
    pub fn last_increase(&self) -> f64 {
        self.increase
    }

    #[cold]
    #[inline(never)]
    fn renew(&mut self, window: &Window) {
        self.at = window.cwnd;
        self.increase = match window.arithmetic() {
            Arithmetic::Real => increase(window.cwnd),
            _ => (row(window.cwnd) + 1) as f64,
        };
    }

    /// Returns b(w), the fraction of the window removed at a loss. Linux's modules look up the table row when they grow. In
    /// integers, b(w) therefore belongs to the window of the last call of [`HighSpeedResponse::increase`]; before the first
    /// call it is a half.
    pub fn decrease(&self, window: &Window) -> f64 {
        match window.arithmetic() {
            Arithmetic::Real => decrease(window.cwnd),
            _ if self.at.is_infinite() => FIRST_DECREASE,
            _ => libm::floor(256.0 * unbounded_decrease(ROWS[row(self.at)])) / 256.0,
        }
    }
}

/// Returns a(w) by the formula.
pub fn increase(w: f64) -> f64 {
    if w <= LOW_WINDOW {
        return 1.0;
    }
    let b = decrease(w);
    // w^2 / w^1.2
    (0.078 * libm::pow(w, 0.8) * 2.0 * b / (2.0 - b)).max(1.0)
}

/// Returns b(w) by the formula.
pub fn decrease(w: f64) -> f64 {
    unbounded_decrease(w.clamp(LOW_WINDOW, HIGH_WINDOW))
}

fn unbounded_decrease(w: f64) -> f64 {
    0.5 + (HIGH_DECREASE - 0.5) * libm::log(w / LOW_WINDOW) / libm::log(HIGH_WINDOW / LOW_WINDOW)
}

/// Returns the row of a window: the first one whose window is not smaller.
fn row(cwnd: f64) -> usize {
    ROWS.partition_point(|row| *row < cwnd).min(ROWS.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_near, window};

    #[test]
    fn the_formula_gives_the_tables_rows() {
        // ln(83000/38) = 7.68901.
        // w = 118: ln(118/38) = 1.13310, b = 0.5 - 0.4 * 1.13310/7.68901 = 0.44105;
        //   118^0.8 = 45.4470, a = 0.078 * 45.4470 * 0.88211/1.55895 = 2.0058.
        // w = 1058: ln = 3.32655, b = 0.32695; 1058^0.8 = 262.777, a = 20.4966 * 0.65389/1.67305 = 8.0108.
        // w = 10661: ln = 5.63676, b = 0.20676; 10661^0.8 = 1668.16, a = 130.117 * 0.41353/1.79324 = 30.0053.
        // w = 83000: b = 0.1; 83000^0.8 = 8615.14, a = 671.981 * 0.2/1.9 = 70.7349.
        for (w, a, b) in [
            (38.0, 1.0, 0.5),
            (118.0, 2.0058, 0.441_05),
            (1058.0, 8.0108, 0.326_95),
            (10_661.0, 30.0053, 0.206_76),
            (83_000.0, 70.7349, 0.1),
        ] {
            assert_near(increase(w), a, 2e-4);
            assert_near(decrease(w), b, 1e-5);
        }
    }

    #[test]
    fn every_row_of_the_table_follows_from_the_formula() {
        // Appendix B's program has 1/12.8 for 0.078, and prints a row at the first whole window whose a(w) is
        // more than one above the a(w) of the row before.
        let a =
            |w: f64| libm::pow(w, 0.8) / 12.8 * 2.0 * unbounded_decrease(w) / (2.0 - unbounded_decrease(w));
        let mut rows = alloc::vec![38.0];
        let mut last = 1.0;
        for w in (38..100_000).map(f64::from) {
            if a(w) > last + 1.0 {
                rows.push(w);
                last = a(w);
            }
        }
        assert_eq!(rows, ROWS);
    }

    #[test]
    fn integers_take_whole_rows() {
        // Up to 38: row 1, 128/256. 39 to 118 row 2: 256 * 0.44105 = 112.9. 1058: row 8, 256 * 0.32694 = 83.7.
        // 1059: row 9, of 1284: ln(1284/38) = 3.5202, b = 0.31687, 81.1. Beyond the last row: row 73, of 94717:
        // ln = 7.8211, b = 0.09313, 23.8.
        let rows = [
            (2.0, 1.0, 128.0),
            (38.0, 1.0, 128.0),
            (39.0, 2.0, 112.0),
            (118.0, 2.0, 112.0),
            (1058.0, 8.0, 83.0),
            (1059.0, 9.0, 81.0),
            (10_661.0, 30.0, 52.0),
            (500_000.0, 73.0, 23.0),
        ];
        for (cwnd, a, b) in rows {
            let window = window(cwnd, Arithmetic::Linux);
            let mut response = HighSpeedResponse::default();
            assert_eq!((response.increase(&window), response.decrease(&window) * 256.0), (a, b), "{cwnd}");
        }
    }

    #[test]
    fn the_increase_is_kept_while_the_window_moves_less_than_a_segment() {
        let mut response = HighSpeedResponse::default();
        let at_1000 = response.increase(&window(1000.0, Arithmetic::Real));
        assert_eq!(at_1000, increase(1000.0));
        assert_eq!(response.increase(&window(1000.9, Arithmetic::Real)), at_1000);
        assert_eq!(response.increase(&window(1001.0, Arithmetic::Real)), increase(1001.0));
        assert_eq!(response.increase(&window(500.0, Arithmetic::Real)), increase(500.0));
    }

    #[test]
    fn huge_windows_still_give_something_up() {
        assert_near(decrease(1e9), HIGH_DECREASE, 1e-12);
        assert!(increase(1e9) > 70.0);
    }
}
