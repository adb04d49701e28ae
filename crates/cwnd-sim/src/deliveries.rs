//! Compares what links have delivered with what arrived behind them.
//!
//! [`LinkOutcome::delivered`](cwnd_scenario::LinkOutcome::delivered) is computed from the other counts of its link, so that no wrong count of a
//! link contradicts it. The next link and the endpoint count their own arrivals. Both counts must agree.

use crate::simulation::Simulation;
use cwnd_scenario::{LinkId, Outcome};

/// Packets at one place between links: an output of links, the inputs behind it, and the endpoints behind it.
#[derive(Clone, Debug, Default)]
struct Junction {
    /// Links that lead here.
    from: Vec<LinkId>,
    /// Links that begin here.
    to: Vec<LinkId>,
    /// Packets that links have delivered here.
    delivered: u64,
    /// Packets that endpoints have sent from here, unless a receiver does.
    sent: u64,
    /// Whether a receiver sends from here. ACKs that are sent are not counted.
    has_acks_sent: bool,
    /// Packets that came to a link or to an endpoint.
    arrived: u64,
}

/// Sets of links whose outputs and inputs belong together (union-find): the input of link `i` is `i`, its output `links + i`.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&mut self, mut i: usize) -> usize {
        while self.0[i] != i {
            self.0[i] = self.0[self.0[i]];
            i = self.0[i];
        }
        i
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a] = b;
    }
}

impl Simulation<'_> {
    /// Checks that what links have delivered is what arrived at the next links and at the endpoints. `outcome` is that of
    /// [`Simulation::outcome`] now. Runs with [observed points](crate::Options::points) are not checked: packets wait at these points.
    ///
    /// Endpoints count packets of handshakes in builds with debug assertions only. Other builds check links that lead to links.
    ///
    /// # Errors
    /// A line for each place at which packets are missing or too many.
    #[doc(hidden)]
    pub fn check_deliveries(&self, outcome: &Outcome) -> Result<(), String> {
        if self.is_observed() {
            return Ok(());
        }
        let links = outcome.links.len();
        let mut sets = Sets((0..2 * links).collect());
        let flows = self.scenario.flows.iter();
        let routes: Vec<&[LinkId]> = flows.flat_map(|flow| [&flow.route[..], &flow.ack_route[..]]).collect();
        for pair in routes.iter().flat_map(|route| route.windows(2)) {
            sets.join(links + pair[0], pair[1]);
        }
        let mut junctions = vec![Junction::default(); 2 * links];
        for (i, link) in outcome.links.iter().enumerate() {
            let (input, output) = (sets.find(i), sets.find(links + i));
            junctions[input].to.push(i);
            junctions[input].arrived += link.arrived;
            junctions[output].from.push(i);
            junctions[output].delivered += link.delivered;
        }
        let mut is_exact = vec![true; 2 * links];
        for (channel, route) in routes.iter().enumerate() {
            let (first, last) = (sets.find(route[0]), sets.find(links + route[route.len() - 1]));
            match self.endpoint_counts(channel) {
                Some((sent, arrived)) => {
                    junctions[last].arrived += arrived;
                    junctions[first].sent += sent.unwrap_or(0);
                    junctions[first].has_acks_sent |= sent.is_none();
                }
                None => (is_exact[first], is_exact[last]) = (false, false),
            }
        }
        // Packets that a host has sent, and that have not come to the link behind it.
        for (ring, _) in
            self.stages.net.rings.iter().zip(&self.stages.net.line_of).filter(|(_, line)| line.is_none())
        {
            for packet in ring.iter() {
                junctions[sets.find(routes[packet.channel as usize][0])].arrived += 1;
            }
        }
        let wrong: Vec<String> = (junctions.iter().zip(is_exact))
            // The input of a link that nothing but receivers leads to has no other count.
            .filter(|(junction, is_exact)| *is_exact && !(junction.from.is_empty() && junction.has_acks_sent))
            .filter(|(junction, _)| {
                let came = junction.delivered + junction.sent;
                came > junction.arrived || (came < junction.arrived && !junction.has_acks_sent)
            })
            .map(|(junction, _)| {
                let names = |links: &[LinkId]| {
                    let names: Vec<&str> =
                        links.iter().map(|link| outcome.links[*link].name.as_str()).collect();
                    names.join(", ")
                };
                format!(
                    "links [{}] delivered {} and endpoints sent {}; at links [{}] and endpoints {} arrived",
                    names(&junction.from),
                    junction.delivered,
                    junction.sent,
                    names(&junction.to),
                    junction.arrived
                )
            })
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }

    /// Returns the packets that a channel's endpoint has sent, if it counts them, and those that have arrived at the other end. None if
    /// packets of handshakes are not counted.
    fn endpoint_counts(&self, channel: usize) -> Option<(Option<u64>, u64)> {
        let (sender, receiver) = (self.sender(channel / 2), self.receiver(channel / 2));
        let (sent, to_sender) = sender.handshake_packets()?;
        let to_receiver = receiver.handshake_arrived()?;
        let (sender, receiver) = (sender.counts, receiver.counts);
        Some(match channel % 2 {
            0 => (Some(sender.sent + sent), receiver.received + receiver.duplicates + to_receiver),
            _ => (None, sender.acks + to_sender),
        })
    }
}
