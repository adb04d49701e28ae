//! The endpoints of flows as hosts of a network.

use cwnd_link::{Arrival, Codepoint};
use cwnd_net::{Host, Output};
use cwnd_sim::host::Endpoint;
use cwnd_sim::link::queued::{arrival, codepoint_flags};
use cwnd_tcp::NEVER;
use cwnd_tcp::packet::{CE, Emit, Packet, SackBlocks};

/// A packet with its SACK blocks.
#[derive(Clone, Debug)]
pub struct Segment {
    pub packet: Packet,
    pub blocks: Option<SackBlocks>,
}

impl cwnd_net::Packet for Segment {
    fn arrival(&self) -> Arrival {
        arrival(&self.packet)
    }

    fn mark(&mut self) {
        assert_ne!(self.arrival().ecn, Codepoint::NotEct);
        self.packet.flags |= CE;
    }

    fn set_ecn(&mut self, codepoint: Codepoint) {
        let field = codepoint_flags(Codepoint::Ce) | codepoint_flags(Codepoint::Ect1);
        self.packet.flags = self.packet.flags & !field | codepoint_flags(codepoint);
    }

    fn is_data(&self) -> bool {
        self.packet.is_data()
    }
}

pub struct TcpHost(pub Endpoint);

impl Host<Segment> for TcpHost {
    fn on_packet(&mut self, now: u64, Segment { packet, blocks }: Segment, out: &mut dyn Output<Segment>) {
        match &mut self.0 {
            Endpoint::Sender(sender) => sender.on_packet(now, &packet, blocks.as_ref(), &mut Outlet(out)),
            Endpoint::Receiver(receiver) => receiver.on_packet(now, &packet, &mut Outlet(out)),
        }
    }

    fn on_timer(&mut self, now: u64, out: &mut dyn Output<Segment>) {
        self.0.on_timer(now, &mut Outlet(out));
    }

    fn next_timer(&self) -> Option<u64> {
        Some(self.0.deadline()).filter(|&at| at != NEVER)
    }
}

/// Routes have the numbers of channels.
struct Outlet<'a>(&'a mut dyn Output<Segment>);

impl Emit for Outlet<'_> {
    fn emit(&mut self, _: u64, packet: Packet) -> bool {
        self.0.send(packet.channel as usize, Segment { packet, blocks: None })
    }

    fn emit_sack(&mut self, _: u64, packet: Packet, blocks: &SackBlocks) -> bool {
        self.0.send(packet.channel as usize, Segment { packet, blocks: Some(*blocks) })
    }
}
