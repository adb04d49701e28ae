//! A link: the state machines of `cwnd-link` one behind the other, and its counts.

use crate::Settings;
use cwnd_link::{Arrival, Counting, Line, LinkSpec, Policer, Purpose, Queue, Stream, Transmitter};
use std::collections::VecDeque;

/// What a link counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Packets that arrived.
    pub arrived: u64,
    /// Of these, the packets with data ([`Packet::is_data`](crate::Packet::is_data)).
    pub data_arrived: u64,
    /// Packets dropped by the policer and by the queue.
    pub dropped: u64,
    /// Packets lost on the line, counted at its end.
    pub lost: u64,
    /// Packets that got a congestion mark, counted when they leave the queue.
    pub marked: u64,
    /// Copies that the line made.
    pub copied: u64,
    /// Packets that reached the end of the line.
    pub delivered: u64,
    /// The number of waiting packets, integrated from [`Settings::origin`] on, packets x ns.
    pub waiting_integral: u128,
    /// The most packets that an arrival found, waiting or in transmission, and had to wait behind.
    pub max_waiting: u64,
    /// Wire bytes that left the transmitter.
    pub sent_bytes: u64,
    /// How often an arrival found the link idle.
    pub busy_periods: u64,
}

/// Packets are numbers in a slab.
#[derive(Clone, Debug)]
pub struct Link {
    pub queue: Queue<u32>,
    pub policer: Option<Policer>,
    pub transmitter: Transmitter,
    pub line: Line,
    /// As it is now.
    pub spec: LinkSpec,
    /// Whether it was made as a link that [decides at arrival](LinkSpec::is_plain).
    pub plain: bool,
    pub counts: LinkCounts,
    transmitting: Option<Transmission>,
    /// Wire bytes of the packet that has just left, until the transmitter takes the next one.
    leaving: Option<u32>,
    /// Packets on a line that keeps their order, with the times of their arrival, beyond those in the agenda: the earliest
    /// packet, and all that arrive at the same time.
    on_line: VecDeque<(u64, u32)>,
    /// How many packets of the line are in the agenda, and the time of their arrival.
    in_agenda: (u32, u64),
    integrated: u64,
}

/// A packet in transmission.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    pub packet: u32,
    pub bytes: u32,
    /// When the last bit leaves; `u64::MAX` if the transmitter stands still for good.
    pub ends: u64,
    /// The number of the event at its end; zero if there is none.
    pub event: u64,
}

/// The packets that an arrival found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// In the queue.
    pub waiting: usize,
    /// In transmission, including one that leaves at that time.
    pub transmitting: bool,
}

impl Link {
    pub fn new(spec: &LinkSpec, settings: &Settings, index: u64) -> Link {
        let Settings { seed, origin, full_packet, .. } = *settings;
        let stream = Stream::new(seed, Purpose::Queue, index);
        Link {
            queue: Queue::new(&spec.queue, spec.effects.ack_thinning, spec.rate, full_packet, stream),
            policer: spec.effects.policer.as_ref().map(Policer::new),
            transmitter: Transmitter::new(spec.rate, spec.schedule.as_ref(), origin),
            line: Line::new(spec, origin, seed, index),
            spec: spec.clone(),
            plain: spec.is_plain(),
            counts: LinkCounts::default(),
            transmitting: None,
            leaving: None,
            on_line: VecDeque::new(),
            in_agenda: (0, 0),
            integrated: origin,
        }
    }

    /// Returns whether packets can pass it in no time.
    pub fn is_instant(&self) -> bool {
        self.transmitter.least_time(1) == 0 && self.line.least_delay() == 0
    }

    /// Adds the time since the last call to the integral. To be called before the number of waiting packets changes.
    pub fn integrate(&mut self, now: u64) {
        let waiting = self.queue.waiting() as u128;
        self.counts.waiting_integral += waiting * u128::from(now.saturating_sub(self.integrated));
        self.integrated = self.integrated.max(now);
    }

    /// Offers an arriving packet to policer and queue. Dropped packets, this one or others, are added to `dropped`. Returns what
    /// it found if the policer let it pass.
    pub fn offer(&mut self, now: u64, packet: u32, about: Arrival, dropped: &mut Vec<u32>) -> Option<Found> {
        self.integrate(now);
        self.counts.arrived += 1;
        if self.policer.as_mut().is_some_and(|policer| !policer.admits(now, about.bytes)) {
            dropped.push(packet);
            return None;
        }
        let transmitting = self.transmitting.map(|transmission| transmission.bytes).or(self.leaving);
        let found = Found { waiting: self.queue.waiting(), transmitting: transmitting.is_some() };
        self.queue.enqueue(now, packet, about, transmitting, dropped);
        if self.queue.waiting() > found.waiting {
            let ahead = (found.waiting + usize::from(found.transmitting)) as u64;
            self.counts.max_waiting = self.counts.max_waiting.max(ahead);
        }
        self.counts.busy_periods += u64::from(!found.transmitting);
        Some(found)
    }

    /// Begins a transmission, or times it again.
    pub fn transmit(&mut self, transmission: Transmission) {
        self.transmitting = Some(transmission);
    }

    pub fn transmission(&self) -> Option<Transmission> {
        self.transmitting
    }

    /// Ends the transmission that this event is the end of, if it has not been timed again.
    pub fn end_transmission(&mut self, event: u64) -> Option<Transmission> {
        self.transmitting.take_if(|transmission| transmission.event == event)
    }

    /// Returns whether the transmitter takes the next packet only after all arrivals at the time at which one leaves, so that
    /// limits that count the packet in transmission still count that one. Where transmission takes no time, it is gone.
    pub fn takes_next_last(&self) -> bool {
        self.spec.queue.counting == Counting::WithTransmission
            && !(self.plain && self.transmitter.least_time(1) == 0)
    }

    /// Keeps the size of a packet that leaves, until the transmitter takes the next one.
    pub fn set_leaving(&mut self, bytes: Option<u32>) {
        self.leaving = bytes;
    }

    /// Puts a packet on the line. Returns whether its arrival is to be added to the agenda now.
    pub fn put_on_line(&mut self, at: u64, packet: u32) -> bool {
        if self.line.reorders() {
            return true;
        }
        let (count, time) = self.in_agenda;
        if count > 0 && (at > time || !self.on_line.is_empty()) {
            self.on_line.push_back((at, packet));
            return false;
        }
        self.in_agenda = (count + 1, at);
        true
    }

    /// Notes that the arrival of one of its packets is no longer in the agenda. Returns whether the next ones are to be added:
    /// those that [`Link::next_on_line`] returns.
    pub fn take_from_agenda(&mut self) -> bool {
        if self.line.reorders() {
            return false;
        }
        self.in_agenda.0 -= 1;
        self.in_agenda.0 == 0
    }

    /// Takes the next packet whose arrival is to be added to the agenda.
    pub fn next_on_line(&mut self) -> Option<(u64, u32)> {
        let (count, time) = self.in_agenda;
        let (at, packet) = *self.on_line.front().filter(|(at, _)| count == 0 || *at == time)?;
        self.in_agenda = (count + 1, at);
        self.on_line.pop_front();
        Some((at, packet))
    }
}
