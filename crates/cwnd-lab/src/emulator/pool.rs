//! Frames, and the memory that they are kept in.

use super::packet::{self, Tcp};
use super::segments::PartialChecksum;
use crate::ends::ETHERNET;
use cwnd_link::{Arrival, Codepoint};

/// A packet of a real host.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The packet, and room behind it.
    room: Box<[u8]>,
    /// What is known of it.
    pub meta: Meta,
}

/// What is known of a packet beside its bytes, so that these need not be read again.
#[derive(Clone, Copy, Debug)]
pub struct Meta {
    /// Bytes of the packet.
    pub length: u32,
    /// Its flow, and the direction in which it goes; see [`super::Way`].
    pub way: u32,
    /// It carries data of a flow.
    pub data: bool,
    /// Its ECN field.
    pub ecn: Codepoint,
    /// What TCP says, if it is TCP.
    pub tcp: Option<Tcp>,
    /// The checksum that its host left to the network card, if it did.
    pub checksum: Option<PartialChecksum>,
    /// The data's place in the flow, in bytes from its beginning.
    pub offset: u64,
    /// Where it stands among what the bottleneck sent, if it came through there.
    pub sent: Option<Sent>,
}

impl Default for Meta {
    fn default() -> Meta {
        let ecn = Codepoint::NotEct;
        Meta { length: 0, way: 0, data: false, ecn, tcp: None, checksum: None, offset: 0, sent: None }
    }
}

/// A packet's place among what a link sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When it left, ns.
    pub at: u64,
    /// Wire bytes that the link had sent by then.
    pub bytes: u64,
    /// How many packets had found the link idle by then.
    pub busy_periods: u64,
}

impl Frame {
    /// Returns the packet.
    pub fn bytes(&self) -> &[u8] {
        &self.room[..self.meta.length as usize]
    }

    /// Returns the packet, to change it.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.room[..self.meta.length as usize]
    }

    /// Returns all of the room for a packet.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.room
    }
}

impl cwnd_net::Packet for Frame {
    fn arrival(&self) -> Arrival {
        let Meta { length, way, ecn, tcp, .. } = self.meta;
        let plain_ack = tcp.is_some_and(|tcp| tcp.plain_ack);
        Arrival { bytes: length + ETHERNET, flow: way, ecn, plain_ack }
    }

    fn mark(&mut self) {
        self.meta.ecn = Codepoint::Ce;
        packet::mark(self.bytes_mut());
    }

    fn set_ecn(&mut self, codepoint: Codepoint) {
        if codepoint != self.meta.ecn {
            self.meta.ecn = codepoint;
            packet::set_ecn(self.bytes_mut(), codepoint);
        }
    }

    fn is_data(&self) -> bool {
        self.meta.data
    }
}

/// Memory for packets of at most one size, which is used again.
pub struct Pool {
    size: usize,
    free: Vec<Box<[u8]>>,
}

impl Pool {
    /// Creates memory for `packets` packets of at most `size` bytes. More is allocated when it is needed, which takes time.
    pub fn new(size: usize, packets: usize) -> Pool {
        Pool { size, free: (0..packets).map(|_| allocate(size)).collect() }
    }

    /// Returns a frame. Its room holds the bytes of whatever was there.
    pub fn take(&mut self) -> Frame {
        let room = self.free.pop().unwrap_or_else(|| allocate(self.size));
        Frame { room, meta: Meta::default() }
    }

    /// Takes the memory of a packet that has left.
    pub fn give_back(&mut self, frame: Frame) {
        self.free.push(frame.room);
    }

    /// Returns for how many packets there is memory.
    #[cfg(test)]
    pub fn free(&self) -> usize {
        self.free.len()
    }
}

/// Allocates memory and writes to each page of it, so that the kernel provides it now.
fn allocate(size: usize) -> Box<[u8]> {
    const PAGE: usize = 4096;
    let mut room = vec![0; size].into_boxed_slice();
    room.iter_mut().step_by(PAGE).for_each(|byte| *std::hint::black_box(byte) = 1);
    room
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again() {
        let mut pool = Pool::new(100, 2);
        let mut frames: Vec<Frame> = (0..5).map(|_| pool.take()).collect();
        assert_eq!(pool.free(), 0);
        for (i, frame) in frames.iter_mut().enumerate() {
            frame.room()[..4].fill(i as u8);
            frame.meta.length = 4;
        }
        assert!(frames.iter().enumerate().all(|(i, frame)| frame.bytes() == [i as u8; 4]));
        frames.into_iter().for_each(|frame| pool.give_back(frame));
        assert_eq!(pool.free(), 5);
        assert_eq!(pool.take().room().len(), 100);
    }
}
