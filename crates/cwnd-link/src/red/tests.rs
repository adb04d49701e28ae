use super::*;
use crate::testing::{FULL, MS, assert_near, full, limits, markable, stream, unlimited};
use cwnd_scenario::QueueLimit;

/// 8 Mbit/s: a full packet takes a millisecond.
fn queue(red: Red) -> RedQueue<u32> {
    RedQueue::new(&red, Rate(8_000_000), FULL, stream())
}

fn arrive(queue: &mut RedQueue<u32>, now: u64, about: Arrival) -> bool {
    let mut dropped = Vec::new();
    queue.enqueue(&unlimited(), now, 0, about, Some(FULL), &mut dropped);
    dropped.is_empty()
}

#[test]
fn averages_what_arrivals_find() {
    let mut queue = queue(Red { weight: 0.25, min: 1e6, max: 2e6, ..Red::default() });
    // They find 0, 1, 2, 3 and 4 packets: 0; 1/4; 3/16 + 2/4 = 11/16; 33/64 + 3/4 = 81/64; 243/256 + 1 = 499/256.
    for average in [0.0, 1.0 / 4.0, 11.0 / 16.0, 81.0 / 64.0, 499.0 / 256.0] {
        assert!(arrive(&mut queue, 0, full()));
        assert_eq!(queue.average, average);
    }
}

#[test]
fn an_idle_link_counts_as_packets_that_found_nothing() {
    let mut queue = queue(Red { weight: 0.5, ..Red::default() });
    arrive(&mut queue, 0, full());
    queue.dequeue(10 * MS, &mut Vec::new());
    queue.average = 2.0;
    // Sent at 11 ms. At 14 ms it has been idle for m = 3 packets' times: 2 x (1/2)^3 = 1/4.
    queue.enqueue(&unlimited(), 14 * MS, 0, full(), None, &mut Vec::new());
    assert_near(queue.average, 0.25);
    queue.dequeue(14 * MS, &mut Vec::new());
    // Found in transmission at 14.5 ms, it is no idle time: 1/8.
    arrive(&mut queue, 14 * MS + MS / 2, full());
    assert_near(queue.average, 0.125);
}

#[test]
fn with_a_weight_of_one_an_idle_link_has_an_average_of_nothing() {
    let mut queue = queue(Red { weight: 1.0, ..Red::default() });
    queue.average = 7.0;
    queue.enqueue(&unlimited(), 0, 0, full(), None, &mut Vec::new());
    assert_eq!(queue.average, 0.0);
}

#[test]
fn gaps_between_hits_are_uniform() {
    // min 5, max 15, p_max 0.5, avg 10: p_b = 1/4. After a hit p_a is (1/4)/(3/4) = 1/3, then (1/4)/(2/4) = 1/2, then 1:
    // gaps of 1, 2 and 3 packets with 1/3, 2/3 x 1/2 and 2/3 x 1/2 x 1, a third each.
    let mut queue = queue(Red { p_max: 0.5, ..Red::default() });
    queue.average = 10.0;
    while queue.verdict() == Verdict::Pass {}
    let mut gaps = [0u32; 4];
    for _ in 0..30_000 {
        let gap = 1 + (0..).take_while(|_| queue.verdict() == Verdict::Pass).count();
        gaps[gap.min(4) - 1] += 1;
    }
    // Binomial(30,000, 1/3): standard deviation 82; five of them allowed.
    assert!(gaps[..3].iter().all(|&n| n.abs_diff(10_000) < 410), "{gaps:?}");
    assert_eq!(gaps[3], 0);
}

#[test]
fn the_first_packets_over_the_minimum_have_one_more_chance() {
    // From count = -1, p_a is 1/4, 1/3, 1/2, 1: 1 to 4 packets, a quarter each.
    let mut queue = queue(Red { p_max: 0.5, ..Red::default() });
    let mut gaps = [0u32; 5];
    for _ in 0..20_000 {
        queue.average = 4.999;
        assert_eq!(queue.verdict(), Verdict::Pass);
        queue.average = 10.0;
        let gap = 1 + (0..).take_while(|_| queue.verdict() == Verdict::Pass).count();
        gaps[gap.min(5) - 1] += 1;
    }
    // Binomial(20,000, 1/4): standard deviation 61.
    assert!(gaps[..4].iter().all(|&n| n.abs_diff(5000) < 306), "{gaps:?}");
    assert_eq!(gaps[4], 0);
}

#[test]
fn gentle_rises_to_one_at_twice_the_maximum() {
    let mut queue = queue(Red::default());
    let mut hits = 0u32;
    for _ in 0..20_000 {
        // p_b = 0.1 + 0.9 x (20 - 15)/15 = 0.4, for the first packet.
        (queue.average, queue.count) = (20.0, -1);
        hits += u32::from(queue.verdict() == Verdict::Hit);
    }
    // Binomial(20,000, 0.4): standard deviation 69.
    assert!(hits.abs_diff(8000) < 346, "{hits}");
    queue.average = 30.0;
    assert_eq!(queue.verdict(), Verdict::Drop);
    queue.set(&Red { gentle: false, ..Red::default() });
    queue.average = 15.0;
    assert_eq!(queue.verdict(), Verdict::Drop);
}

#[test]
fn marks_instead_of_dropping_up_to_where_the_probability_is_one() {
    // The average does not move; p_a is 1/4, 1/3, 1/2, 1, so of four packets one at least is hit.
    let red = Red { p_max: 0.5, weight: 0.0, ecn: true, ..Red::default() };
    for (average, about, dropped, marked) in
        [(10.0, markable(), false, true), (10.0, full(), true, false), (30.0, markable(), true, false)]
    {
        let mut queue = queue(red);
        queue.average = average;
        let passed = (0..4).filter(|_| arrive(&mut queue, 0, about)).count();
        assert_eq!(passed < 4, dropped);
        let leave = std::iter::from_fn(|| queue.dequeue(0, &mut Vec::new()));
        assert_eq!(leave.filter(|departure| departure.mark).count() > 0, marked);
    }
}

#[test]
fn equal_thresholds_and_a_weight_of_one_are_a_threshold_on_the_queue() {
    let red = Red { min: 3.0, max: 3.0, weight: 1.0, ecn: true, ..Red::default() };
    // A burst of ten that can be marked finds 0 to 9: those that find 3 or more are marked.
    let mut marking = queue(red);
    assert!((0..10).all(|_| arrive(&mut marking, 0, markable())));
    let marks: Vec<bool> =
        std::iter::from_fn(|| marking.dequeue(0, &mut Vec::new())).map(|departure| departure.mark).collect();
    assert_eq!(marks, [false, false, false, true, true, true, true, true, true, true]);
    // Of those that cannot, three pass.
    let mut dropping = queue(red);
    assert_eq!((0..10).filter(|_| arrive(&mut dropping, 0, full())).count(), 3);
}

#[test]
fn what_does_not_fit_counts_as_a_hit() {
    let mut queue = queue(Red { p_max: 1e-9, weight: 0.0, ..Red::default() });
    queue.average = 10.0;
    let mut dropped = Vec::new();
    for i in 0..4 {
        queue.enqueue(&limits(QueueLimit::Packets(3)), 0, i, full(), Some(FULL), &mut dropped);
        // 0, 1, 2, and then 3 no more.
        assert_eq!(queue.count, [0, 1, 2, 0][i as usize]);
    }
    assert_eq!(dropped, [3]);
}
