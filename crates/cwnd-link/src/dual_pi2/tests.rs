use super::*;
use crate::testing::{FULL, MS, assert_near, limits, packet, unlimited};
use cwnd_scenario::QueueLimit;

fn queue() -> DualPi2Queue<u32> {
    DualPi2Queue::new(&DualPi2::default())
}

fn arrive(queue: &mut DualPi2Queue<u32>, now: u64, number: u32, ecn: Codepoint) {
    queue.enqueue(&unlimited(), now, number, packet(0, FULL, ecn), Some(FULL), &mut Vec::new());
}

/// Fix the base probability, as if updates had led there.
fn fix(queue: &mut DualPi2Queue<u32>, base: f64) {
    queue.base = base;
    queue.couple();
}

/// What becomes of packets that leave now: `.` passes, `m` is marked, `d` is dropped.
fn fates(queue: &mut DualPi2Queue<u32>, now: u64, packets: u32, ecn: Codepoint) -> String {
    for number in 0..packets {
        arrive(queue, now, number, ecn);
    }
    let mut fates = vec!['d'; packets as usize];
    while let Some(departure) = queue.dequeue(now, &mut Vec::new()) {
        fates[departure.packet as usize] = if departure.mark { 'm' } else { '.' };
    }
    fates.into_iter().collect()
}

#[test]
fn the_base_probability_follows_delay_and_trend() {
    let mut queue = queue();
    for ms in 0..=48 {
        // A packet comes each millisecond and leaves 32 ms later.
        arrive(&mut queue, ms * MS, 0, Codepoint::NotEct);
        if ms >= 32 {
            assert!(queue.dequeue(ms * MS, &mut Vec::new()).is_some());
        }
        match ms {
            // d 16, d_old 0: 0.16 x 0.001 + 3.2 x 0.016 = 0.05136.
            16 => assert_near(queue.base, 0.051_36),
            // d 32, d_old 16: 0.16 x 0.017 + 3.2 x 0.016 = 0.05392.
            32 => assert_near(queue.base, 0.105_28),
            // d 32, d_old 32: 0.16 x 0.017 = 0.00272.
            48 => assert_near(queue.base, 0.108),
            _ => {}
        }
    }
    // p_C = 0.108^2, p_CL = 2 x 0.108.
    assert_near(queue.classic_probability, 0.011_664);
    assert_near(queue.coupled, 0.216);
}

#[test]
fn the_delay_is_that_of_the_queue_whose_head_is_older() {
    for (first, second) in [(Codepoint::Ect1, Codepoint::Ect0), (Codepoint::Ect0, Codepoint::Ect1)] {
        let mut queue = queue();
        arrive(&mut queue, 0, 0, first);
        arrive(&mut queue, 10 * MS, 0, second);
        assert_eq!(queue.delay_at(16 * MS), 16 * MS);
    }
}

#[test]
fn l_packets_are_marked_with_k_p_and_classic_ones_hit_with_p_squared() {
    // p' = 1/4. p_CL = 1/2: sums 0.5, 1, 1.5 (over 1: a mark, 0.5 stays), 1, 1.5, ...
    let mut queue = queue();
    fix(&mut queue, 0.25);
    assert_eq!(fates(&mut queue, 0, 8, Codepoint::Ect1), "..m.m.m.");
    // p_C = 1/16: the 17th is the first over 1 (17/16), then each 16th.
    assert_eq!(fates(&mut queue, 0, 34, Codepoint::Ect0), "................m...............m.");
    let mut queue = self::queue();
    fix(&mut queue, 0.25);
    assert_eq!(fates(&mut queue, 0, 18, Codepoint::NotEct), "................d.");
}

#[test]
fn packets_go_into_the_queue_of_their_codepoint() {
    let mut queue = queue();
    for ecn in [Codepoint::Ect1, Codepoint::Ce, Codepoint::Ect0, Codepoint::NotEct] {
        arrive(&mut queue, 0, 0, ecn);
    }
    assert_eq!((queue.low_latency.len(), queue.classic.len()), (2, 2));
    assert_eq!((queue.waiting(), queue.waiting_bytes()), (4, 4000));
}

#[test]
fn l_packets_that_waited_longer_than_the_step_are_marked() {
    for (waited, fates) in [
        // Not over it.
        (MS, ".....".to_string()),
        // The sum is 1 at the first, over 1 at the next, and stays 1; behind the last none waits.
        (MS + 1, ".mmm.".to_string()),
    ] {
        let mut queue = queue();
        (0..5).for_each(|number| arrive(&mut queue, 0, number, Codepoint::Ect1));
        let leave = std::iter::from_fn(|| queue.dequeue(waited, &mut Vec::new()));
        assert_eq!(leave.map(|departure| if departure.mark { 'm' } else { '.' }).collect::<String>(), fates);
    }
}

#[test]
fn overload_drops_in_both_queues() {
    // p' = 1/2: p_C = 1/4 is not over 1/4. Sums of 1/4: over 1 at the fifth, then each fourth.
    let mut queue = queue();
    fix(&mut queue, 0.5);
    assert_eq!(fates(&mut queue, 0, 10, Codepoint::Ect0), "....m...m.");
    // p' = 3/4: p_C = 9/16. 0.5625, 1.125 (over: 0.125), 0.6875, 1.25 (0.25), 0.8125, 1.375 (0.375), 0.9375,
    // 1.5 (0.5), 1.0625 (0.0625), 0.625.
    let mut queue = self::queue();
    fix(&mut queue, 0.75);
    assert_eq!(fates(&mut queue, 0, 10, Codepoint::Ect0), ".d.d.d.dd.");
    // So many L packets are dropped too, and the others marked with p_CL = 1: all but the first, as above.
    let mut queue = self::queue();
    fix(&mut queue, 0.75);
    assert_eq!(fates(&mut queue, 0, 10, Codepoint::Ect1), ".dmdmdmddm");
}

#[test]
fn the_classic_queue_has_its_share_while_both_have_packets() {
    let order = |queue: &mut DualPi2Queue<u32>| -> String {
        let leave = std::iter::from_fn(|| queue.dequeue(0, &mut Vec::new()));
        leave.map(|departure| if departure.packet == 0 { 'C' } else { 'L' }).collect()
    };
    // A share of a quarter: three L packets owe a C packet 3 x 250 B, which is what it costs. Then none is left to share
    // with.
    let mut queue = DualPi2Queue::new(&DualPi2 { classic_share: 0.25, ..DualPi2::default() });
    (0..3).for_each(|_| arrive(&mut queue, 0, 0, Codepoint::NotEct));
    (0..8).for_each(|_| arrive(&mut queue, 0, 1, Codepoint::Ect1));
    assert_eq!(order(&mut queue), "LLLCLLLCLLC");
    // L packets that leave while no classic one waits owe nothing.
    let mut queue = DualPi2Queue::new(&DualPi2 { classic_share: 0.25, ..DualPi2::default() });
    (0..8).for_each(|_| arrive(&mut queue, 0, 1, Codepoint::Ect1));
    (0..4).for_each(|_| assert!(queue.dequeue(0, &mut Vec::new()).is_some()));
    arrive(&mut queue, 0, 0, Codepoint::NotEct);
    assert_eq!(order(&mut queue), "LLLCL");
    // A tenth: nine for one.
    let mut queue = self::queue();
    (0..3).for_each(|_| arrive(&mut queue, 0, 0, Codepoint::NotEct));
    (0..20).for_each(|_| arrive(&mut queue, 0, 1, Codepoint::Ect1));
    assert_eq!(order(&mut queue), "LLLLLLLLLCLLLLLLLLLCLLC");
}

#[test]
fn a_dropped_packet_costs_its_queue_nothing() {
    let mut queue = DualPi2Queue::new(&DualPi2 { classic_share: 0.5, ..DualPi2::default() });
    // Each classic packet is dropped (the sum is over 1 from the second on), L packets as well: p' = 1.
    fix(&mut queue, 1.0);
    queue.classic_hits.0 = 1.0;
    (0..4).for_each(|_| arrive(&mut queue, 0, 0, Codepoint::NotEct));
    (0..4).for_each(|_| arrive(&mut queue, 0, 1, Codepoint::Ect1));
    let mut dropped = Vec::new();
    // The first L packet passes, and owes C 500 B: that is what a C packet costs. All C packets are dropped without
    // paying, then the L packets.
    assert_eq!(queue.dequeue(0, &mut dropped).map(|departure| departure.packet), Some(1));
    assert_eq!(queue.dequeue(0, &mut dropped), None);
    assert_eq!(dropped, [0, 0, 0, 0, 1, 1, 1]);
}

#[test]
fn a_leap_in_time_is_as_good_as_many_calls() {
    for (packets, start) in [(0, 0.7), (5, 0.0), (5, 1.0)] {
        let mut calls = queue();
        fix(&mut calls, start);
        (0..packets).for_each(|_| arrive(&mut calls, 0, 0, Codepoint::Ect0));
        let mut leap = calls.clone();
        for ms in 0..60_000 {
            if calls.updates.is_due(ms * MS) {
                calls.catch_up(ms * MS);
            }
        }
        leap.catch_up(59_999 * MS);
        assert_eq!((leap.base.to_bits(), leap.delay), (calls.base.to_bits(), calls.delay));
        assert_eq!(leap.updates.take(60_005 * MS), calls.updates.take(60_005 * MS));
    }
}

#[test]
fn the_limit_is_for_both_queues_together() {
    let mut queue = queue();
    let mut dropped = Vec::new();
    for (number, ecn) in
        [Codepoint::Ect1, Codepoint::Ect0, Codepoint::Ect1, Codepoint::NotEct].into_iter().enumerate()
    {
        let about = packet(0, FULL, ecn);
        queue.enqueue(&limits(QueueLimit::Packets(3)), 0, number as u32, about, Some(FULL), &mut dropped);
    }
    assert_eq!(dropped, [3]);
}
