//! Two engines under one study: side by side, and marked where they are not valid.

use crate::outline::{all, parse, text};
use crate::synthetic::samples_at;
use cwnd_report::{
    engines::{self, Deviation},
    figures::traces::Traces,
    report,
};
use cwnd_scenario::{Emulation, Implementation, Sample, SampleState, Time, Trace};
use cwnd_study::{EngineKind, Provenance, Results, RunResult, RunState, Study};

const STUDY: &str = r#"
title = "Two engines"
question = "Do they agree?"
[scenario]
stack = "linux"
duration = "10 s"
[run]
repeats = 2
metrics = ["throughput_bps", "loss_ratio"]
[trace]
[[axes]]
name = "variant"
key = "algorithm"
values = ["newreno", "cubic-linux"]
[[axes]]
name = "engine"
key = "engine"
values = ["sim", "kernel"]
[[figures]]
name = "windows"
title = "Windows"
kind = "trace"
show = ["cwnd"]
series = "engine"
panels = ["variant"]
[[tables]]
name = "all"
title = "All"
rows = ["variant", "engine"]
metrics = ["throughput_bps", "valid"]
"#;

fn study(text: &str) -> Study {
    Study::parse("two", "two.toml", text, &|_| Ok(())).unwrap_or_else(|error| panic!("{error}"))
}

/// The simulator's throughput is 1 Mbit/s above the kernel's, and 3 Mbit/s in the second repeat; of cubic nothing but the
/// simulator has been run where `alone`.
fn results(validity_warnings: &[&str], alone: bool) -> Results {
    let study = study(STUDY);
    let mut runs = Vec::new();
    for (cell, place) in study.cells.iter().enumerate() {
        let kernel = place.engine == EngineKind::Kernel;
        for repeat in 0..study.repeats {
            let throughput = match (kernel, repeat) {
                (true, _) => 50e6,
                (false, 0) => 51e6,
                (false, _) => 53e6,
            };
            let validity_warnings: Vec<String> = if place.coordinates[0] == 0 && repeat == 0 {
                validity_warnings.iter().map(|doubt| (*doubt).to_owned()).collect()
            } else {
                Vec::new()
            };
            let mut metrics = vec![("throughput_bps".to_owned(), throughput), ("loss_ratio".to_owned(), 0.0)];
            let emulation = kernel.then(|| {
                metrics.push(("valid".to_owned(), f64::from(u8::from(validity_warnings.is_empty()))));
                metrics.push(("emulation_late_p99_s".to_owned(), 80e-6 * f64::from(repeat + 1)));
                metrics.push(("cpu_steal".to_owned(), 0.02));
                Box::new(Emulation {
                    late_p50: Time(5_000),
                    late_p99: Time(80_000),
                    late_max: Time::from_millis(2),
                    rate_error: None,
                    steal: 0.02,
                    validity_warnings,
                    host: "6.18.0 <x86_64>".to_owned(),
                    implementations: vec![Implementation {
                        algorithm: "elastic".into(),
                        by: "BPF <12ab>".into(),
                    }],
                })
            });
            let missing = alone && kernel && place.coordinates[0] == 1;
            runs.push(RunResult {
                cell,
                repeat,
                seed: study.seed + u64::from(repeat),
                state: if missing {
                    RunState::Missing
                } else {
                    RunState::Done(metrics.into_iter().collect())
                },
                trace: (repeat == 0 && !missing).then(|| samples_at(format!("{cell}"))),
                emulation: emulation.filter(|_| !missing),
                flows: Default::default(),
            });
        }
    }
    Results { study, runs, provenance: Provenance { engine: "sim, kernel".into(), ..Provenance::default() } }
}

/// The simulator's windows are 12 and 8 by turns, the kernel's 8: 25 % more in the mean, and sqrt(8) / 8 = 35.4 % apart.
fn traces(results: &Results) -> Traces {
    Traces::read(results, |samples| {
        let path = samples.path().expect("a file");
        let cell: usize = path.to_string_lossy().parse().map_err(|_| "no cell".to_owned())?;
        let kernel = results.study.cells[cell].engine == EngineKind::Kernel;
        let mut trace = Trace::default();
        for i in 0..100usize {
            trace.times.push(Time::from_millis(100 * i as u64));
            trace.queue_lengths.push(Vec::new());
            trace.samples.push(Sample {
                time_index: i,
                flow: 0,
                cwnd: if kernel || i % 2 == 1 { 8.0 } else { 12.0 },
                ssthresh: f64::INFINITY,
                rtt: None,
                delivered_bytes: 0,
                in_flight: 0,
                sent: None,
                state: SampleState::Open,
            });
        }
        Ok(trace.into())
    })
}

fn page(results: &Results) -> String {
    report::html_with(results, &traces(results))
}

#[test]
fn a_pair_differs_in_its_engine_alone() {
    let results = results(&[], false);
    let pairs = engines::pairs(&results.study);
    let found: Vec<_> = pairs.iter().map(|pair| (pair.sim, pair.kernel, pair.label.as_str())).collect();
    assert_eq!(found, [(0, 1, "newreno"), (2, 3, "cubic-linux")]);
    assert!(engines::pairs(&results.study.on_engine(EngineKind::Sim).unwrap()).is_empty());
    // By hand: differences of 1 and 3 have the mean 2 and the standard error 1; t of one degree of freedom is 12.706.
    let found = Deviation::of(&results, &pairs[0], "throughput_bps").unwrap();
    assert_eq!((found.sim, found.kernel, found.count), (52e6, 50e6, 2));
    assert!((found.relative.unwrap() - 0.04).abs() < 1e-12);
    assert!((found.half.unwrap() - 12.706 / 50.0).abs() < 1e-4);
    assert!(!found.is_significant());
    let nothing = Deviation::of(&results, &pairs[0], "loss_ratio").unwrap();
    assert_eq!((nothing.sim, nothing.kernel, nothing.relative), (0.0, 0.0, None));
    assert_eq!(Deviation::of(&results, &pairs[0], "valid"), None);
}

#[test]
fn the_page_lays_engines_side_by_side() {
    let html = page(&results(&[], false));
    let page = parse(&html);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    let rows: Vec<String> = all(&page, "#engines-metrics tbody tr").into_iter().map(text).collect();
    assert_eq!(rows.len(), 2);
    for part in ["newreno", "52", "50", "+4 ± 25 %", "0 %"] {
        assert!(rows[0].contains(part), "{part} in {}", rows[0]);
    }
    let curves: Vec<String> = all(&page, "#engines-curves tbody tr").into_iter().map(text).collect();
    assert_eq!(curves.len(), 2);
    for part in ["newreno", "+25 %", "35.4 %", "100"] {
        assert!(curves[0].contains(part), "{part} in {}", curves[0]);
    }
    // The figure says it too.
    assert!(
        html.contains("Algorithm: newreno: mean +25.0 %, RMS 35.4 %")
            || html.contains("newreno: mean +25.0 %")
    );
    // What the kernel ran over, escaped.
    let facts = text(all(&page, "#scenario")[0]);
    for part in ["6.18.0 <x86_64>", "all 4", "160 µs (median run), 160 µs (worst run)", "2 %"] {
        assert!(facts.contains(part), "{part} in {facts}");
    }
    assert!(!html.contains("(!)") && !html.contains("doubtful\""), "nothing is to be doubted");
}

#[test]
fn invalid_runs_are_marked_and_reported() {
    let html = page(&results(&["it was <late>"], false));
    let page = parse(&html);
    let note = text(all(&page, ".doubtful")[0]);
    for part in ["Of 4 runs by the kernel 1 is not", "it was <late>", "newreno, kernel (seed 1)"] {
        assert!(note.contains(part), "{part} in {note}");
    }
    let marked: Vec<String> = all(&page, "td:has(.doubt), th:has(.doubt)").into_iter().map(text).collect();
    // Two metrics of one row of the table, and the pair in each of the two tables of engines.
    assert_eq!(marked.len(), 4, "{marked:?}");
    assert!(marked.iter().filter(|cell| cell.starts_with("newreno")).count() == 2, "{marked:?}");
    let table = text(all(&page, "#table-1 figcaption")[0]);
    assert!(table.contains("(!) 1 run in it is not valid."), "{table}");
    assert!(html.contains("newreno: mean +25.0 %, RMS 35.4 % (!)"));
    assert!(!html.contains("cubic-linux: mean +25.0 %, RMS 35.4 % (!)"));
    assert!(text(all(&page, "#scenario")[0]).contains("3 of 4"));
}

#[test]
fn half_a_pair_is_told_as_missing() {
    let html = page(&results(&[], true));
    let page = parse(&html);
    let rows: Vec<String> = all(&page, "#engines-metrics tbody tr").into_iter().map(text).collect();
    assert!(rows[1].contains("cubic-linux") && rows[1].contains('–'), "{rows:?}");
    assert_eq!(all(&page, "#engines-curves tbody tr").len(), 1);
}

#[test]
fn one_engine_alone_has_no_such_section() {
    let results = results(&[], false);
    let study = results.study.on_engine(EngineKind::Sim).unwrap();
    let runs = [0, 1, 4, 5].map(|run: usize| results.runs[run].clone());
    let runs = runs.into_iter().zip([0, 0, 1, 1]).map(|(run, cell)| RunResult { cell, ..run }).collect();
    let html = report::html(&Results { study, runs, ..results });
    assert!(!html.contains("id=\"engines\"") && !html.contains("What the kernel ran over"));
}
