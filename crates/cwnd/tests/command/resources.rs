//! Bounds on what the program takes: files that never end or never begin, memory, time and stack.

use crate::text;
use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

/// What a command may take: a fault shows as a failure of the test, and not as a test that hangs or fills the machine.
const PATIENCE: Duration = Duration::from_secs(60);
const ADDRESS_SPACE_KIB: u64 = 4_000_000;

/// Runs `cwnd` in a shell with these limits (`ulimit`).
#[track_caller]
fn limited(limits: &str, arguments: &[&str]) -> Output {
    let mut child = Command::new("bash")
        .args(["-c", &format!("{limits} exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_cwnd")])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash starts");
    let begin = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begin.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("{arguments:?} is not over after {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("a child that is over")
}

/// The message of a command that is refused with exit code 2, within bounds.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = limited(&format!("ulimit -v {ADDRESS_SPACE_KIB};"), arguments);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
    message
}

/// Makes a pipe to which nobody writes, and returns its path.
fn pipe(directory: &Path, name: &str) -> String {
    let path = directory.join(name);
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo starts").success());
    path.into_os_string().into_string().expect("a name in UTF-8")
}

#[test]
fn files_that_are_not_regular_are_refused_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = pipe(directory.path(), "pipe");
    for (path, what) in [("/dev/zero", "a device"), (&*pipe, "a pipe"), ("/", "a directory")] {
        let expected = format!("cannot read `{path}`: it is {what}; only a regular file can be read");
        let message = refused(&["compare", "cubic", "--rate-trace", path]);
        assert!(message.contains(&expected), "{message}");
        let expected =
            format!("cannot read the study `{path}`: it is {what}; only a regular file can be read");
        for command in ["check", "run"] {
            let message = refused(&[command, path]);
            assert!(message.contains(&expected), "{message}");
        }
        // A file that a study names.
        let study = directory.path().join("study.toml");
        let text = format!(
            "title = \"A\"\nquestion = \"B\"\n[scenario]\nalgorithm = \"cubic\"\nrate-trace = \"{path}\"\n"
        );
        fs::write(&study, text).unwrap();
        let message = refused(&["check", study.to_str().unwrap()]);
        assert!(message.contains(&format!("it is {what}; only a regular file can be read")), "{message}");
    }
}

#[test]
fn a_trace_file_has_a_greatest_size() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sparse.trace");
    fs::File::create(&path).unwrap().set_len(100_000_001).unwrap();
    let message = refused(&["compare", "cubic", "--rate-trace", path.to_str().unwrap()]);
    assert!(message.contains("it is longer than 100 MB"), "{message}");
}

#[test]
fn a_store_of_pipes_is_refused_at_once() {
    let study = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/zoo.toml");
    for name in ["results.sqlite", "results.sqlite-wal"] {
        let directory = tempfile::tempdir().unwrap();
        pipe(directory.path(), name);
        let out = directory.path().to_str().unwrap();
        let message = refused(&["run", study, "--scale", "sample", "--out", out]);
        assert!(message.contains(&format!("{name}`: it is a pipe")), "{message}");
    }
    let directory = tempfile::tempdir().unwrap();
    pipe(directory.path(), "results.sqlite");
    let message = refused(&["export", directory.path().to_str().unwrap()]);
    assert!(message.contains("it is a pipe"), "{message}");
}
