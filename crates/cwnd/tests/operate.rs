//! `cwnd kernel` as an operator uses it, in the running kernel.
//!
//! These tests are ignored by default: they need root, a kernel with BPF congestion control and cgroup2.
//! `cargo test -p cwnd --features kernel --test operate -- --ignored`. Names contain the process's number.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cwnd"));
    command.arg("kernel").args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

#[track_caller]
fn succeeds(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns what a command that fails with this exit code says.
#[track_caller]
fn fails(code: i32, arguments: &[&str]) -> String {
    let output = run(arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    text
}

/// A name of this process's own.
fn name(letter: char) -> String {
    format!("c{}_{letter}", std::process::id())
}

/// Unloads names, and removes a cgroup and its selection, when it is dropped.
struct Clean {
    names: Vec<String>,
    cgroup: PathBuf,
}

impl Clean {
    fn new(letters: &str) -> Clean {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        let mount = mounts
            .lines()
            .map(|line| line.split(' ').collect::<Vec<_>>())
            .find(|words| words[2] == "cgroup2");
        let mount = mount.expect("a cgroup2 file system")[1].to_owned();
        let cgroup = PathBuf::from(mount).join(format!("cwnd-{}-{letters}", std::process::id()));
        fs::create_dir(&cgroup).unwrap();
        Clean { names: letters.chars().map(name).collect(), cgroup }
    }

    fn cgroup(&self) -> &str {
        self.cgroup.to_str().unwrap()
    }
}

impl Drop for Clean {
    fn drop(&mut self) {
        run(&["unselect", "cgroup", self.cgroup()]);
        for name in &self.names {
            run(&["unload", name, "--force"]);
        }
        let _ = fs::remove_dir(&self.cgroup);
    }
}

fn status() -> serde_json::Value {
    serde_json::from_str(&succeeds(&["status", "--json"])).unwrap()
}

/// Returns what `status` has of a name.
fn loaded(name: &str) -> Option<serde_json::Value> {
    let status = status();
    let loaded = status["loaded"].as_array().unwrap();
    loaded.iter().find(|one| one["kernel_name"] == format!("cwnd_{name}")).cloned()
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and cgroup2"]
fn a_host_loads_what_a_file_lists() {
    let clean = Clean::new("ab");
    let [bulk, other] = [&clean.names[0], &clean.names[1]];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.toml");
    let write = |beta: &str| {
        let text = format!(
            "[[algorithm]]\nname = \"elastic\"\nas = \"{bulk}\"\nparameters = {{ beta = {beta} }}\n\
             [[algorithm]]\nname = \"scalable\"\nas = \"{other}\"\n\
             [[cgroup]]\npath = \"{}\"\nselect = \"{bulk}\"\n",
            clean.cgroup()
        );
        fs::write(&file, text).unwrap();
    };
    write("0.8");
    let path = file.to_str().unwrap();
    let text = succeeds(&["load", "--config", path]);
    assert!(
        text.contains(&format!("loaded cwnd_{bulk}")) && text.contains(&format!("selects cwnd_{bulk}")),
        "{text}"
    );
    assert_eq!(loaded(bulk).unwrap()["parameters"], "beta=0.8");
    assert!(loaded(bulk).unwrap()["age_s"].as_f64().unwrap() < 60.0);
    let selects = || {
        let status = status();
        let selections = status["selections"].as_array().unwrap().clone();
        selections.into_iter().find(|one| one["cgroup"] == clean.cgroup())
    };
    assert_eq!(selects().unwrap()["congestion_control"], format!("cwnd_{bulk}"));
    let metrics = succeeds(&["metrics", "--once"]);
    let line = format!(
        "cwnd_algorithm_info{{congestion_control=\"cwnd_{bulk}\",algorithm=\"elastic\",parameters=\"beta=0.8\""
    );
    assert!(metrics.lines().any(|other| other.starts_with(&line)), "{metrics}");
    // Another parameter needs --replace.
    write("0.6");
    assert!(fails(1, &["load", "--config", path]).contains("--replace"));
    assert_eq!(loaded(bulk).unwrap()["parameters"], "beta=0.8");
    // Nothing is replaced if a cgroup, or what it selects, is not there.
    let text = fs::read_to_string(&file).unwrap();
    for (missing, select) in [("no-such-cgroup", bulk.as_str()), (clean.cgroup(), "no-such-name")] {
        fs::write(&file, format!("{text}[[cgroup]]\npath = \"{missing}\"\nselect = \"{select}\"\n")).unwrap();
        let why = fails(2, &["load", "--config", path, "--replace"]);
        assert!(why.contains("no-such-"), "{why}");
        assert_eq!(loaded(bulk).unwrap()["parameters"], "beta=0.8");
    }
    fs::write(&file, text).unwrap();
    assert!(succeeds(&["load", "--config", path, "--replace"]).contains(&format!("replaced cwnd_{bulk}")));
    assert_eq!(loaded(bulk).unwrap()["parameters"], "beta=0.6");
    succeeds(&["unload", "--config", path]);
    assert_eq!((loaded(bulk), loaded(other), selects()), (None, None, None));
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and cgroup2"]
fn a_file_is_loaded_whole_or_not_at_all() {
    let clean = Clean::new("fg");
    let [first, second] = [&clean.names[0], &clean.names[1]];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.toml");
    let path = file.to_str().unwrap();
    let refused = |second: &str, cgroup: &str| {
        let text = format!(
            "[[algorithm]]\nname = \"elastic\"\nas = \"{first}\"\n[[algorithm]]\nname = \"scalable\"\nas = \"{second}\"\n\
             [[cgroup]]\npath = \"{}\"\nselect = \"{first}\"\n[[cgroup]]\npath = \"{cgroup}\"\nselect = \"{first}\"\n",
            clean.cgroup()
        );
        fs::write(&file, text).unwrap();
        let output = run(&["load", "--config", path]);
        assert!(!output.status.success());
        let selections = status()["selections"].as_array().unwrap().clone();
        assert!(selections.iter().all(|one| one["cgroup"] != clean.cgroup()), "{selections:?}");
        assert_eq!([loaded(first), loaded(second)], [None, None]);
        String::from_utf8(output.stderr).unwrap()
    };
    let why = refused(second, "no-such-cgroup");
    assert!(why.contains("no-such-cgroup"), "{why}");
    let why = refused(first, clean.cgroup());
    assert!(why.contains("two of them have the name"), "{why}");
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and cgroup2"]
fn an_object_that_was_not_approved_is_not_loaded() {
    let clean = Clean::new("c");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("objects.sha256");
    let path = file.to_str().unwrap();
    let approved = succeeds(&["list", "--digests"]);
    let load = ["load", "elastic", "--as", &clean.names[0], "--digests", path];
    let line = approved.lines().find(|line| line.ends_with("cwnd_elastic.bpf.o")).unwrap();
    fs::write(&file, approved.replace(line, &format!("{}  cwnd_elastic.bpf.o", "0".repeat(64)))).unwrap();
    assert!(fails(1, &load).contains("nothing was loaded"));
    assert_eq!(loaded(&clean.names[0]), None);
    // The programs that are no algorithms are approved as well.
    let line = approved.lines().find(|line| line.ends_with("  select.bpf.o")).unwrap();
    fs::write(&file, approved.replace(line, &format!("{}  select.bpf.o", "0".repeat(64)))).unwrap();
    let config = folder.path().join("kernel.toml");
    let text = format!(
        "[[algorithm]]\nname = \"elastic\"\nas = \"{0}\"\n[[cgroup]]\npath = \"{1}\"\nselect = \"{0}\"\n",
        clean.names[0],
        clean.cgroup()
    );
    fs::write(&config, text).unwrap();
    for refused in [
        &["load", "--config", config.to_str().unwrap(), "--digests", path][..],
        &["select", "cgroup", clean.cgroup(), "reno", "--digests", path],
        &["canary", "reno", "--cgroup", clean.cgroup(), "--promote", "--digests", path],
    ] {
        let why = fails(1, refused);
        assert!(why.contains("the object select.bpf.o of this program"), "{why}");
    }
    assert_eq!(loaded(&clean.names[0]), None);
    fs::write(&file, &approved).unwrap();
    succeeds(&load);
    assert!(loaded(&clean.names[0]).is_some());
}

fn interrupt(child: &Child) {
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and cgroup2"]
fn a_canary_without_connections_is_not_judged() {
    let clean = Clean::new("d");
    let canary = &clean.names[0];
    succeeds(&["load", "newreno", "--as", canary]);
    let flags =
        ["canary", canary, "--cgroup", clean.cgroup(), "--until", "1 s", "--every", "500 ms", "--promote"];
    assert!(fails(3, &flags).contains("was not judged"));
    // The same as JSON, an event a line.
    let output = command(&flags).arg("--json").output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).unwrap();
    let events: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&events[0]["event"], &events[0]["share"]), (&"begin".into(), &0.05.into()), "{text}");
    assert!(events[1..events.len() - 1].iter().all(|event| event["verdict"] == "too-few"), "{text}");
    let end = &events[events.len() - 1];
    assert_eq!((&end["ending"], end["selection"].is_null()), (&"too-few".into(), true), "{text}");
    let status = status();
    assert!(status["selections"].as_array().unwrap().iter().all(|one| one["cgroup"] != clean.cgroup()));
    let mut child =
        command(&["canary", canary, "--cgroup", clean.cgroup()]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("5 % of the new connections of"), "{line}");
    let status = self::status();
    let canaries = status["canaries"].as_array().unwrap();
    let shown = canaries.iter().find(|one| one["cgroup"] == clean.cgroup()).expect("status shows it");
    assert_eq!(shown["congestion_control"], format!("cwnd_{canary}"));
    assert!((shown["share"].as_f64().unwrap() - 0.05).abs() < 1e-6, "{shown}");
    assert_eq!(shown["canary_counts"]["connections"], 0);
    assert!(shown["keeper"].as_str().unwrap().contains(&format!("process {}", child.id())), "{shown}");
    // A connection is in one canary, and nobody selects for it meanwhile.
    let second = ["canary", "reno", "--cgroup", clean.cgroup(), "--until", "1 s", "--every", "500 ms"];
    assert!(fails(2, &second).contains("cannot be in two"));
    assert!(fails(2, &["select", "cgroup", clean.cgroup(), "reno"]).contains("end the canary first"));
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    succeeds(&["select", "cgroup", clean.cgroup(), "reno"]);
}

/// Returns what `ss` shows of a connection that a process in a cgroup opens over the loopback.
fn connection_in(cgroup: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let script = "echo $$ >$0/cgroup.procs; exec 3<>/dev/tcp/127.0.0.1/$1; ss -tinH dport = :$1";
    let output = Command::new("bash").args(["-c", script, cgroup, &port]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and cgroup2"]
fn a_killed_canary_leaves_new_connections_what_they_got_before() {
    let clean = Clean::new("e");
    let canary = &clean.names[0];
    succeeds(&["load", "newreno", "--as", canary]);
    let flags = ["canary", canary, "--cgroup", clean.cgroup(), "--canary", "100 %"];
    let mut child = command(&flags).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let name = format!("cwnd_{canary}");
    let shown = connection_in(clean.cgroup());
    assert!(shown.contains(&name), "{shown}");
    child.kill().unwrap();
    child.wait().unwrap();
    let shown = connection_in(clean.cgroup());
    assert!(shown.contains("127.0.0.1") && !shown.contains(&name), "{shown}");
    // Nothing keeps it: no socket, no program.
    succeeds(&["unload", canary]);
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang and cgroup2"]
fn metrics_are_served_until_ctrl_c() {
    let mut child = command(&["metrics", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut line).unwrap();
    let address = line.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap();
    let ask = || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    let text = ask();
    // This connection is there, whatever its congestion control.
    assert!(text.starts_with("HTTP/1.1 200 OK") && text.contains("\ncwnd_connections{"), "{text}");
    // Counters rise, though the connection that they count has ended.
    let acknowledged = |text: &str| -> f64 {
        let lines = text.lines().filter(|line| line.starts_with("cwnd_bytes_acked_total{"));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
    };
    let before = acknowledged(&text);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut receiver, _) = listener.accept().unwrap();
    sender.write_all(&[0; 100_000]).unwrap();
    receiver.read_exact(&mut [0; 100_000]).unwrap();
    let during = acknowledged(&ask());
    assert!(during >= before + 100_000.0, "{before} {during}");
    drop((sender, receiver));
    assert!(acknowledged(&ask()) >= during);
    // And `watch` has connections as JSON.
    let (held, _other) = (TcpStream::connect(listener.local_addr().unwrap()).unwrap(), listener.accept());
    let line = succeeds(&["watch", "--all", "--json"]);
    let reading: serde_json::Value = serde_json::from_str(&line).unwrap();
    let local = held.local_addr().unwrap().to_string();
    let connections = reading["connections"].as_array().unwrap();
    let shown = connections.iter().find(|one| one["local"] == local).expect("it is there");
    assert!(shown["cwnd"].as_u64().unwrap() > 0 && shown["state"].is_null(), "{shown}");
    interrupt(&child);
    assert!(child.wait().unwrap().success());
}
