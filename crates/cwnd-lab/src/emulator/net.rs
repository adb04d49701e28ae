//! The network between the two ends: a [`cwnd_net::Network`] of frames. It knows of no clocks or devices, so that it can be tested
//! without either.

use super::account::Accounts;
use super::pool::{Frame, Meta, Pool, Sent};
use cwnd_link::LinkSpec;
use cwnd_net::{Carried, LinkCounts, LinkId, Network, NetworkError, Observer, Place, Route, Settings};

/// The number of a flow and a direction: twice the flow's, and one more for what goes from its receiver to its sender. It is the
/// number of a route.
pub type Way = u32;

/// A network of real packets.
pub type Net = Network<Frame, Inside>;

/// What goes on within the network.
pub struct Inside {
    pub accounts: Accounts,
    pub pool: Pool,
    /// The link whose sending is noted in packets.
    pub bottleneck: LinkId,
}

/// Creates an idle network. `ways` has the links of each [`Way`].
///
/// # Errors
/// Links of a way are not joined.
pub fn network(
    links: &[LinkSpec],
    ways: Vec<Vec<LinkId>>,
    settings: &Settings,
    inside: Inside,
) -> Result<Net, NetworkError> {
    let routes = ways.into_iter().enumerate();
    let routes = routes.map(|(way, links)| Route { from: way, to: way ^ 1, links });
    Network::with_observer(links, routes.collect(), settings, inside)
}

/// Returns the packets in the network that will come out, each with the number of links on its way that have sent it. With
/// `begun`, a link that is sending it counts too.
pub fn progress(net: &Net, begun: bool) -> impl Iterator<Item = (&Meta, usize)> {
    net.packets().filter_map(move |(_, Carried { packet, links, place, .. })| {
        let sent = match place {
            Place::Sent => 0,
            Place::Queue => links - 1,
            Place::Transmitter => links - usize::from(!begun),
            Place::Line { lost: false } => *links,
            Place::Line { lost: true } => return None,
        };
        Some((&packet.meta, sent))
    })
}

impl Observer<Frame> for Inside {
    fn sent(&mut self, now: u64, link: LinkId, frame: &mut Frame, counts: &LinkCounts) {
        if link == self.bottleneck {
            let LinkCounts { sent_bytes: bytes, busy_periods, .. } = *counts;
            frame.meta.sent = Some(Sent { at: now, bytes, busy_periods });
        }
    }

    fn copied(&mut self, _: u64, _: LinkId, copy: &mut Frame) {
        self.accounts.copied(&copy.meta);
    }

    fn dropped(&mut self, _: u64, _: LinkId, frame: Frame) {
        self.accounts.dropped(&frame.meta);
        self.pool.give_back(frame);
    }

    fn lost(&mut self, _: u64, _: LinkId, frame: Frame) {
        self.accounts.lost(&frame.meta);
        self.pool.give_back(frame);
    }
}

#[cfg(test)]
mod tests;
