//! What leaves, and when: retransmissions, and new data in bursts of several segments.

use super::Repair;
use crate::packet::{Emit, PUSH};
use crate::sender::Sender;
use cwnd_cc::{State, Window};

/// How the window is used (Linux's answer to RFC 7661's question), and the burst under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Use {
    /// The window was in use in this window of data.
    limited: bool,
    /// Most segments outstanding in it.
    most_out: u64,
    /// It ends when this segment is acknowledged.
    end: u64,
    /// So many new segments may leave.
    burst: u32,
    /// The burst under way has several.
    several: bool,
    /// After a timeout, to see whether it was spurious, new data goes before what seems lost (F-RTO).
    prefers_new: bool,
    /// When new data left last.
    wrote_at: u64,
}

impl Use {
    /// Whether the window may grow: it is in use, or in slow start at least half of it was.
    pub fn is_limited(&self, window: &Window) -> bool {
        self.limited || (window.in_slow_start() && window.cwnd < 2.0 * self.most_out as f64)
    }
}

/// In place of flags: the segment was sent before.
const AGAIN: u16 = u16::MAX;

/// Whether a segment leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    Now,
    /// The burst would be small: wait for more of the window.
    Later,
    /// There is nothing, or no room.
    Never,
}

/// The application's data comes in buffers of so many bytes, which are cut into bursts.
const BUFFER: u32 = 65_215;

/// A burst is the data of this part of a second at the pacing rate, but at least two segments.
const BURSTS_A_SECOND: f64 = 1024.0;
const LEAST_BURST: u32 = 2;

/// On short paths a burst is longer, by a buffer divided by two for each of these steps of the least round-trip time, ns.
const SHORT_STEP: u64 = 512_000;

/// A burst waits for more of the window only if the last one left within this time, and the next ACK is expected within
/// it, ns.
const RECENT: u64 = 1_000_000;

/// ... and only while less than this part of the window is free.
const ENOUGH: u32 = 3;

impl Sender {
    /// After an ACK or a timer: repair, and send what the window lets go.
    pub(crate) fn transmit_linux(&mut self, now: u64, repair: Repair, out: &mut impl Emit) {
        self.linux().usage.prefers_new = repair == Repair::New;
        if self.gated {
            return self.transmit_gated(now, false, out);
        }
        if repair == Repair::New {
            let before = self.next;
            self.send_bursts(now, out);
            if self.next > before {
                return;
            }
            self.linux().undo.frto = false;
        }
        if repair != Repair::Nothing {
            self.send_lost(now, out);
        }
        self.send_bursts(now, out);
    }

    /// Whether a segment may leave now: a lost one, or a new one.
    pub(crate) fn may_leave_or_repair(&mut self, now: u64, in_flight: u32) -> Leave {
        let lost = self.board.lost > self.board.retransmitted && in_flight < self.window.cwnd as u32;
        if lost && !self.prefers_new() { Leave::Now } else { self.may_leave(now, in_flight) }
    }

    /// The segment leaves of which that said so.
    pub(crate) fn send_or_repair(&mut self, now: u64, in_flight: u32, out: &mut impl Emit) {
        if self.board.lost > self.board.retransmitted && !self.prefers_new() {
            self.send_copy(now, in_flight, out);
        } else {
            self.send_new(now, in_flight, out);
        }
    }

    fn prefers_new(&mut self) -> bool {
        let end = self.data_end.min(self.una + self.config.receive_window);
        self.next < end && self.linux().usage.prefers_new
    }

    /// Whether a burst of new segments is under way.
    pub(crate) fn is_in_burst(&mut self) -> bool {
        self.linux().usage.burst > 0
    }

    /// Retransmit what is lost as far as the window goes.
    fn send_lost(&mut self, now: u64, out: &mut impl Emit) {
        while self.board.lost > self.board.retransmitted {
            let in_flight = self.in_flight();
            if in_flight >= self.window.cwnd as u32 {
                break;
            }
            self.send_copy(now, in_flight, out);
        }
    }

    /// The next lost segment is retransmitted.
    pub(crate) fn send_copy(&mut self, now: u64, in_flight: u32, out: &mut impl Emit) {
        let segment = self.board.take_retransmit(self.una);
        self.linux().undo.on_copy(now);
        self.linux().rack.copies.push_back((now, segment));
        self.linux().reduction.out += 1;
        self.emit_segment(now, segment, in_flight, AGAIN, out);
        if segment == self.una {
            self.on_head_retransmitted(now);
        }
    }

    /// After a timeout the first outstanding segment goes in any case.
    pub(super) fn send_first_lost(&mut self, now: u64, out: &mut impl Emit) {
        let in_flight = self.in_flight();
        self.send_copy(now, in_flight, out);
    }

    /// A segment that is not known to be lost is sent once more.
    pub(super) fn send_again(&mut self, now: u64, segment: u64, out: &mut impl Emit) {
        let in_flight = self.in_flight();
        self.emit_segment(now, segment, in_flight, AGAIN, out);
    }

    /// New segments in bursts, as many as the window lets go.
    fn send_bursts(&mut self, now: u64, out: &mut impl Emit) {
        let (before, had_nothing_out) = (self.next, self.una == self.next);
        let mut in_flight = self.in_flight();
        let mut leave = self.may_leave(now, in_flight);
        while leave == Leave::Now {
            self.send_new(now, in_flight, out);
            in_flight += 1;
            leave = self.may_leave(now, in_flight);
        }
        let sent = self.next > before;
        self.note_linux_use(in_flight, sent, leave == Leave::Later);
        if sent {
            self.on_new_data(now, had_nothing_out);
        }
        self.note_lack(in_flight, self.window.cwnd as u32);
    }

    /// A new segment leaves.
    pub(crate) fn send_new(&mut self, now: u64, in_flight: u32, out: &mut impl Emit) {
        let segment = self.next;
        self.next += 1;
        let reduces = matches!(self.state, State::Recovery | State::Cwr);
        let linux = self.linux();
        let left = linux.usage.burst.saturating_sub(1);
        let flags = if left == 0 && linux.usage.several { PUSH } else { 0 };
        linux.usage.burst = left;
        linux.usage.wrote_at = now;
        linux.reduction.out += u64::from(reduces);
        self.emit_segment(now, segment, in_flight, flags, out);
    }

    /// A segment leaves with these flags, or as one sent [`AGAIN`].
    fn emit_segment(&mut self, now: u64, segment: u64, in_flight: u32, flags: u16, out: &mut impl Emit) {
        let again = flags == AGAIN;
        let flags = if again { 0 } else { flags };
        self.count_sent(now);
        self.counts.retransmissions += u64::from(again);
        let una = self.una;
        self.linux().sent.note(now, segment, una, again);
        let flags = flags | self.prepare(now, segment, in_flight, again);
        out.emit(now, self.packet(now, segment, flags));
    }

    /// Whether the window was in use after something was sent or held back.
    pub(crate) fn note_linux_use(&mut self, in_flight: u32, sent: bool, held_back: bool) {
        let limited = held_back || in_flight >= self.window.cwnd as u32;
        if !sent && !limited {
            return;
        }
        let (una, next) = (self.una, self.next);
        let usage = &mut self.linux().usage;
        let out = next - una;
        if una >= usage.end || limited || (!usage.limited && out > usage.most_out) {
            usage.limited = limited;
            usage.most_out = out;
            usage.end = next;
        }
    }

    /// Whether a new segment may leave now: as part of the burst under way, or of one that begins. Linux hands
    /// several segments at a time to its output, and waits for an ACK rather than to send few.
    pub(crate) fn may_leave(&mut self, now: u64, in_flight: u32) -> Leave {
        let end = self.data_end.min(self.una + self.config.receive_window);
        let cwnd = self.window.cwnd as u32;
        if self.next >= end || in_flight >= cwnd {
            self.linux().usage.burst = 0;
            return Leave::Never;
        }
        if self.linux().usage.burst > 0 {
            return Leave::Now;
        }
        let room = cwnd - in_flight;
        let most = self.burst_size();
        if room < most && !self.is_enough(room) && self.expects_more(now) {
            let there = self.in_buffer();
            if there > 1 && (room < there || u64::from(there) == self.data_end - self.next) {
                return Leave::Later;
            }
        }
        let there = self.in_buffer();
        // At least two bursts a window.
        let burst = room.min((cwnd / 2).max(1)).min(most).min(there);
        self.linux().usage.burst = burst;
        self.linux().usage.several = burst > 1;
        Leave::Now
    }

    /// Segments of the buffer that is under way.
    fn in_buffer(&self) -> u32 {
        let per_buffer = u64::from((BUFFER / self.window.mss()).max(1));
        (per_buffer - self.next % per_buffer).min(self.data_end - self.next) as u32
    }

    /// A large part of the window is free.
    fn is_enough(&self, room: u32) -> bool {
        room >= self.window.cwnd as u32 / ENOUGH
    }

    /// Whether it may soon be more: something left just now, and the ACK of the first outstanding segment is due.
    fn expects_more(&mut self, now: u64) -> bool {
        let recovers = matches!(self.state, State::Recovery | State::Loss);
        let (una, next, srtt) = (self.una, self.next, self.rtt.srtt());
        let linux = self.linux();
        let recently = now <= linux.usage.wrote_at + RECENT;
        if recovers || !recently || una == next {
            return false;
        }
        linux.sent.of(una).at + srtt <= now + RECENT.min(srtt / 2)
    }

    /// Segments of a burst: about a millisecond at twice the rate of the window in slow start, and 1.2 times else; more on
    /// paths of a few milliseconds.
    fn burst_size(&self) -> u32 {
        let window = &self.window;
        let rate = if window.pacing_rate.is_finite() {
            window.pacing_rate / f64::from(window.mss())
        } else {
            // Mostly it is plain on which side of half the threshold the window is.
            let half = window.ssthresh / 2.0;
            let slow_start =
                window.cwnd < half && (window.cwnd + 1.0 <= half || window.cwnd < window.whole(half));
            let gain = if slow_start { 2.0 } else { 1.2 };
            let srtt = if self.rtt.is_known() { self.rtt.srtt() } else { 1_000_000 };
            gain * window.cwnd.max((self.next - self.una) as f64) * 1e9 / srtt.max(1) as f64
        };
        let steps = if self.rtt.is_known() { self.rtt.min / SHORT_STEP } else { u64::MAX };
        let short = if steps < 32 { BUFFER >> steps } else { 0 };
        let bytes = (rate / BURSTS_A_SECOND * f64::from(window.mss())) as u32;
        (bytes.saturating_add(short).min(BUFFER) / window.mss()).max(LEAST_BURST)
    }
}
