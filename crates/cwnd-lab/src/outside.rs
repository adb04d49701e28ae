//! The way from a network to the outside: its receivers' namespace routes to this host, which routes further.
//!
//! ```text
//! senders ══ emulator ══ receivers ── NAT ── cwnd-out0 ── this host ── NAT ── what this host reaches
//! ```
//!
//! The only things on this host are a device for each network, which goes away with the network's namespaces, and a table of
//! nftables for each version of IP, which the last network removes. Devices that do not forward packets must do so meanwhile. The
//! table's set `closed` holds their names, its rules drop everything from them that is not for a network, and the last network closes
//! them again. If the process is killed, the next one does that ([`crate::clean_up`]).

use crate::forwarding::{self, DEVICE, Family, TABLE};
use crate::named::Records;
use crate::namespace::Namespace;
use crate::system;
use crate::testbed::Testbed;
use crate::tun;
use std::io;
use std::process::Command;

/// The device at the network's end.
const INSIDE: &str = "outside";

/// Networks that there are addresses for.
const MOST_NETWORKS: u32 = 128;

/// A way to the outside. It goes away when this is dropped.
#[derive(Debug)]
pub struct Outside {
    device: String,
    families: Vec<Family>,
    /// Why a version of IP that the network has does not reach the outside.
    missing: Option<&'static str>,
}

impl Outside {
    /// Opens a way from both ends of a network to what this host reaches: by IPv4, and by IPv6 if the network has it and this host can
    /// forward it.
    ///
    /// # Errors
    /// What could not be made.
    pub fn open(testbed: &Testbed) -> io::Result<Outside> {
        let records = Records::open()?;
        records.clean_up();
        let (number, device) = free_device(&records)?;
        let missing = testbed.has_ipv6().then(forwarding::ipv6_obstacle).flatten();
        let mut families = vec![Family::Ip];
        if testbed.has_ipv6() && missing.is_none() {
            families.push(Family::Ip6);
        }
        let outside = Outside { device, families, missing };
        let made = outside.make(number, testbed.senders(), testbed.receivers());
        // Removing it waits for the records.
        drop(records);
        made.map(|()| outside)
    }

    fn make(&self, number: u32, senders: &Namespace, receivers: &Namespace) -> io::Result<()> {
        let device = &self.device;
        let namespace = receivers.path();
        system::run(
            Command::new("ip").args(["-batch", "-"]),
            &format!(
                "link add {device} type veth peer name {INSIDE} netns {namespace}\n\
                 link set {device} up\n"
            ),
        )?;
        receivers.ip(&[format!("link set {INSIDE} up")])?;
        self.families.iter().try_for_each(|&family| self.connect(family, number, senders, receivers))
    }

    /// Leads packets of a version of IP from the senders through the emulator and from the receivers to this host, which forwards them.
    fn connect(
        &self,
        family: Family,
        number: u32,
        senders: &Namespace,
        receivers: &Namespace,
    ) -> io::Result<()> {
        let device = &self.device;
        let ([host, inside], bits) = family.addresses(number);
        // No other host has these addresses: to ask for a second would only take time.
        let (all, forwarding, at_once) = match family {
            Family::Ip => ("0.0.0.0/0", "/proc/sys/net/ipv4/ip_forward", ""),
            Family::Ip6 => ("::/0", "/proc/sys/net/ipv6/conf/all/forwarding", " nodad"),
        };
        if family == Family::Ip6 {
            // A host may have IPv6 off for devices that are new.
            system::write_setting(&format!("/proc/sys/net/ipv6/conf/{device}/disable_ipv6"), "0")?;
        }
        let address = format!("address add {host}/{bits} dev {device}{at_once}");
        system::run(Command::new("ip").args(["-batch", "-"]), &address)?;
        receivers.ip(&[
            format!("address add {inside}/{bits} dev {INSIDE}{at_once}"),
            format!("route add {all} via {host}"),
        ])?;
        senders.ip(&[format!("route add {all} dev {}", tun::NAME)])?;
        receivers.within(|| system::write_setting(forwarding, "1"))?;
        let masquerade = format!(
            "add table {family} {TABLE}\n\
             add chain {family} {TABLE} nat {{ type nat hook postrouting priority srcnat; }}\n\
             add rule {family} {TABLE} nat oifname {INSIDE} masquerade\n"
        );
        system::run(receivers.command("nft")?.args(["-f", "-"]), &masquerade)?;
        forwarding::open(device, family)
    }

    /// Returns what keeps packets from the outside although the way is open, and what to do.
    pub fn warnings(&self) -> Vec<String> {
        let chains = system::output(Command::new("nft").args(["list", "chains"])).unwrap_or_default();
        let obstacles = Obstacle::all(&chains, &self.device, &self.families).into_iter().filter(|obstacle| {
            let rules = format!("list chain {} {}", obstacle.table, obstacle.rules);
            let rules = system::output(Command::new("nft").args(rules.split(' '))).unwrap_or_default();
            !admits(&rules, &self.device)
        });
        self.missing.map(str::to_owned).into_iter().chain(obstacles.map(|obstacle| obstacle.text)).collect()
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

/// A chain of rules that may keep packets of a device from being forwarded.
struct Obstacle {
    /// Its table, as nft names it: the family and the name.
    table: String,
    /// The chain that has the rules for devices.
    rules: String,
    /// What it does, and what to do.
    text: String,
}

impl Obstacle {
    /// Finds those of these versions of IP among chains, as `nft list chains` prints them.
    fn all(chains: &str, device: &str, families: &[Family]) -> Vec<Obstacle> {
        let concerns = |table: &str| {
            table.starts_with("inet ")
                || families.iter().any(|family| table.starts_with(&format!("{family} ")))
        };
        let (mut table, mut chain) = ("", "");
        let mut found = Vec::new();
        for line in chains.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix("table ") {
                table = name.trim_end_matches(" {");
            } else if let Some(name) = line.strip_prefix("chain ") {
                chain = name.trim_end_matches(" {");
            } else if concerns(table) && line.contains("hook forward") {
                let (rules, what, remedy) = match table {
                    // It rejects what comes from no trusted zone, whatever the policy is.
                    "inet firewalld" => (
                        "filter_FORWARD_ZONES",
                        "firewalld rejects forwarded packets of devices that are in no trusted zone",
                        format!("firewall-cmd --zone=trusted --add-interface={device}"),
                    ),
                    _ if !line.contains("policy drop") => continue,
                    "ip filter" | "ip6 filter" => {
                        let iptables = table.replace(" filter", "tables");
                        (
                            chain,
                            "this host's firewall drops forwarded packets by default, as Docker sets it up",
                            format!(
                                "{iptables} -I FORWARD -i {DEVICE}+ -j ACCEPT; {iptables} -I FORWARD -o {DEVICE}+ -j ACCEPT"
                            ),
                        )
                    }
                    _ => (
                        chain,
                        "this host's firewall drops forwarded packets by default",
                        format!(
                            "nft insert rule {table} {chain} iifname {device} accept; \
                             nft insert rule {table} {chain} oifname {device} accept"
                        ),
                    ),
                };
                let text = format!("{what}. To let those of the link pass: `{remedy}`");
                found.push(Obstacle { table: table.into(), rules: rules.into(), text });
            }
        }
        found
    }
}

/// Returns whether a chain, as `nft list chain` prints it, accepts what comes from a device.
fn admits(chain: &str, device: &str) -> bool {
    let names = [device.to_owned(), format!("{DEVICE}*")].map(|name| format!("iifname \"{name}\""));
    chain.lines().any(|rule| {
        names.iter().any(|name| rule.contains(name.as_str()))
            && (rule.contains("accept") || rule.contains("goto filter_FWD_trusted"))
    })
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
    fn a_firewall_in_the_way_is_named_with_its_remedy() {
        let chains = |table: &str, chain: &str, policy: &str| {
            format!(
                "table ip nat {{\n\tchain POSTROUTING {{\n\t\ttype nat hook postrouting priority srcnat; policy accept;\n\t}}\n}}\n\
                 table {table} {{\n\tchain {chain} {{\n\t\ttype filter hook forward priority filter; policy {policy};\n\t}}\n}}\n"
            )
        };
        let families = [Family::Ip, Family::Ip6];
        let remedy = |table, chain, policy| {
            let found = Obstacle::all(&chains(table, chain, policy), "cwnd-out3", &families);
            found.first().map(|obstacle| obstacle.text.split('`').nth(1).unwrap().to_owned())
        };
        assert_eq!(
            remedy("inet firewalld", "filter_FORWARD", "accept").as_deref(),
            Some("firewall-cmd --zone=trusted --add-interface=cwnd-out3")
        );
        assert!(
            remedy("ip filter", "FORWARD", "drop").unwrap().starts_with("iptables -I FORWARD -i cwnd-out+")
        );
        assert_eq!(
            remedy("inet fw", "through", "drop").as_deref(),
            Some(
                "nft insert rule inet fw through iifname cwnd-out3 accept; \
                 nft insert rule inet fw through oifname cwnd-out3 accept"
            )
        );
        assert_eq!(remedy("ip filter", "FORWARD", "accept"), None);
        assert!(
            remedy("ip6 filter", "FORWARD", "drop").unwrap().starts_with("ip6tables -I FORWARD -i cwnd-out+")
        );
        let of_ipv6 = chains("ip6 filter", "FORWARD", "drop");
        assert!(Obstacle::all(&of_ipv6, "cwnd-out3", &[Family::Ip]).is_empty());
    }

    #[test]
    fn a_rule_for_the_device_removes_the_obstacle() {
        let device = "cwnd-out3";
        for rule in [
            "iifname \"cwnd-out3\" goto filter_FWD_trusted",
            "iifname \"cwnd-out3\" accept",
            "iifname \"cwnd-out*\" counter packets 2 bytes 168 accept",
        ] {
            assert!(admits(&format!("\tchain through {{\n\t\t{rule}\n\t}}"), device), "{rule}");
        }
        for rule in ["iifname \"cwnd-out4\" accept", "iifname \"cwnd-out3\" drop", "goto filter_FWD_public"] {
            assert!(!admits(rule, device), "{rule}");
        }
    }

    #[test]
    fn addresses_are_beyond_those_of_flows() {
        let last = crate::address::sender(crate::address::MOST_FLOWS - 1);
        assert!(last < forwarding::ADDRESSES);
        assert!(u32::from(forwarding::ADDRESSES) + 4 * MOST_NETWORKS <= u32::from(crate::address::RECEIVERS));
    }
}
