//! Nothing that a study or its results can say makes a report or a figure fall over.

use crate::outline::{all, parse};
use crate::synthetic::{cells, samples_at, scenario};
use cwnd_report::figures::{self, traces::Traces};
use cwnd_report::{report, series::SeriesStyles};
use cwnd_scenario::{Sample, SampleState, Scenario, Time, Trace};
use cwnd_study::{
    Axis, Figure, FigureKind, Point, Provenance, Results, RunResult, RunState, Scale, Selection, Study, Table,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static SCENARIO: LazyLock<Scenario> = LazyLock::new(|| scenario(2));

/// Labels of all kinds: short, long, empty, with markup; without letters of `NaN`, for which the test looks.
fn label() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z0-9-]{1,8}",
        1 => "[<>&\"'`/ a-m]{0,12}",
        1 => Just("agile-sd:lambda_max=4,beta2=0.9".repeat(9)),
        1 => Just(String::new()),
    ]
}

fn axis(name: String) -> impl Strategy<Value = Axis> {
    let point =
        || (label(), prop::option::of(prop_oneof![Just(0.0), -5.0..1e6f64, Just(1e-5), Just(f64::INFINITY)]));
    let points = prop_oneof![prop::collection::vec(point(), 1..4), prop::collection::vec(point(), 1..41)];
    (points, any::<bool>(), prop::option::of(label()), any::<bool>()).prop_map(
        move |(points, log, unit, valued)| Axis {
            name: name.clone(),
            title: name.clone(),
            unit,
            scale: if log { Scale::Log } else { Scale::Linear },
            points: points
                .into_iter()
                .map(|(label, value)| Point {
                    label,
                    value: value.or(valued.then_some(1.0)).filter(|_| valued),
                })
                .collect(),
        },
    )
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![6 => 0.0..1e9f64, 1 => Just(0.0), 1 => Just(f64::NAN), 1 => Just(f64::INFINITY), 1 => -1.0..1.0f64,
        1 => Just(1e300), 1 => Just(5e-324)]
}

fn state() -> impl Strategy<Value = RunState> {
    prop_oneof![
        6 => (value(), value()).prop_map(|(a, b)| RunState::Done(
            [("throughput_bps".to_owned(), a), ("jain_index".to_owned(), b)].into())),
        1 => Just(RunState::Missing),
        1 => label().prop_map(RunState::Failed),
    ]
}

fn kinds(a: &str, b: &str, series: Option<&str>) -> Vec<FigureKind> {
    let (x, y, value) = (a.to_owned(), b.to_owned(), "jain_index".to_owned());
    let series = series.map(str::to_owned);
    let show =
        ["cwnd", "ssthresh", "rtt", "in_flight", "throughput", "queue", "mean_cwnd", "jain", "unknown"]
            .map(str::to_owned);
    vec![
        FigureKind::Line { x: x.clone(), y: "throughput_bps".into(), series: series.clone() },
        FigureKind::Bars { x: x.clone(), y: "jain_index".into(), series: series.clone() },
        FigureKind::HeatMap { x, y, value },
        FigureKind::Trace { show: show.to_vec(), series },
    ]
}

fn results() -> impl Strategy<Value = Results> {
    let axes = (axis("one".into()), axis("two".into()), axis("three".into()), 0..4usize);
    (axes, 1..4u32, prop::collection::vec(state(), 30)).prop_map(|((a, b, c, count), repeats, states)| {
        let mut axes = vec![a, b, c];
        axes.truncate(count);
        // No more cells than a test has time for.
        while axes.iter().map(|axis| axis.points.len()).product::<usize>() > 120 {
            let longest = axes.iter_mut().max_by_key(|axis| axis.points.len()).expect("an axis");
            longest.points.truncate(longest.points.len() / 2);
        }
        let cells = cells(&axes, &SCENARIO);
        let run = |i: usize| RunResult {
            cell: i / repeats as usize,
            repeat: i as u32 % repeats,
            seed: 1,
            state: states[i % states.len()].clone(),
            trace: (i % 3 != 1).then(|| samples_at(format!("{i}"))),
            emulation: None,
            flows: Default::default(),
        };
        let runs = (0..cells.len() * repeats as usize).map(run).collect();
        let panels = [&[][..], &["two"], &["two", "three"]];
        let figure = |(i, kind): (usize, FigureKind)| Figure {
            name: format!("figure {i}"),
            title: "<b>".into(),
            caption: None,
            kind,
            panels: panels[i % 3].iter().map(|name| (*name).to_owned()).collect(),
            select: Selection::default(),
            printed: None,
            lines: Vec::new(),
        };
        let all = kinds("one", "two", Some("three")).into_iter().chain(kinds("one", "one", None));
        let figures = all.chain(kinds("nowhere", "one", Some("one"))).enumerate().map(figure).collect();
        let table = Table {
            name: "table".into(),
            title: "A table".into(),
            rows: vec!["one".into(), "two".into()],
            columns: Some("three".into()),
            metrics: vec!["throughput_bps".into(), "jain_index".into(), "nothing".into()],
            select: Selection::default(),
            printed: Vec::new(),
            scale: BTreeMap::new(),
            deviations: true,
        };
        let study = Study {
            name: "study".into(),
            title: "A study".into(),
            question: String::new(),
            source: None,
            notes: Vec::new(),
            text: String::new(),
            axes,
            engine_axis: None,
            cells,
            repeats,
            seed: u64::MAX,
            metrics: Vec::new(),
            trace: None,
            figures,
            tables: vec![table.clone(), Table { columns: None, rows: Vec::new(), ..table }],
            claims: Vec::new(),
            derived: Vec::new(),
            quick: None,
            once: None,
            reduced: None,
            traces: Vec::new(),
            sizes: Vec::new(),
            file: None,
        };
        Results { study, runs, provenance: Provenance::default() }
    })
}

/// Samples of all kinds, some of them contradicting themselves.
fn trace(run: usize) -> Result<Trace, String> {
    let mut trace = Trace { queues: vec!["bottleneck".into()], ..Trace::default() };
    for i in 0..run % 7 {
        trace.times.push(Time(i as u64 * 1_000_000_000));
        trace.queue_lengths.push(vec![run as u32]);
        for flow in 0..run % 11 {
            trace.samples.push(Sample {
                time_index: if run % 5 == 4 { 99 } else { i },
                flow,
                cwnd: [1.0, f64::NAN, f64::INFINITY, 1e300][(run + i) % 4],
                ssthresh: f64::INFINITY,
                rtt: None,
                delivered_bytes: u64::MAX - i as u64,
                in_flight: u64::MAX,
                sent: None,
                state: SampleState::Loss,
            });
        }
    }
    if run % 13 == 12 { Err("unreadable".into()) } else { Ok(trace) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn nothing_makes_a_report_fall_over(results in results()) {
        let traces = Traces::read(&results, |samples| {
            let path = samples.path().expect("a file");
            trace(path.to_string_lossy().parse().expect("a run")).map(Into::into)
        });
        let html = report::html_with(&results, &traces);
        let page = parse(&html);
        prop_assert_eq!(all(&page, "script:not([type='application/json'])").len(), 1);
        prop_assert_eq!(all(&page, "figure:not(.table) svg[role=img]").len(), 12);
        let looks = SeriesStyles::new(&results.study);
        for figure in &results.study.figures {
            let svg = figures::file(&results, figure, &looks, &traces);
            let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
            for attribute in document.descendants().flat_map(|node| node.attributes()) {
                let is_number = !attribute.value().contains("NaN") && !attribute.value().contains("inf");
                prop_assert!(is_number, "{}: {}", attribute.name(), attribute.value());
            }
        }
    }
}
