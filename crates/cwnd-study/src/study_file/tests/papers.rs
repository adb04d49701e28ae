//! The words by which papers are held against: gains, printed numbers, derived metrics, the quick scale, models.

use super::*;
use crate::{By, ClaimKind, ClaimTest, Expectation, FigureKind, Formula, PairSummary, Paper, RunScale};

const AXES: &str = "[run]\nrepeats = 10\n[[axes]]\nname = \"variant\"\nkey = \"algorithm\"\nvalues = [\"cubic\", \"elastic\", \"newreno\"]\n\
                    [[axes]]\nname = \"buffer\"\nkey = \"buffer\"\nvalues = [5, 10, 50, 100]\n";

#[track_caller]
fn study(lines: &str) -> Study {
    parse(&format!("{AXES}{lines}")).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn said(lines: &str) -> String {
    match parse(&format!("{AXES}{lines}")) {
        Ok(_) => panic!("this is right:\n{lines}"),
        Err(error) => error.to_string(),
    }
}

fn cells(study: &Study) -> Vec<String> {
    (0..study.cells.len()).map(|cell| study.cell_label(cell)).collect()
}

#[test]
fn claims_are_held_against_ranges_gains_and_printed_numbers() {
    let study = study(
        r#"
        [[claims]]
        text = "a"
        measure = "greatest-gain"
        metric = "throughput_bps"
        axis = "variant"
        of = "elastic"
        over = ["cubic", "newreno"]
        gain = 0.55
        [[claims]]
        text = "b"
        measure = "mean"
        metric = "throughput_bps"
        where = { variant = "cubic", buffer = 100 }
        printed = 513.72
        scale = 1e-6
        [[claims]]
        text = "c"
        measure = "least"
        metric = "utilisation"
        printed = 1
        [[claims]]
        text = "d"
        not-testable = "its figure is lost"
        "#,
    );
    let expected = |claim: usize| match &study.claims[claim].test {
        ClaimTest::Measured { expect, .. } => *expect,
        ClaimTest::NotTestable(why) => panic!("{why}"),
    };
    assert_eq!(expected(0), Expectation::Gain(0.55));
    assert_eq!(expected(1), Expectation::Printed { value: 513.72, scale: 1e-6 });
    assert_eq!(expected(2), Expectation::Printed { value: 1.0, scale: 1.0 });
    assert_eq!(study.claims[3].test, ClaimTest::NotTestable("its figure is lost".to_owned()));
    assert_eq!(study.claims[3].kind(), None);
    assert!(matches!(
        study.claims[0].kind(),
        Some(ClaimKind::Gain { pairs: PairSummary::Greatest, absolute: false, .. })
    ));
}

#[test]
fn derived_metrics_are_metrics() {
    let study = study(
        r#"
        [[derived]]
        name = "stolen"
        title = "Bandwidth stolen"
        metric = "goodput_bps"
        axis = "variant"
        reference = "newreno"
        formula = "loss"
        [[figures]]
        name = "a"
        title = "A"
        kind = "line"
        x = "buffer"
        y = "stolen"
        series = "variant"
        [[tables]]
        name = "b"
        title = "B"
        rows = ["variant", "buffer"]
        metrics = ["stolen", "loss_ratio"]
        [[claims]]
        text = "c"
        measure = "mean"
        metric = "stolen"
        expect = "<= 0.1"
        "#,
    );
    let stolen = study.derived("stolen").expect("derived");
    assert_eq!((stolen.reference.as_str(), stolen.formula), ("newreno", Formula::Loss));
    // Every cell is held against the one of the same buffer.
    let references: Vec<Option<usize>> = [8, 9, 10, 11].repeat(3).into_iter().map(Some).collect();
    assert_eq!(study.references(stolen), references);
    // What is asked of runs is what it is made of.
    let asked = study.metrics_asked();
    assert!(asked.contains(&"goodput_bps") && !asked.contains(&"stolen"), "{asked:?}");
}

#[test]
fn the_quick_scale_leaves_some_points_and_the_sample_their_ends() {
    let quick =
        "[quick]\nrepeats = 3\naxes = { buffer = [100, 5, 50], variant = [\"cubic\", \"elastic\"] }\n";
    let whole = study(quick);
    assert_eq!((whole.cells.len(), whole.repeats, whole.scale()), (12, 10, RunScale::Paper));
    let quick = whole.at_scale(RunScale::Quick);
    let expected = ["cubic, 5", "cubic, 50", "cubic, 100", "elastic, 5", "elastic, 50", "elastic, 100"];
    assert_eq!(
        (cells(&quick), quick.repeats, quick.scale()),
        (expected.map(str::to_owned).into(), 3, RunScale::Quick)
    );
    assert_eq!(quick.cells[5].coordinates, [1, 2]);
    let sample = quick.at_scale(RunScale::Sample);
    let expected = ["cubic, 5", "cubic, 100", "elastic, 5", "elastic, 100"];
    assert_eq!((cells(&sample), sample.repeats), (expected.map(str::to_owned).into(), 1));
    // The whole comes back, and a part is the same whatever it is taken of.
    assert_eq!(sample.at_scale(RunScale::Paper), whole);
    assert_eq!(sample.at_scale(RunScale::Quick), quick);
}

#[test]
fn a_part_has_the_figures_and_tables_of_its_own_cells() {
    let whole = study(
        r#"
        [quick]
        axes = { buffer = [5, 50] }
        [[figures]]
        name = "kept"
        title = "Kept"
        kind = "line"
        x = "buffer"
        y = "throughput_bps"
        series = "variant"
        where = { buffer = [50, 100] }
        [[figures]]
        name = "left-out"
        title = "Left out"
        kind = "bars"
        x = "variant"
        y = "throughput_bps"
        where = { buffer = 100 }
        [[tables]]
        name = "left-out"
        title = "Left out"
        rows = ["variant"]
        metrics = ["throughput_bps"]
        where = { buffer = 100 }
        "#,
    );
    let names = |study: &Study| study.figures.iter().map(|figure| figure.name.clone()).collect::<Vec<_>>();
    let quick = whole.at_scale(RunScale::Quick);
    assert_eq!((names(&quick), quick.tables.len()), (vec!["kept".to_owned()], 0));
    let back = quick.at_scale(RunScale::Paper);
    assert_eq!((names(&back).len(), back.tables.len()), (2, 1));
}

#[test]
fn a_sample_of_a_cross_has_the_ends_of_its_arms() {
    let text = "[scenario]\nalgorithm = \"cubic\"\n[[axes]]\nname = \"buffer\"\nkey = \"buffer\"\nvalues = [5, 10, 20, 30]\n\
                [[axes]]\nname = \"rate\"\nkey = \"rate\"\nvalues = [\"1 Mbit/s\", \"2 Mbit/s\", \"3 Mbit/s\"]\n\
                [[skip]]\nbuffer = [5, 20, 30]\nrate = [\"1 Mbit/s\", \"3 Mbit/s\"]\n";
    let sample = parse(text).unwrap_or_else(|error| panic!("{error}")).at_scale(RunScale::Sample);
    assert_eq!(cells(&sample), ["5, 2 Mbit/s", "10, 1 Mbit/s", "10, 3 Mbit/s", "30, 2 Mbit/s"]);
}

#[test]
fn a_run_is_the_same_at_every_scale() {
    let plain = study("");
    let whole = study(
        "[quick]\nrepeats = 2\naxes = { buffer = [5, 100] }\n[[derived]]\nname = \"more\"\ntitle = \"More\"\nmetric = \"goodput_bps\"\n\
         axis = \"variant\"\nreference = \"cubic\"\nformula = \"gain\"\n[[claims]]\ntext = \"a\"\nmeasure = \"mean\"\nmetric = \"more\"\nexpect = \">= 0\"",
    );
    for scale in RunScale::ALL {
        let part = whole.at_scale(scale);
        for cell in 0..part.cells.len() {
            let same =
                cells(&plain).iter().position(|label| *label == part.cell_label(cell)).expect("a cell");
            assert_eq!(part.scenario(cell, 0), plain.scenario(same, 0));
        }
    }
}

#[test]
fn a_sample_keeps_the_reference_of_a_derived_metric() {
    let whole = study(
        "[[derived]]\nname = \"more\"\ntitle = \"More\"\nmetric = \"goodput_bps\"\naxis = \"buffer\"\nreference = 50\nformula = \"ratio\"",
    );
    let labels: Vec<String> =
        whole.at_scale(RunScale::Sample).axes[1].points.iter().map(|point| point.label.clone()).collect();
    assert_eq!(labels, ["5", "50", "100"]);
}

#[test]
fn models_and_printed_numbers_are_read() {
    let study = study(
        r#"
        [[figures]]
        name = "a"
        title = "A"
        kind = "model"
        model = "epoch"
        [[tables]]
        name = "b"
        title = "B"
        rows = ["variant"]
        columns = "buffer"
        metrics = ["throughput_bps", "loss_ratio"]
        printed = [
          { variant = "cubic", buffer = 5, throughput_bps = 513.72, loss_ratio = 0.12 },
          { variant = "elastic", buffer = 10.0, throughput_bps = 107 },
        ]
        scale = { throughput_bps = 1e-6, loss_ratio = 100 }
        "#,
    );
    assert_eq!(study.figures[0].kind, FigureKind::Model { model: "epoch".to_owned() });
    let table = &study.tables[0];
    let printed: Vec<(&str, &str, f64)> =
        table.printed.iter().map(|p| (p.at["buffer"].as_str(), p.metric.as_str(), p.value)).collect();
    let expected =
        [("5", "loss_ratio", 0.12), ("5", "throughput_bps", 513.72), ("10", "throughput_bps", 107.0)];
    let mut sorted = printed.clone();
    sorted[..2].sort_by_key(|(_, metric, _)| metric.to_owned());
    assert_eq!(sorted, expected);
    assert_eq!((table.scale_of("throughput_bps"), table.scale_of("loss_ratio")), (1e-6, 100.0));
}

#[test]
fn what_is_wrong_with_them_has_its_place() {
    let claim = |lines: &str| {
        format!(
            "[[claims]]\ntext = \"a\"\nmetric = \"goodput_bps\"\naxis = \"variant\"\nof = \"cubic\"\nover = \"elastic\"\n{lines}\n"
        )
    };
    let plain = |lines: &str| format!("[[claims]]\ntext = \"a\"\nmetric = \"goodput_bps\"\n{lines}\n");
    let derived = |lines: &str| {
        format!("[[derived]]\ntitle = \"A\"\nmetric = \"goodput_bps\"\naxis = \"variant\"\n{lines}\n")
    };
    let table = |lines: &str| {
        format!(
            "[[tables]]\nname = \"a\"\ntitle = \"A\"\nrows = \"variant\"\ncolumns = \"buffer\"\nmetrics = \"goodput_bps\"\n{lines}\n"
        )
    };
    let files = [
        ("against nothing, and two things", claim("measure = \"gain\"") + &claim("measure = \"gain\"\ngain = 0.1\nexpect = \">= 1\"")),
        ("a gain of what is no gain", claim("measure = \"wins\"\ngain = 0.5") + &claim("measure = \"gain\"\ngain = -0.5") + &claim("measure = \"gain\"\ngain = \"55 %\"")),
        ("a printed gain, and scales", claim("measure = \"gain\"\nprinted = 0.5") + &plain("measure = \"mean\"\nprinted = 5\nscale = 0") + &plain("measure = \"mean\"\nexpect = \">= 1\"\nscale = 2")),
        ("not testable, and yet", plain("not-testable = \"it is lost\"\nexpect = \">= 1\"") + "[[claims]]\ntext = \"b\"\nexpect = \">= 1\"\n"),
        ("the quick scale", "[quick]\n[[figures]]\nname = \"a\"\ntitle = \"A\"\nkind = \"line\"\nx = \"buffer\"\ny = \"goodput_bps\"\nseries = \"variant\"".to_owned()),
        ("the quick scale, with more than there is", "[quick]\nrepeats = 20\naxes = { buffer = 7, per = 0 }".to_owned()),
        ("no reference at the quick scale", "[quick]\naxes = { variant = \"cubic\" }\n".to_owned() + &derived("name = \"more\"\nreference = \"elastic\"\nformula = \"gain\"")),
        ("derived names", derived("name = \"utilisation\"\nreference = \"cubic\"\nformula = \"gain\"") + &derived("name = \"a-b\"\nreference = \"cubik\"\nformula = \"gian\"") + &derived("name = \"a\"")),
        ("a metric that is not derived", derived("name = \"stolen\"\nreference = \"cubic\"\nformula = \"loss\"") + "[[claims]]\ntext = \"a\"\nmeasure = \"mean\"\nmetric = \"stoln\"\nexpect = \">= 0\""),
        ("models", "[[figures]]\nname = \"a\"\ntitle = \"A\"\nkind = \"model\"\nmodel = \"epoc\"\n[[figures]]\nname = \"b\"\ntitle = \"B\"\nkind = \"model\"\nx = \"buffer\"".to_owned()),
        ("printed numbers", table("printed = [{ variant = \"cubic\", buffer = 5 }, { variant = \"cubic\", goodput_bps = 1 }, { variant = \"cubic\", buffer = 7, goodput_bps = 1 }]")),
        ("printed twice, and other metrics", table("printed = [{ variant = \"cubic\", buffer = 5, goodput_bps = 1 }, { variant = \"cubic\", buffer = 5, goodput_bps = 2 }, { variant = \"cubic\", buffer = 5, goodput = 2 }]\nscale = { goodput_bps = 0, loss_ratio = 100 }")),
        ("a scale of nothing", table("scale = { goodput_bps = 1e-6 }")),
    ];
    let all: String =
        files.iter().map(|(name, lines)| format!("======== {name}\n{}\n\n", said(lines))).collect();
    insta::assert_snapshot!(all);
}

#[test]
fn papers_are_read() {
    let text = r#"
        key = "P9"
        title = "A"
        authors = "B"
        published = "C"
        year = 2020
        [[parts]]
        of = "Figure 1"
        models = ["epoch"]
        [[parts]]
        of = "Figure 2"
        study = "throughput"
        figures = "a"
        [[parts]]
        of = "Table 1"
        study = "throughput"
        tables = ["b", "c"]
        [[parts]]
        of = "Figure 3"
        nothing = "it is lost"
    "#;
    let paper = Paper::parse("a", "paper.toml", text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((paper.key.as_str(), paper.year, paper.studies()), ("P9", 2020, vec!["throughput"]));
    assert_eq!(paper.parts[3].by, By::Nothing("it is lost".to_owned()));
    let wrong = "key = \"P9\"\ntitle = \"A\"\nauthors = \"B\"\nyear = 0\n[[parts]]\nof = \"Figure 1\"\n[[parts]]\nof = \"Figure 2\"\nstudy = \"a\"\n\
                 [[parts]]\nof = \"Table 1\"\ntable = \"t\"\nfigures = \"a\"";
    let error = Paper::parse("a", "paper.toml", wrong).unwrap_err().to_string();
    for part in [
        "the paper needs `published`",
        "`year`: it must be at least 1",
        "paper.toml:5:1\n",
        "a part is made again in one way",
        "none of its figures and tables is shown",
        "`figures` goes with `study`",
    ] {
        assert!(error.contains(part), "{part} in {error}");
    }
}
