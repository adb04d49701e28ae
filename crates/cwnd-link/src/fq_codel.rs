//! Flow queues with CoDel: each flow has a queue of its own, and new flows come first.
//!
//! RFC 8290. A packet goes into the queue that the hash of its flow names (section 4.1). Queues with packets stand in one
//! of two lists: a queue that was in neither joins the end of the *new* ones, with credits of a `quantum` of bytes. The
//! head of the new list is served, or that of the *old* list if there are no new ones (section 4.2): with no credits left
//! it gets a quantum more and goes to the end of the old list; else its next packet leaves, as CoDel lets it, and costs
//! its bytes. A new queue that has run empty goes to the end of the old list, so that it cannot jump the others again
//! by pausing; an old one leaves its list.
//!
//! | parameter | default | source |
//! |---|---|---|
//! | `queues` | 1024 | section 5.2.5 |
//! | `quantum` | 1514 B | section 5.2.4 |
//! | `target`, `interval` | 5 ms, 100 ms | sections 5.2.1 and 5.2.2 |
//! | `ecn` | on | section 5.2.6 |
//!
//! Interpretations and differences:
//! - *Over the limit* the queue with the most bytes loses half of its packets, at most 64, from its head (section 4.1), and so
//!   on until the limit holds. Among equals it is the queue of the least number. The limit is the link's, which may be one in
//!   bytes; a packet that is larger than that by itself is dropped alone.
//! - *Half* is half the packets, rounded up; Linux stops at half the bytes.
//! - *CoDel's rule for short queues* looks at the flow's own queue. (Linux looks at all queues together.)
//! - *The hash* is SplitMix64's mixing function over the flow's number and a number drawn at the start.

mod table;
#[cfg(test)]
mod tests;

use crate::backlog::{Backlog, QueuedPacket};
use crate::codel::Control;
use crate::{Arrival, Departure, Limits, QueueDiscipline, Stream};
use cwnd_scenario::mix;
use cwnd_scenario::{CoDel, FqCoDel};
use table::QueueTable;

/// Largest number of packets that the queue with the most bytes loses at once.
const BATCH: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct FqCoDelQueue<P> {
    codel: CoDel,
    quantum: i64,
    full_packet: u32,
    /// Random number of the flow hash.
    perturbation: u64,
    /// Number of queues of the hash.
    queues: u32,
    /// The queues that have been used, in order of their first packets. Most of the `queues` never are: each takes memory
    /// from its first packet on.
    flows: Vec<FlowQueue<P>>,
    /// The number of each of them, which the hash of its flows gives.
    numbers: Vec<u32>,
    /// From the number to the index in `flows`.
    table: QueueTable,
    new: List,
    old: List,
    waiting: u32,
    waiting_bytes: u64,
}

#[derive(Clone, Debug)]
struct FlowQueue<P> {
    backlog: Backlog<P>,
    control: Control,
    /// Bytes that it may send before the next queue's turn.
    credits: i64,
    /// Whether it is in a list.
    listed: bool,
    /// The index of the queue behind it in that list, if it is not the last.
    next: u32,
}

/// The indices of queues that take turns. Each knows the next one ([`FlowQueue::next`]), so that the first goes to the end in a
/// few instructions.
#[derive(Clone, Copy, Debug, Default)]
struct List {
    /// Number of queues; with none, the indices have no meaning.
    len: u32,
    first: u32,
    last: u32,
}

impl List {
    #[inline(always)]
    fn first(&self) -> Option<u32> {
        (self.len > 0).then_some(self.first)
    }

    #[inline(always)]
    fn push<P>(&mut self, index: u32, flows: &mut [FlowQueue<P>]) {
        if self.len == 0 {
            self.first = index;
        } else {
            flows[self.last as usize].next = index;
        }
        self.last = index;
        self.len += 1;
    }

    #[inline(always)]
    fn pop<P>(&mut self, flows: &[FlowQueue<P>]) {
        self.first = flows[self.first as usize].next;
        self.len -= 1;
    }

    /// Moves the first queue to the end.
    #[inline(always)]
    fn rotate<P>(&mut self, flows: &mut [FlowQueue<P>]) {
        flows[self.last as usize].next = self.first;
        self.last = self.first;
        self.first = flows[self.first as usize].next;
    }

    fn iter<P>(self, flows: &[FlowQueue<P>]) -> impl Iterator<Item = u32> {
        std::iter::successors(self.first(), |&index| Some(flows[index as usize].next)).take(self.len as usize)
    }
}

impl<P: Copy> FqCoDelQueue<P> {
    pub fn new(fq: &FqCoDel, full_packet: u32, mut stream: Stream) -> FqCoDelQueue<P> {
        let mut queue = FqCoDelQueue {
            codel: fq.codel,
            quantum: 0,
            full_packet,
            perturbation: stream.next_u64(),
            queues: fq.queues.max(1),
            flows: Vec::new(),
            numbers: Vec::new(),
            table: QueueTable::default(),
            new: List::default(),
            old: List::default(),
            waiting: 0,
            waiting_bytes: 0,
        };
        queue.set(fq);
        queue
    }

    /// Changes the parameters; the number of queues stays.
    pub fn set(&mut self, fq: &FqCoDel) {
        self.codel = fq.codel;
        self.quantum = i64::from(fq.quantum.max(1));
    }

    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.flows.iter().flat_map(|flow| flow.backlog.iter())
    }

    /// Returns the number of a flow's queue, below `queues`.
    #[inline]
    fn number(&self, flow: u32) -> u32 {
        let hash = mix(self.perturbation ^ u64::from(flow));
        (((hash >> 32) * u64::from(self.queues)) >> 32) as u32
    }

    /// Returns the index of a flow's queue, which is created if it has not been used yet.
    #[inline]
    fn index(&mut self, flow: u32) -> u32 {
        let number = self.number(flow);
        match self.table.find(number) {
            Some(index) => index,
            None => self.create(number),
        }
    }

    #[cold]
    #[inline(never)]
    fn create(&mut self, number: u32) -> u32 {
        let index = self.flows.len() as u32;
        self.flows.push(FlowQueue {
            backlog: Backlog::new(),
            control: Control::default(),
            credits: 0,
            listed: false,
            next: 0,
        });
        self.numbers.push(number);
        self.table.insert(number, index);
        index
    }

    /// Returns the next packet by the rule of section 4.2.
    #[inline(never)]
    fn dequeue_otherwise(&mut self, now: u64, dropped: &mut Vec<P>) -> Option<Departure<P>> {
        loop {
            let index = self.turn()?;
            let queue = &mut self.flows[index as usize];
            let (packets, bytes) = (queue.backlog.len(), queue.backlog.bytes());
            let next = queue.control.dequeue(&self.codel, self.full_packet, now, &mut queue.backlog, dropped);
            self.waiting -= (packets - queue.backlog.len()) as u32;
            self.waiting_bytes -= bytes - queue.backlog.bytes();
            if let Some(departure) = next {
                queue.credits -= i64::from(departure.bytes);
                return Some(departure);
            }
            self.rest(index);
        }
    }

    /// Handles the end of the served queue's packets.
    #[inline(never)]
    fn rest(&mut self, index: u32) {
        let queue = &mut self.flows[index as usize];
        queue.control.rest();
        if self.new.len > 0 {
            self.make_old(index);
        } else {
            queue.listed = false;
            self.old.pop(&self.flows);
        }
    }

    /// The index of the queue whose turn it is: the first of the new ones, else of the old, that has credits. Those before it
    /// get credits, and go to the end.
    #[inline(always)]
    fn turn(&mut self) -> Option<u32> {
        loop {
            let is_new = self.new.len > 0;
            let index = if is_new { self.new.first } else { self.old.first()? };
            let queue = &mut self.flows[index as usize];
            if queue.credits > 0 {
                return Some(index);
            }
            queue.credits += self.quantum;
            if is_new {
                self.make_old(index);
            } else {
                self.old.rotate(&mut self.flows);
            }
        }
    }

    /// Moves the first of the new queues to the end of the old ones.
    fn make_old(&mut self, index: u32) {
        self.new.pop(&self.flows);
        self.old.push(index, &mut self.flows);
    }

    /// Drops packets at the heads of the queues with the most bytes until the limit holds.
    #[inline(never)]
    fn shorten(&mut self, limits: &Limits, transmitting: Option<u32>, dropped: &mut Vec<P>) {
        loop {
            let fattest = self.new.iter(&self.flows).chain(self.old.iter(&self.flows));
            let fattest = fattest.max_by_key(|&index| {
                let index = index as usize;
                (self.flows[index].backlog.bytes(), u32::MAX - self.numbers[index])
            });
            let Some(fattest) = fattest else { return };
            let backlog = &mut self.flows[fattest as usize].backlog;
            let batch = backlog.len().div_ceil(2).min(BATCH);
            for held in (0..batch).map_while(|_| backlog.pop()) {
                self.waiting -= 1;
                self.waiting_bytes -= u64::from(held.bytes);
                dropped.push(held.packet);
            }
            if batch == 0 || limits.holds(u64::from(self.waiting), self.waiting_bytes, transmitting) {
                return;
            }
        }
    }
}

impl<P: Copy> QueueDiscipline<P> for FqCoDelQueue<P> {
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
        let Arrival { bytes, flow, ecn, .. } = about;
        if !limits.holds(1, u64::from(bytes), transmitting) {
            dropped.push(packet);
            return;
        }
        let index = self.index(flow);
        let queue = &mut self.flows[index as usize];
        queue.backlog.push(QueuedPacket { packet, arrived: now, bytes, ecn, mark: false });
        self.waiting += 1;
        self.waiting_bytes += u64::from(bytes);
        if !queue.listed {
            queue.listed = true;
            queue.credits = self.quantum;
            self.new.push(index, &mut self.flows);
        }
        if !limits.holds(u64::from(self.waiting), self.waiting_bytes, transmitting) {
            self.shorten(limits, transmitting, dropped);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: u64, dropped: &mut Vec<P>) -> Option<Departure<P>> {
        self.dequeue_plainly(now).or_else(|| self.dequeue_otherwise(now, dropped))
    }

    #[inline(always)]
    fn dequeue_plainly(&mut self, now: u64) -> Option<Departure<P>> {
        loop {
            let index = self.turn()?;
            let queue = &mut self.flows[index as usize];
            if queue.backlog.len() == 0 {
                self.rest(index);
                continue;
            }
            let departure = queue.control.pass(&self.codel, self.full_packet, now, &mut queue.backlog)?;
            queue.credits -= i64::from(departure.bytes);
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(departure.bytes);
            return Some(departure);
        }
    }

    #[inline]
    fn waiting(&self) -> usize {
        self.waiting as usize
    }

    #[inline]
    fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }
}
