//! Events that a transport reports to an algorithm.

use crate::{AckCompat, CompatNeeds, Nanos};

/// The state of loss recovery, named as in Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum State {
    /// Nothing unusual.
    #[default]
    Open,
    /// Duplicate ACKs or SACKs came, too few to tell loss from reordering.
    Disorder,
    /// The window is being reduced after an ECN echo; nothing was lost.
    Cwr,
    /// Fast recovery after a loss.
    Recovery,
    /// The retransmission timer ran out, and what was outstanding then is not yet acknowledged.
    Loss,
}

/// An ACK.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ack {
    /// When the ACK came.
    pub now: Nanos,
    /// Segments newly delivered: acknowledged or SACKed by this ACK and not before.
    pub acked: u32,
    /// Segments by which the cumulative acknowledgement advanced.
    pub cumulative: u32,
    /// Segments that this ACK caused to be declared lost.
    pub lost: u32,
    /// Segments of `acked` whose congestion mark was echoed (classic ECN: all, while ECE is set); one, if an
    /// ACK that delivers nothing carries the echo.
    pub marked: u32,
    /// A valid round-trip time sample (never from a retransmitted segment without timestamps), if any.
    pub rtt: Option<Nanos>,
    /// Smoothed round-trip time (RFC 6298); zero before the first sample.
    pub srtt: Nanos,
    /// Least round-trip time seen on the connection; [`Nanos::MAX`] before the first sample.
    pub min_rtt: Nanos,
    /// Segments in flight (RFC 6675 pipe) after this ACK and before anything is sent for it.
    pub in_flight: u32,
    /// Segments in flight before this ACK.
    pub prior_in_flight: u32,
    /// The state after this ACK.
    pub state: State,
    /// The flow was using its whole window; growth means something only then.
    pub cwnd_limited: bool,
    /// The application had too little to send.
    pub app_limited: bool,
    /// A new round trip (window of data) begins with this ACK.
    pub round_start: bool,
    /// Rounds begun so far.
    pub round: u64,
    /// Segments delivered since the start.
    pub delivered: u64,
    /// Segments sent since the start, each counted once, before anything is sent for this ACK (SND.NXT). It never falls. Every
    /// transport must set it: Illinois, YeAH, Vegas and Compound end their round trips by it in integer arithmetics.
    pub sent: u64,
    /// The delivery-rate sample of this ACK; only if [`Needs::rate_samples`] is set.
    pub rate: Option<RateSample>,
    /// Details for imitations of Linux's and ns-2's TCP; other transports leave the default.
    pub compat: AckCompat,
}

impl Ack {
    /// Returns whether the window may grow on this ACK: it advanced the cumulative acknowledgement (or a transport that sees much
    /// reordering says that SACKs count too), the window was in use, and no reduction is under way (after a timeout it may: that
    /// is slow start).
    #[inline]
    pub fn may_grow(&self) -> bool {
        let advances = self.cumulative > 0 || self.compat.grows_on_sack;
        advances && self.cwnd_limited && !matches!(self.state, State::Cwr | State::Recovery)
    }
}

/// A delivery-rate sample (draft-ietf-ccwg-bbr section 4.1.1, "delivery rate samples").
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RateSample {
    /// Segments delivered over the interval.
    pub delivered: u64,
    /// `delivered` counter when the most recently sent of the acknowledged packets was sent.
    pub prior_delivered: u64,
    /// Longer of the send and the ACK interval.
    pub interval: Nanos,
    /// The sample's packet was sent while the application was limiting.
    pub app_limited: bool,
    /// Segments in flight when that packet was sent, itself included.
    pub tx_in_flight: u32,
    /// Segments lost since that packet was sent.
    pub lost: u64,
    /// Segments CE-marked since that packet was sent.
    pub marked: u64,
    /// Round-trip time of that packet.
    pub rtt: Nanos,
}

impl RateSample {
    /// Returns the rate in segments a second; zero when the interval is empty.
    pub fn segments_per_second(&self) -> f64 {
        if self.interval.0 == 0 { 0.0 } else { self.delivered as f64 / self.interval.as_secs_f64() }
    }
}

/// Why a congestion episode began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CongestionKind {
    /// Duplicate ACKs, SACK blocks or RACK found a loss.
    Loss,
    /// The receiver echoed a congestion mark.
    Ecn,
    /// The retransmission timer ran out.
    Timeout,
}

/// A congestion episode that begins.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Congestion {
    /// When.
    pub now: Nanos,
    /// Why.
    pub kind: CongestionKind,
    /// Segments in flight (sent and not acknowledged, SACKed or lost) just before.
    pub in_flight: u32,
    /// Segments sent and not cumulatively acknowledged (RFC 5681's FlightSize).
    pub flight_size: u32,
    /// Segments declared lost so far in this event.
    pub lost: u32,
    /// The latest round-trip time sample; zero before the first.
    pub rtt: Nanos,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Nanos,
    /// Least round-trip time seen; [`Nanos::MAX`] before the first sample.
    pub min_rtt: Nanos,
    /// How many timeouts in a row this is (1 for the first); 0 for other kinds. A stack that handles each timeout of a series
    /// again, like ns-2.35, reports 1 every time.
    pub timeouts: u32,
    /// The flow was in slow start.
    pub in_slow_start: bool,
}

impl Congestion {
    /// Returns whether the retransmission timer ran out again for the same data. The threshold is then kept: the
    /// amount in flight carries no information about the path (RFC 5681 section 3.1, below equation 4).
    #[inline]
    pub fn is_repeated_timeout(&self) -> bool {
        self.timeouts > 1
    }
}

/// A duplicate ACK.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DupAck {
    /// When.
    pub now: Nanos,
    /// Segments that it SACKed for the first time.
    pub sacked: u32,
    /// Duplicate ACKs in a row, this one included.
    pub count: u32,
}

/// One lost segment, with what the transport knew when it was sent.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LostPacket {
    /// When the loss was found.
    pub now: Nanos,
    /// When the segment was sent.
    pub sent: Nanos,
    /// Segments in flight when it was sent, itself included.
    pub tx_in_flight: u32,
    /// `delivered` counter when it was sent.
    pub delivered: u64,
    /// `lost` counter when it was sent.
    pub lost_at_send: u64,
    /// Segments lost since the start, this one included.
    pub lost: u64,
    /// It was sent while the application was limiting.
    pub app_limited: bool,
}

/// A frame that a media encoder is about to make.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    /// When.
    pub now: Nanos,
    /// Time between frames.
    pub interval: Nanos,
    /// The encoder's greatest rate, bytes a second.
    pub most: f64,
    /// How long the oldest frame of which something is not sent yet has waited; zero if all is sent.
    pub waited: Nanos,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Nanos,
}

/// How the receiver echoes congestion marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum EcnMode {
    /// ECN is not used.
    #[default]
    Off,
    /// RFC 3168: ECE on every ACK from a mark until CWR.
    Classic,
    /// RFC 8257: ECE mirrors each packet's mark exactly.
    Exact,
}

/// Properties of a flow that the application declares.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowHints {
    /// Bytes that the flow has to send, if it is not endless.
    pub bytes: Option<u64>,
    /// Deadline of their arrival.
    pub deadline: Option<Nanos>,
}

/// State of a connection when it is established.
#[derive(Clone, Copy, Debug, Default)]
pub struct Init {
    /// When.
    pub now: Nanos,
    /// A seed for the algorithm's own choices, different for each flow.
    pub seed: u64,
    /// What was negotiated.
    pub ecn: EcnMode,
    /// Selective acknowledgements are in use, so that several losses of a round trip can be found in it.
    pub sack: bool,
    /// The handshake's round-trip time, if one was measured.
    pub rtt: Option<Nanos>,
    /// Properties that the application declares.
    pub hints: FlowHints,
    /// Ticks a second of the stack's timers, in which some modules of Linux measure time (`CONFIG_HZ`); 0 if they expire exactly.
    pub timer_hz: u32,
}

/// What an algorithm requires of its transport beyond the plain events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// [`Ack::rate`] is filled.
    pub rate_samples: bool,
    /// [`crate::CongestionControl::on_packet_lost`] is called.
    pub lost_packets: bool,
    /// Packets are spaced by [`crate::Window::pacing_rate`].
    pub pacing: bool,
    /// If a queue of the path marks, the flow negotiates ECN this way, independent of the stack's own setting. A transport
    /// that cannot know this always negotiates it; [`Init::ecn`] has the result.
    pub ecn: Option<EcnMode>,
    /// The algorithm sets `cwnd` during recovery itself (BBR); the transport leaves it alone.
    pub owns_recovery: bool,
    /// An echoed congestion mark begins no episode; it is only reported in [`Ack::marked`].
    pub marks_only: bool,
    /// Requests to imitations of Linux's and ns-2's TCP; other transports ignore them.
    pub compat: CompatNeeds,
}
