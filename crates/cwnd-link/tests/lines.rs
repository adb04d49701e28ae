//! What holds for every line, whatever it does to packets.

use cwnd_link::{Crossing, Line};
use cwnd_scenario::{
    Effects, GilbertElliott, Jitter, JitterShape, LinkSpec, Loss, Rate, Schedule, Step, Steps, Time,
};
use proptest::prelude::*;

fn probability() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 1 => Just(1.0), 4 => 0.0f64..1.0]
}

fn loss() -> impl Strategy<Value = Loss> {
    let chain = [(); 4].map(|()| probability());
    prop_oneof![
        Just(Loss::None),
        probability().prop_map(Loss::Bernoulli),
        chain.prop_map(|[to_bad, to_good, loss_good, loss_bad]| {
            Loss::GilbertElliott(GilbertElliott { to_bad, to_good, loss_good, loss_bad })
        }),
        prop::collection::btree_set(1u64..60, 0..20)
            .prop_map(|numbers| Loss::Nth(numbers.into_iter().collect())),
    ]
}

fn time() -> impl Strategy<Value = Time> {
    prop_oneof![1 => Just(0), 1 => Just(1), 4 => 0u64..100_000, 1 => 0u64..50_000_000_000].prop_map(Time)
}

fn jitter() -> impl Strategy<Value = Jitter> {
    let shape = prop_oneof![
        time().prop_map(JitterShape::Uniform),
        time().prop_map(JitterShape::Exponential),
        (time(), time()).prop_map(|(mean, deviation)| JitterShape::Normal(mean, deviation)),
        (probability(), time()).prop_map(|(probability, late)| JitterShape::Sometimes(probability, late)),
    ];
    (shape, any::<bool>()).prop_map(|(shape, reorders)| Jitter { shape, reorders })
}

fn schedule() -> impl Strategy<Value = Schedule> {
    let steps = prop::collection::vec((1u64..200_000, time()), 1..6);
    (steps, prop::option::of(1u64..200_000)).prop_map(|(gaps, after)| {
        let mut at = 0;
        let step = |&(gap, delay): &(u64, Time)| {
            at += gap;
            Step { at: Time(at), rate: Rate(1_000_000), delay }
        };
        let steps: Vec<Step> = gaps.iter().map(step).collect();
        Schedule::Steps(Steps { steps, period: after.map(|after| Time(at + after)) })
    })
}

fn link() -> impl Strategy<Value = LinkSpec> {
    let effects = (prop::option::of(time()), prop::option::of(jitter()), probability());
    (time(), loss(), prop::option::of(schedule()), effects).prop_map(
        |(delay, loss, schedule, (slot, jitter, duplication))| LinkSpec {
            loss,
            schedule,
            effects: Effects { slot, jitter, duplication, ..Effects::default() },
            ..LinkSpec::new("random", 0, 1, Rate(1_000_000), delay)
        },
    )
}

#[derive(Clone, Debug)]
enum Event {
    /// A packet leaves so much later.
    Cross(u64),
    Delay(Time),
    Loss(Loss),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let gap = prop_oneof![1 => Just(0), 4 => 0u64..50_000, 1 => 0u64..100_000_000_000];
    let event = prop_oneof![
        10 => gap.prop_map(Event::Cross),
        1 => time().prop_map(Event::Delay),
        1 => loss().prop_map(Event::Loss),
    ];
    prop::collection::vec(event, 1..80)
}

proptest! {
    #[test]
    fn the_bound_holds_and_nothing_overtakes(
        link in link(), events in events(), origin in 0u64..1_000_000, seed: u64,
    ) {
        let mut line = Line::new(&link, origin, seed, 3);
        let mut again = line.clone();
        let (mut now, mut last) = (0, 0);
        for event in events {
            match event {
                Event::Cross(gap) => {
                    now += gap;
                    let Crossing { at, lost, twice } = line.cross(now);
                    prop_assert_eq!(Crossing { at, lost, twice }, again.cross(now));
                    prop_assert!(at - now >= line.least_delay());
                    prop_assert!(line.reorders() || at >= last);
                    prop_assert!(!(lost && twice));
                    last = at;
                }
                Event::Delay(delay) => {
                    line.set_delay(now, delay);
                    again.set_delay(now, delay);
                }
                Event::Loss(loss) => {
                    line.set_loss(&loss);
                    again.set_loss(&loss);
                }
            }
        }
    }

    /// Jitter, slots and schedules that hold a packet up never lose or double another than they would without them.
    #[test]
    fn what_is_late_is_not_lost(link in link(), departures in prop::collection::vec(0u64..100_000, 1..60), seed: u64) {
        let plain = LinkSpec {
            schedule: None,
            effects: Effects { duplication: link.effects.duplication, ..Effects::default() },
            ..link.clone()
        };
        let (mut line, mut plain) = (Line::new(&link, 5, seed, 3), Line::new(&plain, 5, seed, 3));
        let mut now = 0;
        for gap in departures {
            now += gap;
            let (crossing, other) = (line.cross(now), plain.cross(now));
            prop_assert_eq!((crossing.lost, crossing.twice), (other.lost, other.twice));
        }
    }
}
