//! What a publication states, in figures and tables.

use crate::figures::small;
use crate::outline::{all, parse, text};
use crate::synthetic::{self, select};
use cwnd_plot::style::{COLOURS, GREY};
use cwnd_report::figures::{self, traces::Traces};
use cwnd_report::report;
use cwnd_report::series::SeriesStyles;
use cwnd_study::{Figure, FigureKind, Printed, Results, Selection, StatedAt, StatedLine, Table};
use std::collections::BTreeMap;

/// The small study with a table that prints three numbers of Agile-SD, in Mbit/s.
fn printed() -> Results {
    let mut results = small();
    let number = |(buffer, value): (&str, f64)| Printed {
        at: [("variant", "agile-sd"), ("buffer", buffer)]
            .map(|(axis, label)| (axis.into(), label.into()))
            .into(),
        metric: "throughput_bps".into(),
        value,
    };
    results.study.tables = vec![Table {
        deviations: false,
        name: "table".into(),
        title: "The paper's table 3".into(),
        rows: vec!["buffer".into(), "variant".into()],
        columns: None,
        metrics: vec!["throughput_bps".into()],
        select: Selection::default(),
        printed: [("0", 0.0), ("10", 210.0), ("100", 105.0)].map(number).into(),
        scale: BTreeMap::from([("throughput_bps".into(), 1e-6)]),
    }];
    results
}

fn figure(kind: FigureKind, lines: Vec<StatedLine>) -> Figure {
    Figure {
        name: "figure".into(),
        title: "A figure".into(),
        caption: None,
        kind,
        panels: Vec::new(),
        select: select(&[]),
        printed: Some("table".into()),
        lines,
    }
}

fn line_kind() -> FigureKind {
    FigureKind::Line { x: "buffer".into(), y: "throughput_bps".into(), series: Some("variant".into()) }
}

fn svg(results: &Results, figure: &Figure) -> String {
    let mut results = results.clone();
    results.study.figures = vec![figure.clone()];
    let svg = figures::file(&results, figure, &SeriesStyles::new(&results.study), &Traces::default());
    roxmltree::Document::parse(&svg).expect("well-formed XML");
    svg
}

/// The middles of circles of this radius and colour with this filling, as they are in a path.
fn circles(svg: &str, radius: f64, colour: &str, fill: &str) -> Vec<(f64, f64)> {
    let wanted = format!("a{radius} {radius} 0 1 0");
    let is_one = |line: &&str| {
        line.contains(&wanted)
            && line.contains(&format!("fill=\"{fill}\""))
            && line.contains(&format!("stroke=\"{colour}\""))
    };
    let middle = |line: &str| {
        let place = line.split("d=\"M").nth(1)?.split('a').next()?;
        let (x, y) = place.split_once(' ')?;
        Some((x.parse::<f64>().ok()? + radius, y.parse().ok()?))
    };
    svg.lines().filter(is_one).filter_map(middle).collect()
}

#[test]
fn printed_numbers_are_hollow_markers_at_their_values() {
    let results = printed();
    let svg = svg(&results, &figure(line_kind(), Vec::new()));
    let colour = COLOURS[0].to_string();
    let theirs = circles(&svg, 5.1, &colour, "none");
    let ours = circles(&svg, 3.0, &colour, &colour);
    assert_eq!(theirs.len(), 3, "{svg}");
    // Ours at a buffer of 10 packets is 210 Mbit/s, as printed: the markers have one middle.
    assert!(
        ours.iter().any(|(x, y)| (x - theirs[1].0).abs() < 0.02 && (y - theirs[1].1).abs() < 0.02),
        "{ours:?} {theirs:?}"
    );
    // 0, 105 and 210 Mbit/s are equally far apart.
    assert!((theirs[0].1 - 2.0 * theirs[2].1 + theirs[1].1).abs() < 0.05, "{theirs:?}");
    assert!(theirs[0].0 < theirs[1].0 && theirs[1].0 < theirs[2].0);
    assert_eq!(svg.matches(">printed<").count(), 1, "one entry of the legend");
    assert!(svg.contains("Hollow markers: the numbers that the paper prints."));
}

#[test]
fn without_numbers_of_its_cells_a_figure_prints_none() {
    let results = printed();
    let other =
        FigureKind::Line { x: "buffer".into(), y: "jain_index".into(), series: Some("variant".into()) };
    let svg = svg(&results, &figure(other, Vec::new()));
    assert!(!svg.contains(">printed<"));
    // Its interval ends where Jain's index does, and so does its axis.
    assert!(svg.contains(">1.0<") && !svg.contains(">1.2<"), "{svg}");
}

#[test]
fn bars_have_printed_numbers_too() {
    let kind =
        FigureKind::Bars { x: "buffer".into(), y: "throughput_bps".into(), series: Some("variant".into()) };
    let svg = svg(&printed(), &figure(kind, Vec::new()));
    let colour = COLOURS[0];
    let signs = svg
        .lines()
        .filter(|line| line.contains(&format!("fill=\"#ffffff\" stroke=\"{colour}\" stroke-width=\"1.3\"")));
    assert_eq!(signs.count(), 3);
    assert_eq!(svg.matches(">printed<").count(), 1);
}

#[test]
fn stated_values_are_labelled_lines_in_their_panels() {
    let line = |at, label: &str, series: Option<&str>, select| StatedLine {
        at,
        label: label.into(),
        series: series.map(str::to_owned),
        of: None,
        select,
    };
    let lines = vec![
        line(StatedAt::Y(400e6), "paper: 400 Mbit/s", Some("cubic"), select(&[])),
        line(StatedAt::X(10.0), "paper: 10 packets", None, select(&[])),
    ];
    let whole = svg(&printed(), &figure(line_kind(), lines));
    for (label, colour) in [("paper: 400 Mbit/s", COLOURS[1]), ("paper: 10 packets", GREY)] {
        let written = whole.lines().find(|line| line.contains(&format!(">{label}<"))).expect("the label");
        assert!(written.contains(&format!("fill=\"{colour}\"")), "{written}");
        let dashed = format!(
            "stroke=\"{colour}\" stroke-width=\"0.9\" stroke-linejoin=\"round\" stroke-dasharray=\"3 2\""
        );
        assert_eq!(whole.matches(&dashed).count(), 1);
    }
    let mut by_panel = figure(
        FigureKind::Line { x: "buffer".into(), y: "throughput_bps".into(), series: None },
        vec![line(StatedAt::Y(400e6), "paper: 400 Mbit/s", None, select(&[("variant", &["cubic"])]))],
    );
    by_panel.panels = vec!["variant".into()];
    assert_eq!(svg(&printed(), &by_panel).matches(">paper: 400 Mbit/s<").count(), 1, "in one of two panels");
}

#[test]
fn lines_over_time_are_named_once_and_are_in_the_data_too() {
    let mut results = synthetic::results();
    let place = results.study.figures.iter().position(|figure| figure.name == "cwnd").expect("a figure");
    let line = |at, label: &str, of: Option<&str>| StatedLine {
        at,
        label: label.into(),
        series: None,
        of: of.map(str::to_owned),
        select: select(&[("buffer", &["5"])]),
    };
    results.study.figures[place].lines = vec![
        line(StatedAt::X(17.0), "paper: 17 s", None),
        line(StatedAt::Y(1_500.0), "paper: 1,500 packets", None),
        line(StatedAt::Y(3.0), "paper: 3 packets", Some("queue")),
    ];
    let html = report::html_with(&results, &synthetic::traces(&results));
    let page = parse(&html);
    let words: Vec<String> = all(&page, "svg text").into_iter().map(text).collect();
    for label in ["paper: 17 s", "paper: 1,500 packets", "paper: 3 packets"] {
        assert_eq!(words.iter().filter(|word| *word == label).count(), 1, "{label}");
    }
    assert!(html.contains("\"stated\":[{\"axis\":\"x\",\"at\":17,\"colour\":-1,\"label\":\"paper: 17 s\"},"));
}

#[test]
fn a_deviation_is_ours_divided_by_the_printed_number() {
    let results = printed();
    let svg = svg(&results, &figure(FigureKind::Deviation { table: "table".into() }, Vec::new()));
    // 210/210, and 310/105, which is beyond the end of the scale; 0 has no ratio.
    assert!(svg.contains(">1.00<") && svg.contains(">2.95<") && svg.contains(">\u{2013}<"), "{svg}");
    assert!(svg.contains("1 of 2 are within 5 %") && svg.contains("1 printed as 0"));
    let mut without = results;
    without.study.tables.clear();
    let svg = self::svg(&without, &figure(FigureKind::Deviation { table: "table".into() }, Vec::new()));
    assert!(svg.contains("its table is not run at this scale"));
}

#[test]
fn tables_show_the_deviation_beside_the_mark() {
    let cells = |results: &Results| -> Vec<String> {
        let page = parse(&report::html_with(results, &Traces::default()));
        all(&page, "td.printed").into_iter().map(text).filter(|cell| !cell.is_empty()).collect()
    };
    // Three repeats are too few for a mark. What is printed as 0 has no ratio.
    assert_eq!(cells(&printed()), ["0", "210 0.0 %", "105 +195 %"]);
    let marked = cells(&synthetic::results());
    assert!(
        marked.iter().any(|cell| cell.starts_with("779 \u{2713} ") && cell.ends_with(" %")),
        "{marked:?}"
    );
    assert!(
        marked.iter().any(|cell| cell.starts_with("99.5 \u{2717} +") && cell.ends_with(" %")),
        "{marked:?}"
    );
}

/// Links go both ways: from what was found and from figures to claims, and back.
#[test]
fn claims_stand_under_the_figure_that_they_are_of() {
    let html = report::html_with(&synthetic::results(), &synthetic::traces(&synthetic::results()));
    let page = parse(&html);
    let sections: Vec<&str> =
        all(&page, "main > section").into_iter().filter_map(|e| e.value().attr("id")).collect();
    assert_eq!(sections[0], "findings", "{sections:?}");
    let claims = synthetic::results().study.claims.len();
    assert_eq!(all(&page, ".claims tr[id^='claim-']").len(), claims);
    assert_eq!(all(&page, ".overview a.mark").len(), claims, "a mark for each");
    assert_eq!(all(&page, ".found > li").len(), 3, "three lines");
    let from_figures = all(&page, ".of-figure a.mark").len();
    let back = all(&page, ".claims tr[id^='claim-'] a.back").len();
    assert!(from_figures > 0);
    assert_eq!(from_figures, back, "a link back for each link");
}
