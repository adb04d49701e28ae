//! Round trips as Linux's modules track them, and their samples of round-trip times.

use crate::{Ack, Nanos};

/// A round trip that ends with the first ACK beyond the segments sent at its beginning.
///
/// [`Ack::round_start`] describes round trips of the connection, which continue through recoveries. Modules with their own
/// round trips end them only where they check, and restart them at the end of a recovery.
#[derive(Clone, Debug, Default)]
pub struct SentRound {
    /// Segments acknowledged at the last ACK.
    pub(crate) acknowledged: u64,
    /// Segments sent at the last ACK.
    pub(crate) sent: u64,
    /// Segments sent at the beginning of this round trip, and of the one before.
    pub(crate) end: u64,
    pub(crate) before: u64,
    /// Whether it restarts at the segments sent at the next ACK.
    pub(crate) awaits_ack: bool,
}

impl SentRound {
    /// Handles an ACK. The first ACK of a connection begins its first round trip.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) {
        self.sent = self.sent.max(ack.sent);
        if self.acknowledged == 0 || core::mem::take(&mut self.awaits_ack) {
            self.end = self.sent;
        }
        self.acknowledged += u64::from(ack.cumulative);
    }

    /// Returns whether the last ACK was beyond its end.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.acknowledged > self.end
    }

    /// Ends the round trip and begins another. Returns the segments sent in the round trip before it, which were acknowledged
    /// in this one. After [`SentRound::restart`] these are all segments since the last complete round trip.
    pub fn begin_next(&mut self) -> u64 {
        let sent = self.end - self.before;
        self.before = self.end;
        self.end = self.sent;
        sent
    }

    /// Ends the round trip early at an ACK, and begins another.
    pub fn restart(&mut self) {
        self.end = self.sent;
    }

    /// Ends the round trip early at a timeout between two ACKs. Segments sent after the last ACK count as sent; the sender
    /// sends no new ones before the next ACK.
    pub fn restart_by_timeout(&mut self) {
        self.awaits_ack = true;
    }
}

/// The smallest round-trip time of the current round, and its number of samples.
#[derive(Clone, Copy, Debug)]
pub struct RoundRtt {
    /// The smallest sample; [`Nanos::MAX`] before the first.
    pub min: Nanos,
    /// Samples so far.
    pub samples: u32,
}

impl RoundRtt {
    /// Creates a round without samples.
    pub const EMPTY: RoundRtt = RoundRtt { min: Nanos::MAX, samples: 0 };

    /// Adds a sample.
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
