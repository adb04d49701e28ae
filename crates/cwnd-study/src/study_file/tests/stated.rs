//! What a publication states of a figure: `printed`, `lines`, and figures of deviations.

use super::*;
use crate::{FigureKind, RunScale, StatedAt};

const STUDY: &str = r#"
[scenario]
algorithm = "cubic"
[trace]
[[axes]]
name = "buffer"
key = "buffer"
values = [5, 10]
[[axes]]
name = "per"
key = "per"
values = [0, 1e-5]
[[tables]]
name = "table-3"
title = "Table 3"
rows = "buffer"
metrics = ["throughput_bps", "jain_index"]
scale = { throughput_bps = 1e-6 }
where = { per = 0 }
printed = [{ buffer = 5, throughput_bps = 90.5 }, { buffer = 10, throughput_bps = 95 }]
[[tables]]
name = "ours"
title = "Ours"
rows = ["buffer", "per"]
metrics = "goodput_bps"
[[figures]]
name = "f"
title = "F"
"#;

const LINE: &str = "kind = \"line\"\nx = \"buffer\"\ny = \"throughput_bps\"\n";
const TRACE: &str =
    "kind = \"trace\"\nshow = [\"cwnd\", \"throughput\"]\npanels = \"buffer\"\nseries = \"per\"\n";

fn figure(lines: &str) -> (Study, crate::Figure) {
    let study = parse(&format!("{STUDY}{lines}")).unwrap_or_else(|error| panic!("{error}"));
    let figure = study.figures[0].clone();
    (study, figure)
}

#[track_caller]
fn said(lines: &str) -> String {
    parse(&format!("{STUDY}{lines}")).expect_err("something is wrong").to_string()
}

#[test]
fn printed_numbers_are_of_the_cells_of_a_point() {
    let (study, by_panel) = figure(&format!("{LINE}panels = \"per\"\nprinted = \"table-3\""));
    let table = study.table("table-3").unwrap();
    // Cells are (buffer, per): 0 is (5, 0) and 2 is (10, 0). Numbers are in bit/s.
    let numbers = study.printed_in(&by_panel, table);
    assert_eq!(numbers.iter().map(|(cell, _)| *cell).collect::<Vec<_>>(), [0, 2]);
    assert!((numbers[0].1 / 90.5e6 - 1.0).abs() < 1e-12, "{numbers:?}");
    let (study, alone) = figure(&format!("{LINE}where = {{ per = 0 }}\nprinted = \"table-3\""));
    assert_eq!(study.printed_in(&alone, study.table("table-3").unwrap()).len(), 2);
    // Of a part of the study those numbers whose cells are left.
    let part = study.at_scale(RunScale::Sample);
    assert_eq!(part.printed_in(&alone, part.table("table-3").unwrap()).len(), 2);
}

#[test]
fn numbers_of_other_cells_or_metrics_are_refused() {
    let other = said(&format!("{LINE}where = {{ per = 1e-5 }}\nprinted = \"table-3\""));
    assert!(other.contains("no number of the table `table-3` is of the cells"), "{other}");
    let metric =
        said("kind = \"line\"\nx = \"buffer\"\ny = \"jain_index\"\npanels = \"per\"\nprinted = \"table-3\"");
    assert!(
        metric.contains("prints no `jain_index`") && metric.contains("it prints throughput_bps"),
        "{metric}"
    );
    let name = said(&format!("{LINE}panels = \"per\"\nprinted = \"table-4\""));
    assert!(
        name.contains("there is no table `table-4`") && name.contains("did you mean `table-3`?"),
        "{name}"
    );
    let nothing = said(&format!("{LINE}panels = \"per\"\nprinted = \"ours\""));
    assert!(nothing.contains("the table `ours` prints nothing"), "{nothing}");
    let kind = said(&format!("{TRACE}printed = \"table-3\""));
    assert!(kind.contains("a figure of the kind `trace` has no `printed`"), "{kind}");
}

#[test]
fn a_deviation_is_of_a_table_that_prints_something() {
    let (_, deviation) = figure("kind = \"deviation\"\ntable = \"table-3\"");
    assert_eq!(deviation.kind, FigureKind::Deviation { table: "table-3".into() });
    assert!(said("kind = \"deviation\"\ntable = \"ours\"").contains("prints nothing"));
    assert!(said("kind = \"deviation\"").contains("needs `table`"));
    assert!(said("kind = \"deviation\"\ntable = \"table-3\"\nx = \"buffer\"").contains("has no `x`"));
    let wrong = said("kind = \"deviation\"\ntable = \"table-3\"\n[[tables]]\nname = \"table-3\"");
    assert!(!wrong.contains("there is no table"), "tables that are wrong are told alone: {wrong}");
}

#[test]
fn lines_have_units_and_panels() {
    let lines = "lines = [{ x = \"17 s\", label = \"a\", series = 0 }, { y = 1500, label = \"b\", where = { buffer = 5 } }, \
                 { y = \"9 Mbit/s\", of = \"throughput\", label = \"c\" }]";
    let (_, trace) = figure(&format!("{TRACE}{lines}"));
    let at: Vec<StatedAt> = trace.lines.iter().map(|line| line.at).collect();
    assert_eq!(at, [StatedAt::X(17.0), StatedAt::Y(1_500.0), StatedAt::Y(9e6)]);
    assert_eq!(trace.lines[0].series.as_deref(), Some("0"));
    assert_eq!(trace.lines[1].select.0["buffer"], ["5"]);
    assert_eq!(trace.lines[2].of.as_deref(), Some("throughput"));
    let (_, line) = figure(&format!(
        "{LINE}panels = \"per\"\nlines = [{{ x = 10, label = \"a\" }}, {{ x = 7.5, label = \"b\" }}]"
    ));
    assert_eq!([line.lines[0].at, line.lines[1].at], [StatedAt::X(10.0), StatedAt::X(7.5)]);
}

#[test]
fn lines_that_are_wrong_are_told() {
    let wrong = |figure: &str, line: &str| said(&format!("{figure}lines = [{line}]"));
    let panels = format!("{LINE}panels = \"per\"\n");
    let vectors = [
        (TRACE, "{ label = \"a\" }", "a line is at an `x` or at a `y`"),
        (TRACE, "{ x = 1, y = 2, label = \"a\" }", "a line is at an `x` or at a `y`"),
        (TRACE, "{ x = 1 }", "needs `label`"),
        (TRACE, "{ x = \"17 packets\", label = \"a\" }", "`x` is in s, and `17 packets` is not"),
        (TRACE, "{ y = \"17 s\", label = \"a\" }", "`y` is in packets, and `17 s` is not"),
        (TRACE, "{ y = 1, of = \"queue\", label = \"a\" }", "the figure does not show `queue`"),
        (TRACE, "{ x = 1, of = \"cwnd\", label = \"a\" }", "`of` goes with `y`"),
        (TRACE, "{ y = 1, series = 7, label = \"a\" }", "the axis `per` has no label `7`"),
        (TRACE, "{ y = 1, where = { per = 0 }, label = \"a\" }", "`per` is no axis of the figure's panels"),
        (&panels, "{ y = 1, of = \"cwnd\", label = \"a\" }", "only a `trace` shows several things"),
        (&panels, "{ y = 1, series = 5, label = \"a\" }", "the figure has no `series`"),
        (&panels, "{ x = \"far\", label = \"a\" }", "`far` is no place on the axis `buffer`"),
        (&panels, "{ y = 1, label = \"a\", colour = \"red\" }", "has no key `colour`"),
    ];
    for (figure, line, message) in vectors {
        let said = wrong(figure, line);
        assert!(said.contains(message), "{line}: {said}");
    }
    let bars = "kind = \"bars\"\nx = \"buffer\"\ny = \"throughput_bps\"\npanels = \"per\"\n";
    assert!(wrong(bars, "{ x = 5, label = \"a\" }").contains("bars have no line at an `x`"));
    assert!(
        said("kind = \"deviation\"\ntable = \"table-3\"\nlines = [{ y = 1, label = \"a\" }]")
            .contains("has no `lines`")
    );
}
