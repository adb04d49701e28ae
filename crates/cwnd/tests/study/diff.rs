use super::*;

const SMALL: &str = r#"
title = "A study"
question = "What then?"
[scenario]
rate = "10 Mbit/s"
delay = "5 ms"
duration = "10 s"
[run]
repeats = 4
metrics = ["throughput_bps", "jain_index"]
[[axes]]
name = "buffer"
key = "buffer"
values = [5, 50]
[[axes]]
name = "variant"
values = ["one"]
key = "algorithm"
labels = ["one"]
"#;

/// The same study with two algorithms, as if the algorithm had changed between.
fn two_results() -> Workplace {
    let place = Workplace::with(&SMALL.replace("values = [\"one\"]", "values = [\"cubic-2008\"]"));
    place.printed(&["run", "quick.toml", "--quiet", "--out", "before"]);
    let after = SMALL.replace("values = [\"one\"]", "values = [\"newreno\"]");
    fs::write(place.path("quick.toml"), after).unwrap();
    place.printed(&["run", "quick.toml", "--quiet", "--out", "after"]);
    place
}

#[test]
fn what_changed_is_told() {
    let place = two_results();
    let printed = place.printed(&["diff", "before", "after"]);
    assert!(printed.contains("before → after"), "{printed}");
    let table = printed.find("Changed with significance").expect("a change");
    assert!(printed[table..].contains("throughput_bps"), "{printed}");
    let same = place.printed(&["diff", "before", "before", "--all"]);
    assert!(same.contains("Identical to the bit: all "), "{same}");

    let json: serde_json::Value =
        serde_json::from_str(&place.printed(&["diff", "before", "after", "--json"])).unwrap();
    assert_eq!(json["changed"], true);
    assert_eq!(json["comparisons"].as_array().unwrap().len(), 4);
    let first = &json["comparisons"][0];
    assert_eq!(first["significant"], true);
    assert_eq!(first["pairs"], 4);
    assert!(first["p"].as_f64().unwrap() <= first["p_corrected"].as_f64().unwrap());
}

#[test]
fn a_change_fails_only_if_asked() {
    let place = two_results();
    place.printed(&["diff", "before", "before", "--all", "--fail-on-change"]);
    let output = place.cwnd(&["diff", "before", "after", "--fail-on-change"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        "error: --fail-on-change: not identical to the bit: 1 of 4 comparisons\n"
    );
    assert!(text(&output.stdout).contains("Changed with significance"));
    let said = place.refused(2, &["diff", "before", "after", "--metric", "throughput"]);
    assert_eq!(said, "error: --metric: no run has a metric `throughput`; did you mean `throughput_bps`?\n");
}

#[test]
fn results_with_other_runs_are_a_change() {
    let place = two_results();
    let run = |out: &str, more: &[&str]| {
        place.printed(&[&["run", "quick.toml", "--quiet", "--out", out][..], more].concat());
    };
    run("fewer", &["--repeats", "2"]);
    let fails = |other: &str, why: &str| {
        let output = place.cwnd(&["diff", "after", other, "--fail-on-change"]);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(1), format!("error: {why}\n")));
        let json: serde_json::Value =
            serde_json::from_str(&place.printed(&["diff", "after", other, "--json"])).unwrap();
        assert_eq!(json["changed"], true);
        json["unpaired"].as_u64().unwrap()
    };
    assert_eq!(fails("fewer", "--fail-on-change: 4 runs have no partner"), 4);
    fs::write(
        place.path("quick.toml"),
        SMALL
            .replace("repeats = 4", "repeats = 4\nseed = 100")
            .replace("values = [\"one\"]", "values = [\"newreno\"]"),
    )
    .unwrap();
    run("seeds", &[]);
    assert_eq!(fails("seeds", "--fail-on-change: nothing could be compared; 16 runs have no partner"), 16);
}
