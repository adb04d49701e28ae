//! One adapter between a transport's packet events and an algorithm.
//!
//! A transport reports what happens to its packets, in bytes. The [`Adapter`] keeps everything that an algorithm needs beyond
//! that: segments, round trips, delivery-rate samples (draft-ietf-ccwg-bbr section 4.1), recovery periods (RFC 9002 section
//! 7.3.2), round-trip times, ECN marks, idle times, and the use of the window. It calls the algorithm and applies its decisions.
//! The QUIC adapters of `cwnd-quic` and the QUIC flows of cwnd's simulator all use it.
//!
//! # Order of calls
//!
//! | event | calls |
//! |---|---|
//! | a packet leaves | [`Adapter::on_packet_sent`]; the transport keeps the returned [`SentPacket`] with the packet, or in [`SentPackets`] |
//! | an ACK frame arrives | [`Adapter::on_packet_acked`] for each packet that it acknowledges for the first time, then [`Adapter::on_ack_end`] |
//! | packets are lost | [`Adapter::on_packet_lost`] for each, then [`Adapter::on_losses`] |
//! | an ACK frame reports ECN-CE marks | [`Adapter::on_marks`] |
//! | the transport wants to send | [`Adapter::window`], [`Adapter::pacing_rate`]; [`Adapter::illegal_value`] says whether the algorithm has failed |
//!
//! Losses and marks that an ACK frame reveals may be reported before or after [`Adapter::on_ack_end`], as long as they come
//! before the transport next asks for the window or sends. The adapter reports the ACK to the algorithm at that moment, so
//! [`Ack`](crate::Ack) contains the losses, the marks and the state that result from the same frame.
//!
//! # What follows TCP, and what follows QUIC
//!
//! `cwnd-tcp/tests/transport.rs` gives the same packet events to the adapter and to cwnd's TCP endpoint (RFC 6675, without
//! reneging, reordering and timeouts), and compares the reports that their algorithms get.
//!
//! | what | agreement |
//! |---|---|
//! | `acked`, `delivered`, `lost`, `marked`, `in_flight`, `prior_in_flight`, `app_limited` and all of `rate` in `Ack`; all of `LostPacket` | always |
//! | all other fields of `Ack` (but `compat`), idle restarts, and `cwnd`, `ssthresh` and `pacing_rate` after every ACK, with every registered algorithm | while nothing is lost, and marks begin no episode |
//! | `Congestion`, recovery exits, and all of `Ack` but `cwnd_limited` | with marks that begin episodes: the endpoint lowers its window by proportional rate reduction (RFC 6937), QUIC at once |
//! | the first `Congestion`: time, kind, `in_flight`, `lost`, round-trip times | with losses |
//!
//! These differ by QUIC's rules:
//!
//! | what | in QUIC |
//! |---|---|
//! | `cumulative` | there is no cumulative acknowledgement: equal to `acked`, so packets acknowledged out of order can grow the window |
//! | `sent` | counts every packet; TCP does not count retransmissions |
//! | `rtt`, `srtt`, `min_rtt` | packet numbers are unambiguous: ACKs of retransmitted data give samples, too; those of packets older than one acknowledged before give none |
//! | `rate.interval` after losses that left nothing in flight | the next packet begins a new interval, as the draft says; in the TCP endpoint a retransmission does not |
//! | `round`, `round_start` | round trips continue with the packets; TCP's wait for the cumulative acknowledgement |
//! | `state`, recovery exits, later episodes | the ACK of a packet sent after its beginning ends a recovery, and the loss of one begins another (RFC 9002 section 7.3.2); TCP recovers everything sent before its beginning first |
//! | `flight_size` | has no packets that were acknowledged out of order |
//! | a mark of the last packet in flight | begins an episode; in the TCP endpoint it does not |
//! | timeouts | persistent congestion (RFC 9002 section 7.6) is reported as one; there is no retransmission timeout |
//! | the window after an idle time | is kept: the transport paces (RFC 9002 section 7.8) |
//! | `on_dup_ack` | is never called |
//!
//! # Units
//!
//! A segment is a full packet. Packets of other sizes count by their bytes, and what is left over counts with the next
//! packets. [`Adapter::set_mss`] changes the size of a segment and nothing else: windows and rates in segments keep their
//! values, so an initial window is recalculated as RFC 9002 section 7.2 asks.

mod adapter;
#[cfg(feature = "std")]
mod clock;
mod episode;
mod rate;
mod rtt;
mod segments;
mod sent_packets;
#[cfg(test)]
mod tests;
mod usage;

pub use adapter::{AckEnd, Adapter, Settings};
#[cfg(feature = "std")]
pub use clock::Clock;
pub use sent_packets::{SentPacket, SentPackets};
