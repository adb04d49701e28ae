//! One small figure of each kind.

use crate::synthetic::{axis, cells, samples_at, scenario, select};
use cwnd_report::figures::{self, traces::Traces};
use cwnd_report::series::SeriesStyles;
use cwnd_scenario::{Observed, Sample, SampleState, Time, Trace};
use cwnd_study::{Figure, FigureKind, Provenance, Results, RunResult, RunState, Scale, Study};

/// Two variants, three buffers (one of them nothing), three repeats; one cell is missing.
pub fn small() -> Results {
    let axes = vec![
        axis("variant", "Variant", None, Scale::Linear, &["agile-sd", "cubic"]),
        axis("buffer", "Buffer", Some("packets"), Scale::Log, &["0", "10", "100"]),
    ];
    let cells = cells(&axes, &scenario(1));
    let mut runs = Vec::new();
    for cell in 0..cells.len() {
        for repeat in 0..3u32 {
            let throughput = (100.0 * (cell + 1) as f64 + 10.0 * f64::from(repeat)) * 1e6;
            let jain = 1.0 - 0.1 * cell as f64;
            let metrics = [("throughput_bps", throughput), ("jain_index", jain)];
            let state = match cell {
                4 => RunState::Missing,
                _ => RunState::Done(metrics.map(|(name, value)| (name.to_owned(), value)).into()),
            };
            let trace = (cell % 3 == 1 && repeat == 0).then(|| samples_at(format!("{cell}")));
            runs.push(RunResult {
                cell,
                repeat,
                seed: 1 + u64::from(repeat),
                state,
                trace,
                emulation: None,
                flows: Default::default(),
            });
        }
    }
    let study = Study {
        name: "small".into(),
        title: String::new(),
        question: String::new(),
        source: None,
        notes: Vec::new(),
        text: String::new(),
        axes,
        engine_axis: None,
        cells,
        repeats: 3,
        seed: 1,
        metrics: Vec::new(),
        trace: None,
        figures: Vec::new(),
        tables: Vec::new(),
        claims: Vec::new(),
        derived: Vec::new(),
        quick: None,
        once: None,
        reduced: None,
        traces: Vec::new(),
        sizes: Vec::new(),
        file: None,
    };
    let provenance = Provenance {
        version: "0.1.0".into(),
        commit: None,
        command: "cwnd run small.toml".into(),
        engine: "sim".into(),
    };
    Results { study, runs, provenance }
}

fn svg(kind: FigureKind, labels: &[(&str, &[&str])]) -> String {
    svg_of(small(), kind, labels)
}

fn svg_of(mut results: Results, kind: FigureKind, labels: &[(&str, &[&str])]) -> String {
    let figure = Figure {
        name: "figure".into(),
        title: "A small figure".into(),
        caption: Some("With a caption.".into()),
        kind,
        panels: Vec::new(),
        select: select(labels),
        printed: None,
        lines: Vec::new(),
    };
    results.study.figures = vec![figure.clone()];
    let traces = Traces::read(&results, |samples| {
        let path = samples.path().expect("a file");
        Ok(trace(path.to_string_lossy().parse().expect("a cell")).into())
    });
    let svg = figures::file(&results, &figure, &SeriesStyles::new(&results.study), &traces);
    roxmltree::Document::parse(&svg).expect("well-formed XML");
    svg
}

/// Five samples of two flows; the second starts late.
fn trace(cell: u32) -> Trace {
    let mut trace = Trace { queues: vec!["bottleneck".into()], ..Trace::default() };
    for i in 0..5u32 {
        trace.times.push(Time::from_millis(u64::from(i) * 500));
        trace.queue_lengths.push(vec![i * cell]);
        for flow in 0..if i < 2 { 1 } else { 2 } {
            trace.samples.push(Sample {
                time_index: i as usize,
                flow,
                cwnd: f64::from(10 * cell + i * (1 + flow as u32)),
                ssthresh: f64::INFINITY,
                rtt: None,
                delivered_bytes: u64::from(1_000_000 * i),
                in_flight: 0,
                sent: None,
                state: SampleState::Open,
            });
        }
    }
    trace
}

fn named(name: &str) -> String {
    name.to_owned()
}

#[test]
fn lines() {
    let kind =
        FigureKind::Line { x: named("buffer"), y: named("throughput_bps"), series: Some(named("variant")) };
    insta::assert_snapshot!(svg(kind, &[]));
}

#[test]
fn bars() {
    let kind =
        FigureKind::Bars { x: named("buffer"), y: named("throughput_bps"), series: Some(named("variant")) };
    insta::assert_snapshot!(svg(kind, &[]));
}

/// Cells 0 to 2 are those of the first variant, 3 to 5 those of the second.
#[test]
fn means_over_combinations_without_a_value_are_explained() {
    let said = |is_missing: fn(usize, u32) -> bool| {
        let mut results = small();
        let measured = results.runs[0].state.clone();
        for run in &mut results.runs {
            run.state = if is_missing(run.cell, run.repeat) { RunState::Missing } else { measured.clone() };
        }
        let kind = FigureKind::Bars { x: named("variant"), y: named("throughput_bps"), series: None };
        let svg = svg_of(results, kind, &[]);
        let description = svg.split_once("<desc>").and_then(|(_, rest)| rest.split_once("</desc>"));
        description.expect("a description").0.to_owned()
    };
    let averaged = "Throughput by variant. Means of up to 3 repeats, averaged over buffer.";
    assert_eq!(said(|_, _| true), format!("{averaged} No run has a value of it."));
    assert_eq!(
        said(|cell, _| cell == 0 || cell == 4),
        format!("{averaged} 2 of 6 combinations have no value in any repeat, so no mean has one.")
    );
    // Each combination has a value in some repeat, and no two have one in the same.
    assert_eq!(
        said(|cell, repeat| cell % 3 != repeat as usize),
        format!("{averaged} No mean has a repeat with a value in all its combinations.")
    );
}

/// The sign of a missing value is drawn once in the panel and once in the legend.
#[test]
fn combinations_that_a_study_leaves_out_have_no_sign_of_a_missing_value() {
    let (x, y, series) = (named("buffer"), named("throughput_bps"), Some(named("variant")));
    let line = FigureKind::Line { x: x.clone(), y: y.clone(), series: series.clone() };
    let bars = FigureKind::Bars { x, y, series };
    for kind in [line, bars] {
        let mut results = small();
        results.study.cells.remove(0);
        results.runs.retain(|run| run.cell > 0);
        results.runs.iter_mut().for_each(|run| run.cell -= 1);
        let svg = svg_of(results, kind, &[]);
        assert!(svg.contains("1 of 5 values is missing"), "{svg}");
        assert_eq!(svg.matches("stroke-width=\"1.4\"").count(), 2, "{svg}");
    }
}

#[test]
fn heat_map() {
    let kind = FigureKind::HeatMap { x: named("buffer"), y: named("variant"), value: named("jain_index") };
    insta::assert_snapshot!(svg(kind, &[]));
}

#[test]
fn trace_over_time() {
    let show = ["cwnd", "throughput", "queue"].map(named).to_vec();
    let kind = FigureKind::Trace { show, series: Some(named("variant")) };
    insta::assert_snapshot!(svg(kind, &[("buffer", &["10"])]));
}

/// Only Agile-SD has a lambda, and only CUBIC a W_max, which its second flow does not know before its second sample.
#[test]
fn states_are_drawn_for_the_algorithms_that_have_them() {
    let mut results = small();
    for cell in 0..results.study.cells.len() {
        let variant = results.study.label(cell, "variant").expect("an axis").to_owned();
        let flows: &mut Vec<_> = &mut results.study.cells[cell].scenario.flows;
        flows.resize(2, flows[0].clone());
        flows.iter_mut().for_each(|flow| flow.algorithm = variant.parse().expect("a name"));
    }
    let show = ["cwnd", "state.lambda", "state.w_max"].map(named).to_vec();
    let figure = Figure {
        printed: None,
        lines: Vec::new(),
        name: "figure".into(),
        title: String::new(),
        caption: None,
        kind: FigureKind::Trace { show, series: Some(named("variant")) },
        panels: Vec::new(),
        select: select(&[("buffer", &["10"])]),
    };
    results.study.figures = vec![figure.clone()];
    let observed =
        |flow, name: &str, values: [f64; 5]| Observed { flow, name: name.to_owned(), values: values.into() };
    let gap = f64::NAN;
    let traces = Traces::read(&results, |samples| {
        let cell: u32 = samples.path().expect("a file").to_string_lossy().parse().expect("a cell");
        let mut trace = trace(cell);
        trace.observed = match cell {
            0..3 => vec![observed(0, "lambda", [1.0, 3.0, 2.5, 2.0, 1.5])],
            _ => vec![
                observed(0, "w_max", [gap, 40.0, 40.0, 40.0, 40.0]),
                observed(1, "w_max", [gap, gap, gap, 30.0, 30.0]),
            ],
        };
        Ok(trace.into())
    });
    let drawn = figures::draw(&results, &figure, &SeriesStyles::new(&results.study), &traces);
    let panels = &drawn.samples.as_ref().expect("samples").blocks[0].panels;
    let lines = panels.iter().map(|panel| {
        let lines = panel.lines.iter().map(|line| line.label.as_str()).collect::<Vec<_>>();
        (panel.label.as_str(), lines.join("; "))
    });
    let lines: Vec<(&str, String)> = lines.collect();
    insta::assert_debug_snapshot!(lines);
}

#[test]
fn means_of_fewer_repeats_are_named() {
    let note = |cells: usize| {
        let mut results = small();
        // Of the first cells the second repeat is missing.
        let second = |run: &&mut RunResult| run.cell < cells && run.repeat == 1;
        results.runs.iter_mut().filter(second).for_each(|run| run.state = RunState::Missing);
        let kind =
            FigureKind::Line { x: named("buffer"), y: named("jain_index"), series: Some(named("variant")) };
        let figure = Figure {
            printed: None,
            lines: Vec::new(),
            name: "figure".into(),
            title: String::new(),
            caption: None,
            kind,
            panels: Vec::new(),
            select: select(&[]),
        };
        results.study.figures = vec![figure.clone()];
        let drawn = figures::draw(&results, &figure, &SeriesStyles::new(&results.study), &Traces::default());
        drawn.notes.into_iter().find(|note| note.contains("fewer"))
    };
    assert_eq!(note(0), None);
    assert_eq!(note(1).unwrap(), "One mean rests on fewer repeats: agile-sd, 0.");
    assert_eq!(note(2).unwrap(), "2 means rest on fewer repeats: agile-sd, 0; agile-sd, 10.");
    let four = "4 means rest on fewer repeats: agile-sd, 0; agile-sd, 10; agile-sd, 100 and 1 more.";
    assert_eq!(note(4).unwrap(), four);
}

#[test]
fn flows_are_called_by_their_algorithms_where_these_differ() {
    let mut results = small();
    let figure = Figure {
        printed: None,
        lines: Vec::new(),
        name: "figure".into(),
        title: String::new(),
        caption: None,
        kind: FigureKind::Trace { show: vec![named("cwnd")], series: None },
        panels: Vec::new(),
        select: select(&[("buffer", &["10"]), ("variant", &["cubic"])]),
    };
    results.study.figures = vec![figure.clone()];
    let mut keys = |algorithms: [[&str; 2]; 2], figure: &Figure| {
        for (cell, names) in
            results.study.cells.iter_mut().zip([algorithms[1], algorithms[0]].iter().flat_map(|a| [a; 3]))
        {
            let flows: &mut Vec<_> = &mut cell.scenario.flows;
            flows.resize(2, flows[0].clone());
            flows
                .iter_mut()
                .zip(names)
                .for_each(|(flow, name)| flow.algorithm = name.parse().expect("a name"));
        }
        let traces = Traces::read(&results, |samples| {
            let cell: u32 = samples.path().expect("a file").to_string_lossy().parse().expect("a cell");
            Ok(trace(cell).into())
        });
        let drawn = figures::draw(&results, figure, &SeriesStyles::new(&results.study), &traces);
        let titles = drawn.grid.blocks.iter().map(|block| block.title.clone());
        let keys: Vec<String> = drawn.grid.keys.iter().map(|key| key.label.clone()).chain(titles).collect();
        keys.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(keys([["cubic", "cubic"]; 2], &figure), ["flow 1", "flow 2"]);
    assert_eq!(keys([["cubic", "bbr"]; 2], &figure), ["flow 1: cubic", "flow 2: bbr"]);
    // A flow that has another algorithm in another cell of the figure has none in the legend.
    let both = Figure {
        select: select(&[("buffer", &["10"])]),
        kind: FigureKind::Trace { show: vec![named("cwnd")], series: Some(named("variant")) },
        ..figure.clone()
    };
    let legend = keys([["cubic", "bbr"], ["cubic", "newreno"]], &both);
    assert_eq!(legend, ["agile-sd", "cubic", "flow 1: cubic", "flow 2"]);
    let panels = Figure { panels: vec![named("flow")], ..figure };
    assert_eq!(keys([["cubic", "bbr"]; 2], &panels), ["Flow 1: cubic", "Flow 2: bbr"]);
}

#[test]
fn a_series_looks_the_same_in_every_figure() {
    let mut results = small();
    let line = |series: &str| FigureKind::Line {
        x: named("buffer"),
        y: named("jain_index"),
        series: Some(named(series)),
    };
    let figure = |kind, labels: &[(&str, &[&str])]| Figure {
        name: "figure".into(),
        title: String::new(),
        caption: None,
        kind,
        panels: Vec::new(),
        select: select(labels),
        printed: None,
        lines: Vec::new(),
    };
    results.study.figures =
        vec![figure(line("variant"), &[]), figure(line("variant"), &[("variant", &["cubic"])])];
    let looks = SeriesStyles::new(&results.study);
    let colours: Vec<String> = results
        .study
        .figures
        .iter()
        .map(|figure| {
            let drawn = figures::draw(&results, figure, &looks, &Traces::default());
            let key = drawn.grid.keys.iter().find(|key| key.label == "cubic").expect("a key");
            key.swatch.line.expect("a line").colour.to_string()
        })
        .collect();
    assert_eq!(colours[0], colours[1]);
    assert_ne!(looks.of("agile-sd"), looks.of("cubic"));
}

#[test]
fn no_name_leads_out_of_its_directory() {
    let mut figure = Figure {
        name: "../../etc/passwd".into(),
        title: String::new(),
        caption: None,
        kind: FigureKind::Trace { show: Vec::new(), series: None },
        panels: Vec::new(),
        select: select(&[]),
        printed: None,
        lines: Vec::new(),
    };
    assert_eq!(figures::file_name(&figure), "-..-etc-passwd");
    figure.name = "..".into();
    assert_eq!(figures::file_name(&figure), "figure");
}
