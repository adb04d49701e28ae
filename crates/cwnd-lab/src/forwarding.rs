//! What this host forwards between networks of the laboratory and the outside: one table of nftables, and a setting of each device.

use crate::system;
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::process::Command;

/// The devices at the host's end begin with this.
pub(crate) const DEVICE: &str = "cwnd-out";

/// The table of nftables on this host.
pub(crate) const TABLE: &str = "cwnd_outside";

/// Addresses between the networks and this host: those of the benchmark range that no flow has. Each network takes four.
pub(crate) const ADDRESSES: Ipv4Addr = Ipv4Addr::new(198, 18, 254, 0);

/// What stands for all devices in the settings, and so among the names of closed devices: no device can have this name.
const ALL: &str = "all";

/// Lets this host forward between a network's device and all others, and nothing else that it did not forward before.
pub(crate) fn open(device: &str) -> io::Result<()> {
    let is_closed = |name: &str| fs::read_to_string(setting(name)).is_ok_and(|text| text.trim() == "0");
    let closed: Vec<String> =
        devices().into_iter().filter(|other| is_closed(other) && !other.starts_with(DEVICE)).collect();
    let all = is_closed(ALL).then(|| ALL.to_owned());
    // The rules first: there is no time at which a closed device forwards for others.
    let names: Vec<String> = closed.iter().cloned().chain(all).collect();
    system::run(Command::new("nft").args(["-f", "-"]), &rules(&names))?;
    for other in closed.iter().map(String::as_str).chain([device]) {
        system::write_setting(&setting(other), "1")?;
    }
    Ok(())
}

/// Removes a network's device, and all that was made for networks if it was the last. The records are this process's meanwhile.
pub(crate) fn close(device: &str) {
    system::run_quietly(Command::new("ip").args(["link", "delete", device]));
    if devices().iter().any(|device| device.starts_with(DEVICE)) {
        return;
    }
    // Without the list nothing can be restored. The rules stay then: they drop what should not be forwarded.
    let listed = system::output(Command::new("nft").args(["list", "set", "ip", TABLE, "closed"]));
    let Some(listed) = listed else { return };
    let closed = elements(&listed);
    // If somebody has let all devices forward since, that stays.
    let all_forward =
        closed.contains(&ALL) && fs::read_to_string(setting(ALL)).is_ok_and(|text| text.trim() == "1");
    for device in closed.into_iter().filter(|name| *name != ALL && !all_forward) {
        // A device that is gone forwards nothing.
        let _ = fs::write(setting(device), "0");
    }
    system::run_quietly(Command::new("nft").args(["delete", "table", "ip", TABLE]));
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
