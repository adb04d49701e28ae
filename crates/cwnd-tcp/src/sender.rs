//! The sender: a [`Connection`] and the loss-recovery strategy that drives it.

use crate::connection::event_log::SenderEvent;
use crate::connection::{FastPath, Phase};
use crate::packet::{BARE, ECE, ESTABLISHED, Emit, Packet, SACK, SYN, SackBlocks};
use crate::prefetch::prefetch;
use crate::recovery::linux::{Linux, LinuxOptions};
use crate::recovery::ns2::Ns2;
use crate::recovery::rfc::Rfc;
use crate::recovery::{AnyRecovery, DUP_THRESH, LossRecovery};
use crate::rtt::RttEstimator;
use crate::{Connection, NEVER, SenderConfig, TcpInfo, TimerWheel, accurate_ecn, expand};
use cwnd_cc::CongestionControl;
use cwnd_scenario::Recovery;
use std::ops::{Deref, DerefMut};

/// Bytes of options that a SYN has beyond those of an ACK.
pub const SYN_OPTIONS: u16 = 8;

/// The timeout before the first sample when a SYN was lost, ns (RFC 6298 section 5.7).
const SYN_LOST_RTO: u64 = 3_000_000_000;

/// The sending endpoint of a flow.
///
/// It dereferences to its [`Connection`], which holds everything but the state of loss recovery.
#[repr(C)]
pub struct Sender<R = AnyRecovery> {
    pub(crate) conn: Connection,
    pub(crate) recovery: R,
}

impl Sender {
    /// Creates a sender whose loss recovery `config` selects. It starts by its own timer.
    pub fn new(config: SenderConfig, algorithm: Box<dyn CongestionControl>) -> Self {
        let (initial, min, max) = config.rto;
        let estimator = match config.recovery {
            Recovery::Ns2 => RttEstimator::ns2(initial, min, max),
            Recovery::Linux | Recovery::Rack => {
                // Without SACK the fast path restarts the timer, which then expires exactly.
                let wheel = if config.sack { config.timer } else { TimerWheel::default() };
                RttEstimator::linux(initial, min, max, wheel)
            }
            Recovery::Prr => RttEstimator::new(initial, min, max),
        };
        let recovery = match config.recovery {
            Recovery::Ns2 => AnyRecovery::Ns2(Ns2::new(&config, algorithm.needs())),
            Recovery::Linux | Recovery::Rack if config.sack => AnyRecovery::Linux(Linux::new(&config)),
            // Linux falls back to RFC 6582 without SACK.
            Recovery::Linux | Recovery::Rack | Recovery::Prr => AnyRecovery::Rfc(Rfc::new(&config)),
        };
        Sender::with_recovery(config, algorithm, estimator, recovery)
    }

    /// Returns its state in the terms of Linux's `tcp_info`.
    pub fn tcp_info(&self) -> TcpInfo {
        self.conn.tcp_info(match &self.recovery {
            AnyRecovery::Linux(linux) => linux.reordering(),
            AnyRecovery::Rfc(_) | AnyRecovery::Ns2(_) => (DUP_THRESH, 0),
        })
    }

    /// Asks for the memory of the connection, without the strategy of loss recovery (see [`prefetch`](crate::prefetch)).
    pub fn prefetch(&self) {
        prefetch(&self.conn);
    }

    /// Asks for the memory of the strategy, and of what the connection refers to, once that is here.
    pub fn prefetch_parts(&self) {
        prefetch(&*self.conn.algorithm);
        match &self.recovery {
            AnyRecovery::Rfc(rfc) => prefetch(rfc),
            AnyRecovery::Ns2(ns2) => prefetch(ns2),
            AnyRecovery::Linux(linux) => prefetch(linux),
        }
    }

    /// Sets what system settings of Linux change in its loss recovery. Other strategies have no such settings.
    pub fn set_linux_options(&mut self, options: LinuxOptions) {
        if let AnyRecovery::Linux(linux) = &mut self.recovery {
            linux.set_options(&mut self.conn, options);
        }
    }
}

impl<R: LossRecovery> Sender<R> {
    pub(crate) fn with_recovery(
        config: SenderConfig,
        algorithm: Box<dyn CongestionControl>,
        estimator: RttEstimator,
        recovery: R,
    ) -> Self {
        let conn = Connection::new(config, algorithm, estimator, recovery.tracks_segments());
        Sender { conn, recovery }
    }

    /// Returns when the next timer expires; [`NEVER`] if none is set.
    #[inline(always)]
    pub fn deadline(&self) -> u64 {
        self.conn.deadline()
    }

    /// Processes an ACK, or the receiver's packet of the handshake.
    #[inline(always)]
    pub fn on_packet(&mut self, now: u64, packet: &Packet, blocks: Option<&SackBlocks>, out: &mut impl Emit) {
        let cumulative = expand(self.una, packet.seq);
        let plain = packet.flags & (SACK | ECE | SYN) == 0 && self.takes_plain_acks();
        if plain && cumulative > self.una {
            self.on_plain_ack(now, packet.sent, (cumulative - self.una) as u32, out);
        } else {
            self.on_packet_in_general(now, packet, blocks, out);
        }
    }

    /// The general path: the strategy processes the ACK.
    #[inline(never)]
    fn on_packet_in_general(
        &mut self,
        now: u64,
        packet: &Packet,
        blocks: Option<&SackBlocks>,
        out: &mut impl Emit,
    ) {
        if packet.is(SYN) {
            #[cfg(debug_assertions)]
            {
                self.conn.handshake.arrived += 1;
            }
            if self.phase == Phase::Connecting {
                self.finish_handshake(now, packet, out);
                self.log_event(now, false);
            }
            return;
        }
        let Sender { conn, recovery } = self;
        conn.counts.acks += 1;
        recovery.on_ack(conn, now, packet, blocks, out);
        conn.assert_consistent();
        conn.check_window(now);
        conn.timers.rearm();
        conn.check_completion(now);
        conn.log_event(now, false);
    }

    /// Processes the expiry of a timer. Where several expire at once, the order is: start, stop, application,
    /// retransmission, release.
    pub fn on_timer(&mut self, now: u64, out: &mut impl Emit) {
        let Sender { conn, recovery } = self;
        if conn.timers.start_at <= now {
            conn.timers.start_at = NEVER;
            if conn.config.handshake {
                conn.phase = Phase::Connecting;
                conn.send_syn(now, out);
            } else {
                self.establish(now, out);
            }
        } else if conn.timers.stop_at <= now {
            conn.stop(now);
        } else if conn.timers.application_at <= now {
            if conn.on_application_timer(now) {
                recovery.transmit(conn, now, out);
            }
        } else if conn.timers.rto_at <= now {
            if !conn.timers.retransmission_expires(now, &conn.config.timer) {
                conn.timers.rearm();
                return;
            }
            if conn.phase == Phase::Connecting {
                conn.rtt.estimator.back_off();
                conn.send_syn(now, out);
            } else {
                recovery.on_retransmission_timer(conn, now, out);
                conn.assert_consistent();
            }
        } else if conn.timers.release_at <= now {
            recovery.transmit(conn, now, out);
        }
        self.check_window(now);
        self.timers.rearm();
        self.log_event(now, true);
    }

    /// Processes every timer that expires before `until`.
    #[inline]
    pub fn run_timers(&mut self, until: u64, out: &mut impl Emit) {
        while self.deadline() < until {
            self.on_timer(self.deadline(), out);
        }
    }

    /// Adds `segments` of data that the application has written, and sends what the window allows. An engine whose application
    /// is a program or a script calls it; the flow's configured application must be silent (`set_traffic` with no traffic).
    pub fn write(&mut self, now: u64, segments: u64, out: &mut impl Emit) {
        let has_data = self.conn.on_write(now, segments);
        if has_data && self.phase == Phase::Established {
            self.recovery.transmit(&mut self.conn, now, out);
            self.conn.assert_consistent();
        }
        self.check_window(now);
        self.timers.rearm();
        self.log_event(now, true);
    }

    fn finish_handshake(&mut self, now: u64, packet: &Packet, out: &mut impl Emit) {
        let conn = &mut self.conn;
        if conn.config.accurate_ecn {
            conn.agree_on_ecn(accurate_ecn::granted(packet));
        }
        let ack = Packet { at: now, sent: now, channel: conn.config.channel, ..Packet::default() };
        let size = conn.config.ack_size as u16;
        #[cfg(debug_assertions)]
        {
            conn.handshake.sent += 1;
        }
        out.emit(now, Packet { size, flags: BARE | ESTABLISHED, ..ack });
        if conn.rtt.estimator.backoff > 0 && !conn.config.timestamps {
            // RFC 6298 section 5.7, and Karn's rule.
            conn.rtt.estimator.restart(SYN_LOST_RTO);
        } else {
            conn.rtt.on_handshake(now - packet.sent);
        }
        self.establish(now, out);
    }

    fn establish(&mut self, now: u64, out: &mut impl Emit) {
        self.conn.establish(now);
        self.recovery.transmit(&mut self.conn, now, out);
        self.timers.rearm();
    }

    /// Processes every ACK on the general path from now on. Outcomes stay the same; tests compare the two.
    #[doc(hidden)]
    pub fn disable_fast_paths(&mut self) {
        self.conn.fast_path = FastPath::Disabled;
        self.recovery.disable_fast_path();
    }
}

impl<R> Sender<R> {
    /// Returns how many packets of the handshake were sent, and how many arrived; none in builds that do not count them.
    #[doc(hidden)]
    pub fn handshake_packets(&self) -> Option<(u64, u64)> {
        #[cfg(debug_assertions)]
        return Some((self.conn.handshake.sent, self.conn.handshake.arrived));
        #[cfg(not(debug_assertions))]
        None
    }

    /// Logs each event from now on. Such a sender does not take the shared fast path, which does not change outcomes.
    pub fn enable_event_log(&mut self) {
        self.conn.fast_path = FastPath::Disabled;
        self.conn.event_log.get_or_insert_default();
        self.conn.scoreboard.losses.get_or_insert_default();
    }

    /// Removes and returns the first event before `until`.
    pub fn take_event(&mut self, until: u64) -> Option<SenderEvent> {
        let events = &mut self.conn.event_log.as_mut()?.events;
        if events.front()?.at < until { events.pop_front() } else { None }
    }
}

impl Connection {
    fn send_syn(&mut self, now: u64, out: &mut impl Emit) {
        let size = self.config.ack_size as u16 + SYN_OPTIONS;
        let channel = self.config.channel;
        #[cfg(debug_assertions)]
        {
            self.handshake.sent += 1;
        }
        let flags = BARE | SYN | if self.config.accurate_ecn { accurate_ecn::request() } else { 0 };
        out.emit(now, Packet { at: now, sent: now, seq: 0, channel, aux: 0, size, flags });
        let timeout = self.rtt.estimator.timeout();
        self.timers.rto_at = self.config.timer.expiry(now, timeout, false);
    }
}

impl<R> Deref for Sender<R> {
    type Target = Connection;

    #[inline(always)]
    fn deref(&self) -> &Connection {
        &self.conn
    }
}

impl<R> DerefMut for Sender<R> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.conn
    }
}
