//! How packets leave a sender: what the window lets go, pacing, send overhead, and what each carries.

use super::linux::{Leave, Repair};
use super::{NEVER, Sender, SenderConfig};
use crate::packet::{CWR, ECT, ECT1, Emit, Packet};
use cwnd_cc::{EcnMode, State};

impl Sender {
    /// Send what the window allows; with `force`, one segment in any case (RFC 6675 section 5, step 4.3).
    #[inline(always)]
    pub(super) fn transmit(&mut self, now: u64, force: bool, out: &mut impl Emit) {
        if self.gated {
            return self.transmit_gated(now, force, out);
        }
        if self.linux.is_some() {
            return self.transmit_linux(now, Repair::Nothing, out);
        }
        let window = self.window.cwnd as u32;
        let mut in_flight = self.in_flight();
        if self.hold > 0 {
            return self.transmit_holding(now, window, in_flight, force, out);
        }
        if force {
            self.send_one(now, in_flight, out);
            in_flight += 1;
        }
        while in_flight < window {
            if !self.send_one(now, in_flight, out) {
                break;
            }
            in_flight += 1;
        }
        self.note_use(in_flight, window);
        self.note_lack(in_flight, window);
    }

    /// Rate halving, as ns-2.35's TCP-Linux has it: the window has been reduced, but as long as more is in flight, what
    /// is held there falls by one segment only for every two that leave.
    #[cold]
    #[inline(never)]
    fn transmit_holding(
        &mut self,
        now: u64,
        window: u32,
        mut in_flight: u32,
        force: bool,
        out: &mut impl Emit,
    ) {
        self.hold = self.hold.min(in_flight + 1);
        let mut force = force;
        while force || in_flight < window.max(self.hold) {
            if !self.send_one(now, in_flight, out) {
                break;
            }
            force = false;
            in_flight += 1;
            self.let_go(in_flight);
        }
        self.note_use(in_flight, window);
        self.note_lack(in_flight, window);
    }

    /// A segment has left, with which so many are in flight: one less is held from now on.
    fn let_go(&mut self, in_flight: u32) {
        self.hold = self.hold.min((in_flight - 1).max(1));
    }

    /// If the window would let more go than the application has, delivery-rate samples say little from now on until what
    /// is in flight is delivered (draft-ietf-ccwg-bbr section 4.1.2.4).
    #[inline(always)]
    pub(super) fn note_lack(&mut self, in_flight: u32, window: u32) {
        if let Some(records) = &mut self.records {
            let lacks = self.next >= self.data_end && self.board.lost <= self.board.retransmitted;
            if lacks && in_flight < window {
                records.on_app_limited(in_flight);
            }
        }
    }

    #[inline(always)]
    pub(super) fn note_use(&mut self, in_flight: u32, window: u32) {
        if !self.config.validate_cwnd {
            return;
        }
        self.limited |= in_flight >= window;
        self.peak = self.peak.max(in_flight);
    }

    /// Send by pacing and send overhead: a packet leaves when its release time has come, which is set
    /// when the window lets it go. Pacing keeps its own times: what a packet takes to leave beyond its time
    /// makes the next one no later.
    #[cold]
    #[inline(never)]
    pub(super) fn transmit_gated(&mut self, now: u64, force: bool, out: &mut impl Emit) {
        if self.linux.is_some() {
            return self.transmit_linux_gated(now, out);
        }
        self.forced |= force;
        let mut in_turn = false;
        self.hold = self.hold.min(self.in_flight() + 1);
        loop {
            let window = (self.window.cwnd as u32).max(self.hold);
            let in_flight = self.in_flight();
            self.note_use(in_flight, window);
            if !self.has_segment() || (in_flight >= window && !self.forced) {
                self.release_at = NEVER;
                self.note_lack(in_flight, window);
                break;
            }
            if self.release_at == NEVER {
                let overhead = self.config.overhead_stream.below(self.config.send_overhead);
                self.paced_from = if in_turn { self.paced_until } else { now.max(self.paced_until) };
                self.release_at = now.max(self.paced_from + overhead);
            }
            if self.release_at > now {
                break;
            }
            self.forced = false;
            self.release_at = NEVER;
            self.send_one(now, in_flight, out);
            self.let_go(in_flight + 1);
            let rate = self.window.pacing_rate;
            if self.needs.pacing && rate.is_finite() && rate > 0.0 {
                let interval = f64::from(self.window.mss()) / rate * 1e9;
                self.paced_until = self.paced_from + interval.min(1e12) as u64;
                in_turn = true;
            }
        }
        self.rearm();
    }

    /// The same for the sender of `linux.rs`: pacing holds back bursts, not the segments of one.
    fn transmit_linux_gated(&mut self, now: u64, out: &mut impl Emit) {
        let (before, had_nothing_out) = (self.next, self.una == self.next);
        let mut in_turn = false;
        let leave = loop {
            let in_flight = self.in_flight();
            let begins = !self.is_in_burst();
            let leave = self.may_leave_or_repair(now, in_flight);
            if leave != Leave::Now {
                self.release_at = NEVER;
                break leave;
            }
            if self.release_at == NEVER {
                let overhead = self.config.overhead_stream.below(self.config.send_overhead);
                self.paced_from =
                    if in_turn || !begins { self.paced_until } else { now.max(self.paced_until) };
                let from = if begins { self.paced_from } else { now };
                self.release_at = now.max(from + overhead);
            }
            if self.release_at > now {
                break leave;
            }
            self.release_at = NEVER;
            self.send_or_repair(now, in_flight, out);
            let rate = self.window.pacing_rate;
            if self.needs.pacing && rate.is_finite() && rate > 0.0 {
                let interval = f64::from(self.window.mss()) / rate * 1e9;
                self.paced_until = self.paced_from + interval.min(1e12) as u64;
                in_turn = true;
            }
        };
        let sent = self.next > before;
        let in_flight = self.in_flight();
        self.note_linux_use(in_flight, sent, leave == Leave::Later);
        if sent {
            self.on_new_data(now, had_nothing_out);
        }
        self.note_lack(in_flight, self.window.cwnd as u32);
        self.rearm();
    }

    /// A data packet leaves.
    #[inline(always)]
    pub(super) fn count_sent(&mut self, now: u64) {
        self.counts.sent += 1;
        if self.noted {
            self.sent_at = now;
        }
    }

    #[inline(always)]
    fn send_end(&self) -> u64 {
        self.data_end.min(self.una + self.config.receive_window)
    }

    fn has_segment(&self) -> bool {
        self.board.lost > self.board.retransmitted || self.next < self.send_end()
    }

    /// Send the next lost segment, or else a new one. False if there is none.
    #[inline(always)]
    fn send_one(&mut self, now: u64, in_flight: u32, out: &mut impl Emit) -> bool {
        if self.board.lost > self.board.retransmitted {
            self.retransmit(now, in_flight, out);
            return true;
        }
        if self.next >= self.send_end() {
            return false;
        }
        let segment = self.next;
        self.next += 1;
        self.count_sent(now);
        if self.rto_at == NEVER {
            self.rto_at = now + self.rtt.timeout();
        }
        let flags = if self.plain { 0 } else { self.prepare(now, segment, in_flight, false) };
        out.emit(now, self.packet(now, segment, flags));
        if self.state != State::Open {
            self.prr.out += 1;
            self.note_send_time(segment, now);
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn retransmit(&mut self, now: u64, in_flight: u32, out: &mut impl Emit) {
        let segment = self.board.take_retransmit(self.una);
        self.count_sent(now);
        self.counts.retransmissions += 1;
        self.prr.out += 1;
        if self.rto_at == NEVER {
            self.rto_at = now + self.rtt.timeout();
        }
        if self.config.detect_lost_retransmissions {
            self.copies.push(segment, self.next);
        }
        self.note_send_time(segment, now);
        let flags = if self.plain { 0 } else { self.prepare(now, segment, in_flight, true) };
        out.emit(now, self.packet(now, segment, flags));
    }

    fn note_send_time(&mut self, segment: u64, now: u64) {
        if self.measures_as_ns2() {
            self.send_times.note(segment, now);
            self.plain = false;
        }
    }

    /// Keep a record of the segment, and find its ECN flags.
    #[inline]
    pub(super) fn prepare(&mut self, now: u64, segment: u64, in_flight: u32, again: bool) -> u16 {
        if let Some(records) = &mut self.records {
            records.on_send(now, segment, self.una, in_flight, again);
        }
        match self.config.ecn {
            EcnMode::Off => 0,
            // RFC 3168 section 6.1.5: a retransmission is not ECN-capable, and CWR goes with new data.
            EcnMode::Classic if again => 0,
            EcnMode::Classic => ECT | if std::mem::take(&mut self.send_cwr) { CWR } else { 0 },
            EcnMode::Exact if self.config.l4s => ECT | ECT1,
            EcnMode::Exact => ECT,
        }
    }

    #[inline(always)]
    pub(super) fn packet(&self, now: u64, segment: u64, flags: u16) -> Packet {
        let SenderConfig { segments, first_packet_size, last_packet_size, packet_size, .. } = self.config;
        let size = match segment {
            0 if first_packet_size != packet_size => first_packet_size,
            _ if segment + 1 == segments => last_packet_size,
            _ => packet_size,
        };
        Packet {
            at: now,
            sent: now,
            seq: segment as u32,
            channel: self.config.channel,
            aux: 0,
            size: size as u16,
            flags,
        }
    }
}
