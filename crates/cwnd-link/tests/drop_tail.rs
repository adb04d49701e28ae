//! A drop-tail `Queue` decides as `Fifo` does, though it is notified of simultaneous events in another way.
//!
//! `Fifo` hears of a departure first and then of arrivals at the same moment, with the packet that has left. Where what is in
//! transmission counts, `Queue` hears of those arrivals first, while that packet is still there.

use cwnd_link::{Arrival, Codepoint, Limits, Purpose, Queue, Stream};
use cwnd_scenario::{Counting, QueueLimit, QueueSpec, Rate};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

/// What a queue decides about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It is taken.
    Accepted {
        /// It is to carry a congestion mark, if it can.
        mark: bool,
    },
    /// It is dropped.
    Dropped,
}

/// A drop-tail queue, with an ECN threshold or without, that holds its packets.
#[derive(Clone, Debug)]
struct Fifo<P> {
    limits: Limits,
    waiting: VecDeque<(P, u32)>,
    waiting_bytes: u64,
    /// Bytes of the packet in transmission.
    transmitting: Option<u32>,
}

impl<P> Fifo<P> {
    /// An empty queue before an idle transmitter.
    fn new(spec: &QueueSpec) -> Self {
        Fifo { limits: Limits::new(spec), waiting: VecDeque::new(), waiting_bytes: 0, transmitting: None }
    }

    /// Handles the arrival of a packet of this size in wire bytes.
    fn enqueue(&mut self, packet: P, bytes: u32) -> Verdict {
        self.enqueue_as_leaves(packet, bytes, None)
    }

    /// Handles the arrival of a packet of this size in wire bytes, at the time at which one of `leaving` bytes leaves.
    /// The latter counts where packets in transmission count.
    fn enqueue_as_leaves(&mut self, packet: P, bytes: u32, leaving: Option<u32>) -> Verdict {
        let leaving = leaving.filter(|_| self.limits.transmission_counts);
        let begun = self.transmitting.filter(|_| leaving.is_some());
        if let Some(transmitting) = leaving.or(self.transmitting) {
            // What the transmitter has just begun to send was still waiting before the other left.
            let waiting = self.waiting.len() as u64 + u64::from(begun.is_some());
            let in_system = waiting + 1;
            let counted = if self.limits.transmission_counts { u64::from(transmitting) } else { 0 };
            let waiting_bytes = self.waiting_bytes + u64::from(begun.unwrap_or(0));
            let bytes_after = waiting_bytes + counted + u64::from(bytes);
            if in_system >= self.limits.drop_at || bytes_after > self.limits.bytes {
                return Verdict::Dropped;
            }
            let mark = in_system >= self.limits.mark_at;
            self.waiting_bytes += u64::from(bytes);
            self.waiting.push_back((packet, bytes));
            return Verdict::Accepted { mark };
        }
        self.waiting_bytes += u64::from(bytes);
        self.waiting.push_back((packet, bytes));
        Verdict::Accepted { mark: false }
    }

    /// The transmitter is free and takes the next packet, if there is one.
    fn dequeue(&mut self) -> Option<(P, u32)> {
        let next = self.waiting.pop_front();
        self.transmitting = next.as_ref().map(|&(_, bytes)| bytes);
        self.waiting_bytes -= u64::from(self.transmitting.unwrap_or(0));
        next
    }

    /// Whether a packet is in transmission.
    fn is_transmitting(&self) -> bool {
        self.transmitting.is_some()
    }

    /// Packets that wait, without the one in transmission.
    fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

struct Both {
    fifo: Fifo<u64>,
    queue: Queue<u64>,
    counts: bool,
    /// The packet in transmission, as reported to the queue.
    transmitting: Option<u32>,
    arrived: u64,
    /// Whether a packet that waits gets a mark, as the FIFO said.
    marks: BTreeMap<u64, bool>,
}

impl Both {
    fn new(spec: &QueueSpec) -> Both {
        let stream = Stream::new(1, Purpose::Queue, 0);
        Both {
            fifo: Fifo::new(spec),
            queue: Queue::new(spec, None, Rate(1_000_000), 1500, stream),
            counts: spec.counting == Counting::WithTransmission,
            transmitting: None,
            arrived: 0,
            marks: BTreeMap::new(),
        }
    }

    /// A packet leaves, if one is in transmission, and others arrive at the same moment.
    fn depart_as_arrive(&mut self, arrivals: &[u32]) {
        let leaving = self.transmitting;
        self.fifo.dequeue();
        let queue_is_told_later = self.counts && leaving.is_some();
        if !queue_is_told_later {
            self.queue_takes();
        }
        for &bytes in arrivals {
            let verdict = self.fifo.enqueue_as_leaves(self.arrived, bytes, leaving);
            self.queue_agrees(verdict, bytes);
            if !self.fifo.is_transmitting() {
                self.fifo.dequeue();
            }
            if self.transmitting.is_none() {
                self.queue_takes();
            }
        }
        if queue_is_told_later {
            self.queue_takes();
        }
        assert_eq!(self.fifo.waiting(), self.queue.waiting());
        assert_eq!(self.fifo.is_transmitting(), self.transmitting.is_some());
    }

    fn arrive(&mut self, bytes: u32) {
        let verdict = self.fifo.enqueue(self.arrived, bytes);
        self.queue_agrees(verdict, bytes);
        if !self.fifo.is_transmitting() {
            self.fifo.dequeue();
            self.queue_takes();
        }
    }

    fn queue_agrees(&mut self, verdict: Verdict, bytes: u32) {
        let mut dropped = Vec::new();
        let about = Arrival { bytes, flow: 0, ecn: Codepoint::Ect0, plain_ack: false };
        self.queue.enqueue(0, self.arrived, about, self.transmitting, &mut dropped);
        match verdict {
            Verdict::Dropped => assert_eq!(dropped, [self.arrived]),
            Verdict::Accepted { mark } => {
                assert_eq!(dropped, []);
                self.marks.insert(self.arrived, mark);
            }
        }
        self.arrived += 1;
    }

    fn queue_takes(&mut self) {
        let next = self.queue.dequeue(0, &mut Vec::new());
        if let Some(next) = next {
            assert_eq!(self.marks.remove(&next.packet), Some(next.mark));
        }
        self.transmitting = next.map(|next| next.bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn a_queue_decides_as_a_fifo(
        limit in prop_oneof![
            (0u32..8).prop_map(QueueLimit::Packets),
            (0u64..8000).prop_map(QueueLimit::Bytes),
            Just(QueueLimit::Unlimited),
        ],
        counting in prop_oneof![Just(Counting::WithTransmission), Just(Counting::WaitingOnly)],
        ecn_threshold in prop::option::of(0u32..6),
        rounds in prop::collection::vec((any::<bool>(), prop::collection::vec(40u32..1500, 0..5)), 1..80),
    ) {
        let mut both = Both::new(&QueueSpec { ecn_threshold, ..QueueSpec::drop_tail(limit, counting) });
        for (departs, arrivals) in rounds {
            if departs {
                both.depart_as_arrive(&arrivals);
            } else {
                arrivals.into_iter().for_each(|bytes| both.arrive(bytes));
            }
        }
    }
}

fn spec(limit: QueueLimit, counting: Counting, ecn_threshold: Option<u32>) -> QueueSpec {
    QueueSpec { ecn_threshold, ..QueueSpec::drop_tail(limit, counting) }
}

/// How many of a burst of `n` packets of 1,000 B pass; the first goes straight into transmission.
fn burst(spec: &QueueSpec, n: usize) -> (usize, usize) {
    let mut queue = Fifo::new(spec);
    let (mut passed, mut marked) = (0, 0);
    for i in 0..n {
        if let Verdict::Accepted { mark } = queue.enqueue(i, 1000) {
            passed += 1;
            marked += usize::from(mark);
            if !queue.is_transmitting() {
                queue.dequeue();
            }
        }
    }
    (passed, marked)
}

#[test]
fn counts_the_packet_in_transmission_or_not() {
    let five = QueueLimit::Packets(5);
    assert_eq!(burst(&spec(five, Counting::WithTransmission, None), 20).0, 5);
    assert_eq!(burst(&spec(five, Counting::WaitingOnly, None), 20).0, 6);
    let bytes = QueueLimit::Bytes(5000);
    assert_eq!(burst(&spec(bytes, Counting::WithTransmission, None), 20).0, 5);
    assert_eq!(burst(&spec(bytes, Counting::WaitingOnly, None), 20).0, 6);
    assert_eq!(burst(&spec(QueueLimit::Unlimited, Counting::WaitingOnly, None), 20).0, 20);
}

#[test]
fn marks_above_the_threshold() {
    // K = 3: the arrival that finds 0, 1, 2 or 3 is not marked, the one that finds 4 is. Counting the
    // packet in transmission, the fifth to tenth of a burst find 4 to 9; not counting it, the sixth on.
    let ten = QueueLimit::Packets(100);
    assert_eq!(burst(&spec(ten, Counting::WithTransmission, Some(3)), 10), (10, 6));
    assert_eq!(burst(&spec(ten, Counting::WaitingOnly, Some(3)), 10), (10, 5));
}

#[test]
fn an_idle_transmitter_takes_anything() {
    assert_eq!(burst(&spec(QueueLimit::Packets(0), Counting::WaitingOnly, None), 3).0, 1);
    assert_eq!(burst(&spec(QueueLimit::Bytes(10), Counting::WithTransmission, None), 3).0, 1);
}

#[test]
fn a_packet_that_leaves_as_another_arrives_may_still_count() {
    let limit = QueueLimit::Packets(2);
    for (counting, taken) in [(Counting::WithTransmission, false), (Counting::WaitingOnly, true)] {
        let mut queue = Fifo::new(&spec(limit, counting, None));
        queue.enqueue(0, 1000);
        queue.dequeue();
        queue.enqueue(1, 1000);
        // Packet 0 leaves and packet 1 begins just as packet 2 arrives: with packet 0 there are two.
        queue.dequeue();
        let verdict = queue.enqueue_as_leaves(2, 1000, Some(1000));
        assert_eq!(verdict != Verdict::Dropped, taken, "{counting:?}");
    }
}

#[test]
fn keeps_the_order() {
    let mut queue = Fifo::new(&spec(QueueLimit::Unlimited, Counting::WaitingOnly, None));
    for i in 0..3 {
        queue.enqueue(i, 100);
    }
    assert_eq!(queue.waiting(), 3);
    assert_eq!(std::iter::from_fn(|| queue.dequeue()).map(|(p, _)| p).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(!queue.is_transmitting());
}
