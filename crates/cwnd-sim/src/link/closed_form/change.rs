//! Live changes of a link in closed form: computes again what lies beyond the time of a change.

use super::steps::Line;
use super::{ClosedForm, Departure, PacketInRing};
use crate::fault::{self, Fault};
use crate::ring::Ring;
use cwnd_link::{Limits, SerialTime, Stream};
use cwnd_scenario::{Loss, QueueSpec, Rate};

/// A live change of a link.
#[derive(Clone, Debug)]
pub enum Change {
    /// The rate.
    Rate(Rate),
    /// The propagation delay, nanoseconds.
    Delay(u64),
    /// The loss model, and the stream to draw from if nothing was lost before.
    Loss(Loss, Stream),
}

impl ClosedForm {
    /// Changes the queue's limit, counting and marking threshold for packets that arrive from now on.
    pub fn set_queue(&mut self, t: u64, queue: &QueueSpec) {
        self.limits = Limits::new(queue);
        self.set_threshold();
        self.store_unstored_first();
        let mask = self.departures.len() - 1;
        self.left = self.count - self.in_system(t);
        self.bytes_in_system =
            (self.left..self.count).map(|i| u64::from(self.departures[i & mask].packet.size())).sum();
    }

    /// Applies a change at `t`, when everything before `t` has been done and nothing at `t` or later. A rate applies to
    /// the remaining bits of the packet in transmission and to all packets behind it, a delay to what departs from `t`
    /// on, a loss model to what crosses the line from `t` on.
    pub fn change(&mut self, t: u64, change: Change, rings: &mut [Ring]) {
        if let Change::Loss(loss, stream) = change {
            return self.set_loss(t, &loss, stream, rings);
        }
        let old = self.serial;
        let line = self.line_after(&change);
        let mut in_transmission = None;
        self.set_line(t, line, rings, |departure, _| {
            *in_transmission.insert(t + line.0.convert(departure - t, old))
        });
        if let Some(steps) = &mut self.steps {
            steps.set_own(&change, line);
            in_transmission.into_iter().for_each(|departure| steps.forget_split(departure));
        }
    }

    /// Returns the serialisation times and the propagation delay after a change.
    fn line_after(&self, change: &Change) -> Line {
        match change {
            Change::Rate(rate) => (SerialTime::new(*rate), self.delay),
            Change::Delay(delay) => (self.serial, *delay),
            Change::Loss(..) => (self.serial, self.delay),
        }
    }

    /// Sets serialisation times and propagation delay from `t` on. `in_transmission` gets when the packet in transmission
    /// would leave, and its size, and returns when it leaves.
    pub(super) fn set_line(
        &mut self,
        t: u64,
        (serial, delay): Line,
        rings: &mut [Ring],
        mut in_transmission: impl FnMut(u64, u32) -> u64,
    ) {
        self.store_unstored_first();
        let mask = self.departures.len() - 1;
        let n = self.in_system(t);
        let first = self.count - n;
        // `not_before` covers departures before the last change of the delay.
        let last_left = self.last_departure_before(first);
        let delays_only = !self.has_jitter();
        if delays_only && last_left > 0 && last_left >= self.delay_since && !fault::is(Fault::Overtaking) {
            self.not_before = self.not_before.max(last_left + self.delay);
        }
        if delay != self.delay {
            (self.delay, self.delay_since) = (delay, t);
        }
        if serial != self.serial {
            self.serial = serial;
            self.set_threshold();
            self.set_usual_sizes(self.usual.map(|(size, _)| size));
        }

        let places = self.places(first, rings.len());
        let mut start = t;
        for i in 0..n {
            let slot = (first + i) & mask;
            let Departure { at: old, packet } = self.departures[slot];
            let departure = if i == 0 && fault::is(Fault::OldRateInTransmission) {
                old
            } else if i == 0 {
                in_transmission(old, packet.size())
            } else {
                start + self.serial.of(packet.size())
            };
            if i + 1 < n {
                self.waited = self.waited + u128::from(departure) - u128::from(old);
            }
            self.departures[slot].at = departure;
            start = departure;
        }
        self.take_back_jitter(n);
        self.cross_again(first, &places, rings);
        if n > 0 {
            self.free_at = start;
        }
    }

    /// Returns how many packets in each of `rings` rings have not left the transmitter by `t`: the last of each ring. With `begun`,
    /// those whose transmission has begun count as if they had left. A packet that leaves at `t` has left, and one that begins then has
    /// not begun; with steps or jitter nothing of `t` has happened, as in a link that keeps its queue.
    pub fn not_sent(&self, t: u64, begun: bool, rings: usize) -> Vec<(u32, usize)> {
        let of_t = u64::from(self.steps.is_none() && !self.has_jitter());
        if self.count == 0 {
            // There is at most the packet that ended the last idle time, which is not stored.
            let is_here = self.first != PacketInRing::NONE && self.free_at >= t + of_t;
            let counts = is_here && !(begun && self.previous < t);
            return counts.then_some((self.first.ring(), 1)).into_iter().collect();
        }
        let mut first = self.count - self.in_system(t + of_t);
        // One that waited until the one before it had left began then; any other began when it arrived, before `t`.
        if begun && first < self.count && self.last_departure_before(first) < t {
            first += 1;
        }
        self.places(first, rings).into_iter().map(|(ring, depth)| (ring, depth + 1)).collect()
    }

    /// Returns when the packet left that precedes the one with this number in `departures`.
    fn last_departure_before(&self, index: usize) -> u64 {
        match index.checked_sub(1) {
            _ if self.count == 0 => self.free_at,
            Some(before) => self.departures[before & (self.departures.len() - 1)].at,
            None => self.previous,
        }
    }

    /// Stores the first departure if that has not been necessary yet, so that `departures` has all packets in the
    /// system.
    pub(super) fn store_unstored_first(&mut self) {
        if self.count == 0 && self.first != PacketInRing::NONE {
            self.store_first();
        }
    }

    /// Returns where the packets of the departures from `first` on are: the ring, and the place counted from its end.
    pub(super) fn places(&self, first: usize, rings: usize) -> Vec<(u32, usize)> {
        if let Some(ring) = self.next.only() {
            return (first..self.count).rev().map(|later| (ring, later - first)).collect();
        }
        if first == self.count {
            return Vec::new();
        }
        let mask = self.departures.len() - 1;
        let mut later = vec![0usize; rings];
        let mut places: Vec<(u32, usize)> = (first..self.count)
            .rev()
            .map(|i| {
                let ring = self.departures[i & mask].packet.ring();
                later[ring as usize] += 1;
                (ring, later[ring as usize] - 1)
            })
            .collect();
        places.reverse();
        places
    }

    /// Sets a rate or delay for [`ClosedForm::least_latency`] only.
    pub fn try_line(&mut self, change: &Change) {
        let line = self.line_after(change);
        (self.serial, self.delay) = line;
        if let Some(steps) = &mut self.steps {
            steps.set_own(change, line);
        }
    }
}
