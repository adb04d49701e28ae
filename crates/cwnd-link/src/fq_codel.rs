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
//! Readings, and where it differs:
//! - *Over the limit* the queue with the most bytes loses half of its packets, at most 64, from its head (section 4.1), and
//!   so on until what waits is within the limit. Among equals it is the queue of the least number. The limit is the
//!   link's, which may be one in bytes; a packet that is larger than that by itself is dropped alone.
//! - *Half* is half the packets, rounded up; Linux stops at half the bytes.
//! - *CoDel's rule for short queues* looks at the flow's own queue. (Linux looks at all queues together.)
//! - *The hash* is SplitMix64's mixing function over the flow's number and a number drawn at the start.

#[cfg(test)]
mod tests;

use crate::backlog::{Backlog, Held};
use crate::codel::Control;
use crate::{Arrival, Departure, Limits, QueueDiscipline, Stream};
use cwnd_scenario::mix;
use cwnd_scenario::{CoDel, FqCoDel};
use std::collections::VecDeque;

/// Packets that the fattest queue loses at once, at most.
const BATCH: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct FqCoDelQueue<P> {
    codel: CoDel,
    quantum: i64,
    full_packet: u32,
    /// What flows are hashed with.
    perturbation: u64,
    flows: Vec<FlowQueue<P>>,
    /// Numbers of queues.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    waiting: usize,
    waiting_bytes: u64,
}

#[derive(Clone, Debug)]
struct FlowQueue<P> {
    backlog: Backlog<P>,
    control: Control,
    /// Bytes that it may send before it is another's turn.
    credits: i64,
    /// It stands in a list.
    listed: bool,
}

impl<P: Copy> FqCoDelQueue<P> {
    pub fn new(fq: &FqCoDel, full_packet: u32, mut stream: Stream) -> FqCoDelQueue<P> {
        let empty =
            || FlowQueue { backlog: Backlog::new(), control: Control::default(), credits: 0, listed: false };
        let mut queue = FqCoDelQueue {
            codel: fq.codel,
            quantum: 0,
            full_packet,
            perturbation: stream.next_u64(),
            flows: (0..fq.queues.max(1)).map(|_| empty()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            waiting: 0,
            waiting_bytes: 0,
        };
        queue.set(fq);
        queue
    }

    /// Other parameters; the number of queues stays.
    pub fn set(&mut self, fq: &FqCoDel) {
        self.codel = fq.codel;
        self.quantum = i64::from(fq.quantum.max(1));
    }

    pub fn queues(&self) -> u32 {
        self.flows.len() as u32
    }

    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.flows.iter().flat_map(|flow| flow.backlog.iter())
    }

    #[inline]
    fn number(&self, flow: u32) -> u32 {
        let hash = mix(self.perturbation ^ u64::from(flow));
        (((hash >> 32) * self.flows.len() as u64) >> 32) as u32
    }

    /// The whole rule.
    #[inline(never)]
    fn dequeue_otherwise(&mut self, now: u64, dropped: &mut Vec<P>) -> Option<Departure<P>> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let queue = &mut self.flows[number as usize];
            if queue.credits <= 0 {
                queue.credits += self.quantum;
                list.pop_front();
                self.old.push_back(number);
                continue;
            }
            let (packets, bytes) = (queue.backlog.len(), queue.backlog.bytes());
            let next = queue.control.dequeue(&self.codel, self.full_packet, now, &mut queue.backlog, dropped);
            self.waiting -= packets - queue.backlog.len();
            self.waiting_bytes -= bytes - queue.backlog.bytes();
            if let Some(departure) = next {
                queue.credits -= i64::from(departure.bytes);
                return Some(departure);
            }
            list.pop_front();
            if is_new {
                self.old.push_back(number);
            } else {
                queue.listed = false;
            }
        }
    }

    /// Drop from the heads of the fattest queues until what waits is within the limit.
    #[inline(never)]
    fn shorten(&mut self, limits: &Limits, transmitting: Option<u32>, dropped: &mut Vec<P>) {
        loop {
            let fattest = self.new.iter().chain(&self.old).copied();
            let fattest = fattest.max_by_key(|&n| (self.flows[n as usize].backlog.bytes(), u32::MAX - n));
            let Some(fattest) = fattest else { return };
            let backlog = &mut self.flows[fattest as usize].backlog;
            let batch = backlog.len().div_ceil(2).min(BATCH);
            for held in (0..batch).map_while(|_| backlog.pop()) {
                self.waiting -= 1;
                self.waiting_bytes -= u64::from(held.bytes);
                dropped.push(held.packet);
            }
            if batch == 0 || limits.holds(self.waiting as u64, self.waiting_bytes, transmitting) {
                return;
            }
        }
    }
}

impl<P: Copy> QueueDiscipline<P> for FqCoDelQueue<P> {
    #[inline]
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
        let number = self.number(flow);
        let queue = &mut self.flows[number as usize];
        queue.backlog.push(Held { packet, arrived: now, bytes, ecn, mark: false });
        self.waiting += 1;
        self.waiting_bytes += u64::from(bytes);
        if !queue.listed {
            queue.listed = true;
            queue.credits = self.quantum;
            self.new.push_back(number);
        }
        if !limits.holds(self.waiting as u64, self.waiting_bytes, transmitting) {
            self.shorten(limits, transmitting, dropped);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: u64, dropped: &mut Vec<P>) -> Option<Departure<P>> {
        self.dequeue_plainly(now).or_else(|| self.dequeue_otherwise(now, dropped))
    }

    #[inline(always)]
    fn dequeue_plainly(&mut self, now: u64) -> Option<Departure<P>> {
        if self.new.is_empty() {
            // Only old queues take turns; most packets have not waited for long.
            while let Some(&number) = self.old.front() {
                let queue = &mut self.flows[number as usize];
                if queue.credits <= 0 {
                    queue.credits += self.quantum;
                    self.old.pop_front();
                    self.old.push_back(number);
                    continue;
                }
                let Some(departure) = queue.control.pass(&self.codel, now, &mut queue.backlog) else { break };
                queue.credits -= i64::from(departure.bytes);
                self.waiting -= 1;
                self.waiting_bytes -= u64::from(departure.bytes);
                return Some(departure);
            }
        }
        None
    }

    #[inline]
    fn waiting(&self) -> usize {
        self.waiting
    }

    #[inline]
    fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }
}
