//! First in, first out: drops packets that do not fit, and marks above a threshold.
//!
//! The threshold K is [`QueueSpec::ecn_threshold`](cwnd_scenario::QueueSpec): an arrival that finds more than K packets is
//! marked if it can be, as in M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.1.

use crate::backlog::{Backlog, QueuedPacket};
use crate::{Arrival, Departure, Limits, QueueDiscipline};

#[derive(Clone, Debug)]
pub(crate) struct DropTail<P> {
    backlog: Backlog<P>,
}

impl<P: Copy> DropTail<P> {
    pub fn new() -> DropTail<P> {
        DropTail { backlog: Backlog::new() }
    }

    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.backlog.iter()
    }
}

impl<P: Copy> QueueDiscipline<P> for DropTail<P> {
    #[inline(always)]
    fn enqueue(
        &mut self,
        limits: &Limits,
        now: u64,
        packet: P,
        about: Arrival,
        transmitting: Option<u32>,
        dropped: &mut Vec<P>,
    ) {
        let Arrival { bytes, ecn, .. } = about;
        let (waiting, waiting_bytes) = (self.backlog.len() as u64, self.backlog.bytes());
        if !limits.admit(waiting, waiting_bytes, transmitting, bytes) {
            dropped.push(packet);
            return;
        }
        let mark = ecn.can_be_marked() && limits.mark(waiting, transmitting);
        self.backlog.push(QueuedPacket { packet, arrived: now, bytes, ecn, mark });
    }

    #[inline]
    fn dequeue(&mut self, now: u64, _dropped: &mut Vec<P>) -> Option<Departure<P>> {
        self.dequeue_plainly(now)
    }

    #[inline(always)]
    fn dequeue_plainly(&mut self, _now: u64) -> Option<Departure<P>> {
        self.backlog.pop().map(|QueuedPacket { packet, bytes, mark, .. }| Departure { packet, bytes, mark })
    }

    #[inline(always)]
    fn pass(&mut self, limits: &Limits, packet: P, about: Arrival) -> Option<Departure<P>> {
        let Arrival { bytes, ecn, .. } = about;
        let mark = ecn.can_be_marked() && limits.mark(0, None);
        (self.backlog.len() == 0).then_some(Departure { packet, bytes, mark })
    }

    #[inline(always)]
    fn rest(&mut self, _now: u64, _dropped: &mut Vec<P>) {}

    #[inline]
    fn waiting(&self) -> usize {
        self.backlog.len()
    }

    #[inline]
    fn waiting_bytes(&self) -> u64 {
        self.backlog.bytes()
    }
}
