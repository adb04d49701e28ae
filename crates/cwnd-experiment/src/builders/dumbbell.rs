//! Many hosts on either side of one line.

use super::row::Row;
use crate::{Access, Bottleneck, Built, Endpoints};
use cwnd_scenario::{Counting, Problem};

/// Two routers, `left` and `right`, joined by the line that all flows share; each flow has a sender and a
/// receiver host of its own.
///
/// Flow 1 has the links `access-1` from its sender to the router near it, `access-1-reverse` back, `exit-1`
/// from the far router to its receiver, and `exit-1-reverse` back; and so on for every flow, numbered from 1.
/// A forward flow's sender hangs at the left router, a reverse flow's at the right one. The base round-trip
/// time of a flow is 2 x (access delay + bottleneck delay + access delay).
#[derive(Clone, Debug, PartialEq)]
pub struct Dumbbell {
    /// The line between the routers.
    pub bottleneck: Bottleneck,
    /// The lines of the hosts.
    pub access: Access,
    /// The flows. One with a round-trip time of its own has it through the delays of its own four links.
    pub flows: Vec<Endpoints>,
    /// What the queues' limits count.
    pub counting: Counting,
    /// Wire size of a full packet, bytes.
    pub full_packet: u32,
}

impl Dumbbell {
    /// Make the network.
    ///
    /// # Errors
    /// Every field that cannot be met, by its path (`rtt`, `buffer`, `access_buffer`, `flows[2].rtt`).
    pub fn build(&self) -> Result<Built, Vec<Problem>> {
        let row = Row {
            routers: vec!["left".to_owned(), "right".to_owned()],
            lines: vec!["bottleneck".to_owned()],
            line: &self.bottleneck,
            access: &self.access,
            flows: self.flows.iter().map(|flow| (flow, 0..1)).collect(),
            counting: self.counting,
            full_packet: self.full_packet,
        };
        row.build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, EcnThreshold, LineDelay, LineOptions, Place, Route};
    use cwnd_scenario::{Discipline, LinkSpec, Loss, QueueLimit, Rate, Time};

    fn dumbbell(flows: &[Endpoints]) -> Dumbbell {
        Dumbbell {
            bottleneck: Bottleneck {
                rate: Rate(1_000_000_000),
                delay: LineDelay::OneWay(Time::from_millis(100)),
                buffer: 1000.into(),
                ecn_threshold: Some(EcnThreshold::Packets(20)),
                forward: LineOptions { loss: Some(Loss::Bernoulli(1e-4)), ..LineOptions::default() },
                reverse: LineOptions::default(),
            },
            access: Access {
                rate: Rate(2_000_000_000),
                delay: Time::from_millis(1),
                buffer: 50.into(),
                queue: Discipline::DropTail,
            },
            flows: flows.to_vec(),
            counting: Counting::WaitingOnly,
            full_packet: 1_050,
        }
    }

    const FORWARD: Endpoints = Endpoints { rtt: None, reverse: false, place: Place::Usual };
    const REVERSE: Endpoints = Endpoints { rtt: None, reverse: true, place: Place::Usual };

    fn names(built: &Built, links: &[usize]) -> Vec<String> {
        links.iter().map(|link| built.network.links[*link].name.clone()).collect()
    }

    /// Follow a route from node to node, and give its ends by name.
    #[track_caller]
    fn ends(built: &Built, links: &[usize]) -> (String, String) {
        let links: Vec<&LinkSpec> = links.iter().map(|link| &built.network.links[*link]).collect();
        for pair in links.windows(2) {
            assert_eq!(pair[0].to, pair[1].from, "{} does not lead to {}", pair[0].name, pair[1].name);
        }
        let name = |node: usize| built.network.nodes[node].clone();
        (name(links[0].from), name(links[links.len() - 1].to))
    }

    #[test]
    fn every_flow_has_its_hosts_and_links() {
        let built = dumbbell(&[FORWARD, REVERSE]).build().unwrap();
        assert_eq!(built.network.links.len(), 10);
        assert_eq!(built.network.bottleneck, 0);
        assert_eq!(names(&built, &built.routes[0].data), ["access-1", "bottleneck", "exit-1"]);
        assert_eq!(
            names(&built, &built.routes[0].acks),
            ["exit-1-reverse", "bottleneck-reverse", "access-1-reverse"]
        );
        assert_eq!(names(&built, &built.routes[1].data), ["access-2", "bottleneck-reverse", "exit-2"]);
        assert_eq!(
            names(&built, &built.routes[1].acks),
            ["exit-2-reverse", "bottleneck", "access-2-reverse"]
        );
        assert_eq!(ends(&built, &built.routes[0].data), ("sender-1".to_owned(), "receiver-1".to_owned()));
        assert_eq!(ends(&built, &built.routes[1].data), ("sender-2".to_owned(), "receiver-2".to_owned()));
        assert_eq!(ends(&built, &built.routes[0].acks), ("receiver-1".to_owned(), "sender-1".to_owned()));
        assert_eq!(ends(&built, &built.routes[1].acks), ("receiver-2".to_owned(), "sender-2".to_owned()));
    }

    #[test]
    fn links_have_what_their_kind_has() {
        let built = dumbbell(&[FORWARD]).build().unwrap();
        let [forward, reverse, rest @ ..] = built.network.links.as_slice() else { panic!("six links") };
        assert_eq!((&forward.loss, &reverse.loss), (&Loss::Bernoulli(1e-4), &Loss::None));
        for link in [forward, reverse] {
            assert_eq!(link.queue.limit, QueueLimit::Packets(1000));
            assert_eq!(link.queue.ecn_threshold, Some(20));
            assert_eq!(link.rate, Rate(1_000_000_000));
        }
        for link in rest {
            assert_eq!(link.queue.limit, QueueLimit::Packets(50));
            assert_eq!(link.queue.ecn_threshold, None);
            assert_eq!(
                (link.rate, link.delay, &link.loss),
                (Rate(2_000_000_000), Time::from_millis(1), &Loss::None)
            );
        }
        assert_eq!(built.base_rtt, Time::from_millis(204));
        // 1e9 x 0.204 / 8,400 = 24,285.7.
        assert_eq!(built.bdp_packets, Some(24_286));
    }

    #[test]
    fn a_round_trip_is_met_to_the_nanosecond() {
        for rtt in [4_000_000u64, 4_000_001, 80_000_000, 80_000_003] {
            let mut dumbbell = dumbbell(&[FORWARD]);
            dumbbell.bottleneck.delay = LineDelay::BaseRtt(Time(rtt));
            let built = dumbbell.build().unwrap();
            assert_eq!(built.network.links.iter().map(|link| link.delay.0).sum::<u64>(), rtt);
            assert_eq!(built.base_rtt, Time(rtt));
            assert!(built.network.links[2..].iter().all(|link| link.delay == Time::from_millis(1)));
        }
        let mut dumbbell = dumbbell(&[FORWARD]);
        dumbbell.bottleneck.delay = LineDelay::BaseRtt(Time(3_999_999));
        let problems = dumbbell.build().unwrap_err();
        assert_eq!(problems[0].place, "rtt");
        assert!(problems[0].message.contains("4 x 1 ms = 4 ms"), "{}", problems[0].message);
    }

    #[test]
    fn a_flow_may_have_a_round_trip_of_its_own() {
        for rtt in [200_000_000u64, 200_000_001, 200_000_002, 320_000_003] {
            let own = Endpoints { rtt: Some(Time(rtt)), ..FORWARD };
            let built = dumbbell(&[FORWARD, own]).build().unwrap();
            let delay = |link: &usize| built.network.links[*link].delay.0;
            let sum = |route: &Route| route.data.iter().chain(&route.acks).map(delay).sum::<u64>();
            assert_eq!(sum(&built.routes[0]), 204_000_000);
            assert_eq!(sum(&built.routes[1]), rtt);
            assert_eq!(built.base_rtt, Time(rtt.max(204_000_000)));
        }
        let own = Endpoints { rtt: Some(Time::from_millis(199)), ..FORWARD };
        let problems = dumbbell(&[FORWARD, own]).build().unwrap_err();
        assert_eq!(problems[0].place, "flows[1].rtt");
        assert!(problems[0].message.contains("bottleneck's own, 200 ms"), "{}", problems[0].message);
    }

    #[test]
    fn all_bad_buffers_are_named_at_once() {
        let mut dumbbell = dumbbell(&[FORWARD]);
        dumbbell.bottleneck.buffer = Buffer::Bytes(10);
        dumbbell.access.buffer = Buffer::Bytes(20);
        let places: Vec<String> = dumbbell.build().unwrap_err().into_iter().map(|p| p.place).collect();
        assert_eq!(places, ["access_buffer", "buffer"]);
    }
}
