//! Hosts: any number of senders and receivers behind their output links.

use crate::fault::{self, Fault};
use crate::net::Net;
use crate::short_list::ShortList;
use cwnd_tcp::packet::{Emit, Packet, SACK};
use cwnd_tcp::{NEVER, Receiver, Sender};

/// One end of a flow.
pub enum Endpoint {
    /// Sends data.
    Sender(Box<Sender>),
    /// Receives data.
    Receiver(Box<Receiver>),
}

impl Endpoint {
    /// Returns when the next timer expires.
    #[inline(always)]
    pub fn deadline(&self) -> u64 {
        match self {
            Endpoint::Sender(sender) => sender.deadline(),
            Endpoint::Receiver(receiver) => receiver.deadline,
        }
    }

    #[inline(always)]
    fn on_packet(&mut self, now: u64, packet: &Packet, net: &mut Net) {
        match self {
            Endpoint::Sender(sender) if packet.flags & SACK != 0 => {
                let blocks = net.sacks.take(packet.aux);
                sender.on_packet(now, packet, Some(&blocks), net);
            }
            Endpoint::Sender(sender) => sender.on_packet(now, packet, None, net),
            Endpoint::Receiver(receiver) => receiver.on_packet(now, packet, net),
        }
    }

    /// Handles a timer that expires.
    pub fn on_timer(&mut self, now: u64, out: &mut impl Emit) {
        match self {
            Endpoint::Sender(sender) => sender.on_timer(now, out),
            Endpoint::Receiver(receiver) => receiver.on_timer(now, out),
        }
    }
}

/// The input of packets at a host.
#[derive(Clone, Copy, Debug)]
pub struct Inlet {
    /// The ring that the previous stage fills.
    pub ring: u32,
    /// A link that ends here and has only one feeder, and the ring behind it: the host runs that link.
    pub link: Option<(u32, u32)>,
}

impl Inlet {
    /// Returns when the next packet arrives, if before `limit`, else [`NEVER`]. Everything that comes to the inlet's link
    /// before `limit` crosses it.
    fn next_at(&self, net: &mut Net, limit: u64) -> u64 {
        self.cross_link(net, limit);
        net.skip_lost(self.last_ring(), limit);
        let at = net.rings[self.last_ring() as usize].next_at();
        if at < limit { at } else { NEVER }
    }

    /// Lets everything that comes to the inlet's link before `limit` cross it.
    fn cross_link(&self, net: &mut Net, limit: u64) {
        if let Some((link, _)) = self.link {
            while let Some(packet) = net.next_arrival(self.ring, limit) {
                net.cross(link, packet.at, packet);
            }
        }
    }

    /// Returns the ring from which the host takes packets.
    fn last_ring(&self) -> u32 {
        self.link.map_or(self.ring, |(_, after)| after)
    }

    /// Returns a time before which none of the packets in the inlet's rings arrives.
    #[inline]
    fn earliest(&self, net: &Net) -> u64 {
        let after = self.link.map_or(NEVER, |(_, after)| net.rings[after as usize].next_at());
        after.min(net.rings[self.ring as usize].next_at())
    }
}

/// A host. It is a cache line if it has one endpoint and one inlet.
#[repr(align(64))]
pub struct Host {
    /// Endpoints. Of simultaneous timers the first endpoint's comes first.
    pub endpoints: ShortList<Endpoint>,
    /// Inlets. Of simultaneous packets the first inlet's comes first, and packets precede timers.
    pub inlets: ShortList<Inlet>,
    /// The timers of several endpoints.
    timers: Option<Box<Timers>>,
    channel: u32,
}

impl Host {
    /// Creates a host with these endpoints and inlets. `channel` is one that it sends on.
    pub fn new(endpoints: ShortList<Endpoint>, inlets: ShortList<Inlet>, channel: u32) -> Self {
        let several = endpoints.len() > 1;
        let timers = several.then(|| Box::new(Timers::new(endpoints.iter().map(Endpoint::deadline))));
        Host { endpoints, inlets, timers, channel }
    }

    /// Returns a channel that it sends on.
    pub fn channel(&self) -> u32 {
        self.channel
    }

    /// Returns a time before which neither a timer nor a packet in its rings causes an event here.
    #[inline]
    pub fn next_event(&self, net: &Net) -> u64 {
        let timer = match &self.timers {
            Some(timers) => timers.earliest(),
            None => self.endpoints[0].deadline(),
        };
        self.inlets.iter().fold(timer, |least, inlet| least.min(inlet.earliest(net)))
    }

    /// Handles everything before `limit`. `local` gives the endpoint of each channel.
    pub fn run(&mut self, net: &mut Net, local: &[u32], limit: u64) {
        loop {
            let (mut arrival, mut from) = (NEVER, 0);
            for (i, inlet) in self.inlets.iter().enumerate() {
                let at = inlet.next_at(net, limit);
                if at < arrival {
                    (arrival, from) = (at, i);
                }
            }
            let (timer, which) = match &mut self.timers {
                Some(timers) => timers.first(limit, |i| self.endpoints[i].deadline()),
                None => (self.endpoints[0].deadline(), 0),
            };
            if arrival.min(timer) >= limit {
                return;
            }
            let which = if arrival <= timer {
                let packet = net.rings[self.inlets[from].last_ring() as usize].pop();
                let which = local[packet.channel as usize] as usize;
                self.endpoints[which].on_packet(arrival, &packet, net);
                which
            } else {
                self.endpoints[which].on_timer(timer, net);
                which
            };
            self.touch(which);
        }
    }

    /// Lets what reached the inlets' links before `stop` cross them, when all stages have come to `stop`. (The host does
    /// not need it to come there: it reaches no endpoint before `stop`.)
    pub fn settle(&self, net: &mut Net, stop: u64) {
        self.inlets.iter().for_each(|inlet| inlet.cross_link(net, stop));
    }

    /// Notes that an endpoint has changed: its timer may be earlier than known.
    pub fn touch(&mut self, endpoint: usize) {
        if let Some(timers) = &mut self.timers {
            timers.lower(endpoint, self.endpoints[endpoint].deadline());
        }
    }
}

/// Lower bounds of deadlines in a tournament tree. A timer that moves later is updated only when its old time comes,
/// because retransmission timers move with every ACK.
#[derive(Clone, Debug)]
struct Timers {
    /// `bounds[1]` is the least; the leaves are the upper half.
    bounds: Vec<u64>,
    leaves: usize,
}

impl Timers {
    fn new(deadlines: impl ExactSizeIterator<Item = u64>) -> Self {
        let leaves = deadlines.len().next_power_of_two();
        let mut timers = Timers { bounds: vec![NEVER; 2 * leaves], leaves };
        for (i, deadline) in deadlines.enumerate() {
            timers.set(i, deadline);
        }
        timers
    }

    fn earliest(&self) -> u64 {
        self.bounds[1]
    }

    fn set(&mut self, leaf: usize, bound: u64) {
        let mut i = self.leaves + leaf;
        self.bounds[i] = bound;
        while i > 1 {
            i /= 2;
            self.bounds[i] = self.bounds[2 * i].min(self.bounds[2 * i + 1]);
        }
    }

    /// Lowers a bound to the new deadline `at`; a later deadline changes nothing.
    #[inline]
    fn lower(&mut self, leaf: usize, at: u64) {
        if at < self.bounds[self.leaves + leaf] && !fault::is(Fault::TimerNoticedLate) {
            self.set(leaf, at);
        }
    }

    /// Returns the earliest true deadline and its endpoint, if it is before `limit`; of equals the first.
    fn first(&mut self, limit: u64, deadline: impl Fn(usize) -> u64) -> (u64, usize) {
        while self.bounds[1] < limit {
            let least = self.bounds[1];
            let mut i = 1;
            while i < self.leaves {
                i = if self.bounds[2 * i] == least { 2 * i } else { 2 * i + 1 };
            }
            let leaf = i - self.leaves;
            let truth = deadline(leaf);
            if truth == least {
                return (least, leaf);
            }
            self.set(leaf, truth);
        }
        (NEVER, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_find_the_first_of_the_earliest() {
        let mut truth = [50, 20, 20, 70, 10];
        let mut timers = Timers::new(truth.into_iter());
        // The last moves later, the first earlier.
        truth[4] = 90;
        truth[0] = 30;
        timers.lower(0, 30);
        assert_eq!(timers.first(100, |i| truth[i]), (20, 1));
        truth[1] = NEVER;
        assert_eq!(timers.first(100, |i| truth[i]), (20, 2));
        truth[2] = 95;
        assert_eq!(timers.first(100, |i| truth[i]), (30, 0));
        assert_eq!(timers.first(30, |i| truth[i]), (NEVER, 0));
    }
}
