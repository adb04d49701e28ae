//! The settings of a sender, and what it counts.

use crate::packet::Packet;
use crate::{Application, GrowingWindow, NEVER, TimerWheel};
use cwnd_cc::{EcnMode, FlowHints, WindowConfig};
use cwnd_scenario::{LinuxVersion, Purpose, Recovery, Stream};

/// The settings of a sender.
///
/// `recovery`, with `sack`, selects the loss-recovery strategy; everything else is data that each strategy reads.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct SenderConfig {
    /// Channel of its data packets.
    pub channel: u32,
    /// Wire bytes of a full data packet.
    pub packet_size: u32,
    /// Wire bytes of the first data packet.
    pub first_packet_size: u32,
    /// Wire bytes of the last data packet of a transfer.
    pub last_packet_size: u32,
    /// Segments to send; `u64::MAX` for a bulk flow.
    pub segments: u64,
    /// Wire bytes of an ACK. The sizes of handshake packets follow from it.
    pub ack_size: u32,
    /// The receiver's window, segments.
    pub receive_window: u64,
    /// How the advertised window grows to `receive_window`; `None` if it has that size from the beginning.
    pub growing_window: Option<GrowingWindow>,
    /// Whether the congestion window grows only while it is in use (the problem of RFC 7661, with Linux's solution).
    pub validate_cwnd: bool,
    /// Initial values and arithmetic of the window.
    pub window: WindowConfig,
    /// The loss-recovery profile.
    pub recovery: Recovery,
    /// Whether the receiver sends SACK blocks.
    pub sack: bool,
    /// Whether ACKs echo timestamps.
    pub timestamps: bool,
    /// Whether new data is sent on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Whether a retransmission counts as lost once three segments sent after it are SACKed.
    pub detect_lost_retransmissions: bool,
    /// The ECN mode that was negotiated.
    pub ecn: EcnMode,
    /// Whether the feedback is accurate (RFC 9768). With a handshake it is asked for, and may be refused.
    pub accurate_ecn: bool,
    /// Whether flows with exact ECN feedback send ECT(1) instead of ECT(0) (RFC 9331).
    pub l4s: bool,
    /// Whether a handshake precedes the data.
    pub handshake: bool,
    /// Retransmission timeout: initial, minimum, maximum, ns.
    pub rto: (u64, u64, u64),
    /// With [`Recovery::Linux`] or [`Recovery::Rack`], and SACK: the granularity of the retransmission timer. That of a SYN has it, too.
    pub timer: TimerWheel,
    /// With [`Recovery::Linux`] and SACK: the version of Linux whose rules apply where versions differ.
    pub linux_version: LinuxVersion,
    /// When the application connects (without a handshake: when it starts to send).
    pub start: u64,
    /// When new data ends.
    pub stop: u64,
    /// The upper bound of the random delay between the trigger of a packet and its departure, ns.
    pub send_overhead: u64,
    /// The random stream of that delay.
    pub overhead_stream: Stream,
    /// The seed of the algorithm's own random choices.
    pub algorithm_seed: u64,
    /// Properties of the transfer that the application declares to the algorithm.
    pub hints: FlowHints,
    /// The application, unless the flow always has data to send.
    pub application: Option<Box<Application>>,
    /// Whether the window shrinks while the flow is idle.
    pub restart_after_idle: bool,
}

/// A bulk sender that starts at time 0 without a handshake, with packets of 1,500 bytes, a window of ten segments, SACK, timestamps and
/// proportional rate reduction; initial, minimum and maximum RTO 1 s, 200 ms and 120 s.
impl Default for SenderConfig {
    fn default() -> SenderConfig {
        const MS: u64 = 1_000_000;
        SenderConfig {
            channel: 0,
            packet_size: 1500,
            first_packet_size: 1500,
            last_packet_size: 1500,
            segments: u64::MAX,
            ack_size: 52,
            receive_window: 100_000,
            growing_window: None,
            validate_cwnd: false,
            window: WindowConfig::default(),
            recovery: Recovery::Prr,
            sack: true,
            timestamps: true,
            limited_transmit: true,
            detect_lost_retransmissions: true,
            ecn: EcnMode::Off,
            accurate_ecn: false,
            l4s: false,
            handshake: false,
            rto: (1000 * MS, 200 * MS, 120_000 * MS),
            timer: TimerWheel::default(),
            linux_version: LinuxVersion::RECORDED,
            start: 0,
            stop: NEVER,
            send_overhead: 0,
            overhead_stream: Stream::new(1, Purpose::SendOverhead, 0),
            algorithm_seed: 1,
            hints: FlowHints::default(),
            application: None,
            restart_after_idle: false,
        }
    }
}

impl SenderConfig {
    /// Returns a data packet that carries `segment`.
    #[inline(always)]
    pub(crate) fn packet(&self, now: u64, segment: u64, flags: u16) -> Packet {
        let SenderConfig { segments, first_packet_size, last_packet_size, packet_size, .. } = *self;
        let size = match segment {
            0 if first_packet_size != packet_size => first_packet_size,
            _ if segment + 1 == segments => last_packet_size,
            _ => packet_size,
        };
        Packet {
            at: now,
            sent: now,
            seq: segment as u32,
            channel: self.channel,
            aux: 0,
            size: size as u16,
            flags,
        }
    }
}

/// Counts of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderCounts {
    /// Data packets handed to the output queue.
    pub sent: u64,
    /// The retransmissions among them.
    pub retransmissions: u64,
    /// ACKs processed.
    pub acks: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Congestion episodes.
    pub congestion_events: u64,
    /// Segments that ACKs report as delivered.
    pub delivered: u64,
    /// Segments that ACKs report as received twice (RFC 2883).
    pub duplicates: u64,
}
