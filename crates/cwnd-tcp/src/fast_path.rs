//! The fast path of an ACK that acknowledges new data, where nothing is missing and the packet has no flags: a *plain*
//! ACK. An engine may process a run of plain ACKs together; the bookkeeping that does not change is then done once.

use crate::connection::FastPath;
use crate::connection::pacing::SendMode;
use crate::packet::Emit;
use crate::recovery::LossRecovery;
use crate::{Connection, NEVER, Sender};
use cwnd_cc::{Nanos, State};
use cwnd_scenario::Recovery;

/// Values that stay the same during a run of plain ACKs.
#[derive(Clone, Copy, Debug)]
pub struct PlainRun {
    /// Wire bytes of an ACK, and of a full data packet.
    pub ack_size: u32,
    /// See `ack_size`.
    pub packet_size: u32,
    /// Channel of the data.
    pub channel: u32,
    /// When the first timer other than the retransmission timer expires.
    pub other_at: u64,
    /// When the retransmission timer expires. After an ACK of the run it does not expire before that time plus
    /// `least_timeout`.
    pub rto_at: u64,
    /// See `rto_at`.
    pub least_timeout: u64,
}

impl<R: LossRecovery> Sender<R> {
    /// Processes one plain ACK. It does what the general path would, without the checks that a plain ACK passes.
    #[doc(hidden)]
    #[inline(always)]
    pub fn on_plain_ack(&mut self, now: u64, sent: u64, acked: u32, out: &mut impl Emit) {
        let conn = &mut self.conn;
        conn.begin_plain();
        let end = conn.take_plain(now, sent, acked);
        if conn.pacing.uses_timer() {
            conn.end_plain(now, 1);
            self.recovery.transmit(conn, now, out);
            conn.check_completion(now);
        } else {
            conn.send_plain(now, end, out);
            conn.end_plain(now, 1);
        }
    }

    /// Processes an ACK without flags by the strategy's own fast path. Returns false, and has done nothing, if the ACK
    /// takes the general path.
    #[doc(hidden)]
    #[inline(always)]
    pub fn on_tracked_ack(&mut self, now: u64, acked: u32, out: &mut impl Emit) -> bool {
        let Sender { conn, recovery } = self;
        let taken = recovery.on_plain_ack(conn, now, conn.una + u64::from(acked), out);
        if taken {
            conn.counts.acks += 1;
            conn.check_window(now);
            conn.timers.rearm();
            conn.check_completion(now);
            conn.log_event(now, false);
        }
        taken
    }

    /// Sends by the release timer what there is up to the end of the data, at the end of a run.
    #[doc(hidden)]
    pub fn send_last(&mut self, now: u64, out: &mut impl Emit) {
        self.recovery.transmit(&mut self.conn, now, out);
        self.conn.check_completion(now);
    }
}

// Public for the engine's runs of plain ACKs alone.
#[doc(hidden)]
impl Connection {
    /// Returns whether an ACK of new data without flags is plain now. While frames are outstanding, each ACK may end one.
    #[inline(always)]
    pub(crate) fn takes_plain_acks(&self) -> bool {
        self.fast_path == FastPath::Enabled
            && self.state == State::Open
            && self.scoreboard.is_clean()
            && self.frame_end == NEVER
    }

    /// Returns what a run of plain ACKs would meet now; `None` if ACKs are not plain.
    #[inline]
    pub fn plain_run(&self) -> Option<PlainRun> {
        self.takes_plain_acks().then_some(PlainRun {
            ack_size: self.config.ack_size,
            packet_size: self.config.packet_size,
            channel: self.config.channel,
            other_at: self.timers.other_at,
            rto_at: self.timers.rto_at,
            least_timeout: self.rtt.estimator.least_timeout(),
        })
    }

    /// Returns the wire bytes of an ACK if the strategy's own fast path may take ACKs now.
    #[inline]
    pub fn tracked_ack_size(&self) -> Option<u32> {
        let open = self.fast_path == FastPath::Disabled && self.state == State::Open;
        (open && self.config.recovery == Recovery::Linux && self.scoreboard.is_clean())
            .then_some(self.config.ack_size)
    }

    /// Returns how packets leave during a run of plain ACKs; `None` if ACKs must be processed one by one, since the
    /// application may act in between, the time of each departure counts, or a segment is forced.
    #[inline(always)]
    pub fn run_mode(&self) -> Option<SendMode> {
        let one_by_one =
            self.config.application.is_some() || self.config.restart_after_idle || self.pacing.forced;
        (!one_by_one).then_some(self.pacing.mode)
    }

    /// Returns when the first timer expires that neither retransmits nor releases a packet.
    #[inline(always)]
    pub fn start_stop_or_turn(&self) -> u64 {
        self.timers.lifetime_at()
    }

    /// Returns when the packet leaves that the window has let go; [`NEVER`] if there is none.
    #[inline(always)]
    pub fn release_at(&self) -> u64 {
        self.timers.release_at
    }

    /// Sends what the window allows up to `end` and what is due at `now`, each packet after its send overhead. `release`
    /// is the pending release time; returns the one pending afterwards. There is data up to `end`.
    #[inline(always)]
    pub fn release(&mut self, now: u64, mut release: u64, end: u64, mut send: impl FnMut(u64)) -> u64 {
        loop {
            self.note_plain_use();
            if self.next >= end {
                return NEVER;
            }
            if release == NEVER {
                release = now + self.pacing.draw_overhead();
            }
            if release > now {
                return release;
            }
            send(self.next);
            self.next += 1;
            release = NEVER;
        }
    }

    /// Returns whether nothing is in flight.
    #[inline(always)]
    pub fn is_quiet(&self) -> bool {
        self.next == self.una
    }

    /// Ends a run of `acks` plain ACKs of a sender with send overhead. The retransmission timer runs from `since`, if it
    /// was set; `release` is the pending release time.
    #[inline(always)]
    pub fn end_plain_releasing(&mut self, since: Option<u64>, acks: u64, release: u64) {
        self.timers.release_at = release;
        if acks > 0 {
            self.counts.delivered = self.ack.delivered;
            self.counts.acks += acks;
            self.rtt.estimator.set_timeout();
        }
        if let Some(since) = since {
            self.restart_retransmission_timer(since);
        }
        self.timers.rearm();
    }

    /// Returns the end of the new data that the windows allow now, whether there is such data or not.
    #[inline(always)]
    pub fn plain_end(&mut self) -> u64 {
        self.see_window();
        self.una + self.allowance
    }

    /// Returns how many segments an ACK with the number `seq` newly acknowledges; at most 2^31 for a plain one.
    #[inline(always)]
    pub fn newly_acked(&self, seq: u32) -> u32 {
        seq.wrapping_sub(self.una as u32)
    }

    /// Begins a run of plain ACKs. At least one must follow.
    #[inline(always)]
    pub fn begin_plain(&mut self) {
        self.dup_acks = 0;
        self.episode.limited_transmits = 0;
        self.episode.timeouts = 0;
        self.rtt.estimator.backoff = 0;
        let ack = &mut self.ack;
        ack.lost = 0;
        ack.compat.header_predicted = true;
        ack.state = State::Open;
        ack.app_limited = self.next >= self.data_end;
        ack.round = self.rounds.number;
        ack.min_rtt = Nanos(self.rtt.estimator.min);
        ack.delivered = self.counts.delivered;
        self.see_window();
    }

    /// Takes a plain ACK. Returns the end of the new data that may be sent, whether there is such data or not.
    #[inline(always)]
    pub fn take_plain(&mut self, now: u64, sent: u64, acked: u32) -> u64 {
        let prior_in_flight = self.outstanding();
        let rtt = now - sent;
        self.una += u64::from(acked);
        let estimator = &mut self.rtt.estimator;
        if estimator.smooth(rtt) {
            self.ack.min_rtt = Nanos(estimator.min);
        }
        estimator.follow_round(self.una, self.next);
        self.rounds.on_ack(self.una, self.next, &self.window, &mut self.ack);
        let ack = &mut self.ack;
        ack.now = Nanos(now);
        ack.acked = acked;
        ack.cumulative = acked;
        ack.rtt = Some(Nanos(rtt));
        ack.srtt = Nanos(self.rtt.estimator.srtt());
        ack.in_flight = prior_in_flight - acked;
        ack.prior_in_flight = prior_in_flight;
        ack.delivered += u64::from(acked);
        ack.sent = self.next;
        self.algorithm.on_ack(&mut self.window, &self.ack);
        if self.window.cwnd != self.seen_cwnd {
            self.window_integral.add(now, self.seen_cwnd);
            self.see_window();
            if self.allowance == 0 {
                self.check_window(now);
            }
        }
        self.una + self.allowance
    }

    #[inline(always)]
    fn see_window(&mut self) {
        self.seen_cwnd = self.window.cwnd;
        self.allowance = u64::from(self.window.cwnd as u32).min(self.peer_window);
    }

    /// Returns whether the data ends at or before `end`.
    #[inline(always)]
    pub fn ends_before(&self, end: u64) -> bool {
        end >= self.data_end
    }

    /// Takes the next new segment, if it lies before `end`.
    #[inline(always)]
    pub fn next_before(&mut self, end: u64) -> Option<u64> {
        let segment = self.next;
        (segment < end).then(|| {
            self.next += 1;
            segment
        })
    }

    /// Sends new segments up to `end`, or to the end of the data.
    #[inline]
    pub fn send_plain(&mut self, now: u64, end: u64, out: &mut impl Emit) {
        while let Some(segment) = self.next_before(end.min(self.data_end)) {
            self.count_sent(now);
            out.emit(now, self.config.packet(now, segment, 0));
        }
        self.note_plain_use();
        if self.next >= self.data_end {
            self.ack.app_limited = true;
            self.check_completion(now);
        }
    }

    /// Records the window's use after a plain ACK has let packets go.
    #[inline(always)]
    pub fn note_plain_use(&mut self) {
        if self.rounds.validates() {
            self.rounds.record_use(self.outstanding(), self.window.cwnd as u32);
        }
    }

    /// Ends a run of `acks` plain ACKs, the last at `now`.
    #[inline(always)]
    pub fn end_plain(&mut self, now: u64, acks: u64) {
        self.counts.acks += acks;
        self.counts.delivered = self.ack.delivered;
        let estimator = &mut self.rtt.estimator;
        estimator.set_timeout();
        self.timers.rto_at = if self.next == self.una { NEVER } else { now + estimator.plain_timeout() };
        self.timers.rearm_retransmission();
    }
}
