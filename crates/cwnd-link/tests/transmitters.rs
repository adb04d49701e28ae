//! What holds for every transmitter, whatever its schedule.

use cwnd_link::Transmitter;
use cwnd_scenario::{DeliveryTrace, Rate, Schedule, Step, Steps, Time};
use proptest::prelude::*;
use std::collections::VecDeque;

/// Rates from this least one to more than any link has, outages among them.
fn rate(least: u64) -> impl Strategy<Value = Rate> {
    prop_oneof![
        1 => Just(0),
        1 => Just(u64::MAX),
        4 => least..100 * least,
        2 => least..20_000_000_000_000,
    ]
    .prop_map(Rate)
}

/// The link's own rate, and steps that are some nanoseconds, microseconds or milliseconds apart; the slower they come, the
/// slower the link may be, so that no packet sees more than some thousands of them.
fn schedule() -> impl Strategy<Value = (Rate, Steps)> {
    prop::sample::select(vec![1u64, 1000, 1_000_000]).prop_flat_map(|unit| {
        let least = 1_000_000_000 / unit;
        let gap = 1..100 * unit;
        let steps = prop::collection::vec((gap.clone(), rate(least)), 1..8);
        (rate(least), steps, any::<bool>(), prop::option::of(gap)).prop_map(|(own, gaps, at_zero, after)| {
            let mut at = 0;
            let step = |(i, &(gap, rate)): (usize, &(u64, Rate))| {
                at += if i == 0 && at_zero { 0 } else { gap };
                Step { at: Time(at), rate, delay: Time::ZERO }
            };
            let steps: Vec<Step> = gaps.iter().enumerate().map(step).collect();
            (own, Steps { steps, period: after.map(|after| Time(at + after)) })
        })
    })
}

fn trace() -> impl Strategy<Value = DeliveryTrace> {
    prop::collection::vec(0u32..4, 1..12).prop_map(|gaps| {
        let mut last = 0;
        let mut times: Vec<u32> = gaps.iter().map(|gap| (last += gap, last).1).collect();
        if last == 0 {
            times.push(1);
        }
        DeliveryTrace { name: "random".to_owned(), times_ms: times.into() }
    })
}

/// Packets: how long the transmitter is idle before each (nothing: it waits), and bytes.
fn packets(longest: u64) -> impl Strategy<Value = Vec<(u64, u32)>> {
    let idle = prop_oneof![4 => Just(0), 2 => 0..longest.min(1000), 1 => 0..longest];
    prop::collection::vec((idle, prop_oneof![3 => 40u32..1600, 1 => 1u32..65_536]), 1..30)
}

proptest! {
    #[test]
    fn nothing_falls_and_the_bound_holds(
        (own, steps) in schedule(), packets in packets(10_000_000_000), origin in 0u64..1_000_000,
    ) {
        let mut transmitter = Transmitter::new(own, Some(&Schedule::Steps(steps)), origin);
        let mut now = 0;
        for (idle, bytes) in packets {
            now += idle;
            let leaves = transmitter.finish(now, bytes, idle == 0);
            prop_assert!(leaves >= now);
            prop_assert!(leaves == u64::MAX || leaves - now >= transmitter.least_time(bytes));
            if leaves == u64::MAX {
                break;
            }
            now = leaves;
        }
    }

    /// A schedule is nothing but live changes at given times.
    #[test]
    fn steps_are_live_changes(
        (own, steps) in schedule(), packets in packets(20_000), origin in 0u64..1_000_000,
    ) {
        let mut scheduled = Transmitter::new(own, Some(&Schedule::Steps(steps.clone())), origin);
        let mut live = Transmitter::new(own, None, origin);
        let mut changes = Changes { own, steps, next: 0, base: origin };
        let mut now = 0;
        for (idle, bytes) in packets {
            now += idle;
            while let Some((at, rate)) = changes.until(now) {
                live.set_rate(at, rate, None);
            }
            let mut leaves = live.finish(now, bytes, idle == 0);
            // A packet that sees very many of them shows no more than one that sees some hundreds.
            let mut seen = 0;
            while let Some((at, rate)) = changes.until(leaves.saturating_sub(1)) {
                leaves = live.set_rate(at, rate, Some(leaves)).expect("it is in transmission");
                seen += 1;
                if seen == 500 {
                    return Ok(());
                }
            }
            let answer = scheduled.finish(now, bytes, idle == 0);
            if leaves == u64::MAX {
                prop_assert_eq!(answer, u64::MAX);
                break;
            }
            // Where rounding at steps would go below what is promised, the schedule goes by its promise.
            prop_assert_eq!(answer, leaves.max(now + scheduled.least_time(bytes)));
            if answer != leaves {
                break;
            }
            now = leaves;
        }
    }

    #[test]
    fn live_changes_never_turn_time_back(
        (own, steps) in schedule(),
        packets in prop::collection::vec((0u64..100_000, 1u32..65_536, prop::option::of((0u64..50_000, rate(1_000_000_000)))), 1..30),
        origin in 0u64..1_000_000,
    ) {
        let mut transmitter = Transmitter::new(own, Some(&Schedule::Steps(steps)), origin);
        let mut now = 0;
        for (idle, bytes, change) in packets {
            now += idle;
            let mut leaves = transmitter.finish(now, bytes, false);
            prop_assert!(leaves >= now);
            if let Some((after, rate)) = change {
                let at = now.saturating_add(after);
                if at <= leaves {
                    let answer = transmitter.set_rate(at, rate, Some(leaves)).expect("it is in transmission");
                    prop_assert!(answer >= at);
                    leaves = answer;
                }
            }
            if leaves == u64::MAX {
                break;
            }
            now = leaves;
        }
    }

    /// Against a list of all opportunities, of which each is asked in turn.
    #[test]
    fn a_trace_serves_as_its_words_say(
        trace in trace(),
        packets in prop::collection::vec((prop_oneof![2 => Just(0), 1 => 0u64..40_000_000], 1u32..6000), 1..40),
        turns in 0u64..3,
        into in 0u64..5_000_000,
    ) {
        let length = u64::from(*trace.times_ms.last().expect("it is not empty")) * 1_000_000;
        // The list begins whole turns before time zero.
        let origin = turns * length + into;
        let mut opportunities: VecDeque<(u64, u32)> = (0..3000)
            .flat_map(|turn| trace.times_ms.iter().map(move |&time| (turn, time)))
            .map(|(turn, time)| ((turn * length + u64::from(time) * 1_000_000 + into), DeliveryTrace::BYTES))
            .collect();
        let mut transmitter = Transmitter::new(Rate(1000), Some(&Schedule::Trace(trace)), origin);
        // Within the first moments there may be opportunities of a turn before the list.
        let mut now = into;
        for (i, (idle, bytes)) in packets.into_iter().enumerate() {
            let waited = idle == 0 && i > 0;
            now += idle;
            let late = |at: u64| if waited { at < now } else { at <= now };
            while opportunities.front().is_some_and(|&(at, _)| late(at)) {
                opportunities.pop_front();
            }
            let mut needed = bytes;
            let leaves = loop {
                let (at, left) = opportunities.front_mut().expect("the list is long enough");
                let used = needed.min(*left);
                needed -= used;
                *left -= used;
                if needed == 0 {
                    break *at;
                }
                opportunities.pop_front();
            };
            prop_assert_eq!(transmitter.finish(now, bytes, waited), leaves);
            now = leaves;
        }
    }
}

/// The steps of a schedule, one after the other.
struct Changes {
    own: Rate,
    steps: Steps,
    next: usize,
    base: u64,
}

impl Changes {
    /// The next change, if it comes at `end` or before.
    fn until(&mut self, end: u64) -> Option<(u64, Rate)> {
        let all = &self.steps.steps;
        if self.next < all.len() {
            let step = all[self.next];
            let at = self.base.checked_add(step.at.0).filter(|&at| at <= end)?;
            self.next += 1;
            return Some((at, step.rate));
        }
        let again = self.base.checked_add(self.steps.period?.0).filter(|&at| at <= end)?;
        (self.base, self.next) = (again, 0);
        // Until the first step it is the link's own again.
        if self.steps.steps[0].at == Time::ZERO { self.until(end) } else { Some((again, self.own)) }
    }
}
