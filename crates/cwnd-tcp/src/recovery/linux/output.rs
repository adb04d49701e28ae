//! What is sent, and for when the timer is set: retransmissions, new data in bursts of several segments, and the timer that
//! serves the retransmission timeout, the tail loss probe and reordering.

use super::burst::{KnownBurst, burst_size, burst_size_up_to};
use super::send_log::SendRecord;
use super::{Delivery, Linux, Repair};
use crate::packet::{BARE, Emit, PUSH};
use crate::{Connection, NEVER};
use cwnd_cc::{CongestionKind, EcnMode, State, Window};

/// How the window is used (the problem of RFC 7661, with Linux's solution), and the burst under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Output {
    /// Whether the window was in use in this window of data.
    limited: bool,
    /// The most segments outstanding in it.
    most_out: u64,
    /// The window of data ends when this segment is acknowledged.
    end: u64,
    /// New segments that may still leave in the burst.
    pub burst: u32,
    /// Whether the burst consists of more than one segment.
    pub several: bool,
    /// Whether new data goes before lost segments, to find out whether a timeout was spurious (F-RTO).
    pub new_data_first: bool,
    /// When new data left last.
    pub wrote_at: u64,
    /// What is known of the size of a burst.
    known: KnownBurst,
}

impl Output {
    /// Returns whether the window may grow: it is in use, or in slow start at least half of it was.
    pub fn is_cwnd_limited(&self, window: &Window) -> bool {
        self.limited || (window.in_slow_start() && window.cwnd < 2.0 * self.most_out as f64)
    }

    pub fn in_burst(&self) -> bool {
        self.burst > 0
    }

    /// Records the window's use after something was sent or held back.
    #[inline(always)]
    fn record_use(&mut self, conn: &Connection, in_flight: u32, sent: bool, held_back: bool) {
        let limited = held_back || in_flight >= conn.window.cwnd as u32;
        if !sent && !limited {
            return;
        }
        let out = conn.next - conn.una;
        if conn.una >= self.end || limited || (!self.limited && out > self.most_out) {
            self.limited = limited;
            self.most_out = out;
            self.end = conn.next;
        }
    }
}

/// What the timer waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Wait {
    /// The retransmission timeout.
    #[default]
    Timeout,
    /// The tail loss probe.
    Probe,
    /// The end of the reordering window.
    Reordering,
    /// A probe of the receiver's window, which is closed.
    Window,
}

/// The state of the timer besides its time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timer {
    pub wait: Wait,
    /// The probe that is out: the next new segment when it was sent, and whether it was a retransmission.
    pub probe: Option<(u64, bool)>,
    /// Whether the timer has just expired.
    pub expiring: bool,
}

impl Timer {
    /// Returns the segment that a probe has retransmitted, if one is out.
    pub fn probed(&self) -> Option<u64> {
        self.probe.filter(|&(_, again)| again).map(|(end, _)| end - 1)
    }

    /// Returns whether it waits to probe the receiver's closed window.
    pub fn waits_for_window(&self) -> bool {
        self.wait == Wait::Window
    }

    /// Returns whether a probe is out.
    pub fn has_probe(&self) -> bool {
        self.probe.is_some()
    }
}

/// How a segment is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    New { flags: u16 },
    Retransmission,
}

/// Whether a new segment may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Permission {
    Now,
    /// The burst would be small: it waits for more of the window.
    Later,
    /// There is no data, or no room.
    No,
}

/// A burst waits for more of the window only if the last one left within this time, or pacing let it go within this time, and the next
/// ACK is expected within it, ns; and only while less than a part of the window is free ([`LinuxOptions::tso_win_divisor`](super::LinuxOptions)).
const RECENT: u64 = 1_000_000;
/// That part without a divisor, segments.
const LEAST_PART: u32 = 4;

/// How much longer a probe waits than two round-trip times for a single segment, because of the receiver's delayed ACK (RFC 8985
/// section 7.2), ns. For several segments, and after the reordering window, it waits two ticks longer.
const DELAYED_ACK: u64 = 200_000_000;

impl Linux {
    /// Sends after an ACK or a timer: repairs, and new data that the window lets go.
    pub(super) fn send(&mut self, conn: &mut Connection, now: u64, repair: Repair, out: &mut impl Emit) {
        self.output.new_data_first = repair == Repair::NewFirst;
        if conn.pacing.uses_timer() {
            return self.send_by_timer(conn, now, out);
        }
        if repair == Repair::NewFirst {
            let before = conn.next;
            self.send_bursts(conn, now, out);
            if conn.next > before {
                return;
            }
            self.undo.frto = false;
        }
        if repair != Repair::Nothing {
            self.send_lost(conn, now, out);
        }
        self.send_bursts(conn, now, out);
        self.wait_for_window(conn, now);
    }

    /// Sets the timer for a probe if nothing is outstanding and the receiver's window holds data back (RFC 9293 section 3.8.6.1).
    fn wait_for_window(&mut self, conn: &mut Connection, now: u64) {
        let waits = conn.peer_window == 0 && conn.una == conn.next && conn.next < conn.data_end;
        if waits && (self.timer.wait != Wait::Window || conn.timers.rto_at == NEVER) {
            self.timer.wait = Wait::Window;
            self.arm(conn, now, conn.rtt.estimator.timeout());
        } else if !waits && self.timer.wait == Wait::Window {
            self.timer.wait = Wait::Timeout;
            conn.timers.rto_at = NEVER;
        }
    }

    /// Probes the receiver's window: a packet without data and with a sequence number that was acknowledged, which the receiver
    /// answers with its window. The interval doubles.
    pub(super) fn probe_window(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        let mut probe = conn.config.packet(now, conn.una, BARE);
        probe.size = conn.config.ack_size as u16;
        out.emit(now, probe);
        conn.rtt.estimator.back_off();
        self.arm(conn, now, conn.rtt.estimator.timeout());
    }

    /// Retransmits what is lost as far as the window allows.
    fn send_lost(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        while conn.has_retransmission() && out.accepts() {
            let in_flight = conn.in_flight();
            if in_flight >= conn.window.cwnd as u32 {
                break;
            }
            self.retransmit(conn, now, in_flight, out);
        }
    }

    /// Retransmits the next lost segment. Returns it, and how it was sent before.
    pub(super) fn retransmit(
        &mut self,
        conn: &mut Connection,
        now: u64,
        in_flight: u32,
        out: &mut impl Emit,
    ) -> (u64, SendRecord) {
        let segment = conn.scoreboard.take_retransmit(conn.una);
        let before = self.send_log.of(segment);
        self.undo.on_retransmission(now);
        self.rack.retransmissions.push_back((now, segment));
        self.prr.out += 1;
        self.emit(conn, now, segment, in_flight, Kind::Retransmission, out);
        // The timeout of the first outstanding segment begins with its retransmission.
        if segment == conn.una && self.timer.wait != Wait::Reordering {
            self.timer.wait = Wait::Timeout;
            self.arm(conn, now, conn.rtt.estimator.timeout());
        }
        (segment, before)
    }

    /// Sets the timer.
    #[inline(always)]
    pub(super) fn arm(&self, conn: &mut Connection, now: u64, wait: u64) {
        conn.timers.set_retransmission(now, wait, self.timer.expiring);
    }

    /// Sends a segment again that is not known to be lost.
    pub(super) fn send_again(&mut self, conn: &mut Connection, now: u64, segment: u64, out: &mut impl Emit) {
        let in_flight = conn.in_flight();
        self.emit(conn, now, segment, in_flight, Kind::Retransmission, out);
    }

    /// Sends new segments in bursts, as many as the window allows.
    fn send_bursts(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        let (before, was_idle, in_flight) = (conn.next, conn.una == conn.next, conn.in_flight());
        let (in_flight, permission) = self.send_while_permitted(conn, now, in_flight, out);
        self.end_sending(conn, now, before, was_idle, in_flight, permission);
    }

    /// The same, where `in_flight` segments are in flight. Returns how many are afterwards, and why no other may leave.
    #[inline]
    pub(super) fn send_while_permitted(
        &mut self,
        conn: &mut Connection,
        now: u64,
        mut in_flight: u32,
        out: &mut impl Emit,
    ) -> (u32, Permission) {
        loop {
            let permission = self.may_send_new(conn, now, in_flight);
            if permission != Permission::Now {
                return (in_flight, permission);
            }
            let room = u64::from(conn.window.cwnd as u32 - in_flight).min(conn.send_end() - conn.next);
            let count = room.min(u64::from(self.output.burst.max(1))) as u32;
            self.send_several(conn, now, in_flight, count, out);
            in_flight += count;
        }
    }

    /// Records the window's use after a call to send, and sets the timer if new data has left. `in_flight` segments are in
    /// flight now.
    #[inline(always)]
    pub(super) fn end_sending(
        &mut self,
        conn: &mut Connection,
        now: u64,
        before: u64,
        was_idle: bool,
        in_flight: u32,
        permission: Permission,
    ) {
        let sent = conn.next > before;
        self.output.record_use(conn, in_flight, sent, permission == Permission::Later);
        if sent && !self.set_probe_timer(conn, now, false) && (was_idle || self.timer.wait == Wait::Probe) {
            self.set_timeout_timer(conn, now);
        }
    }

    /// Sends the next `count` new segments of the burst.
    #[inline(always)]
    pub(super) fn send_several(
        &mut self,
        conn: &mut Connection,
        now: u64,
        in_flight: u32,
        count: u32,
        out: &mut impl Emit,
    ) {
        let (first, end) = (conn.next, conn.next + u64::from(count));
        let records = conn.records.is_some() || conn.config.ecn != EcnMode::Off;
        // The first and the last packet of a flow may be shorter.
        if records || first == 0 || end >= conn.config.segments {
            return (0..count).for_each(|i| self.send_new(conn, now, in_flight + i, out));
        }
        conn.next = end;
        self.output.burst = self.output.burst.saturating_sub(count);
        self.output.wrote_at = now;
        self.prr.out += if matches!(conn.state, State::Recovery | State::Cwr) { u64::from(count) } else { 0 };
        conn.counts.sent += u64::from(count);
        conn.idle.last_sent = now;
        self.send_log.record_new(now, first, u64::from(count), conn.una);
        let packet = conn.config.packet(now, first, 0);
        let last = if self.output.burst == 0 && self.output.several { PUSH } else { 0 };
        out.emit_run(now, packet, u64::from(count), last);
    }

    /// Sends the next new segment.
    pub(super) fn send_new(&mut self, conn: &mut Connection, now: u64, in_flight: u32, out: &mut impl Emit) {
        let segment = conn.next;
        conn.next += 1;
        let left = self.output.burst.saturating_sub(1);
        let flags = if left == 0 && self.output.several { PUSH } else { 0 };
        self.output.burst = left;
        self.output.wrote_at = now;
        self.prr.out += u64::from(matches!(conn.state, State::Recovery | State::Cwr));
        self.emit(conn, now, segment, in_flight, Kind::New { flags }, out);
    }

    fn emit(
        &mut self,
        conn: &mut Connection,
        now: u64,
        segment: u64,
        in_flight: u32,
        kind: Kind,
        out: &mut impl Emit,
    ) {
        let (again, flags) = match kind {
            Kind::New { flags } => (false, flags),
            Kind::Retransmission => (true, 0),
        };
        conn.count_sent(now);
        conn.counts.retransmissions += u64::from(again);
        self.send_log.record(now, segment, conn.una, again);
        let flags = flags | conn.record_and_flag(now, segment, in_flight, again);
        out.emit(now, conn.config.packet(now, segment, flags));
    }

    /// Returns whether a new segment may leave now, as part of the burst under way or of one that begins. Linux hands
    /// several segments at a time to its output, and waits for an ACK rather than send few.
    #[inline(always)]
    pub(super) fn may_send_new(&mut self, conn: &Connection, now: u64, in_flight: u32) -> Permission {
        if conn.next >= conn.send_end() || in_flight >= conn.window.cwnd as u32 {
            self.output.burst = 0;
            return Permission::No;
        }
        if self.output.in_burst() {
            return Permission::Now;
        }
        let waits = self.waits_for_certain(conn, now, in_flight);
        if waits && !cfg!(debug_assertions) {
            return Permission::Later;
        }
        let permission = self.may_begin_burst(conn, now, in_flight);
        debug_assert!(!waits || permission == Permission::Later);
        permission
    }

    /// Returns true only if [`Linux::may_begin_burst`] would make the burst wait for more of the congestion window. It does not find all
    /// of these cases.
    #[inline(always)]
    fn waits_for_certain(&self, conn: &Connection, now: u64, in_flight: u32) -> bool {
        let cwnd = conn.window.cwnd as u32;
        let room = cwnd - in_flight;
        self.output.known.is_over(room, conn)
            && u64::from(room) < (conn.una + conn.peer_window).saturating_sub(conn.next)
            && !self.options.fills_buffers
            && self.buffers.have_more_than(room, conn)
            && !self.is_large_part(room, u64::from(cwnd).min(conn.peer_window) as u32)
            && self.expects_more(conn, now)
    }

    /// The same between bursts, where both windows have room and there is data.
    #[inline(never)]
    fn may_begin_burst(&mut self, conn: &Connection, now: u64, in_flight: u32) -> Permission {
        let cwnd = conn.window.cwnd as u32;
        // Both windows bound a burst.
        let advertised = (conn.una + conn.peer_window).saturating_sub(conn.next);
        let room = u64::from(cwnd - in_flight).min(advertised) as u32;
        // By how much it is over the room has no effect.
        let most = burst_size_up_to(conn, room, self.options.min_tso_segs);
        let available = self.available(conn, in_flight);
        let part_is_free = || self.is_large_part(room, u64::from(cwnd).min(conn.peer_window) as u32);
        if room < most && !part_is_free() && self.expects_more(conn, now) {
            let is_rest = u64::from(available) == conn.data_end - conn.next;
            if available > 1 && (room < available || is_rest) {
                // The end of the data may wait although the window has room for all of it.
                let by_cwnd = u64::from(cwnd - in_flight) < advertised && room <= available;
                return if by_cwnd { Permission::Later } else { Permission::No };
            }
        }
        // At least two bursts a window.
        let burst = room.min((cwnd / 2).max(1)).min(most).min(available);
        if burst > LEAST_PART {
            self.output.known = KnownBurst::new(conn);
        }
        self.output.burst = burst;
        self.output.several = burst > 1;
        Permission::Now
    }

    /// Returns the number of segments in the buffer under way, which is first filled for a burst if this version of Linux does so.
    #[inline]
    fn available(&mut self, conn: &Connection, in_flight: u32) -> u32 {
        let left = self.buffers.left(conn);
        if !self.options.fills_buffers {
            return left;
        }
        let cwnd = conn.window.cwnd as u32;
        let wanted = (cwnd - in_flight).min((cwnd / 2).max(1));
        let burst = wanted.min(burst_size(conn, self.options.min_tso_segs));
        if left < burst { self.buffers.fill(conn, burst) } else { left }
    }

    /// Returns whether so much of the window is free that a small burst leaves at once.
    fn is_large_part(&self, room: u32, cwnd: u32) -> bool {
        match self.options.tso_win_divisor {
            0 => room >= LEAST_PART,
            // It is at least the whole part of the quotient, without a division.
            divisor => (u64::from(room) + 1) * u64::from(divisor) > u64::from(cwnd),
        }
    }

    /// Returns whether more of the window may soon be free: something left just now, and the ACK of the first outstanding
    /// segment is due.
    #[inline(always)]
    fn expects_more(&self, conn: &Connection, now: u64) -> bool {
        let recovers = matches!(conn.state, State::Recovery | State::Loss);
        let recently = now <= self.output.wrote_at.max(conn.pacing.next_slot()) + RECENT;
        if recovers || !recently || conn.una == conn.next {
            return false;
        }
        let srtt = conn.rtt.estimator.srtt();
        self.send_log.of(conn.una).at + srtt <= now + RECENT.min(srtt / 2)
    }

    /// Sets the timer again after an ACK that advances.
    pub(super) fn set_timer(&mut self, conn: &mut Connection, now: u64) {
        if !self.set_probe_timer(conn, now, true) {
            self.set_timeout_timer(conn, now);
        }
    }

    /// Returns when the first outstanding segment times out, counted from when it was sent.
    fn head_timeout(&self, conn: &Connection) -> u64 {
        self.send_log.of(conn.una).at + conn.rtt.estimator.timeout()
    }

    pub(super) fn set_timeout_timer(&mut self, conn: &mut Connection, now: u64) {
        if conn.una == conn.next {
            conn.timers.rto_at = NEVER;
            return;
        }
        let wait = match self.timer.wait {
            Wait::Timeout => conn.rtt.estimator.timeout(),
            Wait::Probe | Wait::Reordering | Wait::Window => {
                self.head_timeout(conn).saturating_sub(now).max(1)
            }
        };
        self.arm(conn, now, wait);
        self.timer.wait = Wait::Timeout;
    }

    /// Sets the timer for a probe: two round-trip times, but not later than the timeout (RFC 8985 section 7.2). Returns
    /// false if no probe is to be sent. `advancing`: the timeout counts from now.
    #[inline(always)]
    fn set_probe_timer(&mut self, conn: &mut Connection, now: u64, advancing: bool) -> bool {
        if conn.una == conn.next || !self.sends_probes(conn) {
            return false;
        }
        let estimator = &conn.rtt.estimator;
        let wait = if estimator.is_known() {
            let extra = if conn.next - conn.una == 1 { DELAYED_ACK } else { self.timer_slack(conn) };
            2 * estimator.srtt() + extra
        } else {
            estimator.timeout()
        };
        let timeout = if advancing { now + estimator.timeout() } else { self.head_timeout(conn) };
        self.timer.wait = Wait::Probe;
        self.arm(conn, now, probe_at(now, wait, timeout) - now);
        true
    }

    /// Returns whether probes are sent in this state.
    #[inline(always)]
    fn sends_probes(&self, conn: &Connection) -> bool {
        self.options.tail_loss_probe && matches!(conn.state, State::Open | State::Cwr)
    }

    /// Sets the timer for the next search for losses.
    pub(super) fn wait_for_reordering(&mut self, conn: &mut Connection, now: u64, wait: u64) {
        self.timer.wait = Wait::Reordering;
        self.arm(conn, now, wait + self.timer_slack(conn));
    }

    /// Returns how much longer Linux waits for probes and reordering than RFC 8985 says.
    fn timer_slack(&self, conn: &Connection) -> u64 {
        if self.options.follows_rfcs { 0 } else { conn.config.timer.two_ticks() }
    }

    /// Takes the answer to a probe: a loss that the probe has repaired is answered by a reduction (RFC 8985 section 7.4).
    pub(super) fn take_probe_answer(
        &mut self,
        conn: &mut Connection,
        now: u64,
        cumulative: u64,
        delivery: &Delivery,
    ) {
        let Some((end, again)) = self.timer.probe else { return };
        if cumulative < end {
            return;
        }
        if !again || delivery.duplicate_of_probe || (delivery.advanced == 0 && delivery.sacked == 0) {
            // New data has arrived, or both the original and the retransmission.
            self.timer.probe = None;
        } else if cumulative > end {
            self.undo.possible = false;
            self.begin_reduction(conn, now, CongestionKind::Loss);
            self.end_reduction(conn, now);
            conn.state = State::Open;
        }
    }
}

/// Returns when a probe is sent that waits for `wait`, where the first outstanding segment times out at `timeout`.
#[inline(always)]
fn probe_at(now: u64, wait: u64, timeout: u64) -> u64 {
    if timeout > now { timeout.min(now + wait) } else { now + wait }
}
