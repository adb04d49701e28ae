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
//! | the transport wants to send | [`Adapter::window`], [`Adapter::pacing_rate`] |
//!
//! Losses and marks that an ACK frame reveals may be reported before or after [`Adapter::on_ack_end`], as long as they come
//! before the transport next asks for the window or sends. The adapter tells the algorithm of the ACK at that moment, so
//! [`Ack`](crate::Ack) contains the losses, the marks and the state that result from the same frame.
//!
//! # What follows TCP, and what follows QUIC
//!
//! `cwnd-tcp/tests/transport.rs` gives the same packet events to the adapter and to cwnd's TCP endpoint (RFC 6675, without
//! reneging, reordering and timeouts), and compares what their algorithms are told.
//!
//! | fields | agreement |
//! |---|---|
//! | `acked`, `delivered`, `lost`, `marked`, `rtt`, `srtt`, `min_rtt`, `in_flight`, `prior_in_flight`, `app_limited`, all of `rate`, all of `LostPacket` | always |
//! | every field, and `cwnd`, `ssthresh` and `pacing_rate` after every ACK | while nothing is lost |
//! | `cumulative` | QUIC has no cumulative acknowledgement: equal to `acked` |
//! | `sent` | QUIC counts every packet; TCP does not count retransmissions |
//! | `round`, `round_start` | after a loss: QUIC's round trips go on with the packets, TCP's wait for the cumulative acknowledgement |
//! | `state`, [`on_recovery_exit`](crate::CongestionControl::on_recovery_exit) | QUIC leaves recovery with the ACK of a packet sent after its beginning (RFC 9002 section 7.3.2), TCP when everything sent before is acknowledged |
//! | `cwnd` during recovery, and so `cwnd_limited` | QUIC reduces at once, the TCP endpoint by proportional rate reduction (RFC 6937) |
//! | `Congestion` | same time, kind, `in_flight`, `lost` and round-trip times; `flight_size` has no packets that were acknowledged out of order |
//! | marks of the last packet in flight | begin an episode in QUIC, none in TCP |
//! | timeouts | QUIC has no retransmission timeout; persistent congestion (RFC 9002 section 7.6) is reported as one |
//! | `on_dup_ack` | never called |
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
