//! Readers that go away: neither a panic nor another exit code, whenever they do.

use crate::{command, text};
use std::{io::Read, process::Stdio};

/// Commands, and their exit codes.
const COMMANDS: &[(&[&str], i32)] = &[
    (&["run", README], 2),
    (&["check", README], 2),
    (&["compare", "cubik"], 2),
    (&["compare", "--foo"], 2),
    (&["compare", "newreno", "--duration", "100 ms"], 0),
    (&["compare", "--mix", "newreno*2", "--flows", "4", "--duration", "100 ms"], 0),
    (&["--help"], 0),
    (&["compare", "--help"], 0),
    (&["algorithms", "--markdown"], 0),
    (&["metrics"], 0),
    (&["schema"], 0),
    (&[], 2),
];

/// A text that is no study.
const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");

/// How often each is tried: when a reader goes away is a race.
const TRIES: usize = 25;

/// `cwnd … 2>&1 | head -c BYTES`.
#[test]
fn a_reader_of_both_streams_may_go_away_at_any_time() {
    for (arguments, code) in COMMANDS {
        for bytes in [0, 1, 100].repeat(TRIES / 3 + 1) {
            let (mut reader, writer) = std::io::pipe().unwrap();
            let mut command = command(arguments);
            command.stdout(writer.try_clone().unwrap()).stderr(writer);
            let mut child = command.spawn().expect("cwnd starts");
            // Its own ends of the pipe.
            drop(command);
            let mut read = vec![0; bytes];
            let _ = reader.read(&mut read).unwrap();
            drop(reader);
            assert_eq!(child.wait().unwrap().code(), Some(*code), "{arguments:?} after {bytes} bytes");
        }
    }
}

/// `cwnd … >&- 2>&-`, as far as it can be had: nobody ever reads either.
#[test]
fn nobody_reads() {
    for (arguments, code) in COMMANDS {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = command(arguments).stdout(writer.try_clone().unwrap()).stderr(writer).status();
        assert_eq!(status.expect("cwnd starts").code(), Some(*code), "{arguments:?}");
    }
}

#[test]
fn a_text_that_is_no_study_is_one_error() {
    for name in ["check", "run"] {
        let output = command(&[name, README]).stdin(Stdio::null()).output().expect("cwnd starts");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2));
        assert!(said.starts_with("error: this is not TOML: "), "{said}");
        assert_eq!((said.matches("error:").count(), said.lines().count()), (1, 5), "{said}");
    }
}
