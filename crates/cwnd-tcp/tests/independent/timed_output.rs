//! Timers and output of the recovery by time: the retransmission timeout, the tail loss probe (RFC 8985 section 7), the end of the
//! reordering window, and Linux's bursts.

use crate::clock;
use crate::sender::Sender;
use crate::timed::{Repair, Wait};
use cwnd_cc::{CongestionKind, State};
use cwnd_tcp::NEVER;
use cwnd_tcp::packet::{BARE, PUSH, Packet};

/// The most bytes of the application's data in a buffer, which a burst does not cross.
const BUFFER: u32 = 65_215;
/// How long a burst waits for more of the window at most, ns.
const RECENT: u64 = 1_000_000;

/// Whether a new segment may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum May {
    Go,
    Wait,
    Not,
}

impl Sender {
    pub fn transmit_by_time(&mut self, now: u64) {
        self.send_by_time(now, Repair::Nothing);
    }

    pub fn send_by_time(&mut self, now: u64, repair: Repair) {
        if repair == Repair::NewFirst {
            let before = self.next();
            self.send_new(now);
            if self.next() > before {
                return;
            }
            self.timed.undo.frto = false;
        }
        if repair != Repair::Nothing {
            while self.pipe() < self.window.cwnd as u32 {
                let Some(segment) = self.lost_and_waiting() else { break };
                self.repair(now, segment);
            }
        }
        self.send_new(now);
        self.watch_window(now);
    }

    fn repair(&mut self, now: u64, segment: u64) {
        self.note_retransmission(now);
        self.timed.out += 1;
        self.send_segment(now, segment, 0);
        self.at(segment).repaired = true;
        if segment == self.una && self.timed.wait != Wait::Reordering {
            self.timed.wait = Wait::Timeout;
            self.arm(now, self.rtt.timeout());
        }
    }

    fn send_new(&mut self, now: u64) {
        let (before, was_idle) = (self.next(), self.una == self.next());
        let may = loop {
            let may = self.may_send(now);
            if may != May::Go {
                break may;
            }
            self.send_one_new(now);
        };
        let sent = self.next() > before;
        self.see_use(sent, may == May::Wait);
        if sent && !self.set_probe_timer(now, false) && (was_idle || self.timed.wait == Wait::Probe) {
            self.set_timeout_timer(now);
        }
    }

    fn send_one_new(&mut self, now: u64) {
        let segment = self.next();
        self.timed.burst = self.timed.burst.saturating_sub(1);
        let ends = self.timed.burst == 0 && self.timed.several;
        self.timed.wrote_at = now;
        if matches!(self.state, State::Recovery | State::Cwr) {
            self.timed.out += 1;
        }
        self.send_segment(now, segment, if ends { PUSH } else { 0 });
    }

    fn see_use(&mut self, sent: bool, held_back: bool) {
        let full = held_back || self.pipe() >= self.window.cwnd as u32;
        let out = u64::from(self.flight_size());
        let timed = &mut self.timed;
        let renews = self.una >= timed.use_end || full || (!timed.full && out > timed.most_out);
        if (sent || full) && renews {
            (timed.full, timed.most_out) = (full, out);
            self.timed.use_end = self.next();
        }
    }

    /// Whether a new segment may leave, in the burst under way or in another.
    fn may_send(&mut self, now: u64) -> May {
        let (cwnd, pipe) = (self.window.cwnd as u32, self.pipe());
        if self.next() >= self.send_end() || pipe >= cwnd {
            self.timed.burst = 0;
            return May::Not;
        }
        if self.timed.burst > 0 {
            return May::Go;
        }
        let window = self.config.receive_window;
        let advertised = (self.una + window).saturating_sub(self.next());
        let room = u64::from(cwnd - pipe).min(advertised) as u32;
        let most = self.burst_size();
        let left = self.left_in_buffer(u64::from(cwnd - pipe).min(u64::from(cwnd / 2).max(1)));
        // A third of the window is free: then few segments leave, too.
        let third = (u64::from(room) + 1) * 3 > u64::from(cwnd).min(window);
        if room < most && !third && self.expects_more(now) {
            let is_rest = u64::from(left) == self.data_end - self.next();
            if left > 1 && (room < left || is_rest) {
                let by_cwnd = u64::from(cwnd - pipe) < advertised && room <= left;
                return if by_cwnd { May::Wait } else { May::Not };
            }
        }
        self.timed.burst = room.min((cwnd / 2).max(1)).min(most).min(left);
        self.timed.several = self.timed.burst > 1;
        May::Go
    }

    /// How many segments the buffer under way has. Linux 6.10 and later fill it from the one after it, for a burst that the congestion
    /// window allows to be this long.
    fn left_in_buffer(&mut self, allowed: u64) -> u32 {
        let half = (self.timed.first_window / 2).max(1);
        let buffer = u64::from(BUFFER / self.window.mss()).clamp(1, half);
        let whole = |from: u64| (from / buffer + 1) * buffer;
        let next = self.next();
        if self.timed.buffer_end <= next {
            self.timed.buffer_end = whole(next);
        }
        let burst = allowed.min(u64::from(self.burst_size()));
        if self.config.linux_version.fills_buffers() && !self.timed.rfc {
            let at_most = self.data_end.min(whole(self.timed.buffer_end));
            while self.timed.buffer_end < at_most.min(next + burst) {
                self.timed.buffer_end += 1;
            }
        }
        (self.timed.buffer_end.min(self.data_end) - next) as u32
    }

    /// Whether the ACK of the first outstanding segment is due soon after new data has left.
    fn expects_more(&self, now: u64) -> bool {
        let recovers = matches!(self.state, State::Recovery | State::Loss);
        if recovers || now > self.timed.wrote_at + RECENT || self.una == self.next() {
            return false;
        }
        let srtt = self.rtt.srtt();
        self.segments[self.una as usize].sent + srtt <= now + RECENT.min(srtt / 2)
    }

    /// About a millisecond's data at twice the window's rate in slow start, and 1.2 times otherwise; on short paths more.
    fn burst_size(&self) -> u32 {
        let window = &self.window;
        let slow_start = window.cwnd < window.whole(window.ssthresh / 2.0);
        let gain = if slow_start { 2.0 } else { 1.2 };
        let srtt = if self.rtt.is_known() { self.rtt.srtt() } else { 1_000_000 };
        let rate = gain * window.cwnd.max(f64::from(self.flight_size())) * 1e9 / srtt.max(1) as f64;
        let short = match self.rtt.least.map(|least| least / 512_000) {
            Some(steps) if steps < 32 => BUFFER >> steps,
            _ => 0,
        };
        let bytes = (rate / 1024.0 * f64::from(window.mss())) as u32;
        (bytes.saturating_add(short).min(BUFFER) / window.mss()).max(2)
    }

    fn arm(&mut self, now: u64, wait: u64) {
        self.timer = clock::expiry(self.config.timer, now, wait, self.timed.expiring);
    }

    pub fn restart_timer(&mut self, now: u64) {
        if !self.set_probe_timer(now, true) {
            self.set_timeout_timer(now);
        }
    }

    /// When the first outstanding segment times out.
    fn head_timeout(&self) -> u64 {
        self.segments[self.una as usize].sent + self.rtt.timeout()
    }

    fn set_timeout_timer(&mut self, now: u64) {
        if self.una == self.next() {
            self.timer = NEVER;
            return;
        }
        let wait = match self.timed.wait {
            Wait::Timeout => self.rtt.timeout(),
            _ => self.head_timeout().saturating_sub(now).max(1),
        };
        self.arm(now, wait);
        self.timed.wait = Wait::Timeout;
    }

    /// What Linux waits beyond the RFC's times: two ticks.
    fn extra_wait(&self) -> u64 {
        match clock::tick(self.config.timer) {
            _ if self.timed.rfc => 0,
            0 => 2_000_000,
            tick => 2 * tick,
        }
    }

    /// RFC 8985 section 7.2. Returns false if no probe is due.
    fn set_probe_timer(&mut self, now: u64, advancing: bool) -> bool {
        if self.una == self.next() || !matches!(self.state, State::Open | State::Cwr) {
            return false;
        }
        let mut wait = self.rtt.timeout();
        if self.rtt.is_known() {
            let single = self.flight_size() == 1;
            wait = 2 * self.rtt.srtt() + if single { 200_000_000 } else { self.extra_wait() };
        }
        let timeout = if advancing { now + self.rtt.timeout() } else { self.head_timeout() };
        if timeout > now {
            wait = wait.min(timeout - now);
        }
        self.timed.wait = Wait::Probe;
        self.arm(now, wait);
        true
    }

    pub fn wait_for_reordering(&mut self, now: u64, wait: u64) {
        self.timed.wait = Wait::Reordering;
        self.arm(now, wait + self.extra_wait());
    }

    /// RFC 9293 section 3.8.6.1: a closed window is probed.
    fn watch_window(&mut self, now: u64) {
        let waits = self.config.receive_window == 0 && self.una == self.next() && self.next() < self.data_end;
        if waits && (self.timed.wait != Wait::Window || self.timer == NEVER) {
            self.timed.wait = Wait::Window;
            self.arm(now, self.rtt.timeout());
        } else if !waits && self.timed.wait == Wait::Window {
            self.timed.wait = Wait::Timeout;
            self.timer = NEVER;
        }
    }

    pub fn on_timer_by_time(&mut self, now: u64) {
        self.timer = NEVER;
        if self.una == self.next() {
            if self.timed.wait == Wait::Window {
                self.probe_window(now);
            }
            return;
        }
        self.timed.expiring = true;
        match self.timed.wait {
            Wait::Timeout | Wait::Window => self.on_timeout_by_time(now),
            Wait::Probe => self.send_probe(now),
            Wait::Reordering => self.on_reordering_timer(now),
        }
        self.timed.expiring = false;
    }

    fn probe_window(&mut self, now: u64) {
        let probe = Packet {
            at: now,
            sent: now,
            seq: self.una as u32,
            channel: self.config.channel,
            aux: 0,
            size: self.config.ack_size as u16,
            flags: BARE,
        };
        self.sent.push((now, probe));
        self.rtt.back_off();
        self.arm(now, self.rtt.timeout());
    }

    /// RFC 8985 section 7.3.
    fn send_probe(&mut self, now: u64) {
        if self.timed.probe.is_none() {
            let is_new = self.next() < self.send_end();
            if is_new {
                self.send_one_new(now);
            } else {
                self.send_segment(now, self.next() - 1, 0);
            }
            self.timed.probe = Some((self.next(), !is_new));
            self.timed.probes += 1;
            self.timed.wait = Wait::Timeout;
        }
        self.set_timeout_timer(now);
    }

    fn on_reordering_timer(&mut self, now: u64) {
        let before = self.losses.len();
        let wait = self.find_losses_by_time(now);
        if self.losses.len() > before {
            if self.state != State::Recovery {
                self.enter_recovery_by_time(now, false, 0);
                if !self.needs.owns_recovery {
                    self.reduce_by_time(1, false);
                }
            }
            self.send_by_time(now, Repair::Lost);
        }
        if let Some(wait) = wait {
            self.wait_for_reordering(now, wait);
        } else if self.timed.wait != Wait::Timeout {
            self.set_timeout_timer(now);
        }
    }

    /// RFC 6298 section 5, RFC 5681 section 3.1, and RFC 8985 section 6.3.
    fn on_timeout_by_time(&mut self, now: u64) {
        self.counts.timeouts += 1;
        let undisturbed = matches!(self.state, State::Open | State::Disorder);
        let repeated = self.timeouts > 0;
        if undisturbed && self.sacked() >= 3 {
            self.timed.rack.degree = 3;
        }
        // The RFC adds RACK.reo_wnd, Linux nothing.
        let window = if self.timed.rfc { self.reo_wnd() } else { 0 };
        for segment in self.una..self.next() {
            let known = *self.at(segment);
            let in_flight = !known.sacked && (!known.lost || known.repaired);
            if in_flight && (segment == self.una || self.remaining(now, segment, window) == 0) {
                self.declare_lost(segment);
            }
        }
        let reduces = undisturbed || self.una >= self.episode_end || (self.state == State::Loss && !repeated);
        let before = (self.window.cwnd, self.restored_ssthresh());
        let threshold = self.window.ssthresh;
        self.tell_congestion(now, CongestionKind::Timeout, self.timeouts + 1);
        if reduces {
            self.counts.congestion_events += 1;
            self.set_recover_fs(before.0);
            self.remember(before);
        } else {
            self.window.ssthresh = threshold;
        }
        self.window.reset_counter();
        let restart = f64::from(self.pipe()) + self.window.restart_cwnd;
        self.window.set_cwnd(restart.min(self.window.cwnd.max(1.0)).max(1.0));
        let recovers = matches!(self.state, State::Recovery | State::Loss);
        self.timed.undo.frto = !recovers || repeated;
        self.state = State::Loss;
        self.episode_end = self.next();
        self.duplicates = 0;
        self.timed.probe = None;
        self.timeouts += 1;
        self.rtt.back_off();
        self.timed.wait = Wait::Timeout;
        let first = self.lost_and_waiting().expect("the first outstanding segment is lost");
        self.repair(now, first);
        self.arm(now, self.rtt.timeout());
    }
}
