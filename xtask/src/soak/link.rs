//! An emulated link while connections come and go.

use super::{BOUND_MIB, Part, ended};
use crate::command::{install, output, succeeds};
use crate::test::emulation;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The namespaces are `NAME-a` and `NAME-b`.
const NAME: &str = "cwnd-soak";
/// The address of the receiving end.
const RECEIVER: &str = "198.19.0.1";
/// Connections at a time, and the bytes of each.
const AT_A_TIME: usize = 8;
const BYTES: &str = "100K";

pub fn part(cwnd: &Path, minutes: usize) -> Part {
    let mut command = Command::new(cwnd);
    command.args([
        "lab",
        "link",
        "--rate",
        "50 Mbit/s",
        "--rtt",
        "10 ms",
        "--per",
        "1e-3",
        "--name",
        NAME,
        "--quiet",
    ]);
    command.args(["--duration", &format!("{} s", 60 * minutes)]).stdout(Stdio::null());
    Part {
        name: "link",
        load: format!("{minutes} minutes"),
        obstacle: || emulation().or_else(iperf),
        command,
        work: Box::new(|child| {
            wait_for_the_link(child)?;
            let mut server = inside("b", &["iperf3", "--server"]);
            let mut server = server.spawn().map_err(|error| format!("iperf3: {error}"))?;
            let connections = connect_until_it_ends(child);
            // It has no more to do.
            let _ = server.kill();
            let _ = server.wait();
            ended(child)?;
            connections.map(|connections| format!("{connections} connections"))
        }),
        bound_mib: BOUND_MIB,
    }
}

/// Returns why no connections can be made. Installs what is missing where permitted.
fn iperf() -> Option<String> {
    let is_there = succeeds(Command::new("iperf3").arg("--version"));
    if is_there { None } else { install("iperf3").err() }
}

fn inside(end: &str, program: &[&str]) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &format!("{NAME}-{end}")]).args(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn wait_for_the_link(child: &mut Child) -> Result<(), String> {
    while !succeeds(&mut inside("b", &["true"])) {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Err(format!("there is no link: {status}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Returns the number of connections.
fn connect_until_it_ends(child: &mut Child) -> Result<usize, String> {
    let mut connections = 0;
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        let parallel = AT_A_TIME.to_string();
        let client =
            ["timeout", "20", "iperf3", "--client", RECEIVER, "--parallel", &parallel, "--bytes", BYTES];
        // The link ends under the last of them, and the server takes one client at a time.
        match output(&mut inside("a", &client)) {
            Ok(_) => connections += AT_A_TIME,
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
    if connections == 0 { Err("no connection could be made".to_owned()) } else { Ok(connections) }
}
