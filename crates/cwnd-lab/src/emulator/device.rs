//! An end's device. What TCP hands it in one piece is cut to the packets of the network; what comes out together may be joined.

use super::pool::{Frame, Pool};
use super::segments::{self, DESCRIPTION, Description, LONGEST, Segments};
use crate::tun::Tun;
use cwnd_net::Delivery;
use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, RawFd};

/// How long a packet waits for others that can be joined to it after it is due, ns, while the emulator does not sleep. At 10 Gbit/s 41 packets
/// of 1,514 bytes come in this time, and 45 fill the longest packet.
const JOINED_WITHIN: u64 = 50_000;

/// A device of [`Tun::with_offloads`].
pub struct Device {
    tun: Tun,
    /// The packet that was read last, behind its description.
    came: Box<[u8]>,
    /// What it says of that packet, and what is left of it.
    description: Description,
    length: usize,
    left: Option<Segments>,
    /// Packets that are written in one piece.
    outgoing: Vec<Delivery<Frame>>,
    /// Bytes of their data.
    data: usize,
    /// Whether more than one packet is written at a time.
    joins: bool,
    /// Packets that the namespace refused, and why the first was.
    refused: (u64, Option<String>),
}

impl Device {
    /// `joins`: packets that come out together are received as one, as behind a network card that does so (`gro`).
    pub fn new(tun: Tun, joins: bool) -> Device {
        Device {
            tun,
            came: vec![0; DESCRIPTION + LONGEST].into_boxed_slice(),
            description: Description::default(),
            length: 0,
            left: None,
            outgoing: Vec::new(),
            data: 0,
            joins,
            refused: (0, None),
        }
    }

    /// Reads a packet of the network into a frame: its bytes, their length and what its checksum lacks. One that has no room there is
    /// empty. Returns whether there was one.
    ///
    /// # Errors
    /// If the device does not work.
    #[inline]
    pub fn read(&mut self, frame: &mut Frame) -> io::Result<bool> {
        if let Some(left) = &mut self.left {
            let packet = &self.came[DESCRIPTION..DESCRIPTION + self.length];
            match left.next(packet, frame.room()) {
                Some(length) => {
                    frame.meta.length = length as u32;
                    frame.meta.checksum = self.description.checksum;
                    return Ok(true);
                }
                None => self.left = None,
            }
        }
        let Some(length) = self.tun.read(&mut self.came)? else { return Ok(false) };
        let Some((description, packet)) = self.came[..length].split_first_chunk() else {
            frame.meta.length = 0;
            return Ok(true);
        };
        self.description = Description::read(*description);
        self.length = packet.len();
        frame.meta.checksum = self.description.checksum;
        frame.meta.length = 0;
        if self.description.segment.is_some() {
            self.left = Segments::new(packet, &self.description);
            return if self.left.is_some() { self.read(frame) } else { Ok(true) };
        }
        if let Some(room) = frame.room().get_mut(..packet.len()) {
            room.copy_from_slice(packet);
            frame.meta.length = packet.len() as u32;
        }
        Ok(true)
    }

    /// Accepts a packet that is to be written. Returns whether it may wait for others that can be joined to it.
    ///
    /// Call it only if [`Device::can_take`].
    #[inline]
    pub fn take(&mut self, delivery: Delivery<Frame>) -> bool {
        let may_wait = self.joins && (!self.outgoing.is_empty() || segments::can_begin(&delivery.packet));
        self.data += delivery.packet.meta.tcp.map_or(0, |tcp| tcp.payload as usize);
        self.outgoing.push(delivery);
        may_wait
    }

    /// Returns whether this packet can be written in one piece with those that wait, which may be none.
    #[inline]
    pub fn can_take(&self, frame: &Frame) -> bool {
        match self.outgoing.as_slice() {
            [] => true,
            [first, .., last] => segments::can_join(&first.packet, &last.packet, self.data, frame),
            [first] => segments::can_join(&first.packet, &first.packet, self.data, frame),
        }
    }

    /// Returns the packets that wait to be written.
    pub fn outgoing(&self) -> &[Delivery<Frame>] {
        &self.outgoing
    }

    /// Returns when the packets that wait are to be written, ns.
    pub fn deadline(&self) -> Option<u64> {
        self.outgoing.first().map(|first| first.at + JOINED_WITHIN)
    }

    /// Writes the packets that wait. Their memory goes back to `pool`.
    pub fn write(&mut self, pool: &mut Pool) {
        let written = match self.outgoing.as_mut_slice() {
            [] => return,
            [Delivery { packet: frame, .. }] => {
                let description =
                    Description { checksum: frame.meta.checksum, segment: None }.bytes(false, 0);
                self.tun.write(&[IoSlice::new(&description), IoSlice::new(frame.bytes())])
            }
            [first, .., last] => {
                let start = first.packet.meta.checksum.map_or(0, |checksum| usize::from(checksum.start));
                let flags = last.packet.bytes()[start + 13];
                let (description, headers) = segments::join(&mut first.packet, flags, self.data);
                let is_ipv6 = first.packet.bytes()[0] >> 4 == 6;
                let description = description.bytes(is_ipv6, headers);
                // The headers of the first are those of all.
                let packets = self.outgoing.iter().enumerate().map(|(i, delivery)| {
                    let skipped = if i == 0 { 0 } else { headers };
                    IoSlice::new(&delivery.packet.bytes()[skipped..])
                });
                self.tun
                    .write(&std::iter::once(IoSlice::new(&description)).chain(packets).collect::<Vec<_>>())
            }
        };
        if let Err(error) = written {
            self.refused.0 += self.outgoing.len() as u64;
            self.refused.1.get_or_insert_with(|| error.to_string());
        }
        self.data = 0;
        self.outgoing.drain(..).for_each(|delivery| pool.give_back(delivery.packet));
    }

    /// Says whether packets that come out together are joined from now on.
    pub fn set_joins(&mut self, joins: bool) {
        self.joins = joins;
    }

    /// Returns how many packets the namespace refused when they were written, and why it refused the first.
    pub fn refused(&self) -> &(u64, Option<String>) {
        &self.refused
    }
}

impl AsRawFd for Device {
    fn as_raw_fd(&self) -> RawFd {
        self.tun.as_raw_fd()
    }
}
