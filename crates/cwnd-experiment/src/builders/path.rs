//! One line between two hosts.

use crate::line::{forward_flows, halves};
use crate::{Bottleneck, BufferContext, Built, Endpoints, LineDelay, Route};
use cwnd_scenario::{Counting, Network, Problem, Time};

/// Two hosts, `left` and `right`, joined by one line.
///
/// All forward flows go from left to right and share the left host, where they queue for the link
/// `bottleneck`; reverse flows go from right to left over `bottleneck-reverse`.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The line.
    pub bottleneck: Bottleneck,
    /// The flows. None may have a round-trip time of its own.
    pub flows: Vec<Endpoints>,
    /// What the queues' limits count.
    pub counting: Counting,
    /// Wire size of a full packet, bytes.
    pub full_packet: u32,
}

impl Path {
    /// Make the network.
    ///
    /// # Errors
    /// Every field that cannot be met, by its path (`buffer`, `flows[2].rtt`).
    pub fn build(&self) -> Result<Built, Vec<Problem>> {
        let delays = match self.bottleneck.delay {
            LineDelay::OneWay(delay) => (delay, delay),
            LineDelay::BaseRtt(rtt) => halves(rtt),
        };
        let base_rtt = Time(delays.0.0.saturating_add(delays.1.0));
        let own =
            self.flows.iter().enumerate().filter(|(_, flow)| flow.rtt.is_some_and(|rtt| rtt != base_rtt));
        let problems: Vec<Problem> = own
            .map(|(index, _)| Problem {
                place: format!("flows[{index}].rtt"),
                message: format!(
                    "on a path all flows share one line of {base_rtt}: leave it out, or take a dumbbell"
                ),
            })
            .collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        let context = BufferContext {
            rate: self.bottleneck.rate,
            base_rtt,
            full_packet: self.full_packet,
            flows: forward_flows(&self.flows),
        };
        let links = self.bottleneck.links("bottleneck", (0, 1), delays, &context, self.counting)?;
        let route = |flow: &Endpoints| {
            let (data, acks) = if flow.reverse { (1, 0) } else { (0, 1) };
            Route { data: vec![data], acks: vec![acks] }
        };
        Ok(Built {
            network: Network {
                nodes: vec!["left".to_owned(), "right".to_owned()],
                links: links.into(),
                bottleneck: 0,
            },
            routes: self.flows.iter().map(route).collect(),
            base_rtt,
            bdp_packets: context.bdp_packets(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LineOptions;
    use cwnd_scenario::{Loss, QueueLimit, Rate};

    fn path(delay: LineDelay) -> Path {
        Path {
            bottleneck: Bottleneck {
                rate: Rate(1_000_000_000),
                delay,
                buffer: 7.into(),
                ecn_threshold: None,
                forward: LineOptions { loss: Some(Loss::Bernoulli(0.25)), ..LineOptions::default() },
                reverse: LineOptions::default(),
            },
            flows: vec![Endpoints::default(), Endpoints { reverse: true, ..Endpoints::default() }],
            counting: Counting::WithTransmission,
            full_packet: 1_050,
        }
    }

    #[test]
    fn flows_share_one_line() {
        let built = path(LineDelay::OneWay(Time::from_millis(50))).build().unwrap();
        let [forward, reverse] = built.network.links.as_slice() else { panic!("two links") };
        assert_eq!((forward.name.as_str(), forward.from, forward.to), ("bottleneck", 0, 1));
        assert_eq!((reverse.name.as_str(), reverse.from, reverse.to), ("bottleneck-reverse", 1, 0));
        assert_eq!((&forward.loss, &reverse.loss), (&Loss::Bernoulli(0.25), &Loss::None));
        assert_eq!(reverse.queue.limit, QueueLimit::Packets(7));
        assert_eq!(built.routes[0], Route { data: vec![0], acks: vec![1] });
        assert_eq!(built.routes[1], Route { data: vec![1], acks: vec![0] });
        assert_eq!(built.base_rtt, Time::from_millis(100));
        // 1e9 x 0.1 / 8,400 = 11,904.8.
        assert_eq!(built.bdp_packets, Some(11_905));
    }

    #[test]
    fn an_odd_round_trip_is_met_to_the_nanosecond() {
        let built = path(LineDelay::BaseRtt(Time(101))).build().unwrap();
        let delays: Vec<u64> = built.network.links.iter().map(|link| link.delay.0).collect();
        assert_eq!(delays, [51, 50]);
        assert_eq!(built.base_rtt, Time(101));
    }

    #[test]
    fn a_flow_has_no_round_trip_of_its_own() {
        let mut path = path(LineDelay::OneWay(Time::from_millis(50)));
        path.flows[1].rtt = Some(Time::from_millis(100));
        assert!(path.build().is_ok());
        path.flows[1].rtt = Some(Time::from_millis(30));
        let problems = path.build().unwrap_err();
        assert_eq!(problems[0].place, "flows[1].rtt");
    }
}
