//! A study with results that look like real ones, made up: three variants, three scenarios, seven buffers, three error
//! rates, five repeats, samples over time. Every number follows from its place, so that the same is made each time.

use cwnd_experiment::ExperimentSpec;
use cwnd_experiment::FlowGroup;
use cwnd_report::figures::traces::Traces;
use cwnd_scenario::{Sample, SampleState, Scenario, Time, Trace, mix};
use cwnd_study::{
    Axis, Cell, Claim, ClaimKind, ClaimTest, EngineKind, Expectation, Explanation, Figure, FigureKind,
    PairSummary, Phrase, Point, Printed, Provenance, Range, Reason, Results, RunResult, RunState, Samples,
    Scale, Selection, Study, Table, TracePlan,
};
use std::collections::BTreeMap;

const VARIANTS: [&str; 3] = ["agile-sd", "cubic-2008", "compound-ns2"];
const SCENARIOS: [&str; 3] = ["single", "sequential", "synchronous"];
const BUFFERS: [f64; 7] = [5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0];
const PERS: [&str; 3] = ["0", "1e-5", "1e-4"];

/// The results of the made-up study, whole.
pub fn results() -> Results {
    let study = study();
    let mut runs = Vec::new();
    for (cell, place) in study.cells.iter().enumerate() {
        for repeat in 0..study.repeats {
            let traced = place.coordinates[1] == 0 && place.coordinates[3] == 0 && repeat == 0;
            runs.push(RunResult {
                cell,
                repeat,
                seed: study.seed + u64::from(repeat),
                state: RunState::Done(metrics(&place.coordinates, repeat).into()),
                trace: traced.then(|| samples_at(format!("{cell}.parquet"))),
                emulation: None,
                flows: Default::default(),
            });
        }
    }
    let provenance = Provenance {
        version: "0.1.0".into(),
        commit: Some("1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d".into()),
        command: "cwnd run studies/agile-sd/throughput.toml".into(),
        engine: "sim".into(),
    };
    Results { study, runs, provenance }
}

/// Returns samples in a file that does not exist.
pub fn samples_at(path: String) -> Samples {
    Samples::File { path: path.into(), sha256: [0; 32] }
}

/// The samples of [`results`].
pub fn traces(results: &Results) -> Traces {
    Traces::read(results, |samples| {
        let cell = samples
            .path()
            .and_then(|path| path.file_stem())
            .and_then(|stem| stem.to_str()?.parse::<usize>().ok());
        let cell = cell.and_then(|cell| results.study.cells.get(cell)).ok_or("no such file")?;
        Ok(trace(&cell.coordinates).into())
    })
}

/// A selection: pairs of an axis and its labels.
pub fn select(pairs: &[(&str, &[&str])]) -> Selection {
    let one = |(axis, labels): &(&str, &[&str])| {
        ((*axis).to_owned(), labels.iter().map(|label| (*label).to_owned()).collect())
    };
    Selection(pairs.iter().map(one).collect())
}

/// An axis of these labels; a number is a value as well.
pub fn axis(name: &str, title: &str, unit: Option<&str>, scale: Scale, labels: &[&str]) -> Axis {
    let point = |label: &&str| Point { label: (*label).to_owned(), value: label.parse().ok() };
    let points = labels.iter().map(point).collect();
    Axis { name: name.into(), title: title.into(), unit: unit.map(str::to_owned), scale, points }
}

/// Every combination of the axes' points, with a scenario of its own each.
pub fn cells(axes: &[Axis], scenario: &Scenario) -> Vec<Cell> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for axis in axes {
        let longer = |c: Vec<usize>| (0..axis.points.len()).map(move |p| [c.clone(), vec![p]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    all.into_iter()
        .map(|coordinates| Cell {
            coordinates,
            engine: EngineKind::Sim,
            experiment: ExperimentSpec::default(),
            scenario: scenario.clone(),
        })
        .collect()
}

/// A dumbbell with so many flows.
pub fn scenario(flows: u32) -> Scenario {
    let group = FlowGroup::new("cubic".parse().expect("an algorithm"), flows);
    ExperimentSpec::default().scenario(&[group], 1).expect("a scenario")
}

fn study() -> Study {
    let buffers: Vec<String> = BUFFERS.iter().map(|b| b.to_string()).collect();
    let buffers: Vec<&str> = buffers.iter().map(String::as_str).collect();
    let axes = vec![
        axis("variant", "Variant", None, Scale::Linear, &VARIANTS),
        axis("scenario", "Scenario", None, Scale::Linear, &SCENARIOS),
        axis("buffer", "Buffer", Some("packets"), Scale::Log, &buffers),
        axis("per", "PER", None, Scale::Log, &PERS),
    ];
    let mut cells = cells(&axes, &scenario(1));
    let four = scenario(4);
    for cell in cells.iter_mut().filter(|cell| cell.coordinates[1] > 0) {
        cell.scenario = four.clone();
    }
    Study {
        name: "agile-sd/throughput".into(),
        title: "Throughput of Agile-SD, CUBIC and Compound TCP over small and large buffers".into(),
        question: "How much of a 1 Gbit/s path do three high-speed variants use when the bottleneck's buffer holds \
                   from 5 to 500 packets, with and without random losses?\n\nThe paper answers with nine panels: \
                   a single flow, four flows that start one after another, and four that start together, each at \
                   three packet error rates."
            .into(),
        source: Some("M. A. Alrshah et al., “Agile-SD: a Linux-based TCP congestion control algorithm for supporting \
                      high-speed and short-distance networks”, JNCA 55, 2015, figure 11".into()),
        notes: vec![
            "All delays are one way: 1 + 4 + 1 ms, so the base round-trip time is 12 ms. `buffer` limits the sender's \
             own queue as well, since with one flow the first router never queues."
                .into(),
            "The paper states that SACK is off. With SACK off CUBIC never leaves 75 packets at a buffer of 5, so it was \
             on in the paper's own runs."
                .into(),
        ],
        text: "title = \"Throughput of Agile-SD\"\n\n[scenario]\nrate = \"1 Gbit/s\"\ndelay = \"4 ms\"\n\n[axes]\n\
               buffer = [5, 10, 25, 50, 100, 250, 500]\n"
            .into(),
        axes,
        engine_axis: None,
        cells,
        repeats: 5,
        seed: 1,
        metrics: vec!["throughput_bps".into(), "loss_ratio".into(), "jain_index".into()],
        trace: Some(TracePlan { sample: Time::from_millis(100), select: Selection::default(), repeats: 1 }),
        figures: figures(),
        tables: tables(),
        claims: claims(),
        derived: Vec::new(),
        quick: None,
        once: None,
        reduced: None,
        traces: Vec::new(),
        sizes: Vec::new(),
        file: None,
    }
}

fn figures() -> Vec<Figure> {
    let figure = |name: &str, title: &str, kind, panels: &[&str], select| Figure {
        name: name.into(),
        title: title.into(),
        caption: None,
        kind,
        panels: panels.iter().map(|panel| (*panel).to_owned()).collect(),
        select,
        printed: None,
        lines: Vec::new(),
    };
    let line = |y: &str| FigureKind::Line { x: "buffer".into(), y: y.into(), series: Some("variant".into()) };
    vec![
        figure(
            "throughput",
            "Throughput against the buffer",
            line("throughput_bps"),
            &["scenario", "per"],
            select(&[]),
        ),
        figure(
            "single",
            "Throughput of a single flow against the buffer, without losses",
            line("throughput_bps"),
            &[],
            select(&[("scenario", &["single"]), ("per", &["0"])]),
        ),
        figure(
            "losses",
            "Loss ratio of four flows that start together",
            FigureKind::Bars { x: "buffer".into(), y: "loss_ratio".into(), series: Some("variant".into()) },
            &["per"],
            select(&[("scenario", &["synchronous"]), ("per", &["0", "1e-4"])]),
        ),
        figure(
            "per",
            "Throughput against the packet error rate, mean over all buffers",
            FigureKind::Line { x: "per".into(), y: "throughput_bps".into(), series: Some("variant".into()) },
            &["scenario"],
            select(&[]),
        ),
        figure(
            "fairness",
            "Jain's index by buffer and variant",
            FigureKind::HeatMap { x: "buffer".into(), y: "variant".into(), value: "jain_index".into() },
            &[],
            select(&[("scenario", &["synchronous"]), ("per", &["0"])]),
        ),
        figure(
            "cwnd",
            "Window and queue of a single flow over time",
            FigureKind::Trace { show: vec!["cwnd".into(), "queue".into()], series: Some("variant".into()) },
            &["buffer"],
            select(&[("scenario", &["single"]), ("per", &["0"]), ("buffer", &["5", "25", "100", "500"])]),
        ),
    ]
}

fn tables() -> Vec<Table> {
    vec![
        Table {
            name: "summary".into(),
            title: "Throughput, losses and fairness of four flows that start together, without random losses"
                .into(),
            rows: vec!["buffer".into(), "variant".into()],
            columns: None,
            metrics: vec!["throughput_bps".into(), "loss_ratio".into(), "jain_index".into()],
            select: select(&[
                ("scenario", &["synchronous"]),
                ("per", &["0"]),
                ("buffer", &["5", "50", "500"]),
            ]),
            printed: Vec::new(),
            scale: BTreeMap::new(),
            deviations: false,
        },
        Table {
            name: "throughput".into(),
            title: "Throughput".into(),
            rows: vec!["scenario".into(), "buffer".into()],
            columns: Some("variant".into()),
            metrics: vec!["throughput_bps".into(), "loss_ratio".into()],
            select: select(&[("per", &["1e-5"])]),
            printed: [("agile-sd", "5", 779.0), ("agile-sd", "500", 99.5), ("cubic-2008", "50", 700.25)]
                .map(printed)
                .into(),
            scale: BTreeMap::from([("throughput_bps".into(), 1e-6)]),
            deviations: false,
        },
    ]
}

/// A number that the paper prints: in the single scenario, in Mbit/s.
fn printed((variant, buffer, value): (&str, &str, f64)) -> Printed {
    let at = [("variant", variant), ("scenario", "single"), ("buffer", buffer)];
    let at = at.map(|(axis, label)| (axis.to_owned(), label.to_owned())).into();
    Printed { at, metric: "throughput_bps".into(), value }
}

fn claims() -> Vec<Claim> {
    let gain = |scenario: &str, pairs| ClaimKind::Gain {
        metric: "throughput_bps".into(),
        axis: "variant".into(),
        of: "agile-sd".into(),
        over: vec!["cubic-2008".into(), "compound-ns2".into()],
        select: select(&[("scenario", &[scenario])]),
        pairs,
        absolute: false,
    };
    let at_least =
        |least| Expectation::Within(Range { at_least: Some(least), at_most: None, is_open: false });
    let test = |kind, expect| ClaimTest::Measured { kind, expect };
    vec![
        Claim {
            text: "A single Agile-SD flow has up to 55 % more throughput than its rivals.".into(),
            source: Some("section 5.2".into()),
            stated: Some("up to 55 %".into()),
            test: test(gain("single", PairSummary::Greatest), Expectation::Gain(0.55)),
            reason: None,
        },
        Claim {
            text: "In the sequential scenario Agile-SD is on average at least 10 % better.".into(),
            source: Some("section 5.3".into()),
            stated: Some("10–40 %".into()),
            test: test(
                gain("sequential", PairSummary::Mean),
                Expectation::Within(Range { at_least: Some(0.4), at_most: Some(0.9), is_open: false }),
            ),
            reason: Some(because(
                "The paper does not say when its flows stop; ours stop in the order of their starts.",
            )),
        },
        Claim {
            text: "The loss ratio stays below 0.5 %.".into(),
            source: None,
            stated: Some("below 0.5 %".into()),
            test: test(
                ClaimKind::Extreme {
                    metric: "loss_ratio".into(),
                    select: Selection::default(),
                    greatest: true,
                },
                Expectation::Within(Range { at_least: None, at_most: Some(0.005), is_open: false }),
            ),
            reason: Some(because("The ratio carries no unit in the paper; read as per cent.")),
        },
        Claim {
            text: "Four Agile-SD flows use 92 % of the path with small buffers.".into(),
            source: Some("section 5.3".into()),
            stated: Some("about 92 %".into()),
            test: test(
                ClaimKind::Mean {
                    metric: "utilisation".into(),
                    select: select(&[
                        ("variant", &["agile-sd"]),
                        ("scenario", &["sequential"]),
                        ("buffer", &["5"]),
                    ]),
                },
                at_least(0.7),
            ),
            reason: None,
        },
        Claim {
            text: "One flow of CUBIC with 50 packets of buffer has 700.25 Mbit/s.".into(),
            source: None,
            stated: None,
            test: test(
                ClaimKind::Mean {
                    metric: "throughput_bps".into(),
                    select: select(&[
                        ("variant", &["cubic-2008"]),
                        ("scenario", &["single"]),
                        ("buffer", &["50"]),
                        ("per", &["0"]),
                    ]),
                },
                Expectation::Printed { value: 700.25, scale: 1e-6 },
            ),
            reason: None,
        },
        Claim {
            text: "It is good for the testbed.".into(),
            source: Some("section 6".into()),
            stated: Some("good".into()),
            test: ClaimTest::NotTestable("there is no testbed here".into()),
            reason: None,
        },
    ]
}

/// A reason without citations.
pub fn because(text: &str) -> Reason {
    Reason::Because(Explanation(vec![Phrase::Words(text.to_owned())]))
}

/// A number from 0 to 1 that follows from some numbers.
fn noise(seeds: &[usize]) -> f64 {
    let add = |state: u64, seed: &usize| mix((state ^ *seed as u64).wrapping_add(0x9e37_79b9_7f4a_7c15));
    seeds.iter().fold(17, add) as f64 / u64::MAX as f64
}

fn metrics(coordinates: &[usize], repeat: u32) -> BTreeMap<String, f64> {
    let [variant, scenario, buffer, per] = coordinates else { return BTreeMap::new() };
    let room = BUFFERS[*buffer].ln() / 500f64.ln();
    let base = [0.80, 0.55, 0.38][*variant] + [0.16, 0.38, 0.42][*variant] * room;
    let lossy = [1.0, [0.96, 0.88, 0.9][*variant], [0.72, 0.42, 0.5][*variant]][*per];
    let together = [1.0, 0.95, 0.97][*scenario];
    let chance = |i: usize| noise(&[*variant, *scenario, *buffer, *per, repeat as usize, i]) - 0.5;
    let utilisation = (base * lossy * together + [0.01, 0.05, 0.03][*scenario] * chance(0)).clamp(0.01, 0.97);
    let loss = 0.004 * (1.05 - room) * (0.6 + 0.2 * *variant as f64) + [0.0, 1e-5, 1e-4][*per];
    let jain = if *scenario == 0 { 1.0 } else { 1.0 - 0.3 * noise(&[*variant, *buffer]) + 0.02 * chance(1) };
    [
        ("throughput_bps", utilisation * 1e9),
        ("utilisation", utilisation),
        ("loss_ratio", loss * (1.0 + 0.2 * chance(2))),
        ("jain_index", jain.clamp(0.25, 1.0)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// A hundred seconds of a sawtooth.
fn trace(coordinates: &[usize]) -> Trace {
    let (variant, buffer) = (coordinates[0], BUFFERS[coordinates[2]]);
    let top = 1_500.0 + buffer;
    let mut trace = Trace { queues: vec!["bottleneck".into(), "access-1".into()], ..Trace::default() };
    let (mut cwnd, mut ssthresh) = (2.0, f64::INFINITY);
    for i in 0..=1_000 {
        trace.times.push(Time::from_millis(100 * i));
        let queue = (cwnd - 1_500.0f64).clamp(0.0, buffer) as u32;
        trace.queue_lengths.push(vec![0, queue]);
        trace.samples.push(Sample {
            time_index: i as usize,
            flow: 0,
            cwnd,
            ssthresh,
            rtt: (i > 0).then(|| Time(12_000_000 + 8_000 * u64::from(queue))),
            delivered_bytes: 10_000_000 * i,
            in_flight: cwnd as u64,
            sent: None,
            state: SampleState::Open,
        });
        cwnd += [26.0, 9.0, 3.0 + buffer / 60.0][variant] * if ssthresh.is_infinite() { 3.0 } else { 1.0 };
        if cwnd > top * [1.0, 0.99, 0.4 + buffer / 900.0][variant] {
            cwnd *= [0.9, 0.8, 0.5][variant];
            ssthresh = cwnd;
        }
    }
    trace
}
