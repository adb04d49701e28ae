//! The TCP stack that flows run on: named profiles and what each sets.

use crate::{LinuxVersion, Time};
use serde::{Deserialize, Serialize};

/// A named bundle of choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StackProfile {
    /// ns-2.35's TCP-Linux agent with a SACK sink.
    Ns2,
    /// Today's Linux.
    Linux,
}

impl StackProfile {
    /// Returns the name by which settings call it.
    pub fn name(self) -> &'static str {
        match self {
            StackProfile::Ns2 => "ns2",
            StackProfile::Linux => "linux",
        }
    }

    /// Returns the parameters by which a registered algorithm becomes the module of this stack, where they differ from the
    /// algorithm's own defaults: name and value.
    ///
    /// Linux's modules differ from the papers. The ns-2 profile sets none: studies of papers that used ns-2 name the parameters of
    /// its modules themselves.
    pub fn parameters(self, algorithm: &str) -> &'static [(&'static str, &'static str)] {
        self.modules().iter().find(|(name, _)| *name == algorithm).map_or(&[], |(_, parameters)| parameters)
    }

    /// Returns the algorithms for which the profile sets parameters.
    pub fn parametrised(self) -> impl Iterator<Item = &'static str> {
        self.modules().iter().map(|(name, _)| *name)
    }

    fn modules(self) -> &'static [Module] {
        match self {
            StackProfile::Ns2 => &[],
            StackProfile::Linux => &LINUX_MODULES,
        }
    }
}

/// Algorithms, and the parameters that make them Linux 6.1's modules.
const LINUX_MODULES: [Module; 4] = [
    ("bbr", &[("pacing_margin", "0.01"), ("rules", "linux")]),
    ("htcp", &[("rtt_scaling", "on")]),
    ("hybla", &[("max_exponent", "16")]),
    ("westwood", &[("set_at", "recovery-end")]),
];

/// An algorithm, and its parameters: name and value.
type Module = (&'static str, &'static [(&'static str, &'static str)]);

/// How losses are repaired, and how the window moves meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// ns-2.35's TCP-Linux: forward acknowledgement; the window is reduced at once, and what is in flight falls by one
    /// segment for every two that leave; at the end a window below `ssthresh` is raised to it, but to no more than what is
    /// in flight and a small burst, and the scoreboard is forgotten. Every ACK starts the timer again, and the floor of the
    /// timeout is under the whole of it.
    Ns2,
    /// Losses by SACK as RFC 6675 says, and proportional rate reduction (RFC 6937) down to `ssthresh`.
    Prr,
    /// As `Linux`, with RACK-TLP as RFC 8985 has it, and proportional rate reduction as RFC 9937 has it.
    Rack,
    /// Linux 6.1: RACK-TLP (RFC 8985) with proportional rate reduction, F-RTO (RFC 5682), reductions that are taken back
    /// when they prove spurious, data that leaves in bursts, and a receiver that compresses SACKs. Without SACK the same
    /// as `Prr`.
    Linux,
}

impl Recovery {
    /// Returns whether losses are found by time (RACK-TLP).
    pub fn is_by_time(self) -> bool {
        matches!(self, Recovery::Rack | Recovery::Linux)
    }
}

/// When the receiver acknowledges data that came in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DelayedAck {
    /// Every packet at once.
    Off,
    /// Every second packet, or this long after the first (RFC 5681 section 4.2).
    After(Time),
}

/// Whether flows use ECN (an algorithm that needs marks overrides this where a queue marks).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ecn {
    /// No.
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 8257's exact echo.
    Exact,
    /// RFC 9768, if the peer can, for flows of all algorithms.
    Accurate(AccurateEcn),
}

/// How accurate ECN feedback is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AccurateEcn {
    /// What receivers are capable of. Without accurate feedback, their flows fall back to what they are capable of.
    pub peer: EcnPeer,
    /// Whether ACKs without SACK blocks carry the option with counters of bytes.
    pub option: bool,
}

/// The ECN that a receiver is capable of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnPeer {
    /// RFC 9768.
    Accurate,
    /// RFC 3168 only.
    Classic,
    /// None.
    Off,
}

/// Bytes of headers in ns-2, without timestamps.
const NS2_HEADERS: u32 = 40;

/// Every choice of a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Stack {
    /// The profile that the choices started from. It also decides the arithmetic of window growth.
    pub profile: StackProfile,
    /// Payload of a full segment, bytes.
    pub payload: u32,
    /// Bytes that a data packet has on the wire beyond its payload.
    pub data_overhead: u32,
    /// Wire bytes of a flow's first data packet, if it has not as many as the others. In ns-2 the first segment, which
    /// counts as one, is a SYN.
    pub first_packet: Option<u32>,
    /// Bytes of an ACK on the wire, without SACK blocks.
    pub ack_size: u32,
    /// Bytes that SACK blocks add to an ACK: `base` if there is any, and `each` for every block.
    pub sack_block_base: u32,
    /// See `sack_block_base`.
    pub sack_block_each: u32,
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    pub sack: bool,
    /// Timestamps (RFC 7323): a round-trip time sample on every ACK, and three SACK blocks instead of four.
    pub timestamps: bool,
    /// When in-order data is acknowledged.
    pub delayed_ack: DelayedAck,
    /// ECN by default.
    pub ecn: Ecn,
    /// Flows whose algorithm answers marks in proportion (with [`Ecn::Exact`]'s echo) send ECT(1), the identifier of L4S
    /// (RFC 9331), so that a dual queue takes them into its L queue; else they send ECT(0).
    pub l4s: bool,
    /// Whether a three-way handshake comes before the data. A flow's start is then the end of the
    /// handshake on an idle network.
    pub handshake: bool,
    /// Initial window, segments.
    pub initial_window: u32,
    /// Initial slow-start threshold, segments; none means infinite.
    pub initial_ssthresh: Option<u32>,
    /// The receiver's window, segments. In ns-2, and so with its profile, it bounds the congestion window alone: what is
    /// SACKed does not count.
    pub receive_window: u32,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// RFC 3042.
    pub limited_transmit: bool,
    /// A retransmission counts as lost when three segments sent after it have been SACKed, instead of
    /// waiting for the timeout.
    pub detect_lost_retransmissions: bool,
    /// Least retransmission timeout.
    pub min_rto: Time,
    /// Retransmission timeout before the first sample.
    pub initial_rto: Time,
    /// Greatest retransmission timeout.
    pub max_rto: Time,
    /// With [`Recovery::Linux`] and [`Recovery::Rack`]: ticks a second of the kernel's clock. Retransmission and delayed-ACK timers expire as those of the
    /// kernel's timer wheel: never early, and up to an eighth of their time late. Zero: timers expire exactly.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub timer_hz: u32,
    /// With [`Recovery::Linux`]: the version of Linux whose rules for reductions and bursts apply where versions differ.
    #[serde(default, skip_serializing_if = "LinuxVersion::is_recorded")]
    pub linux_version: LinuxVersion,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Stack {
    /// Bytes of the headers of IPv4 and UDP.
    pub const IP_AND_UDP: u32 = 28;

    /// The largest receive window, packets.
    pub const LARGEST_WINDOW: u32 = 1 << 30;

    /// Bytes of a full data packet on the wire.
    pub fn full_packet(&self) -> u32 {
        self.payload + self.data_overhead
    }

    /// Returns the IP bytes of a full data packet; none for ns2, whose packets have no IP header of their own.
    pub fn mtu(&self) -> Option<u32> {
        const ETHERNET: u32 = 14;
        (self.profile == StackProfile::Linux).then(|| self.full_packet() - ETHERNET)
    }

    /// Returns the payload of a UDP datagram over IPv4 that fills a packet, bytes; none for ns2.
    pub fn udp_payload(&self) -> Option<u32> {
        Some(self.mtu()?.saturating_sub(Stack::IP_AND_UDP))
    }

    /// ns-2.35's TCP-Linux agent (`Sack1` sink): `payload` bytes a packet and 40 bytes of headers, 50 with
    /// timestamps. The first data packet is a SYN and weighs 40; so does an ACK, whether there are timestamps or not, and 8
    /// more for each SACK block.
    pub fn ns2(payload: u32, timestamps: bool, receive_window: u32) -> Stack {
        Stack {
            profile: StackProfile::Ns2,
            payload,
            data_overhead: NS2_HEADERS + if timestamps { 10 } else { 0 },
            first_packet: Some(NS2_HEADERS),
            ack_size: NS2_HEADERS,
            sack_block_base: 0,
            sack_block_each: 8,
            sack: true,
            timestamps,
            delayed_ack: DelayedAck::Off,
            ecn: Ecn::Off,
            l4s: true,
            handshake: false,
            initial_window: 2,
            initial_ssthresh: Some(receive_window),
            receive_window,
            recovery: Recovery::Ns2,
            limited_transmit: true,
            detect_lost_retransmissions: true,
            min_rto: Time::from_millis(200),
            initial_rto: Time::from_millis(3000),
            max_rto: Time::from_millis(120_000),
            timer_hz: 0,
            linux_version: LinuxVersion::RECORDED,
        }
    }

    /// Today's Linux over Ethernet: `mtu` counts IP bytes; 20 of IP, 20 of TCP and 12 of timestamps leave the
    /// payload, and 14 of Ethernet are added on the wire (1,500 carries 1,448 in 1,514; an ACK has 66).
    pub fn linux(mtu: u32, timestamps: bool, receive_window: u32) -> Stack {
        let options = if timestamps { 12 } else { 0 };
        let headers = 40 + options;
        Stack {
            profile: StackProfile::Linux,
            payload: mtu.saturating_sub(headers).max(1),
            data_overhead: headers + 14,
            first_packet: None,
            ack_size: headers + 14,
            sack_block_base: 4,
            sack_block_each: 8,
            sack: true,
            timestamps,
            delayed_ack: DelayedAck::After(Time::from_millis(40)),
            ecn: Ecn::Off,
            l4s: true,
            handshake: true,
            initial_window: 10,
            initial_ssthresh: None,
            receive_window,
            recovery: Recovery::Linux,
            limited_transmit: true,
            detect_lost_retransmissions: true,
            min_rto: Time::from_millis(200),
            initial_rto: Time::from_millis(1000),
            max_rto: Time::from_millis(120_000),
            timer_hz: 1000,
            linux_version: LinuxVersion::RECORDED,
        }
    }
}
