//! From a simulation's state to its outcome.

use crate::host::Endpoint;
use crate::link::Link;
use crate::net::PacketCounts;
use crate::simulation::Simulation;
use cwnd_scenario::{FlowOutcome, FlowSpec, LinkId, LinkOutcome, MessageOutcome, Outcome, Time};
use cwnd_tcp::Receiver;
use cwnd_tcp::packet::{LOST, Packet};
use std::cmp::Reverse;

/// What a link has done so far, packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkTotals {
    /// Data packets that arrived at its queue.
    pub data_arrived: u64,
    /// Packets that its queue dropped.
    pub dropped: u64,
    /// Packets that its line lost.
    pub lost: u64,
    /// Packets that it marked.
    pub marked: u64,
}

impl Simulation<'_> {
    /// Returns what a link has done so far. Unlike [`Simulation::outcome`] it does not look at the packets under way.
    ///
    /// ```
    /// # use cwnd_experiment::{ExperimentSpec, FlowGroup};
    /// # use cwnd_scenario::{AlgorithmSpec, Rate, Time};
    /// # let cubic = AlgorithmSpec { name: "cubic".into(), ..AlgorithmSpec::default() };
    /// # let setup = ExperimentSpec { rate: Rate(10_000_000), buffer: "5".parse().expect("a buffer"), ..ExperimentSpec::default() };
    /// # let scenario = setup.scenario(&[FlowGroup::new(cubic, 1)], 1).expect("a network that can be built");
    /// let mut simulation = cwnd_sim::Simulation::new(&scenario)?;
    /// simulation.run_until(Time::from_secs(10));
    /// let link = scenario.network.bottleneck;
    /// let totals = simulation.link_totals(link);
    /// assert!(totals.dropped > 0);
    /// assert_eq!(totals.dropped, simulation.outcome().links[link].dropped);
    /// assert_eq!(totals.data_arrived, simulation.outcome().links[link].data_arrived);
    /// # Ok::<(), cwnd_scenario::EngineError>(())
    /// ```
    pub fn link_totals(&self, link: LinkId) -> LinkTotals {
        let counts = self.link(link).counts();
        let lost = self.lost_on(link);
        LinkTotals { data_arrived: counts.data_arrived, dropped: counts.dropped, lost, marked: counts.marked }
    }

    /// What has happened so far: counts up to the time that the run has come to. After a live change of a link's delay
    /// [`FlowOutcome::bytes_left`] may be off by what is on its line.
    pub fn outcome(&self) -> Outcome {
        self.outcome_with(self.bytes_left(false))
    }

    /// The same, as what [`Outcome::since`] takes off.
    pub(crate) fn outcome_before(&self) -> Outcome {
        self.outcome_with(self.bytes_left(true))
    }

    fn outcome_with(&self, bytes_left: Vec<Vec<u64>>) -> Outcome {
        let (counts, lost) = self.counts();
        let mut data_in_flight = vec![0u64; self.scenario.flows.len()];
        let mut on_link = vec![0u64; self.scenario.network.links.len()];
        for (ring, line) in self.stages.net.rings.iter().zip(&self.stages.net.line_of) {
            for packet in ring.iter() {
                data_in_flight[packet.flow()] += u64::from(packet.is_data());
            }
            if let Some(link) = line {
                on_link[*link as usize] += ring.len() as u64;
            }
        }
        for (link, on_link) in self.stages.net.links.iter().zip(&mut on_link) {
            for packet in link.queued().into_iter().flat_map(|link| link.packets()) {
                data_in_flight[packet.flow()] += u64::from(packet.is_data());
                *on_link += 1;
            }
        }
        Outcome {
            begin: Time::ZERO,
            end: self.now(),
            flows: (bytes_left.into_iter().enumerate())
                .map(|(i, left)| FlowOutcome {
                    bytes_left: left,
                    packets_in_flight: data_in_flight[i],
                    ..self.flow_outcome(i, counts[2 * i])
                })
                .collect(),
            links: (0..on_link.len()).map(|i| self.link_outcome(i, on_link[i], lost[i])).collect(),
            trace: None,
            emulation: None,
        }
    }

    /// Returns each flow's [`FlowOutcome::bytes_left`] up to now. With `begun`, packets in
    /// transmission count too.
    fn bytes_left(&self, begun: bool) -> Vec<Vec<u64>> {
        // Flow, segment, how many links of its route it has left, wire bytes.
        let mut under_way: Vec<(usize, u32, usize, u64)> = Vec::new();
        let mut note = |line: usize, packet: &Packet, has_left: bool| {
            let flow = packet.flow();
            if packet.is_data() && !packet.is(LOST) && self.receiver(flow).is_new(packet.seq) {
                let hop = self.scenario.flows[flow].route.iter().position(|link| *link == line);
                let crossed = hop.map_or(0, |hop| hop + usize::from(has_left));
                under_way.push((flow, packet.seq, crossed, packet.size.into()));
            }
        };
        // A link in closed form puts a packet on its line when it arrives at the queue.
        let rings = &self.stages.net.rings;
        let mut not_left = vec![0; rings.len()];
        for link in self.stages.net.links.iter() {
            let Link::ClosedForm(link) = link else { continue };
            for (ring, packets) in link.not_sent(self.clock(), begun, rings.len()) {
                not_left[ring as usize] = packets.max(not_left[ring as usize]);
            }
        }
        for ((ring, line), not_left) in rings.iter().zip(&self.stages.net.line_of).zip(not_left) {
            let Some(line) = line.map(|line| line as usize) else { continue };
            for (later, packet) in ring.iter().enumerate() {
                note(line, &packet, later + not_left < ring.len());
            }
        }
        for (line, link) in self.stages.net.links.iter().enumerate() {
            let Some(link) = link.queued() else { continue };
            link.waiting_packets().for_each(|packet| note(line, &packet, false));
            link.packet_in_transmission().for_each(|packet| note(line, &packet, begun));
            link.packets_on_line().for_each(|packet| note(line, &packet, true));
        }
        // Of a segment that is under way several times the foremost counts.
        under_way.sort_unstable_by_key(|(flow, segment, crossed, _)| (*flow, *segment, Reverse(*crossed)));
        under_way.dedup_by_key(|(flow, segment, ..)| (*flow, *segment));
        let received =
            |(flow, spec): (usize, &FlowSpec)| vec![self.receiver(flow).counts.wire_bytes; spec.route.len()];
        let mut left: Vec<Vec<u64>> = self.scenario.flows.iter().enumerate().map(received).collect();
        for (flow, _, crossed, bytes) in under_way {
            left[flow][..crossed].iter_mut().for_each(|left| *left += bytes);
        }
        left
    }

    pub(crate) fn receiver(&self, flow: usize) -> &Receiver {
        let (host, endpoint) = self.stages.places[flow][1];
        match &self.stages.hosts[host].endpoints[endpoint] {
            Endpoint::Receiver(receiver) => receiver,
            Endpoint::Sender(_) => unreachable!("the second place is the receiver's"),
        }
    }

    fn flow_outcome(&self, flow: usize, counts: PacketCounts) -> FlowOutcome {
        let (sender, receiver) = (self.sender(flow), self.receiver(flow));
        let (rtt_samples, rtt_sum, rtt_extremes) = sender.rtt();
        let since_origin = |t: u64| Time(t.saturating_sub(self.origin));
        FlowOutcome {
            start: self.scenario.start_of(flow),
            stop: sender.stopped.map(since_origin),
            completed: sender.completed.map(since_origin),
            packets_sent: sender.counts.sent,
            retransmissions: sender.counts.retransmissions,
            packets_received: receiver.counts.received,
            duplicates: receiver.counts.duplicates,
            wire_bytes_received: receiver.counts.wire_bytes,
            bytes_in_order: self.scenario.payload_of(flow, receiver.in_order()),
            bytes_left: Vec::new(),
            packets_dropped: counts.dropped,
            packets_lost: counts.lost,
            packets_copied: counts.copies,
            packets_in_flight: 0,
            timeouts: sender.counts.timeouts,
            congestion_events: sender.counts.congestion_events,
            acks_received: sender.counts.acks,
            packets_marked: receiver.counts.marked,
            rtt_samples,
            rtt_sum_s: rtt_sum as f64 / 1e9,
            rtt_min: rtt_extremes.map(|(min, _)| Time(min)),
            rtt_max: rtt_extremes.map(|(_, max)| Time(max)),
            cwnd_integral: sender.cwnd_integral(self.clock()) / 1e9,
            cwnd: sender.window().cwnd,
            ssthresh: sender.window().ssthresh,
            messages: sender
                .messages()
                .iter()
                .map(|message| MessageOutcome {
                    bytes: message.bytes,
                    start: since_origin(message.start),
                    end: message.end.map(since_origin),
                })
                .collect(),
        }
    }

    fn link_outcome(&self, link: usize, in_flight: u64, lost: u64) -> LinkOutcome {
        let state = self.link(link);
        let counts = state.counts();
        LinkOutcome {
            name: self.scenario.network.links[link].name.clone(),
            arrived: counts.arrived,
            data_arrived: counts.data_arrived,
            dropped: counts.dropped,
            lost,
            marked: counts.marked,
            copied: counts.copied,
            delivered: counts.arrived + counts.copied - counts.dropped - lost - in_flight,
            in_flight,
            waiting_integral: (state.waited(self.clock()) - self.waited_before_zero(link)) as f64 / 1e9,
            max_waiting: counts.max_waiting,
        }
    }
}
