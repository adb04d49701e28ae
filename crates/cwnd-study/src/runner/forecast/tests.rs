//! Forecasts of recorded runs: what the engine planned for them, and what they did cost.

use super::*;

/// What `cargo run --example run_costs` prints of studies: cell, planned and actual milliseconds of CPU. And how far a forecast
/// may be off: the cells of the last cost from 0.5 to 11 times what is planned (in a debug build), and a tenth shows too few.
const RECORDED: [(&str, &str, f64); 4] = [
    ("networks/losses", include_str!("losses.csv"), 0.2),
    ("networks/responses", include_str!("responses.csv"), 0.2),
    ("networks/short-flows", include_str!("short-flows.csv"), 0.2),
    ("today", include_str!("today.csv"), 0.25),
];

/// A recorded run, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Recorded {
    cell: usize,
    planned: f64,
    cpu: f64,
}

/// The runs of a record, in the order in which they are begun.
fn runs(csv: &str) -> Vec<Recorded> {
    let field = |text: Option<&str>| text.and_then(|text| text.parse::<f64>().ok()).expect("a number");
    let run = |line: &str| {
        let mut fields = line.split(',');
        let cell = field(fields.next()) as usize;
        Recorded { cell, planned: field(fields.next()) / 1e3, cpu: field(fields.next()) / 1e3 }
    };
    let mut runs: Vec<Recorded> = csv.lines().skip(1).map(run).collect();
    runs.sort_by(|a, b| b.planned.total_cmp(&a.planned));
    pilots_first(&mut runs, |run| (run.cell, run.planned));
    runs
}

/// Lets a number of threads, each `slowdown` times slower than a core, do the runs. Returns, for each run that ended, the part of the
/// CPU time that was done, the seconds that were left, and the forecast of them.
fn replay(runs: &[Recorded], jobs: usize, slowdown: f64) -> Vec<(f64, f64, f64)> {
    let mut forecast = Forecast::new(runs.iter().map(|run| (run.cell, run.planned)), jobs);
    let work: f64 = runs.iter().map(|run| run.cpu).sum();
    let (mut waiting, mut on) = (runs.iter(), Vec::<(f64, &Recorded)>::new());
    let (mut now, mut done) = (0.0, 0.0);
    let mut told = Vec::new();
    loop {
        while let Some(run) = (on.len() < jobs).then(|| waiting.next()).flatten() {
            forecast.began(run.cell, run.planned, now);
            on.push((now + run.cpu * slowdown, run));
        }
        let Some(first) = (0..on.len()).min_by(|a, b| on[*a].0.total_cmp(&on[*b].0)) else { break };
        let (end, run) = on.remove(first);
        now = end;
        done += run.cpu;
        forecast.done(run.cell, run.planned, run.cpu, now);
        told.push((done / work, now, forecast.left(now).expect("one is done")));
    }
    let end = now;
    told.into_iter().map(|(part, at, left)| (part, end - at, left)).collect()
}

#[test]
fn the_rest_is_known_within_a_fifth_after_a_tenth_of_the_work() {
    for (study, csv, most) in RECORDED {
        let runs = runs(csv);
        assert!(runs.len() >= 70, "{study}: {}", runs.len());
        for (jobs, slowdown) in [(1, 1.0), (2, 1.0), (2, 1.7)] {
            let told = replay(&runs, jobs, slowdown);
            // At the end a part of what is left is less than a run.
            let whole = told[0].1;
            for (part, left, forecast) in told.into_iter().filter(|(part, ..)| *part >= 0.1) {
                let error = (forecast - left).abs();
                assert!(
                    error <= most * left.max(0.1 * whole),
                    "{study} on {jobs}, {:.0} % done: {forecast:.2} s forecast, {left:.2} s left",
                    100.0 * part
                );
            }
        }
    }
}

#[test]
fn cells_are_forecast_by_their_own_runs() {
    // Two cells of ten runs, each planned for 1 s. Those of cell 0 take 1 s, those of cell 1 take 0.1 s.
    let planned = (0..20).map(|run| (run % 2, 1.0));
    let mut forecast = Forecast::new(planned, 1);
    assert_eq!(forecast.left(0.0), None);
    forecast.began(0, 1.0, 0.0);
    forecast.done(0, 1.0, 1.0, 1.0);
    // Of cell 1 nothing is known: 19 runs of 1 s.
    assert!((forecast.left(1.0).unwrap() - 19.0).abs() < 1e-9);
    forecast.began(1, 1.0, 1.0);
    forecast.done(1, 1.0, 0.1, 1.1);
    assert!((forecast.left(1.1).unwrap() - (9.0 + 0.9)).abs() < 1e-9);
    // Nine of them are done elsewhere, and one of the others has been on for 0.4 s.
    (0..9).for_each(|_| forecast.gone(1, 1.0));
    forecast.began(0, 1.0, 1.1);
    assert!((forecast.left(1.5).unwrap() - 8.6).abs() < 1e-9);
    assert!((forecast.pace().unwrap() - 0.55).abs() < 1e-9);
}

#[test]
fn threads_that_share_a_core_take_longer() {
    // Ten runs of 1 s on two threads of one core: two take 2 s, and 8 s are left.
    let mut forecast = Forecast::new((0..10).map(|_| (0, 1.0)), 2);
    (0..2).for_each(|_| forecast.began(0, 1.0, 0.0));
    (0..2).for_each(|_| forecast.done(0, 1.0, 1.0, 2.0));
    assert!((forecast.left(2.0).unwrap() - 8.0).abs() < 1e-9);
    // Memory for one at a time, on two cores: the same.
    let mut forecast = Forecast::new((0..10).map(|_| (0, 1.0)), 2);
    for begin in [0.0, 1.0] {
        forecast.began(0, 1.0, begin);
        forecast.done(0, 1.0, 1.0, begin + 1.0);
    }
    assert!((forecast.left(2.0).unwrap() - 8.0).abs() < 1e-9);
}

#[test]
fn one_run_in_ten_comes_first_and_then_one_of_each_cell() {
    // 30 runs of six cells, five after each other of each, and all as long: three in the middles of thirds of the cells.
    let mut runs: Vec<(usize, usize)> = (0..30).map(|run| (run / 5, run)).collect();
    pilots_first(&mut runs, |run| (run.0, 1.0));
    assert_eq!(runs[..6], [(1, 5), (3, 15), (5, 25), (0, 0), (2, 10), (4, 20)]);
    assert!(runs[6..].is_sorted_by_key(|run| run.1));
    // Fewer cells than a tenth of the runs: one of each.
    let mut runs: Vec<(usize, usize)> = (0..100).map(|run| (run % 2, run)).collect();
    pilots_first(&mut runs, |run| (run.0, 1.0));
    assert_eq!(runs[..4], [(0, 0), (1, 1), (0, 2), (1, 3)]);
    let mut none: Vec<usize> = Vec::new();
    pilots_first(&mut none, |_| (0, 0.0));
    assert!(none.is_empty());
}
