//! How the strategies that count segments in flight send: lost segments first, then new ones, up to the window.
//!
//! RFC 6675's and ns-2's strategies use this; Linux's has bursts of its own.

use crate::connection::FastPath;
use crate::packet::Emit;
use crate::{Connection, NEVER};

/// What a strategy adds to sending.
pub(crate) trait SendHooks {
    /// Returns how many segments may be in flight, where the window allows `window` and `in_flight` are.
    fn inflight_limit(&mut self, window: u32, in_flight: u32) -> u32;

    /// Records a segment that has left, where `in_flight` were in flight before it.
    fn on_sent(&mut self, conn: &mut Connection, now: u64, segment: u64, in_flight: u32, again: bool);
}

impl Connection {
    /// Sends what the window allows; with `force`, one segment in any case (RFC 6675 section 5, step 4.3).
    #[inline(always)]
    pub(crate) fn transmit(
        &mut self,
        hooks: &mut impl SendHooks,
        now: u64,
        force: bool,
        out: &mut impl Emit,
    ) {
        let window = self.window.cwnd as u32;
        let mut in_flight = self.in_flight();
        if force && self.send_one(hooks, now, in_flight, out) {
            in_flight += 1;
        }
        while in_flight < window {
            if !self.send_one(hooks, now, in_flight, out) {
                break;
            }
            in_flight += 1;
        }
        self.rounds.record_use(in_flight, window);
        self.record_lack_of_data(in_flight, window);
    }

    /// Sends by the release timer: a packet leaves when its release time has come, which is set when the window lets it
    /// go.
    #[cold]
    #[inline(never)]
    pub(crate) fn transmit_by_timer(
        &mut self,
        hooks: &mut impl SendHooks,
        now: u64,
        force: bool,
        out: &mut impl Emit,
    ) {
        self.check_window(now);
        self.pacing.forced |= force;
        let mut back_to_back = false;
        loop {
            let in_flight = self.in_flight();
            let limit = hooks.inflight_limit(self.window.cwnd as u32, in_flight);
            self.rounds.record_use(in_flight, limit);
            let has_segment = self.has_retransmission() || self.next < self.send_end();
            if !has_segment || (in_flight >= limit && !self.pacing.forced) {
                self.timers.release_at = NEVER;
                self.record_lack_of_data(in_flight, limit);
                break;
            }
            if self.timers.release_at == NEVER {
                self.timers.release_at = self.pacing.schedule(now, back_to_back);
            }
            if self.timers.release_at > now {
                break;
            }
            self.pacing.forced = false;
            self.timers.release_at = NEVER;
            self.send_one(hooks, now, in_flight, out);
            back_to_back |= self.pacing.on_sent(&self.window, self.counts.sent);
        }
        self.timers.rearm();
    }

    /// Sends the next lost segment, or else a new one. Returns false if there is none.
    #[inline(always)]
    pub(crate) fn send_one(
        &mut self,
        hooks: &mut impl SendHooks,
        now: u64,
        in_flight: u32,
        out: &mut impl Emit,
    ) -> bool {
        let again = self.has_retransmission();
        let segment = if again {
            self.counts.retransmissions += 1;
            self.scoreboard.take_retransmit(self.una)
        } else if self.next < self.send_end() {
            self.next += 1;
            self.next - 1
        } else {
            return false;
        };
        self.count_sent(now);
        if self.timers.rto_at == NEVER {
            self.timers.rto_at = now + self.rtt.estimator.timeout();
        }
        let needs_record = self.fast_path == FastPath::Disabled;
        let flags = if needs_record { self.record_and_flag(now, segment, in_flight, again) } else { 0 };
        out.emit(now, self.config.packet(now, segment, flags));
        hooks.on_sent(self, now, segment, in_flight, again);
        true
    }
}
