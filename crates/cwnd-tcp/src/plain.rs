//! Plain ACKs: new data acknowledged, nothing missing, no flags. A run of them does its bookkeeping once.

use super::{NEVER, Sender};
use crate::packet::Emit;
use cwnd_cc::{Nanos, State};

/// What stays the same during a run of plain ACKs.
#[derive(Clone, Copy, Debug)]
pub struct PlainRun {
    /// Wire bytes of an ACK, and of a full data packet.
    pub ack_size: u32,
    /// See `ack_size`.
    pub packet_size: u32,
    /// Channel of the data.
    pub channel: u32,
    /// A timer other than the retransmission timer runs out then.
    pub other_at: u64,
    /// The retransmission timer runs out then; after an ACK of the run not before that plus `least_timeout`.
    pub rto_at: u64,
    /// See `rto_at`.
    pub least_timeout: u64,
}

/// How packets leave a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// When the window lets them.
    AtOnce,
    /// Some time after that, each for itself.
    AfterOverhead,
    /// By a timer of another kind.
    ByTimer,
    /// When the window lets them, and each is noted.
    Noted,
}

// Public for the engine's fast path alone.
#[doc(hidden)]
impl Sender {
    /// What ordinary ACKs meet now, if they are plain.
    #[inline]
    pub fn plain_run(&self) -> Option<PlainRun> {
        let plain = self.plain && self.state == State::Open && self.board.is_clean();
        plain.then_some(PlainRun {
            ack_size: self.config.ack_size,
            packet_size: self.config.packet_size,
            channel: self.config.channel,
            other_at: self.other_at,
            rto_at: self.rto_at,
            least_timeout: self.rtt.least_timeout(),
        })
    }

    /// How packets leave.
    #[inline(always)]
    pub fn way_to_leave(&self) -> Leave {
        match self.gated {
            _ if self.noted => Leave::Noted,
            false => Leave::AtOnce,
            true if self.needs.pacing || self.forced => Leave::ByTimer,
            true => Leave::AfterOverhead,
        }
    }

    /// When the timers run out that neither retransmit nor release.
    #[inline(always)]
    pub fn start_stop_or_turn(&self) -> u64 {
        self.start_at.min(self.stop_at).min(self.app_at)
    }

    /// When the packet leaves that has been let go but takes its time; [`NEVER`] if there is none.
    #[inline(always)]
    pub fn release_at(&self) -> u64 {
        self.release_at
    }

    /// Send what the window lets go up to `end` and what is due at `now`, where `release` is pending; each packet
    /// takes its time. Answers what is pending then. There is data up to `end`.
    #[inline(always)]
    pub fn release(&mut self, now: u64, mut release: u64, end: u64, mut send: impl FnMut(u64)) -> u64 {
        loop {
            if self.config.validate_cwnd {
                self.note_use((self.next - self.una) as u32, self.window.cwnd as u32);
            }
            if self.next >= end {
                return NEVER;
            }
            if release == NEVER {
                release = now + self.config.overhead_stream.below(self.config.send_overhead);
            }
            if release > now {
                return release;
            }
            send(self.next);
            self.next += 1;
            release = NEVER;
        }
    }

    /// Whether nothing is in flight.
    #[inline(always)]
    pub fn is_quiet(&self) -> bool {
        self.next == self.una
    }

    /// End a run of so many plain ACKs of a sender whose packets take their time. The retransmission timer runs from
    /// `since`, if it was set; `release` is pending.
    #[inline(always)]
    pub fn end_plain_releasing(&mut self, since: Option<u64>, acks: u64, release: u64) {
        self.release_at = release;
        if acks > 0 {
            self.counts.delivered = self.ack.delivered;
            self.counts.acks += acks;
            self.rtt.set_timeout();
        }
        if let Some(since) = since {
            self.rto_at = if self.next == self.una { NEVER } else { since + self.rtt.timeout() };
        }
        self.rearm();
    }

    /// Up to which segment new data may be sent as things are, whether there is such data or not.
    #[inline(always)]
    pub fn plain_end(&mut self) -> u64 {
        self.see_window();
        self.una + self.allowance
    }

    /// Send what there is up to the end of the data.
    pub fn send_last(&mut self, now: u64, out: &mut impl Emit) {
        self.transmit_gated(now, false, out);
        self.note_completion(now);
    }

    /// How many new segments an ACK of this number acknowledges; not more than 2^31, if it is a plain one.
    #[inline(always)]
    pub fn newly_acked(&self, seq: u32) -> u32 {
        seq.wrapping_sub(self.una as u32)
    }

    /// Begin a run of plain ACKs, of which there must be one at least.
    #[inline(always)]
    pub fn begin_plain(&mut self) {
        self.dup_acks = 0;
        self.limited_transmits = 0;
        self.timeouts_in_row = 0;
        self.rtt.backoff = 0;
        let ack = &mut self.ack;
        ack.lost = 0;
        ack.predicted = true;
        ack.state = State::Open;
        ack.app_limited = self.next >= self.data_end;
        ack.round = self.round;
        ack.min_rtt = Nanos(self.rtt.min);
        ack.delivered = self.counts.delivered;
        self.see_window();
    }

    /// Take a plain ACK. Answers up to which segment new data may be sent, whether there is such data or not.
    #[inline(always)]
    pub fn take_plain(&mut self, now: u64, sent: u64, acked: u32) -> u64 {
        let prior_in_flight = (self.next - self.una) as u32;
        let rtt = now - sent;
        self.una += u64::from(acked);
        if self.rtt.smooth(rtt) {
            self.ack.min_rtt = Nanos(self.rtt.min);
        }
        self.follow_round();
        let ack = &mut self.ack;
        ack.now = Nanos(now);
        ack.acked = acked;
        ack.cumulative = acked;
        ack.rtt = Some(Nanos(rtt));
        ack.srtt = Nanos(self.rtt.srtt());
        ack.in_flight = prior_in_flight - acked;
        ack.prior_in_flight = prior_in_flight;
        ack.delivered += u64::from(acked);
        ack.sent = self.next;
        self.algorithm.on_ack(&mut self.window, &self.ack);
        if self.window.cwnd != self.seen_cwnd {
            self.add_to_integral(now, self.seen_cwnd);
            self.see_window();
        }
        self.una + self.allowance
    }

    #[inline(always)]
    fn see_window(&mut self) {
        self.seen_cwnd = self.window.cwnd;
        self.allowance = u64::from(self.window.cwnd as u32).min(self.config.receive_window);
    }

    /// Whether new data up to `end` is all that there is.
    #[inline(always)]
    pub fn ends_before(&self, end: u64) -> bool {
        end >= self.data_end
    }

    /// The next new segment, if it lies before `end`; it is sent.
    #[inline(always)]
    pub fn next_before(&mut self, end: u64) -> Option<u64> {
        let segment = self.next;
        (segment < end).then(|| {
            self.next += 1;
            segment
        })
    }

    /// Send new segments up to `end`, or as many as there are.
    #[inline]
    pub fn send_plain(&mut self, now: u64, end: u64, out: &mut impl Emit) {
        while let Some(segment) = self.next_before(end.min(self.data_end)) {
            self.emit_plain(now, segment, out);
        }
        self.sent_plain(now);
    }

    /// Send a segment that is the next.
    #[inline(always)]
    pub fn emit_plain(&mut self, now: u64, segment: u64, out: &mut impl Emit) {
        self.count_sent(now);
        out.emit(now, self.packet(now, segment, 0));
    }

    /// All that a plain ACK lets go has been sent, and there is more.
    #[inline(always)]
    pub fn note_plain_use(&mut self) {
        if self.config.validate_cwnd {
            self.note_use((self.next - self.una) as u32, self.window.cwnd as u32);
        }
    }

    /// All that a plain ACK lets go has been sent.
    #[inline]
    fn sent_plain(&mut self, now: u64) {
        self.note_plain_use();
        if self.next >= self.data_end {
            self.ack.app_limited = true;
            self.note_completion(now);
        }
    }

    /// Whether everything is acknowledged that there is.
    #[inline(always)]
    pub(super) fn note_completion(&mut self, now: u64) {
        if self.una == self.data_end {
            self.on_all_acknowledged(now);
        }
    }

    /// End a run of so many plain ACKs, the last at `now`.
    #[inline(always)]
    pub fn end_plain(&mut self, now: u64, acks: u64) {
        self.counts.acks += acks;
        self.counts.delivered = self.ack.delivered;
        self.rtt.set_timeout();
        self.rto_at = if self.next == self.una { NEVER } else { now + self.rtt.plain_timeout() };
        self.deadline = self.rto_at.min(self.other_at);
    }
}
