//! Links that do more than drop what does not fit into a queue before a constant rate.

use super::{Dice, Habits};
use cwnd_scenario::{
    CoDel, DeliveryTrace, Discipline, DualPi2, FqCoDel, GilbertElliott, Jitter, JitterShape, LinkSpec, Loss,
    Network, Pie, Policer, QueueLimit, Rate, Red, Schedule, Step, Steps, Time,
};

/// Let some links, or all, do more. The scenario continues for about `busy` nanoseconds.
pub fn enrich(dice: &mut Dice, habits: &Habits, network: &mut Network, busy: u64) {
    let (often, more) = (dice.pick(&[1, 2, 4]), dice.pick(&[1, 1, 1, 3]));
    for link in network.links.iter_mut() {
        if dice.one_in(often) {
            (0..more).for_each(|_| enrich_link(dice, habits, link, busy));
        }
    }
}

fn enrich_link(dice: &mut Dice, habits: &Habits, link: &mut LinkSpec, busy: u64) {
    let packet = habits.packet_time();
    match dice.below(10) {
        0..4 => {
            link.queue.discipline = discipline(dice, packet);
            if dice.one_in(2) {
                link.queue.limit = QueueLimit::Packets(dice.pick(&[20, 100, 1000]));
            }
        }
        4 => link.loss = loss(dice),
        5 => link.schedule = Some(schedule(dice, habits, link, busy)),
        6 => {
            let burst = u64::from(habits.full_packet) * dice.between(1, 20);
            link.effects.policer = Some(Policer { rate: Rate(habits.rate / dice.between(1, 4)), burst });
        }
        7 => {
            link.effects.ack_thinning = Some(dice.between(2, 8) as u32);
            link.queue.discipline = Discipline::DropTail;
        }
        8 if dice.one_in(2) => link.effects.slot = Some(Time(dice.between(1, 40) * packet)),
        8 => link.effects.duplication = 0.2 * dice.unit(),
        _ => {
            let most = dice.pick(&[1, packet, 3 * packet, 20 * packet]);
            let shape = match dice.below(4) {
                0 => JitterShape::Uniform(Time(most)),
                1 => JitterShape::Exponential(Time(most)),
                2 => JitterShape::Normal(Time(most), Time(most / 2)),
                _ => JitterShape::Sometimes(0.2 * dice.unit(), Time(most)),
            };
            link.effects.jitter = Some(Jitter { shape, reorders: dice.one_in(2) });
        }
    }
}

/// A discipline whose times fit a scenario that is over after some thousand packets.
fn discipline(dice: &mut Dice, packet: u64) -> Discipline {
    let ecn = !dice.one_in(4);
    let codel = CoDel {
        target: Time(dice.pick(&[1, 5]) * packet),
        interval: Time(dice.pick(&[20, 100]) * packet),
        ecn,
    };
    match dice.below(10) {
        0 | 1 => {
            let min = dice.between(1, 20) as f64;
            let weight = dice.pick(&[0.002, 0.1, 0.5, 1.0]);
            let max = min + dice.pick(&[0.0, 1.0, 10.0, 30.0]);
            Discipline::Red(Red {
                min,
                max,
                p_max: dice.pick(&[0.02, 0.1, 1.0]),
                weight,
                gentle: dice.one_in(2),
                ecn,
            })
        }
        2 | 9 => Discipline::CoDel(codel),
        3 | 4 => Discipline::FqCoDel(FqCoDel {
            queues: dice.pick(&[1, 2, 16, 1024]),
            quantum: dice.pick(&[300, 1514, 5000]),
            codel,
        }),
        5..7 => Discipline::Pie(Pie {
            target: Time(dice.between(2, 20) * packet),
            update: Time(dice.between(2, 30) * packet),
            max_burst: Time(dice.pick(&[0, 50]) * packet),
            // Some thousand packets are over before the usual gains have moved anything.
            alpha: dice.pick(&[0.125, 1e3, 1e4]),
            beta: dice.pick(&[1.25, 1e4, 1e5]),
            ecn,
            ecn_most: dice.pick(&[0.1, 1.0]),
        }),
        _ => Discipline::DualPi2(DualPi2 {
            target: Time(dice.between(2, 20) * packet),
            update: Time(dice.between(2, 30) * packet),
            step: Time(dice.between(1, 10) * packet),
            alpha: dice.pick(&[0.16, 1e3, 1e4]),
            beta: dice.pick(&[3.2, 1e4, 1e5]),
            ..DualPi2::default()
        }),
    }
}

/// The same discipline with other parameters, where they are drawn alike.
pub fn alike(dice: &mut Dice, discipline: Discipline, packet: u64) -> Discipline {
    let drawn = (0..20).map(|_| self::discipline(dice, packet));
    let same = |other: &Discipline| std::mem::discriminant(other) == std::mem::discriminant(&discipline);
    let drawn: Vec<Discipline> = drawn.collect();
    drawn.into_iter().find(same).unwrap_or(discipline)
}

/// Losses that depend on each other.
pub fn loss(dice: &mut Dice) -> Loss {
    if dice.one_in(3) {
        let mut numbers: Vec<u64> = (0..dice.between(1, 9)).map(|_| dice.between(1, 400)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        return Loss::Nth(numbers);
    }
    Loss::GilbertElliott(GilbertElliott {
        to_bad: 0.05 * dice.unit(),
        to_good: dice.unit(),
        loss_good: if dice.one_in(2) { 0.0 } else { 0.01 * dice.unit() },
        loss_bad: if dice.one_in(2) { 1.0 } else { dice.unit() },
    })
}

fn schedule(dice: &mut Dice, habits: &Habits, link: &LinkSpec, busy: u64) -> Schedule {
    if dice.one_in(3) {
        let end = (busy / 1_000_000).clamp(1, 2000) as u32;
        let opportunities = dice.between(1, 2000);
        let mut times: Vec<u32> = (0..opportunities).map(|_| dice.below(u64::from(end) + 1) as u32).collect();
        times.push(end);
        times.sort_unstable();
        return Schedule::Trace(DeliveryTrace { name: "drawn".into(), times_ms: times.into() });
    }
    let mut times: Vec<u64> = (0..dice.between(1, 6)).map(|_| dice.below(busy + 1)).collect();
    times.sort_unstable();
    times.dedup();
    let last = *times.last().expect("there is one");
    let steps = times.into_iter().map(|at| Step {
        at: Time(at),
        rate: if dice.one_in(4) { Rate(0) } else { habits.draw_rate(dice) },
        delay: if dice.one_in(2) { link.delay } else { habits.draw_delay(dice) },
    });
    let steps = steps.collect();
    let period = dice.one_in(2).then(|| Time(last + dice.between(1, busy + 1)));
    Schedule::Steps(Steps { steps, period })
}
