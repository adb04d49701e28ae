//! Many senders and one receiver behind a port of a switch.

use crate::line::{forward_flows, halves, problem};
use crate::{Access, Bottleneck, BufferContext, Built, Endpoints, LineDelay, Route};
use cwnd_scenario::{Counting, Network, Problem, Time};

/// A node `switch`, a `receiver` behind its port, the link `bottleneck`, and for each flow a host `sender-1` and so on
/// with the links `access-1` to the switch and `access-1-reverse` back.
///
/// Reverse flows run from the receiver to their hosts. The base round-trip time of a flow is 2 x (access delay +
/// bottleneck delay).
#[derive(Clone, Debug, PartialEq)]
pub struct Incast {
    /// The line between the switch and the receiver.
    pub bottleneck: Bottleneck,
    /// The lines of the senders.
    pub access: Access,
    /// The flows. One with a round-trip time of its own has it through the delays of its own two links.
    pub flows: Vec<Endpoints>,
    /// What the queues' limits count.
    pub counting: Counting,
    /// Wire size of a full packet, bytes.
    pub full_packet: u32,
}

impl Incast {
    /// Make the network.
    ///
    /// # Errors
    /// Every field that cannot be met, by its path (`rtt`, `buffer`, `access_buffer`, `flows[2].rtt`).
    pub fn build(&self) -> Result<Built, Vec<Problem>> {
        let access = self.access.delay;
        let port = match self.bottleneck.delay {
            LineDelay::OneWay(delay) => (delay, delay),
            LineDelay::BaseRtt(rtt) => {
                let own = access.0.saturating_mul(2);
                let left = rtt.0.checked_sub(own).ok_or_else(|| {
                    let message = format!(
                        "a base round trip of {rtt} is shorter than the access links alone, 2 x {access} = {}: make it \
                         longer, or the access delay shorter",
                        Time(own)
                    );
                    vec![Problem { place: "rtt".to_owned(), message }]
                })?;
                halves(Time(left))
            }
        };
        let line = port.0.0.saturating_add(port.1.0);
        let mut problems = Vec::new();
        let mut own = Vec::with_capacity(self.flows.len());
        for (index, flow) in self.flows.iter().enumerate() {
            match flow.rtt.map(|rtt| (rtt, rtt.0.checked_sub(line))) {
                None => own.push((access, access)),
                Some((_, Some(left))) => own.push(halves(Time(left))),
                Some((rtt, None)) => problems.push(Problem {
                    place: format!("flows[{index}].rtt"),
                    message: format!(
                        "a base round trip of {rtt} is shorter than the bottleneck's own, {}: make it longer, or the \
                         bottleneck's delay shorter",
                        Time(line)
                    ),
                }),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let base_rtt =
            own.iter().map(|(there, back)| line.saturating_add(there.0).saturating_add(back.0)).max();
        let context = BufferContext {
            rate: self.bottleneck.rate,
            base_rtt: Time(base_rtt.unwrap_or(line)),
            full_packet: self.full_packet,
            flows: forward_flows(&self.flows),
        };
        let limit = problem("access_buffer", self.access.buffer.resolve(&context), &mut problems);
        let shared = self.bottleneck.links("bottleneck", (SWITCH, RECEIVER), port, &context, self.counting);
        let (limit, shared) = match (limit, shared) {
            (Some(limit), Ok(links)) => (limit, links),
            (_, links) => {
                problems.extend(links.err().into_iter().flatten());
                return Err(problems);
            }
        };
        let mut nodes = vec!["switch".to_owned(), "receiver".to_owned()];
        let mut links = Vec::from(shared);
        let mut routes = Vec::with_capacity(self.flows.len());
        for (index, (flow, delays)) in self.flows.iter().zip(&own).enumerate() {
            let (number, sender, first) = (index + 1, nodes.len(), links.len());
            nodes.push(format!("sender-{number}"));
            let link = |name: String, ends, delay| self.access.link(name, ends, delay, limit, self.counting);
            links.push(link(format!("access-{number}"), (sender, SWITCH), delays.0));
            links.push(link(format!("access-{number}-reverse"), (SWITCH, sender), delays.1));
            let (there, back) = (vec![first, 0], vec![1, first + 1]);
            let (data, acks) = if flow.reverse { (back, there) } else { (there, back) };
            routes.push(Route { data, acks });
        }
        Ok(Built {
            network: Network { nodes, links, bottleneck: 0 },
            routes,
            base_rtt: context.base_rtt,
            bdp_packets: context.bdp_packets(),
        })
    }
}

const SWITCH: usize = 0;
const RECEIVER: usize = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LineOptions;
    use cwnd_scenario::{Discipline, QueueLimit, Rate};

    fn incast(flows: &[Endpoints]) -> Incast {
        Incast {
            bottleneck: Bottleneck {
                rate: Rate(1_000_000_000),
                delay: LineDelay::OneWay(Time(20_000)),
                buffer: 64.into(),
                ecn_threshold: None,
                forward: LineOptions::default(),
                reverse: LineOptions::default(),
            },
            access: Access {
                rate: Rate(1_000_000_000),
                delay: Time(5_000),
                buffer: 1000.into(),
                queue: Discipline::DropTail,
            },
            flows: flows.to_vec(),
            counting: Counting::WaitingOnly,
            full_packet: 1_514,
        }
    }

    #[test]
    fn all_senders_share_one_port() {
        let reverse = Endpoints { reverse: true, ..Endpoints::default() };
        let built = incast(&[Endpoints::default(), Endpoints::default(), reverse]).build().unwrap();
        let names = |links: &[usize]| {
            links.iter().map(|link| built.network.links[*link].name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(names(&built.routes[1].data), ["access-2", "bottleneck"]);
        assert_eq!(names(&built.routes[1].acks), ["bottleneck-reverse", "access-2-reverse"]);
        assert_eq!(names(&built.routes[2].data), ["bottleneck-reverse", "access-3-reverse"]);
        assert_eq!(built.network.nodes, ["switch", "receiver", "sender-1", "sender-2", "sender-3"]);
        for route in &built.routes {
            for links in [&route.data, &route.acks] {
                assert_eq!(built.network.links[links[0]].to, built.network.links[links[1]].from);
            }
        }
        // 2 x (5 + 20) us; 1e9 x 50e-6 / 12,112 = 4.1 packets.
        assert_eq!((built.base_rtt, built.bdp_packets), (Time(50_000), Some(4)));
        assert_eq!(built.network.links[0].queue.limit, QueueLimit::Packets(64));
        assert_eq!(built.network.links[2].queue.limit, QueueLimit::Packets(1000));
    }

    #[test]
    fn round_trips_are_met() {
        let own = Endpoints { rtt: Some(Time(61_001)), ..Endpoints::default() };
        let mut incast = incast(&[Endpoints::default(), own]);
        assert_eq!(incast.build().unwrap().base_rtt, Time(61_001));
        incast.bottleneck.delay = LineDelay::BaseRtt(Time(50_001));
        let built = incast.build().unwrap();
        let sum = |route: &Route| {
            route.data.iter().chain(&route.acks).map(|link| built.network.links[*link].delay.0).sum::<u64>()
        };
        assert_eq!(built.routes.iter().map(sum).collect::<Vec<_>>(), [50_001, 61_001]);
        incast.bottleneck.delay = LineDelay::BaseRtt(Time(9_999));
        assert!(incast.build().unwrap_err()[0].to_string().contains("2 x 5 us = 10 us"));
    }
}
