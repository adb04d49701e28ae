//! The common parts of the Reno family: its increase, the window that a reduction starts from, and Linux 2.6's window during
//! recovery.

use crate::{Ack, Arithmetic, Congestion, Window};

/// Grows the window: slow start, then one segment per round trip (`cwnd += 1/cwnd` for each acknowledged segment).
#[inline]
pub fn increase(window: &mut Window, ack: &Ack) {
    if !ack.may_grow() {
        return;
    }
    let mut acked = ack.acked;
    if window.in_slow_start() {
        acked = window.slow_start(acked);
        if acked == 0 {
            return;
        }
    }
    window.increase_as_reno(ack, acked);
}

words! {
    /// The window that a multiplicative decrease starts from.
    pub enum ReduceFrom {
        /// The congestion window, as Linux and ns-2 do.
        Cwnd = "cwnd",
        /// The unacknowledged segments (RFC 5681's FlightSize), if they are fewer than the congestion window.
        FlightSize = "flight-size",
    }
}

impl ReduceFrom {
    /// Returns the window that a decrease multiplies, segments.
    ///
    /// FlightSize exceeds cwnd by the segments of limited transmit (RFC 3042), and by more after an earlier reduction. RFC
    /// 5681 means the smaller value then, so a decrease never raises the window.
    pub fn segments(self, window: &Window, congestion: &Congestion) -> f64 {
        match self {
            ReduceFrom::Cwnd => window.cwnd,
            ReduceFrom::FlightSize => window.cwnd.min(f64::from(congestion.flight_size)),
        }
    }
}

/// Reduces the window by a fraction. In integers, the removed segments are rounded down, as in Linux's modules that subtract a
/// scaled fraction.
pub fn give_up(window: &mut Window, share: f64) {
    window.set_ssthresh_for_loss(window.cwnd - window.whole(window.cwnd * share));
}

/// Sets the window during recovery to half of `ssthresh` in Linux 2.6's arithmetic, as the Reno family's modules of Linux 2.6
/// and ns-2.35 do (their `min_cwnd`). It returns to `ssthresh` afterwards. Other arithmetics belong to other stacks.
pub fn hold_half_in_recovery(window: &mut Window) {
    if window.arithmetic() == Arithmetic::Linux26 {
        window.recovery_cwnd = Some(window.whole(window.ssthresh / 2.0).max(1.0));
    }
}
