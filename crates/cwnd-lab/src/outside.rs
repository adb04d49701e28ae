//! The way from a network to the outside: its receivers' namespace routes to this host, which routes further.
//!
//! ```text
//! senders ══ emulator ══ receivers ── NAT ── cwnd-out0 ── this host ── NAT ── what this host reaches
//! ```
//!
//! The only things on this host are a device for each network, which goes away with the network's namespaces, and one table of
//! nftables, which the last network removes. Devices that do not forward packets must do so meanwhile. The table's set `closed`
//! holds their names, its rules drop everything from them that is not for a network, and the last network closes them again. If
//! the process is killed, the next one does that ([`crate::clean_up`]).

use crate::named::Records;
use crate::namespace::Namespace;
use crate::tun;
use std::fs;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Command, Stdio};

/// The devices at the host's end begin with this.
pub(crate) const DEVICE: &str = "cwnd-out";

/// The device at the network's end.
const INSIDE: &str = "outside";

/// The table of nftables on this host.
const TABLE: &str = "cwnd_outside";

/// Addresses between the networks and this host: those of the benchmark range that no flow has. Each network takes four.
const ADDRESSES: Ipv4Addr = Ipv4Addr::new(198, 18, 254, 0);

/// Networks that there are addresses for.
const MOST_NETWORKS: u32 = 128;

/// A way to the outside. It goes away when this is dropped.
#[derive(Debug)]
pub struct Outside {
    device: String,
}

impl Outside {
    /// Opens a way from both ends of a network to what this host reaches by IPv4.
    ///
    /// # Errors
    /// What could not be made.
    pub fn open(senders: &Namespace, receivers: &Namespace) -> io::Result<Outside> {
        let records = Records::open()?;
        records.clean_up();
        let (number, device) = free_device(&records)?;
        let outside = Outside { device };
        let made = outside.make(number, senders, receivers);
        // Removing it waits for the records.
        drop(records);
        made.map(|()| outside)
    }

    fn make(&self, number: u32, senders: &Namespace, receivers: &Namespace) -> io::Result<()> {
        let device = &self.device;
        let address = |nth: u32| Ipv4Addr::from(u32::from(ADDRESSES) + 4 * number + nth);
        let (host, inside) = (address(1), address(2));
        let namespace = format!("/proc/{}/fd/{}", std::process::id(), receivers.as_fd().as_raw_fd());
        run(
            Command::new("ip").args(["-batch", "-"]),
            &format!(
                "link add {device} type veth peer name {INSIDE} netns {namespace}\n\
                 address add {host}/30 dev {device}\n\
                 link set {device} up\n"
            ),
        )?;
        receivers.ip(&[
            format!("address add {inside}/30 dev {INSIDE}"),
            format!("link set {INSIDE} up"),
            format!("route add default via {host}"),
        ])?;
        senders.ip(&[format!("route add default dev {} src {}", tun::NAME, crate::address::sender(0))])?;
        receivers.within(|| write("/proc/sys/net/ipv4/ip_forward", "1"))?;
        let masquerade = format!(
            "add table ip {TABLE}\n\
             add chain ip {TABLE} nat {{ type nat hook postrouting priority srcnat; }}\n\
             add rule ip {TABLE} nat oifname {INSIDE} masquerade\n"
        );
        run(receivers.command("nft")?.args(["-f", "-"]), &masquerade)?;
        forward(device)
    }

    /// Returns what may keep packets from the outside although the way is open; nothing if nothing is known.
    pub fn warning(&self) -> Option<String> {
        let listed = Command::new("nft").args(["list", "chain", "ip", "filter", "FORWARD"]).output().ok()?;
        let drops = String::from_utf8_lossy(&listed.stdout).contains("policy drop");
        drops.then(|| {
            format!(
                "this host's firewall drops forwarded packets by default, as Docker sets it up. To let those of the link \
                 pass: `iptables -I FORWARD -i {DEVICE}+ -j ACCEPT; iptables -I FORWARD -o {DEVICE}+ -j ACCEPT`"
            )
        })
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let records = Records::open();
        crate::named::remove(&self.device);
        close(&self.device);
        drop(records);
    }
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
        let _ = fs::write(forwarding(device), "0");
    }
    quietly(Command::new("nft").args(["delete", "table", "ip", TABLE]));
}

/// Reserves the first device that no network has. Returns its number and its name.
fn free_device(records: &Records) -> io::Result<(u32, String)> {
    for number in 0..MOST_NETWORKS {
        let device = format!("{DEVICE}{number}");
        match records.add(&device) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(()) => return Ok((number, device)),
        }
    }
    Err(io::Error::other(format!("{MOST_NETWORKS} networks have a way to the outside already")))
}

/// Lets this host forward between a network's device and all others, and nothing else that it did not forward before.
fn forward(device: &str) -> io::Result<()> {
    let mut closed = Vec::new();
    for other in devices() {
        let is_closed = fs::read_to_string(forwarding(&other)).is_ok_and(|text| text.trim() == "0");
        if is_closed && !other.starts_with(DEVICE) {
            closed.push(other);
        }
    }
    // The rules first: there is no time at which a closed device forwards for others.
    run(Command::new("nft").args(["-f", "-"]), &rules(&closed))?;
    for other in closed.iter().map(String::as_str).chain([device]) {
        write(&forwarding(other), "1")?;
    }
    Ok(())
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

fn forwarding(device: &str) -> String {
    format!("/proc/sys/net/ipv4/conf/{device}/forwarding")
}

/// Returns the devices of this host.
fn devices() -> Vec<String> {
    let text = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let names = text.lines().skip(2).filter_map(|line| line.split_once(':'));
    names.map(|(name, _)| name.trim().to_owned()).collect()
}

fn write(path: &str, value: &str) -> io::Result<()> {
    fs::write(path, value).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))
}

/// Runs a program with this input.
fn run(command: &mut Command, input: &str) -> io::Result<()> {
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

    #[test]
    fn addresses_are_beyond_those_of_flows() {
        let last = crate::address::sender(crate::address::MOST_FLOWS - 1);
        assert!(last < ADDRESSES);
        assert!(u32::from(ADDRESSES) + 4 * MOST_NETWORKS <= u32::from(crate::address::RECEIVERS));
    }
}
