//! What this host forwards between networks of the laboratory and the outside: one table of nftables, and a setting of each device.

use std::fs;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

/// The devices at the host's end begin with this.
pub(crate) const DEVICE: &str = "cwnd-out";

/// The table of nftables on this host.
pub(crate) const TABLE: &str = "cwnd_outside";

/// Addresses between the networks and this host: those of the benchmark range that no flow has. Each network takes four.
pub(crate) const ADDRESSES: Ipv4Addr = Ipv4Addr::new(198, 18, 254, 0);

/// Lets this host forward between a network's device and all others, and nothing else that it did not forward before.
pub(crate) fn open(device: &str) -> io::Result<()> {
    let mut closed = Vec::new();
    for other in devices() {
        let is_closed = fs::read_to_string(setting(&other)).is_ok_and(|text| text.trim() == "0");
        if is_closed && !other.starts_with(DEVICE) {
            closed.push(other);
        }
    }
    // The rules first: there is no time at which a closed device forwards for others.
    run(Command::new("nft").args(["-f", "-"]), &rules(&closed))?;
    for other in closed.iter().map(String::as_str).chain([device]) {
        write(&setting(other), "1")?;
    }
    Ok(())
}

/// Removes a network's device, and all that was made for networks if it was the last. The records are this process's meanwhile.
pub(crate) fn close(device: &str) {
    let quietly = |command: &mut Command| {
        // What is not there any more need not be removed.
        let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    };
    quietly(Command::new("ip").args(["link", "delete", device]));
    if devices().iter().any(|device| device.starts_with(DEVICE)) {
        return;
    }
    let closed = Command::new("nft").args(["list", "set", "ip", TABLE, "closed"]).output();
    let closed =
        closed.map(|listed| String::from_utf8_lossy(&listed.stdout).into_owned()).unwrap_or_default();
    for device in elements(&closed) {
        // A device that is gone forwards nothing.
        let _ = fs::write(setting(device), "0");
    }
    quietly(Command::new("nft").args(["delete", "table", "ip", TABLE]));
}

/// The table on this host, as nftables reads it. What is there already stays, except that the rules are written again.
fn rules(closed: &[String]) -> String {
    let names: Vec<String> = closed.iter().map(|device| format!("\"{device}\"")).collect();
    let add_closed = match names.as_slice() {
        [] => String::new(),
        names => format!("add element ip {TABLE} closed {{ {} }}\n", names.join(", ")),
    };
    format!(
        "add table ip {TABLE}\n\
         add set ip {TABLE} closed {{ type ifname; }}\n\
         add chain ip {TABLE} nat {{ type nat hook postrouting priority srcnat; }}\n\
         add chain ip {TABLE} forward {{ type filter hook forward priority filter; }}\n\
         flush table ip {TABLE}\n\
         {add_closed}\
         add rule ip {TABLE} nat ip saddr {ADDRESSES}/23 oifname != \"{DEVICE}*\" masquerade\n\
         add rule ip {TABLE} forward oifname \"{DEVICE}*\" ct state new drop\n\
         add rule ip {TABLE} forward iifname @closed oifname != \"{DEVICE}*\" drop\n"
    )
}

/// Returns the elements of a set of names, as nftables lists it.
fn elements(listed: &str) -> Vec<&str> {
    let elements = listed.split_once("elements = {").map_or("", |(_, rest)| rest);
    elements.split('"').skip(1).step_by(2).collect()
}

fn setting(device: &str) -> String {
    format!("/proc/sys/net/ipv4/conf/{device}/forwarding")
}

/// Returns the devices of this host.
fn devices() -> Vec<String> {
    let text = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let names = text.lines().skip(2).filter_map(|line| line.split_once(':'));
    names.map(|(name, _)| name.trim().to_owned()).collect()
}

pub(crate) fn write(path: &str, value: &str) -> io::Result<()> {
    fs::write(path, value).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))
}

/// Runs a program with this input.
pub(crate) fn run(command: &mut Command, input: &str) -> io::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(
            |error| {
                let package = if name == "nft" { "nftables" } else { "iproute2" };
                io::Error::new(error.kind(), format!("`{name}` (package {package}): {error}"))
            },
        )?;
    if let Some(mut pipe) = child.stdin.take() {
        // If it ends before it has read all, its error says why.
        let _ = pipe.write_all(input.as_bytes());
    }
    let done = child.wait_with_output()?;
    if done.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("{name}: {}", String::from_utf8_lossy(&done.stderr).trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_of_closed_devices_is_read_back() {
        let listed = "table ip cwnd_outside {\n\tset closed {\n\t\ttype ifname\n\t\telements = { \"eth0\",\n\t\t\t     \"lo\" }\n\t}\n}\n";
        assert_eq!(elements(listed), ["eth0", "lo"]);
        assert_eq!(
            elements("table ip cwnd_outside {\n\tset closed {\n\t\ttype ifname\n\t}\n}\n"),
            [] as [&str; 0]
        );
    }
}
