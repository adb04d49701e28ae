//! A sender written from the RFCs: a list of every segment ever sent, with what is known of each. What all recoveries share.

use cwnd_cc::{
    Ack, AckCompat, Congestion, CongestionControl, CongestionKind, EcnMode, Init, Nanos, Needs, State, Window,
};
use cwnd_scenario::Recovery;
use cwnd_tcp::packet::{BARE, CWR, ECE, ECT, ECT1, ESTABLISHED, Packet, SACK, SYN, SackBlocks};
use cwnd_tcp::{NEVER, SYN_OPTIONS, SenderConfig, SenderCounts};

use crate::clock::{self, Estimator};
use crate::counting::Counting;
use crate::timed::Timed;

/// A segment that was sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Segment {
    /// When it was sent last.
    pub sent: u64,
    /// Whether it was ever retransmitted.
    pub again: bool,
    pub sacked: bool,
    /// Whether it is declared lost, and whether it has left again since.
    pub lost: bool,
    pub repaired: bool,
    /// The next new segment when it left again, and the number of that retransmission.
    pub before: u64,
    pub number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Waiting,
    Connecting,
    Established,
}

/// How much of the window is used (RFC 7661's problem): over this round trip and the last one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub full: [bool; 2],
    pub peak: [u32; 2],
}

/// What an ACK delivers.
#[derive(Clone, Copy, Debug, Default)]
pub struct News {
    pub delivered: u32,
    pub advanced: u32,
    pub lost: u32,
    pub marked: u32,
    pub rtt: Option<u64>,
    pub prior: u32,
    pub predicted: bool,
    pub grows_on_sack: bool,
    pub cwnd_limited: bool,
}

/// The sender.
pub struct Sender {
    pub config: SenderConfig,
    pub algorithm: Box<dyn CongestionControl>,
    pub needs: Needs,
    pub window: Window,
    pub segments: Vec<Segment>,
    pub una: u64,
    pub data_end: u64,
    pub phase: Phase,
    pub state: State,
    /// The retransmission timer, and the timers of the application's start and end.
    pub timer: u64,
    pub start: u64,
    pub stop: u64,
    pub rtt: Estimator,
    /// The latest sample.
    pub latest: u64,
    pub duplicates: u32,
    /// Segments that duplicate ACKs without SACK stand for.
    pub unnamed: u32,
    /// RFC 6675's RecoveryPoint, and the end of an answer to a mark or a timeout.
    pub episode_end: u64,
    pub timeouts: u32,
    pub limited: u32,
    pub send_cwr: bool,
    round_end: u64,
    round: u64,
    usage: Usage,
    pub counts: SenderCounts,
    idle_since: Option<u64>,
    last_sent: u64,
    pub completed: Option<u64>,
    pub stopped: Option<u64>,
    /// Segments declared lost since this was last emptied.
    pub losses: Vec<u64>,
    pub sent: Vec<(u64, Packet)>,
    pub counting: Counting,
    pub timed: Timed,
    /// Whether losses are found by time.
    pub by_time: bool,
}

impl Sender {
    pub fn new(config: SenderConfig, algorithm: Box<dyn CongestionControl>) -> Sender {
        let by_time = config.recovery.is_by_time() && config.sack;
        Sender {
            needs: algorithm.needs(),
            algorithm,
            window: Window::new(&config.window),
            segments: Vec::new(),
            una: 0,
            data_end: config.segments,
            phase: Phase::Waiting,
            state: State::Open,
            timer: NEVER,
            start: config.start,
            stop: config.stop,
            rtt: Estimator::new(
                config.recovery,
                config.rto,
                if by_time { config.timer } else { Default::default() },
            ),
            latest: 0,
            duplicates: 0,
            unnamed: 0,
            episode_end: 0,
            timeouts: 0,
            limited: 0,
            send_cwr: false,
            round_end: 0,
            round: 0,
            usage: Usage::default(),
            counts: SenderCounts::default(),
            idle_since: None,
            last_sent: 0,
            completed: None,
            stopped: None,
            losses: Vec::new(),
            sent: Vec::new(),
            counting: Counting::default(),
            timed: Timed::new(config.recovery == Recovery::Rack, config.receive_window),
            by_time,
            config,
        }
    }

    pub fn next(&self) -> u64 {
        self.segments.len() as u64
    }

    pub fn at(&mut self, segment: u64) -> &mut Segment {
        &mut self.segments[segment as usize]
    }

    pub fn outstanding(&self) -> &[Segment] {
        &self.segments[self.una as usize..]
    }

    pub fn flight_size(&self) -> u32 {
        (self.next() - self.una) as u32
    }

    pub fn count(&self, holds: impl Fn(&Segment) -> bool) -> u32 {
        self.outstanding().iter().filter(|segment| holds(segment)).count() as u32
    }

    /// The number of segments SACKed, by name or (without SACK) by duplicate ACKs.
    pub fn sacked(&self) -> u32 {
        self.count(|segment| segment.sacked) + self.unnamed
    }

    /// RFC 6675's pipe: what is neither SACKed nor lost, and what has left again since it was lost.
    pub fn pipe(&self) -> u32 {
        let original = self.count(|segment| !segment.sacked && !segment.lost);
        let again = self.count(|segment| segment.lost && segment.repaired);
        original + again - self.unnamed
    }

    pub fn lost_and_waiting(&self) -> Option<u64> {
        let first = self.outstanding().iter().position(|segment| segment.lost && !segment.repaired);
        first.map(|first| self.una + first as u64)
    }

    /// The end of what the receiver's window and the application allow.
    pub fn send_end(&self) -> u64 {
        self.data_end.min(self.una + self.config.receive_window)
    }

    pub fn deadline(&self) -> u64 {
        self.timer.min(self.start).min(self.stop)
    }

    pub fn on_packet(&mut self, now: u64, packet: &Packet, blocks: Option<&SackBlocks>) {
        if packet.is(SYN) {
            if self.phase == Phase::Connecting {
                self.finish_handshake(now, packet);
            }
            return;
        }
        self.counts.acks += 1;
        if self.by_time {
            self.on_ack_by_time(now, packet, blocks);
        } else {
            self.on_ack_by_count(now, packet, blocks);
        }
        self.look_for_end(now);
    }

    pub fn on_timer(&mut self, now: u64) {
        if self.start <= now {
            self.start = NEVER;
            if self.config.handshake {
                self.phase = Phase::Connecting;
                self.send_syn(now);
            } else {
                self.establish(now);
            }
        } else if self.stop <= now {
            self.stop(now);
        } else if self.timer <= now {
            if self.phase == Phase::Connecting {
                self.rtt.back_off();
                self.send_syn(now);
            } else if self.by_time {
                self.on_timer_by_time(now);
            } else {
                self.on_timeout_by_count(now);
            }
        }
    }

    pub fn stop(&mut self, now: u64) {
        self.stop = NEVER;
        self.stopped.get_or_insert(now);
        self.data_end = self.data_end.min(self.next());
        if self.phase == Phase::Waiting {
            self.start = NEVER;
        }
    }

    fn send_syn(&mut self, now: u64) {
        let size = self.config.ack_size as u16 + SYN_OPTIONS;
        let channel = self.config.channel;
        let syn = Packet { at: now, sent: now, channel, size, flags: BARE | SYN, ..Packet::default() };
        self.sent.push((now, syn));
        self.timer = clock::expiry(self.config.timer, now, self.rtt.timeout(), false);
    }

    fn finish_handshake(&mut self, now: u64, packet: &Packet) {
        let (channel, size) = (self.config.channel, self.config.ack_size as u16);
        let flags = BARE | ESTABLISHED;
        self.sent.push((now, Packet { at: now, sent: now, channel, size, flags, ..Packet::default() }));
        if self.rtt.backoff > 0 && !self.config.timestamps {
            // Karn's rule, and RFC 6298 section 5.7.
            self.rtt.restart_after_lost_syn();
        } else {
            self.rtt.backoff = 0;
            self.rtt.first_sample(now - packet.sent);
        }
        self.establish(now);
    }

    fn establish(&mut self, now: u64) {
        self.phase = Phase::Established;
        self.timer = NEVER;
        if self.needs.ecn == Some(EcnMode::Exact) && self.config.ecn == EcnMode::Classic {
            self.needs.marks_only = false;
        }
        let init = Init {
            now: Nanos(now),
            seed: self.config.algorithm_seed,
            ecn: self.config.ecn,
            sack: self.config.sack,
            rtt: self.rtt.is_known().then(|| Nanos(self.rtt.srtt())),
            hints: self.config.hints,
            timer_hz: self.config.timer.hz(),
        };
        self.algorithm.init(&mut self.window, &init);
        self.transmit(now);
    }

    fn transmit(&mut self, now: u64) {
        if self.by_time {
            self.transmit_by_time(now);
        } else {
            self.transmit_by_count(now, false);
        }
    }

    /// The application of a connection that is not established yet provides nothing from now on, until it writes.
    pub fn write_only(&mut self) {
        self.data_end = 0;
    }

    pub fn write(&mut self, now: u64, segments: u64) {
        self.data_end = self.data_end.saturating_add(segments).min(self.config.segments);
        if self.next() >= self.data_end {
            return;
        }
        if let Some(since) = self.idle_since.take().filter(|_| self.next() == self.una) {
            self.decay_window(now);
            self.algorithm.on_idle_restart(&mut self.window, Nanos(now), Nanos(now - since));
        }
        self.transmit(now);
    }

    pub fn set_receive_window(&mut self, now: u64, segments: u64) {
        let opens = self.config.receive_window == 0 && segments > 0;
        self.config.receive_window = segments;
        if opens && self.una == self.next() && self.next() < self.data_end {
            self.rtt.backoff = 0;
            self.decay_window(now);
        }
    }

    /// RFC 2861 section 3.2, down to the initial window of RFC 5681 section 4.1.
    fn decay_window(&mut self, now: u64) {
        let timeout = self.rtt.timeout();
        let mut idle = now - self.last_sent;
        if !self.config.restart_after_idle || idle <= timeout || self.needs.owns_recovery {
            return;
        }
        let window = &mut self.window;
        if self.state != State::Cwr && self.state != State::Recovery {
            let three_quarters = window.whole(window.cwnd / 2.0) + window.whole(window.cwnd / 4.0);
            window.ssthresh = window.ssthresh.max(three_quarters);
        }
        let restart = self.config.window.initial_cwnd.min(window.cwnd);
        let mut cwnd = window.cwnd;
        while idle > timeout && cwnd > restart {
            cwnd = window.whole(cwnd / 2.0);
            idle -= timeout;
        }
        window.set_cwnd(cwnd.max(restart));
    }

    fn look_for_end(&mut self, now: u64) {
        if self.una == self.data_end {
            self.idle_since.get_or_insert(now);
            if self.una == self.config.segments {
                self.completed.get_or_insert(now);
            }
        }
    }

    /// Sends a segment: a new one if it is the next, else again. `push`: whether it ends a burst.
    pub fn send_segment(&mut self, now: u64, segment: u64, flags: u16) {
        let again = segment < self.next();
        if again {
            self.counts.retransmissions += 1;
            let before = self.next();
            let number = self.counts.retransmissions;
            let known = self.at(segment);
            (known.sent, known.again, known.before, known.number) = (now, true, before, number);
        } else {
            self.segments.push(Segment { sent: now, ..Segment::default() });
        }
        self.counts.sent += 1;
        self.last_sent = now;
        let size = match segment {
            0 if self.config.first_packet_size != self.config.packet_size => self.config.first_packet_size,
            _ if segment + 1 == self.config.segments => self.config.last_packet_size,
            _ => self.config.packet_size,
        };
        let ecn = match self.config.ecn {
            EcnMode::Off => 0,
            // RFC 3168 sections 6.1.5 and 6.1.2.
            EcnMode::Classic if again => 0,
            EcnMode::Classic => ECT | if std::mem::take(&mut self.send_cwr) { CWR } else { 0 },
            EcnMode::Exact => ECT | if self.config.l4s { ECT1 } else { 0 },
        };
        let packet = Packet {
            at: now,
            sent: now,
            seq: segment as u32,
            channel: self.config.channel,
            aux: 0,
            size: size as u16,
            flags: flags | ecn,
        };
        self.sent.push((now, packet));
    }

    pub fn record_use(&mut self, in_flight: u32) {
        self.usage.full[0] |= in_flight >= self.window.cwnd as u32;
        self.usage.peak[0] = self.usage.peak[0].max(in_flight);
    }

    /// How many segments' marks an ACK echoes: all that it delivers, or one.
    pub fn marks(&self, packet: &Packet, delivered: u32) -> u32 {
        if self.config.ecn != EcnMode::Off && packet.is(ECE) { delivered.max(1) } else { 0 }
    }

    pub fn is_predicted(&self, packet: &Packet, advanced: u32) -> bool {
        advanced > 0 && packet.flags & (SACK | ECE) == 0
    }

    pub fn min_rtt(&self) -> Nanos {
        Nanos(self.rtt.least.unwrap_or(u64::MAX))
    }

    pub fn tell_ack(&mut self, now: u64, news: &News) {
        let round_start = self.una > self.round_end;
        if round_start {
            self.round += 1;
            self.round_end = self.next();
            self.usage.full = [false, self.usage.full[0]];
            self.usage.peak = [0, self.usage.peak[0]];
        }
        let peak = self.usage.peak[0].max(self.usage.peak[1]);
        let used = self.usage.full[0]
            || self.usage.full[1]
            || (self.window.in_slow_start() && self.window.cwnd < f64::from(2 * peak));
        let cwnd_limited = if self.by_time { news.cwnd_limited } else { !self.config.validate_cwnd || used };
        let ack = Ack {
            now: Nanos(now),
            acked: news.delivered,
            cumulative: news.advanced,
            lost: news.lost,
            marked: news.marked,
            rtt: news.rtt.map(Nanos),
            srtt: Nanos(self.rtt.srtt()),
            min_rtt: self.min_rtt(),
            in_flight: self.pipe(),
            prior_in_flight: news.prior,
            state: self.state,
            cwnd_limited,
            app_limited: self.next() >= self.data_end,
            round_start,
            round: self.round,
            delivered: self.counts.delivered,
            sent: self.next(),
            rate: None,
            compat: AckCompat {
                header_predicted: news.predicted,
                grows_on_sack: news.grows_on_sack,
                until_departure: Nanos(0),
            },
        };
        self.algorithm.on_ack(&mut self.window, &ack);
    }

    /// Tells the algorithm of congestion.
    pub fn tell_congestion(&mut self, now: u64, kind: CongestionKind, timeouts: u32) {
        // RFC 5681 section 3.2: what limited transmit has sent does not count at a fast retransmit.
        let beyond = if kind == CongestionKind::Loss { self.limited } else { 0 };
        let congestion = Congestion {
            now: Nanos(now),
            kind,
            in_flight: self.pipe(),
            flight_size: self.flight_size() - beyond,
            lost: self.count(|segment| segment.lost),
            rtt: Nanos(self.latest),
            srtt: Nanos(self.rtt.srtt()),
            min_rtt: self.min_rtt(),
            timeouts,
            in_slow_start: self.window.in_slow_start(),
        };
        self.window.recovery_cwnd = None;
        self.algorithm.on_congestion(&mut self.window, &congestion);
        self.send_cwr = self.config.ecn == EcnMode::Classic;
    }

    /// Begins an episode: the algorithm reduces its threshold, and what is outstanding now is the episode's window of data.
    pub fn begin_episode(&mut self, now: u64, kind: CongestionKind) {
        self.tell_congestion(now, kind, 0);
        self.counts.congestion_events += 1;
        self.episode_end = self.next();
    }

    pub fn tell_exit(&mut self, now: u64) {
        self.algorithm.on_recovery_exit(&mut self.window, Nanos(now));
    }

    pub fn declare_lost(&mut self, segment: u64) {
        let known = self.at(segment);
        (known.lost, known.repaired) = (true, false);
        self.losses.push(segment);
    }
}
