//! Flows that come over a satellite and flows that come over wires, on one wired bottleneck.

use crate::line::problem;
use crate::{Access, Bottleneck, Buffer, BufferContext, Built, Endpoints, LineDelay, Place, Route, Side};
use cwnd_scenario::{Counting, LinkSpec, Loss, Network, Problem, QueueSpec, Rate, Time};

/// The hybrid network of Invs (Wang et al., 2016). Its drawing is lost; this is a reading.
///
/// A `satellite-client` sends over the link `satellite` to a `gateway`, which a wire of 1 ms joins to the `core`. A
/// `wired-client` is joined to the core by the link `wired`. From the core all go over `bottleneck` to the `server`.
/// ACKs come back over the reverse links, those for the satellite's client over `satellite-return`, which has the wires'
/// rate and so no queue. Each client's flows share its host. A reverse flow runs from the server to its client.
#[derive(Clone, Debug, PartialEq)]
pub struct Satellite {
    /// The line between core and server.
    pub bottleneck: Bottleneck,
    /// The link from the satellite's client to the gateway.
    pub satellite: SatelliteLink,
    /// The wires; their delay is that of the wired client's.
    pub access: Access,
    /// The flows; they come over the satellite unless their place is the wires. None may have a round-trip time of its
    /// own.
    pub flows: Vec<Endpoints>,
    /// What the queues' limits count.
    pub counting: Counting,
    /// Wire size of a full packet, bytes.
    pub full_packet: u32,
}

/// The link over the satellite.
#[derive(Clone, Debug, PartialEq)]
pub struct SatelliteLink {
    /// Rate from the client to the gateway.
    pub rate: Rate,
    /// Propagation delay, one way, of both directions.
    pub delay: Time,
    /// What the queue before it holds; a bandwidth-delay product is that of its rate and its flows' round trip.
    pub buffer: Buffer,
    /// What it loses, from the client to the gateway.
    pub loss: Loss,
}

/// Delay of the wire between gateway and core.
const GATEWAY_DELAY: Time = Time::from_millis(1);

const SATELLITE_CLIENT: usize = 0;
const GATEWAY: usize = 1;
const WIRED_CLIENT: usize = 2;
const CORE: usize = 3;
const SERVER: usize = 4;

impl Satellite {
    /// Make the network.
    ///
    /// # Errors
    /// Every field that cannot be met, by its path (`rtt`, `buffer`, `satellite_buffer`, `flows[2].rtt`).
    pub fn build(&self) -> Result<Built, Vec<Problem>> {
        let mut problems = Vec::new();
        let delay = match self.bottleneck.delay {
            LineDelay::OneWay(delay) => delay,
            LineDelay::BaseRtt(_) => {
                let message = "a satellite network has two round trips: say `delay`, `access-delay` and `satellite-delay`";
                return Err(vec![Problem { place: "rtt".to_owned(), message: message.to_owned() }]);
            }
        };
        for (index, _) in self.flows.iter().enumerate().filter(|(_, flow)| flow.rtt.is_some()) {
            let message = "the satellite's flows share one way, and the wired ones another: leave it out";
            problems.push(Problem { place: format!("flows[{index}].rtt"), message: message.to_owned() });
        }
        let twice = |delays: &[Time]| {
            Time(delays.iter().fold(0u64, |sum, delay| sum.saturating_add(delay.0)).saturating_mul(2))
        };
        let over_satellite = twice(&[self.satellite.delay, GATEWAY_DELAY, delay]);
        let over_wires = twice(&[self.access.delay, delay]);
        let forward = |side| {
            let of_side = self.flows.iter().filter(|flow| !flow.reverse && self.side(flow) == side);
            u32::try_from(of_side.count()).unwrap_or(u32::MAX)
        };
        let satellite_flows = forward(Side::Satellite);
        let any = self.flows.iter().any(|flow| self.side(flow) == Side::Satellite);
        let context = BufferContext {
            rate: self.bottleneck.rate,
            base_rtt: if any { over_satellite.max(over_wires) } else { over_wires },
            full_packet: self.full_packet,
            flows: satellite_flows.saturating_add(forward(Side::Wired)),
        };
        let own = BufferContext {
            rate: self.satellite.rate,
            base_rtt: over_satellite,
            flows: satellite_flows,
            ..context
        };
        let satellite_limit = problem("satellite_buffer", self.satellite.buffer.resolve(&own), &mut problems);
        let limit = problem("access_buffer", self.access.buffer.resolve(&context), &mut problems);
        let shared =
            self.bottleneck.links("bottleneck", (CORE, SERVER), (delay, delay), &context, self.counting);
        let shared = match shared {
            Ok(links) => Some(links),
            Err(found) => {
                problems.extend(found);
                None
            }
        };
        let (Some(limit), Some(satellite_limit), Some(shared), true) =
            (limit, satellite_limit, shared, problems.is_empty())
        else {
            return Err(problems);
        };
        let wire =
            |name: &str, ends, delay| self.access.link(name.to_owned(), ends, delay, limit, self.counting);
        let up = LinkSpec {
            queue: QueueSpec::drop_tail(satellite_limit, self.counting),
            loss: self.satellite.loss.clone(),
            ..LinkSpec::new("satellite", SATELLITE_CLIENT, GATEWAY, self.satellite.rate, self.satellite.delay)
        };
        let mut links = Vec::from(shared);
        links.extend([
            up,
            wire("satellite-return", (GATEWAY, SATELLITE_CLIENT), self.satellite.delay),
            wire("gateway", (GATEWAY, CORE), GATEWAY_DELAY),
            wire("gateway-reverse", (CORE, GATEWAY), GATEWAY_DELAY),
            wire("wired", (WIRED_CLIENT, CORE), self.access.delay),
            wire("wired-reverse", (CORE, WIRED_CLIENT), self.access.delay),
        ]);
        let route = |flow: &Endpoints| {
            let (there, back) = match self.side(flow) {
                Side::Satellite => (vec![2, 4, 0], vec![1, 5, 3]),
                Side::Wired => (vec![6, 0], vec![1, 7]),
            };
            let (data, acks) = if flow.reverse { (back, there) } else { (there, back) };
            Route { data, acks }
        };
        let nodes = ["satellite-client", "gateway", "wired-client", "core", "server"];
        Ok(Built {
            network: Network { nodes: nodes.map(str::to_owned).into(), links, bottleneck: 0 },
            routes: self.flows.iter().map(route).collect(),
            base_rtt: context.base_rtt,
            bdp_packets: context.bdp_packets(),
        })
    }

    fn side(&self, flow: &Endpoints) -> Side {
        match flow.place {
            Place::Side(side) => side,
            _ => Side::Satellite,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LineOptions;
    use cwnd_scenario::{Discipline, QueueLimit};

    fn satellite(flows: Vec<Endpoints>) -> Satellite {
        Satellite {
            bottleneck: Bottleneck {
                rate: Rate(100_000_000),
                delay: LineDelay::OneWay(Time::from_millis(20)),
                buffer: Buffer::Bytes(1_250_000),
                ecn_threshold: None,
                forward: LineOptions::default(),
                reverse: LineOptions::default(),
            },
            satellite: SatelliteLink {
                rate: Rate(10_000_000),
                delay: Time::from_millis(250),
                buffer: "1 BDP".parse().unwrap(),
                loss: Loss::Bernoulli(1e-4),
            },
            access: Access {
                rate: Rate(1_000_000_000),
                delay: Time::from_millis(10),
                buffer: 1000.into(),
                queue: Discipline::DropTail,
            },
            flows,
            counting: Counting::WithTransmission,
            full_packet: 1_000,
        }
    }

    const WIRED: Endpoints = Endpoints { rtt: None, reverse: false, place: Place::Side(Side::Wired) };

    #[test]
    fn each_side_has_its_way() {
        let built = satellite(vec![Endpoints::default(), WIRED, Endpoints { reverse: true, ..WIRED }])
            .build()
            .unwrap();
        let names = |links: &[usize]| {
            let links: Vec<&LinkSpec> = links.iter().map(|link| &built.network.links[*link]).collect();
            assert!(links.windows(2).all(|pair| pair[0].to == pair[1].from));
            links.iter().map(|link| link.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&built.routes[0].data), ["satellite", "gateway", "bottleneck"]);
        let back = ["bottleneck-reverse", "gateway-reverse", "satellite-return"];
        assert_eq!(names(&built.routes[0].acks), back);
        assert_eq!(names(&built.routes[1].data), ["wired", "bottleneck"]);
        assert_eq!(names(&built.routes[1].acks), ["bottleneck-reverse", "wired-reverse"]);
        assert_eq!(names(&built.routes[2].data), ["bottleneck-reverse", "wired-reverse"]);
        // 2 x (250 + 1 + 20) ms; 1e7 x 0.542 / 8,000 = 677.5 packets before the satellite, rounded up.
        assert_eq!(built.base_rtt, Time::from_millis(542));
        let link = |name: &str| built.network.links.iter().find(|link| link.name == name).unwrap();
        assert_eq!(link("satellite").queue.limit, QueueLimit::Packets(678));
        assert_eq!(link("satellite").loss, Loss::Bernoulli(1e-4));
        assert_eq!(
            (link("satellite-return").rate, &link("satellite-return").loss),
            (Rate(1_000_000_000), &Loss::None)
        );
        assert_eq!(link("bottleneck").queue.limit, QueueLimit::Bytes(1_250_000));
        assert_eq!(satellite(vec![WIRED]).build().unwrap().base_rtt, Time::from_millis(60));
    }

    #[test]
    fn there_is_no_one_round_trip() {
        let own = Endpoints { rtt: Some(Time::from_millis(5)), ..WIRED };
        let problems = satellite(vec![WIRED, own]).build().unwrap_err();
        assert_eq!(problems[0].place, "flows[1].rtt");
        let mut satellite = satellite(vec![WIRED]);
        satellite.bottleneck.delay = LineDelay::BaseRtt(Time::from_millis(100));
        assert_eq!(satellite.build().unwrap_err()[0].place, "rtt");
    }
}
