//! `cwnd compare --save` and `--print-study`: a comparison is a study.

use crate::text;
use cwnd_experiment::settings::{SETTINGS, SettingKind};
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

const SHORT: [&str; 6] = ["--rate", "2 Mbit/s", "--delay", "5 ms", "--duration", "400 ms"];

fn cwnd(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cwnd"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("cwnd starts")
}

#[track_caller]
fn printed(directory: &Path, arguments: &[&str]) -> String {
    let output = cwnd(directory, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Saves a comparison, runs the study that it prints, and returns the canonical export, which both must have.
#[track_caller]
fn both_ways(arguments: &[&str]) -> String {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    fs::write(at.join("some.trace"), "1\n2\n5\n").unwrap();
    let compare = [&["compare"], arguments].concat();
    printed(at, &[&compare[..], &["--save", "saved", "--quiet"]].concat());
    let study = printed(at, &[&compare[..], &["--print-study"]].concat());
    fs::write(at.join("compare.toml"), &study).unwrap();
    assert_eq!(fs::read_to_string(at.join("saved/study.toml")).unwrap(), study);
    printed(at, &["check", "compare.toml"]);
    printed(at, &["run", "compare.toml", "--out", "ran", "--quiet", "--no-report"]);
    let export = |directory: &str| printed(at, &["export", directory, "--canonical", "--format", "json"]);
    let saved = export("saved");
    assert_eq!(saved, export("ran"), "{arguments:?}\n{study}");
    assert!(saved.contains("\"state\": \"done\""), "{saved}");
    saved
}

/// The flags that a flag needs, and the flags that it replaces.
fn with(key: &str) -> &'static [&'static str] {
    match key {
        "hops" => &["--topology", "parking-lot"],
        "mtu" => &["--stack", "linux"],
        "ack-thinning" => &["--reverse-queue", "drop-tail"],
        "rtts" => &["--access-rate", "1 Gbit/s", "--flows", "2"],
        "ecn-peer" | "ecn-option" => &["--ecn", "accurate"],
        key if key.starts_with("satellite") => &["--topology", "satellite"],
        _ => &[],
    }
}

#[test]
fn every_flag_of_a_setting_gives_the_same_runs_as_its_study() {
    // Each flag by itself takes minutes where a build is not optimised; several that do not touch each other go together.
    let mut batches: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    for setting in SETTINGS.iter().filter(|setting| setting.key != "algorithm") {
        let flag = format!("--{}", setting.key);
        let value = match (setting.kind, setting.key) {
            (SettingKind::File, _) => "some.trace",
            (_, "duration") => "500 ms",
            (_, "warm-up") => "100 ms",
            (_, "stagger" | "stop-stagger") => "20 ms",
            (_, "flow") => "cubic; start=100 ms",
            (_, "rtts") => "40 ms, 20 ms",
            (_, "schedule") => "100 ms: 1 Mbit/s; 200 ms: down; 250 ms: up, 7 ms",
            (_, "rate") => "3 Mbit/s",
            (_, "policer") => "1 Mbit/s, 10 KB",
            _ => setting.example,
        };
        let alone = with(setting.key);
        let free = batches.iter_mut().find(|(used, _)| {
            used.len() < 9
                && alone.is_empty()
                && is_harmless(setting.key)
                && used.iter().all(|key| is_harmless(key))
        });
        let mut words: Vec<String> = alone.iter().map(|word| (*word).to_owned()).collect();
        words.extend([flag, value.to_owned()]);
        match free {
            Some((used, batch)) => {
                used.push(setting.key);
                batch.extend(words);
            }
            None => batches.push((vec![setting.key], words)),
        }
    }
    for (_, batch) in &batches {
        let has = |flag: &str| batch.iter().any(|word| word == flag);
        let mut arguments: Vec<&str> = vec!["cubic"];
        arguments.extend(batch.iter().map(String::as_str));
        for pair in SHORT.chunks(2).filter(|pair| !has(pair[0])) {
            // A round trip says the delay.
            if !(pair[0] == "--delay" && has("--rtt")) {
                arguments.extend(pair);
            }
        }
        both_ways(&arguments);
    }
}

/// Returns whether a setting can be combined with all others for which this holds.
fn is_harmless(key: &str) -> bool {
    [
        "reverse-flows",
        "traffic",
        "deadline",
        "stagger",
        "buffer",
        "per",
        "jitter",
        "duplication",
        "slot",
        "reverse-rate",
        "reverse-loss",
        "reverse-jitter",
        "reverse-slot",
        "access-rate",
        "access-delay",
        "access-buffer",
        "access-queue",
        "packet-size",
        "sack",
        "timestamps",
        "delayed-ack",
        "ecn",
        "l4s",
        "recovery",
        "timer-hz",
        "receive-window",
        "duration",
        "warm-up",
        "start-jitter",
        "send-overhead",
        "ties",
        "flows",
        "cross-flows",
    ]
    .contains(&key)
}

#[test]
fn all_forms_of_flows_go_together() {
    let arguments = [
        "cubic",
        "agile-sd:lambda_max=4,beta2=0.9",
        "--mix",
        "cubic,elastic*2",
        "--flow",
        "cubic; start=100 ms",
        "--flow",
        "elastic; bytes=10 KB",
        "--flows",
        "3",
        "--repeats",
        "2",
        "--seed",
        "7",
        "--trace",
        "samples.csv",
    ];
    let saved = both_ways(&[&arguments[..], &SHORT].concat());
    assert_eq!(saved.matches("\"state\": \"done\"").count(), 8, "{saved}");
    assert_eq!(saved.matches("\"trace_sha256\": ").count(), 8, "{saved}");
    assert!(saved.contains("\"seed\": 8") && saved.contains("\"flows\": \"3\""), "{saved}");
}

#[test]
fn a_saved_comparison_is_resumed_and_read_as_a_study() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    let compare = [&["compare", "cubic", "newreno", "--save", "kept"], &SHORT[..]].concat();
    let first = printed(at, &compare);
    assert!(first.contains("results in kept") && at.join("kept/report.html").is_file(), "{first}");
    // More repeats run only what is missing, and the table is the one of all runs.
    let more = cwnd(at, &[&compare[..], &["--repeats", "3"]].concat());
    let said = text(&more.stderr);
    assert!(said.contains("compare: 4 runs to do") && said.contains("2 are stored already"), "{said}");
    let in_memory = printed(at, &[&compare[..3], &["--repeats", "3"], &SHORT[..]].concat());
    let table = |text: &str| {
        text.lines().filter(|line| !line.contains("took")).take(9).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(table(&text(&more.stdout)), table(&in_memory));
    // Exports have what is fixed and what differs.
    let csv = printed(at, &["export", "kept"]);
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    for column in [
        "algorithm",
        "engine",
        "rate",
        "rate_value",
        "rtt",
        "buffer",
        "stack",
        "packet_size",
        "duration",
        "versions",
    ] {
        assert!(header.contains(&column), "{column} in {header:?}");
    }
    assert_eq!(lines.count(), 6);
    printed(at, &["report", "kept", "--quiet"]);
    printed(at, &["diff", "kept", "kept"]);
    // Another study's directory is refused.
    let study = printed(at, &[&compare[..3], &SHORT[..], &["--print-study"]].concat());
    fs::write(at.join("other.toml"), study).unwrap();
    printed(at, &["run", "other.toml", "--quiet", "--no-report"]);
    let refused = cwnd(at, &["compare", "cubic", "--save", "results/other"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("has the results of another study, `other`"));
}

#[test]
fn runs_are_sampled_if_that_costs_little() {
    let place = tempfile::tempdir().unwrap();
    let is_sampled = |flows: &str, duration: &str, more: &[&str]| {
        let path = ["compare", "newreno", "--rate", "1 Gbit/s", "--rtt", "200 ms", "--print-study"];
        let study = [&path[..], &["--flows", flows, "--duration", duration], more].concat();
        printed(place.path(), &study).contains("[trace]")
    };
    // 1,000 times of 100 flows, 50 of 1,000.
    assert!(is_sampled("100", "20 s", &[]) && is_sampled("1000", "1 s", &[]));
    assert!(!is_sampled("101", "20 s", &[]) && !is_sampled("1000", "20 s", &[]));
    assert!(is_sampled("1000", "20 s", &["--trace", "samples.csv"]));
}

#[test]
fn documents_have_all_settings() {
    let place = tempfile::tempdir().unwrap();
    let document = printed(
        place.path(),
        &[&["compare", "cubic", "--json", "--packet-size", "1200", "--sack", "off"], &SHORT[..]].concat(),
    );
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    let run = &document["runs"][0];
    let settings = &run["settings"];
    for (key, value) in [
        ("rate", "2 Mbit/s"),
        ("rtt", "14 ms"),
        ("buffer", "1 BDP"),
        ("stack", "linux"),
        ("access_rate", "20 Mbit/s"),
        ("access_buffer", "max(1 BDP, 1000)"),
        ("engine", "sim"),
        ("topology", "dumbbell"),
        ("duration", "400 ms"),
    ] {
        assert_eq!(settings[key], value, "{key} in {settings}");
    }
    assert_eq!((&settings["packet_size"], &settings["sack"]), (&1200.into(), &false.into()));
    assert_eq!(run["identity"]["engine"], "cwnd-sim");
    assert!(run["identity"]["versions"]["cubic"].is_string(), "{}", run["identity"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_comparison_shows_what_is_done() {
    use std::{
        process::Stdio,
        thread,
        time::{Duration, Instant},
    };
    let begin = Instant::now();
    // At some of these times some runs are done and others are not. Ctrl-C is handled like SIGTERM, but a shell may start
    // background programs with it ignored.
    for wait_ms in [300, 1_000, 3_000, 6_000] {
        let child = Command::new(env!("CARGO_BIN_EXE_cwnd"))
            .args(["compare", "cubic", "--rate", "100 Mbit/s", "--duration", "10 s", "--repeats", "20000"])
            .args(["--delay", "5 ms", "--threads", "1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("cwnd starts");
        thread::sleep(Duration::from_millis(wait_ms));
        let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        let output = child.wait_with_output().expect("it ends");
        let (shown, said) = (text(&output.stdout), text(&output.stderr));
        if shown.contains("from seeds 1 to ") {
            assert_eq!(output.status.code(), Some(143), "{said}");
            assert!(said.contains("stopped: ") && said.contains(" of 20000 runs are done"), "{said}");
            return;
        }
    }
    panic!("nothing was shown in {:?}", begin.elapsed());
}

/// A policy file whose action is always the same.
fn constant_policy(at: &Path, action: f64) {
    let text = format!(
        r#"{{"format": "cwnd-policy-1", "action": {{"rate": {{"scale": 0.025, "least-pps": 40, "most-pps": 1000, "limit": 1e12}}}},
        "features": ["send-ratio"], "history": 1, "interval": {{"mean-rtts": {{"times": 0.5, "first": 1.5}}}},
        "warm-up-rtts": 3, "first-rate-pps": 50, "layers": [{{"weights": [[0]], "bias": [{action}]}}]}}"#
    );
    fs::write(at.join("policy.json"), text).unwrap();
}

#[test]
fn a_trained_policy_is_an_algorithm_and_its_file_is_part_of_the_identity() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    constant_policy(at, 0.0);
    let compare = [&["compare", "cubic", "policy:file=policy.json", "--save", "saved"], &SHORT[..]].concat();
    let throughputs = || {
        let text = printed(at, &[&compare[..], &["--json"]].concat());
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let runs = document["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 2);
        [0, 1].map(|run: usize| runs[run]["throughput_bps"].as_f64().unwrap())
    };
    let first = throughputs();
    assert_eq!(throughputs(), first);
    constant_policy(at, 5.0);
    let second = throughputs();
    assert_eq!(second[0], first[0]);
    assert!(second[1] > first[1], "{first:?} {second:?}");
    fs::remove_file(at.join("policy.json")).unwrap();
    let output = cwnd(at, &compare);
    let message = text(&output.stderr);
    assert!(!output.status.success() && message.contains("policy.json"), "{message}");
}
