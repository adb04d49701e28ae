//! What becomes of each flow's packets, as the network sees it.

use super::net::Way;
use super::packet;
use super::pool::{Frame, Meta};
use super::ranges::Ranges;
use cwnd_link::Codepoint;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// What was counted of a flow. All but extremes and times are counts since the beginning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowCounts {
    /// Data packets that entered.
    pub packets_sent: u64,
    /// Of these, those that brought nothing new.
    pub retransmissions: u64,
    /// Data packets that came out and brought something new.
    pub packets_received: u64,
    /// Data packets that came out and brought nothing new.
    pub duplicates: u64,
    /// Wire bytes of `packets_received`.
    pub wire_bytes_received: u64,
    /// Bytes that came out without a gap.
    pub bytes_in_order: u64,
    /// Data packets dropped by queues.
    pub packets_dropped: u64,
    /// Data packets lost on lines.
    pub packets_lost: u64,
    /// Copies of data packets that lines made.
    pub packets_copied: u64,
    /// Data packets that came out with a mark.
    pub packets_marked: u64,
    /// Packets that came back to the sender and acknowledged.
    pub acks_received: u64,
    /// Round-trip times that were measured: from a data packet's entering to the coming out of the ACK that acknowledges it
    /// first, also selectively, unless it was sent again before. There is one for each such ACK.
    pub rtt_samples: u64,
    /// Their sum, ns.
    pub rtt_sum: u128,
    /// The least, ns.
    pub rtt_min: Option<u64>,
    /// The greatest, ns.
    pub rtt_max: Option<u64>,
    /// When all bytes were acknowledged that it was to send.
    pub completed: Option<u64>,
}

/// The accounts of all flows.
pub struct Accounts {
    flows: Vec<Account>,
    overhead: u32,
}

struct Account {
    counts: FlowCounts,
    /// How many bytes it is to send, if that has an end.
    bytes: Option<u64>,
    /// The sequence number of its first byte, once it is known.
    first: Option<u32>,
    /// The next byte to enter for the first time.
    next: u64,
    acknowledged: u64,
    /// What came out.
    received: Ranges,
    /// What has been acknowledged beyond a gap.
    selectively_acknowledged: Ranges,
    /// Packets whose acknowledgement is awaited, for round-trip times.
    awaited: VecDeque<Awaited>,
}

struct Awaited {
    begin: u64,
    end: u64,
    entered: u64,
    sent_again: bool,
    selectively_acknowledged: bool,
}

impl Accounts {
    /// Creates the account of flows by the bytes that each sends; a packet has `overhead` wire bytes beyond its own.
    pub fn new(flows: impl Iterator<Item = Option<u64>>, overhead: u32) -> Accounts {
        Accounts { flows: flows.map(Account::new).collect(), overhead }
    }

    /// Returns, for each flow and each link on its data's route, the wire bytes of new data that have left the
    /// link: what came out, and what is under way and will be new. `under_way` has packets in the network with the number of
    /// links that have sent them.
    pub fn bytes_left<'a>(
        &self,
        links: impl Iterator<Item = usize>,
        under_way: impl Iterator<Item = (&'a Meta, usize)>,
    ) -> Vec<Vec<u64>> {
        let received = self.flows.iter().map(|flow| flow.counts.wire_bytes_received);
        let mut left: Vec<Vec<u64>> = received.zip(links).map(|(bytes, links)| vec![bytes; links]).collect();
        // Of bytes that are under way several times the foremost packet counts.
        let mut foremost: BTreeMap<(usize, u64), (usize, u64)> = BTreeMap::new();
        for (meta, crossed) in under_way {
            let flow = meta.way as usize / 2;
            let end = meta.offset + meta.tcp.map_or(0, |tcp| u64::from(tcp.payload));
            if meta.data && self.flows[flow].is_new(meta.offset, end) {
                let bytes = u64::from(meta.length + self.overhead);
                let known = foremost.entry((flow, meta.offset)).or_default();
                *known = (*known).max((crossed, bytes));
            }
        }
        for ((flow, _), (crossed, bytes)) in foremost {
            left[flow].iter_mut().take(crossed).for_each(|left| *left += bytes);
        }
        left
    }

    /// What was counted of a flow.
    pub fn counts(&self) -> Vec<FlowCounts> {
        self.flows.iter().map(|flow| flow.counts.clone()).collect()
    }

    /// Whether each flow that has an end has reached it, and all have one.
    pub fn all_completed(&self) -> bool {
        self.flows.iter().all(|flow| flow.counts.completed.is_some())
    }

    /// A packet enters; what is known of its place in the flow is written down in `meta`.
    #[inline]
    pub fn enters(&mut self, now: u64, meta: &mut Meta) {
        let Some(tcp) = meta.tcp else { return };
        let flow = &mut self.flows[meta.way as usize / 2];
        if is_back(meta.way) {
            return;
        }
        if tcp.syn {
            flow.first = Some(tcp.sequence.wrapping_add(1));
        }
        let Some(first) = flow.first.filter(|_| tcp.payload > 0) else { return };
        let offset = expand(tcp.sequence, first, flow.next);
        meta.data = true;
        meta.offset = offset;
        flow.enters(now, offset, offset + u64::from(tcp.payload));
    }

    /// A packet has come out.
    #[inline]
    pub fn out(&mut self, now: u64, frame: &Frame) {
        let meta = &frame.meta;
        let flow = &mut self.flows[meta.way as usize / 2];
        if meta.data {
            flow.counts.packets_marked += u64::from(meta.ecn == Codepoint::Ce);
            let payload = meta.tcp.map_or(0, |tcp| u64::from(tcp.payload));
            if flow.receives(meta.offset, meta.offset + payload) {
                flow.counts.packets_received += 1;
                flow.counts.wire_bytes_received += u64::from(meta.length + self.overhead);
            } else {
                flow.counts.duplicates += 1;
            }
        } else if is_back(meta.way)
            && let (Some(tcp), Some(first)) = (meta.tcp, flow.first)
            && tcp.ack
            && !tcp.syn
        {
            let near = flow.acknowledged;
            let blocks = if tcp.plain_ack { packet::NO_BLOCKS } else { packet::sack_blocks(frame.bytes()) };
            let blocks =
                blocks.into_iter().flatten().map(|block| block.map(|edge| expand(edge, first, near)));
            let acknowledged = expand(tcp.acknowledgement, first, near);
            flow.acknowledges(now, acknowledged, blocks.map(|[begin, end]| begin..end));
        }
    }

    /// A data packet was dropped by a queue.
    pub fn dropped(&mut self, meta: &Meta) {
        self.of(meta).packets_dropped += u64::from(meta.data);
    }

    /// A data packet was lost on a line.
    pub fn lost(&mut self, meta: &Meta) {
        self.of(meta).packets_lost += u64::from(meta.data);
    }

    /// A line has copied a data packet.
    pub fn copied(&mut self, meta: &Meta) {
        self.of(meta).packets_copied += u64::from(meta.data);
    }

    fn of(&mut self, meta: &Meta) -> &mut FlowCounts {
        &mut self.flows[meta.way as usize / 2].counts
    }
}

impl Account {
    fn new(bytes: Option<u64>) -> Account {
        Account {
            counts: FlowCounts::default(),
            bytes,
            first: None,
            next: 0,
            acknowledged: 0,
            received: Ranges::default(),
            selectively_acknowledged: Ranges::default(),
            awaited: VecDeque::new(),
        }
    }

    fn enters(&mut self, now: u64, begin: u64, end: u64) {
        self.counts.packets_sent += 1;
        if begin >= self.next {
            let packet =
                Awaited { begin, end, entered: now, sent_again: false, selectively_acknowledged: false };
            self.awaited.push_back(packet);
        } else {
            self.counts.retransmissions += 1;
            // Karn: what was sent twice is no measure.
            let from = self.awaited.partition_point(|packet| packet.end <= begin);
            let again = self.awaited.iter_mut().skip(from).take_while(|packet| packet.end <= end);
            again.for_each(|packet| packet.sent_again = true);
        }
        self.next = self.next.max(end);
    }

    /// An ACK has come back to the sender. Its sample is that which Linux's sender takes: of the packets that it is the first to
    /// acknowledge and that were sent once, the oldest; those that it acknowledges selectively count if the others give none.
    fn acknowledges(&mut self, now: u64, acknowledged: u64, selectively: impl Iterator<Item = Range<u64>>) {
        self.counts.acks_received += 1;
        // An acknowledgement of what was never sent, or of the FIN, which counts as a byte.
        let acknowledged = acknowledged.min(self.next);
        let mut oldest = None;
        let mut ambiguous = false;
        let done = self.awaited.partition_point(|packet| packet.end <= acknowledged);
        for packet in self.awaited.drain(..done) {
            ambiguous |= packet.sent_again;
            if !packet.selectively_acknowledged {
                oldest.get_or_insert(packet.entered);
            }
        }
        self.acknowledged = self.acknowledged.max(acknowledged);
        self.selectively_acknowledged.forget(self.acknowledged);
        let mut oldest_selectively: Option<u64> = None;
        for bytes in selectively.filter(|bytes| bytes.end > self.acknowledged && bytes.start < bytes.end) {
            self.selectively_acknowledged.add(bytes, |part| {
                let from = self.awaited.partition_point(|packet| packet.begin < part.start);
                let packets = self.awaited.range_mut(from..).take_while(|packet| packet.end <= part.end);
                for packet in packets {
                    packet.selectively_acknowledged = true;
                    let is_older = oldest_selectively.is_none_or(|oldest| packet.entered < oldest);
                    if is_older && !packet.sent_again {
                        oldest_selectively = Some(packet.entered);
                    }
                }
            });
        }
        if let Some(entered) = oldest.filter(|_| !ambiguous).or(oldest_selectively) {
            let counts = &mut self.counts;
            let rtt = now - entered;
            counts.rtt_samples += 1;
            counts.rtt_sum += u128::from(rtt);
            counts.rtt_min = Some(counts.rtt_min.map_or(rtt, |least| least.min(rtt)));
            counts.rtt_max = Some(counts.rtt_max.map_or(rtt, |greatest| greatest.max(rtt)));
        }
        if self.bytes.is_some_and(|bytes| self.acknowledged >= bytes) {
            self.counts.completed.get_or_insert(now);
        }
    }

    /// Returns whether these bytes would bring anything new.
    fn is_new(&self, begin: u64, end: u64) -> bool {
        !self.received.has(begin..end)
    }

    /// Returns whether that brought anything new.
    fn receives(&mut self, begin: u64, end: u64) -> bool {
        let mut is_new = false;
        self.received.add(begin..end, |_| is_new = true);
        self.counts.bytes_in_order = self.received.without_gap();
        is_new
    }
}

/// It goes from the receiver of its flow to the sender.
pub fn is_back(way: Way) -> bool {
    way % 2 == 1
}

/// The byte that a sequence number means: the one nearest to `near`. The first byte has the number `first`.
fn expand(sequence: u32, first: u32, near: u64) -> u64 {
    let distance = sequence.wrapping_sub(first.wrapping_add(near as u32)) as i32;
    near.saturating_add_signed(i64::from(distance))
}

#[cfg(test)]
mod tests;
