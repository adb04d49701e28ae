//! An algorithm of `cwnd-cc` under the events of a QUIC implementation's loss detection.
//!
//! QUIC acknowledges packets, never a prefix of them: [`Ack::cumulative`] is [`Ack::acked`]. A congestion episode begins with the loss
//! of a packet that was sent after the last one began, and ends with the ACK of such a packet (RFC 9002 section 7.3.2). At its
//! beginning the window falls to `ssthresh` at once, unless the algorithm [owns](cwnd_cc::Needs::owns_recovery) recovery. Persistent
//! congestion counts as a timeout. Segments have the size of a full datagram.

use cwnd_cc::{
    Ack, Arithmetic, Congestion, CongestionControl, CongestionKind, EcnMode, FlowHints, Init, LostPacket,
    Nanos, RateSample, State, Window, WindowConfig,
};
use std::collections::VecDeque;

/// How long after a smoothed round-trip time a packet that is neither acknowledged nor lost is forgotten, ns. ACK-only packets
/// are such.
const FORGOTTEN_AFTER: u64 = 2_000_000_000;
/// Segments of the initial window, as in the linux profile (RFC 6928).
const INITIAL_WINDOW: f64 = 10.0;
/// The least window, segments (RFC 9002 section 7.2).
const MINIMUM_WINDOW: f64 = 2.0;

/// A packet under way, and the counters when it left (draft-ietf-ccwg-bbr section 4.1.1).
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: u64,
    delivered: u64,
    delivered_at: u64,
    first_sent: u64,
    lost: u64,
    in_flight: u32,
    app_limited: bool,
    done: bool,
}

/// An algorithm, its window, and what it needs to be told.
pub struct Bridge {
    algorithm: Box<dyn CongestionControl>,
    window: Window,
    /// Bytes of a full datagram.
    segment: u64,
    packets: VecDeque<Sent>,
    in_flight: u64,
    sent: u64,
    delivered: u64,
    delivered_at: u64,
    first_sent: u64,
    lost: u64,
    /// `lost` at the last ACK.
    lost_before: u64,
    app_limited: bool,
    round: u64,
    /// `delivered` with which the next round begins.
    round_ends: u64,
    /// The most segments in flight in this and in the previous round.
    most: [u32; 2],
    rtt: u64,
    srtt: u64,
    min_rtt: Option<u64>,
    /// Since when the present congestion episode, or the last one, lasts.
    episode: Option<u64>,
    state: State,
    /// Of the present batch of acknowledged packets: how many, and the newest.
    batch: (u32, Option<Sent>),
}

impl Bridge {
    /// Begins a connection at `now` with full datagrams of `segment` bytes, and a window of at most `clamp` segments.
    pub fn new(
        mut algorithm: Box<dyn CongestionControl>,
        now: u64,
        segment: u32,
        clamp: f64,
        seed: u64,
        hints: FlowHints,
    ) -> Bridge {
        let mut window = Window::new(&WindowConfig {
            initial_cwnd: INITIAL_WINDOW,
            initial_ssthresh: f64::INFINITY,
            clamp,
            mss: segment,
            arithmetic: Arithmetic::Linux,
            slow_start_at_ssthresh: false,
        });
        let init = Init { now: Nanos(now), seed, ecn: EcnMode::Classic, sack: true, rtt: None, hints };
        algorithm.init(&mut window, &init);
        Bridge {
            algorithm,
            window,
            segment: u64::from(segment),
            packets: VecDeque::new(),
            in_flight: 0,
            sent: 0,
            delivered: 0,
            delivered_at: now,
            first_sent: now,
            lost: 0,
            lost_before: 0,
            app_limited: false,
            round: 0,
            round_ends: 0,
            most: [0; 2],
            rtt: 0,
            srtt: 0,
            min_rtt: None,
            episode: None,
            state: State::Open,
            batch: (0, None),
        }
    }

    /// Returns the window, bytes.
    pub fn window(&self) -> u64 {
        self.window.cwnd.floor().max(MINIMUM_WINDOW) as u64 * self.segment
    }

    /// Returns the slow-start threshold, bytes, if it is set.
    pub fn ssthresh(&self) -> Option<u64> {
        Some(self.window.ssthresh).filter(|ssthresh| ssthresh.is_finite()).map(|s| s as u64 * self.segment)
    }

    /// Returns the pacing rate, bytes a second, if the algorithm paces.
    pub fn pacing_rate(&self) -> Option<u64> {
        Some(self.window.pacing_rate).filter(|rate| rate.is_finite()).map(|rate| rate as u64)
    }

    /// Handles a packet that leaves.
    pub fn on_sent(&mut self, now: u64, bytes: u64) {
        if self.in_flight == 0 {
            // A new flight: nothing was delivered while nothing was under way.
            (self.delivered_at, self.first_sent) = (now, now);
        }
        self.in_flight += bytes;
        self.sent += 1;
        let in_flight = self.segments(self.in_flight);
        self.most[0] = self.most[0].max(in_flight);
        self.packets.push_back(Sent {
            at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.lost,
            in_flight,
            app_limited: self.app_limited,
            done: false,
        });
    }

    /// Handles a packet, sent at `sent`, that an ACK acknowledges.
    pub fn on_ack(&mut self, now: u64, sent: u64, srtt: u64) {
        self.srtt = srtt;
        let first = self.packets.partition_point(|packet| packet.at < sent);
        let mut same = self.packets.iter_mut().skip(first).take_while(|packet| packet.at == sent);
        let Some(packet) = same.find(|packet| !packet.done) else { return };
        packet.done = true;
        let packet = *packet;
        self.delivered += 1;
        self.delivered_at = now;
        self.batch.0 += 1;
        if self.batch.1.is_none_or(|newest| (newest.delivered, newest.at) <= (packet.delivered, packet.at)) {
            self.first_sent = packet.at;
            self.batch.1 = Some(packet);
        }
    }

    /// Handles the end of the packets that one ACK acknowledges.
    pub fn on_end_acks(&mut self, now: u64, in_flight: u64, app_limited: bool) {
        let prior_in_flight = self.segments(self.in_flight);
        self.in_flight = in_flight;
        self.app_limited = app_limited;
        let (acked, Some(newest)) = std::mem::take(&mut self.batch) else { return };
        self.rtt = now - newest.at;
        self.min_rtt = Some(self.min_rtt.map_or(self.rtt, |least| least.min(self.rtt)));
        let srtt = if self.srtt == 0 { self.rtt } else { self.srtt };
        let round_start = newest.delivered >= self.round_ends;
        if round_start {
            self.round += 1;
            self.round_ends = self.delivered;
            self.most = [prior_in_flight, self.most[0]];
        }
        if self.state != State::Open && self.episode.is_none_or(|begin| newest.at > begin) {
            self.state = State::Open;
            self.algorithm.on_recovery_exit(&mut self.window, Nanos(now));
        }
        let interval = (newest.at - newest.first_sent).max(self.delivered_at - newest.delivered_at);
        let rate = RateSample {
            delivered: self.delivered - newest.delivered,
            prior_delivered: newest.delivered,
            interval: Nanos(interval),
            app_limited: newest.app_limited,
            tx_in_flight: newest.in_flight,
            lost: self.lost - newest.lost,
            marked: 0,
            rtt: Nanos(self.rtt),
        };
        let ack = Ack {
            now: Nanos(now),
            acked,
            cumulative: acked,
            lost: (self.lost - self.lost_before) as u32,
            marked: 0,
            rtt: Some(Nanos(self.rtt)),
            srtt: Nanos(srtt),
            min_rtt: self.min_rtt.map_or(Nanos::MAX, Nanos),
            in_flight: self.segments(in_flight),
            prior_in_flight,
            state: self.state,
            cwnd_limited: self.is_window_limited(),
            app_limited,
            round_start,
            round: self.round,
            delivered: self.delivered,
            sent: self.sent,
            rate: Some(rate),
            ..Ack::default()
        };
        self.lost_before = self.lost;
        self.algorithm.on_ack(&mut self.window, &ack);
        let oldest = now.saturating_sub(srtt.saturating_add(FORGOTTEN_AFTER));
        while self.packets.front().is_some_and(|packet| packet.done || packet.at < oldest) {
            self.packets.pop_front();
        }
    }

    /// Handles a congestion event: `lost_bytes` of packets of which the last was sent at `sent`, or a mark.
    pub fn on_congestion(&mut self, now: u64, sent: u64, persistent: bool, is_mark: bool, lost_bytes: u64) {
        let in_flight = self.segments(self.in_flight);
        let lost = if is_mark { 0 } else { self.lose(now, sent, lost_bytes) };
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
        if !persistent && self.episode.is_some_and(|begin| sent <= begin) {
            return;
        }
        let needs = self.algorithm.needs();
        if is_mark && needs.marks_only {
            return;
        }
        self.episode = Some(now);
        let (kind, state) = match (persistent, is_mark) {
            (true, _) => (CongestionKind::Timeout, State::Loss),
            (false, true) => (CongestionKind::Ecn, State::Cwr),
            (false, false) => (CongestionKind::Loss, State::Recovery),
        };
        self.window.recovery_cwnd = None;
        let congestion = Congestion {
            now: Nanos(now),
            kind,
            in_flight,
            flight_size: in_flight,
            lost,
            rtt: Nanos(self.rtt),
            srtt: Nanos(self.srtt),
            min_rtt: self.min_rtt.map_or(Nanos::MAX, Nanos),
            timeouts: u32::from(persistent),
            in_slow_start: self.window.in_slow_start(),
        };
        self.algorithm.on_congestion(&mut self.window, &congestion);
        self.state = state;
        if !needs.owns_recovery {
            let target = if persistent {
                self.window.restart_cwnd.max(MINIMUM_WINDOW)
            } else {
                self.window.recovery_cwnd.unwrap_or(self.window.ssthresh)
            };
            self.window.set_cwnd(target.min(self.window.cwnd).max(MINIMUM_WINDOW));
        }
    }

    /// Marks the oldest packets that were sent by `sent` as lost, and tells the algorithm. Returns how many.
    fn lose(&mut self, now: u64, sent: u64, bytes: u64) -> u32 {
        let tells = self.algorithm.needs().lost_packets;
        let mut left = self.segments(bytes);
        let mut lost = 0;
        for packet in self.packets.iter_mut().take_while(|packet| packet.at <= sent) {
            if left == 0 {
                break;
            }
            if packet.done {
                continue;
            }
            packet.done = true;
            left -= 1;
            lost += 1;
            self.lost += 1;
            if tells {
                let about = LostPacket {
                    now: Nanos(now),
                    sent: Nanos(packet.at),
                    tx_in_flight: packet.in_flight,
                    delivered: packet.delivered,
                    lost_at_send: packet.lost,
                    lost: self.lost,
                    app_limited: packet.app_limited,
                };
                self.algorithm.on_packet_lost(&mut self.window, &about);
            }
        }
        lost
    }

    /// Returns whether the flow used its whole window in this round or the last one: in slow start half of it, as in Linux. A
    /// datagram that is shorter than a segment may leave room that no other fits in.
    fn is_window_limited(&self) -> bool {
        let most = f64::from(self.most[0].max(self.most[1]));
        most + 2.0 > self.window.cwnd.floor() || self.window.in_slow_start() && self.window.cwnd < 2.0 * most
    }

    /// Returns how many segments bytes are, rounded up.
    fn segments(&self, bytes: u64) -> u32 {
        bytes.div_ceil(self.segment) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_cc::Parameters;

    const MS: u64 = 1_000_000;
    const SEGMENT: u64 = 1_000;

    fn bridge(name: &str) -> Bridge {
        let algorithm = (cwnd_cc::find(name).unwrap().build)(&Parameters::new()).unwrap();
        Bridge::new(algorithm, 0, SEGMENT as u32, 1e6, 1, FlowHints::default())
    }

    /// Sends a window at `now`, which is acknowledged 50 ms later.
    fn round(bridge: &mut Bridge, now: u64) -> u64 {
        let packets = bridge.window() / SEGMENT;
        (0..packets).for_each(|_| bridge.on_sent(now, SEGMENT));
        let end = now + 50 * MS;
        (0..packets).for_each(|_| bridge.on_ack(end, now, 50 * MS));
        bridge.on_end_acks(end, 0, false);
        end
    }

    /// Slow start doubles the window each round: 10, 20, 40.
    #[test]
    fn a_window_that_is_used_doubles_in_slow_start() {
        let mut bridge = bridge("newreno");
        let end = round(&mut bridge, MS);
        assert_eq!(bridge.window(), 20 * SEGMENT);
        round(&mut bridge, end);
        assert_eq!(bridge.window(), 40 * SEGMENT);
        assert_eq!((bridge.rtt, bridge.min_rtt, bridge.round), (50 * MS, Some(50 * MS), 2));
    }

    /// Of one flight, losses begin one episode. RFC 9002's NewReno halves the window of 20: to 10.
    #[test]
    fn losses_of_one_flight_begin_one_episode() {
        let mut bridge = bridge("newreno");
        let now = round(&mut bridge, MS);
        (0..20).for_each(|_| bridge.on_sent(now, SEGMENT));
        let later = now + 60 * MS;
        bridge.on_congestion(later, now, false, false, SEGMENT);
        assert_eq!((bridge.window(), bridge.state), (10 * SEGMENT, State::Recovery));
        bridge.on_congestion(later + MS, now, false, false, 2 * SEGMENT);
        assert_eq!((bridge.window(), bridge.lost), (10 * SEGMENT, 3));
        bridge.on_sent(later + 2 * MS, SEGMENT);
        bridge.on_ack(later + 60 * MS, later + 2 * MS, 50 * MS);
        bridge.on_end_acks(later + 60 * MS, 0, false);
        assert_eq!(bridge.state, State::Open);
    }

    #[test]
    fn persistent_congestion_is_a_timeout() {
        let mut bridge = bridge("cubic");
        let now = round(&mut bridge, MS);
        (0..20).for_each(|_| bridge.on_sent(now, SEGMENT));
        bridge.on_congestion(now + 3_000 * MS, now, true, false, 20 * SEGMENT);
        assert_eq!((bridge.window(), bridge.state), (2 * SEGMENT, State::Loss));
    }
}
