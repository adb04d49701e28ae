//! noq.

#[path = "peer.rs"]
pub mod peer;

use noq as quic;

use crate::Stack;

const STACK: Stack = Stack::Noq;

/// Packets sent and declared lost, congestion events, smoothed round-trip time and window, of the connection's first path.
fn counts(connection: &quic::Connection) -> peer::Counts {
    let all = connection.stats();
    let path = connection.path_stats(quic::PathId::ZERO).unwrap_or_default();
    peer::Counts {
        packets: all.sent_packets,
        lost_packets: all.lost_packets,
        congestion_events: path.congestion_events,
        rtt: path.rtt,
        window: path.cwnd,
    }
}
