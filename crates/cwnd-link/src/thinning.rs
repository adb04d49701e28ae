//! Drop-tail with ACK filtering: a pure ACK replaces an older one of its flow.
//!
//! An ACK tells all that the ones before it told, so a link that is short of room or of air time may keep the last one
//! only (H. Balakrishnan, V. Padmanabhan and R. Katz, "The effects of asymmetry on TCP performance", Mobile Networks
//! and Applications 4(3), 1999, "ACK filtering"; RFC 3449, section 5.2.1). Here the new ACK waits at the tail and the older
//! one is dropped, as long as the ACKs for which one stands are no more than
//! [`Effects::ack_thinning`](cwnd_scenario::Effects); then the new one begins another count. An ACK that would not fit although
//! the older one left is itself dropped, and the older one stays.

#[cfg(test)]
mod tests;

use crate::{Arrival, Departure, Limits, QueueDiscipline};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

#[derive(Clone, Debug)]
pub(crate) struct Thinning<P> {
    /// Number of ACKs that one ACK may replace.
    most: u32,
    /// The waiting packets in a linked list, so that one can be removed from the middle; places are reused.
    places: Vec<Place<P>>,
    free: Vec<u32>,
    first: u32,
    last: u32,
    waiting: usize,
    waiting_bytes: u64,
    /// Each flow's last plain ACK that waits: its place, and for how many ACKs it stands.
    last_acks: HashMap<u32, (u32, u32), BuildHasherDefault<FlowHasher>>,
}

#[derive(Clone, Debug)]
struct Place<P> {
    packet: Option<P>,
    bytes: u32,
    /// The flow whose pure ACK it is; none for other packets.
    ack_of: Option<u32>,
    mark: bool,
    before: u32,
    after: u32,
}

/// No place.
const NONE: u32 = u32::MAX;

impl<P: Copy> Thinning<P> {
    pub fn new(most: u32) -> Thinning<P> {
        Thinning {
            most,
            places: Vec::new(),
            free: Vec::new(),
            first: NONE,
            last: NONE,
            waiting: 0,
            waiting_bytes: 0,
            last_acks: HashMap::default(),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.places.iter().filter_map(|place| place.packet.as_ref())
    }

    /// Adds a packet at the tail. Returns its place.
    fn append(&mut self, held: Place<P>) -> u32 {
        self.waiting += 1;
        self.waiting_bytes += u64::from(held.bytes);
        let held = Place { before: self.last, ..held };
        let place = match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = held;
                place
            }
            None => {
                self.places.push(held);
                self.places.len() as u32 - 1
            }
        };
        match self.places.get_mut(self.last as usize) {
            Some(last) => last.after = place,
            None => self.first = place,
        }
        self.last = place;
        place
    }

    /// Removes a packet from the list.
    fn take(&mut self, place: u32) -> P {
        let &Place { bytes, before, after, .. } = &self.places[place as usize];
        match self.places.get_mut(before as usize) {
            Some(held) => held.after = after,
            None => self.first = after,
        }
        match self.places.get_mut(after as usize) {
            Some(held) => held.before = before,
            None => self.last = before,
        }
        self.free.push(place);
        self.waiting -= 1;
        self.waiting_bytes -= u64::from(bytes);
        self.places[place as usize].packet.take().expect("a linked place holds a packet")
    }
}

impl<P: Copy> QueueDiscipline<P> for Thinning<P> {
    fn enqueue(
        &mut self,
        limits: &Limits,
        _now: u64,
        packet: P,
        about: Arrival,
        transmitting: Option<u32>,
        dropped: &mut Vec<P>,
    ) {
        let Arrival { bytes, flow, ecn, plain_ack } = about;
        let ack_of = plain_ack.then_some(flow);
        let older = ack_of.and_then(|flow| self.last_acks.get(&flow)).copied();
        let older = older.filter(|&(_, stands_for)| stands_for < self.most);
        let (mut waiting, mut waiting_bytes) = (self.waiting as u64, self.waiting_bytes);
        if let Some((place, _)) = older {
            waiting -= 1;
            waiting_bytes -= u64::from(self.places[place as usize].bytes);
        }
        if !limits.admit(waiting, waiting_bytes, transmitting, bytes) {
            dropped.push(packet);
            return;
        }
        if let Some((place, _)) = older {
            dropped.push(self.take(place));
        }
        let mark = ecn.can_be_marked() && limits.mark(waiting, transmitting);
        let place =
            self.append(Place { packet: Some(packet), bytes, ack_of, mark, before: NONE, after: NONE });
        if plain_ack {
            let stands_for = older.map_or(1, |(_, stands_for)| stands_for + 1);
            self.last_acks.insert(flow, (place, stands_for));
        }
    }

    fn dequeue(&mut self, now: u64, _dropped: &mut Vec<P>) -> Option<Departure<P>> {
        self.dequeue_plainly(now)
    }

    fn dequeue_plainly(&mut self, _now: u64) -> Option<Departure<P>> {
        let first = self.first;
        let &Place { bytes, ack_of, mark, .. } = self.places.get(first as usize)?;
        if let Some(flow) = ack_of
            && self.last_acks.get(&flow).is_some_and(|&(place, _)| place == first)
        {
            self.last_acks.remove(&flow);
        }
        Some(Departure { packet: self.take(first), bytes, mark })
    }

    #[inline]
    fn waiting(&self) -> usize {
        self.waiting
    }

    #[inline]
    fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }
}

/// Spreads flow numbers over the table by one multiplication. The map is only ever asked for one flow: its order shows
/// nowhere.
#[derive(Clone, Default)]
struct FlowHasher(u64);

impl Hasher for FlowHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, flow: u32) {
        self.0 = (self.0 ^ u64::from(flow)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
