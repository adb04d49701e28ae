//! Figures of distributions: `cdf`, `scatter` and `box`.

use super::*;
use crate::{FLOW_PANELS, FigureKind, Per, Scale};

const STUDY: &str = r#"
[scenario]
algorithm = "cubic"
short-flows = "cubic; rate=5/s; size=web-search"
[trace]
[[axes]]
name = "buffer"
key = "buffer"
values = [5, 10]
[[axes]]
name = "per"
key = "per"
values = [0, 1e-5]
[[figures]]
name = "f"
title = "F"
"#;

fn kind(lines: &str) -> FigureKind {
    let study = parse(&format!("{STUDY}{lines}")).unwrap_or_else(|error| panic!("{error}"));
    study.figures[0].kind.clone()
}

#[track_caller]
fn said(lines: &str) -> String {
    parse(&format!("{STUDY}{lines}")).expect_err("something is wrong").to_string()
}

#[test]
fn each_kind_is_read() {
    let series = Some("buffer".to_owned());
    let rest = "series = \"buffer\"\npanels = \"per\"";
    assert_eq!(
        kind(&format!(
            "kind = \"cdf\"\nx = \"short.completion_time_s\"\nper = \"flow\"\nscale = \"log\"\n{rest}"
        )),
        FigureKind::Cdf {
            x: "short.completion_time_s".into(),
            per: Per::Flow,
            series: series.clone(),
            scale: Scale::Log
        }
    );
    assert_eq!(
        kind(&format!("kind = \"scatter\"\nx = \"rtt_mean_s\"\ny = \"throughput_bps\"\n{rest}")),
        FigureKind::Scatter {
            x: "rtt_mean_s".into(),
            y: "throughput_bps".into(),
            per: Per::Run,
            series: series.clone()
        }
    );
    assert_eq!(
        kind("kind = \"box\"\nx = \"per\"\ny = \"rtt\"\nper = \"sample\"\nseries = \"buffer\""),
        FigureKind::Box { x: "per".into(), y: "rtt".into(), per: Per::Sample, series }
    );
}

#[test]
fn what_is_wrong_is_told() {
    let open = "panels = [\"per\", \"buffer\"]";
    let vectors = [
        (format!("kind = \"cdf\"\n{open}"), "a figure of the kind `cdf` needs `x`"),
        (
            format!("kind = \"cdf\"\nx = \"rtt_mean_s\"\ny = \"utilisation\"\n{open}"),
            "the kind `cdf` has no `y`",
        ),
        (format!("kind = \"scatter\"\nx = \"rtt_mean_s\"\n{open}"), "the kind `scatter` needs `y`"),
        (
            format!("kind = \"scatter\"\nx = \"rtt_mean_s\"\ny = \"utilisation\"\nscale = \"log\"\n{open}"),
            "the kind `scatter` has no `scale`",
        ),
        (
            format!("kind = \"scatter\"\nx = \"rtt\"\ny = \"queue\"\nper = \"sample\"\n{open}"),
            "a `scatter` is not drawn of samples",
        ),
        (format!("kind = \"cdf\"\nx = \"rtt_mean\"\n{open}"), "there is no metric `rtt_mean`"),
        (
            format!("kind = \"cdf\"\nx = \"utilisation_of\"\nper = \"flow\"\n{open}"),
            "no flow has a metric `utilisation_of` of its own",
        ),
        (
            format!("kind = \"cdf\"\nx = \"flow1.slowdown\"\nper = \"flow\"\n{open}"),
            "write `slowdown` for all flows, or `short.slowdown` for the short ones",
        ),
        (
            format!("kind = \"cdf\"\nx = \"rtts\"\nper = \"sample\"\n{open}"),
            "`x` is none of cwnd, ssthresh, rtt",
        ),
        (
            format!("kind = \"cdf\"\nx = \"slowdown\"\nper = \"packet\"\n{open}"),
            "`per` is none of run, flow, sample",
        ),
        ("kind = \"cdf\"\nx = \"slowdown\"".to_owned(), "the axis `buffer` is left open"),
        (
            format!("kind = \"box\"\nx = \"slowdown\"\ny = \"slowdown\"\n{open}"),
            "there is no axis `slowdown`",
        ),
        (
            "kind = \"line\"\nx = \"per\"\ny = \"utilisation\"\nper = \"flow\"\nseries = \"buffer\""
                .to_owned(),
            "the kind `line` has no `per`",
        ),
    ];
    for (lines, message) in vectors {
        let said = said(&lines);
        assert!(said.contains(message), "{lines}\n{said}");
    }
    let text = STUDY.replace("[trace]\n", "");
    let unrecorded = format!("{text}kind = \"cdf\"\nx = \"rtt\"\nper = \"sample\"\n{open}");
    let error = parse(&unrecorded).expect_err("nothing is recorded").to_string();
    assert!(error.contains("nothing is recorded over time"), "{error}");
}

#[test]
fn a_trace_has_a_panel_for_each_flow() {
    let lines = "kind = \"trace\"\nshow = \"cwnd\"\npanels = \"flow\"\nwhere = { buffer = 5, per = 0 }";
    let study = parse(&format!("{STUDY}{lines}")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(study.figures[0].panels, [FLOW_PANELS]);
    let line = "kind = \"line\"\nx = \"per\"\ny = \"utilisation\"\nseries = \"buffer\"\npanels = \"flow\"";
    assert!(said(line).contains("there is no axis `flow`"));
}
