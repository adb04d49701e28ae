//! A queue of any discipline before a transmitter.

use crate::change::{ChangeError, check_discipline};
use crate::codel::CoDelQueue;
use crate::discipline::{Arrival, Departure, QueueDiscipline, QueueVisitor};
use crate::drop_tail::DropTail;
use crate::dual_pi2::DualPi2Queue;
use crate::fq_codel::FqCoDelQueue;
use crate::pie::PieQueue;
use crate::red::RedQueue;
use crate::thinning::Thinning;
use crate::{Limits, Stream};
use cwnd_scenario::{Discipline, QueueSpec, Rate};

/// A queue before a transmitter: a state machine with methods for the arrival of a packet and for the time when the
/// transmitter wants one.
///
/// Times are in nanoseconds of any clock and never fall from call to call; two calls may have the same time. The queue needs
/// no timers: periodic work runs at the next call.
///
/// [`QueueSpec::limit`] holds for every discipline, and packets that would exceed it are dropped: the arrival, or, in
/// FQ-CoDel, packets at the heads of the fattest queues. A packet that finds nothing waiting and the transmitter idle always
/// fits.
///
/// A packet is any copyable value, such as an index into a pool of buffers.
#[derive(Clone, Debug)]
pub struct Queue<P> {
    limits: Limits,
    kind: Kind<P>,
    /// The specification of `kind`, of which a change decides what is possible.
    discipline: Discipline,
}

#[derive(Clone, Debug)]
enum Kind<P> {
    DropTail(DropTail<P>),
    Thinning(Thinning<P>),
    Red(RedQueue<P>),
    CoDel(CoDelQueue<P>),
    FqCoDel(FqCoDelQueue<P>),
    Pie(PieQueue<P>),
    DualPi2(DualPi2Queue<P>),
}

/// Calls the same method of the actual discipline.
macro_rules! each {
    ($kind:expr, $queue:ident => $call:expr) => {
        match $kind {
            Kind::DropTail($queue) => $call,
            Kind::Thinning($queue) => $call,
            Kind::Red($queue) => $call,
            Kind::CoDel($queue) => $call,
            Kind::FqCoDel($queue) => $call,
            Kind::Pie($queue) => $call,
            Kind::DualPi2($queue) => $call,
        }
    };
}

impl<P: Copy> Queue<P> {
    /// Creates an empty queue.
    ///
    /// `thinning` is [`Effects::ack_thinning`](cwnd_scenario::Effects), which only drop-tail uses; `rate` the link's nominal
    /// rate and `full_packet` the wire bytes of a full packet, for disciplines that use them; `stream` its random stream.
    pub fn new(
        spec: &QueueSpec,
        thinning: Option<u32>,
        rate: Rate,
        full_packet: u32,
        stream: Stream,
    ) -> Queue<P> {
        let kind = match (&spec.discipline, thinning) {
            (Discipline::DropTail, None) => Kind::DropTail(DropTail::new()),
            (Discipline::DropTail, Some(most)) => Kind::Thinning(Thinning::new(most)),
            (Discipline::Red(red), _) => Kind::Red(RedQueue::new(red, rate, full_packet, stream)),
            (Discipline::CoDel(codel), _) => Kind::CoDel(CoDelQueue::new(codel, full_packet)),
            (Discipline::FqCoDel(fq), _) => Kind::FqCoDel(FqCoDelQueue::new(fq, full_packet, stream)),
            (Discipline::Pie(pie), _) => Kind::Pie(PieQueue::new(pie, full_packet, stream)),
            (Discipline::DualPi2(dual), _) => Kind::DualPi2(DualPi2Queue::new(dual)),
        };
        Queue { limits: Limits::new(spec), kind, discipline: spec.discipline }
    }

    /// Handles the arrival of a packet.
    ///
    /// `transmitting` says how many bytes the packet in transmission has, if there is one. Where the limit counts that packet,
    /// it still counts at the time at which it leaves. The caller then reports a simultaneous arrival before the transmitter
    /// takes the next packet, and otherwise after it.
    ///
    /// Packets that are dropped, this one or others, are added to `dropped`.
    #[inline]
    pub fn enqueue(
        &mut self,
        now: u64,
        packet: P,
        about: Arrival,
        transmitting: Option<u32>,
        dropped: &mut Vec<P>,
    ) {
        each!(&mut self.kind, queue => queue.enqueue(&self.limits, now, packet, about, transmitting, dropped))
    }

    /// Removes the next packet, if there is one, for the free transmitter. Packets dropped at that time are added to
    /// `dropped`.
    #[inline]
    pub fn dequeue(&mut self, now: u64, dropped: &mut Vec<P>) -> Option<Departure<P>> {
        each!(&mut self.kind, queue => queue.dequeue(now, dropped))
    }

    /// Calls a visitor with the actual discipline, for work on more than one packet.
    #[inline]
    pub fn visit<V: QueueVisitor<P>>(&mut self, visitor: V) -> V::Answer {
        each!(&mut self.kind, queue => visitor.visit(queue, &self.limits))
    }

    /// Returns the waiting packets, in any order.
    pub fn iter(&self) -> Box<dyn Iterator<Item = &P> + '_> {
        each!(&self.kind, queue => Box::new(queue.iter()))
    }

    /// Returns the number of waiting packets, without the one in transmission.
    #[inline]
    pub fn waiting(&self) -> usize {
        each!(&self.kind, queue => queue.waiting())
    }

    /// Returns their wire bytes.
    #[inline]
    pub fn waiting_bytes(&self) -> u64 {
        each!(&self.kind, queue => queue.waiting_bytes())
    }

    /// Changes limits, thresholds and parameters. Waiting packets and the state of the discipline stay.
    ///
    /// # Errors
    ///
    /// Those of [`check_discipline`]. Nothing is changed then.
    pub fn set_spec(&mut self, spec: &QueueSpec) -> Result<(), ChangeError> {
        check_discipline(&self.discipline, &spec.discipline)?;
        match (&mut self.kind, &spec.discipline) {
            (Kind::DropTail(_) | Kind::Thinning(_), Discipline::DropTail) => {}
            (Kind::Red(queue), Discipline::Red(red)) => queue.set(red),
            (Kind::CoDel(queue), Discipline::CoDel(codel)) => queue.set(codel),
            (Kind::FqCoDel(queue), Discipline::FqCoDel(fq)) => queue.set(fq),
            (Kind::Pie(queue), Discipline::Pie(pie)) => queue.set(pie),
            (Kind::DualPi2(queue), Discipline::DualPi2(dual)) => queue.set(dual),
            _ => unreachable!("the discipline is the same"),
        }
        self.limits = Limits::new(spec);
        self.discipline = spec.discipline;
        Ok(())
    }
}
