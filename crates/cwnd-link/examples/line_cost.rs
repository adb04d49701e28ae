//! The cost of a packet in each kind of transmitter and line: `line_cost [RUNS]` prints nanoseconds per packet, the median of
//! the runs. Run it optimised: `cargo run --release -p cwnd-link --example line_cost`.
//!
//! Packets of 1,500 B go through one after the other, each as the one before it has left. What counts is the fastest of many
//! short slices, which no other work of the machine has disturbed.

use cwnd_link::{Line, Policer, Transmitter};
use cwnd_scenario::{
    DeliveryTrace, Effects, GilbertElliott, Jitter, JitterShape, LinkSpec, Loss, Policer as PolicerSpec,
    Rate, Schedule, Step, Steps, Time,
};
use std::hint::black_box;
use std::time::Instant;

/// Packets that are timed together, and how often.
const SLICE: u32 = 10_000;
const SLICES: u32 = 60;
const RATE: Rate = Rate(100_000_000);

fn main() {
    let runs = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(5);
    let print = |name: &str, measure: &mut dyn FnMut() -> f64| {
        let mut costs: Vec<f64> = (0..runs).map(|_| measure()).collect();
        costs.sort_by(f64::total_cmp);
        println!("{name}\t{:.2}", costs[costs.len() / 2]);
    };
    for (name, schedule) in schedules() {
        print(&format!("transmitter: {name}"), &mut || {
            let mut transmitter = Transmitter::new(RATE, schedule.as_ref(), 0);
            let mut now = 0;
            fastest(|| now = transmitter.finish(now, black_box(1500), true))
        });
    }
    for (name, link) in lines() {
        print(&format!("line: {name}"), &mut || {
            let mut line = Line::new(&link, 0, 1, 0);
            let mut now = 0;
            fastest(|| {
                now += 120_000;
                black_box(line.cross(black_box(now)));
            })
        });
    }
    print("transmitter and line: plain, 0.1 % lost", &mut || {
        let link = LinkSpec { loss: Loss::Bernoulli(1e-3), ..plain() };
        let mut transmitter = Transmitter::new(RATE, None, 0);
        let mut line = Line::new(&link, 0, 1, 0);
        let mut now = 0;
        fastest(|| {
            now = transmitter.finish(now, black_box(1500), true);
            black_box(line.cross(now));
        })
    });
    print("policer", &mut || {
        let mut policer = Policer::new(&PolicerSpec { rate: Rate(50_000_000), burst: 100_000 });
        let mut now = 0;
        fastest(|| {
            now += 120_000;
            black_box(policer.admits(black_box(now), 1500));
        })
    });
}

/// Nanoseconds a packet.
fn fastest(mut packet: impl FnMut()) -> f64 {
    let slices = (0..SLICES).map(|_| {
        let begin = Instant::now();
        (0..SLICE).for_each(|_| packet());
        begin.elapsed().as_secs_f64() * 1e9 / f64::from(SLICE)
    });
    slices.fold(f64::INFINITY, f64::min)
}

fn plain() -> LinkSpec {
    LinkSpec::new("plain", 0, 1, RATE, Time::from_millis(10))
}

/// A step each 10 ms, which is about 83 packets.
fn steps() -> Schedule {
    let step = |i: u64| Step {
        at: Time::from_millis(10 * i),
        rate: Rate(80_000_000 + 10_000_000 * (i % 5)),
        delay: Time::from_millis(10 + i % 3),
    };
    Schedule::Steps(Steps { steps: (0..100).map(step).collect(), period: Some(Time::from_secs(1)) })
}

fn schedules() -> Vec<(&'static str, Option<Schedule>)> {
    // 100 Mbit/s: 25 packets each 3 ms.
    let times = (0..25_000u32).map(|i| i * 3 / 25 + 1).collect::<Vec<_>>();
    let trace = Schedule::Trace(DeliveryTrace { name: "even".to_owned(), times_ms: times.into() });
    vec![("constant rate", None), ("a step each 10 ms", Some(steps())), ("delivery trace", Some(trace))]
}

fn lines() -> Vec<(&'static str, LinkSpec)> {
    let chain = GilbertElliott { to_bad: 1e-3, to_good: 0.1, loss_good: 0.0, loss_bad: 1.0 };
    let with = |effects| LinkSpec { effects, ..plain() };
    let jitter =
        |shape| with(Effects { jitter: Some(Jitter { shape, reorders: false }), ..Effects::default() });
    let ms = Time::from_millis(1);
    vec![
        ("plain", plain()),
        ("0.1 % lost", LinkSpec { loss: Loss::Bernoulli(1e-3), ..plain() }),
        ("Gilbert-Elliott, 1 % lost", LinkSpec { loss: Loss::GilbertElliott(chain), ..plain() }),
        ("a step each 10 ms", LinkSpec { schedule: Some(steps()), ..plain() }),
        ("slots of 5 ms", with(Effects { slot: Some(Time::from_millis(5)), ..Effects::default() })),
        ("uniform jitter", jitter(JitterShape::Uniform(ms))),
        ("exponential jitter", jitter(JitterShape::Exponential(ms))),
        ("normal jitter", jitter(JitterShape::Normal(ms, Time(200_000)))),
        ("1 % late", jitter(JitterShape::Sometimes(0.01, ms))),
        ("0.1 % doubled", with(Effects { duplication: 1e-3, ..Effects::default() })),
    ]
}
