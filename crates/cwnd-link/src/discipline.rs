//! The contract of all queueing disciplines: the properties of an arriving packet, and a departing one.

use crate::{EcnRemark, Limits};

/// Properties of a packet that a queue uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Wire bytes.
    pub bytes: u32,
    /// Its flow: a number, or a hash of its addresses.
    pub flow: u32,
    /// Its ECN field: whether it can carry a congestion mark, or already does.
    pub ecn: Codepoint,
    /// Whether it is a pure ACK, so that a later one of its flow can replace it.
    pub plain_ack: bool,
}

/// The ECN field of a packet (RFC 3168, section 5; RFC 9331, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codepoint {
    /// Not ECN-capable: it is dropped instead of marked.
    NotEct,
    /// ECN-capable, with classic congestion control.
    Ect0,
    /// ECN-capable, with scalable congestion control (L4S).
    Ect1,
    /// It carries a mark already.
    Ce,
}

impl Codepoint {
    /// Whether it is marked where others are dropped. A packet that already carries a mark counts, too.
    #[inline]
    pub fn can_be_marked(self) -> bool {
        self != Codepoint::NotEct
    }

    /// Returns the two bits of the IP header.
    pub fn bits(self) -> u8 {
        match self {
            Codepoint::NotEct => 0b00,
            Codepoint::Ect1 => 0b01,
            Codepoint::Ect0 => 0b10,
            Codepoint::Ce => 0b11,
        }
    }

    /// Returns what a link makes of it that changes the ECN field.
    pub fn remarked(self, remark: EcnRemark) -> Codepoint {
        match (remark, self) {
            (EcnRemark::Bleach, _) => Codepoint::NotEct,
            (EcnRemark::Unmark, Codepoint::Ce) | (EcnRemark::Ect1ToEct0, Codepoint::Ect1) => Codepoint::Ect0,
            (_, codepoint) => codepoint,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Codepoint::{self, Ce, Ect0, Ect1, NotEct};
    use cwnd_scenario::EcnRemark;

    #[test]
    fn each_remark_changes_what_it_names() {
        let all = [NotEct, Ect0, Ect1, Ce];
        let of = |remark| all.map(|codepoint: Codepoint| codepoint.remarked(remark));
        assert_eq!(of(EcnRemark::Bleach), [NotEct; 4]);
        assert_eq!(of(EcnRemark::Unmark), [NotEct, Ect0, Ect1, Ect0]);
        assert_eq!(of(EcnRemark::Ect1ToEct0), [NotEct, Ect0, Ect0, Ce]);
    }
}

/// A packet that a queue hands to the transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<P> {
    /// The packet.
    pub packet: P,
    /// Its wire bytes.
    pub bytes: u32,
    /// Whether it gets a congestion mark here. Never true for a packet that cannot carry one.
    pub mark: bool,
}

/// A queueing discipline. The trait allows code that serves many packets to be compiled for each discipline (see
/// [`Queue::visit`](crate::Queue::visit)). The contract is that of [`Queue`](crate::Queue).
pub trait QueueDiscipline<P> {
    /// See [`Queue::enqueue`](crate::Queue::enqueue).
    fn enqueue(
        &mut self,
        limits: &Limits,
        now: u64,
        packet: P,
        about: Arrival,
        transmitting: Option<u32>,
        dropped: &mut Vec<P>,
    );

    /// See [`Queue::dequeue`](crate::Queue::dequeue).
    fn dequeue(&mut self, now: u64, dropped: &mut Vec<P>) -> Option<Departure<P>>;

    /// Returns the next packet in the common case, in which it is known at once and no packet is dropped. Otherwise returns
    /// `None`, and the caller uses [`QueueDiscipline::dequeue`], which gives the same result as without this call.
    #[inline(always)]
    fn dequeue_plainly(&mut self, _now: u64) -> Option<Departure<P>> {
        None
    }

    /// Returns the departure of a packet that arrives at an idle transmitter, in the common case in which it need not enter the
    /// queue. Otherwise returns `None`, and the caller uses [`QueueDiscipline::enqueue`] and [`QueueDiscipline::dequeue`], which
    /// give the same result as without this call.
    #[inline(always)]
    fn pass(&mut self, _limits: &Limits, _packet: P, _about: Arrival) -> Option<Departure<P>> {
        None
    }

    /// Tells the queue that the transmitter asked for a packet when nothing waited.
    #[inline(never)]
    fn rest(&mut self, now: u64, dropped: &mut Vec<P>) {
        let none = self.dequeue(now, dropped);
        debug_assert!(none.is_none(), "nothing waited");
    }

    /// See [`Queue::waiting`](crate::Queue::waiting).
    fn waiting(&self) -> usize;

    /// See [`Queue::waiting_bytes`](crate::Queue::waiting_bytes).
    fn waiting_bytes(&self) -> u64;
}

/// Work on a queue that is compiled for each discipline.
pub trait QueueVisitor<P> {
    /// Result of the work.
    type Answer;

    /// Does the work.
    fn visit<D: QueueDiscipline<P>>(self, queue: &mut D, limits: &Limits) -> Self::Answer;
}
