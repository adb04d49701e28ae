//! Several hosts at each end of a network: a namespace for each, behind the namespace of the end, which becomes a router.
//!
//! ```text
//! cwnd0 ── host1 ┐                                  ┌ host1 ── cwnd0
//! cwnd0 ── host2 ┼ senders ══ emulator ══ receivers ┼ host2 ── cwnd0
//! ```
//!
//! The n-th host has the n-th address of its end, so that what goes to the n-th receiver takes the way of the n-th flow
//! ([`crate::address`]). A router adds no queue: its devices have none, and it forwards a packet when it comes.

use crate::address::{self, PREFIX, PREFIX_IPV6};
use crate::ends::{Ends, Settings, configure, enable_ipv6, of_route};
use crate::namespace::Namespace;
use crate::system;
use crate::tun::NAME;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The address of a router for each of its hosts (RFC 3927).
const ROUTER: Ipv4Addr = Ipv4Addr::new(169, 254, 0, 1);

/// The same for IPv6.
const ROUTER_IPV6: Ipv6Addr = Ipv6Addr::new(0xFE80, 0, 0, 0, 0, 0, 0, 1);

/// The hosts of a network. Their namespaces go away when this is dropped.
pub struct Hosts {
    /// Where flows are sent from.
    pub senders: Vec<Namespace>,
    /// Where they are received.
    pub receivers: Vec<Namespace>,
}

impl Hosts {
    /// Makes this number of hosts at each end, with addresses of IPv6 if the ends have some.
    ///
    /// # Errors
    /// What could not be made.
    pub(crate) fn new(ends: &Ends, settings: &Settings, count: usize) -> io::Result<Hosts> {
        let networks = [
            Network { ipv4: address::SENDERS, ipv6: address::SENDERS_IPV6 },
            Network { ipv4: address::RECEIVERS, ipv6: address::RECEIVERS_IPV6 },
        ];
        let side = |router, here, there| {
            let side = Side { router, settings, here, there, has_ipv6: ends.has_ipv6 };
            side.become_router()?;
            (0..count).map(|host| side.connect(host)).collect::<io::Result<_>>()
        };
        let [senders, receivers] = networks;
        Ok(Hosts {
            senders: side(&ends.senders, senders, receivers)?,
            receivers: side(&ends.receivers, receivers, senders)?,
        })
    }
}

/// The networks of an end's addresses.
#[derive(Clone, Copy)]
struct Network {
    ipv4: Ipv4Addr,
    ipv6: Ipv6Addr,
}

/// An end of the network with its hosts.
struct Side<'a> {
    router: &'a Namespace,
    settings: &'a Settings,
    here: Network,
    there: Network,
    has_ipv6: bool,
}

impl Side<'_> {
    /// Lets the end forward packets. Its addresses are those of hosts from now on, and the route to the other end has gone with the
    /// address that it named.
    fn become_router(&self) -> io::Result<()> {
        let (here, there, first) = (self.here.ipv4, self.there.ipv4, address::of(self.here.ipv4, 0));
        self.router.ip(&[
            format!("route del local {here}/{PREFIX} dev lo"),
            format!("address del {first}/32 dev {NAME}"),
            format!("route replace {there}/{PREFIX} dev {NAME}"),
        ])?;
        self.router.within(|| system::write_setting("/proc/sys/net/ipv4/ip_forward", "1"))?;
        if !self.has_ipv6 {
            return Ok(());
        }
        let (here, there, first) = (self.here.ipv6, self.there.ipv6, address::of_ipv6(self.here.ipv6, 0));
        self.router.ip(&[
            format!("route del local {here}/{PREFIX_IPV6} dev lo"),
            format!("address del {first}/128 dev {NAME}"),
            format!("route replace {there}/{PREFIX_IPV6} dev {NAME}"),
        ])?;
        self.router.within(|| system::write_setting("/proc/sys/net/ipv6/conf/all/forwarding", "1"))
    }

    /// Makes a host, and the way between it and its router.
    fn connect(&self, host: usize) -> io::Result<Namespace> {
        let namespace = Namespace::new()?;
        namespace.within(|| configure(self.settings))?;
        let (path, device, mtu) = (namespace.path(), format!("host{}", host + 1), self.settings.mtu);
        let (own, there, of_route) =
            (address::of(self.here.ipv4, host), self.there.ipv4, of_route(self.settings));
        self.router.ip(&[
            format!("link add {device} mtu {mtu} type veth peer name {NAME} mtu {mtu} netns {path}"),
            format!("address add {ROUTER}/32 dev {device}"),
            format!("link set {device} up"),
            format!("route add {own}/32 dev {device}"),
        ])?;
        namespace.ip(&[
            "link set lo up".to_owned(),
            format!("link set {NAME} up"),
            format!("address add {own}/32 dev {NAME}"),
            format!("route add {ROUTER}/32 dev {NAME}"),
            format!("route add {there}/{PREFIX} via {ROUTER} dev {NAME} src {own} {of_route}"),
            // To its neighbours, and with a way to the outside to all else.
            format!("route add default via {ROUTER} dev {NAME}"),
        ])?;
        if !self.has_ipv6 {
            return Ok(namespace);
        }
        let (own, there) = (address::of_ipv6(self.here.ipv6, host), self.there.ipv6);
        self.router.ip(&[
            format!("address add {ROUTER_IPV6}/64 dev {device} nodad"),
            format!("route add {own}/128 dev {device}"),
        ])?;
        namespace.within(enable_ipv6)?;
        namespace.ip(&[
            format!("address add {own}/128 dev {NAME} nodad"),
            format!("route add {ROUTER_IPV6}/128 dev {NAME}"),
            format!("route add {there}/{PREFIX_IPV6} via {ROUTER_IPV6} dev {NAME} src {own} {of_route}"),
            format!("route add default via {ROUTER_IPV6} dev {NAME}"),
        ])?;
        Ok(namespace)
    }
}
