//! The timers of a sender.

use crate::{NEVER, TimerWheel};

/// Expiry times, ns; [`NEVER`] if a timer is not set.
///
/// `deadline` and `other_at` cache minimums, so that an ACK on the fast path compares one number: call
/// [`rearm`](Timers::rearm) after a change.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Timers {
    /// The earliest of all timers.
    pub deadline: u64,
    /// The retransmission timer. A strategy may use it for its probe and reordering timeouts, too.
    pub rto_at: u64,
    /// The time for which the retransmission timer was set, while `rto_at` is but the earliest time at which it may expire on the
    /// timer wheel: the wheel's time is computed when that comes, since most timers are set again before. Else [`NEVER`].
    pub rto_wait: u64,
    /// Whether a timer that had just expired set it.
    pub expiring: bool,
    /// The earliest of the timers below.
    pub other_at: u64,
    /// When a packet leaves that the window has let go (pacing or send overhead).
    pub release_at: u64,
    /// When the application connects.
    pub start_at: u64,
    /// When the application stops.
    pub stop_at: u64,
    /// When the application acts next.
    pub application_at: u64,
}

impl Timers {
    /// Sets the retransmission timer, which expires on the timer wheel.
    #[inline(always)]
    pub fn set_retransmission(&mut self, now: u64, wait: u64, expiring: bool) {
        self.rto_wait = wait;
        self.expiring = expiring;
        self.rto_at = now + wait;
    }

    /// Returns whether the retransmission timer, which was due at `now`, expires then. If not, it is set to when it does.
    pub fn retransmission_expires(&mut self, now: u64, wheel: &TimerWheel) -> bool {
        let wait = std::mem::replace(&mut self.rto_wait, NEVER);
        if wait != NEVER {
            self.rto_at = wheel.expiry(self.rto_at - wait, wait, self.expiring);
        }
        self.rto_at <= now
    }

    pub fn new(start_at: u64, stop_at: u64) -> Timers {
        let mut timers = Timers {
            deadline: NEVER,
            rto_at: NEVER,
            rto_wait: NEVER,
            expiring: false,
            other_at: NEVER,
            release_at: NEVER,
            start_at,
            stop_at,
            application_at: NEVER,
        };
        timers.rearm();
        timers
    }

    /// Computes the cached minimums.
    #[inline]
    pub fn rearm(&mut self) {
        self.other_at = self.lifetime_at().min(self.release_at);
        self.rearm_retransmission();
    }

    /// Computes `deadline` after a change of `rto_at` alone.
    #[inline(always)]
    pub fn rearm_retransmission(&mut self) {
        self.deadline = self.rto_at.min(self.other_at);
    }

    /// Returns when the first timer expires that neither retransmits nor releases a packet.
    #[inline(always)]
    pub fn lifetime_at(&self) -> u64 {
        self.start_at.min(self.stop_at).min(self.application_at)
    }
}
