//! `cwnd lab link` with a program.

use super::{stderr, stdout};
use crate::cwnd;
use cwnd_lab::Namespace;
use serde_json::Value;
use std::io::Write;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// A link of 20 Mbit/s and 40 ms with more flags, and a line for a shell in it.
fn link(flags: &[&str], line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cwnd"));
    command.args(["lab", "link", "--rate", "20 Mbit/s", "--rtt", "40 ms"]).args(flags);
    command.args(["--", "sh", "-c", line]).env_remove("COLUMNS");
    command
}

fn output(flags: &[&str], line: &str) -> Output {
    link(flags, line).output().expect("cwnd starts")
}

#[test]
fn wrong_flags_of_a_link_with_a_program_are_refused() {
    for (arguments, wanted) in [
        (&["lab", "link", "--server", "iperf3 -s"][..], "<COMMAND>"),
        (&["lab", "link", "--duration", "1 s", "--", "true"], "--duration"),
        (&["lab", "link", "--log", "link.txt", "--", "true"], "link.jsonl"),
        (&["lab", "link", "--log", "link.jsonl", "--log-interval", "1 ms", "--", "true"], "every 50 ms"),
        (&["lab", "link", "--hosts", "101"], "1 to 100 hosts"),
        (&["lab", "link", "--hosts", "two"], "whole number"),
        (&["lab", "set"], "nothing is to change"),
        (&["lab", "set", "--rate", "fast"], "fast"),
    ] {
        let output = cwnd(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(wanted), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn a_program_runs_over_a_link_in_one_line() {
    let ended =
        output(&["--server", "exec sleep 100"], "ip -o address show cwnd0; echo to $CWND_SERVER; exit 7");
    assert_eq!(ended.status.code(), Some(7), "{}", stderr(&ended));
    let (printed, told) = (stdout(&ended), stderr(&ended));
    assert!(printed.contains("198.18.0.1/32") && printed.ends_with("to 198.19.0.1\n"), "{printed}");
    assert!(told.contains("bottleneck-reverse") && told.contains("late by"), "{told}");
    let ipv6 = output(&["-q", "--ipv6"], "ping -6 -q -c 1 $CWND_SERVER_IPV6 && ping -q -c 1 $CWND_SERVER");
    assert!(ipv6.status.success(), "{}{}", stdout(&ipv6), stderr(&ipv6));
    // What is the program's is the program's alone.
    let quiet = output(&["-q"], "echo alone${CWND_SERVER_IPV6-}");
    assert_eq!((stdout(&quiet).as_str(), stderr(&quiet).as_str()), ("alone\n", ""));
    let served = output(&["-q", "--server", "cat; echo served"], "sleep 0.5; echo alone");
    assert_eq!((stdout(&served).as_str(), stderr(&served).as_str()), ("alone\n", "served\n"));
    let missing = cwnd(&["lab", "link", "-q", "--", "no-such-program"]);
    assert_eq!(missing.status.code(), Some(127));
    assert!(stderr(&missing).contains("`no-such-program` cannot be run"), "{}", stderr(&missing));
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn a_signal_goes_to_the_program() {
    let line = "trap 'echo ended; exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child = link(&["-q"], line).stdout(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_secs(1));
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < Duration::from_secs(10), "it did not end");
        thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(9), "ready\nended\n"));
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn a_link_changes_while_it_is_up_and_its_log_says_what_crossed_it() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("link.jsonl");
    let cwnd = env!("CARGO_BIN_EXE_cwnd");
    let ping = "ping -q -c 1 $CWND_SERVER | grep -o 'rtt.*'";
    let line = format!(
        "{ping}; {cwnd} lab set --rtt '120 ms' --buffer 7; {ping}; {cwnd} lab set --queue codel; \
         {cwnd} lab set --per 1; ping -q -c 1 -W 1 $CWND_SERVER > /dev/null; exit 5"
    );
    let ended = output(&["-q", "--log", log.to_str().unwrap()], &line);
    assert_eq!(ended.status.code(), Some(5), "{}", stderr(&ended));
    // Where senders have access links, these change as well; others cannot be added.
    let access =
        output(&["-q", "--access-delay", "5 ms"], &format!("{cwnd} lab set --access-delay '7 ms'; {ping}"));
    assert!(stdout(&access).contains("; access links 200 Mbit/s, 7 ms, buffer"), "{}", stdout(&access));
    assert!(stdout(&access).contains("= 4"), "the round trip stays at 40 ms: {}", stdout(&access));
    let effects = output(
        &["-q", "--jitter", "uniform:5 ms", "--slot", "none", "--policer", "5 Mbit/s, 10 KB"],
        &format!("{cwnd} lab set --slot '2 ms'; {cwnd} lab set --jitter none --slot none --policer none"),
    );
    let changed: Vec<bool> = stdout(&effects).lines().map(|line| line.contains("jitter uniform")).collect();
    assert_eq!(changed, [true, false], "{}{}", stdout(&effects), stderr(&effects));
    let plain = "20 Mbit/s, base RTT 40 ms, buffer 66 packets\n";
    assert!(stdout(&effects).ends_with(plain), "{}", stdout(&effects));
    let none = output(&["-q"], &format!("{cwnd} lab set --access-delay '7 ms'"));
    assert!(stderr(&none).contains("there are 2 links"), "{}", stderr(&none));
    let (printed, told) = (stdout(&ended), stderr(&ended));
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].contains("= 4") && lines[2].contains("= 12"), "round trips of 40 and 120 ms: {printed}");
    assert_eq!(lines[1], "20 Mbit/s, base RTT 120 ms, buffer 7 packets");
    assert!(told.contains("the queue is drop-tail and cannot become codel"), "{told}");

    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    let (links, intervals) = (of("links"), of("interval"));
    let delays: Vec<f64> = links.iter().filter_map(|line| line["links"][0]["delay_s"].as_f64()).collect();
    assert_eq!(delays, [0.02, 0.06, 0.06], "what could not change has not");
    assert_eq!(links[1]["links"][0]["buffer_packets"], 7);
    let summary = lines.last().unwrap();
    let forward = &summary["links"][0];
    assert_eq!(
        (&forward["packets_in"], &forward["packets_out"], &forward["lost"]),
        (&3.into(), &2.into(), &1.into())
    );
    assert_eq!(summary["exit_code"], 5);
    assert!(summary["late_p99_s"].as_f64().unwrap() > 0.0);
    // Intervals follow each other, and their counts add up.
    assert!(intervals.windows(2).all(|pair| pair[0]["to_s"] == pair[1]["from_s"]));
    let sum: u64 = intervals.iter().filter_map(|line| line["links"][0]["packets_in"].as_u64()).sum();
    assert_eq!(sum, 3);
}

/// A host of its own with a router behind its device `wan`: its namespace and the router's, whose addresses are 203.0.113.1 and
/// 2001:db8::1.
fn host_and_router() -> [Namespace; 2] {
    let [host, router] = [Namespace::new().unwrap(), Namespace::new().unwrap()];
    let other = format!("/proc/{}/fd/{}", std::process::id(), router.as_fd().as_raw_fd());
    let ip = |namespace: &Namespace, lines: &[&str]| {
        namespace.ip(&lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>()).unwrap();
    };
    ip(&host, &[&format!("link add wan type veth peer name lan netns {other}")]);
    ip(&host, &["link set lo up", "link set wan up", "address add 203.0.113.2/24 dev wan"]);
    ip(&host, &["address add 2001:db8::2/64 dev wan nodad"]);
    ip(&router, &["link set lan up", "address add 203.0.113.1/24 dev lan"]);
    ip(&router, &["address add 2001:db8::1/64 dev lan nodad"]);
    [host, router]
}

/// Accepts connections at an address and writes to each where it seems to come from.
fn greet(namespace: &Namespace, address: &str) {
    let listener = namespace.within(|| TcpListener::bind(address)).unwrap();
    thread::spawn(move || {
        while let Ok((mut stream, peer)) = listener.accept() {
            let _ = writeln!(stream, "hello {}", peer.ip());
        }
    });
}

/// What a host has that `--outside` changes: whether its device forwards, and its rules.
fn outside_state(host: &Namespace) -> (String, String) {
    let forwards = || fs::read_to_string("/proc/sys/net/ipv4/conf/wan/forwarding");
    let rules = host.command("nft").unwrap().args(["list", "ruleset"]).output().unwrap();
    (host.within(forwards).unwrap().trim().to_owned(), stdout(&rules))
}

#[test]
#[ignore = "needs root, TUN devices, ip and nft"]
fn a_program_reaches_the_outside_through_the_link() {
    let [host, router] = host_and_router();
    let closed = ("0".to_owned(), String::new());
    assert_eq!(outside_state(&host), closed);
    // One listener on the host itself and one beyond it; both say where the connection seems to come from.
    for (namespace, address) in [(&host, "203.0.113.2:80"), (&router, "203.0.113.1:80")] {
        greet(namespace, address);
    }
    let cwnd = |flags: &[&str], line: &str| {
        let mut command = host.command(env!("CARGO_BIN_EXE_cwnd")).unwrap();
        command
            .args(["lab", "link", "--rtt", "80 ms", "--outside"])
            .args(flags)
            .args(["--", "bash", "-c", line]);
        command
    };
    let line = "for address in 203.0.113.1 203.0.113.2; do \
                begin=$(date +%s%N); exec 3<>/dev/tcp/$address/80; end=$(date +%s%N); cat <&3; \
                test $((end - begin)) -ge 80000000 || echo too early; done";
    let ended = cwnd(&[], line).output().unwrap();
    assert!(ended.status.success(), "{}", stderr(&ended));
    let lines = stdout(&ended);
    let (beyond, own) = lines.split_once('\n').unwrap();
    assert_eq!(beyond, "hello 203.0.113.2", "the host's address: {lines}");
    assert!(own.starts_with("hello 198.18.25") && !lines.contains("too early"), "{lines}");
    assert_eq!(outside_state(&host), closed);

    // What a killed process leaves is removed by the next command.
    let mut killed = cwnd(&["-q"], "sleep 100").spawn().unwrap();
    let begin = Instant::now();
    while outside_state(&host).0 == "0" {
        assert!(begin.elapsed() < Duration::from_secs(20), "the device does not forward");
        thread::sleep(Duration::from_millis(20));
    }
    assert!(outside_state(&host).1.contains("masquerade"));
    killed.kill().unwrap();
    killed.wait().unwrap();
    // In another network namespace there is nothing to remove, and the record stays.
    let elsewhere =
        router.command(env!("CARGO_BIN_EXE_cwnd")).unwrap().args(["lab", "doctor"]).output().unwrap();
    assert!(!stdout(&elsewhere).contains("cwnd-out"), "{}", stdout(&elsewhere));
    let doctor = host.command(env!("CARGO_BIN_EXE_cwnd")).unwrap().args(["lab", "doctor"]).output().unwrap();
    assert!(stdout(&doctor).contains("cwnd-out"), "{}", stdout(&doctor));
    assert_eq!(outside_state(&host), closed);
}

#[test]
#[ignore = "needs root, TUN devices, ip, nft and unshare"]
fn the_record_of_a_network_namespace_that_is_gone_is_removed() {
    let mut link = Command::new("unshare");
    link.args(["-n", env!("CARGO_BIN_EXE_cwnd"), "lab", "link", "-q", "--outside", "--", "sleep", "100"]);
    let mut link = link.spawn().expect("unshare (package util-linux) starts");
    let owner = format!("{} ", link.id());
    let is_recorded = || {
        let records = fs::read_dir("/run/cwnd-lab").into_iter().flatten().flatten();
        records
            .map(|record| fs::read_to_string(record.path()))
            .any(|text| text.is_ok_and(|t| t.starts_with(&owner)))
    };
    let begin = Instant::now();
    while !is_recorded() {
        assert!(begin.elapsed() < Duration::from_secs(20), "there is no record");
        thread::sleep(Duration::from_millis(20));
    }
    link.kill().unwrap();
    link.wait().unwrap();
    // The processes that it had started die with it, but a moment later, and the network lives until then. Other tests' links
    // remove the record, too.
    let begin = Instant::now();
    while is_recorded() {
        assert!(begin.elapsed() < Duration::from_secs(20), "the record stays");
        cwnd(&["lab", "doctor"]);
    }
}

#[test]
#[ignore = "needs root, TUN devices, ip and nft"]
fn a_program_reaches_the_outside_by_ipv6() {
    let [host, router] = host_and_router();
    let ipv6_state = || {
        let setting = |name: &str| fs::read_to_string(format!("/proc/sys/net/ipv6/conf/{name}"));
        // Kernels before 6.17 do not have it.
        host.within(|| Ok((setting("wan/force_forwarding").ok(), setting("all/forwarding")?))).unwrap()
    };
    let closed = (ipv6_state(), outside_state(&host));
    greet(&router, "[2001:db8::1]:80");
    let link = |flags: &[&str]| {
        let line = "begin=$(date +%s%N); exec 3<>/dev/tcp/2001:db8::1/80; end=$(date +%s%N); cat <&3; \
                    test $((end - begin)) -ge 80000000 || echo too early; \
                    nsenter --net=/proc/$PPID/ns/net nft list tables";
        let mut command = host.command(env!("CARGO_BIN_EXE_cwnd")).unwrap();
        command.args(["lab", "link", "-q", "--rtt", "80 ms", "--outside"]).args(flags);
        command.args(["--", "bash", "-c", line]).output().unwrap()
    };
    let ended = link(&["--ipv6"]);
    let (printed, told) = (stdout(&ended), stderr(&ended));
    if closed.0.0.is_none() {
        assert!(told.contains("IPv6 does not reach the outside"), "{told}");
        let router = || fs::write("/proc/sys/net/ipv6/conf/all/forwarding", "1");
        host.within(router).unwrap();
        let ended = link(&["--ipv6"]);
        assert!(stdout(&ended).starts_with("hello 2001:db8::2\n"), "{}", stderr(&ended));
        return;
    }
    assert!(printed.starts_with("hello 2001:db8::2\n"), "the host's address: {printed}{told}");
    assert!(!printed.contains("too early") && printed.contains("table ip6 cwnd_outside"), "{printed}");
    assert_eq!((ipv6_state(), outside_state(&host)), closed);
    // Behind several hosts as well, on a host that has IPv6 off for new devices, and not without `--ipv6`.
    host.within(|| fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")).unwrap();
    let ended = link(&["--ipv6", "--hosts", "2"]);
    assert!(stdout(&ended).starts_with("hello 2001:db8::2\n"), "{}", stderr(&ended));
    let ended = link(&[]);
    assert!(!stdout(&ended).contains("hello"), "{}", stdout(&ended));
    assert_eq!((ipv6_state(), outside_state(&host)), closed);
}

#[test]
#[ignore = "needs root, TUN devices, ip, unshare and setpriv"]
fn a_link_needs_no_root_in_a_user_namespace() {
    // For a user that is nobody, with a TUN device that all may open, as on most hosts; only this mount namespace has it.
    let user = "mount -t tmpfs none /mnt && mknod -m 666 /mnt/tun c 10 200 && mount --bind /mnt/tun /dev/net/tun && \
                exec setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn \"$@\"";
    let cwnd = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", user, "sh", env!("CARGO_BIN_EXE_cwnd")]).args(arguments);
        command.current_dir("/").output().expect("unshare (package util-linux) starts")
    };
    let ended = cwnd(&["lab", "link", "--", "sh", "-c", "ping -q -c 1 $CWND_SERVER > /dev/null && exit 6"]);
    assert_eq!(ended.status.code(), Some(6), "{}", stderr(&ended));
    let named = cwnd(&["lab", "link", "--duration", "1 s"]);
    assert_eq!(named.status.code(), Some(1));
    assert!(stderr(&named).contains("give a program after `--`"), "{}", stderr(&named));
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn a_program_finds_all_hosts_of_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let served = folder.path().join("served");
    let server = format!("ip -o address show cwnd0 >> {}; exec sleep 100", served.display());
    // The sleep would outlive its parents.
    let line = "set -- $CWND_SENDERS_NETNS $CWND_SERVERS_NETNS; test $# = 4 && ip -o address show cwnd0 && \
                nsenter --net=$2 ping -q -c 1 198.19.0.2 && nsenter --net=$2 ping -6 -q -c 1 2001:2:0:19::2 && \
                nsenter --net=$4 ping -6 -q -c 1 2001:2:0:18::1 && ping -6 -q -c 1 2001:2:0:18::2 && \
                (nsenter --net=$4 setsid sleep 86399 &)";
    let ended = output(&["-q", "--hosts", "2", "--ipv6", "--server", &server], line);
    let printed = stdout(&ended);
    assert!(ended.status.success(), "{printed}{}", stderr(&ended));
    assert!(printed.contains("198.18.0.1/32") && printed.contains("2001:2:0:18::1/128"), "{printed}");
    let least: Vec<f64> = printed
        .split("= ")
        .skip(1)
        .map(|times| times.split('/').next().unwrap().parse().expect("ping prints times"))
        .collect();
    let [across @ .., near] = &least[..] else { panic!("no answer: {printed}") };
    assert!(across.len() == 3 && across.iter().all(|time| (40.0..70.0).contains(time)), "{least:?}");
    assert!(*near < 20.0, "{least:?}");
    let served = fs::read_to_string(&served).unwrap();
    assert!(served.contains("198.19.0.1/32") && served.contains("198.19.0.2/32"), "{served}");
    let left = fs::read_dir("/proc").unwrap().flatten().find(|process| {
        fs::read(process.path().join("cmdline")).is_ok_and(|words| words == b"sleep\x0086399\0")
    });
    assert!(left.is_none(), "{left:?}");
}

#[test]
#[ignore = "needs root, TUN devices, ip and nft"]
fn several_hosts_share_a_bottleneck_and_reach_the_outside() {
    let [host, router] = host_and_router();
    greet(&router, "203.0.113.1:80");
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("link.jsonl");
    let name = format!("cwnd-hosts-{}", std::process::id());
    let flags = ["--hosts", "2", "--access-rate", "100 Mbit/s", "--rtt", "40 ms", "--outside", "-q"];
    let mut link = host.command(env!("CARGO_BIN_EXE_cwnd")).unwrap();
    link.args(["lab", "link", "--name", &name]).args(flags).arg("--log").arg(&log);
    let mut link = link.stdout(Stdio::null()).spawn().unwrap();
    let there = || fs::exists(format!("/run/netns/{name}-b2")).unwrap();
    let begin = Instant::now();
    // The way to the outside is opened after the last name.
    while !there() || outside_state(&host).0 == "0" {
        assert!(begin.elapsed() < Duration::from_secs(20), "there are no hosts");
        thread::sleep(Duration::from_millis(20));
    }
    let on = |host: &str, line: &str| {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{name}-{host}"), "bash", "-c", line]);
        command.output().unwrap()
    };
    // Across the link to its own receiver, and past it to its neighbour.
    let far = on("a2", "ping -q -c 3 -i 0.2 198.19.0.2");
    let near = on("a2", "ping -q -c 1 198.18.0.1");
    let least = |output: &Output| -> f64 {
        let text = stdout(output);
        let times = text.rsplit_once("= ").unwrap_or_else(|| panic!("no answer: {text}")).1;
        times.split('/').next().unwrap().parse().unwrap()
    };
    assert!((40.0..60.0).contains(&least(&far)), "{}", stdout(&far));
    assert!(least(&near) < 20.0, "{}", stdout(&near));
    let beyond = on("a1", "cat < /dev/tcp/203.0.113.1/80");
    assert_eq!(stdout(&beyond), "hello 203.0.113.2\n", "{}", stderr(&beyond));
    let set = Command::new("ip")
        .args([
            "netns",
            "exec",
            &format!("{name}-a2"),
            env!("CARGO_BIN_EXE_cwnd"),
            "lab",
            "set",
            "--name",
            &name,
        ])
        .args(["--rate", "5 Mbit/s"])
        .output()
        .unwrap();
    assert!(stdout(&set).starts_with("5 Mbit/s"), "{}", stderr(&set));

    let interrupted = Command::new("kill").args(["-INT", &link.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert!(link.wait().unwrap().code().is_some());
    assert!(!there());
    // The second host's three packets took its own access link.
    let log = fs::read_to_string(&log).unwrap();
    let summary: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    let links = summary["links"].as_array().unwrap();
    let forward = |name: &str| {
        let link = links.iter().find(|link| link["link"] == name && link["direction"] == "forward");
        link.unwrap_or_else(|| panic!("no {name}: {summary}"))["packets_in"].as_u64().unwrap()
    };
    assert_eq!(forward("access-2"), 3);
    assert_eq!(forward("bottleneck"), forward("access-1") + 3);
}
