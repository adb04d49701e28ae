//! The direction of a connection that carries most data, and what its packets tell.

use super::packets::{Endpoint, Packet};
use std::collections::VecDeque;

/// What a connection's packets report of the path.
pub struct Flow {
    /// Who sends the data.
    pub from: Endpoint,
    /// Who receives it.
    pub to: Endpoint,
    /// From the first to the last packet, seconds.
    pub seconds: f64,
    /// Bytes of data.
    pub sent: u64,
    /// Those of them that are not beyond all that came before.
    pub resent: u64,
    /// The largest segment, bytes.
    pub largest: u32,
    /// From the SYN to the last ACK of the handshake, seconds. It is one round trip wherever it is captured.
    pub handshake: Option<f64>,
    /// From data to its ACK, seconds; of data that was not retransmitted (Karn's algorithm).
    pub rtts: Vec<f64>,
    /// The last round trip before data was sent again, and how many bytes.
    resent_at: Vec<(Option<f64>, u64)>,
    /// When a number of bytes were acknowledged.
    acked: Vec<(f64, u64)>,
}

/// A segment that is not acknowledged yet.
struct Outstanding {
    end: u64,
    time: f64,
    resent: bool,
}

impl Flow {
    /// Reads the packets of a connection, of which at least one carries data.
    pub fn of(packets: &[&Packet]) -> Flow {
        let first = packets[0];
        let sent_by = |end: Endpoint| -> u64 {
            packets.iter().filter(|packet| packet.from == end).map(|packet| u64::from(packet.payload)).sum()
        };
        let (from, to) = match sent_by(first.from) >= sent_by(first.to) {
            true => (first.from, first.to),
            false => (first.to, first.from),
        };
        let mut flow = Flow {
            from,
            to,
            seconds: packets[packets.len() - 1].time - first.time,
            sent: 0,
            resent: 0,
            largest: 0,
            handshake: handshake(packets),
            rtts: Vec::new(),
            resent_at: Vec::new(),
            acked: Vec::new(),
        };
        flow.read(packets);
        flow
    }

    fn read(&mut self, packets: &[&Packet]) {
        let Some(origin) = packets.iter().find(|packet| packet.from == self.from && packet.payload > 0)
        else {
            return;
        };
        let position = |number: u32, near: u64| unwrapped(number.wrapping_sub(origin.seq), near);
        let (mut highest, mut acked) = (0, 0);
        let mut outstanding: VecDeque<Outstanding> = VecDeque::new();
        for packet in packets {
            if packet.from == self.from && packet.payload > 0 {
                let begin = position(packet.seq, highest);
                let end = begin + u64::from(packet.payload);
                self.sent += u64::from(packet.payload);
                self.largest = self.largest.max(packet.payload);
                let old = highest.min(end).saturating_sub(begin);
                self.resent += old;
                if old > 0 {
                    self.resent_at.push((self.rtts.last().copied(), old));
                    // Whether the ACK is of the first transmission or of this one is not known.
                    outstanding
                        .iter_mut()
                        .filter(|segment| segment.end > begin)
                        .for_each(|segment| segment.resent = true);
                }
                if end > highest {
                    highest = end;
                    outstanding.push_back(Outstanding { end, time: packet.time, resent: old > 0 });
                }
            } else if packet.from == self.to && packet.ack.is_some() {
                let ack = position(packet.ack.unwrap_or_default(), acked);
                if ack <= acked || ack > highest {
                    continue;
                }
                acked = ack;
                self.acked.push((packet.time, ack));
                let mut newest = None;
                while outstanding.front().is_some_and(|segment| segment.end <= ack) {
                    newest = outstanding.pop_front();
                }
                let sample =
                    newest.filter(|segment| !segment.resent).map(|segment| packet.time - segment.time);
                self.rtts.extend(sample.filter(|rtt| *rtt > 0.0));
            }
        }
    }

    /// Returns the most data acknowledged within a window of time, bit/s of payload, and that window: 1 s or 20 round trips,
    /// or all of a shorter capture. In shorter windows the ACK that ends a recovery counts far too much. None if the ACKs cover
    /// less than 10 ms.
    pub fn greatest_rate(&self) -> Option<(f64, f64)> {
        let (first, last) = (self.acked.first()?, self.acked.last()?);
        let span = last.0 - first.0;
        if span < 0.01 {
            return None;
        }
        let least = self.rtts.iter().copied().chain(self.handshake).fold(0.0, f64::max);
        let window = (20.0 * least).max(1.0).min(span);
        let mut begin = 0;
        let mut greatest = 0;
        for (time, acked) in &self.acked {
            while time - self.acked[begin].0 > window {
                begin += 1;
            }
            greatest = greatest.max(acked - self.acked[begin].1);
        }
        Some((greatest as f64 * 8.0 / window, window))
    }

    /// Returns the round trip over which a loss counts as that of a full queue: half way from the least to the greatest. It is
    /// the threshold of the scheme Spike (Cen, Cosman and Voelker, "End-to-end differentiation of congestion and wireless
    /// losses", IEEE/ACM ToN 2003) with one threshold. None without round trips.
    pub fn congested_rtt(&self) -> Option<f64> {
        let least = self.rtts.iter().copied().reduce(f64::min)?;
        let greatest = self.rtts.iter().copied().reduce(f64::max)?;
        Some(least + (greatest - least) / 2.0)
    }

    /// Returns the bytes that were sent again while the last round trip before was shorter than this: lost, and not because a
    /// queue was full.
    pub fn resent_below(&self, rtt: f64) -> u64 {
        self.resent_at
            .iter()
            .filter(|(last, _)| last.is_some_and(|last| last < rtt))
            .map(|(_, bytes)| bytes)
            .sum()
    }
}

/// Returns the time from a SYN to the ACK that ends the handshake; none if one of the three was retransmitted or is missing.
fn handshake(packets: &[&Packet]) -> Option<f64> {
    let syns: Vec<&&Packet> = packets.iter().filter(|packet| packet.syn).collect();
    let [syn, answer] = syns.as_slice() else { return None };
    let is_pair = syn.ack.is_none() && answer.ack.is_some() && syn.from == answer.to;
    let end =
        packets.iter().find(|packet| packet.from == syn.from && !packet.syn && packet.time >= answer.time);
    end.filter(|_| is_pair).map(|end| end.time - syn.time)
}

/// Returns the 64-bit position that a 32-bit one stands for: the one nearest to `near`. Positions before the first are 0.
fn unwrapped(position: u32, near: u64) -> u64 {
    let difference = position.wrapping_sub(near as u32) as i32;
    near.saturating_add_signed(i64::from(difference))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: (u8, u16) = (1, 40_000);
    const B: (u8, u16) = (2, 5201);

    fn end((host, port): (u8, u16)) -> Endpoint {
        Endpoint::new([10, 0, 0, host].into(), port)
    }

    /// A packet at a time in milliseconds.
    fn packet(
        ms: f64,
        (from, to): ((u8, u16), (u8, u16)),
        seq: u32,
        ack: Option<u32>,
        payload: u32,
        syn: bool,
    ) -> Packet {
        Packet { time: ms / 1e3, interface: 0, from: end(from), to: end(to), seq, ack, syn, payload }
    }

    /// A handshake of 20 ms, three segments of 1,000 B, of which the second is sent again, and ACKs.
    #[test]
    fn by_hand() {
        let (data, acks) = ((A, B), (B, A));
        let packets = [
            packet(0.0, data, 99, None, 0, true),
            packet(20.0, acks, 499, Some(100), 0, true),
            packet(20.1, data, 100, Some(500), 0, false),
            packet(21.0, data, 100, Some(500), 1_000, false),
            packet(22.0, data, 1_100, Some(500), 1_000, false),
            packet(23.0, data, 2_100, Some(500), 1_000, false),
            packet(41.5, acks, 500, Some(1_100), 0, false),
            packet(43.0, acks, 500, Some(1_100), 0, false),
            packet(60.0, data, 1_100, Some(500), 1_000, false),
            packet(85.0, acks, 500, Some(3_100), 0, false),
            packet(90.0, data, 3_100, Some(500), 500, false),
            packet(130.0, acks, 500, Some(3_600), 0, false),
        ];
        let flow = Flow::of(&packets.iter().collect::<Vec<_>>());
        assert_eq!((flow.from, flow.to), (end(A), end(B)));
        assert_eq!((flow.sent, flow.resent, flow.largest), (4_500, 1_000, 1_000));
        assert!((flow.handshake.unwrap() - 0.0201).abs() < 1e-12);
        // 41.5 - 21 and 130 - 90; the ACK at 85 ms is of data that was sent again or waited for it.
        let rtts: Vec<f64> = flow.rtts.iter().map(|rtt| (rtt * 1e6).round() / 1e3).collect();
        assert_eq!(rtts, [20.5, 40.0]);
        // It was sent again after a round trip of 20.5 ms, below (20.5 + 40) / 2.
        assert!((flow.congested_rtt().unwrap() - 0.030_25).abs() < 1e-9);
        assert_eq!((flow.resent_below(0.030_25), flow.resent_below(0.020)), (1_000, 0));
        // From the first ACK on 2,500 B in 88.5 ms.
        let (rate, window) = flow.greatest_rate().unwrap();
        assert!(
            (window - 0.0885).abs() < 1e-9 && (rate - 2_500.0 * 8.0 / 0.0885).abs() < 1.0,
            "{rate} {window}"
        );
    }

    #[test]
    fn positions_go_on_after_four_gigabytes() {
        assert_eq!(unwrapped(1_000, 0), 1_000);
        assert_eq!(unwrapped(5, 0xFFFF_FFF0), 0x1_0000_0005);
        assert_eq!(unwrapped(0xFFFF_FFF0, 0x1_0000_0005), 0xFFFF_FFF0);
        // Before the first byte of data, as the ACK of the SYN is.
        assert_eq!(unwrapped(u32::MAX, 0), 0);
    }
}
