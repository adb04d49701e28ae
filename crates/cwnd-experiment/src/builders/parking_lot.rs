//! Bottlenecks in a row.

use super::row::Row;
use crate::{Access, Bottleneck, Built, Endpoints, Place};
use cwnd_scenario::{Counting, Problem};

/// Routers `router-0`, `router-1` and so on, joined by equal lines `hop-1`, `hop-2` and so on; each flow has a sender
/// and a receiver host of its own.
///
/// A flow crosses all lines, unless its place is one hop. Links of the hosts are called and numbered as in a
/// [`Dumbbell`](super::Dumbbell). The network's bottleneck is `hop-1`; all hops are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct ParkingLot {
    /// What each hop is. Its delay is each hop's own, or what all of them together leave of the base round-trip time.
    pub bottleneck: Bottleneck,
    /// How many there are, 1 to 100.
    pub hops: u32,
    /// The lines of the hosts.
    pub access: Access,
    /// The flows. One with a round-trip time of its own has it through the delays of its own four links.
    pub flows: Vec<Endpoints>,
    /// What the queues' limits count.
    pub counting: Counting,
    /// Wire size of a full packet, bytes.
    pub full_packet: u32,
}

impl ParkingLot {
    /// The most hops.
    pub const MOST: u32 = 100;

    /// Make the network.
    ///
    /// # Errors
    /// Every field that cannot be met, by its path (`hops`, `rtt`, `buffer`, `flows[2].hop`).
    pub fn build(&self) -> Result<Built, Vec<Problem>> {
        if !(1..=ParkingLot::MOST).contains(&self.hops) {
            let message = format!("{} hops are none: there are 1 to {}", self.hops, ParkingLot::MOST);
            return Err(vec![Problem { place: "hops".to_owned(), message }]);
        }
        let hops = self.hops as usize;
        let mut problems = Vec::new();
        let mut flows = Vec::with_capacity(self.flows.len());
        for (index, flow) in self.flows.iter().enumerate() {
            match flow.place {
                Place::Hop(hop) if (1..=self.hops).contains(&hop) => {
                    flows.push((flow, hop as usize - 1..hop as usize));
                }
                Place::Hop(hop) => problems.push(Problem {
                    place: format!("flows[{index}].hop"),
                    message: format!("there is no hop {hop}: there are 1 to {hops}"),
                }),
                _ => flows.push((flow, 0..hops)),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let row = Row {
            routers: (0..=hops).map(|router| format!("router-{router}")).collect(),
            lines: (1..=hops).map(|hop| format!("hop-{hop}")).collect(),
            line: &self.bottleneck,
            access: &self.access,
            flows,
            counting: self.counting,
            full_packet: self.full_packet,
        };
        row.build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LineDelay, LineOptions, Route};
    use cwnd_scenario::{Discipline, Rate, Time};

    fn parking_lot(flows: &[Place]) -> ParkingLot {
        ParkingLot {
            bottleneck: Bottleneck {
                rate: Rate(100_000_000),
                delay: LineDelay::OneWay(Time::from_millis(10)),
                buffer: "1 BDP".parse().unwrap(),
                ecn_threshold: None,
                forward: LineOptions::default(),
                reverse: LineOptions::default(),
            },
            hops: 3,
            access: Access {
                rate: Rate(1_000_000_000),
                delay: Time::from_millis(1),
                buffer: 50.into(),
                queue: Discipline::DropTail,
            },
            flows: flows
                .iter()
                .map(|place| Endpoints { place: place.clone(), ..Endpoints::default() })
                .collect(),
            counting: Counting::WaitingOnly,
            full_packet: 1_250,
        }
    }

    fn names(built: &Built, links: &[usize]) -> Vec<String> {
        links.iter().map(|link| built.network.links[*link].name.clone()).collect()
    }

    #[test]
    fn flows_cross_all_hops_or_one() {
        let built = parking_lot(&[Place::Usual, Place::Hop(2)]).build().unwrap();
        let Route { data, acks } = &built.routes[0];
        assert_eq!(names(&built, data), ["access-1", "hop-1", "hop-2", "hop-3", "exit-1"]);
        let back = ["exit-1-reverse", "hop-3-reverse", "hop-2-reverse", "hop-1-reverse", "access-1-reverse"];
        assert_eq!(names(&built, acks), back);
        let Route { data, acks } = &built.routes[1];
        assert_eq!(names(&built, data), ["access-2", "hop-2", "exit-2"]);
        assert_eq!(names(&built, acks), ["exit-2-reverse", "hop-2-reverse", "access-2-reverse"]);
        for route in &built.routes {
            for links in [&route.data, &route.acks] {
                let specs: Vec<_> = links.iter().map(|link| &built.network.links[*link]).collect();
                assert!(specs.windows(2).all(|pair| pair[0].to == pair[1].from));
            }
        }
        // 2 x (1 + 3 x 10 + 1) ms; 1e8 x 0.064 / 10,000 = 640 packets.
        assert_eq!(built.base_rtt, Time::from_millis(64));
        assert_eq!(built.bdp_packets, Some(640));
        assert_eq!(built.network.nodes[..4], ["router-0", "router-1", "router-2", "router-3"]);
        assert_eq!(built.network.links[built.network.bottleneck].name, "hop-1");
    }

    #[test]
    fn a_base_round_trip_is_that_of_the_whole_row() {
        let mut lot = parking_lot(&[Place::Usual]);
        lot.bottleneck.delay = LineDelay::BaseRtt(Time(64_000_005));
        let built = lot.build().unwrap();
        assert_eq!(built.base_rtt, Time(64_000_005));
        // 60,000,005 ns over six links: 10,000,000 each, and one more for the first five.
        let delays: Vec<u64> =
            built.network.links[..6].iter().map(|link| link.delay.0 - 10_000_000).collect();
        assert_eq!(delays, [1, 1, 1, 1, 1, 0]);
    }

    #[test]
    fn a_hop_that_is_not_there_is_named() {
        let problems = parking_lot(&[Place::Usual, Place::Hop(4)]).build().unwrap_err();
        assert_eq!(problems[0].to_string(), "flows[1].hop: there is no hop 4: there are 1 to 3");
        let problems = ParkingLot { hops: 0, ..parking_lot(&[Place::Usual]) }.build().unwrap_err();
        assert_eq!(problems[0].to_string(), "hops: 0 hops are none: there are 1 to 100");
    }
}
