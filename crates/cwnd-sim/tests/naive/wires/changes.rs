//! Links that change during a run.

use super::{Event, Wires};
use cwnd_link::{Policer, SerialTime};
use cwnd_scenario::{Discipline, Effects, LinkId, Loss, QueueSpec, Rate, Time};
use std::cmp::Reverse;

impl Wires {
    pub fn set_rate(&mut self, now: u64, number: LinkId, rate: Rate) -> bool {
        if self.links[number].kept.is_some() {
            return self.set_rate_of_kept(now, number, rate);
        }
        let old = self.links[number].serial;
        self.links[number].serial = SerialTime::new(rate);
        if !self.find_places_anew() {
            self.links[number].serial = old;
            return false;
        }
        let link = &mut self.links[number];
        if let Some((id, ends)) = link.transmitting {
            let ends = now + link.serial.convert(ends - now, old);
            link.transmission += 1;
            link.transmitting = Some((id, ends));
            let event = Event::TransmissionEnds { link: number, transmission: link.transmission };
            self.schedule(ends, event);
        }
        true
    }

    fn set_rate_of_kept(&mut self, now: u64, number: LinkId, rate: Rate) -> bool {
        let link = &mut self.links[number];
        let kept = link.kept.as_mut().expect("it is not plain");
        let before = kept.transmitter.clone();
        let ends = kept.transmitter.set_rate(now, rate, link.transmitting.map(|(_, ends)| ends));
        if !self.find_places_anew() {
            self.links[number].kept.as_mut().expect("it is not plain").transmitter = before;
            return false;
        }
        let link = &mut self.links[number];
        if let (Some((id, _)), Some(ends)) = (link.transmitting, ends) {
            let ends = ends.min(u64::MAX - 1);
            link.transmission += 1;
            link.transmitting = Some((id, ends));
            let event = Event::TransmissionEnds { link: number, transmission: link.transmission };
            self.schedule(ends, event);
        }
        true
    }

    pub fn set_delay(&mut self, now: u64, number: LinkId, delay: u64) -> bool {
        if let Some(kept) = &mut self.links[number].kept {
            let before = kept.line.clone();
            kept.line.set_delay(now, Time(delay));
            let accepted = self.find_places_anew();
            if let Some(kept) = self.links[number].kept.as_mut().filter(|_| !accepted) {
                kept.line = before;
            }
            return accepted;
        }
        let old = std::mem::replace(&mut self.links[number].delay, delay);
        let accepted = self.find_places_anew();
        if !accepted {
            self.links[number].delay = old;
        }
        accepted
    }

    pub fn set_loss(&mut self, number: LinkId, loss: &Loss) {
        if let Some(kept) = &mut self.links[number].kept {
            return kept.line.set_loss(loss);
        }
        self.links[number].loss.set(loss);
    }

    /// False, and nothing changes, if the link is plain, or thinning or the order of packets would change.
    pub fn set_effects(&mut self, number: LinkId, old: &Effects, effects: &Effects) -> bool {
        let Some(kept) = &mut self.links[number].kept else { return false };
        if effects.ack_thinning != old.ack_thinning || kept.line.set_effects(effects).is_err() {
            return false;
        }
        if effects.policer != old.policer {
            kept.policer = effects.policer.as_ref().map(Policer::new);
        }
        true
    }

    /// False, and nothing changes, if it is another discipline.
    pub fn set_queue(&mut self, number: LinkId, queue: &QueueSpec) -> bool {
        let link = &mut self.links[number];
        let accepted = match &mut link.kept {
            Some(kept) => kept.queue.set_spec(queue).is_ok(),
            None if queue.discipline != Discipline::DropTail => false,
            None => {
                link.queue.set_spec(queue);
                true
            }
        };
        if accepted {
            link.counting = queue.counting;
        }
        accepted
    }

    /// A link has changed: find the places again, and rank all events again. False if there is no order.
    fn find_places_anew(&mut self) -> bool {
        let Some(places) = self.find_places() else { return false };
        self.places = places;
        let events = std::mem::take(&mut self.events).into_vec();
        self.events = events
            .into_iter()
            .map(|Reverse((at, _, number, event))| Reverse((at, self.rank(event), number, event)))
            .collect();
        true
    }
}
