//! A drop-tail `Queue` decides as `Fifo` does, though it is notified of simultaneous events in another way.
//!
//! `Fifo` hears of a departure first and then of arrivals at the same moment, with the packet that has left. Where what is in
//! transmission counts, `Queue` hears of those arrivals first, while that packet is still there.

use cwnd_link::{Arrival, Codepoint, Fifo, Purpose, Queue, Stream, Verdict};
use cwnd_scenario::{Counting, QueueLimit, QueueSpec, Rate};
use proptest::prelude::*;
use std::collections::BTreeMap;

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
