//! `cwnd attack`: the same flags give the same study on any number of threads, the study is an ordinary one, and wrong flags are
//! refused.

use crate::{cwnd, text};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

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

#[cfg(unix)]
#[test]
fn an_interrupted_search_keeps_its_worst_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let study = folder.path().join("weakness.toml");
    let study = study.to_str().expect("UTF-8");
    // A search that is ended before its first round has found nothing.
    for wait_ms in [1_000, 4_000, 16_000] {
        let child = Command::new(env!("CARGO_BIN_EXE_cwnd"))
            .args(["attack", "cubic", "--against", "bbr", "--vary", "policer", "--evaluations", "1000000"])
            .args(["--no-replay", "--quiet", "--threads", "1", "--out"])
            .arg(folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .expect("cwnd starts");
        std::thread::sleep(std::time::Duration::from_millis(wait_ms));
        let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        let output = child.wait_with_output().expect("it ends");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(143), "{said}");
        if said.contains("the worst path so far") {
            assert!(said.contains(study) && said.contains("--evaluations "), "{said}");
            let output = cwnd(&["check", study]);
            assert!(output.status.success(), "{}", text(&output.stderr));
            return;
        }
        assert!(said.contains("found no such path"), "{said}");
    }
    panic!("no path was found");
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
    assert!(refused(&["--against", "cubic@noq"]).contains("`cubic@noq` is not simulated here"));
    let unmeasured = refused(&["--metric", "completion_time_s", "--evaluations", "20", "--duration", "1 s"]);
    assert!(unmeasured.contains("on none of 20 paths did both algorithms have a value"), "{unmeasured}");
    assert!(refused(&["--vary", "losses"]).contains("none of rate, delay, buffer, loss"));
    assert!(refused(&["--evaluations", "0"]).contains("at least 1"));
    assert!(refused(&["--seconds", "-1"]).contains("seconds over 0"));
    assert!(refused(&["--duration", "1 ms"]).contains("1 s to 1000 s"));
}
