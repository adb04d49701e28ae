use super::*;
use crate::Codepoint;
use crate::testing::{FULL, MS, full, limits, markable, packet, unlimited};
use cwnd_scenario::{QueueLimit, Time};

fn queue(ecn: bool) -> CoDelQueue<u32> {
    CoDelQueue::new(&CoDel { ecn, ..CoDel::default() }, FULL)
}

fn fill(queue: &mut CoDelQueue<u32>, now: u64, packets: u32, about: Arrival) {
    for i in 0..packets {
        queue.enqueue(&unlimited(), now, i, about, Some(FULL), &mut Vec::new());
    }
}

/// A departure each millisecond: the milliseconds at which packets were dropped or marked, a drop as often as there was
/// one.
fn hits(queue: &mut CoDelQueue<u32>, from: u64, to: u64) -> Vec<u64> {
    let mut hits = Vec::new();
    for ms in from..to {
        let mut dropped = Vec::new();
        let departure = queue.dequeue(ms * MS, &mut dropped).expect("it is long enough");
        hits.extend(dropped.iter().map(|_| ms));
        hits.extend(departure.mark.then_some(ms));
    }
    hits
}

/// Of a queue that stood full at zero and is served each millisecond, the packet that leaves at t has waited for t. It is
/// bad from 5 ms on and drops from 105 ms on. Then, with drops due at
///   205 = 105 + 100/sqrt(1), 275.711 = 205 + 100/sqrt(2), 333.446 = ... + 100/sqrt(3), 383.446, 428.167 and 468.992
/// the next departures drop.
const TABLE: [u64; 7] = [105, 205, 276, 334, 384, 429, 469];

#[test]
fn drops_by_the_control_law() {
    let mut queue = queue(false);
    fill(&mut queue, 0, 2000, full());
    assert_eq!(hits(&mut queue, 0, 500), TABLE);
    // 105 + 100 x (1 + 0.70710678 + 0.57735027 + 0.5 + 0.44721360 + 0.40824829 + 0.37796447) ms.
    assert!(queue.control.drop_next.abs_diff(506_788_341) < 10, "{}", queue.control.drop_next);
}

#[test]
fn marks_at_the_same_times() {
    let mut queue = queue(true);
    fill(&mut queue, 0, 2000, markable());
    assert_eq!(hits(&mut queue, 0, 500), TABLE);
    // None was dropped.
    assert_eq!(queue.waiting(), 1500);
}

#[test]
fn one_short_wait_forgets_it_all() {
    let mut queue = queue(false);
    fill(&mut queue, 0, 90, full());
    fill(&mut queue, 86 * MS, 1000, full());
    // 0 to 89 ms: the first ninety. At 90 ms one leaves that has waited for 4 ms. At 91 ms one has waited for 5 ms: bad at
    // 191 ms.
    assert_eq!(hits(&mut queue, 0, 200), [191]);
}

#[test]
fn coming_back_soon_it_goes_on_where_it_was() {
    for (again, drops) in [
        // Drops 1 to 6 until 429 ms; due next at 468.992. Bad again at 605 ms, it counts from 6 - 1 = 5:
        // 605 + 100/sqrt(5) = 649.721, and 100/sqrt(6) later 690.546.
        (500, [605, 650, 691]),
        // At 2068 ms that is 1599 ms ago, under 16 intervals: + 44.721 = 2112.721, + 40.825 = 2153.546.
        (1963, [2068, 2113, 2154]),
        // At 2069 ms it is 1600.008 ms ago, and it begins with 1: + 100, + 70.711 = 2239.711.
        (1964, [2069, 2169, 2240]),
    ] {
        let mut queue = queue(false);
        fill(&mut queue, 0, 2000, full());
        assert_eq!(hits(&mut queue, 0, 430), TABLE[..6]);
        while queue.dequeue(430 * MS, &mut Vec::new()).is_some() {}
        fill(&mut queue, again * MS, 2000, full());
        assert_eq!(hits(&mut queue, again, again + 280)[..3], drops, "{again}");
    }
}

#[test]
fn no_more_than_a_full_packet_behind_is_never_bad() {
    // Every packet waits for 40 ms, and leaves two behind it: together a full packet, or a byte more.
    for (bytes, is_bad) in [(FULL / 2, false), (FULL / 2 + 1, true)] {
        let mut queue = queue(false);
        let mut dropped = Vec::new();
        for ms in (0..10_000).step_by(20) {
            fill(&mut queue, ms * MS, 1, packet(0, bytes, Codepoint::NotEct));
            if queue.waiting() > 2 {
                queue.dequeue(ms * MS, &mut dropped);
            }
        }
        assert_eq!(!dropped.is_empty(), is_bad);
    }
}

#[test]
fn makes_up_for_drops_but_not_for_marks_at_one_departure() {
    // After the drop at 105 ms nothing leaves before 400 ms: due were 205, 275.7, 333.4, 383.4; 428.2 is not yet.
    for (ecn, about, hit) in [(false, full(), 4), (true, markable(), 1)] {
        let mut queue = queue(ecn);
        fill(&mut queue, 0, 500, about);
        assert_eq!(hits(&mut queue, 0, 200), [105]);
        assert_eq!(hits(&mut queue, 400, 401).len(), hit);
        // A mark each at the next departures.
        assert_eq!(hits(&mut queue, 401, 405).len(), 4 - hit);
    }
}

#[test]
fn other_parameters_hold_at_once() {
    let mut queue = queue(false);
    fill(&mut queue, 0, 1000, full());
    assert_eq!(hits(&mut queue, 0, 100), []);
    queue.set(&CoDel { target: Time::from_millis(1000), ..CoDel::default() });
    assert_eq!(hits(&mut queue, 100, 500), []);
}

#[test]
fn drops_at_the_tail_what_does_not_fit() {
    let mut queue = queue(false);
    let mut dropped = Vec::new();
    for i in 0..5 {
        queue.enqueue(&limits(QueueLimit::Bytes(3000)), 0, i, full(), Some(FULL), &mut dropped);
    }
    assert_eq!(dropped, [3, 4]);
    assert_eq!(queue.waiting_bytes(), 3000);
}
