//! Round trips as modules of Linux follow them themselves, and their samples of round-trip times.

use crate::{Ack, Nanos};

/// A round trip that is over with the first ACK beyond what had been sent when it began.
///
/// [`Ack::round_start`] describes round trips of the connection, which continue through recoveries. Modules that bring
/// their own let them end only where they look, and begin them again when a recovery is over.
#[derive(Clone, Debug, Default)]
pub struct SentRound {
    /// Segments acknowledged so far, as the last ACK said.
    pub(crate) acknowledged: u64,
    /// Segments sent so far, as the last ACK said.
    pub(crate) sent: u64,
    /// Segments sent when this round trip began, and when the one before did.
    pub(crate) end: u64,
    pub(crate) before: u64,
    /// It begins again with what the next ACK says to be sent.
    pub(crate) awaits_ack: bool,
}

impl SentRound {
    /// An ACK. A connection's first round trip begins with its first.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) {
        self.sent = self.sent.max(ack.sent);
        if self.acknowledged == 0 || core::mem::take(&mut self.awaits_ack) {
            self.end = self.sent;
        }
        self.acknowledged += u64::from(ack.cumulative);
    }

    /// Whether the last ACK was beyond its end.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.acknowledged > self.end
    }

    /// It is over, and another begins. Returns how many segments were sent in the one before it: those that were
    /// acknowledged in this one. After [`SentRound::restart`] these are all since the last one that was not cut short.
    pub fn begin_next(&mut self) -> u64 {
        let sent = self.end - self.before;
        self.before = self.end;
        self.end = self.sent;
        sent
    }

    /// It is cut short by an ACK, and another begins.
    pub fn restart(&mut self) {
        self.end = self.sent;
    }

    /// The same between two ACKs, by a timeout: what the last one let go counts as sent, and until the next one nothing new
    /// goes.
    pub fn restart_by_timeout(&mut self) {
        self.awaits_ack = true;
    }
}

/// The least round-trip time of the current round, and how many samples it is of.
#[derive(Clone, Copy, Debug)]
pub struct RoundRtt {
    /// The least sample; [`Nanos::MAX`] before the first.
    pub min: Nanos,
    /// Samples so far.
    pub samples: u32,
}

impl RoundRtt {
    /// A round without samples.
    pub const EMPTY: RoundRtt = RoundRtt { min: Nanos::MAX, samples: 0 };

    /// Take a sample.
    #[inline]
    pub fn add(&mut self, rtt: Nanos) {
        self.min = self.min.min(rtt);
        self.samples = self.samples.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_is_over_when_something_sent_after_its_begin_is_acknowledged() {
        // Ten are sent when the first ACK comes; 4 + 6 acknowledge them all, and one more is of the next.
        let mut round = SentRound::default();
        let mut acked = |cumulative, sent| {
            round.on_ack(&Ack { cumulative, sent, ..Ack::default() });
            round.is_over().then(|| round.begin_next())
        };
        assert_eq!([acked(4, 10), acked(6, 14), acked(1, 20)], [None, None, Some(10)]);
        // 20 were sent then: 9 more acknowledge 20, one more is over it; 20 - 10 were sent in the one before.
        assert_eq!([acked(9, 31), acked(1, 32)], [None, Some(10)]);
        // One that begins again ends by what the last ACK said: 40. 21, 18 and 1 acknowledge 40, and one more is over it; since
        // the one before began 40 - 20 were sent.
        round.on_ack(&Ack { cumulative: 0, sent: 40, ..Ack::default() });
        round.restart();
        let mut acked = |cumulative, sent| {
            round.on_ack(&Ack { cumulative, sent, ..Ack::default() });
            round.is_over().then(|| round.begin_next())
        };
        assert_eq!([acked(18, 41), acked(1, 42), acked(1, 43)], [None, None, Some(20)]);
    }

    #[test]
    fn a_timeout_begins_it_anew_with_what_had_been_sent_by_then() {
        // Ten had been sent at the last ACK, and that one let go three: 13 must be acknowledged and one more, of what the ACK
        // after the timeout says.
        let mut round = SentRound::default();
        let mut acked = |cumulative, sent| {
            round.on_ack(&Ack { cumulative, sent, ..Ack::default() });
            round.is_over()
        };
        assert!(!acked(2, 10));
        round.restart_by_timeout();
        let mut acked = |cumulative, sent| {
            round.on_ack(&Ack { cumulative, sent, ..Ack::default() });
            round.is_over()
        };
        assert_eq!([acked(9, 13), acked(2, 14), acked(1, 15)], [false, false, true]);
    }
}
