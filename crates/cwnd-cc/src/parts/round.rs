//! Round trips as modules of Linux follow them themselves, and their samples of round-trip times.

use crate::{Ack, Nanos};

/// A round trip that is over with the first ACK beyond what had been sent when it began.
///
/// [`Ack::round_start`] tells of round trips of the connection, which go on through recoveries. Modules that bring
/// their own let them end only where they look, and begin them anew when a recovery is over.
#[derive(Clone, Debug, Default)]
pub struct SentRound {
    /// Segments acknowledged so far, as the last ACK said.
    pub(crate) acknowledged: u64,
    /// Segments sent so far, as the last ACK said.
    pub(crate) sent: u64,
    /// Segments sent when this round trip began.
    pub(crate) end: u64,
}

impl SentRound {
    /// An ACK. A connection's first round trip begins with its first.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) {
        self.sent = self.sent.max(ack.sent);
        if self.acknowledged == 0 {
            self.end = self.sent;
        }
        self.acknowledged += u64::from(ack.cumulative);
    }

    /// Whether the last ACK was beyond its end.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.acknowledged > self.end
    }

    /// Another begins.
    pub fn restart(&mut self) {
        self.end = self.sent;
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
            let over = round.is_over();
            if over {
                round.restart();
            }
            over
        };
        assert_eq!(
            [(4, 10), (6, 14), (1, 20)].map(|(acked_by, sent)| acked(acked_by, sent)),
            [false, false, true]
        );
        // 20 were sent then: 9 more acknowledge 20, one more is over it.
        assert_eq!([(9, 31), (1, 32)].map(|(acked_by, sent)| acked(acked_by, sent)), [false, true]);
        // One that begins anew ends by what the last ACK said.
        round.restart();
        round.on_ack(&Ack { cumulative: 11, sent: 40, ..Ack::default() });
        assert!(!round.is_over());
        round.on_ack(&Ack { cumulative: 1, sent: 40, ..Ack::default() });
        assert!(round.is_over());
    }
}
