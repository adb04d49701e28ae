//! What the naive simulator has counted, in the engine's words.

use super::Naive;
use super::endpoint::Segment;
use cwnd_cc::State;
use cwnd_net::{Found, Observer, Place};
use cwnd_scenario::{
    Counting, Effects, FlowOutcome, Jitter, JitterShape, LinkId, LinkOutcome, LinkSpec, MessageOutcome,
    Outcome, QueueSpec, SampleState, Scenario, Time,
};
use cwnd_sim::FlowState;
use cwnd_sim::host::Endpoint;
use cwnd_tcp::packet::{ECT, ESTABLISHED, Packet, SYN};
use cwnd_tcp::{Receiver, Sender};

/// Packets that never arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fate {
    pub dropped: u64,
    pub lost: u64,
    pub copied: u64,
}

/// Counts what a network does not: what became of packets by channel, and marks of links in closed form, which the engine
/// counts when packets arrive.
pub struct Counter {
    /// For each channel, what became of its packets, and of those of the handshake.
    pub fates: Vec<[Fate; 2]>,
    /// The queue of each link in closed form, and how many packets it marked.
    plain: Vec<Option<(QueueSpec, u64)>>,
    /// Whether the engine runs a link in closed form although it has jitter.
    jitter_alone: Vec<bool>,
}

impl Counter {
    pub fn new(scenario: &Scenario) -> Counter {
        let links = scenario.network.links.iter();
        Counter {
            fates: vec![Default::default(); 2 * scenario.flows.len()],
            jitter_alone: links.clone().map(has_jitter_alone).collect(),
            plain: links.map(|link| link.is_plain().then_some((link.queue, 0))).collect(),
        }
    }

    pub fn set_queue(&mut self, link: LinkId, queue: &QueueSpec) {
        if let Some((spec, _)) = &mut self.plain[link] {
            *spec = *queue;
        }
    }

    /// Returns whether the engine lets a link have these effects from now on, as far as they depend on how it runs the link.
    pub fn may_have(&self, link: LinkId, effects: &Effects) -> bool {
        let jitter_alone = Effects { jitter: effects.jitter, ..Effects::default() };
        self.plain[link].is_none() && (!self.jitter_alone[link] || *effects == jitter_alone)
    }

    fn fate(&mut self, packet: &Packet) -> &mut Fate {
        let handshake = packet.flags & (SYN | ESTABLISHED) != 0;
        &mut self.fates[packet.channel as usize][usize::from(handshake)]
    }
}

impl Observer<Segment> for Counter {
    fn queued(&mut self, _: u64, link: LinkId, segment: &Segment, found: Found) {
        if let Some((spec, marked)) = &mut self.plain[link]
            && let Some(threshold) = spec.ecn_threshold
        {
            let transmitting = found.transmitting && spec.counting == Counting::WithTransmission;
            let counted = found.waiting + usize::from(transmitting);
            *marked += u64::from(segment.packet.is(ECT) && counted > threshold as usize);
        }
    }

    fn copied(&mut self, _: u64, _: LinkId, copy: &mut Segment) {
        self.fate(&copy.packet).copied += 1;
    }

    fn dropped(&mut self, _: u64, _: LinkId, segment: Segment) {
        self.fate(&segment.packet).dropped += 1;
    }

    fn lost(&mut self, _: u64, _: LinkId, segment: Segment) {
        self.fate(&segment.packet).lost += 1;
    }
}

impl Naive {
    /// What has happened so far.
    pub fn outcome(&mut self) -> Outcome {
        Outcome {
            begin: Time::ZERO,
            end: self.now(),
            flows: (0..self.scenario.flows.len()).map(|flow| self.flow_outcome(flow)).collect(),
            links: (0..self.scenario.network.links.len()).map(|link| self.link_outcome(link)).collect(),
            trace: None,
            emulation: None,
        }
    }

    /// A flow, looked at from outside.
    pub fn flow(&self, flow: usize) -> FlowState {
        let sender = self.sender(flow);
        FlowState {
            cwnd: sender.window().cwnd,
            ssthresh: sender.window().ssthresh,
            pacing_rate: sender.window().pacing_rate,
            srtt: sender.srtt().map(Time),
            in_flight: u64::from(sender.in_flight()),
            delivered_bytes: self.bytes(flow, sender.acknowledged()),
            state: match sender.state() {
                State::Open => SampleState::Open,
                State::Disorder => SampleState::Disorder,
                State::Cwr => SampleState::Cwr,
                State::Recovery => SampleState::Recovery,
                State::Loss => SampleState::Loss,
            },
            sent: (sender.counts.sent, sender.counts.retransmissions),
        }
    }

    /// Packets that wait at a link, without the one in transmission.
    pub fn queue_length(&self, link: LinkId) -> usize {
        self.driver.network().waiting(link)
    }

    /// Packets that are lost, and have not come to the end of their line.
    pub fn lost_on_lines(&self) -> usize {
        let packets = self.driver.network().packets();
        packets.filter(|(_, carried)| carried.place == Place::Line { lost: true }).count()
    }

    /// Packets of handshakes that were dropped or lost.
    pub fn handshakes_lost(&self) -> u64 {
        self.counter().fates.iter().map(|[_, handshake]| handshake.dropped + handshake.lost).sum()
    }

    fn counter(&self) -> &Counter {
        self.driver.network().observer()
    }

    fn sender(&self, flow: usize) -> &Sender {
        match &self.driver.hosts()[2 * flow].0 {
            Endpoint::Sender(sender) => sender,
            Endpoint::Receiver(_) => unreachable!("even ones are senders"),
        }
    }

    fn receiver(&self, flow: usize) -> &Receiver {
        match &self.driver.hosts()[2 * flow + 1].0 {
            Endpoint::Receiver(receiver) => receiver,
            Endpoint::Sender(_) => unreachable!("odd ones are receivers"),
        }
    }

    /// Payload of a flow's first `segments`, of which the first and the last may be short ones.
    fn bytes(&self, flow: usize, segments: u64) -> u64 {
        let stack = &self.scenario.stack;
        let all = self.scenario.flows[flow].bytes.unwrap_or(u64::MAX);
        let carried = |segment: u64| {
            let begin = segment * u64::from(stack.payload);
            let full = (begin + u64::from(stack.payload)).min(all).saturating_sub(begin);
            match stack.first_packet {
                Some(wire) if segment == 0 => full.min(u64::from(wire.saturating_sub(stack.data_overhead))),
                _ => full,
            }
        };
        (0..segments).map(carried).sum()
    }

    fn flow_outcome(&self, flow: usize) -> FlowOutcome {
        let (sender, receiver) = (self.sender(flow), self.receiver(flow));
        let Fate { dropped, lost, copied } = self.counter().fates[2 * flow][0];
        let data = |packet: &Packet| packet.is_data() && packet.flow() == flow;
        let packets = self.driver.network().packets();
        let in_flight = packets.filter(|(_, carried)| data(&carried.packet.packet)).count();
        let (rtt_samples, rtt_sum, rtt_extremes) = sender.rtt();
        let time = |clock: u64| Time(clock.saturating_sub(self.origin));
        FlowOutcome {
            start: self.scenario.start_of(flow),
            stop: sender.stopped.map(time),
            completed: sender.completed.map(time),
            packets_sent: sender.counts.sent,
            retransmissions: sender.counts.retransmissions,
            packets_received: receiver.counts.received,
            duplicates: receiver.counts.duplicates,
            wire_bytes_received: receiver.counts.wire_bytes,
            bytes_in_order: self.bytes(flow, receiver.in_order()),
            bytes_left: Vec::new(),
            packets_dropped: dropped,
            packets_lost: lost,
            packets_copied: copied,
            packets_in_flight: in_flight as u64,
            timeouts: sender.counts.timeouts,
            congestion_events: sender.counts.congestion_events,
            acks_received: sender.counts.acks,
            packets_marked: receiver.counts.marked,
            rtt_samples,
            rtt_sum_s: rtt_sum as f64 / 1e9,
            rtt_min: rtt_extremes.map(|(least, _)| Time(least)),
            rtt_max: rtt_extremes.map(|(_, greatest)| Time(greatest)),
            cwnd_integral: sender.cwnd_integral(self.driver.now()) / 1e9,
            cwnd: sender.window().cwnd,
            ssthresh: sender.window().ssthresh,
            messages: sender
                .messages()
                .iter()
                .map(|message| MessageOutcome {
                    bytes: message.bytes,
                    start: time(message.start),
                    end: message.end.map(time),
                })
                .collect(),
        }
    }

    fn link_outcome(&mut self, number: LinkId) -> LinkOutcome {
        let now = self.driver.now();
        let here = self.driver.network().packets().filter(|(link, _)| *link == Some(number)).count();
        let marked = self.counter().plain[number].map(|(_, marked)| marked);
        let counts = self.driver.network_mut().counts(number, now);
        LinkOutcome {
            name: self.scenario.network.links[number].name.clone(),
            arrived: counts.arrived,
            data_arrived: counts.data_arrived,
            dropped: counts.dropped,
            lost: counts.lost,
            marked: marked.unwrap_or(counts.marked),
            copied: counts.copied,
            delivered: counts.delivered,
            in_flight: here as u64,
            waiting_integral: counts.waiting_integral as f64 / 1e9,
            max_waiting: counts.max_waiting,
        }
    }
}

/// Returns whether a link would be plain without its jitter, which lets nothing overtake and is not one without consequences.
pub fn has_jitter_alone(link: &LinkSpec) -> bool {
    let Some(Jitter { shape, reorders: false }) = link.effects.jitter else { return false };
    let otherwise = LinkSpec { effects: Effects { jitter: None, ..link.effects }, ..link.clone() };
    let marks = link.queue.ecn_threshold.is_some();
    otherwise.is_plain() && !marks && !matches!(shape, JitterShape::Sometimes(0.0, _))
}
