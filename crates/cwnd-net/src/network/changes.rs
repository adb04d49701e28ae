//! Links that change while packets are on them. A change at a time precedes everything else that happens then.

use super::{Network, Observer, Packet, least_after};
use crate::link::Link;
use crate::{LinkId, NetworkError};
use cwnd_link::{ChangeError, Effects, LinkSpec, Loss, Policer, QueueSpec, Rate, Time, check_change};

impl<P: Packet, O: Observer<P>> Network<P, O> {
    /// Changes a link's rate: for the remaining bits of the packet in transmission, and for the packets behind it.
    ///
    /// # Errors
    /// Packets could then go round in no time. Nothing is changed.
    pub fn set_rate(&mut self, now: u64, number: LinkId, rate: Rate) -> Result<(), NetworkError> {
        let link = &mut self.links[number];
        let before = link.transmitter.clone();
        let ends = link.transmission().map(|transmission| transmission.ends);
        let ends = link.transmitter.set_rate(now, rate, ends);
        self.accept(number, |link| link.transmitter = before)?;
        let link = &mut self.links[number];
        link.spec.rate = rate;
        if let (Some(transmission), Some(ends)) = (link.transmission(), ends) {
            self.transmit(number, transmission.packet, transmission.bytes, ends);
        }
        Ok(())
    }

    /// Changes a link's propagation delay, for packets that leave the transmitter from now on. None of them overtakes those that
    /// left before, unless the line reorders.
    ///
    /// # Errors
    /// See [`Network::set_rate`].
    pub fn set_delay(&mut self, now: u64, number: LinkId, delay: Time) -> Result<(), NetworkError> {
        let link = &mut self.links[number];
        let before = link.line.clone();
        link.line.set_delay(now, delay);
        self.accept(number, |link| link.line = before)?;
        self.links[number].spec.delay = delay;
        self.least_after = least_after(&self.links, &self.routes);
        Ok(())
    }

    /// Finds the order of simultaneous events for a link that has changed, or undoes the change.
    fn accept(&mut self, number: LinkId, undo: impl FnOnce(&mut Link)) -> Result<(), NetworkError> {
        if self.agenda.set_instant(number, self.links[number].is_instant()) {
            return Ok(());
        }
        undo(&mut self.links[number]);
        Err(NetworkError::InstantCircle)
    }

    /// Changes which packets a line loses, of those whose transmission ends from now on.
    pub fn set_loss(&mut self, number: LinkId, loss: &Loss) {
        let link = &mut self.links[number];
        link.line.set_loss(loss);
        link.spec.loss = loss.clone();
    }

    /// Changes a queue's limits and parameters, for packets that arrive from now on.
    ///
    /// # Errors
    /// It is another discipline, or FQ-CoDel with another number of queues. Nothing is changed.
    pub fn set_queue(&mut self, number: LinkId, queue: &QueueSpec) -> Result<(), ChangeError> {
        let link = &mut self.links[number];
        link.queue.set_spec(queue)?;
        link.spec.queue = *queue;
        Ok(())
    }

    /// Changes the policer and the line's effects. A policer that stays the same keeps the level of its bucket.
    ///
    /// # Errors
    /// ACK thinning or whether the line reorders would change. Nothing is changed.
    pub fn set_effects(&mut self, number: LinkId, effects: &Effects) -> Result<(), ChangeError> {
        let link = &mut self.links[number];
        check_change(&link.spec, &LinkSpec { effects: *effects, ..link.spec.clone() })?;
        link.line.set_effects(effects)?;
        if effects.policer != link.spec.effects.policer {
            link.policer = effects.policer.as_ref().map(Policer::new);
        }
        link.spec.effects = *effects;
        Ok(())
    }
}
