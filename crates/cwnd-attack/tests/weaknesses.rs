//! The search finds weaknesses that are known, from nothing and with small budgets; what it finds is an ordinary study.

use cwnd_attack::{
    Arena, Base, Component, FAMILIES, Family, Found, Goal, KEPT, Pair, Path, Plan, Space, search, shrink,
    study,
};
use cwnd_scenario::Time;
use cwnd_sim::Simulator;
use cwnd_study::Study;

const BASE: Base = Base { rate: 10_000_000, duration: 5_000_000_000, longest_burst: Base::BURST };

fn arena(candidate: &str, reference: &str) -> Arena<'static> {
    Arena {
        engine: &Simulator,
        candidate: candidate.parse().expect("an algorithm"),
        reference: reference.parse().expect("an algorithm"),
        goal: Goal::new("utilisation").expect("a metric"),
        seed: 1,
    }
}

fn searched(arena: &Arena<'_>, base: Base, families: &[Family], evaluations: usize, threads: usize) -> Found {
    let space = Space::new(base, families);
    search(arena, &Plan { space: &space, evaluations, threads }, &mut |_| true)
}

/// Searches these families, and shrinks what is found.
fn attack(arena: &Arena<'_>, base: Base, families: &[Family], evaluations: usize) -> (Path, Pair) {
    let found = searched(arena, base, families, evaluations, 2);
    assert_eq!(found.evaluations, evaluations);
    let (path, before) = found.worst.expect("paths have values");
    let (path, pair) = shrink(arena, &path, before);
    assert!(pair.effect >= KEPT * before.effect);
    (path, pair)
}

/// The packets of a burst are more than BBR has in flight, and fewer than CUBIC: its window is still that of slow start. BBR's
/// retransmissions are lost one by one, each after a longer timeout. With this budget one of the seeds 1 to 12 finds it.
#[test]
fn bbr_stalls_at_a_burst_of_losses() {
    let base = Base { longest_burst: 60, ..BASE };
    let families = [Family::Loss, Family::Buffer];
    let arena = Arena { seed: 9, ..arena("bbr", "cubic") };
    let (path, pair) = attack(&arena, base, &families, 1_500);
    assert!(pair.candidate < 0.2 && pair.effect > 0.6, "{pair:?}");
    assert!(path.components.iter().any(|one| matches!(one, Component::Burst { .. })), "{path:?}");
}

/// Every 10 s BBR measures the round-trip time with four packets in flight for 200 ms. A burst of ten losses then takes the flight
/// and what is sent after the next timeouts; at any other moment both algorithms repair it within a few round trips.
#[test]
fn bbr_stalls_at_losses_timed_to_its_probes() {
    let base = Base { duration: 13_000_000_000, ..BASE };
    let arena = Arena { seed: 4, ..arena("bbr", "cubic") };
    let (path, pair) = attack(&arena, base, &[Family::Loss], 3_000);
    assert!(pair.candidate < 0.85 && pair.effect > 0.12, "{pair:?}");
    let [Component::Burst { first, count }] = path.components[..] else { panic!("{path:?}") };
    assert!(count <= Base::BURST, "{path:?}");

    // Without the losses, BBR sends these packets in ProbeRTT, with the smallest flight of the run. What the queue drops is not
    // counted, and is dropped in Startup.
    const PROBE_RTT: f64 = 3.0;
    let calm = Path { components: Vec::new(), ..path };
    let mut scenario = arena.scenario(&calm, &arena.candidate, arena.seed).expect("a scenario");
    scenario.sample = Some(Time::from_millis(10));
    let outcome = arena.engine.run(&scenario).expect("a run");
    let dropped = outcome.links[scenario.network.bottleneck].dropped;
    let trace = outcome.trace.expect("samples");
    let modes = trace.observed(0, "mode").expect("BBR shows its mode");
    let sent: Vec<u64> = (trace.samples.iter().zip(modes))
        .filter(|(_, mode)| **mode == PROBE_RTT)
        .filter_map(|(sample, _)| Some(sample.sent?.0 - dropped))
        .collect();
    let (begin, end) = (sent.first().expect("a probe"), sent.last().expect("a probe"));
    assert!((begin - 10..=*end).contains(&first), "{first} is not in {begin} to {end}");
}

/// A. Kuzmanovic and E. Knightly, SIGCOMM 2003: pulses about as far apart as the least retransmission timeout, here 200 ms.
///
/// `cwnd attack newreno --against bbr --vary cross --evaluations 1500` found such pulses with each of the seeds 1 to 8: a utilisation
/// of 0.06 to 0.22, and effects of 0.62 to 0.71.
#[test]
fn pulses_starve_reno() {
    let (path, pair) = attack(&arena("newreno", "bbr"), BASE, &[Family::Cross], 1_500);
    assert!(pair.candidate < 0.25 && pair.effect > 0.6, "{pair:?}");
    let pulses = path.components.iter().find_map(|one| match one {
        Component::Pulses { on, off, .. } => Some((on, off)),
        _ => None,
    });
    let (on, off) = pulses.expect("pulses");
    assert!((100_000_000..500_000_000).contains(&(on + off)), "{path:?}");
    // The link is mostly free.
    assert!(on * 2 < *off, "{path:?}");
}

/// T. Flach and others, SIGCOMM 2016: a policer with a small bucket drops bursts, and a sender that halves its window for them is
/// far below the policer's rate: CUBIC has less than half of it, BBR nine tenths.
///
/// `cwnd attack cubic --against bbr --vary policer --evaluations 1200` found a bucket of 4.3 to 5 kB with each of the seeds 1 to 8: a
/// utilisation of 0.43 to 0.54, and effects of 0.40 to 0.48. That of the test's seed is 0.45.
#[test]
fn a_shallow_policer_starves_cubic() {
    let (path, pair) = attack(&arena("cubic", "bbr"), BASE, &[Family::Policer], 1_200);
    assert!(pair.candidate < 0.5 && pair.effect > 0.4, "{pair:?}");
    let [Component::Policer { burst, .. }] = path.components[..] else { panic!("{path:?}") };
    // Less than half of the BDP of 50 kB.
    assert!(burst < 25_000, "{path:?}");
}

#[test]
fn threads_and_longer_budgets_change_nothing_that_was_found() {
    let arena = arena("elastic", "cubic");
    let all: Vec<Family> = FAMILIES.iter().map(|(_, family)| *family).collect();
    let of = |threads| {
        let found = searched(&arena, BASE, &all, 700, threads);
        (found.evaluations, found.worst)
    };
    let one = of(1);
    assert_eq!(one, of(3));

    // A search that is stopped after a round is one with fewer evaluations.
    let space = Space::new(BASE, &all);
    let plan = Plan { space: &space, evaluations: 5_000, threads: 2 };
    let stopped = search(&arena, &plan, &mut |progress| progress.evaluations < 640);
    let found = searched(&arena, BASE, &all, 640, 2);
    assert_eq!((stopped.evaluations, stopped.worst), (640, found.worst));
}

#[test]
fn a_found_path_is_a_study_of_the_same_scenarios() {
    let arena = arena("bbr", "cubic");
    let all: Vec<Family> = FAMILIES.iter().map(|(_, family)| *family).collect();
    let space = Space::new(BASE, &all);
    for gene in [0.3, 0.62, 0.75, 0.95] {
        let path = space.path(&vec![gene; space.genes()]);
        let pair = arena.confirm(&path).expect("values");
        let about = study::About { command: "cwnd attack", evaluations: 1, found: pair, pair };
        let text = study::text(&arena, &path, &about);
        let study = Study::parse("weakness", "weakness.toml", &text, &|_| Ok(()))
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(study.repeats, cwnd_attack::SEEDS);
        for (cell, algorithm) in [&arena.candidate, &arena.reference].into_iter().enumerate() {
            for repeat in 0..study.repeats {
                let own = arena.scenario(&path, algorithm, 1 + u64::from(repeat)).expect("a scenario");
                let mut its = study.scenario(cell, repeat);
                its.sample = own.sample;
                assert_eq!(its, own);
            }
        }
    }
}
