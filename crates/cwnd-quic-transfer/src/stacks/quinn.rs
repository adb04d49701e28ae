//! quinn.

#[path = "peer.rs"]
#[expect(clippy::duplicate_mod, reason = "it is compiled against each of the two implementations")]
pub mod peer;

use quinn as quic;

use crate::Stack;

const STACK: Stack = Stack::Quinn;

/// Packets sent and declared lost, congestion events, smoothed round-trip time and window, of the connection's path.
fn counts(connection: &quic::Connection) -> peer::Counts {
    let path = connection.stats().path;
    peer::Counts {
        packets: path.sent_packets,
        lost_packets: path.lost_packets,
        congestion_events: path.congestion_events,
        rtt: path.rtt,
        window: path.cwnd,
    }
}
