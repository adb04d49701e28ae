use super::*;
use crate::Codepoint;
use crate::testing::{FULL, MS, assert_near, full, limits, markable, packet, stream, unlimited};
use cwnd_scenario::{QueueLimit, Time};

fn queue(pie: Pie) -> PieQueue<u32> {
    PieQueue::new(&pie, FULL, stream())
}

/// A packet comes each millisecond, and leaves 30 ms later, just after the next one came. So the head has waited for 15 ms
/// when it is looked at first, at 15 ms, and for 30 ms whenever it is after that.
fn late_by_30_ms(queue: &mut PieQueue<u32>, ms: std::ops::Range<u64>) {
    for ms in ms {
        queue.enqueue(&unlimited(), ms * MS, 0, full(), Some(FULL), &mut Vec::new());
        if ms >= 30 {
            queue.dequeue(ms * MS, &mut Vec::new());
        }
    }
}

#[test]
fn steers_by_delay_and_trend_in_small_steps() {
    let mut queue = queue(Pie::default());
    let mut now = 0;
    let mut probability = 0.0;
    for (step, divisor) in [
        // d 15, d_old 0: 0.125 x 0 + 1.25 x 0.015; p < 1e-6.
        (0.01875, 2048.0),
        // d 30, d_old 15: 0.125 x 0.015 + 1.25 x 0.015; p = 9.2e-6 < 1e-5.
        (0.020625, 512.0),
        // d 30, d_old 30: 0.125 x 0.015; p = 4.9e-5, 6.4e-5, 7.9e-5, 9.3e-5 < 1e-4.
        (0.001875, 128.0),
        (0.001875, 128.0),
        (0.001875, 128.0),
        (0.001875, 128.0),
        // p = 1.1e-4 < 1e-3.
        (0.001875, 32.0),
    ] {
        // The update is made at the first call at its time.
        late_by_30_ms(&mut queue, now..now + 15);
        now += 15;
        queue.catch_up(now * MS);
        probability += step / divisor;
        assert_near(queue.probability, probability);
    }
}

#[test]
fn adds_no_more_than_two_percent_from_a_tenth_on() {
    let mut queue = queue(Pie::default());
    queue.probability = 0.2;
    queue.enqueue(&unlimited(), 0, 0, full(), None, &mut Vec::new());
    // d 300, d_old 0: 0.125 x 0.285 + 1.25 x 0.3 = 0.41.
    queue.update(300 * MS);
    assert_near(queue.probability, 0.22);
    // Downwards it may: d 0, d_old 300: -0.125 x 0.015 - 1.25 x 0.3 = -0.376875, and no less than 0.
    queue.dequeue(301 * MS, &mut Vec::new());
    queue.update(315 * MS);
    assert_eq!(queue.probability, 0.0);
}

#[test]
fn decays_when_congestion_is_gone() {
    let mut queue = queue(Pie::default());
    queue.probability = 0.5;
    // (0.5 - 0.125 x 0.015) x 0.98 = 0.4881625; (0.4881625 - 0.001875) x 0.98 = 0.47656175.
    queue.dequeue(15 * MS, &mut Vec::new());
    assert_near(queue.probability, 0.488_162_5);
    queue.dequeue(30 * MS, &mut Vec::new());
    assert_near(queue.probability, 0.476_561_75);
    // Not yet, when it is only just gone: 0.9 - 0.125 x 0.015 - 1.25 x 0.02 = 0.873125.
    (queue.probability, queue.delay) = (0.9, 20 * MS);
    queue.dequeue(45 * MS, &mut Vec::new());
    assert_near(queue.probability, 0.873_125);
}

#[test]
fn allows_a_burst_and_another_one_when_all_is_calm() {
    let mut queue = queue(Pie::default());
    for (ms, burst) in [(1, 150), (16, 135), (31, 120), (149, 15), (151, 0)] {
        let mut queue = queue.clone();
        late_by_30_ms(&mut queue, 0..ms);
        assert_eq!(queue.burst, burst * MS, "{ms}");
    }
    // With p = 1 all pass while it lasts, and none after it.
    let pass = |queue: &mut PieQueue<u32>, now: u64| {
        let mut dropped = Vec::new();
        queue.enqueue(&unlimited(), now, 0, full(), Some(FULL), &mut dropped);
        dropped.is_empty()
    };
    late_by_30_ms(&mut queue, 0..150);
    queue.probability = 1.0;
    assert!(pass(&mut queue, 150 * MS - 1));
    assert!(!pass(&mut queue, 150 * MS));
    // Empty for a long time: p falls to 0, and there may be a burst again.
    while queue.dequeue(151 * MS, &mut Vec::new()).is_some() {}
    assert!(pass(&mut queue, 3600 * 1000 * MS));
    assert_eq!((queue.probability, queue.burst), (0.0, 150 * MS));
}

#[test]
fn lets_all_pass_while_delay_and_probability_are_small_or_hardly_anything_waits() {
    let mut queue = queue(Pie::default());
    (queue.burst, queue.probability, queue.delay) = (0, 1.0, 20 * MS);
    let mut dropped = Vec::new();
    // The third finds 2,000 B, two full packets; the fourth a byte more.
    for bytes in [FULL, FULL, 1, 1] {
        queue.enqueue(&unlimited(), 0, bytes, packet(0, bytes, Codepoint::NotEct), Some(FULL), &mut dropped);
    }
    assert_eq!(dropped, [1]);
    for (probability, delay, passes) in
        [(0.19, 7 * MS, true), (0.2, 7 * MS, false), (0.19, 7 * MS + MS / 2, false)]
    {
        (queue.probability, queue.delay) = (probability, delay);
        let before = queue.waiting();
        for _ in 0..200 {
            queue.enqueue(&unlimited(), 0, 0, full(), Some(FULL), &mut dropped);
        }
        assert_eq!(queue.waiting() - before == 200, passes, "{probability} {delay}");
    }
}

#[test]
fn drops_with_its_probability_and_marks_while_that_is_small() {
    for (probability, about, ecn, marks) in
        [(0.3, full(), false, false), (0.09, markable(), true, true), (0.1, markable(), true, false)]
    {
        let mut queue = queue(Pie { ecn, ..Pie::default() });
        let mut dropped = Vec::new();
        for _ in 0..3 {
            queue.enqueue(&unlimited(), 0, 0, full(), Some(FULL), &mut dropped);
        }
        (queue.burst, queue.probability, queue.delay) = (0, probability, 20 * MS);
        for _ in 0..20_000 {
            queue.enqueue(&unlimited(), 0, 0, about, Some(FULL), &mut dropped);
        }
        let leave = std::iter::from_fn(|| queue.dequeue(0, &mut Vec::new()));
        let marked = leave.filter(|departure| departure.mark).count();
        let hits = if marks { marked } else { dropped.len() };
        assert_eq!(marked + dropped.len(), hits);
        // Binomial(20,000, p): five standard deviations allowed.
        let deviation = libm::sqrt(20_000.0 * probability * (1.0 - probability));
        assert!((hits as f64 - 20_000.0 * probability).abs() < 5.0 * deviation, "{hits}");
    }
}

#[test]
fn a_leap_in_time_is_as_good_as_many_calls() {
    // With an empty queue, with one whose head waits and waits, and with one that has waited for long already.
    for (packets, start) in [(0, 0.7), (5, 0.0), (5, 1.0)] {
        let mut calls = queue(Pie { update: Time::from_millis(7), ..Pie::default() });
        calls.probability = start;
        for _ in 0..packets {
            calls.enqueue(&unlimited(), 0, 0, full(), Some(FULL), &mut Vec::new());
        }
        let mut leap = calls.clone();
        for ms in 0..60_000 {
            if calls.updates.is_due(ms * MS) {
                calls.catch_up(ms * MS);
            }
        }
        leap.catch_up(59_999 * MS);
        assert_eq!(leap.probability.to_bits(), calls.probability.to_bits());
        assert_eq!((leap.delay, leap.burst), (calls.delay, calls.burst));
        assert_eq!(leap.updates.take(60_005 * MS), calls.updates.take(60_005 * MS));
    }
}

#[test]
fn drops_what_does_not_fit() {
    let mut queue = queue(Pie::default());
    let mut dropped = Vec::new();
    for i in 0..4 {
        queue.enqueue(&limits(QueueLimit::Packets(3)), 0, i, full(), Some(FULL), &mut dropped);
    }
    assert_eq!(dropped, [3]);
}
