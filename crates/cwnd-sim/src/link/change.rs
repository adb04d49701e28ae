//! Live changes: what has been computed beyond the time of a change is computed anew.

use super::{Link, Losses, NOWHERE, Next, Packed};
use crate::fault::{self, Fault};
use crate::ring::Ring;
use cwnd_link::{Limits, SerialTime, Stream};
use cwnd_scenario::{Loss, QueueSpec, Rate, Time};
use cwnd_tcp::packet::LOST;

/// What may change at a link while it runs.
#[derive(Clone, Debug)]
pub enum Change {
    /// The rate.
    Rate(Rate),
    /// The propagation delay, nanoseconds.
    Delay(u64),
    /// What is lost, and the stream to draw from where nothing was lost before.
    Loss(Loss, Stream),
}

impl Link {
    /// Change the queue's limit, counting and threshold for those who arrive from now on.
    pub fn set_queue(&mut self, t: u64, queue: &QueueSpec) {
        self.limits = Limits::new(queue);
        self.set_alert();
        self.settle_first();
        let mask = self.departures.len() - 1;
        self.left = self.count - self.in_system(t);
        self.bytes_in_system =
            (self.left..self.count).map(|i| u64::from(self.departures[i & mask].what.size())).sum();
    }

    /// Change what is not yet decided at `t`, when everything before `t` has been done and nothing at `t`
    /// or later: a rate applies to the bits that remain of the packet in transmission and to all behind
    /// it, a delay to what departs from `t` on, a loss probability to what crosses the line from `t` on.
    pub fn change(&mut self, t: u64, change: Change, rings: &mut [Ring]) {
        if let Some(online) = &mut self.online {
            match change {
                Change::Rate(rate) => online.set_rate(t, rate),
                Change::Delay(delay) => online.set_delay(t, Time(delay)),
                Change::Loss(loss, _) => return online.set_loss(&loss),
            }
            let mut outs = match &self.next {
                Next::One(ring) => vec![*ring],
                Next::ByChannel(rings) => rings.to_vec(),
            };
            outs.sort_unstable();
            outs.dedup();
            outs.retain(|&ring| ring != NOWHERE);
            return online.take_back(rings, &outs);
        }
        self.settle_first();
        let mask = self.departures.len() - 1;
        let n = self.in_system(t);
        let first = self.count - n;
        let last_left = match n {
            0 => self.free_at,
            _ if first > 0 => self.departures[(first - 1) & mask].at,
            _ => self.previous,
        };
        // Who left before the delay last changed is in `not_before` already.
        if last_left > 0 && last_left >= self.delay_since && !fault::is(Fault::Overtaking) {
            self.not_before = self.not_before.max(last_left + self.delay);
        }

        let places = self.places(first, rings);
        let old_serial = self.serial;
        match change {
            Change::Rate(rate) => {
                self.serial = SerialTime::new(rate);
                self.set_alert();
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
                start + self.serial.of(old.what.size())
            };
            if i + 1 < n {
                self.waited = self.waited + u128::from(departure) - u128::from(old.at);
            }
            self.departures[slot].at = departure;
            let at = (departure + self.delay).max(self.not_before);
            rings[ring as usize].change_from_last(depth, |packet| packet.at = at);
            start = departure;
        }
        if n > 0 {
            self.free_at = start;
        }
    }

    /// Put down the first departure, if it has not been needed yet, so that all that may be in the system
    /// are in `departures`.
    fn settle_first(&mut self) {
        if self.count == 0 && self.first != Packed::NOTHING {
            self.remember_first();
        }
    }

    /// Where the packets of the departures from `first` on are: ring, and place counted from its end.
    fn places(&self, first: usize, rings: &[Ring]) -> Vec<(u32, usize)> {
        let mask = self.departures.len() - 1;
        let mut later = vec![0usize; rings.len()];
        let mut places: Vec<(u32, usize)> = (first..self.count)
            .rev()
            .map(|i| {
                let ring = self.departures[i & mask].what.ring();
                later[ring as usize] += 1;
                (ring, later[ring as usize] - 1)
            })
            .collect();
        places.reverse();
        places
    }

    /// Take back the losses drawn for packets that have not crossed the line yet, and draw again.
    fn redraw(&mut self, places: &[(u32, usize)], rings: &mut [Ring], loss: &Loss, stream: Stream) {
        let losses = match &mut self.loss {
            Some(losses) => {
                losses.take_back(places.len());
                losses
            }
            none => {
                let mut losses = Losses::new(&Loss::None, stream);
                losses.skip(self.arrived - self.dropped - places.len() as u64);
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

    /// Take on a rate or delay, for [`Link::least_latency`] alone.
    pub fn set_line(&mut self, t: u64, change: &Change) {
        match (&mut self.online, change) {
            (Some(online), Change::Rate(rate)) => online.set_rate(t, *rate),
            (Some(online), Change::Delay(delay)) => online.set_delay(t, Time(*delay)),
            (None, Change::Rate(rate)) => self.serial = SerialTime::new(*rate),
            (None, Change::Delay(delay)) => self.delay = *delay,
            (_, Change::Loss(..)) => {}
        }
    }
}
