//! Live changes of a link in closed form: computes again what lies beyond the time of a change.

use super::{ClosedForm, PacketInRing};
use crate::fault::{self, Fault};
use crate::link::Losses;
use crate::ring::Ring;
use cwnd_link::{Limits, SerialTime, Stream};
use cwnd_scenario::{Loss, QueueSpec, Rate};
use cwnd_tcp::packet::LOST;

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
        self.store_unstored_first();
        let mask = self.departures.len() - 1;
        let n = self.in_system(t);
        let first = self.count - n;
        let last_left = match n {
            0 => self.free_at,
            _ if first > 0 => self.departures[(first - 1) & mask].at,
            _ => self.previous,
        };
        // `not_before` covers departures before the last change of the delay.
        if last_left > 0 && last_left >= self.delay_since && !fault::is(Fault::Overtaking) {
            self.not_before = self.not_before.max(last_left + self.delay);
        }

        let places = self.places(first, rings);
        let old_serial = self.serial;
        match change {
            Change::Rate(rate) => {
                self.serial = SerialTime::new(rate);
                self.set_threshold();
                self.set_usual_sizes(self.usual.map(|(size, _)| size));
            }
            Change::Delay(delay) => (self.delay, self.delay_since) = (delay, t),
            Change::Loss(..) if fault::is(Fault::OldLosses) && self.loss.is_some() => {}
            Change::Loss(loss, stream) => self.redraw(&places, rings, &loss, stream),
        }

        let mut start = t;
        for (i, &(ring, depth)) in places.iter().enumerate() {
            let slot = (first + i) & mask;
            let old = self.departures[slot];
            let departure = if i == 0 && fault::is(Fault::OldRateInTransmission) {
                old.at
            } else if i == 0 {
                t + self.serial.convert(old.at - t, old_serial)
            } else {
                start + self.serial.of(old.packet.size())
            };
            if i + 1 < n {
                self.waited = self.waited + u128::from(departure) - u128::from(old.at);
            }
            self.departures[slot].at = departure;
            let at = self.end_of_line(departure);
            rings[ring as usize].change_from_last(depth, |packet| packet.at = at);
            start = departure;
        }
        if n > 0 {
            self.free_at = start;
        }
    }

    /// Stores the first departure if that has not been necessary yet, so that `departures` has all packets in the
    /// system.
    fn store_unstored_first(&mut self) {
        if self.count == 0 && self.first != PacketInRing::NONE {
            self.store_first();
        }
    }

    /// Returns where the packets of the departures from `first` on are: the ring, and the place counted from its end.
    fn places(&self, first: usize, rings: &[Ring]) -> Vec<(u32, usize)> {
        let mask = self.departures.len() - 1;
        let mut later = vec![0usize; rings.len()];
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

    /// Takes back the losses drawn for packets that have not crossed the line yet, and draws again.
    fn redraw(&mut self, places: &[(u32, usize)], rings: &mut [Ring], loss: &Loss, stream: Stream) {
        let losses = match &mut self.loss {
            Some(losses) => {
                losses.take_back(places.len());
                losses
            }
            none => {
                let mut losses = Losses::new(&Loss::None, stream);
                losses.skip(self.arrivals.packets - self.dropped - places.len() as u64);
                none.insert(Box::new(losses))
            }
        };
        losses.set(loss);
        let most = self.departures.len();
        for &(ring, depth) in places {
            let lost = losses.next_is_lost(most);
            rings[ring as usize].change_from_last(depth, |packet| {
                packet.flags = if lost { packet.flags | LOST } else { packet.flags & !LOST };
            });
        }
    }

    /// Sets a rate or delay for [`ClosedForm::least_latency`] only.
    pub fn try_line(&mut self, change: &Change) {
        match change {
            Change::Rate(rate) => self.serial = SerialTime::new(*rate),
            Change::Delay(delay) => self.delay = *delay,
            Change::Loss(..) => {}
        }
    }
}
