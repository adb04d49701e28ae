//! Segments that leave by the release timer: after the send overhead, or paced.

use super::Linux;
use super::burst::burst_size;
use super::output::Permission;
use crate::connection::pacing::SendMode;
use crate::packet::Emit;
use crate::{Connection, NEVER};

impl Linux {
    /// Sends by the release timer. The sender computes the deadline of its timers afterwards.
    #[inline]
    pub(super) fn send_by_timer(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        if conn.pacing.mode == SendMode::Delayed && !conn.has_retransmission() {
            self.send_after_overhead(conn, now, out);
        } else {
            self.send_each(conn, now, out);
        }
    }

    /// Sends new segments without pacing: all that may leave leaves together, since a kernel processes an event in one go and hands
    /// bursts to its device. The send overhead is the time from the event until then.
    #[inline]
    fn send_after_overhead(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        let (before, was_idle) = (conn.next, conn.una == conn.next);
        let mut in_flight = conn.in_flight();
        let mut permission = self.may_send_new(conn, now, in_flight);
        let mut release = NEVER;
        if permission == Permission::Now {
            release = conn.timers.release_at;
            if release == NEVER {
                release = now + conn.pacing.draw_overhead();
            }
            if release <= now {
                (in_flight, permission) = self.send_while_permitted(conn, now, in_flight, out);
                release = NEVER;
            }
        }
        conn.timers.release_at = release;
        self.end_sending(conn, now, before, was_idle, in_flight, permission);
    }

    /// Sends repairs and new segments one by one. Pacing holds back bursts, not the segments of one; without pacing all leaves together.
    /// How long a burst is, and whether it waits for more of the window, is decided when pacing lets it go.
    #[inline(never)]
    fn send_each(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        let (before, was_idle) = (conn.next, conn.una == conn.next);
        let is_paced = conn.pacing.mode == SendMode::Paced;
        let (mut has_left, mut back_to_back) = (false, false);
        let permission = loop {
            let in_flight = conn.in_flight();
            let continues = self.output.in_burst();
            let is_held_back = conn.timers.release_at > now && conn.timers.release_at != NEVER;
            if is_paced && is_held_back {
                break Permission::Now;
            }
            let room = in_flight < conn.window.cwnd as u32;
            let repairs = conn.has_retransmission() && !self.prefers_new_data(conn);
            let mut permission =
                if repairs && room { Permission::Now } else { self.may_send_new(conn, now, in_flight) };
            // Linux asks pacing first: whether the burst waits for the window is decided at its slot.
            if permission == Permission::Later && is_paced && conn.pacing.until_departure(now) > 0 {
                permission = Permission::Now;
            }
            if permission != Permission::Now {
                conn.timers.release_at = NEVER;
                break permission;
            }
            if conn.timers.release_at == NEVER {
                conn.timers.release_at = if is_paced && continues {
                    conn.pacing.continue_burst();
                    now
                } else if !is_paced && has_left {
                    now
                } else {
                    conn.pacing.schedule(now, back_to_back)
                };
            }
            if conn.timers.release_at > now {
                if is_paced {
                    self.output.burst = 0;
                }
                break permission;
            }
            conn.timers.release_at = NEVER;
            match (repairs, is_paced) {
                (true, true) => self.repair_burst(conn, now, out),
                (true, false) => _ = self.retransmit(conn, now, in_flight, out),
                (false, _) => self.send_new(conn, now, in_flight, out),
            }
            has_left = true;
            back_to_back |= self.pace(conn);
        };
        self.end_sending(conn, now, before, was_idle, conn.in_flight(), permission);
    }

    /// Retransmits the next lost segment, and with it those after it of the same burst that are lost, as far as the window allows:
    /// Linux keeps the bursts that it has sent, without what was acknowledged of them, and sends what is lost of one as a burst again.
    fn repair_burst(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        let most = burst_size(conn, self.options.min_tso_segs);
        for sent in 1.. {
            let in_flight = conn.in_flight();
            let (segment, before) = self.retransmit(conn, now, in_flight, out);
            let next = segment + 1;
            let has_room = in_flight + 1 < conn.window.cwnd as u32;
            let continues =
                next < conn.next && conn.scoreboard.waits(next) && self.send_log.of(next) == before;
            if sent >= most || !has_room || !continues {
                return;
            }
            self.pace(conn);
            conn.pacing.continue_burst();
        }
    }

    /// Computes the time of the next departure after a packet has left. Returns whether it follows back to back.
    fn pace(&self, conn: &mut Connection) -> bool {
        let sent = conn.counts.sent + u64::from(self.output.burst);
        conn.pacing.on_sent(&conn.window, sent)
    }

    /// Uses the slot of a packet that a timer has sent at once.
    pub(super) fn pace_at_once(&self, conn: &mut Connection, now: u64) {
        if conn.pacing.mode == SendMode::Paced {
            conn.pacing.take_slot(now);
            self.pace(conn);
        }
    }

    fn prefers_new_data(&self, conn: &Connection) -> bool {
        conn.next < conn.send_end() && self.output.new_data_first
    }
}
