//! The adapter.

use super::SentPacket;
use super::episode::Episode;
use super::rate::{RateSampler, Totals};
use super::rtt::RttEstimator;
use super::segments::{SegmentCounter, in_segments};
use super::usage::Usage;
use crate::{
    Ack, Congestion, CongestionControl, CongestionKind, EcnMode, FlowHints, IllegalValue, Init, Nanos, Needs,
    Observation, State, Window, WindowConfig,
};
use alloc::boxed::Box;
use core::fmt;

/// The settings of an [`Adapter`].
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Initial values and arithmetic of the window. Its `mss` is the size of a full packet, bytes.
    pub window: WindowConfig,
    /// Least window, segments (RFC 9002 section 7.2: two).
    pub minimum_window: f64,
    /// How marks are reported. QUIC's counts are [`EcnMode::Exact`].
    pub ecn: EcnMode,
    /// The handshake's round-trip time, if one was measured.
    pub rtt: Option<Nanos>,
    /// A seed for the algorithm's own choices, different for each flow.
    pub seed: u64,
    /// Properties that the application declares.
    pub hints: FlowHints,
}

impl Default for Settings {
    /// Returns the settings of QUIC on a path that carries datagrams of 1,200 bytes.
    fn default() -> Settings {
        Settings {
            window: WindowConfig { mss: 1200, ..WindowConfig::default() },
            minimum_window: 2.0,
            ecn: EcnMode::Exact,
            rtt: None,
            seed: 0,
            hints: FlowHints::default(),
        }
    }
}

/// What a transport knows at the end of an ACK frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckEnd {
    /// Bytes in flight after it. `None` if the transport reports every packet that leaves and every one that is acknowledged, lost or
    /// discarded; the adapter then has the number.
    pub in_flight: Option<u64>,
    /// The application had too little to send.
    pub app_limited: bool,
}

/// An algorithm, its window, and what the transport must report to it. The [module](super) describes the order of calls.
pub struct Adapter {
    algorithm: Box<dyn CongestionControl>,
    needs: Needs,
    window: Window,
    minimum_window: f64,
    /// Packets sent.
    next: u64,
    /// Bytes in flight.
    in_flight: u64,
    sent: SegmentCounter,
    delivered: SegmentCounter,
    lost: SegmentCounter,
    /// Packets that were marked.
    marked: u64,
    sampler: RateSampler,
    usage: Usage,
    rtt: RttEstimator,
    state: State,
    episode: Option<Episode>,
    /// Congestion episodes so far.
    episodes: u64,
    /// The newest packet that was ever acknowledged.
    newest_acked: Option<u64>,
    /// The newest packet that was lost since the last [`Adapter::on_losses`].
    newest_lost: Option<u64>,
    /// Segments lost before the packets since the last [`Adapter::on_losses`].
    lost_before_event: u64,
    /// Since when the application has had nothing to send and nothing has been in flight.
    idle_since: Option<Nanos>,
    batch: Batch,
    pending: Option<Pending>,
    reported: Reported,
    illegal_value: Option<(Nanos, IllegalValue)>,
}

/// The packets that the present ACK frame has acknowledged so far.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    /// Bytes in flight before the first.
    prior_in_flight: Option<u64>,
    packets: u32,
    /// When the newest was sent, if it is the newest that was ever acknowledged (RFC 9002 section 5.1).
    timed: Option<Nanos>,
    newest: u64,
}

/// An ACK that was not reported to the algorithm yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    now: Nanos,
    prior_in_flight: u64,
    newest: u64,
    rtt: Option<Nanos>,
    app_limited: bool,
}

/// Counts as of the last report to the algorithm.
#[derive(Clone, Copy, Debug, Default)]
struct Reported {
    delivered: u64,
    lost: u64,
    marked: u64,
    /// Packets of the last ACK.
    packets: u32,
}

impl Adapter {
    /// Starts a connection at `now`.
    pub fn new(mut algorithm: Box<dyn CongestionControl>, now: Nanos, settings: &Settings) -> Adapter {
        let mut window = Window::new(&settings.window);
        let mut needs = algorithm.needs();
        // Exact feedback was asked for and only classic feedback is there: marks begin episodes.
        needs.marks_only &= !(needs.ecn == Some(EcnMode::Exact) && settings.ecn == EcnMode::Classic);
        let Settings { ecn, rtt, seed, hints, .. } = *settings;
        algorithm.init(&mut window, &Init { now, seed, ecn, sack: true, rtt, hints, timer_hz: 0 });
        let mut estimator = RttEstimator::EMPTY;
        rtt.into_iter().for_each(|rtt| estimator.add(rtt));
        let illegal_value = window.illegal_value().map(|illegal| (now, illegal));
        Adapter {
            algorithm,
            needs,
            window,
            minimum_window: settings.minimum_window,
            next: 0,
            in_flight: 0,
            sent: SegmentCounter::default(),
            delivered: SegmentCounter::default(),
            lost: SegmentCounter::default(),
            marked: 0,
            sampler: RateSampler::new(now),
            usage: Usage::default(),
            rtt: estimator,
            state: State::Open,
            episode: None,
            episodes: 0,
            newest_acked: None,
            newest_lost: None,
            lost_before_event: 0,
            idle_since: None,
            batch: Batch::default(),
            pending: None,
            reported: Reported::default(),
            illegal_value,
        }
    }

    /// Handles a packet of `bytes` that leaves and counts as in flight. Returns its record.
    pub fn on_packet_sent(&mut self, now: Nanos, bytes: u32) -> SentPacket {
        self.settle();
        let alone = self.in_flight == 0;
        if let Some(since) = self.idle_since.take().filter(|_| alone) {
            self.algorithm.on_idle_restart(&mut self.window, now, now.since(since));
            self.check_window(now);
        }
        self.count_as_sent(bytes);
        let mut packet = self.record(now, bytes);
        self.sampler.on_sent(&mut packet, alone);
        packet.counted = true;
        self.record_use();
        packet
    }

    /// Handles a packet of `bytes` that leaves, where the transport does not tell whether it counts as in flight: it may have ACKs alone,
    /// which nobody acknowledges (RFC 9002 section 2). It counts from when it is acknowledged or lost, so that ACKs fill no window.
    /// Returns its record.
    pub fn on_uncertain_packet_sent(&mut self, now: Nanos, bytes: u32) -> SentPacket {
        self.settle();
        let alone = self.in_flight == 0;
        let mut packet = self.record(now, bytes);
        self.sampler.on_uncertain_sent(&mut packet, alone);
        packet
    }

    /// Returns the record of the next packet.
    fn record(&mut self, now: Nanos, bytes: u32) -> SentPacket {
        let order = self.next;
        self.next += 1;
        SentPacket {
            order,
            sent: now,
            bytes,
            in_flight: self.segments_in_flight(),
            delivered: self.delivered.total,
            lost: self.lost.total,
            marked: self.marked,
            delivered_at: now,
            first_sent: now,
            app_limited: false,
            counted: false,
        }
    }

    fn count_as_sent(&mut self, bytes: u32) {
        self.in_flight += u64::from(bytes);
        self.sent.add(u64::from(bytes), self.window.mss());
    }

    /// Counts a packet that turns out to have been in flight. If it was the first after an idle time, that ended with it.
    fn count_late(&mut self, packet: &SentPacket) {
        if packet.counted {
            return;
        }
        if let Some(since) = self.idle_since.take() {
            self.algorithm.on_idle_restart(&mut self.window, packet.sent, packet.sent.since(since));
            self.check_window(packet.sent);
        }
        self.count_as_sent(packet.bytes);
    }

    /// Handles a packet that an ACK frame acknowledges.
    pub fn on_packet_acked(&mut self, now: Nanos, packet: &SentPacket) {
        self.on_bytes_acked(now, packet, u64::from(packet.bytes));
    }

    /// Handles several packets of together `bytes` that an ACK frame acknowledges, of which `newest` was sent last.
    pub fn on_bytes_acked(&mut self, now: Nanos, newest: &SentPacket, bytes: u64) {
        self.settle();
        self.count_late(newest);
        let mss = self.window.mss();
        let batch = &mut self.batch;
        batch.prior_in_flight.get_or_insert(self.in_flight);
        batch.packets += in_segments(bytes, mss).max(1);
        batch.newest = batch.newest.max(newest.order);
        if self.newest_acked.is_none_or(|before| newest.order > before) {
            self.newest_acked = Some(newest.order);
            batch.timed = Some(newest.sent);
        }
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.delivered.add(bytes, mss);
        self.sampler.on_acked(now, newest);
    }

    /// Handles the end of an ACK frame. The adapter reports the ACK to the algorithm when the transport next asks for the window or sends.
    pub fn on_ack_end(&mut self, now: Nanos, end: &AckEnd) {
        self.in_flight = end.in_flight.unwrap_or(self.in_flight);
        let Batch { prior_in_flight: Some(prior_in_flight), packets, timed, newest } =
            core::mem::take(&mut self.batch)
        else {
            return;
        };
        let rtt = timed.map(|sent| now.since(sent));
        rtt.into_iter().for_each(|rtt| self.rtt.add(rtt));
        self.reported.packets = packets;
        self.end_recovery(now);
        self.pending = Some(Pending { now, prior_in_flight, newest, rtt, app_limited: end.app_limited });
    }

    /// Handles a packet that is declared lost. [`Adapter::on_losses`] follows after the last one.
    pub fn on_packet_lost(&mut self, now: Nanos, packet: &SentPacket) {
        self.settle_before(now);
        if self.newest_lost.is_none() {
            self.lost_before_event = self.lost.total;
        }
        self.count_late(packet);
        self.newest_lost = self.newest_lost.max(Some(packet.order));
        self.in_flight = self.in_flight.saturating_sub(u64::from(packet.bytes));
        self.lost.add(u64::from(packet.bytes), self.window.mss());
        if self.needs.lost_packets {
            self.algorithm.on_packet_lost(&mut self.window, &packet.lost_at(now, self.lost.total));
            self.check_window(now);
        }
    }

    /// Handles the end of packets that were declared lost together. A congestion episode begins if one of them was sent after the
    /// beginning of the last, or if they establish persistent congestion (RFC 9002 section 7.6).
    pub fn on_losses(&mut self, now: Nanos, is_persistent: bool) {
        let Some(newest) = self.newest_lost.take() else { return };
        let lost = (self.lost.total - self.lost_before_event) as u32;
        self.end_recovery(now);
        if is_persistent {
            self.begin_episode(now, CongestionKind::Timeout, lost);
        } else if self.episode.is_none_or(|episode| episode.is_before(newest)) {
            self.begin_episode(now, CongestionKind::Loss, lost);
        }
    }

    /// Handles ECN-CE marks that an ACK frame reports. `packets` is by how many the receiver's count has grown; `None` if the
    /// transport does not know, in which case all packets that the frame acknowledged count as marked, as in classic ECN.
    pub fn on_marks(&mut self, now: Nanos, packets: Option<u32>) {
        self.settle_before(now);
        let of_frame = if self.batch.packets > 0 { self.batch.packets } else { self.reported.packets };
        let marked = packets.unwrap_or(of_frame.max(1));
        if marked == 0 {
            return;
        }
        self.marked += u64::from(marked);
        self.end_recovery(now);
        let newest = self.newest_acked.unwrap_or(0);
        if !self.needs.marks_only && self.episode.is_none_or(|episode| episode.is_before(newest)) {
            self.begin_episode(now, CongestionKind::Ecn, 0);
        }
    }

    /// Handles the discovery that every packet of the last loss event has arrived. The window and the threshold return to their
    /// values before it, if they are lower.
    pub fn on_spurious_losses(&mut self, now: Nanos) {
        self.settle();
        let Some(episode) = self.episode.as_mut().filter(|episode| episode.can_be_undone()) else { return };
        episode.undone = true;
        // Another loss is a new event.
        episode.end = 0;
        let (cwnd, ssthresh) = (episode.cwnd, episode.ssthresh);
        if !self.needs.owns_recovery {
            self.window.set_cwnd(self.window.cwnd.max(cwnd));
            self.window.ssthresh = self.window.ssthresh.max(ssthresh);
        }
        self.state = State::Open;
        self.algorithm.on_undo(&mut self.window, now);
        self.check_window(now);
    }

    /// Handles a packet that leaves the flight without being acknowledged or lost, such as those of a discarded packet number space.
    pub fn on_packet_discarded(&mut self, packet: &SentPacket) {
        self.settle();
        if packet.counted {
            self.in_flight = self.in_flight.saturating_sub(u64::from(packet.bytes));
        }
    }

    /// Handles that the transport had something to send and the window did not allow it. A transport that cannot tell need not call it.
    pub fn on_window_limited(&mut self) {
        self.settle();
        self.usage.record(self.segments_in_flight(), true);
    }

    /// Handles that the application has nothing more to send, while the window allows it. [`AckEnd::app_limited`] has the same effect
    /// at an ACK; a transport that knows at other times reports it here.
    pub fn on_app_limited(&mut self) {
        self.settle();
        if self.segments_in_flight() < self.whole_window() {
            let in_flight = u64::from(self.segments_in_flight());
            self.sampler.limit_until(self.delivered.total + in_flight);
        }
    }

    /// Sets the size of a full packet, bytes. Numbers of segments keep their values.
    pub fn set_mss(&mut self, bytes: u32) {
        self.settle();
        self.window.set_mss(bytes);
    }

    /// Returns the window, bytes.
    pub fn window(&mut self) -> u64 {
        self.settle();
        self.window_bytes()
    }

    /// Returns the slow-start threshold, bytes, if it is set.
    pub fn ssthresh(&mut self) -> Option<u64> {
        self.settle();
        let ssthresh = Some(self.window.ssthresh).filter(|ssthresh| ssthresh.is_finite());
        ssthresh.map(|segments| (segments * f64::from(self.window.mss())) as u64)
    }

    /// Returns the pacing rate, bytes a second, if the algorithm paces.
    pub fn pacing_rate(&mut self) -> Option<f64> {
        self.settle();
        Some(self.window.pacing_rate).filter(|rate| rate.is_finite())
    }

    /// Returns the smoothed round-trip time; zero before the first sample.
    pub fn srtt(&self) -> Nanos {
        self.rtt.smoothed()
    }

    /// Returns the smallest round-trip time, if there was a sample.
    pub fn min_rtt(&self) -> Option<Nanos> {
        Some(self.rtt.min).filter(|&min| min != Nanos::MAX)
    }

    /// Returns the state of recovery.
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns the number of congestion episodes: losses, marks and persistent congestion that the algorithm was told to answer.
    pub fn episodes(&self) -> u64 {
        self.episodes
    }

    /// Returns bytes in flight.
    pub fn bytes_in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Returns the first value that the algorithm has set and that no window may have, and when; `None` if there was none. What the
    /// adapter makes of it, like the minimum window where `cwnd` is not a number, says nothing about the algorithm.
    pub fn illegal_value(&self) -> Option<(Nanos, IllegalValue)> {
        self.illegal_value
    }

    /// Returns the window in segments.
    pub fn segments(&mut self) -> &Window {
        self.settle();
        &self.window
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> &dyn CongestionControl {
        &*self.algorithm
    }

    /// Writes the algorithm's observables at `now` into `values`; see [`CongestionControl::observe`].
    pub fn observe(&mut self, now: Nanos, values: &mut [f64]) {
        self.settle();
        let at = Observation { now, srtt: self.rtt.smoothed(), min_rtt: self.rtt.min };
        self.algorithm.observe(&self.window, &at, values);
    }

    /// Reports the last ACK to the algorithm, unless it was reported.
    fn settle(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.report(&pending);
        }
    }

    /// Reports the last ACK to the algorithm if it came before `now`.
    fn settle_before(&mut self, now: Nanos) {
        if self.pending.is_some_and(|pending| pending.now < now) {
            self.settle();
        }
    }

    fn report(&mut self, pending: &Pending) {
        let &Pending { now, prior_in_flight, newest, rtt, app_limited } = pending;
        let round_start = self.usage.on_acked(newest, self.next);
        let totals = Totals { delivered: self.delivered.total, lost: self.lost.total, marked: self.marked };
        let acked = (totals.delivered - self.reported.delivered) as u32;
        let in_flight = self.segments_in_flight();
        let ack = Ack {
            now,
            acked,
            cumulative: acked,
            lost: (totals.lost - self.reported.lost) as u32,
            marked: (totals.marked - self.reported.marked) as u32,
            rtt,
            srtt: self.rtt.smoothed(),
            min_rtt: self.rtt.min,
            in_flight,
            prior_in_flight: in_segments(prior_in_flight, self.window.mss()),
            state: self.state,
            cwnd_limited: self.usage.is_limited(&self.window),
            app_limited,
            round_start,
            round: self.usage.round,
            delivered: totals.delivered,
            sent: self.sent.total,
            rate: self.sampler.finish(now, self.rtt.known_min(), totals),
            ..Ack::default()
        };
        let Totals { delivered, lost, marked } = totals;
        self.reported = Reported { delivered, lost, marked, ..self.reported };
        self.algorithm.on_ack(&mut self.window, &ack);
        self.check_window(now);
        self.record_use();
        if app_limited {
            self.on_app_limited();
            self.idle_since = Some(now).filter(|_| self.in_flight == 0);
        }
    }

    fn end_recovery(&mut self, now: Nanos) {
        let Some((episode, newest)) = self.episode.zip(self.newest_acked) else { return };
        if self.state != State::Open && episode.is_before(newest) {
            self.state = State::Open;
            self.algorithm.on_recovery_exit(&mut self.window, now);
            self.check_window(now);
        }
    }

    fn begin_episode(&mut self, now: Nanos, kind: CongestionKind, lost: u32) {
        let in_flight = self.segments_in_flight();
        let congestion = Congestion {
            now,
            kind,
            in_flight,
            flight_size: in_flight.saturating_add(lost),
            lost,
            rtt: self.rtt.latest,
            srtt: self.rtt.smoothed(),
            min_rtt: self.rtt.min,
            timeouts: u32::from(kind == CongestionKind::Timeout),
            in_slow_start: self.window.in_slow_start(),
        };
        let (cwnd, ssthresh) = (self.window.cwnd, self.window.ssthresh);
        self.episodes += 1;
        self.episode = Some(Episode { kind, end: self.next, cwnd, ssthresh, undone: false });
        self.window.recovery_cwnd = None;
        self.algorithm.on_congestion(&mut self.window, &congestion);
        // A threshold that is not a number leaves the window as it was, so that later checks of the window would pass.
        self.record_illegal_value(now);
        let target = match kind {
            CongestionKind::Timeout => Some(self.window.restart_cwnd),
            _ if self.needs.owns_recovery => None,
            _ => Some(self.window.recovery_cwnd.unwrap_or(self.window.ssthresh)),
        };
        if let Some(target) = target {
            self.window.set_cwnd(target.min(self.window.cwnd).max(self.minimum_window));
        }
        self.state = match kind {
            CongestionKind::Timeout => State::Loss,
            CongestionKind::Ecn => State::Cwr,
            CongestionKind::Loss => State::Recovery,
        };
    }

    /// Records a window or a pacing rate that lets nothing go.
    #[inline]
    fn check_window(&mut self, now: Nanos) {
        if !self.window.lets_send() {
            self.record_illegal_value(now);
        }
    }

    /// Records the first value that is not allowed, if there is one.
    fn record_illegal_value(&mut self, now: Nanos) {
        if self.illegal_value.is_none() {
            self.illegal_value = self.window.illegal_value().map(|illegal| (now, illegal));
        }
    }

    /// Records how much of the window is in use.
    fn record_use(&mut self) {
        let is_full = self.in_flight + u64::from(self.window.mss()) > self.window_bytes();
        self.usage.record(self.segments_in_flight(), is_full);
    }

    fn segments_in_flight(&self) -> u32 {
        in_segments(self.in_flight, self.window.mss())
    }

    fn whole_window(&self) -> u32 {
        self.window.cwnd.max(self.minimum_window) as u32
    }

    fn window_bytes(&self) -> u64 {
        u64::from(self.whole_window()) * u64::from(self.window.mss())
    }
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapter")
            .field("window", &self.window)
            .field("state", &self.state)
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}
