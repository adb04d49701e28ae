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

use crate::forwarding::{self, ADDRESSES, DEVICE, TABLE};
use crate::named::Records;
use crate::namespace::Namespace;
use crate::system;
use crate::tun;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;

/// The device at the network's end.
const INSIDE: &str = "outside";

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
        system::run(
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
        receivers.within(|| system::write_setting("/proc/sys/net/ipv4/ip_forward", "1"))?;
        let masquerade = format!(
            "add table ip {TABLE}\n\
             add chain ip {TABLE} nat {{ type nat hook postrouting priority srcnat; }}\n\
             add rule ip {TABLE} nat oifname {INSIDE} masquerade\n"
        );
        system::run(receivers.command("nft")?.args(["-f", "-"]), &masquerade)?;
        forwarding::open(device)
    }

    /// Returns what may keep packets from the outside although the way is open; nothing if nothing is known.
    pub fn warning(&self) -> Option<String> {
        let listed = system::output(Command::new("nft").args(["list", "chain", "ip", "filter", "FORWARD"]))?;
        listed.contains("policy drop").then(|| {
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
        forwarding::close(&self.device);
        // Last: if this process is killed before, the record tells the next one.
        crate::named::remove(&self.device);
        drop(records);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_beyond_those_of_flows() {
        let last = crate::address::sender(crate::address::MOST_FLOWS - 1);
        assert!(last < ADDRESSES);
        assert!(u32::from(ADDRESSES) + 4 * MOST_NETWORKS <= u32::from(crate::address::RECEIVERS));
    }
}
