//! Counters that only rise, made from the counts of connections, which end with them.

use cwnd_kernel::load::ObservedSocket;
use std::{collections::BTreeMap, net::SocketAddr};

/// What connections have done together since the first reading. What one does between its last reading and its end is not seen.
#[derive(Default)]
pub struct Totals {
    /// The connections of the last reading; none before the first.
    open: Option<BTreeMap<Connection, Counts>>,
    by_name: BTreeMap<String, Sum>,
}

/// A network namespace, and both addresses.
type Connection = (u64, SocketAddr, SocketAddr);

/// The kernel's counts of a connection, of which those of segments begin again after 2^32.
#[derive(Clone, Copy, Default)]
struct Counts {
    segments: u32,
    retransmissions: u32,
    bytes_acked: u64,
}

impl Counts {
    /// Whether these can be of the same connection later. One that has counted less is another between the same ports.
    fn is_after(self, before: &Counts) -> bool {
        let has_grown = |now: u32, before: u32| now.wrapping_sub(before) < 1 << 31;
        self.bytes_acked >= before.bytes_acked
            && has_grown(self.segments, before.segments)
            && has_grown(self.retransmissions, before.retransmissions)
    }
}

/// What the connections of a congestion control have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Connections that were seen for the first time.
    pub connections: u64,
    /// Segments with data that were sent, retransmissions included.
    pub segments: u64,
    /// Segments that were retransmitted.
    pub retransmissions: u64,
    /// Bytes that were acknowledged.
    pub bytes_acked: u64,
}

impl Totals {
    /// Adds what the established connections have done since the last reading, to the congestion control that each has now. What they
    /// had done before the first is not counted.
    pub fn add(&mut self, sockets: &[ObservedSocket]) {
        let mut open = BTreeMap::new();
        for socket in sockets.iter().filter(|socket| socket.is_established()) {
            let connection = (socket.namespace_id, socket.local, socket.remote);
            let counts = Counts {
                segments: socket.segments,
                retransmissions: socket.retransmissions,
                bytes_acked: socket.bytes_acked,
            };
            open.insert(connection, counts);
            let sum = self.by_name.entry(socket.congestion_control.clone()).or_default();
            let Some(before) = &self.open else { continue };
            let same = before.get(&connection).filter(|before| counts.is_after(before));
            let before = same.copied().unwrap_or_default();
            sum.connections += u64::from(same.is_none());
            sum.segments += u64::from(counts.segments.wrapping_sub(before.segments));
            sum.retransmissions += u64::from(counts.retransmissions.wrapping_sub(before.retransmissions));
            sum.bytes_acked += counts.bytes_acked - before.bytes_acked;
        }
        self.open = Some(open);
    }

    /// Returns the sums by congestion control.
    pub fn by_name(&self) -> impl Iterator<Item = (&str, Sum)> + Clone {
        self.by_name.iter().map(|(name, sum)| (name.as_str(), *sum))
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::tests::socket;
    use super::*;

    fn sent(port: u16, name: &str, segments: u32, bytes_acked: u64) -> ObservedSocket {
        ObservedSocket {
            remote: SocketAddr::new("127.0.0.1".parse().unwrap(), port),
            congestion_control: name.to_owned(),
            segments,
            retransmissions: if segments == u32::MAX { 0 } else { segments / 10 },
            bytes_acked,
            ..socket(10, 0.1, 1)
        }
    }

    #[test]
    fn counters_rise_when_connections_end() {
        let mut totals = Totals::default();
        // What is there at first is the beginning, and not counted.
        totals.add(&[sent(1, "cubic", 100, 1000)]);
        totals.add(&[sent(1, "cubic", 150, 1500), sent(2, "reno", 30, 300)]);
        // The first has ended. The second has another congestion control now, to which goes what came since.
        totals.add(&[sent(2, "cubic", 40, 400)]);
        // Other connections: one between the same ports, one that only listens, and one whose count of segments begins again.
        totals.add(&[
            sent(2, "cubic", 5, 50),
            ObservedSocket { state: 10, ..sent(3, "cubic", 9, 9) },
            sent(4, "bbr", u32::MAX, 10),
            sent(5, "vegas", 90, 10),
        ]);
        // One more between the same ports, of which as much is acknowledged, and less was sent again.
        totals.add(&[sent(4, "bbr", 7, 20), sent(5, "vegas", 95, 10)]);
        totals.add(&[ObservedSocket { retransmissions: 1, ..sent(5, "vegas", 99, 10) }]);
        let sum = |connections, segments, retransmissions, bytes_acked| Sum {
            connections,
            segments,
            retransmissions,
            bytes_acked,
        };
        let all: Vec<(&str, Sum)> = totals.by_name().collect();
        let most = u64::from(u32::MAX);
        assert_eq!(all[0].1.segments, most + 8);
        assert_eq!((all[0].0, all[0].1.connections, all[0].1.bytes_acked), ("bbr", 1, 20));
        let expected = [
            ("cubic", sum(1, 50 + 10 + 5, 5 + 1, 500 + 100 + 50)),
            ("reno", sum(1, 30, 3, 300)),
            ("vegas", sum(2, 95 + 99, 9 + 1, 10 + 10)),
        ];
        assert_eq!(all[1..], expected);
    }
}
