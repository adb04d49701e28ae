//! Which mechanism of TCP a difference concerns.

use crate::endpoint::{Endpoint, Sent, Trigger};
use crate::script::Packet;
use cwnd_cc::State;
use cwnd_tcp::TcpInfo;
use std::fmt;

/// A mechanism of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Mechanism {
    Handshake,
    SlowStart,
    SlowStartExit,
    CongestionAvoidance,
    LimitedTransmit,
    FastRetransmit,
    RateReduction,
    ReorderingTimer,
    TailLossProbe,
    RetransmissionTimeout,
    ZeroWindowProbe,
    IdleRestart,
    Pacing,
    RoundTripTime,
    RecoveryState,
    LossDetection,
    Scoreboard,
    ReorderingDetection,
    Ecn,
    PushFlag,
    Acknowledgement,
    ConnectionEnd,
    SystemCall,
    LocalQueue,
    Other,
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mechanism::Handshake => "handshake",
            Mechanism::SlowStart => "slow start growth",
            Mechanism::SlowStartExit => "end of slow start",
            Mechanism::CongestionAvoidance => "congestion avoidance growth",
            Mechanism::LimitedTransmit => "limited transmit",
            Mechanism::FastRetransmit => "fast retransmit",
            Mechanism::RateReduction => "proportional rate reduction",
            Mechanism::ReorderingTimer => "RACK reordering timer",
            Mechanism::TailLossProbe => "tail loss probe",
            Mechanism::RetransmissionTimeout => "retransmission timeout",
            Mechanism::ZeroWindowProbe => "zero-window probe",
            Mechanism::IdleRestart => "restart after idle",
            Mechanism::Pacing => "pacing",
            Mechanism::RoundTripTime => "round-trip time estimation",
            Mechanism::RecoveryState => "state of loss recovery",
            Mechanism::LossDetection => "loss detection",
            Mechanism::Scoreboard => "SACK scoreboard",
            Mechanism::ReorderingDetection => "reordering detection",
            Mechanism::Ecn => "ECN",
            Mechanism::PushFlag => "PSH flag",
            Mechanism::Acknowledgement => "acknowledgement by the receiver",
            Mechanism::ConnectionEnd => "end of the connection",
            Mechanism::SystemCall => "system call",
            Mechanism::LocalQueue => "local queue",
            Mechanism::Other => "other",
        })
    }
}

/// Returns the mechanism of a difference between the packet that is expected and the one that has left, if any.
pub(crate) fn of_packet(
    endpoint: &dyn Endpoint,
    expected: &Packet,
    actual: Option<&Sent>,
    paced: bool,
) -> Mechanism {
    if expected.flags.syn {
        return Mechanism::Handshake;
    }
    if expected.flags.fin || actual.is_some_and(|sent| sent.packet.flags.fin) {
        return Mechanism::ConnectionEnd;
    }
    let Some(info) = endpoint.info() else { return Mechanism::Handshake };
    if expected.length == 0 {
        let waits = info.unsent > 0 && info.unacked == 0;
        return if waits { Mechanism::ZeroWindowProbe } else { Mechanism::Acknowledgement };
    }
    let by_timer = actual.is_some_and(|sent| sent.trigger == Trigger::Timer);
    let again = actual.map_or_else(|| endpoint.was_sent(expected), |sent| sent.retransmission);
    match info.state {
        State::Loss => Mechanism::RetransmissionTimeout,
        State::Recovery if by_timer => Mechanism::ReorderingTimer,
        State::Recovery if again && info.total_retransmissions <= 1 => Mechanism::FastRetransmit,
        State::Recovery | State::Cwr => Mechanism::RateReduction,
        State::Disorder if again => Mechanism::FastRetransmit,
        State::Disorder => Mechanism::LimitedTransmit,
        State::Open if by_timer || again => Mechanism::TailLossProbe,
        State::Open if paced => Mechanism::Pacing,
        State::Open => of_growth(&info),
    }
}

/// Returns the mechanism by which the window grows, or by which slow start has ended without a loss.
fn of_growth(info: &TcpInfo) -> Mechanism {
    if info.cwnd < info.ssthresh {
        Mechanism::SlowStart
    } else if info.total_retransmissions == 0 && info.cwnd == info.ssthresh {
        Mechanism::SlowStartExit
    } else {
        Mechanism::CongestionAvoidance
    }
}

/// Returns the mechanism of a false assertion that reads these variables.
pub(crate) fn of_assertion(endpoint: &dyn Endpoint, variables: &[String], queue_blocked: bool) -> Mechanism {
    let Some(info) = endpoint.info() else { return Mechanism::Handshake };
    let reads = |name: &str| variables.iter().any(|variable| variable == name);
    if queue_blocked {
        return Mechanism::LocalQueue;
    }
    if reads("tcpi_ca_state") {
        return Mechanism::RecoveryState;
    }
    if reads("tcpi_snd_cwnd") {
        return match info.state {
            State::Recovery | State::Cwr => Mechanism::RateReduction,
            State::Loss => Mechanism::RetransmissionTimeout,
            State::Disorder => Mechanism::LimitedTransmit,
            State::Open => of_growth(&info),
        };
    }
    let fields = [
        ("tcpi_snd_ssthresh", Mechanism::SlowStartExit),
        ("tcpi_lost", Mechanism::LossDetection),
        ("tcpi_sacked", Mechanism::Scoreboard),
        ("tcpi_unacked", Mechanism::Scoreboard),
        ("tcpi_retrans", Mechanism::FastRetransmit),
        ("tcpi_total_retrans", Mechanism::FastRetransmit),
        ("tcpi_reordering", Mechanism::ReorderingDetection),
        ("tcpi_reord_seen", Mechanism::ReorderingDetection),
        ("tcpi_rtt", Mechanism::RoundTripTime),
        ("tcpi_rttvar", Mechanism::RoundTripTime),
        ("tcpi_min_rtt", Mechanism::RoundTripTime),
        ("tcpi_rto", Mechanism::RetransmissionTimeout),
        ("tcpi_pacing_rate", Mechanism::Pacing),
        ("tcpi_options", Mechanism::Handshake),
    ];
    fields.into_iter().find(|(name, _)| reads(name)).map_or(Mechanism::Other, |(_, mechanism)| mechanism)
}
