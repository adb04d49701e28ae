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
    let study = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/matrix.toml");
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

#[test]
fn a_small_stack_is_enough() {
    let study = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/matrix.toml");
    for arguments in [&["--version"][..], &["compare", "cubic", "--duration", "100 ms"], &["check", study]] {
        let output = limited("ulimit -s 64;", arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn check_refuses_what_run_refuses_in_the_same_words() {
    let directory = tempfile::tempdir().unwrap();
    let (path, out) = (directory.path().join("a.toml"), directory.path().join("out"));
    let (study, out) = (path.to_str().unwrap(), out.to_str().unwrap());
    // A line of 625 million packets, which windows fill.
    fs::write(
        &path,
        "title = \"A\"\nquestion = \"B\"\n[scenario]\nalgorithm = \"cubic\"\nrate = \"1 Tbit/s\"\ndelay = \"10 s\"\n\
         buffer = \"1 BDP\"\naccess-rate = \"10 Tbit/s\"\nreceive-window = 1000000000\nduration = \"1000 s\"\n",
    )
    .unwrap();
    let refused = [refused(&["check", study]), refused(&["run", study, "--out", out])];
    assert_eq!(refused[0], refused[1]);
    assert!(refused[0].contains("may be used (80 % of what "), "{}", refused[0]);
    assert!(!Path::new(out).exists());
    // The same with what is stated, either way.
    for (memory, fits) in [("1 KB", false), ("100 TB", true)] {
        fs::write(
            &path,
            "title = \"A\"\nquestion = \"B\"\n[scenario]\nalgorithm = \"cubic\"\nduration = \"1 s\"\n",
        )
        .unwrap();
        for arguments in [
            &["check", study, "--memory", memory][..],
            &["run", study, "--out", out, "--quiet", "--memory", memory],
            &["compare", "cubic", "--duration", "1 s", "--memory", memory],
        ] {
            let output = limited("", arguments);
            assert_eq!(output.status.success(), fits, "{arguments:?}: {}", text(&output.stderr));
            let stated = text(&output.stderr).contains("1 KB may be used (as --memory states)");
            assert_eq!(stated, !fits, "{arguments:?}: {}", text(&output.stderr));
        }
    }
}

#[test]
fn many_flows_run_or_are_refused_before_they_are_described() {
    // Their descriptions alone take 200 MB, and are not made within 100 MB of address space.
    let flows = ["compare", "cubic", "--duration", "1 ms", "--flows", "100000", "--memory", "150 MB"];
    let output = limited("ulimit -v 100000;", &flows);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("--flows: to describe 100000 flows about 200.0 MB of memory"), "{message}");
    // They take 130 MB. In two seconds each by itself could have a window of thousands of packets: a gigabyte together.
    let flows = ["compare", "cubic", "--rate", "10 Gbit/s", "--duration", "2 s", "--flows", "4000"];
    let output = limited("", &[&flows[..], &["--memory", "400 MB"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn flow_queues_take_memory_when_they_are_used() {
    // 800 links of 65,536 queues would be 52 million.
    let queue = ["--flows", "200", "--duration", "1 s", "--access-queue", "fq-codel:queues=65536"];
    let output = limited("ulimit -v 400000;", &[&["compare", "cubic"][..], &queue].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
}
