//! What is printed: nothing that acts on a terminal, and no success where it could not be written.

use crate::{cwnd, text};
use std::{
    fs,
    process::{Command, Output, Stdio},
};

fn with_stdout(arguments: &[&str], stdout: impl Into<Stdio>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cwnd")).args(arguments).stdout(stdout).output().expect("cwnd starts")
}

const COMMANDS: &[&[&str]] = &[
    &["--help"],
    &["--version"],
    &["compare", "--help"],
    &["help", "run"],
    &["compare", "newreno", "--duration", "100 ms", "--quiet"],
    &["compare", "newreno", "--duration", "100 ms", "--json"],
    &["advise", "--help"],
    &["algorithms"],
    &["algorithms", "cubic", "--json"],
    &["metrics", "--markdown"],
    &["networks"],
    &["schema"],
    &["reproduce"],
];

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_no_success() {
    for arguments in COMMANDS {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = with_stdout(arguments, full);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.starts_with("error: cannot write to standard output: "), "{arguments:?}: {said}");
    }
}

#[test]
fn a_reader_that_has_gone_away_is_no_failure() {
    for arguments in COMMANDS {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = with_stdout(arguments, writer);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{arguments:?}");
    }
}

#[test]
fn a_closed_standard_error_changes_no_exit_code() {
    for arguments in [&["run", "nowhere.toml"] as &[&str], &["compare", "cubik"], &["check", "README.md"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_cwnd"));
        let status = command.args(arguments).stderr(writer).status().expect("cwnd starts");
        assert_eq!(status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn nothing_acts_on_a_terminal() {
    const HOSTILE: &str = "a\u{1b}[2J\u{9b}31m\r\u{202e}\u{2066}\u{61c}b";
    let acts = |c: char| {
        c.is_control() && c != '\n' && c != '\t' || !c.is_control() && HOSTILE.contains(c) && !c.is_ascii()
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("study.toml");
    let study = "title = \"a \\u001b[2J\u{202e}b\"\n[scenario]\nalgorithm = \"cubic\"\nduration = \"1 s\"\n";
    fs::write(&file, study).unwrap();
    let unknown = folder.path().join("unknown.toml");
    fs::write(&unknown, "\"k\\u001b[2J\u{202e}\" = 1\n").unwrap();
    let (file, unknown) = (file.to_str().unwrap(), unknown.to_str().unwrap());
    for arguments in [
        &["compare", HOSTILE] as &[&str],
        &["compare", "cubic", "--rate", HOSTILE],
        &["compare", "cubic", HOSTILE, "--json"],
        &[HOSTILE],
        &["check", HOSTILE],
        &["check", unknown],
        &["check", file],
        &["report", HOSTILE],
        &["metrics", HOSTILE],
        &["algorithms", HOSTILE],
    ] {
        let output = cwnd(arguments);
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert!(!printed.is_empty() && !printed.contains(acts), "{arguments:?}: {printed:?}");
    }
    assert!(text(&cwnd(&["check", unknown]).stderr).contains("`k\\u{1b}[2J\\u{202e}`"));
}

/// The document holds the command, which may be anything; its escapes are JSON's.
#[test]
fn a_document_stays_json() {
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("a\u{202e}b.svg");
    let plot = plot.to_str().unwrap();
    let document = crate::document(&["compare", "newreno", "--duration", "1 s", "--json", "--plot", plot]);
    assert!(document["command"].as_array().unwrap().iter().any(|word| word == plot));
}

#[test]
fn switches_have_the_same_words_everywhere() {
    for (on, off) in [("on", "off"), ("true", "false")] {
        let (ecn, reverse) = (format!("red:ecn={on}"), format!("uniform:1 ms,reorder={off}"));
        let output = cwnd(&[
            "compare",
            "--duration",
            "100 ms",
            "--quiet",
            "--sack",
            off,
            "--ecn",
            on,
            "--timestamps",
            on,
            "--queue",
            &ecn,
            "--reverse-jitter",
            &reverse,
            &format!("htcp:rtt_scaling={on}"),
        ]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}
