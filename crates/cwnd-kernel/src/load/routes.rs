//! Routes that select a congestion control (`ip route … congctl NAME`).

use super::{netlink, sockets};
use std::{
    collections::BTreeSet,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    path::{Path, PathBuf},
};

/// `struct rtmsg`.
const MESSAGE: usize = 12;
const RTA_DST: u16 = 1;
const RTA_METRICS: u16 = 8;
const RTAX_CC_ALGO: u16 = 16;

/// A route that selects a congestion control for the connections that take it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// A path to its network namespace.
    pub namespace: PathBuf,
    /// Where it leads: `default`, or a network as `ip route` writes it.
    pub to: String,
    /// What it selects.
    pub congestion_control: String,
}

/// Returns the routes that select a congestion control, of every network namespace and every table.
pub fn routes() -> Vec<Route> {
    let here = |namespace: &Path| {
        let mut found = BTreeSet::new();
        for family in [libc::AF_INET, libc::AF_INET6] {
            // A namespace that has gone since has no routes.
            let _ = read(family, namespace, &mut found);
        }
        found
    };
    sockets::in_each_namespace(here).into_iter().flatten().collect()
}

fn read(family: i32, namespace: &Path, found: &mut BTreeSet<Route>) -> io::Result<()> {
    let mut request = [0u8; MESSAGE];
    request[0] = family as u8;
    netlink::dump(libc::NETLINK_ROUTE, libc::RTM_GETROUTE, &request, |answer| {
        found.extend(route(answer).map(|(to, congestion_control)| Route {
            namespace: namespace.to_owned(),
            to,
            congestion_control,
        }));
    })
}

/// Returns where a route leads and what it selects; nothing if it selects nothing.
fn route(answer: &[u8]) -> Option<(String, String)> {
    let bits = *answer.get(1)?;
    let attribute = |kind| {
        let mut all = netlink::attributes(answer.get(MESSAGE..)?);
        all.find(|(other, _)| *other == kind).map(|(_, content)| content)
    };
    let metrics = attribute(RTA_METRICS)?;
    let (_, name) = netlink::attributes(metrics).find(|(kind, _)| *kind == RTAX_CC_ALGO)?;
    let to = match attribute(RTA_DST) {
        None => "default".to_owned(),
        Some(bytes) => {
            let four = <[u8; 4]>::try_from(bytes).map(|bytes| IpAddr::V4(Ipv4Addr::from(bytes)));
            let address =
                four.or_else(|_| <[u8; 16]>::try_from(bytes).map(|b| IpAddr::V6(Ipv6Addr::from(b))));
            format!("{}/{bits}", address.ok()?)
        }
    };
    Some((to, netlink::text(name)))
}
