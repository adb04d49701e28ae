//! `cwnd attack`: the same flags give the same study on any number of threads, the study is an ordinary one, and wrong flags are
//! refused.

use crate::{cwnd, text};
use std::{fs, path::Path};

/// Attacks CUBIC with a policer and returns what is printed.
#[track_caller]
fn attack(directory: &Path, threads: &str) -> String {
    let out = directory.to_str().expect("UTF-8");
    let arguments = ["attack", "cubic", "--against", "bbr", "--vary", "policer", "--evaluations", "300"];
    let more = ["--no-replay", "--quiet", "--threads", threads, "--out", out];
    let output = cwnd(&[&arguments[..], &more].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn a_found_path_is_a_study_and_the_same_on_any_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let told = attack(&first, "1");
    assert!(told.contains("cubic against bbr: the worst path of 300") && told.contains("policer"), "{told}");
    attack(&second, "3");
    let read = |directory: &Path| fs::read_to_string(directory.join("weakness.toml")).expect("the study");
    assert_eq!(read(&first), read(&second));
    assert!(first.join("report.html").is_file());

    // All runs are stored already.
    let (study, out) = (first.join("weakness.toml"), first.to_str().expect("UTF-8"));
    let output = cwnd(&["run", study.to_str().expect("UTF-8"), "--out", out, "--quiet"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("reproduced"), "{}", text(&output.stdout));
}

#[test]
fn wrong_flags_are_refused_with_what_is_valid() {
    let refused = |more: &[&str]| {
        let output = cwnd(&[&["attack", "bbr"], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        text(&output.stderr)
    };
    assert!(refused(&["--against", "bbr"]).contains("is the algorithm itself"));
    assert!(refused(&["--against", "cubik"]).contains("did you mean `cubic`?"));
    assert!(refused(&["--metric", "utilization"]).contains("did you mean `utilisation`?"));
    assert!(refused(&["--vary", "losses"]).contains("none of rate, delay, buffer, loss"));
    assert!(refused(&["--evaluations", "0"]).contains("at least 1"));
    assert!(refused(&["--seconds", "-1"]).contains("seconds over 0"));
    assert!(refused(&["--duration", "1 ms"]).contains("1 s to 1000 s"));
}
