//! Several hosts at each end of a network: a namespace for each, behind the namespace of the end, which becomes a router.
//!
//! ```text
//! cwnd0 ── host1 ┐                                  ┌ host1 ── cwnd0
//! cwnd0 ── host2 ┼ senders ══ emulator ══ receivers ┼ host2 ── cwnd0
//! ```
//!
//! The n-th host has the n-th address of its end, so that what goes to the n-th receiver takes the way of the n-th flow
//! ([`crate::address`]). A router adds no queue: its devices have none, and it forwards a packet when it comes.

use crate::address::{self, PREFIX};
use crate::ends::{Ends, Settings, configure, of_route};
use crate::namespace::Namespace;
use crate::system;
use crate::tun::NAME;
use std::io;
use std::net::Ipv4Addr;

/// The address of a router for each of its hosts (RFC 3927).
const ROUTER: Ipv4Addr = Ipv4Addr::new(169, 254, 0, 1);

/// The hosts of a network. Their namespaces go away when this is dropped.
pub struct Hosts {
    /// Where flows are sent from.
    pub senders: Vec<Namespace>,
    /// Where they are received.
    pub receivers: Vec<Namespace>,
}

impl Hosts {
    /// Makes this number of hosts at each end.
    ///
    /// # Errors
    /// What could not be made.
    pub(crate) fn new(ends: &Ends, settings: &Settings, count: usize) -> io::Result<Hosts> {
        let (senders, receivers) = (address::SENDERS, address::RECEIVERS);
        Ok(Hosts {
            senders: behind(&ends.senders, settings, count, senders, receivers)?,
            receivers: behind(&ends.receivers, settings, count, receivers, senders)?,
        })
    }
}

/// Makes hosts behind an end, whose network is `here`. `there` is that of the other end.
fn behind(
    router: &Namespace,
    settings: &Settings,
    count: usize,
    here: Ipv4Addr,
    there: Ipv4Addr,
) -> io::Result<Vec<Namespace>> {
    let first = address::of(here, 0);
    // The addresses are those of hosts now. The route to the other end has gone with the address that it named.
    router.ip(&[
        format!("route del local {here}/{PREFIX} dev lo"),
        format!("address del {first}/32 dev {NAME}"),
        format!("route replace {there}/{PREFIX} dev {NAME}"),
    ])?;
    router.within(|| system::write_setting("/proc/sys/net/ipv4/ip_forward", "1"))?;
    (0..count).map(|host| connect(router, settings, host, address::of(here, host), there)).collect()
}

/// Makes a host with an address, and the way between it and its router.
fn connect(
    router: &Namespace,
    settings: &Settings,
    host: usize,
    own: Ipv4Addr,
    there: Ipv4Addr,
) -> io::Result<Namespace> {
    let namespace = Namespace::new()?;
    namespace.within(|| configure(settings))?;
    let (path, device, mtu) = (namespace.path(), format!("host{}", host + 1), settings.mtu);
    router.ip(&[
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
        format!("route add {there}/{PREFIX} via {ROUTER} dev {NAME} src {own} {}", of_route(settings)),
        // To its neighbours, and with a way to the outside to all else.
        format!("route add default via {ROUTER} dev {NAME}"),
    ])?;
    Ok(namespace)
}
