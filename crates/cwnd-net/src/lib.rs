//! Links joined to a network, between hosts that are any transport's state machines. Event-driven, deterministic, without I/O.
//!
//! - A [`Network`] carries packets over the links of their routes. A link has a policer, a queue of any discipline, a
//!   transmitter whose rate may vary, and a line that delays, loses, reorders and doubles: the state machines of
//!   [`cwnd_link`]. A network has no clock of its own. An emulator sends real packets into it, and
//!   [gets](Network::next_delivery) each when it is due.
//! - A [`Host`] is an endpoint: it handles packets and the expiry of its timer, and sends packets. TCP, QUIC or a test.
//! - A [`DatagramHost`] is a host whose packets have a payload: the interface of QUIC and TCP stacks without I/O. [`Path`] and
//!   [`Dumbbell`] are networks for such hosts.
//! - A [`Driver`] joins hosts to a network and runs both in simulated time.
//! - An [`Observer`] is notified of packets that are queued, sent, dropped, lost or copied.
//!
//! A test of a transport takes microseconds of real time for each simulated second of an idle path, and its result is the same
//! to the nanosecond on every machine.
//!
//! # Example
//!
//! A host sends five packets of 1,250 bytes at once, over a bottleneck of 10 Mbit/s and 20 ms whose queue holds three. Each takes
//! 1 ms of transmission. The fifth finds three packets waiting behind the one in transmission, and is dropped.
//!
//! ```
//! use cwnd_net::{Arrival, Codepoint, Driver, Host, Network, Output, Packet, Route, Settings};
//! use cwnd_net::{Counting, LinkSpec, QueueLimit, QueueSpec, Rate, Time};
//!
//! #[derive(Clone)]
//! struct Datagram {
//!     number: u32,
//!     bytes: u32,
//! }
//!
//! impl Packet for Datagram {
//!     fn arrival(&self) -> Arrival {
//!         Arrival { bytes: self.bytes, flow: 0, ecn: Codepoint::NotEct, plain_ack: false }
//!     }
//!     fn mark(&mut self) {}
//! }
//!
//! /// Sends packets when its timer expires, and notes those that it gets.
//! #[derive(Default)]
//! struct Burst {
//!     packets: u32,
//!     start: Option<u64>,
//!     received: Vec<(u64, u32)>,
//! }
//!
//! impl Host<Datagram> for Burst {
//!     fn on_packet(&mut self, now: u64, packet: Datagram, _: &mut dyn Output<Datagram>) {
//!         self.received.push((now, packet.number));
//!     }
//!     fn on_timer(&mut self, _: u64, out: &mut dyn Output<Datagram>) {
//!         self.start = None;
//!         (0..self.packets).for_each(|number| {
//!             out.send(0, Datagram { number, bytes: 1250 });
//!         });
//!     }
//!     fn next_timer(&self) -> Option<u64> {
//!         self.start
//!     }
//! }
//!
//! // One link, from node 0 to node 1.
//! let link = LinkSpec {
//!     queue: QueueSpec::drop_tail(QueueLimit::Packets(3), Counting::WaitingOnly),
//!     ..LinkSpec::new("bottleneck", 0, 1, Rate(10_000_000), Time::from_millis(20))
//! };
//! // Route 0: from host 0 to host 1.
//! let routes = vec![Route { from: 0, to: 1, links: vec![0] }];
//! let network = Network::new(&[link], routes, &Settings::default())?;
//! let sender = Burst { packets: 5, start: Some(1_000_000), ..Burst::default() };
//! let mut driver = Driver::new(network, vec![sender, Burst::default()])?;
//! driver.run_until(1_000_000_000);
//!
//! let ms = 1_000_000;
//! assert_eq!(driver.hosts()[1].received, [(22 * ms, 0), (23 * ms, 1), (24 * ms, 2), (25 * ms, 3)]);
//! assert_eq!(driver.network_mut().counts(0, 1_000_000_000).dropped, 1);
//! # Ok::<(), cwnd_net::NetworkError>(())
//! ```
//!
//! # Simultaneous events
//!
//! Events of the same time happen in this order. It depends on the network alone, never on the order of a heap.
//!
//! 1. Transmissions that end. A packet that leaves a link at `t` is gone for an arrival at `t`; but where the queue's limit counts
//!    the packet in transmission, it still counts for that, and the transmitter takes the next packet after all arrivals.
//! 2. Nodes and links, each after all from which a packet can come to it in no time. Of those that may come next, nodes come
//!    first, then links, by number.
//!    - At a node, arrivals come first, by the number of the last link that they crossed; then the timers, by the number of the
//!      host.
//!    - At a link, arrivals come by their source: nodes by number, then links by number. With [`Settings::ties_by_turn`] the
//!      arrival comes first whose source had its turn longest ago.
//! 3. Events that are equal in all this happen in the order in which they were scheduled.
//!
//! A network whose hosts could exchange packets in no time is refused: there is no such order.
#![forbid(unsafe_code)]

mod agenda;
mod datagram;
mod driver;
mod fixtures;
mod link;
mod network;
mod slab;

pub use cwnd_link::{
    Arrival, ChangeError, Codepoint, Counting, Effects, Jitter, JitterShape, LinkSpec, Loss, QueueLimit,
    QueueSpec, Rate, Schedule, Time,
};
pub use datagram::{Datagram, DatagramHost, Endpoint};
pub use driver::{Driver, Host, Output};
pub use fixtures::{Dumbbell, Path};
pub use link::{Found, LinkCounts};
pub use network::{Carried, Delivery, Network, Observer, Packet, Place};

use std::fmt;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The number of a node, where links begin and end.
pub type NodeId = usize;
/// The number of a link.
pub type LinkId = usize;
/// The number of a route.
pub type RouteId = usize;

/// The way of packets from one host to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The number of the host that sends.
    pub from: usize,
    /// The number of the host that receives.
    pub to: usize,
    /// The links, each beginning at the node where the one before it ends. At least one.
    pub links: Vec<LinkId>,
}

/// What a network is made with, apart from links and routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The seed of losses, jitter and of queues that drop at random. Every link has streams of its own.
    pub seed: u64,
    /// When schedules begin, ns.
    pub origin: u64,
    /// Wire bytes of a full packet, for queue disciplines that depend on it.
    pub full_packet: u32,
    /// Whether of simultaneous arrivals at a link the one comes first whose source had its turn longest ago, as in ns-2, and not
    /// the one whose source has the lowest number.
    pub ties_by_turn: bool,
}

impl Default for Settings {
    /// Seed 1, time zero, 1,500 bytes, ties by number.
    fn default() -> Settings {
        Settings { seed: 1, origin: 0, full_packet: 1500, ties_by_turn: false }
    }
}

/// Why a network or a change of it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkError {
    /// This route has no links, or they do not exist, or one does not begin where the one before it ends.
    Route(RouteId),
    /// There is no host of this number, or no route, or its routes do not begin and end at one node.
    Host(usize),
    /// Packets could go round in a circle in no time.
    InstantCircle,
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkError::Route(route) => write!(f, "the links of route {route} are not joined"),
            NetworkError::Host(host) => {
                write!(f, "host {host} does not exist, or its routes do not begin and end at one node")
            }
            NetworkError::InstantCircle => f.write_str(
                "packets could go round in a circle in no time; give one of the links a delay or a rate",
            ),
        }
    }
}

impl std::error::Error for NetworkError {}
