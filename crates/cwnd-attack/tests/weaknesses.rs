//! The search finds weaknesses that are known, from nothing and with small budgets; what it finds is an ordinary study.

use cwnd_attack::{
    Arena, Base, Component, FAMILIES, Family, Goal, Pair, Path, Plan, Space, search, shrink, study,
};
use cwnd_sim::Simulator;
use cwnd_study::Study;

const BASE: Base = Base { rate: 10_000_000, duration: 5_000_000_000 };

fn arena(candidate: &str, reference: &str) -> Arena<'static> {
    Arena {
        engine: &Simulator,
        candidate: candidate.parse().expect("an algorithm"),
        reference: reference.parse().expect("an algorithm"),
        goal: Goal::new("utilisation").expect("a metric"),
        seed: 1,
    }
}

/// Searches the families, and shrinks what is found.
fn attack(arena: &Arena<'_>, families: &[Family], evaluations: usize, threads: usize) -> (Path, Pair) {
    let space = Space::new(BASE, families);
    let found = search(arena, &Plan { space: &space, evaluations, threads }, &mut |_| true);
    assert_eq!(found.evaluations, evaluations);
    let (path, pair) = found.worst.expect("paths have values");
    shrink(arena, &path, pair)
}

fn all_families() -> Vec<Family> {
    FAMILIES.iter().map(|(_, family)| *family).collect()
}

#[test]
#[ignore]
fn explore() {
    let env = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let arena =
        Arena { seed: env("SEED", "1").parse().unwrap(), ..arena(&env("A", "bbr"), &env("B", "cubic")) };
    let families: Vec<Family> = match env("V", "").as_str() {
        "" => all_families(),
        list => list.split(',').map(|name| name.parse().unwrap()).collect(),
    };
    let base = Base { duration: env("D", "5").parse::<u64>().unwrap() * 1_000_000_000, ..BASE };
    let space = Space::new(base, &families);
    let evaluations = env("N", "2000").parse().unwrap();
    let begin = std::time::Instant::now();
    let mut shown = 0;
    let found = search(&arena, &Plan { space: &space, evaluations, threads: 2 }, &mut |p| {
        if p.evaluations / 500 > shown {
            shown = p.evaluations / 500;
            println!("{} {:?}", p.evaluations, p.worst);
        }
        true
    });
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{} evaluations in {seconds:.2} s: {:.0} a second",
        found.evaluations,
        found.evaluations as f64 / seconds
    );
    let (path, pair) = found.worst.unwrap();
    let (small, small_pair) = shrink(&arena, &path, pair);
    let about = study::About { command: "", evaluations, found: pair };
    println!("{}", study::text(&arena, &small, small_pair, &about).split("\n[run]").next().unwrap());
}
