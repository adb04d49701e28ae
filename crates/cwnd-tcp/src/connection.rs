//! The state of a connection that every loss-recovery strategy shares, and the operations on it.

pub(crate) mod application_data;
pub(crate) mod event_log;
pub(crate) mod illegal_value;
pub(crate) mod measurement;
pub(crate) mod pacing;
pub(crate) mod rounds;
pub(crate) mod tcp_info;
pub(crate) mod timers;

use crate::accurate_ecn::{Feedback, Grant};
use crate::fault::{self, Fault};
use crate::packet::{CWR, ECE, ECT, ECT1, Packet, SackBlocks};
use crate::rate::RateEstimator;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::{NEVER, SenderConfig, SenderCounts};
use application_data::Idle;
use cwnd_cc::{
    Ack, Congestion, CongestionControl, CongestionKind, EcnMode, IllegalValue, Init, Nanos, Needs,
    Observable, Observation, State, Window,
};
use event_log::EventLog;
use measurement::{RoundTripTimes, WindowIntegral};
use pacing::Pacing;
use rounds::Rounds;
use timers::Timers;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Before the start.
    Waiting,
    /// During the handshake.
    Connecting,
    Established,
}

/// Whether ACKs may take the fast path that all strategies share (`fast_path.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastPath {
    /// Yes, while nothing is missing: data packets need neither records nor flags.
    Enabled,
    /// Not before the strategy ends the suspension.
    Suspended,
    /// Never: packets have records or flags, the strategy keeps its own record of each segment, or an event log is kept.
    Disabled,
}

/// The loss episode under way, or the last one. All strategies keep it in the same terms.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Episode {
    /// The episode ends when all segments below this one are acknowledged (RFC 6675's RecoveryPoint).
    pub end: u64,
    /// Segments that the last ACK or timeout has revealed as lost.
    pub newly_lost: u32,
    /// New segments sent on duplicate ACKs since the last ACK of new data (RFC 3042).
    pub limited_transmits: u32,
    /// Retransmission timeouts since the last ACK of new data.
    pub timeouts: u32,
    /// Whether the next data packet carries CWR.
    pub send_cwr: bool,
}

/// What an ACK reports to the algorithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckReport {
    /// Segments delivered, whether acknowledged or SACKed.
    pub delivered: u32,
    /// Segments by which the cumulative acknowledgement has advanced.
    pub advanced: u32,
    /// Segments revealed as lost.
    pub lost: u32,
    /// Segments whose congestion mark the ACK echoes.
    pub marked: u32,
    pub rtt: Option<u64>,
    /// Segments in flight before the ACK.
    pub prior_in_flight: u32,
}

/// Packets of the handshake.
#[cfg(debug_assertions)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HandshakePackets {
    pub sent: u64,
    pub arrived: u64,
}

/// The state of a connection, without its loss-recovery strategy.
///
/// The fields that every ACK touches come first: with a thousand flows each visit loads them from main memory.
#[repr(C)]
pub struct Connection {
    /// The first segment that is not acknowledged.
    pub(crate) una: u64,
    /// The next new segment to send.
    pub(crate) next: u64,
    pub(crate) timers: Timers,
    /// Segments that the application has provided.
    pub(crate) data_end: u64,
    /// The end of the oldest frame that is not acknowledged; [`NEVER`] if the application makes none.
    pub(crate) frame_end: u64,
    /// The advertised window, segments.
    pub(crate) peer_window: u64,
    pub(crate) rounds: Rounds,
    pub(crate) algorithm: Box<dyn CongestionControl>,
    pub(crate) window_integral: WindowIntegral,
    /// During a run of plain ACKs: the window, and how many segments it allows to be outstanding.
    pub(crate) seen_cwnd: f64,
    pub(crate) allowance: u64,
    pub(crate) state: State,
    pub(crate) fast_path: FastPath,
    pub(crate) phase: Phase,
    pub(crate) dup_acks: u32,
    pub(crate) rtt: RoundTripTimes,
    pub(crate) scoreboard: Scoreboard,
    pub(crate) window: Window,
    /// Counts so far.
    pub counts: SenderCounts,
    #[cfg(debug_assertions)]
    pub(crate) handshake: HandshakePackets,
    /// The last event of the algorithm. Fields that do not change between ACKs keep their values.
    pub(crate) ack: Ack,
    pub(crate) episode: Episode,
    pub(crate) config: SenderConfig,
    pub(crate) needs: Needs,
    pub(crate) pacing: Pacing,
    /// Records of outstanding segments, if the algorithm or the lack of timestamps requires them.
    pub(crate) records: Option<Box<RateEstimator>>,
    pub(crate) idle: Idle,
    /// When the last segment of a transfer was acknowledged.
    pub completed: Option<u64>,
    /// When it stopped sending new data, if it was told to.
    pub stopped: Option<u64>,
    /// When the connection was established.
    pub established: Option<u64>,
    pub(crate) event_log: Option<Box<EventLog>>,
    /// What accurate ECN feedback reports, if it is in use.
    pub(crate) accurate: Option<Box<Feedback>>,
    /// The first value that the algorithm has set and no window may have, and when.
    pub(crate) illegal_value: Option<Box<(u64, IllegalValue)>>,
}

impl Connection {
    /// Creates a connection that its start timer will begin. `tracks_segments`: the strategy keeps its own record of each
    /// segment, and validates the window itself.
    pub(crate) fn new(
        mut config: SenderConfig,
        algorithm: Box<dyn CongestionControl>,
        estimator: RttEstimator,
        tracks_segments: bool,
    ) -> Connection {
        let needs = algorithm.needs();
        let accurate = config.accurate_ecn.then(Box::default);
        config.validate_cwnd &= !tracks_segments;
        let records = needs.rate_samples || needs.lost_packets || (!config.timestamps && !tracks_segments);
        let has_fast_path = !tracks_segments && !records && config.ecn == EcnMode::Off;
        let peer_window = config.growing_window.map_or(config.receive_window, |window| window.after(0));
        let fast_path = match has_fast_path {
            true if peer_window < config.receive_window => FastPath::Suspended,
            true => FastPath::Enabled,
            false => FastPath::Disabled,
        };
        Connection {
            una: 0,
            next: 0,
            timers: Timers::new(config.start, config.stop),
            data_end: config.segments,
            frame_end: NEVER,
            peer_window,
            rounds: Rounds::new(config.validate_cwnd),
            algorithm,
            window_integral: WindowIntegral::default(),
            seen_cwnd: 0.0,
            allowance: 0,
            state: State::Open,
            fast_path,
            phase: Phase::Waiting,
            dup_acks: 0,
            rtt: RoundTripTimes::new(estimator),
            scoreboard: Scoreboard::default(),
            window: Window::new(&config.window),
            counts: SenderCounts::default(),
            #[cfg(debug_assertions)]
            handshake: HandshakePackets::default(),
            ack: Ack { cwnd_limited: true, ..Ack::default() },
            episode: Episode::default(),
            needs,
            pacing: Pacing::new(
                needs.pacing,
                config.recovery.is_by_time(),
                config.send_overhead,
                config.overhead_stream.clone(),
            ),
            records: records.then(Box::default),
            idle: Idle::default(),
            completed: None,
            stopped: None,
            established: None,
            event_log: None,
            accurate,
            illegal_value: None,
            config,
        }
    }

    /// Returns when the next timer expires; [`NEVER`] if none is set.
    #[inline(always)]
    pub fn deadline(&self) -> u64 {
        self.timers.deadline
    }

    /// Returns the number of segments in flight (RFC 6675's pipe).
    #[inline(always)]
    pub fn in_flight(&self) -> u32 {
        let scoreboard = &self.scoreboard;
        (self.outstanding() + scoreboard.retransmitted) - (scoreboard.sacked + scoreboard.lost)
    }

    /// Returns the number of segments that are sent and not acknowledged (RFC 5681's FlightSize).
    #[inline(always)]
    pub(crate) fn outstanding(&self) -> u32 {
        (self.next - self.una) as u32
    }

    /// Returns the congestion window.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Returns what the algorithm shows of its state.
    pub fn observables(&self) -> &'static [Observable] {
        self.algorithm.observables()
    }

    /// Writes the values of [`observables`](Self::observables) at `now` on the engine's clock into `values`, which is as long.
    pub fn observe(&self, now: u64, values: &mut [f64]) {
        let estimator = &self.rtt.estimator;
        let (srtt, min_rtt) = match estimator.is_known() {
            true => (Nanos(estimator.srtt()), Nanos(estimator.min)),
            false => (Nanos::ZERO, Nanos::MAX),
        };
        self.algorithm.observe(&self.window, &Observation { now: Nanos(now), srtt, min_rtt }, values);
    }

    /// Returns the state of loss recovery.
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns the number of round-trip time samples, their sum, and the least and greatest, ns.
    pub fn rtt(&self) -> (u64, u64, Option<(u64, u64)>) {
        let estimator = &self.rtt.estimator;
        (self.rtt.samples(self.counts.acks), estimator.sum, estimator.extremes())
    }

    /// Returns the smoothed round-trip time, ns; `None` before the first sample.
    pub fn srtt(&self) -> Option<u64> {
        let estimator = &self.rtt.estimator;
        estimator.is_known().then(|| estimator.srtt())
    }

    /// Returns whether ECN of any kind was negotiated.
    pub fn uses_ecn(&self) -> bool {
        self.config.ecn != EcnMode::Off
    }

    /// Returns the number of segments acknowledged cumulatively.
    pub fn acknowledged(&self) -> u64 {
        self.una
    }

    /// Returns the next new segment.
    pub fn next_segment(&self) -> u64 {
        self.next
    }

    /// Returns the integral of the window from the establishment to `now`, segments x ns.
    pub fn cwnd_integral(&self, now: u64) -> f64 {
        match self.established {
            Some(_) => self.window_integral.at(now, self.window.cwnd),
            None => 0.0,
        }
    }

    /// Ends new data at `now`.
    pub fn stop(&mut self, now: u64) {
        self.timers.stop_at = NEVER;
        self.timers.application_at = NEVER;
        self.stopped.get_or_insert(now);
        self.data_end = self.data_end.min(self.next);
        if self.phase == Phase::Waiting {
            self.timers.start_at = NEVER;
        }
        self.timers.rearm();
    }

    /// Applies the ECN feedback that the handshake has granted to a sender that asked for accurate feedback.
    pub(crate) fn agree_on_ecn(&mut self, grant: Grant) {
        self.config.ecn = match grant {
            Grant::Accurate => return,
            Grant::Classic => EcnMode::Classic,
            Grant::None => EcnMode::Off,
        };
        self.accurate = None;
    }

    /// Ends the handshake: from now on data may leave.
    pub(crate) fn establish(&mut self, now: u64) {
        self.phase = Phase::Established;
        self.established = Some(now);
        self.window_integral.start(now);
        self.timers.rto_at = NEVER;
        // Only episodes send CWR, without which a classic echo never ends.
        let refused = self.needs.ecn == Some(EcnMode::Exact) && self.config.ecn == EcnMode::Classic;
        self.needs.marks_only &= !refused;
        let init = Init {
            now: Nanos(now),
            seed: self.config.algorithm_seed,
            ecn: self.config.ecn,
            sack: self.config.sack,
            rtt: self.srtt().map(Nanos),
            hints: self.config.hints,
            timer_hz: self.config.timer.hz(),
        };
        self.algorithm.init(&mut self.window, &init);
        self.record_illegal_value(now);
        self.begin_application(now);
    }

    /// Returns the end of the new data that the receiver's window allows.
    #[inline(always)]
    pub(crate) fn send_end(&self) -> u64 {
        self.data_end.min(self.una + self.peer_window)
    }

    /// Follows the advertised window, which grows with every segment that the receiver has. The receiver's packets do not carry it:
    /// what they have acknowledged and SACKed determines it.
    #[inline(always)]
    pub(crate) fn follow_peer_window(&mut self) {
        if self.peer_window < self.config.receive_window {
            self.grow_peer_window();
        }
    }

    #[cold]
    fn grow_peer_window(&mut self) {
        let Some(window) = &self.config.growing_window else { return };
        let received = self.una + u64::from(self.scoreboard.sacked);
        self.peer_window = self.peer_window.max(window.after(received));
        if self.peer_window >= self.config.receive_window && self.fast_path == FastPath::Suspended {
            self.fast_path = FastPath::Enabled;
        }
    }

    /// Returns whether a lost segment waits to be retransmitted.
    #[inline(always)]
    pub(crate) fn has_retransmission(&self) -> bool {
        self.scoreboard.lost > self.scoreboard.retransmitted
    }

    /// Returns whether the application has provided no more than what was sent.
    pub(crate) fn lacks_data(&self) -> bool {
        self.next >= self.data_end && !self.has_retransmission()
    }

    /// Adds the time up to `now` to the window's integral. Call this before the window may change.
    #[inline(always)]
    pub(crate) fn integrate_cwnd(&mut self, now: u64) {
        self.window_integral.add(now, self.window.cwnd);
    }

    /// Starts the retransmission timer, or stops it if nothing is outstanding.
    pub(crate) fn restart_retransmission_timer(&mut self, now: u64) {
        self.timers.rto_at = if self.una == self.next { NEVER } else { now + self.rtt.estimator.timeout() };
    }

    /// Tells the algorithm what an ACK reports, and follows the round trips.
    #[inline(always)]
    pub(crate) fn report_ack(&mut self, now: u64, report: AckReport) {
        self.integrate_cwnd(now);
        self.rounds.on_ack(self.una, self.next, &self.window, &mut self.ack);
        let estimator = &self.rtt.estimator;
        // Without records there is never a sample.
        if let Some(records) = &mut self.records {
            let min_rtt = estimator.extremes().map_or(0, |(least, _)| least);
            self.ack.rate = records.finish(now, min_rtt);
        }
        let in_flight = self.in_flight();
        let ack = &mut self.ack;
        ack.now = Nanos(now);
        ack.acked = report.delivered;
        ack.cumulative = report.advanced;
        ack.lost = report.lost;
        ack.marked = report.marked;
        ack.rtt = report.rtt.map(Nanos);
        ack.srtt = Nanos(estimator.srtt());
        ack.min_rtt = Nanos(estimator.min);
        ack.in_flight = in_flight;
        ack.prior_in_flight = report.prior_in_flight;
        ack.state = self.state;
        ack.app_limited = self.next >= self.data_end;
        ack.round = self.rounds.number;
        ack.delivered = self.counts.delivered;
        ack.sent = self.next;
        self.algorithm.on_ack(&mut self.window, &self.ack);
    }

    /// Begins a congestion episode: the algorithm sets the slow-start threshold. `timeouts` counts the timeouts in a row
    /// that the algorithm is notified of.
    pub(crate) fn begin_episode(&mut self, now: u64, kind: CongestionKind, timeouts: u32) {
        self.report_congestion(now, kind, timeouts);
        self.counts.congestion_events += 1;
        self.episode.end = self.next;
    }

    /// Tells the algorithm of congestion.
    pub(crate) fn report_congestion(&mut self, now: u64, kind: CongestionKind, timeouts: u32) {
        let limited_transmits = if kind == CongestionKind::Loss { self.episode.limited_transmits } else { 0 };
        let congestion = Congestion {
            now: Nanos(now),
            kind,
            in_flight: self.in_flight(),
            // RFC 5681 section 3.2: at a fast retransmit, what limited transmit sent does not count.
            flight_size: self.outstanding() - limited_transmits,
            lost: self.scoreboard.lost,
            rtt: self.rtt.latest(&self.ack),
            srtt: Nanos(self.rtt.estimator.srtt()),
            min_rtt: Nanos(self.rtt.estimator.min),
            timeouts,
            in_slow_start: self.window.in_slow_start(),
        };
        self.window.recovery_cwnd = None;
        self.algorithm.on_congestion(&mut self.window, &congestion);
        self.record_illegal_value(now);
        // RFC 3168 section 6.1.2: CWR follows every reduction, whatever its cause.
        self.episode.send_cwr = self.config.ecn == EcnMode::Classic && self.accurate.is_none();
    }

    /// Returns how many of the segments delivered by an ACK carried a congestion mark.
    pub(crate) fn count_marks(
        &mut self,
        packet: &Packet,
        blocks: Option<&SackBlocks>,
        delivered: u32,
    ) -> u32 {
        if let Some(feedback) = &mut self.accurate {
            let option = blocks.and_then(|blocks| blocks.ecn.as_ref());
            let marked = feedback.on_ack(packet, option, delivered, self.window.mss());
            if let Some(records) = self.records.as_mut().filter(|_| marked > 0) {
                records.on_marked(marked);
            }
            return marked;
        }
        if self.config.ecn == EcnMode::Off || !packet.is(ECE) {
            return 0;
        }
        if let Some(records) = &mut self.records {
            records.on_marked(delivered);
        }
        // A pure duplicate delivers nothing, and its echo is a signal all the same.
        delivered.max(1)
    }

    /// Returns the scoreboard, and the reporter of losses that its methods reveal.
    pub(crate) fn scoreboard_and_reporter(&mut self, now: u64) -> (&mut Scoreboard, LossReporter<'_>) {
        let Connection { scoreboard, records, algorithm, window, needs, .. } = self;
        let records = records.as_deref_mut();
        (scoreboard, LossReporter { now, records, algorithm: &mut **algorithm, window, needs })
    }

    /// Reports the loss of a segment.
    pub(crate) fn report_loss(&mut self, now: u64, segment: u64) {
        self.scoreboard_and_reporter(now).1.report(segment);
    }

    /// Writes the record of a data packet, and returns its ECN flags.
    #[inline]
    pub(crate) fn record_and_flag(&mut self, now: u64, segment: u64, in_flight: u32, again: bool) -> u16 {
        if let Some(records) = &mut self.records {
            records.on_send(now, segment, self.una, in_flight, again);
        }
        match self.config.ecn {
            EcnMode::Off => 0,
            // RFC 3168 section 6.1.5: a retransmission is not ECN-capable, and CWR goes with new data.
            EcnMode::Classic if again && !fault::is(Fault::RetransmissionsAreCapable) => 0,
            EcnMode::Classic => ECT | if std::mem::take(&mut self.episode.send_cwr) { CWR } else { 0 },
            EcnMode::Exact if self.config.l4s => ECT | ECT1,
            EcnMode::Exact => ECT,
        }
    }

    /// Counts a data packet that leaves.
    #[inline(always)]
    pub(crate) fn count_sent(&mut self, now: u64) {
        self.counts.sent += 1;
        self.idle.last_sent = now;
    }

    /// Marks delivery-rate samples as application-limited if the window would let more go than the application has
    /// provided, until what is in flight is delivered (draft-ietf-ccwg-bbr section 4.1.2.4). Linux checks this only when the
    /// application writes, before the new data counts; the other profiles check it whenever they send.
    #[inline(always)]
    pub(crate) fn record_lack_of_data(&mut self, in_flight: u32, window: u32) {
        let Some(records) = &mut self.records else { return };
        let lacks_data = self.next >= self.data_end && self.scoreboard.lost <= self.scoreboard.retransmitted;
        if lacks_data && in_flight < window {
            records.on_app_limited(in_flight);
        }
    }

    /// Panics if the scoreboard contradicts itself: a segment is counted that is not outstanding, or counted twice. Every
    /// build checks this after each event that can change the scoreboard, since a corrupt scoreboard gives wrong results
    /// that look right.
    #[inline]
    pub(crate) fn assert_consistent(&self) {
        let (una, next, scoreboard) = (self.una, self.next, &self.scoreboard);
        assert!(una <= next, "segment {una} is acknowledged, but {next} was not sent");
        let (sacked, lost, retransmitted) = (scoreboard.sacked, scoreboard.lost, scoreboard.retransmitted);
        assert!(
            u64::from(sacked) + u64::from(lost) <= next - una && retransmitted <= lost,
            "of segments {una}..{next}, {sacked} are SACKed, {lost} lost and {retransmitted} retransmitted",
        );
    }
}

/// Reports lost segments to the records and, on request, to the algorithm.
pub(crate) struct LossReporter<'a> {
    now: u64,
    records: Option<&'a mut RateEstimator>,
    algorithm: &'a mut dyn CongestionControl,
    window: &'a mut Window,
    needs: &'a Needs,
}

impl LossReporter<'_> {
    pub fn report(&mut self, segment: u64) {
        if let Some(records) = &mut self.records {
            let packet = records.on_lost(self.now, segment);
            if self.needs.lost_packets {
                self.algorithm.on_packet_lost(self.window, &packet);
            }
        }
    }
}
