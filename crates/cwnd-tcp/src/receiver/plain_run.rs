//! Runs of full packets in order, without flags but PSH, that come to a Linux receiver which holds nothing. It does with them
//! what [`Receiver::on_packet`] does, without the checks that such packets pass.

use super::Receiver;
use crate::NEVER;
use crate::packet::{BARE, Packet};

/// A run of such packets. End it before the receiver is used again.
pub struct DelayedAckRun<'a> {
    receiver: &'a mut Receiver,
    /// How long the ACK of the first of two packets waits.
    delay: u64,
    /// When the packet came whose ACK waits, if this run has taken it; else [`NEVER`]. The time on the timer wheel is
    /// computed at the end of the run, since most delayed ACKs are sent before.
    waits_since: u64,
    /// A time before which no timer expires.
    until: u64,
    packets: u64,
}

impl Receiver {
    /// Begins a run; `None` if packets must be taken one by one.
    #[doc(hidden)]
    #[inline]
    pub fn delayed_ack_run(&mut self) -> Option<DelayedAckRun<'_>> {
        let usual = self.config.linux && self.config.behaviour.is_honest();
        let delay = self.config.delayed_ack.filter(|_| usual)?;
        let plain = self.held == 0 && self.duplicate.is_none() && !self.echoes();
        let until = self.deadline;
        plain.then_some(DelayedAckRun { receiver: self, delay, waits_since: NEVER, until, packets: 0 })
    }
}

// Public for the engine's runs alone.
#[doc(hidden)]
impl DelayedAckRun<'_> {
    /// Returns the wire bytes of a full packet, and a template of its ACK.
    #[inline(always)]
    pub fn sizes(&self) -> (u32, Packet) {
        let config = &self.receiver.config;
        let (channel, size) = (config.channel, config.ack_size as u16);
        (config.packet_size, Packet { channel, size, flags: BARE, ..Packet::default() })
    }

    /// Returns whether the run can take a full packet with this timestamp and segment. Packets precede timers.
    #[inline(always)]
    pub fn takes(&self, now: u64, sent: u64, segment: u32) -> bool {
        segment == self.receiver.next as u32 && sent >= self.receiver.echo && now <= self.until
    }

    /// Processes a packet. Returns the timestamp and the segment of its ACK if that is sent at once.
    #[inline(always)]
    pub fn take(&mut self, now: u64, sent: u64, push: bool) -> Option<(u64, u32)> {
        let receiver = &mut *self.receiver;
        if receiver.unacknowledged == 0 {
            receiver.echo = sent;
        }
        receiver.ack_policy.on_data_in_order(now);
        receiver.ack_policy.on_data();
        receiver.next += 1;
        receiver.unacknowledged += 1;
        self.packets += 1;
        let waiting = receiver.next - receiver.ack_policy.acknowledged_to;
        if push || waiting > 1 || receiver.ack_policy.is_quick() {
            receiver.unacknowledged = 0;
            receiver.ack_policy.on_ack(receiver.next);
            (self.waits_since, self.until) = (NEVER, NEVER);
            receiver.deadline = NEVER;
            return Some((receiver.echo, receiver.next as u32));
        }
        if self.until == NEVER {
            (self.waits_since, self.until) = (now, now + self.delay);
        }
        None
    }

    /// Ends the run.
    #[inline(always)]
    pub fn end(self) {
        let receiver = self.receiver;
        receiver.counts.received += self.packets;
        receiver.counts.wire_bytes += self.packets * u64::from(receiver.config.packet_size);
        if self.waits_since != NEVER {
            receiver.deadline = receiver.config.timer.expiry(self.waits_since, self.delay, false);
        }
    }
}
