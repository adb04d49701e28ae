//! A live page has its script, a policy that lets it in, the study that it runs, and points that can be chosen.

use cwnd_report::figures::traces::Traces;
use cwnd_report::report;
use cwnd_study::{Provenance, Results, RunState, Study};

/// `cargo xtask web` makes a script with the simulator in it.
const SCRIPT: &str = "document.getElementById('live-study');";

const STUDY: &str = r#"
title = "</script> & a figure"
question = "How fast?"
[scenario]
algorithm = "cubic"
duration = "1 s"
[[axes]]
name = "rate"
key = "rate"
values = ["1 Mbit/s", "2 Mbit/s"]
[[figures]]
name = "throughput"
title = "Throughput"
kind = "line"
x = "rate"
y = "throughput_bps"
"#;

fn results(text: &str) -> Results {
    let study = Study::parse("s", "s.toml", text, &|_| Ok(())).unwrap_or_else(|error| panic!("{error}"));
    let provenance = Provenance { engine: "sim".to_owned(), ..Provenance::default() };
    let mut results = Results::empty(study, provenance);
    for (place, run) in results.runs.iter_mut().enumerate() {
        run.state = RunState::Done([("throughput_bps".to_owned(), 1e6 * (place + 1) as f64)].into());
    }
    results
}

#[test]
fn a_live_page_has_script_policy_study_and_points() {
    let results = results(STUDY);
    let traces = Traces::of(&results);
    let plain = report::html_with(&results, &traces);
    let live = report::live(&results, &traces, SCRIPT).expect("it is possible");
    assert!(
        !plain.contains("data-link") && !plain.contains("live-study") && !plain.contains("wasm-unsafe-eval")
    );
    assert!(live.contains("data-link=\"0\"") && live.contains("data-link=\"1\""));
    assert!(live.contains(&format!("<script>{SCRIPT}</script>")) && live.contains("'wasm-unsafe-eval'"));
    let begin = live.find("id=\"live-study\">").expect("the study") + "id=\"live-study\">".len();
    let json = &live[begin..begin + live[begin..].find("</script>").expect("its end")];
    let study: serde_json::Value = serde_json::from_str(json).expect("JSON");
    assert_eq!((study["text"].as_str(), study["scale"].as_str()), (Some(STUDY), Some("paper")));
}

#[test]
fn scripts_and_studies_that_cannot_be_live_are_refused() {
    let simulated = results(STUDY);
    let refused =
        |script: &str| report::live(&simulated, &Traces::of(&simulated), script).expect_err("refused");
    assert!(refused("alert(1)").contains("cargo xtask web"));
    assert!(refused("'live-study</SCRIPT>'").contains("would end it"));
    let text = format!("{STUDY}[run]\nengine = \"kernel\"\n");
    let study = Study::parse("s", "s.toml", &text, &|_| Ok(())).unwrap_or_else(|error| panic!("{error}"));
    let real = Results::empty(study, Provenance::default());
    let problem = report::live(&real, &Traces::of(&real), SCRIPT).expect_err("refused");
    assert!(problem.contains("engine `sim` only"), "{problem}");
}
