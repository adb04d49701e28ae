//! `cwnd lab`, as its users meet it.

mod link;

use super::{cwnd, text};
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::UnshareFlags;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

fn stdout(output: &Output) -> String {
    text(&output.stdout)
}

fn stderr(output: &Output) -> String {
    text(&output.stderr)
}

#[test]
fn the_doctor_tells_what_there_is() {
    let output = cwnd(&["lab", "doctor", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["works"].as_bool(), Some(output.status.success()));
    let findings = report["findings"].as_array().unwrap();
    let what: Vec<&str> = findings.iter().filter_map(|finding| finding["what"].as_str()).collect();
    for wanted in ["root", "TUN devices", "network namespaces", "iproute2"] {
        assert!(what.contains(&wanted), "{what:?}");
    }
}

#[test]
fn wrong_flags_say_what_would_be_right() {
    for (arguments, wanted) in [
        (&["lab", "link", "--rate", "fast"][..], "fast"),
        (&["lab", "link", "--name", "a/b"], "cannot be a name"),
        (&["lab", "link", "--per", "0.1", "--loss", "gilbert-elliott:to_bad=1e-4,to_good=0.1"], "--loss"),
        (&["lab", "shell", "no-such.toml"], "no-such.toml"),
    ] {
        let output = cwnd(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(wanted), "{arguments:?}: {}", stderr(&output));
    }
}

/// Gives this thread, and the programs that it starts, a `/run` of their own: every link removes the names of those that were killed, also
/// a link of another test.
fn own_records() {
    // SAFETY: `NEWNS` closes no file and leaves the memory as it is.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }.expect("root may have its own mounts");
    let kept_here = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", kept_here).expect("mounts can be private");
    rustix::mount::mount("none", "/run", "tmpfs", MountFlags::empty(), None).expect("root may mount a tmpfs");
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn a_link_is_found_by_name_and_leaves_nothing_even_when_killed() {
    own_records();
    let folder = tempfile::tempdir().unwrap();
    let pcap = folder.path().join("link.pcapng");
    let name = format!("cwnd-command-{}", std::process::id());
    let there = || fs::exists(format!("/run/netns/{name}-a")).unwrap();
    let start = |more: &[&str]| {
        let child = Command::new(env!("CARGO_BIN_EXE_cwnd"))
            .args(["lab", "link", "--rate", "10 Mbit/s", "--rtt", "20 ms", "--name", &name])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let begin = Instant::now();
        while !there() {
            assert!(begin.elapsed() < Duration::from_secs(20), "there is no {name}-a");
            thread::sleep(Duration::from_millis(20));
        }
        // The second name comes after the first.
        thread::sleep(Duration::from_millis(200));
        child
    };
    let link = start(&["--duration", "2 s", "--pcap", pcap.to_str().unwrap()]);
    let sent = Command::new("ip")
        .args(["netns", "exec", &format!("{name}-a"), "bash", "-c"])
        .arg("for i in 1 2 3; do echo hello > /dev/udp/198.19.0.1/9; done")
        .status()
        .unwrap();
    assert!(sent.success());
    let ended = link.wait_with_output().unwrap();
    let shown = stdout(&ended);
    assert!(ended.status.success() && shown.contains("198.19.0.1"), "{shown}");
    // link, rate and its unit, packets
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let line =
        shown.lines().map(words).find(|words| words.first().is_some_and(|first| first == "bottleneck"));
    assert_eq!(line.expect("a line of the link")[3], "3", "{shown}");
    assert!(!there());
    // What comes back says that nobody listens.
    assert!(fs::metadata(&pcap).unwrap().len() > 248 + 3 * 60);

    let mut link = start(&[]);
    link.kill().unwrap();
    link.wait().unwrap();
    assert!(there(), "a name outlives a process that is killed");
    let doctor =
        Command::new(env!("CARGO_BIN_EXE_cwnd")).args(["lab", "doctor"]).env("COLUMNS", "80").output();
    let told = stdout(&doctor.unwrap());
    assert!(told.contains(&format!("{name}-a")) && told.contains(&format!("{name}-b")), "{told}");
    // Both names need two lines.
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    assert!(!there());
}

/// A study whose network programs can run in.
const STUDY: &str = r#"
title = "t"
question = "q"
[scenario]
algorithm = "cubic"
stack = "linux"
rate = "10 Mbit/s"
rtt = "10 ms"
duration = "1 s"
[run]
metrics = ["throughput_bps"]
"#;

/// The processes whose command line has this in it.
fn processes(mark: &str) -> Vec<u32> {
    let ids =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let has_mark =
        |id: &u32| fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|line| text(&line).contains(mark));
    ids.filter(has_mark).collect()
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn what_runs_in_a_network_ends_with_it_even_when_killed() {
    let folder = tempfile::tempdir().unwrap();
    let study = folder.path().join("study.toml");
    fs::write(&study, STUDY).unwrap();
    // Numbers that nothing else sleeps for: of the server, of its child, of the program and of what it leaves behind.
    let mark = format!("7.{}", std::process::id());
    let server = format!("sleep 1{mark} & sleep 2{mark}");
    let program = format!("setsid sleep 3{mark} & sleep 4{mark} & sleep 5{mark}");
    let shell = |program: &str| {
        Command::new(env!("CARGO_BIN_EXE_cwnd"))
            .args(["lab", "shell", study.to_str().unwrap(), "--server", &server, "--", "sh", "-c", program])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let sleeping = |number: u32| !processes(&format!("sleep\0{number}{mark}")).is_empty();
    let wait_for = |there: bool, numbers: &[u32]| {
        let begin = Instant::now();
        while numbers.iter().any(|number| sleeping(*number) != there) {
            let now: Vec<bool> = numbers.iter().map(|number| sleeping(*number)).collect();
            assert!(begin.elapsed() < Duration::from_secs(20), "{numbers:?} should be {there}: {now:?}");
            thread::sleep(Duration::from_millis(20));
        }
    };
    let mut killed = shell(&program);
    wait_for(true, &[1, 2, 3, 4, 5]);
    killed.kill().unwrap();
    killed.wait().unwrap();
    wait_for(false, &[1, 2, 3, 4, 5]);

    let ended =
        shell(&format!("setsid sleep 3{mark} & sleep 4{mark} & sleep 0.3")).wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", stderr(&ended));
    assert!(processes(&mark).is_empty(), "{:?}", processes(&mark));
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn a_program_runs_in_the_network_of_a_study() {
    let folder = tempfile::tempdir().unwrap();
    let study = folder.path().join("study.toml");
    fs::write(&study, STUDY).unwrap();
    let shell = |more: &[&str]| {
        let mut arguments = vec!["lab", "shell", study.to_str().unwrap()];
        arguments.extend(more);
        cwnd(&arguments)
    };
    let output = shell(&["--", "sh", "-c", "ip -o address show cwnd0; echo to $CWND_SERVER"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("198.18.0.1/32") && text.contains("to 198.19.0.1"), "{text}");
    let output = shell(&["--server", "exit 7", "--", "sleep", "0.5"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let note = "note: the command of --server has ended with exit code 7";
    assert_eq!(stderr(&output).matches(note).count(), 1, "{}", stderr(&output));
    let output = shell(&["--", "sh", "-c", "exit 3"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let set = format!("{} lab set --rate '1 Mbit/s'", env!("CARGO_BIN_EXE_cwnd"));
    let output = shell(&["-q", "--", "sh", "-c", &set]);
    assert!(stderr(&output).contains("the network of `cwnd lab shell` cannot change"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("late by"), "{}", stderr(&output));
    let output = shell(&["--", "no-such-program"]);
    assert_eq!(output.status.code(), Some(127));
    assert!(stderr(&output).contains("`no-such-program` cannot be run"), "{}", stderr(&output));
}
