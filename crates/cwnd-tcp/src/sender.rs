//! The sending side: its state, timers, and the fast path of an ACK.
//!
//! What an ACK does when anything is lost, SACKed or marked is in `recovery.rs`, how packets leave in `transmit.rs`.

use super::copies::Copies;
use super::journal::Journal;
use super::linux::Linux;
use super::rate::RateEstimator;
use super::recovery::Prr;
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::send_times::SendTimes;
use super::{Application, NEVER, expand};
use crate::packet::{BARE, ECE, ESTABLISHED, Emit, Packet, SACK, SYN, SackBlocks};
use cwnd_cc::{Ack, CongestionControl, EcnMode, FlowHints, Init, Nanos, Needs, State, Window, WindowConfig};
use cwnd_scenario::Recovery;
use cwnd_scenario::Stream;

/// Bytes of options that a SYN has beyond those of an ACK.
pub const SYN_OPTIONS: u16 = 8;

/// The timeout before the first sample when a SYN was lost, ns (RFC 6298 section 5.7).
const SYN_LOST_RTO: u64 = 3_000_000_000;

/// How a sender behaves.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct SenderConfig {
    /// Channel of its data.
    pub channel: u32,
    /// Wire bytes of a full data packet.
    pub packet_size: u32,
    /// Wire bytes of the first data packet.
    pub first_packet_size: u32,
    /// Wire bytes of the last data packet of a transfer.
    pub last_packet_size: u32,
    /// Segments to send; `u64::MAX` for a bulk flow.
    pub segments: u64,
    /// Wire bytes of an ACK (packets of the handshake are made from it).
    pub ack_size: u32,
    /// The receiver's window, segments.
    pub receive_window: u64,
    /// With [`Recovery::Linux`]: how many segments let the window grow that the receiver advertises.
    pub growing_window: u64,
    /// Whether the window grows only when it is in use (RFC 7661's question, Linux's answer).
    pub validate_cwnd: bool,
    /// Initial values and arithmetic of the window.
    pub window: WindowConfig,
    /// How the window moves during recovery.
    pub recovery: Recovery,
    /// Whether the receiver sends SACK blocks.
    pub sack: bool,
    /// Whether ACKs echo timestamps.
    pub timestamps: bool,
    /// RFC 3042.
    pub limited_transmit: bool,
    /// Whether a retransmission is known to be lost when three segments sent after it are SACKed.
    pub detect_lost_retransmissions: bool,
    /// What was negotiated.
    pub ecn: EcnMode,
    /// Whether exact marks are asked for with ECT(1) instead of ECT(0) (RFC 9331).
    pub l4s: bool,
    /// Whether a handshake comes first.
    pub handshake: bool,
    /// Retransmission timeout: before the first sample, least, greatest, ns.
    pub rto: (u64, u64, u64),
    /// When the application connects (without a handshake: when it starts to send).
    pub start: u64,
    /// From when on there is no new data.
    pub stop: u64,
    /// Each packet leaves up to so many nanoseconds after its trigger.
    pub send_overhead: u64,
    /// The stream from which that is drawn.
    pub overhead_stream: Stream,
    /// Seed of the algorithm's own choices.
    pub algorithm_seed: u64,
    /// What the application tells the algorithm.
    pub hints: FlowHints,
    /// The application, if it has not always data to send.
    pub application: Option<Box<Application>>,
    /// Whether a window shrinks while nothing is sent.
    pub restart_after_idle: bool,
}

/// What a sender has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderCounts {
    /// Data packets handed to the output queue.
    pub sent: u64,
    /// Of these, retransmissions.
    pub retransmissions: u64,
    /// ACKs processed.
    pub acks: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Congestion episodes.
    pub congestion_events: u64,
    /// Segments that ACKs said are delivered.
    pub delivered: u64,
    /// Segments that ACKs said have come again (RFC 2883).
    pub duplicates: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Connecting,
    Established,
}

/// The sending endpoint of a flow. What every ACK touches comes first and close together: with a thousand
/// flows it is this that must come from far at each visit.
#[repr(C)]
pub struct Sender {
    /// First segment not acknowledged.
    pub(super) una: u64,
    /// Next new segment to send.
    pub(super) next: u64,
    /// When the earliest of its timers runs out.
    pub(super) deadline: u64,
    pub(super) rto_at: u64,
    /// The earliest of the other timers.
    pub(super) other_at: u64,
    /// Segments that the application has for the network.
    pub(super) data_end: u64,
    /// A round trip ends when this segment is acknowledged.
    round_end: u64,
    pub(super) round: u64,
    pub(super) algorithm: Box<dyn CongestionControl>,
    /// The window integrated over time up to `integrated_to`, since when it has not changed: segments x ns.
    cwnd_integral: f64,
    integrated_to: u64,
    /// During plain ACKs: the window as it was last seen, and how many segments it lets be outstanding.
    pub(super) seen_cwnd: f64,
    pub(super) allowance: u64,
    pub(super) state: State,
    /// The window was in use in this round trip, and in the one before.
    pub(super) limited: bool,
    limited_before: bool,
    /// Packets leave by a timer: they are paced, or take time to send.
    pub(super) gated: bool,
    /// Packets need neither records nor flags, and no send time is kept.
    pub(super) plain: bool,
    /// It matters when a packet was sent last: there may be pauses.
    pub(super) noted: bool,
    phase: Phase,
    pub(super) dup_acks: u32,
    pub(super) rtt: RttEstimator,
    pub(super) board: Scoreboard,
    pub(super) window: Window,
    /// Counts so far.
    pub counts: SenderCounts,
    /// What was told the algorithm last; what does not change stays.
    pub(super) ack: Ack,
    pub(super) config: SenderConfig,

    /// Most segments in flight in this round trip, and in the one before.
    pub(super) peak: u32,
    peak_before: u32,
    pub(super) needs: Needs,
    /// `recovery.rs` says what these are.
    pub(super) recover: u64,
    pub(super) prr: Prr,
    pub(super) copies: Copies,
    /// Of ns-2's modules: when the segments were sent that left in a recovery.
    pub(super) send_times: SendTimes,
    /// Packets need neither records nor flags, and nobody watches: plain but where a recovery's send times are kept.
    pub(super) simple: bool,
    pub(super) send_cwr: bool,
    /// ns-2's rate halving: so many may be in flight though the window is less; zero outside recovery.
    pub(super) hold: u32,
    /// New segments sent on duplicate ACKs since the last new one; `newly_lost` since the last ACK.
    pub(super) limited_transmits: u32,
    pub(super) newly_lost: u32,
    /// `recover` as recoveries and timeouts set it; zero before the first.
    pub(super) guard: u64,
    /// Timeouts since the last ACK of new data.
    pub(super) timeouts_in_row: u32,
    /// ACKs that gave no round-trip time sample, and samples that the handshake gave.
    pub(super) silent_acks: u64,
    handshake_samples: u64,
    /// The latest round-trip time sample, ns, if `ack` holds none.
    pub(super) latest_rtt: u64,
    pub(super) said: [(u64, u64); 4],
    pub(super) records: Option<Box<RateEstimator>>,
    /// With [`Recovery::Linux`] and SACK.
    pub(super) linux: Option<Box<Linux>>,
    /// A packet that may go leaves at this time.
    pub(super) release_at: u64,
    /// One packet may go whatever the window says.
    pub(super) forced: bool,
    /// Pacing lets the next packet go at this time, and let the one go that waits at that.
    pub(super) paced_until: u64,
    pub(super) paced_from: u64,
    pub(super) start_at: u64,
    pub(super) stop_at: u64,
    /// The application's turn comes then.
    pub(super) app_at: u64,
    /// Since then all that the application has given is acknowledged; [`NEVER`] while it is not.
    pub(super) idle_since: u64,
    /// When a packet was sent last, if that is `noted`.
    pub(super) sent_at: u64,
    /// When the last segment of a transfer was acknowledged.
    pub completed: Option<u64>,
    /// When it stopped sending new data, if it was told to.
    pub stopped: Option<u64>,
    /// When the connection was established.
    pub established: Option<u64>,
    /// Its moments, if they are asked for.
    pub(super) journal: Option<Box<Journal>>,
}

impl Sender {
    /// A sender that will start by its own timer.
    pub fn new(mut config: SenderConfig, algorithm: Box<dyn CongestionControl>) -> Self {
        let needs = algorithm.needs();
        let linux = config.recovery == Recovery::Linux && config.sack;
        // It validates the window in its own way.
        config.validate_cwnd &= !linux;
        let tracked = needs.rate_samples || needs.lost_packets || (!config.timestamps && !linux);
        let simple = !linux && !tracked && config.ecn == EcnMode::Off;
        let mut sender = Sender {
            una: 0,
            next: 0,
            window: Window::new(&config.window),
            algorithm,
            state: State::Open,
            deadline: NEVER,
            rto_at: NEVER,
            other_at: NEVER,
            rtt: match config.recovery {
                Recovery::Ns2 => RttEstimator::ns2(config.rto.0, config.rto.1, config.rto.2),
                Recovery::Linux => RttEstimator::linux(config.rto.0, config.rto.1, config.rto.2),
                Recovery::Prr => RttEstimator::new(config.rto.0, config.rto.1, config.rto.2),
            },
            board: Scoreboard::default(),
            data_end: config.segments,
            round_end: 0,
            round: 0,
            limited: !config.validate_cwnd,
            limited_before: false,
            peak: 0,
            peak_before: 0,
            gated: needs.pacing || config.send_overhead > 0,
            plain: simple,
            // A pause may come from outside as well, and is measured where windows shrink by it.
            noted: config.application.is_some() || config.restart_after_idle,
            phase: Phase::Waiting,
            needs,
            recover: 0,
            dup_acks: 0,
            prr: Prr::default(),
            copies: Copies::default(),
            send_times: SendTimes::default(),
            simple,
            send_cwr: false,
            hold: 0,
            limited_transmits: 0,
            newly_lost: 0,
            guard: 0,
            timeouts_in_row: 0,
            silent_acks: 0,
            handshake_samples: 0,
            latest_rtt: 0,
            said: [(0, 0); 4],
            ack: Ack { cwnd_limited: true, ..Ack::default() },
            records: tracked.then(Box::default),
            linux: linux.then(Box::default),
            release_at: NEVER,
            forced: false,
            paced_until: 0,
            paced_from: 0,
            start_at: config.start,
            stop_at: config.stop,
            app_at: NEVER,
            idle_since: NEVER,
            sent_at: 0,
            cwnd_integral: 0.0,
            integrated_to: 0,
            seen_cwnd: 0.0,
            allowance: 0,
            completed: None,
            stopped: None,
            established: None,
            journal: None,
            counts: SenderCounts::default(),
            config,
        };
        sender.rearm();
        sender
    }

    /// When its next timer runs out; [`NEVER`] if none is set.
    #[inline(always)]
    pub fn deadline(&self) -> u64 {
        self.deadline
    }

    /// Segments in flight (RFC 6675's pipe).
    #[inline(always)]
    pub fn in_flight(&self) -> u32 {
        let outstanding = (self.next - self.una) as u32;
        (outstanding + self.board.retransmitted) - (self.board.sacked + self.board.lost)
    }

    /// Panics if the scoreboard contradicts itself: a segment would be counted that is not outstanding, or counted
    /// twice. Checked in every build after whatever can change the scoreboard, since a corrupt one gives wrong results
    /// that look right.
    #[inline]
    fn assert_consistent(&self) {
        let (una, next, board) = (self.una, self.next, &self.board);
        assert!(una <= next, "segment {una} is acknowledged, but {next} was not sent");
        let (sacked, lost, retransmitted) = (board.sacked, board.lost, board.retransmitted);
        assert!(
            u64::from(sacked) + u64::from(lost) <= next - una && retransmitted <= lost,
            "of segments {una}..{next}, {sacked} are SACKed, {lost} lost and {retransmitted} retransmitted",
        );
    }

    /// The window.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The state of loss recovery.
    pub fn state(&self) -> State {
        self.state
    }

    /// Its round-trip times.
    pub fn rtt(&self) -> (u64, u64, Option<(u64, u64)>) {
        let extremes = self.rtt.is_known().then_some((self.rtt.min, self.rtt.max));
        // Every plain ACK gives a sample.
        (self.counts.acks - self.silent_acks + self.handshake_samples, self.rtt.sum, extremes)
    }

    /// Smoothed round-trip time, ns; none before the first sample.
    pub fn srtt(&self) -> Option<u64> {
        self.rtt.is_known().then(|| self.rtt.srtt())
    }

    /// Whether it has negotiated ECN, of any kind.
    pub fn uses_ecn(&self) -> bool {
        self.config.ecn != EcnMode::Off
    }

    /// Segments acknowledged cumulatively.
    pub fn acknowledged(&self) -> u64 {
        self.una
    }

    /// The next new segment.
    pub fn next_segment(&self) -> u64 {
        self.next
    }

    /// The window integrated from the start to `now`: segments x ns.
    pub fn cwnd_integral(&self, now: u64) -> f64 {
        match self.established {
            Some(_) => self.cwnd_integral + self.window.cwnd * (now - self.integrated_to) as f64,
            None => 0.0,
        }
    }

    /// From `now` on no new data.
    pub fn stop(&mut self, now: u64) {
        self.stop_at = NEVER;
        self.app_at = NEVER;
        self.stopped.get_or_insert(now);
        self.data_end = self.data_end.min(self.next);
        self.start_at = if self.phase == Phase::Waiting { NEVER } else { self.start_at };
        self.rearm();
    }

    /// From now on the fast path is not taken.
    pub(super) fn handle_in_detail(&mut self) {
        self.plain = false;
        self.simple = false;
    }

    /// An ACK (or the receiver's packet of the handshake) arrives.
    #[inline(always)]
    pub fn on_packet(&mut self, now: u64, packet: &Packet, blocks: Option<&SackBlocks>, out: &mut impl Emit) {
        let cumulative = expand(self.una, packet.seq);
        let ordinary = packet.flags & (SACK | ECE | SYN) == 0 && self.plain;
        if ordinary && self.state == State::Open && self.board.is_clean() && cumulative > self.una {
            self.on_plain_ack(now, packet.sent, (cumulative - self.una) as u32, out);
        } else {
            self.on_other_packet(now, packet, blocks, out);
        }
    }

    /// The fast path: everything arrives in order, and nothing is known to be missing. It does what
    /// `on_other_packet` would, without asking for what cannot be.
    #[inline(always)]
    pub fn on_plain_ack(&mut self, now: u64, sent: u64, acked: u32, out: &mut impl Emit) {
        self.begin_plain();
        let end = self.take_plain(now, sent, acked);
        if self.gated {
            self.end_plain(now, 1);
            self.transmit_gated(now, false, out);
            self.note_completion(now);
        } else {
            self.send_plain(now, end, out);
            self.end_plain(now, 1);
        }
    }

    #[cold]
    #[inline(never)]
    fn on_other_packet(
        &mut self,
        now: u64,
        packet: &Packet,
        blocks: Option<&SackBlocks>,
        out: &mut impl Emit,
    ) {
        if packet.is(SYN) {
            if self.phase == Phase::Connecting {
                let at = Packet { at: now, sent: now, channel: self.config.channel, ..Packet::default() };
                out.emit(now, Packet { size: self.config.ack_size as u16, flags: BARE | ESTABLISHED, ..at });
                if self.rtt.backoff > 0 && !self.config.timestamps {
                    // RFC 6298 section 5.7, and Karn's rule.
                    self.rtt.restart(SYN_LOST_RTO);
                } else {
                    self.rtt.backoff = 0;
                    self.rtt.sample(now - packet.sent);
                    self.handshake_samples += 1;
                }
                self.establish(now, out);
                if self.journal.is_some() {
                    self.note_moment(now, false);
                }
            }
            return;
        }
        self.counts.acks += 1;
        if self.linux.is_some() {
            self.on_ack_linux(now, packet, blocks, out);
        } else {
            self.on_ack_in_detail(now, packet, blocks, out);
        }
        self.assert_consistent();
        self.rearm();
        self.note_completion(now);
        if self.journal.is_some() {
            self.note_moment(now, false);
        }
    }

    /// Tell the algorithm what an ACK said, and keep the window's integral and the round trips.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub(super) fn tell_algorithm(
        &mut self,
        now: u64,
        acked: u32,
        cumulative: u32,
        lost: u32,
        marked: u32,
        rtt: Option<u64>,
        prior_in_flight: u32,
    ) {
        self.integrate_cwnd(now);
        self.follow_round();
        let min_rtt = if self.rtt.is_known() { self.rtt.min } else { 0 };
        self.ack.rate = self.records.as_mut().and_then(|records| records.finish(now, min_rtt));
        let in_flight = self.in_flight();
        let ack = &mut self.ack;
        ack.now = Nanos(now);
        ack.acked = acked;
        ack.cumulative = cumulative;
        ack.lost = lost;
        ack.marked = marked;
        ack.rtt = rtt.map(Nanos);
        ack.srtt = Nanos(self.rtt.srtt());
        ack.min_rtt = Nanos(self.rtt.min);
        ack.in_flight = in_flight;
        ack.prior_in_flight = prior_in_flight;
        ack.state = self.state;
        ack.app_limited = self.next >= self.data_end;
        ack.round = self.round;
        ack.delivered = self.counts.delivered;
        ack.sent = self.next;
        self.algorithm.on_ack(&mut self.window, &self.ack);
    }

    /// Take the time up to `now` into the integral, before the window may change.
    #[inline(always)]
    pub(super) fn integrate_cwnd(&mut self, now: u64) {
        // Times fit a signed number, which converts in one instruction.
        self.add_to_integral(now, self.window.cwnd);
    }

    #[inline(always)]
    pub(super) fn add_to_integral(&mut self, now: u64, cwnd: f64) {
        self.cwnd_integral += cwnd * (now - self.integrated_to) as i64 as f64;
        self.integrated_to = now;
    }

    /// Whether a round trip begins with this ACK, and whether the window is in use.
    #[inline(always)]
    pub(super) fn follow_round(&mut self) {
        self.ack.round_start = self.una > self.round_end;
        if self.ack.round_start {
            self.begin_round();
        }
        if self.config.validate_cwnd {
            let peak = self.peak.max(self.peak_before);
            self.ack.cwnd_limited = self.limited
                || self.limited_before
                || (self.window.in_slow_start() && self.window.cwnd < f64::from(2 * peak));
        }
    }

    #[inline]
    fn begin_round(&mut self) {
        self.round += 1;
        self.ack.round = self.round;
        self.round_end = self.next;
        self.limited_before = self.limited;
        self.limited = !self.config.validate_cwnd;
        self.peak_before = self.peak;
        self.peak = 0;
    }

    /// A timer runs out. Where several do at once: start, stop, application, retransmission, release.
    pub fn on_timer(&mut self, now: u64, out: &mut impl Emit) {
        if self.start_at <= now {
            self.start_at = NEVER;
            if self.config.handshake {
                self.phase = Phase::Connecting;
                self.send_syn(now, out);
            } else {
                self.establish(now, out);
            }
        } else if self.stop_at <= now {
            self.stop(now);
        } else if self.app_at <= now {
            self.on_application_timer(now, out);
        } else if self.rto_at <= now {
            if self.phase == Phase::Connecting {
                self.rtt.back_off();
                self.send_syn(now, out);
            } else {
                self.on_retransmission_timer(now, out);
            }
        } else if self.release_at <= now {
            self.transmit(now, false, out);
        }
        self.rearm();
        if self.journal.is_some() {
            self.note_moment(now, true);
        }
    }

    fn on_retransmission_timer(&mut self, now: u64, out: &mut impl Emit) {
        if self.linux.is_some() {
            self.on_linux_timer(now, out);
        } else {
            self.on_timeout(now, out);
        }
        self.assert_consistent();
    }

    fn send_syn(&mut self, now: u64, out: &mut impl Emit) {
        let size = self.config.ack_size as u16 + SYN_OPTIONS;
        let channel = self.config.channel;
        out.emit(now, Packet { at: now, sent: now, seq: 0, channel, aux: 0, size, flags: BARE | SYN });
        self.rto_at = now + self.rtt.timeout();
    }

    fn establish(&mut self, now: u64, out: &mut impl Emit) {
        self.phase = Phase::Established;
        self.established = Some(now);
        self.integrated_to = now;
        self.rto_at = NEVER;
        let init = Init {
            now: Nanos(now),
            seed: self.config.algorithm_seed,
            ecn: self.config.ecn,
            sack: self.config.sack,
            rtt: self.srtt().map(Nanos),
            hints: self.config.hints,
        };
        self.algorithm.init(&mut self.window, &init);
        self.begin_application(now);
        self.transmit(now, false, out);
        self.rearm();
    }

    /// Set the deadlines anew from the timers.
    #[inline]
    pub(super) fn rearm(&mut self) {
        self.other_at = self.start_stop_or_turn().min(self.release_at);
        self.deadline = self.rto_at.min(self.other_at);
    }
}
