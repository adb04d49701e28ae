//! What this host forwards between networks of the laboratory and the outside: for IPv4 and for IPv6 one table of nftables, and a
//! setting of each device.

use crate::system;
use std::fmt;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::process::Command;

/// The devices at the host's end begin with this.
pub(crate) const DEVICE: &str = "cwnd-out";

/// The tables of nftables on this host.
pub(crate) const TABLE: &str = "cwnd_outside";

/// Addresses between the networks and this host: those of the benchmark range that no flow has. Each network takes four.
pub(crate) const ADDRESSES: Ipv4Addr = Ipv4Addr::new(198, 18, 254, 0);

/// The same for IPv6.
const ADDRESSES_IPV6: Ipv6Addr = Ipv6Addr::new(0x2001, 2, 0, 0x1A, 0, 0, 0, 0);

/// What stands for all devices in the settings, and so among the names of closed devices: no device can have this name.
const ALL: &str = "all";

/// A version of IP, as nftables calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Ip,
    Ip6,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::Ip => "ip",
            Family::Ip6 => "ip6",
        })
    }
}

impl Family {
    /// Returns the addresses of the host and of the network at the ends of the device between them, with the bits of their prefix.
    pub fn addresses(self, network: u32) -> ([String; 2], u32) {
        let address = |nth: u32| match self {
            Family::Ip => Ipv4Addr::from(u32::from(ADDRESSES) + 4 * network + nth).to_string(),
            Family::Ip6 => {
                Ipv6Addr::from(u128::from(ADDRESSES_IPV6) + u128::from(4 * network + nth)).to_string()
            }
        };
        let bits = match self {
            Family::Ip => 30,
            Family::Ip6 => 126,
        };
        ([address(1), address(2)], bits)
    }

    /// Returns all of these addresses, as nftables reads them.
    fn networks(self) -> String {
        match self {
            Family::Ip => format!("{ADDRESSES}/23"),
            Family::Ip6 => format!("{ADDRESSES_IPV6}/119"),
        }
    }

    /// Returns what decides whether packets that come from a device are forwarded.
    fn setting(self, device: &str) -> String {
        match self {
            Family::Ip => format!("/proc/sys/net/ipv4/conf/{device}/forwarding"),
            // A device's `forwarding` only says whether it takes addresses and routes from routers.
            Family::Ip6 => format!("/proc/sys/net/ipv6/conf/{device}/force_forwarding"),
        }
    }
}

/// Returns why this host cannot forward IPv6 of some devices alone, and what would change that.
pub(crate) fn ipv6_obstacle() -> Option<&'static str> {
    let can_forward = forwards_all_ipv6() || fs::exists(Family::Ip6.setting(ALL)).unwrap_or(false);
    (!can_forward).then_some(
        "IPv6 does not reach the outside: before Linux 6.17 a host forwards it between all devices or none. \
         `sysctl net.ipv6.conf.all.forwarding=1` lets it do so; a device that has its address from a router needs \
         `net.ipv6.conf.DEVICE.accept_ra=2` before, or the host loses it",
    )
}

/// Returns whether this host is a router of IPv6.
fn forwards_all_ipv6() -> bool {
    fs::read_to_string("/proc/sys/net/ipv6/conf/all/forwarding").is_ok_and(|text| text.trim() == "1")
}

/// Lets this host forward between a network's device and all others, and nothing else that it did not forward before.
pub(crate) fn open(device: &str, family: Family) -> io::Result<()> {
    if family == Family::Ip6 && forwards_all_ipv6() {
        return system::run(Command::new("nft").args(["-f", "-"]), &rules(family, &[]));
    }
    let is_closed =
        |name: &str| fs::read_to_string(family.setting(name)).is_ok_and(|text| text.trim() == "0");
    let closed: Vec<String> =
        devices().into_iter().filter(|other| is_closed(other) && !other.starts_with(DEVICE)).collect();
    let all = is_closed(ALL).then(|| ALL.to_owned());
    // The rules first: there is no time at which a closed device forwards for others.
    let names: Vec<String> = closed.iter().cloned().chain(all).collect();
    system::run(Command::new("nft").args(["-f", "-"]), &rules(family, &names))?;
    for other in closed.iter().map(String::as_str).chain([device]) {
        system::write_setting(&family.setting(other), "1")?;
    }
    Ok(())
}

/// Removes a network's device, and all that was made for networks if it was the last. The records are this process's meanwhile.
pub(crate) fn close(device: &str) {
    system::run_quietly(Command::new("ip").args(["link", "delete", device]));
    if devices().iter().any(|device| device.starts_with(DEVICE)) {
        return;
    }
    for family in [Family::Ip, Family::Ip6] {
        let of_table = |words: &str| {
            let mut nft = Command::new("nft");
            nft.args(words.split(' ')).args([&family.to_string(), TABLE]);
            nft
        };
        // Without the list nothing can be restored. The rules stay then: they drop what should not be forwarded.
        let Some(listed) = system::output(of_table("list set").arg("closed")) else { continue };
        let closed = elements(&listed);
        // If somebody has let all devices forward since, that stays.
        let all_forward = closed.contains(&ALL)
            && fs::read_to_string(family.setting(ALL)).is_ok_and(|text| text.trim() == "1");
        for device in closed.into_iter().filter(|name| *name != ALL && !all_forward) {
            // A device that is gone forwards nothing.
            let _ = fs::write(family.setting(device), "0");
        }
        system::run_quietly(&mut of_table("delete table"));
    }
}

/// The table on this host, as nftables reads it. What is there already stays, except that the rules are written again.
fn rules(family: Family, closed: &[String]) -> String {
    let table = format!("{family} {TABLE}");
    let networks = family.networks();
    let names: Vec<String> = closed.iter().map(|device| format!("\"{device}\"")).collect();
    let add_closed = match names.as_slice() {
        [] => String::new(),
        names => format!("add element {table} closed {{ {} }}\n", names.join(", ")),
    };
    format!(
        "add table {table}\n\
         add set {table} closed {{ type ifname; }}\n\
         add chain {table} nat {{ type nat hook postrouting priority srcnat; }}\n\
         add chain {table} forward {{ type filter hook forward priority filter; }}\n\
         flush table {table}\n\
         {add_closed}\
         add rule {table} nat {family} saddr {networks} oifname != \"{DEVICE}*\" masquerade\n\
         add rule {table} forward oifname \"{DEVICE}*\" ct state new drop\n\
         add rule {table} forward iifname @closed oifname != \"{DEVICE}*\" drop\n"
    )
}

/// Returns the elements of a set of names, as nftables lists it.
fn elements(listed: &str) -> Vec<&str> {
    let elements = listed.split_once("elements = {").map_or("", |(_, rest)| rest);
    elements.split('"').skip(1).step_by(2).collect()
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

    #[test]
    fn each_network_has_addresses_of_its_own() {
        let addresses = |family: Family, network| family.addresses(network).0;
        assert_eq!(addresses(Family::Ip, 0), ["198.18.254.1", "198.18.254.2"]);
        assert_eq!(addresses(Family::Ip, 127), ["198.18.255.253", "198.18.255.254"]);
        assert_eq!(addresses(Family::Ip6, 0), ["2001:2:0:1a::1", "2001:2:0:1a::2"]);
        assert_eq!(addresses(Family::Ip6, 127), ["2001:2:0:1a::1fd", "2001:2:0:1a::1fe"]);
    }
}
