//! `cwnd report`: the page and the figures of a study that was run.

use crate::{cwnd, text};
use std::{fs, path::Path};

const STUDY: &str = r#"
title = "Two algorithms and two buffers"
question = "Which of them fills the pipe?"

[scenario]
rate = "10 Mbit/s"
delay = "5 ms"
duration = "2 s"

[run]
repeats = 2

[trace]
sample = "100 ms"

[[axes]]
name = "variant"
key = "algorithm"
values = ["cubic", "newreno"]

[[axes]]
name = "buffer"
key = "buffer"
values = [5, 50]

[[figures]]
name = "throughput"
title = "Throughput against buffer"
kind = "line"
x = "buffer"
y = "throughput_bps"
series = "variant"

[[figures]]
name = "windows"
title = "Windows over time"
kind = "trace"
show = ["cwnd", "queue"]
series = "variant"
where = { buffer = 50 }

[[tables]]
name = "throughput"
title = "Throughput"
rows = ["buffer"]
columns = "variant"
metrics = ["throughput_bps", "loss_ratio"]
"#;

/// Runs the study into `results` of a directory.
fn run_study(directory: &Path) {
    let file = directory.join("small.toml");
    fs::write(&file, STUDY).expect("the study is written");
    let output = cwnd(&["run", path(&file), "--out", path(&directory.join("results")), "--quiet"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn a_study_has_a_page_and_figures() {
    let directory = tempfile::tempdir().expect("a directory");
    run_study(directory.path());
    let (results, figures) = (directory.path().join("results"), directory.path().join("paper/figures"));
    let output = cwnd(&["report", path(&results), "--figures", path(&figures)]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = fs::read_to_string(results.join("report.html")).expect("the page");
    for part in
        ["<h1>Two algorithms and two buffers</h1>", "Which of them fills the pipe?", "Windows over time"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("id=\"samples-2\""), "the samples were read back");
    assert!(!page.contains("missing ("), "nothing is missing");
    for name in ["throughput", "windows"] {
        let figure = fs::read_to_string(figures.join(format!("{name}.svg"))).expect("a figure");
        assert!(figure.starts_with("<svg ") && figure.contains("seeds 1 to 2"), "{figure}");
    }
    assert_eq!(text(&output.stdout).lines().count(), 3);

    let formats = ["--figure-format", "png,pdf", "--figures", path(&figures)];
    let output = cwnd(&[&["report", path(&results)], &formats[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).lines().count(), 5, "the page, and two files for each figure");
    for (extension, start) in [("png", &b"\x89PNG"[..]), ("pdf", b"%PDF-")] {
        let figure = fs::read(figures.join(format!("windows.{extension}"))).expect("a figure");
        assert!(figure.starts_with(start), "{extension}");
    }

    // Once more: the same bytes, elsewhere, in silence.
    let out = directory.path().join("again.html");
    let output = cwnd(&["report", path(&results), "--out", path(&out), "--quiet"]);
    assert!(output.status.success() && output.stdout.is_empty());
    assert_eq!(fs::read_to_string(&out).expect("the page"), page);
}

#[test]
fn what_cannot_be_reported_is_said() {
    let directory = tempfile::tempdir().expect("a directory");
    let nothing = directory.path().join("nothing");
    let output = cwnd(&["report", path(&nothing)]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("nothing"), "{}", text(&output.stderr));
    assert!(!nothing.exists(), "nothing is made where nothing was");

    run_study(directory.path());
    let results = directory.path().join("results");
    let out = directory.path().join("report.txt");
    let output = cwnd(&["report", path(&results), "--out", path(&out)]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("--out: ") && said.contains("the name of a report ends in .html"), "{said}");
    assert!(!out.exists());
}

#[test]
fn a_study_without_figures_says_so() {
    let directory = tempfile::tempdir().expect("a directory");
    let study = STUDY.split("[[figures]]").next().expect("the study without figures");
    fs::write(directory.path().join("small.toml"), study).expect("the study is written");
    let results = directory.path().join("results");
    let output =
        cwnd(&["run", path(&directory.path().join("small.toml")), "--out", path(&results), "--quiet"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = cwnd(&["report", path(&results), "--figures", path(&directory.path().join("figures"))]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("the study has no figures"), "{}", text(&output.stderr));
}
