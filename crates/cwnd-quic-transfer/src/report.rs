//! What both ends report of a transfer.

use crate::Stack;
use serde::Serialize;
use std::fmt;

/// A transfer, as the sender saw it.
#[derive(Clone, Debug, Serialize)]
pub struct Sent {
    /// The implementation of QUIC.
    pub stack: Stack,
    /// The sender's algorithm.
    pub algorithm: String,
    /// The client's address.
    pub to: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// From the first write to the last acknowledgement, s.
    pub seconds: f64,
    /// Bytes of the file over this time, Mbit/s.
    pub mbit_per_s: f64,
    /// Packets sent.
    pub packets: u64,
    /// Packets that were declared lost. QUIC sends their data again, in other packets.
    pub lost_packets: u64,
    /// Times that losses or marks were reported to the algorithm.
    pub congestion_events: u64,
    /// Smoothed round-trip time at the end, ms.
    pub rtt_ms: f64,
    /// Congestion window at the end, bytes.
    pub window: u64,
    /// CPU time of the sending process during the transfer, s. The hash is computed before.
    pub cpu_seconds: f64,
}

/// A transfer, as the receiver saw it.
#[derive(Clone, Debug, Serialize)]
pub struct Received {
    /// The implementation of QUIC.
    pub stack: Stack,
    /// Bytes of the file.
    pub bytes: u64,
    /// From the request to the last byte, s.
    pub seconds: f64,
    /// Bytes of the file over this time, Mbit/s.
    pub mbit_per_s: f64,
    /// The hash of the received bytes, which is the one that the server sent.
    pub sha256: String,
}

/// Returns a throughput, Mbit/s.
pub(crate) fn mbit_per_s(bytes: u64, seconds: f64) -> f64 {
    8e-6 * bytes as f64 / seconds
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sent { algorithm, to, bytes, seconds, mbit_per_s, packets, lost_packets, rtt_ms, .. } = self;
        write!(
            f,
            "{algorithm}: {bytes} bytes to {to} in {seconds:.2} s, {mbit_per_s:.2} Mbit/s; {packets} packets, {lost_packets} lost \
             in {} congestion events; RTT {rtt_ms:.1} ms, window {} bytes; CPU {:.3} s",
            self.congestion_events, self.window, self.cpu_seconds
        )
    }
}

impl fmt::Display for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Received { bytes, seconds, mbit_per_s, sha256, .. } = self;
        write!(f, "{bytes} bytes in {seconds:.2} s, {mbit_per_s:.2} Mbit/s; SHA-256 {sha256}")
    }
}
