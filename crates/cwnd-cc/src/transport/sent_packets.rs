//! Records of packets in flight.

use crate::{LostPacket, Nanos};
use alloc::collections::VecDeque;

/// What the adapter needs to know of a packet when it is acknowledged or lost. A transport keeps it with the packet, or in
/// [`SentPackets`].
#[derive(Clone, Copy, Debug)]
pub struct SentPacket {
    /// How many packets the connection had sent before.
    pub(super) order: u64,
    pub(super) sent: Nanos,
    pub(super) bytes: u32,
    /// Segments in flight when it was sent, itself included.
    pub(super) in_flight: u32,
    /// Counters when it was sent, segments.
    pub(super) delivered: u64,
    pub(super) lost: u64,
    pub(super) marked: u64,
    /// When the last segment before it was delivered.
    pub(super) delivered_at: Nanos,
    /// Begin of the interval in which it was sent.
    pub(super) first_sent: Nanos,
    /// It was sent while the application was limiting.
    pub(super) app_limited: bool,
    /// It counts as in flight since it was sent.
    pub(super) counted: bool,
}

impl SentPacket {
    /// Returns when it was sent.
    pub fn sent(&self) -> Nanos {
        self.sent
    }

    /// Returns its size, bytes.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Returns the report to an algorithm if it is lost at `now`, as the `lost`th segment of the connection.
    pub(super) fn lost_at(&self, now: Nanos, lost: u64) -> LostPacket {
        LostPacket {
            now,
            sent: self.sent,
            tx_in_flight: self.in_flight,
            delivered: self.delivered,
            lost_at_send: self.lost,
            lost,
            app_limited: self.app_limited,
        }
    }
}

/// Packets in flight of a transport that reports packet numbers or send times instead of keeping [`SentPacket`]s.
///
/// Send times must not fall. Packet numbers may repeat, as they do in QUIC's three packet number spaces.
#[derive(Clone, Debug, Default)]
pub struct SentPackets {
    entries: VecDeque<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    packet: SentPacket,
    number: u64,
    in_flight: bool,
}

impl SentPackets {
    /// Adds a packet.
    pub fn insert(&mut self, number: u64, packet: SentPacket) {
        self.entries.push_back(Entry { packet, number, in_flight: true });
    }

    /// Removes and returns the packet that was sent at `sent`: the one with this number, or the oldest of that time if no number is
    /// known.
    pub fn take_sent_at(&mut self, sent: Nanos, number: Option<u64>) -> Option<SentPacket> {
        let first = self.entries.partition_point(|entry| entry.packet.sent < sent);
        let of_that_time = self.entries.range_mut(first..).take_while(|entry| entry.packet.sent == sent);
        take(of_that_time, |entry| number.is_none_or(|number| entry.number == number))
    }

    /// Removes and returns the oldest packet with this number.
    pub fn take_number(&mut self, number: u64) -> Option<SentPacket> {
        take(self.entries.iter_mut(), |entry| entry.number == number)
    }

    /// Removes and returns the oldest packet, if it was sent at `until` or before.
    pub fn take_oldest(&mut self, until: Nanos) -> Option<SentPacket> {
        take(self.entries.iter_mut().take_while(|entry| entry.packet.sent <= until), |_| true)
    }

    /// Forgets packets that were sent before `time`. Some are never acknowledged nor lost, such as those of discarded packet number
    /// spaces. A transport that never calls it keeps them.
    pub fn forget_before(&mut self, time: Nanos) {
        while self.entries.front().is_some_and(|entry| !entry.in_flight || entry.packet.sent < time) {
            self.entries.pop_front();
        }
    }

    /// Forgets all but the newest packets.
    pub fn keep_newest(&mut self, most: usize) {
        self.entries.drain(..self.entries.len().saturating_sub(most));
    }

    /// Returns the number of records kept.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether no record is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

fn take<'a>(
    entries: impl Iterator<Item = &'a mut Entry>,
    is_wanted: impl Fn(&Entry) -> bool,
) -> Option<SentPacket> {
    let mut entries = entries.filter(|entry| entry.in_flight);
    let entry = entries.find(|entry| is_wanted(entry))?;
    entry.in_flight = false;
    Some(entry.packet)
}
