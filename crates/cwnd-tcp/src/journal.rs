//! What a sender notes of itself, where it is asked to: its state after each event that may change it.

use super::Sender;
use cwnd_cc::State;
use std::collections::VecDeque;

/// A sender's state after a packet has come to it or a timer has run out.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// When, on the engine's clock.
    pub at: u64,
    /// Congestion window and slow-start threshold, segments; infinite while the threshold is not set.
    pub cwnd: f64,
    /// See `cwnd`.
    pub ssthresh: f64,
    /// Segments in flight.
    pub in_flight: u32,
    /// Payload bytes a second; infinite while packets are not paced.
    pub pacing_rate: f64,
    /// Round-trip times, ns, if there was a sample.
    pub rtt: Option<RoundTrips>,
    /// Retransmission timeouts since new data was acknowledged last.
    pub timeouts: u32,
    /// State of loss recovery.
    pub state: State,
    /// Whether the window grows as in slow start.
    pub slow_start: bool,
    /// Whether the application has less to send than the window would let go.
    pub app_limited: bool,
    /// Segments found to be lost since the moment before, in that order; a retransmission is lost again.
    pub lost: Vec<u64>,
    /// A timer had run out.
    pub timer: bool,
}

/// Round-trip times, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrips {
    /// Smoothed (RFC 6298's SRTT).
    pub smoothed: u64,
    /// Its variation (RTTVAR).
    pub variation: u64,
    /// The least.
    pub least: u64,
    /// The latest.
    pub latest: u64,
}

/// Moments that nobody has taken yet.
#[derive(Debug, Default)]
pub struct Journal {
    moments: VecDeque<Moment>,
}

impl Sender {
    /// From now on note each moment. A sender that does handles all ACKs in detail, which comes to the same.
    pub fn keep_journal(&mut self) {
        self.handle_in_detail();
        self.journal.get_or_insert_default();
        self.board.losses.get_or_insert_default();
    }

    /// The first moment before `until` that nobody has taken.
    pub fn take_moment(&mut self, until: u64) -> Option<Moment> {
        let moments = &mut self.journal.as_mut()?.moments;
        if moments.front()?.at < until { moments.pop_front() } else { None }
    }

    /// Something has happened.
    #[cold]
    #[inline(never)]
    pub(super) fn note_moment(&mut self, now: u64, timer: bool) {
        let lost = self.board.losses.as_mut().map(|losses| std::mem::take(&mut **losses));
        if self.established.is_none() {
            return;
        }
        let latest = self.ack.rtt.map_or(self.latest_rtt, |rtt| rtt.0);
        let rtt = self.rtt.is_known().then(|| RoundTrips {
            smoothed: self.rtt.srtt(),
            variation: self.rtt.variation(),
            least: self.rtt.min,
            // The handshake gives the first one.
            latest: if latest == 0 { self.rtt.srtt() } else { latest },
        });
        let in_flight = self.in_flight();
        let lacks = self.next >= self.data_end && self.board.lost <= self.board.retransmitted;
        let moment = Moment {
            at: now,
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            in_flight,
            pacing_rate: self.window.pacing_rate,
            rtt,
            timeouts: self.timeouts_in_row,
            state: self.state,
            slow_start: self.window.in_slow_start(),
            app_limited: lacks && in_flight < self.window.cwnd as u32,
            lost: lost.unwrap_or_default(),
            timer,
        };
        if let Some(journal) = &mut self.journal {
            journal.moments.push_back(moment);
        }
    }
}
