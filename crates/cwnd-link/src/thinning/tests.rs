use super::*;
use crate::Codepoint;
use crate::testing::{FULL, limits, packet, unlimited};
use cwnd_scenario::QueueLimit;

fn ack(flow: u32) -> Arrival {
    Arrival { plain_ack: true, ..packet(flow, 40, Codepoint::NotEct) }
}

/// Packets arrive, numbered from 1 on, while one is in transmission: those that are dropped.
fn arrive(queue: &mut Thinning<u32>, limits: &Limits, arrivals: &[Arrival]) -> Vec<u32> {
    let mut dropped = Vec::new();
    for (number, about) in (1..).zip(arrivals) {
        queue.enqueue(limits, 0, number, *about, Some(FULL), &mut dropped);
    }
    dropped
}

fn leave(queue: &mut Thinning<u32>) -> Vec<u32> {
    std::iter::from_fn(|| queue.dequeue(0, &mut Vec::new())).map(|departure| departure.packet).collect()
}

#[test]
fn one_ack_stands_for_so_many() {
    // 2 takes 1's place, 3 takes 2's and stands for three: that is all it may. 4 begins again.
    let mut queue = Thinning::new(3);
    assert_eq!(arrive(&mut queue, &unlimited(), &[ack(0); 5]), [1, 2, 4]);
    assert_eq!((queue.waiting(), queue.waiting_bytes()), (2, 80));
    assert_eq!(leave(&mut queue), [3, 5]);
}

#[test]
fn acks_of_other_flows_and_other_packets_are_left_alone() {
    let data = packet(0, FULL, Codepoint::NotEct);
    let mut queue = Thinning::new(10);
    // 4 takes 1's place from the midst, at the tail; 6 takes 2's.
    let arrivals = [ack(0), ack(1), data, ack(0), data, ack(1)];
    assert_eq!(arrive(&mut queue, &unlimited(), &arrivals), [1, 2]);
    assert_eq!(leave(&mut queue), [3, 4, 5, 6]);
    assert_eq!((queue.waiting(), queue.waiting_bytes()), (0, 0));
    assert!(queue.last_acks.is_empty());
}

#[test]
fn an_ack_that_has_left_is_not_dropped_any_more() {
    let mut queue = Thinning::new(10);
    assert!(arrive(&mut queue, &unlimited(), &[ack(0)]).is_empty());
    assert_eq!(leave(&mut queue), [1]);
    assert!(arrive(&mut queue, &unlimited(), &[ack(0)]).is_empty());
    // And it begins to count again: with 10 for one, nine more take each other's place.
    assert_eq!(arrive(&mut queue, &unlimited(), &[ack(0); 9]).len(), 9);
    assert_eq!(arrive(&mut queue, &unlimited(), &[ack(0)]).len(), 0);
}

#[test]
fn a_full_queue_takes_an_ack_for_another() {
    let data = packet(0, FULL, Codepoint::NotEct);
    let mut queue = Thinning::new(10);
    let two = limits(QueueLimit::Packets(2));
    // 4 does not fit, 3 and 5 take a place that is there.
    assert_eq!(arrive(&mut queue, &two, &[data, ack(0), ack(0), data, ack(0)]), [2, 4, 3]);
    assert_eq!(leave(&mut queue), [1, 5]);
}

#[test]
fn an_ack_that_does_not_fit_leaves_the_older_one() {
    let mut queue = Thinning::new(10);
    let limit = limits(QueueLimit::Bytes(1050));
    let data = packet(0, FULL, Codepoint::NotEct);
    // 40 B fit in addition to 1,000 B, 52 B do not.
    assert_eq!(arrive(&mut queue, &limit, &[data, ack(0), Arrival { bytes: 52, ..ack(0) }]), [3]);
    assert_eq!(leave(&mut queue), [1, 2]);
}

#[test]
fn places_are_used_again() {
    let mut queue = Thinning::new(2);
    for _ in 0..1000 {
        arrive(&mut queue, &unlimited(), &[ack(0), ack(1), ack(0), ack(1), ack(2)]);
        assert_eq!(leave(&mut queue), [3, 4, 5]);
    }
    assert!(queue.places.len() <= 5);
}
