use super::*;
use crate::Codepoint;
use crate::testing::{FULL, MS, limits, packet, stream, unlimited};
use cwnd_scenario::QueueLimit;

/// Packets are a flow and a number.
type Packet = (char, u32);

fn queue(quantum: u32) -> FqCoDelQueue<Packet> {
    FqCoDelQueue::new(&FqCoDel { quantum, ..FqCoDel::default() }, FULL, stream())
}

fn arrive(
    queue: &mut FqCoDelQueue<Packet>,
    limits: &Limits,
    flow: char,
    numbers: std::ops::RangeInclusive<u32>,
    bytes: u32,
) -> Vec<Packet> {
    let mut dropped = Vec::new();
    for n in numbers {
        queue.enqueue(
            limits,
            0,
            (flow, n),
            packet(flow as u32, bytes, Codepoint::NotEct),
            Some(FULL),
            &mut dropped,
        );
    }
    dropped
}

fn leave(queue: &mut FqCoDelQueue<Packet>, packets: usize) -> String {
    let text = |(flow, n): Packet| format!("{flow}{n}");
    let leave =
        std::iter::from_fn(|| queue.dequeue(0, &mut Vec::new())).map(|departure| text(departure.packet));
    leave.take(packets).collect::<Vec<_>>().join(" ")
}

#[test]
fn serves_new_flows_first_and_others_by_bytes() {
    // Quantum 1,500 B, packets of 1,000 B. Credits: A 1500, 500, -500; + 1500 = 1000 and to the old list; B the same. Then A
    // 0, + 1500; B 0, + 1500.
    let mut queue = queue(1500);
    arrive(&mut queue, &unlimited(), 'A', 1..=6, 1000);
    arrive(&mut queue, &unlimited(), 'B', 1..=6, 1000);
    assert_eq!(leave(&mut queue, 6), "A1 A2 B1 B2 A3 B3");
    // S is new: it comes first. When it has run empty it goes behind A and B. A 1500, 500, -500.
    arrive(&mut queue, &unlimited(), 'S', 1..=1, 100);
    assert_eq!(leave(&mut queue, 2), "S1 A4");
    // Now S has to wait for its turn: it stands in the old list, behind A and before B, which got its quantum after S came.
    arrive(&mut queue, &unlimited(), 'S', 2..=2, 100);
    assert_eq!(leave(&mut queue, 10), "A5 S2 B4 B5 A6 B6");
    assert_eq!((queue.waiting(), queue.waiting_bytes()), (0, 0));
}

#[test]
fn a_flow_that_left_the_lists_is_new_again() {
    let mut queue = queue(1500);
    arrive(&mut queue, &unlimited(), 'S', 1..=1, 100);
    assert_eq!(leave(&mut queue, 5), "S1");
    assert_eq!((queue.new.len, queue.old.len), (0, 0));
    arrive(&mut queue, &unlimited(), 'A', 1..=3, 1000);
    assert_eq!(leave(&mut queue, 2), "A1 A2");
    arrive(&mut queue, &unlimited(), 'S', 2..=2, 100);
    // A has used its credits up; it gives way to S, which has a new quantum.
    assert_eq!(leave(&mut queue, 2), "S2 A3");
}

#[test]
fn shares_bytes_not_packets() {
    // A quantum is one packet of A (1,500 B) or five of B (300 B).
    let mut queue = queue(1500);
    arrive(&mut queue, &unlimited(), 'A', 1..=3, 1500);
    arrive(&mut queue, &unlimited(), 'B', 1..=12, 300);
    assert_eq!(leave(&mut queue, 15), "A1 B1 B2 B3 B4 B5 A2 B6 B7 B8 B9 B10 A3 B11 B12");
}

#[test]
fn a_small_quantum_takes_several_rounds() {
    // Quantum 400 B: A's first packet leaves credits of 400 - 1000 = -600; it takes two rounds until they are over 0 (-200,
    // 200). B's of 300 B leaves 100, the next -200, then 200.
    let mut queue = queue(400);
    arrive(&mut queue, &unlimited(), 'A', 1..=2, 1000);
    arrive(&mut queue, &unlimited(), 'B', 1..=4, 300);
    assert_eq!(leave(&mut queue, 6), "A1 B1 B2 B3 A2 B4");
}

#[test]
fn the_queue_of_most_bytes_loses_half_of_its_packets() {
    let mut queue = queue(1500);
    let ten = limits(QueueLimit::Packets(10));
    assert!(arrive(&mut queue, &ten, 'A', 1..=7, 100).is_empty());
    assert!(arrive(&mut queue, &ten, 'B', 1..=3, 1500).is_empty());
    // 700 B and 4,500 B: B has most, and loses two of three, from its head.
    assert_eq!(arrive(&mut queue, &ten, 'C', 1..=1, 1500), [('B', 1), ('B', 2)]);
    assert_eq!((queue.waiting(), queue.waiting_bytes()), (9, 700 + 2 * 1500));
    // B and C have as much: the one of the lower number loses its only packet. 9 + 2 packets are one too many.
    let lower = if queue.number('B' as u32) < queue.number('C' as u32) { ('B', 3) } else { ('C', 1) };
    assert_eq!(arrive(&mut queue, &ten, 'D', 1..=2, 100), [lower]);
    assert_eq!(queue.waiting(), 10);
}

#[test]
fn loses_no_more_than_64_at_once() {
    let mut queue = queue(1500);
    let limit = limits(QueueLimit::Packets(200));
    assert!(arrive(&mut queue, &limit, 'A', 1..=200, 1000).is_empty());
    let dropped = arrive(&mut queue, &limit, 'B', 1..=1, 1000);
    assert_eq!(dropped, (1..=64).map(|n| ('A', n)).collect::<Vec<_>>());
    assert_eq!(queue.waiting(), 137);
}

#[test]
fn a_limit_in_bytes_may_take_more_than_one_batch() {
    let mut queue = queue(1500);
    let limit = limits(QueueLimit::Bytes(3000));
    assert!(arrive(&mut queue, &limit, 'A', 1..=3, 1000).is_empty());
    // B's 2,500 B: A loses 2 of 3 (3,500 B left), and then B has most, and loses its own.
    assert_eq!(arrive(&mut queue, &limit, 'B', 1..=1, 2500), [('A', 1), ('A', 2), ('B', 1)]);
    // What is larger than the limit hurts no other.
    assert_eq!(arrive(&mut queue, &limit, 'C', 1..=1, 3001), [('C', 1)]);
    assert_eq!((queue.waiting(), queue.waiting_bytes()), (1, 1000));
}

#[test]
fn each_flow_has_a_codel_of_its_own() {
    // A stands, B sends a packet each millisecond, which leaves before the next. Quanta of a packet: they take turns.
    let mut queue = queue(FULL);
    let mut dropped = Vec::new();
    arrive(&mut queue, &unlimited(), 'A', 1..=500, FULL);
    let mut first = None;
    for ms in 0..150 {
        let about = packet('B' as u32, FULL, Codepoint::NotEct);
        queue.enqueue(&unlimited(), ms * MS, ('B', ms as u32), about, Some(FULL), &mut dropped);
        queue.dequeue(ms * MS, &mut dropped);
        queue.dequeue(ms * MS, &mut dropped);
        if !dropped.is_empty() && first.is_none() {
            first = Some(ms);
        }
    }
    // A's first that has waited for 5 ms leaves at 5 ms, so its first drop is at 105 ms.
    assert_eq!(first, Some(105));
    assert_eq!(dropped, [('A', 106)]);
}

#[test]
fn flows_share_a_queue_where_there_is_but_one() {
    let mut queue = FqCoDelQueue::new(&FqCoDel { queues: 1, ..FqCoDel::default() }, FULL, stream());
    for i in 1..=2 {
        arrive(&mut queue, &unlimited(), 'A', i..=i, 1000);
        arrive(&mut queue, &unlimited(), 'B', i..=i, 1000);
    }
    assert_eq!(leave(&mut queue, 4), "A1 B1 A2 B2");
}

#[test]
fn flows_are_spread_over_all_queues() {
    let queue = queue(1500);
    let mut taken = vec![0u32; 1024];
    for flow in 0..102_400 {
        taken[queue.number(flow) as usize] += 1;
    }
    // Binomial(102,400, 1/1024): mean 100, standard deviation 10; six of them allowed.
    assert!(taken.iter().all(|&n| (40..160).contains(&n)));
}

#[test]
fn queues_are_created_on_first_use() {
    let mut queue = FqCoDelQueue::new(&FqCoDel { queues: 65_536, ..FqCoDel::default() }, FULL, stream());
    assert_eq!((queue.queues, queue.flows.len()), (65_536, 0));
    for flow in ['A', 'B', 'A', 'C', 'B'] {
        arrive(&mut queue, &unlimited(), flow, 1..=1, 100);
    }
    assert_eq!((queue.queues, queue.flows.len()), (65_536, 3));
    assert_eq!(leave(&mut queue, 5), "A1 A1 B1 B1 C1");
    // A queue that has left the lists keeps its place.
    arrive(&mut queue, &unlimited(), 'A', 2..=2, 100);
    assert_eq!(queue.flows.len(), 3);
}

#[test]
fn the_order_of_first_use_decides_nothing_among_equals() {
    let one = limits(QueueLimit::Packets(1));
    for (first, second) in [('A', 'B'), ('B', 'A')] {
        let mut queue = queue(1500);
        assert!(arrive(&mut queue, &one, first, 1..=1, 1000).is_empty());
        // One packet more than the limit of waiting packets, not counting the one in transmission.
        let lower = if queue.number('A' as u32) < queue.number('B' as u32) { 'A' } else { 'B' };
        assert_eq!(arrive(&mut queue, &one, second, 1..=1, 1000), [(lower, 1)]);
    }
}
