//! Segments that leave by the release timer, each after its send overhead.

use super::Linux;
use super::output::{Permission, probe_at};
use crate::packet::{Emit, PUSH};
use crate::{Connection, NEVER};
use cwnd_cc::{EcnMode, State};

impl Linux {
    /// Sends without pacing, where no lost segment waits: each new segment leaves after its send overhead.
    #[inline]
    pub(super) fn send_after_overhead(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        conn.timers.release_at = self.release_due(conn, now, conn.timers.release_at, out);
        conn.timers.rearm();
    }

    /// Lets each new segment leave that is due before `until` and before any other timer: the first is due. Then no state is
    /// written and read again from one to the next.
    #[inline(never)]
    pub(super) fn release_each(&mut self, conn: &mut Connection, until: u64, out: &mut impl Emit) {
        let until = until.min(conn.timers.lifetime_at());
        let mut release = conn.timers.release_at;
        while release < until.min(conn.timers.rto_at) {
            release = match self.releases_plainly(conn) {
                true => self.release_plainly(conn, release, until, out),
                false => self.release_due(conn, release, release, out),
            };
        }
        conn.timers.release_at = release;
        conn.timers.rearm();
    }

    /// Returns whether [`Linux::release_plainly`] may let the next segment leave: it belongs to a burst under way, it is not the first
    /// or the last of the flow, it needs no record, and after it the timer waits for a probe.
    #[inline(always)]
    fn releases_plainly(&self, conn: &Connection) -> bool {
        let (next, cwnd) = (conn.next, conn.window.cwnd as u32);
        let may_leave = self.output.in_burst() && next < conn.send_end() && conn.in_flight() < cwnd;
        let plain = conn.records.is_none() && conn.config.ecn == EcnMode::Off && conn.una < next;
        may_leave && plain && self.sends_probes(conn) && conn.rtt.estimator.is_known()
    }

    /// Lets segments leave of which the first is due at `release`, until the next would leave at `until` or when the timer expires.
    /// Returns when that leaves; [`NEVER`] if none may. What [`Linux::release_due`] records after each segment is recorded once.
    #[inline(always)]
    fn release_plainly(
        &mut self,
        conn: &mut Connection,
        mut release: u64,
        until: u64,
        out: &mut impl Emit,
    ) -> u64 {
        let before = conn.next;
        // More than one segment is outstanding after each of these.
        let wait = 2 * conn.rtt.estimator.srtt() + self.timer_slack(conn);
        let head_timeout = self.head_timeout(conn);
        let mut in_flight = conn.in_flight();
        let (now, permission) = loop {
            let (now, segment) = (release, conn.next);
            self.output.burst -= 1;
            self.output.wrote_at = now;
            conn.next += 1;
            in_flight += 1;
            self.send_log.record_new(now, segment, 1, conn.una);
            let push = self.output.burst == 0 && self.output.several;
            out.emit(now, conn.config.packet(now, segment, if push { PUSH } else { 0 }));
            let permission = self.may_send_new(conn, now, in_flight);
            if permission != Permission::Now {
                release = NEVER;
                break (now, permission);
            }
            release = now + conn.pacing.draw_overhead();
            if release >= until.min(probe_at(now, wait, head_timeout)) {
                break (now, permission);
            }
        };
        let count = conn.next - before;
        self.prr.out += if matches!(conn.state, State::Recovery | State::Cwr) { count } else { 0 };
        conn.counts.sent += count;
        conn.idle.last_sent = now;
        self.end_sending(conn, now, before, false, in_flight, permission);
        release
    }

    /// Sends what is due at `now`, where the next segment leaves at `release` if that is known. Returns when the segment after
    /// it leaves; [`NEVER`] if none may.
    #[inline(always)]
    fn release_due(&mut self, conn: &mut Connection, now: u64, mut release: u64, out: &mut impl Emit) -> u64 {
        let (before, was_idle) = (conn.next, conn.una == conn.next);
        let mut in_flight = conn.in_flight();
        let permission = loop {
            let permission = self.may_send_new(conn, now, in_flight);
            if permission != Permission::Now {
                release = NEVER;
                break permission;
            }
            if release == NEVER {
                release = now + conn.pacing.draw_overhead();
            }
            if release > now {
                break permission;
            }
            release = NEVER;
            self.send_several(conn, now, in_flight, 1, out);
            in_flight += 1;
        };
        self.end_sending(conn, now, before, was_idle, in_flight, permission);
        release
    }
}
