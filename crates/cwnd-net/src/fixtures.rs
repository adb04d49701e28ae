//! The networks that most tests of a transport need: a path, and a dumbbell.

use crate::datagram::{Datagram, DatagramHost, Endpoint};
use crate::{Counting, Driver, Effects, Jitter, JitterShape, LinkId, LinkSpec, Loss, Network};
use crate::{NetworkError, NodeId, QueueLimit, QueueSpec, Rate, Route, Settings, Time};

/// A bottleneck in both directions. Link 0 carries packets from host 0 to host 1, link 1 those in the other direction.
///
/// Losses and jitter are those of link 0. Both links have the same rate and queue, and each has half of the RTT.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    rate: Rate,
    rtt: Time,
    queue: QueueSpec,
    loss: Loss,
    jitter: Option<Jitter>,
    seed: u64,
    headers: u32,
}

impl Path {
    /// Creates a path of this rate and of this round-trip propagation delay. Its queues are unlimited, it loses nothing, its
    /// seed is 1, and a datagram has 28 bytes of headers (IPv4 and UDP).
    pub fn new(rate: Rate, rtt: Time) -> Path {
        let queue = QueueSpec::drop_tail(QueueLimit::Unlimited, Counting::WaitingOnly);
        Path { rate, rtt, queue, loss: Loss::None, jitter: None, seed: 1, headers: 28 }
    }

    /// Limits both queues to this number of waiting packets, drop-tail.
    pub fn buffer(self, packets: u32) -> Path {
        self.queue(QueueSpec::drop_tail(QueueLimit::Packets(packets), Counting::WaitingOnly))
    }

    /// Sets the discipline of both queues.
    pub fn queue(self, queue: QueueSpec) -> Path {
        Path { queue, ..self }
    }

    /// Loses each packet from host 0 to host 1 with this probability. Out of 0 to 1, it is the nearest of them.
    pub fn loss(self, probability: f64) -> Path {
        self.losses(Loss::Bernoulli(probability.clamp(0.0, 1.0)))
    }

    /// Sets which packets from host 0 to host 1 are lost.
    pub fn losses(self, loss: Loss) -> Path {
        Path { loss, ..self }
    }

    /// Delays each packet from host 0 to host 1 by up to this time more, uniformly. Packets stay in order.
    pub fn jitter(self, most: Time) -> Path {
        Path { jitter: Some(Jitter { shape: JitterShape::Uniform(most), reorders: false }), ..self }
    }

    /// Sets the seed of losses and jitter.
    pub fn seed(self, seed: u64) -> Path {
        Path { seed, ..self }
    }

    /// Sets the bytes of headers below each payload: 0 for a stack whose datagrams are IP packets.
    pub fn headers(self, bytes: u32) -> Path {
        Path { headers: bytes, ..self }
    }

    /// Joins two transports: the first is host 0, the second host 1.
    ///
    /// # Errors
    /// Packets could go round in no time: rate and RTT have no limit.
    pub fn connect<H: DatagramHost>(
        &self,
        first: H,
        second: H,
    ) -> Result<Driver<Datagram, Endpoint<H>>, NetworkError> {
        let (there, back) = (self.forward(0, 1), self.backward(1, 0));
        let routes = [(0, 1), (1, 0)].map(|(from, to)| Route { from, to, links: vec![from] });
        let network = Network::new(&[there, back], routes.to_vec(), &self.settings())?;
        Driver::with_datagrams(network, [first, second], self.headers)
    }

    fn forward(&self, from: NodeId, to: NodeId) -> LinkSpec {
        let effects = Effects { jitter: self.jitter, ..Effects::default() };
        LinkSpec { loss: self.loss.clone(), effects, ..self.link("forward", from, to) }
    }

    fn backward(&self, from: NodeId, to: NodeId) -> LinkSpec {
        // The half that is longer by a nanosecond, if the RTT is odd.
        let delay = Time(self.rtt.0 - self.rtt.0 / 2);
        LinkSpec { delay, ..self.link("backward", from, to) }
    }

    fn link(&self, name: &str, from: NodeId, to: NodeId) -> LinkSpec {
        let queue = self.queue;
        LinkSpec { queue, ..LinkSpec::new(name, from, to, self.rate, Time(self.rtt.0 / 2)) }
    }

    fn settings(&self) -> Settings {
        Settings { seed: self.seed, ..Settings::default() }
    }
}

/// Pairs of hosts that share one bottleneck. Pair p is host 2p, on the left, and host 2p + 1, on the right.
///
/// Link 0 is the bottleneck from left to right, link 1 the one back. Each host has an access link in each direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Dumbbell {
    bottleneck: Path,
    access_rate: Rate,
    access_rtts: Vec<Time>,
}

impl Dumbbell {
    /// Creates a dumbbell around this bottleneck, without pairs. Access links have no queue limit, and ten times the
    /// bottleneck's rate.
    pub fn new(bottleneck: Path) -> Dumbbell {
        let access_rate = Rate(bottleneck.rate.0.saturating_mul(10));
        Dumbbell { bottleneck, access_rate, access_rtts: Vec::new() }
    }

    /// Adds a pair. Its access links add `rtt` to the bottleneck's.
    pub fn pair(mut self, rtt: Time) -> Dumbbell {
        self.access_rtts.push(rtt);
        self
    }

    /// Sets the rate of all access links.
    pub fn access_rate(self, rate: Rate) -> Dumbbell {
        Dumbbell { access_rate: rate, ..self }
    }

    /// Joins transports: two for each pair, in the order of their numbers.
    ///
    /// # Errors
    /// There is no transport for a host, or no pair for a transport; or packets could go round in no time.
    pub fn connect<H: DatagramHost>(
        &self,
        hosts: impl IntoIterator<Item = H>,
    ) -> Result<Driver<Datagram, Endpoint<H>>, NetworkError> {
        const LEFT: NodeId = 0;
        const RIGHT: NodeId = 1;
        let mut links = vec![self.bottleneck.forward(LEFT, RIGHT), self.bottleneck.backward(RIGHT, LEFT)];
        let mut routes = Vec::new();
        for (pair, rtt) in self.access_rtts.iter().enumerate() {
            let (first, second) = (2 * pair, 2 * pair + 1);
            let (a, b) = (first + 2, second + 2);
            let delay = Time(rtt.0 / 4);
            let mut access = |name: &str, from, to| -> LinkId {
                links.push(LinkSpec::new(name, from, to, self.access_rate, delay));
                links.len() - 1
            };
            let there = vec![access("in", a, LEFT), 0, access("out", RIGHT, b)];
            let back = vec![access("back in", b, RIGHT), 1, access("back out", LEFT, a)];
            routes.push(Route { from: first, to: second, links: there });
            routes.push(Route { from: second, to: first, links: back });
        }
        let network = Network::new(&links, routes, &self.bottleneck.settings())?;
        Driver::with_datagrams(network, hosts, self.bottleneck.headers)
    }
}
