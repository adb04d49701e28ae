//! The TCP endpoints of `cwnd-tcp` as hosts.

use cwnd_cc::{EcnMode, Parameters};
use cwnd_link::{Arrival, Codepoint, Counting, LinkSpec, QueueLimit, QueueSpec, Rate, Time};
use cwnd_net::{Driver, Host, Network, Output, Route, Settings};
use cwnd_tcp::packet::{CE, Emit, Packet, SackBlocks};
use cwnd_tcp::{NEVER, Receiver, ReceiverConfig, Sender, SenderConfig, TimerWheel};

#[derive(Clone)]
struct Segment {
    packet: Packet,
    blocks: Option<SackBlocks>,
}

impl cwnd_net::Packet for Segment {
    fn arrival(&self) -> Arrival {
        let Packet { size, channel, .. } = self.packet;
        Arrival { bytes: u32::from(size), flow: channel, ecn: Codepoint::NotEct, plain_ack: false }
    }

    fn mark(&mut self) {
        self.packet.flags |= CE;
    }
}

enum Endpoint {
    Sender(Box<Sender>),
    Receiver(Box<Receiver>),
}

impl Host<Segment> for Endpoint {
    fn on_packet(&mut self, now: u64, Segment { packet, blocks }: Segment, out: &mut dyn Output<Segment>) {
        match self {
            Endpoint::Sender(sender) => sender.on_packet(now, &packet, blocks.as_ref(), &mut Outlet(out)),
            Endpoint::Receiver(receiver) => receiver.on_packet(now, &packet, &mut Outlet(out)),
        }
    }

    fn on_timer(&mut self, now: u64, out: &mut dyn Output<Segment>) {
        match self {
            Endpoint::Sender(sender) => sender.on_timer(now, &mut Outlet(out)),
            Endpoint::Receiver(receiver) => receiver.on_timer(now, &mut Outlet(out)),
        }
    }

    fn next_timer(&self) -> Option<u64> {
        let deadline = match self {
            Endpoint::Sender(sender) => sender.deadline(),
            Endpoint::Receiver(receiver) => receiver.deadline,
        };
        Some(deadline).filter(|&at| at != NEVER)
    }
}

/// Channels are routes: 0 to the receiver, 1 back.
struct Outlet<'a>(&'a mut dyn Output<Segment>);

impl Emit for Outlet<'_> {
    fn emit(&mut self, _: u64, packet: Packet) -> bool {
        self.0.send(packet.channel as usize, Segment { packet, blocks: None })
    }

    fn emit_sack(&mut self, _: u64, packet: Packet, blocks: &SackBlocks) -> bool {
        self.0.send(packet.channel as usize, Segment { packet, blocks: Some(*blocks) })
    }
}

const PACKET: u32 = 1500;
const ACK: u32 = 40;
const SEGMENTS: u64 = 1000;

fn sender() -> Endpoint {
    let algorithm = (cwnd_cc::find("newreno").unwrap().build)(&Parameters::new()).unwrap();
    let config = SenderConfig {
        packet_size: PACKET,
        first_packet_size: PACKET,
        last_packet_size: PACKET,
        segments: SEGMENTS,
        ack_size: ACK,
        ..SenderConfig::default()
    };
    Endpoint::Sender(Box::new(Sender::new(config, algorithm)))
}

fn receiver() -> Endpoint {
    Endpoint::Receiver(Box::new(Receiver::new(ReceiverConfig {
        channel: 1,
        packet_size: PACKET,
        ack_size: ACK,
        sack_sizes: (0, 0),
        sack_blocks: 3,
        sack_memory: 8,
        delayed_ack: None,
        ecn: EcnMode::Off,
        timer: TimerWheel::default(),
        paws: false,
        accurate_ecn: false,
        ecn_capability: cwnd_tcp::accurate_ecn::Capability::default(),
        ecn_option: false,
        data_overhead: 66,
        linux: false,
        growing_window: 0,
        behaviour: cwnd_scenario::ReceiverBehaviour::Honest,
    })))
}

/// Sends a file over 10 Mbit/s and 20 ms each way, and returns the sender and the packets dropped.
fn transfer(limit: QueueLimit) -> (Box<Sender>, u64) {
    let queue = QueueSpec::drop_tail(limit, Counting::WaitingOnly);
    let link = |name, from, to| LinkSpec {
        queue,
        ..LinkSpec::new(name, from, to, Rate(10_000_000), Time::from_millis(20))
    };
    let routes = [(0, 1), (1, 0)].map(|(from, to)| Route { from, to, links: vec![from] });
    let links = [link("data", 0, 1), link("acks", 1, 0)];
    let network = Network::new(&links, routes.to_vec(), &Settings::default()).unwrap();
    let mut driver = Driver::new(network, vec![sender(), receiver()]).unwrap();
    driver.run_until(60_000_000_000);
    assert_eq!(driver.network().packets().count(), 0);
    let dropped = driver.network_mut().counts(0, 0).dropped;
    let Some(Endpoint::Sender(sender)) = driver.into_hosts().into_iter().next() else { unreachable!() };
    (sender, dropped)
}

/// A packet takes 1.2 ms, an ACK 0.032 ms. The window is 10, 20 and 40 packets in the rounds that begin at 0, 41.232 ms and
/// 82.464 ms. From the third round on the link never rests, because ACKs of the first of its 40 packets come after 41.232 ms and
/// the 40 take 48 ms. The ACK of the last packet is back 40.032 ms after that has left.
#[test]
fn a_file_in_slow_start_completes_when_computed_by_hand() {
    let (sender, dropped) = transfer(QueueLimit::Unlimited);
    assert_eq!(dropped, 0);
    assert_eq!(sender.completed, Some(82_464_000 + (SEGMENTS - 30) * 1_200_000 + 40_032_000));
    assert_eq!((sender.counts.sent, sender.counts.retransmissions), (SEGMENTS, 0));
}

/// With SACK every dropped packet is sent again, and no other.
#[test]
fn a_short_queue_drops_and_every_drop_is_repaired() {
    let (sender, dropped) = transfer(QueueLimit::Packets(20));
    let counts = sender.counts;
    assert!(dropped > 0 && sender.completed.is_some(), "{dropped} {counts:?}");
    assert_eq!(counts.sent, SEGMENTS + counts.retransmissions);
    assert_eq!(counts.retransmissions, dropped, "{counts:?}");
}
