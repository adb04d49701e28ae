//! From a run's state to its outcome and its samples.

use crate::host::end::{Counts, Progress};
use crate::host::meter::Measured;
use crate::host::packet::Kind;
use crate::host::run::{FlowEnd, Missing, Run};
use cwnd_cc::State;
use cwnd_scenario::{FlowOutcome, LinkId, LinkOutcome, MessageOutcome, Outcome, Sample, SampleState, Time};
use cwnd_sim::host::Endpoint;
use cwnd_tcp::{Receiver, Sender};

impl Run<'_> {
    /// Returns what has happened so far.
    pub fn outcome(&mut self) -> Outcome {
        let mut in_flight = vec![0; 2 * self.scenario.flows.len()];
        let mut on_link = vec![0; self.scenario.network.links.len()];
        for (link, carried) in self.driver.network().packets() {
            in_flight[carried.packet.channel()] += u64::from(carried.packet.kind() == Kind::Data);
            if let Some(link) = link {
                on_link[link] += 1;
            }
        }
        Outcome {
            begin: Time::ZERO,
            end: self.time(self.driver.now()),
            flows: (0..self.scenario.flows.len()).map(|flow| self.flow(flow, in_flight[2 * flow])).collect(),
            links: (0..on_link.len()).map(|link| self.link(link, on_link[link])).collect(),
            trace: None,
            emulation: None,
        }
    }

    /// Returns a sample of a flow.
    pub fn sample(&mut self, flow: usize, time_index: usize) -> Sample {
        if let Some(sender) = self.tcp_sender(flow) {
            let window = sender.window();
            return Sample {
                time_index,
                flow,
                cwnd: window.cwnd,
                ssthresh: window.ssthresh,
                rtt: sender.srtt().map(Time),
                delivered_bytes: self.scenario.payload_of(flow, sender.acknowledged()),
                in_flight: sender.in_flight().into(),
                sent: Some((sender.counts.sent, sender.counts.retransmissions)),
                state: match sender.state() {
                    State::Open => SampleState::Open,
                    State::Disorder => SampleState::Disorder,
                    State::Cwr => SampleState::Cwr,
                    State::Recovery => SampleState::Recovery,
                    State::Loss => SampleState::Loss,
                },
            };
        }
        let measured = self.measured(flow);
        let segment = f64::from(self.segment[flow]);
        let (counts, progress, _) = self.quic(2 * flow);
        let (_, at_receiver, _) = self.quic(2 * flow + 1);
        Sample {
            time_index,
            flow,
            cwnd: measured.window as f64 / segment,
            ssthresh: measured.ssthresh.map_or(f64::INFINITY, |ssthresh| threshold(ssthresh, segment)),
            rtt: measured.srtt.map(Time),
            delivered_bytes: at_receiver.received,
            in_flight: measured.in_flight.div_ceil(u64::from(self.segment[flow])),
            sent: Some((counts.sent, progress.lost_packets)),
            state: SampleState::Open,
        }
    }

    /// Returns the packets that wait at a link, without the one in transmission.
    pub fn queue_length(&self, link: LinkId) -> u32 {
        self.driver.network().waiting(link) as u32
    }

    /// Returns the sender of a TCP flow.
    pub fn tcp_sender(&self, flow: usize) -> Option<&Sender> {
        match &self.driver.hosts()[2 * flow] {
            FlowEnd::Tcp(Endpoint::Sender(sender)) => Some(sender),
            _ => None,
        }
    }

    fn tcp_receiver(&self, flow: usize) -> Option<&Receiver> {
        match &self.driver.hosts()[2 * flow + 1] {
            FlowEnd::Tcp(Endpoint::Receiver(receiver)) => Some(receiver),
            _ => None,
        }
    }

    /// Returns counts and progress of an end of a QUIC flow, and the data packets that it has not sent yet.
    fn quic(&mut self, channel: usize) -> (Counts, Progress, u64) {
        self.driver.with_host(channel, |host, _| match host {
            FlowEnd::Quic(end) => (end.counts(), end.progress(), end.waiting()),
            FlowEnd::Tcp(_) => unreachable!("only QUIC flows are asked"),
        })
    }

    fn measured(&self, flow: usize) -> Measured {
        let meter = self.meters[flow].as_ref().expect("QUIC flows have meters");
        meter.read(self.driver.now())
    }

    fn flow(&mut self, flow: usize, in_flight: u64) -> FlowOutcome {
        let Missing { dropped, lost, copied } = self.driver.network().observer().0[2 * flow];
        let common = FlowOutcome {
            start: self.scenario.start_of(flow),
            packets_dropped: dropped,
            packets_lost: lost,
            packets_copied: copied,
            packets_in_flight: in_flight,
            ..FlowOutcome::default()
        };
        match (self.tcp_sender(flow), self.tcp_receiver(flow)) {
            (Some(sender), Some(receiver)) => self.tcp_flow(flow, common, sender, receiver),
            _ => self.quic_flow(flow, common),
        }
    }

    fn tcp_flow(
        &self,
        flow: usize,
        common: FlowOutcome,
        sender: &Sender,
        receiver: &Receiver,
    ) -> FlowOutcome {
        let (rtt_samples, rtt_sum, rtt_extremes) = sender.rtt();
        FlowOutcome {
            stop: sender.stopped.map(|at| self.time(at)),
            completed: sender.completed.map(|at| self.time(at)),
            packets_sent: sender.counts.sent,
            retransmissions: sender.counts.retransmissions,
            packets_received: receiver.counts.received,
            duplicates: receiver.counts.duplicates,
            wire_bytes_received: receiver.counts.wire_bytes,
            bytes_in_order: self.scenario.payload_of(flow, receiver.in_order()),
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
            messages: (sender.messages().iter())
                .map(|message| MessageOutcome {
                    bytes: message.bytes,
                    start: self.time(message.start),
                    end: message.end.map(|at| self.time(at)),
                })
                .collect(),
            ..common
        }
    }

    fn quic_flow(&mut self, flow: usize, common: FlowOutcome) -> FlowOutcome {
        let (sent, progress, waiting) = self.quic(2 * flow);
        let (received, at_receiver, _) = self.quic(2 * flow + 1);
        let stopped = self.driver.with_host(2 * flow, |host, _| match host {
            FlowEnd::Quic(end) => end.stopped(),
            FlowEnd::Tcp(_) => None,
        });
        let measured = self.measured(flow);
        let segment = f64::from(self.segment[flow]);
        FlowOutcome {
            stop: stopped.map(|at| self.time(at)),
            completed: progress.completed.map(|at| self.time(at)),
            packets_sent: sent.sent,
            retransmissions: progress.lost_packets,
            packets_received: received.received,
            duplicates: received.repeated,
            wire_bytes_received: received.wire_bytes,
            bytes_in_order: at_receiver.received,
            packets_in_flight: common.packets_in_flight + waiting,
            timeouts: measured.persistent,
            congestion_events: measured.episodes,
            acks_received: sent.received,
            packets_marked: received.marked,
            rtt_samples: measured.rtt.0,
            rtt_sum_s: measured.rtt.1 as f64 / 1e9,
            rtt_min: measured.rtt_extremes.map(|(least, _)| Time(least)),
            rtt_max: measured.rtt_extremes.map(|(_, greatest)| Time(greatest)),
            cwnd_integral: measured.integral as f64 / segment / 1e9,
            cwnd: measured.window as f64 / segment,
            ssthresh: measured.ssthresh.map_or(f64::INFINITY, |ssthresh| threshold(ssthresh, segment)),
            ..common
        }
    }

    fn link(&mut self, number: LinkId, in_flight: u64) -> LinkOutcome {
        let now = self.driver.now();
        let counts = self.driver.network_mut().counts(number, now);
        LinkOutcome {
            name: self.scenario.network.links[number].name.clone(),
            arrived: counts.arrived,
            data_arrived: counts.data_arrived,
            dropped: counts.dropped,
            lost: counts.lost,
            marked: counts.marked,
            copied: counts.copied,
            delivered: counts.delivered,
            in_flight,
            waiting_integral: counts.waiting_integral as f64 / 1e9,
            max_waiting: counts.max_waiting,
        }
    }

    /// Returns a time of the clock as one of the scenario.
    fn time(&self, clock: u64) -> Time {
        Time(clock.saturating_sub(self.origin))
    }
}

/// Returns a threshold in segments. The implementations have a huge one where none is set.
fn threshold(bytes: u64, segment: f64) -> f64 {
    if bytes >= u64::MAX / 2 { f64::INFINITY } else { bytes as f64 / segment }
}
