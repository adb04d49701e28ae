//! What the Reno family shares: its increase, the window that a reduction starts from, and the window that
//! Linux 2.6 holds while it recovers.

use crate::{Ack, Arithmetic, Congestion, Window};

/// Slow start, then one segment a round trip: `cwnd += 1/cwnd` for each acknowledged segment.
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
        /// What was sent and is not yet acknowledged (RFC 5681's FlightSize), if that is less.
        FlightSize = "flight-size",
    }
}

impl ReduceFrom {
    /// The window in segments that a decrease multiplies.
    ///
    /// FlightSize exceeds cwnd by the segments of limited transmit (RFC 3042), and after an earlier
    /// reduction by more; RFC 5681 means the smaller there, so a decrease never raises the window.
    pub fn segments(self, window: &Window, congestion: &Congestion) -> f64 {
        match self {
            ReduceFrom::Cwnd => window.cwnd,
            ReduceFrom::FlightSize => window.cwnd.min(f64::from(congestion.flight_size)),
        }
    }
}

/// Give up a share of the window. Where windows are whole, it is the segments given up that are rounded down,
/// as in the modules of Linux that subtract a scaled share.
pub fn give_up(window: &mut Window, share: f64) {
    window.set_ssthresh_for_loss(window.cwnd - window.whole(window.cwnd * share));
}

/// In Linux 2.6 and ns-2.35 the Reno family's modules hold half of `ssthresh` during recovery, not all of it
/// (their `min_cwnd`); it is back at `ssthresh` afterwards. Other arithmetics stand for other stacks.
pub fn hold_half_in_recovery(window: &mut Window) {
    if window.arithmetic() == Arithmetic::Linux26 {
        window.recovery_cwnd = Some(window.whole(window.ssthresh / 2.0).max(1.0));
    }
}
