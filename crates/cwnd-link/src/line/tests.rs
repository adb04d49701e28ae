//! Vectors worked out by hand.

use super::*;
use cwnd_scenario::{Jitter, JitterShape, Rate, Step, Steps};

const MS: u64 = 1_000_000;

fn link() -> LinkSpec {
    LinkSpec::new("test", 0, 1, Rate(1_000_000_000), Time(10 * MS))
}

/// A link of 10 ms with these steps of (ms, delay in ms).
fn stepped(steps: &[(u64, u64)], period: Option<u64>, origin: u64) -> Line {
    let step = |&(at, delay): &(u64, u64)| Step { at: Time(at * MS), rate: Rate(1), delay: Time(delay * MS) };
    let steps = Steps { steps: steps.iter().map(step).collect(), period: period.map(|ms| Time(ms * MS)) };
    Line::new(&LinkSpec { schedule: Some(Schedule::Steps(steps)), ..link() }, origin, 1, 0)
}

/// When packets come out, in ms, that depart at these milliseconds.
fn out(line: &mut Line, departures: &[u64]) -> Vec<f64> {
    departures.iter().map(|&at| line.cross(at * MS).at as f64 / MS as f64).collect()
}

#[test]
fn it_is_steady_until_a_step() {
    // 10 ms, and 4 ms from 20 ms on. What left at 19 ms comes out at 29 ms, and nothing before that.
    let mut line = stepped(&[(20, 4)], None, 0);
    let mut steady = line.steady();
    assert_eq!([5, 19].map(|ms| steady.cross(ms * MS)), [Some(15 * MS), Some(29 * MS)]);
    assert_eq!(steady.cross(20 * MS), None);
    line.passed(&steady);
    assert_eq!(out(&mut line, &[20]), [29.0]);
    let mut steady = line.steady();
    assert_eq!([21, 26].map(|ms| steady.cross(ms * MS)), [Some(29 * MS), Some(30 * MS)]);
    // The packets that passed count: the third is lost.
    let mut line = Line::new(&link(), 0, 1, 0);
    let mut steady = line.steady();
    assert_eq!([1, 2].map(|ms| steady.cross(ms * MS)), [Some(11 * MS), Some(12 * MS)]);
    line.passed(&steady);
    line.set_loss(&Loss::Nth(vec![1, 2, 3]));
    assert!(line.cross(3 * MS).lost);
    assert_eq!(line.steady().cross(4 * MS), None);
}

#[test]
fn a_plain_line_delays() {
    let mut line = Line::new(&link(), 17, 1, 0);
    assert_eq!(line.cross(5), Crossing { at: 10 * MS + 5, lost: false, twice: false });
    assert_eq!((line.least_delay(), line.reorders()), (10 * MS, false));
}

#[test]
fn steps_hold_for_what_departs_from_then_on_and_nothing_overtakes() {
    // 10 ms, 2 ms from 20 ms on, 30 ms from 40 ms on. What departs at 19 comes out at 29; what departs at 20 would be there
    // at 22 and waits for it; so does that of 26; that of 28 comes at 30.
    let mut line = stepped(&[(20, 2), (40, 30)], None, 0);
    assert_eq!(line.least_delay(), 2 * MS);
    assert_eq!(out(&mut line, &[19, 20, 26, 28, 39, 40, 1000]), [29.0, 29.0, 29.0, 30.0, 41.0, 70.0, 1030.0]);
    // On a clock whose time zero lies 5 ms earlier.
    assert_eq!(out(&mut stepped(&[(20, 2)], None, 5 * MS), &[0, 24, 35]), [10.0, 34.0, 37.0]);
    // 10 ms, and 2 ms in the latter half of each 20 ms. At 10,000,030 ms the 500,002nd period is in its latter half.
    let mut line = stepped(&[(10, 2)], Some(20), 0);
    assert_eq!(
        out(&mut line, &[5, 15, 25, 35, 10_000_030, 10_000_040]),
        [15.0, 17.0, 35.0, 37.0, 10_000_032.0, 10_000_050.0]
    );
}

#[test]
fn a_live_change_holds_until_the_next_step() {
    let mut line = Line::new(&link(), 0, 1, 0);
    assert_eq!(out(&mut line, &[0]), [10.0]);
    line.set_delay(MS, Time(3 * MS));
    assert_eq!(out(&mut line, &[1, 6, 8]), [10.0, 10.0, 11.0]);
    assert_eq!(line.least_delay(), 3 * MS);

    let mut line = stepped(&[(10, 2)], Some(20), 0);
    line.set_delay(12 * MS, Time(6 * MS));
    // The 6 ms hold until 20, where the link's own delay, now 6 ms, begins to hold again; the step at 30 is as it was.
    assert_eq!(out(&mut line, &[12, 20, 29, 35, 40]), [18.0, 26.0, 35.0, 37.0, 46.0]);
    // A change at the very moment of a step comes first: the step has the last word.
    line.set_delay(50 * MS, Time(9 * MS));
    assert_eq!(out(&mut line, &[50, 60]), [52.0, 69.0]);
}

#[test]
fn slots_hold_until_their_next_multiple() {
    let mut spec = link();
    spec.effects.slot = Some(Time(4 * MS));
    let mut line = Line::new(&spec, 0, 1, 0);
    assert_eq!(line.least_delay(), 10 * MS);
    // One that leaves exactly at a multiple continues at once; a nanosecond later it has missed it.
    assert_eq!(out(&mut line, &[0, 1, 3, 4, 5, 8, 81]), [10.0, 14.0, 14.0, 14.0, 18.0, 18.0, 94.0]);
    assert_eq!(line.cross(84 * MS).at, 94 * MS);
    assert_eq!(line.cross(84 * MS + 1).at, 98 * MS);
    // Multiples are those of the scenario's clock: time zero is 9 ms + 5 ns here, so they are 1 ms + 5 ns, 5 ms + 5 ns, ...
    let mut line = Line::new(&spec, 9 * MS + 5, 1, 0);
    assert_eq!(
        [0, MS + 5, MS + 6, 9 * MS + 5].map(|at| line.cross(at).at),
        [11 * MS + 5, 11 * MS + 5, 15 * MS + 5, 19 * MS + 5]
    );
}

#[test]
fn what_is_late_holds_up_or_is_overtaken() {
    let mut spec = link();
    // Every packet is late, then none.
    let sometimes = |probability, reorders| {
        Some(Jitter { shape: JitterShape::Sometimes(probability, Time(5 * MS)), reorders })
    };
    spec.effects.jitter = sometimes(1.0, false);
    assert_eq!(out(&mut Line::new(&spec, 0, 1, 0), &[0, 1]), [15.0, 16.0]);
    spec.effects.jitter = sometimes(0.5, false);
    let waiting = out(&mut Line::new(&spec, 0, 1, 0), &(0..50).collect::<Vec<_>>());
    spec.effects.jitter = sometimes(0.5, true);
    let mut line = Line::new(&spec, 0, 1, 0);
    assert!(line.reorders());
    let drawn = out(&mut line, &(0..50).collect::<Vec<_>>());
    // The same draws: each comes as drawn, or with the latest of those before it.
    let mut latest = 0.0;
    for (i, (&waiting, &drawn)) in waiting.iter().zip(&drawn).enumerate() {
        assert!(drawn == i as f64 + 10.0 || drawn == i as f64 + 15.0);
        latest = drawn.max(latest);
        assert_eq!(waiting, latest);
    }
    assert!(!drawn.is_sorted(), "none was overtaken: {drawn:?}");
}

#[test]
fn some_come_twice_but_none_that_is_lost() {
    let mut spec = link();
    spec.effects.duplication = 0.25;
    spec.loss = Loss::Bernoulli(0.5);
    let mut line = Line::new(&spec, 0, 1, 0);
    let crossings: Vec<Crossing> = (0..100_000).map(|at| line.cross(at)).collect();
    assert!(!crossings.iter().any(|crossing| crossing.lost && crossing.twice));
    // A quarter of the half that is not lost: binomial(1e5, 0.125), deviation 104.6.
    let twice = crossings.iter().filter(|crossing| crossing.twice).count();
    assert!(twice.abs_diff(12_500) < 523, "{twice}");
    spec.effects.duplication = 1.0;
    spec.loss = Loss::Nth(vec![2]);
    let mut line = Line::new(&spec, 0, 1, 0);
    assert_eq!(
        [0; 3].map(|at| line.cross(at)).map(|c| (c.lost, c.twice)),
        [(false, true), (true, false), (false, true)]
    );
}

#[test]
fn one_effect_does_not_move_the_draws_of_another() {
    let mut spec = link();
    spec.loss = Loss::Bernoulli(0.2);
    let lost = |spec: &LinkSpec| {
        let mut line = Line::new(spec, 0, 5, 3);
        (0..1000).map(|at| line.cross(at).lost).collect::<Vec<_>>()
    };
    let plain = lost(&spec);
    let mut single = crate::BernoulliLoss::new(0.2, Stream::new(5, Purpose::Loss, 3));
    assert!(plain.iter().all(|&lost| lost == single.next_is_lost()));
    spec.effects.jitter = Some(Jitter { shape: JitterShape::Normal(Time(5), Time(1)), reorders: true });
    spec.effects.duplication = 0.5;
    assert_eq!(lost(&spec), plain);
}

#[test]
fn effects_change_and_their_draws_go_on() {
    // Slots of 20 ms from the second packet on: that of 11 ms continues at 20 ms. Without them again nothing overtakes: that
    // of 12 ms waits for it.
    let slotted = cwnd_scenario::Effects { slot: Some(Time(20 * MS)), ..Default::default() };
    let mut line = Line::new(&link(), 0, 1, 0);
    assert_eq!(out(&mut line, &[10]), [20.0]);
    line.set_effects(&slotted).unwrap();
    assert_eq!(out(&mut line, &[11]), [30.0]);
    line.set_effects(&Default::default()).unwrap();
    assert_eq!(out(&mut line, &[12, 25]), [30.0, 35.0]);
    // Half of the draws before a change and half after it are those of a line that never changes.
    let late = |ms| {
        let jitter = Jitter { shape: JitterShape::Uniform(Time(ms * MS)), reorders: true };
        cwnd_scenario::Effects { jitter: Some(jitter), ..Default::default() }
    };
    let jittered = LinkSpec { effects: late(7), ..link() };
    let mut steady = Line::new(&jittered, 0, 1, 0);
    let mut changed = steady.clone();
    let expected = out(&mut steady, &[0; 8]);
    let mut seen = out(&mut changed, &[0; 4]);
    changed.set_effects(&Default::default()).unwrap();
    assert_eq!(out(&mut changed, &[0, 5]), [10.0, 15.0]);
    changed.set_effects(&late(7)).unwrap();
    seen.extend(out(&mut changed, &[0; 4]));
    assert_eq!(seen, expected);
    // Order is made for good.
    assert_eq!(Line::new(&link(), 0, 1, 0).set_effects(&late(7)), Err(ChangeError::Reordering));
}
