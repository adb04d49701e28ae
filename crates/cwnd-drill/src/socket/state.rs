//! The socket's state in the names of `tcp_info`, for code blocks.

use super::{Phase, Socket};
use crate::code::Value;
use cwnd_cc::State;
use std::collections::BTreeMap;

/// The slow-start threshold that Linux reports while there is none.
const INFINITE_SSTHRESH: i64 = 0x7fff_ffff;

/// The constants that code blocks may name.
pub const CONSTANTS: &[(&str, i64)] = &[
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_CLOSE", 7),
    ("TCP_LISTEN", 10),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
];

/// The fields of `tcp_info` that are supported, with their meaning.
pub const TCP_FIELDS: &[(&str, &str)] = &[
    ("tcpi_state", "state of the connection"),
    ("tcpi_ca_state", "state of loss recovery"),
    ("tcpi_retransmits", "timeouts since the last ACK of new data"),
    ("tcpi_backoff", "how many times the timeout is doubled"),
    ("tcpi_options", "negotiated options"),
    ("tcpi_snd_wscale", "the peer's window scale"),
    ("tcpi_rcv_wscale", "the socket's window scale"),
    ("tcpi_rto", "retransmission timeout, us"),
    ("tcpi_snd_mss", "segment size, bytes"),
    ("tcpi_unacked", "segments outstanding"),
    ("tcpi_sacked", "segments SACKed"),
    ("tcpi_lost", "segments declared lost"),
    ("tcpi_retrans", "retransmissions in flight"),
    ("tcpi_rtt", "smoothed round-trip time, us"),
    ("tcpi_rttvar", "its variation, us"),
    ("tcpi_min_rtt", "least round-trip time, us"),
    ("tcpi_snd_ssthresh", "slow-start threshold, segments"),
    ("tcpi_snd_cwnd", "congestion window, segments"),
    ("tcpi_reordering", "greatest reordering distance, segments"),
    ("tcpi_reord_seen", "ACKs that revealed reordering"),
    ("tcpi_total_retrans", "retransmissions since the start"),
    ("tcpi_total_rto", "timeouts since the start"),
    ("tcpi_pacing_rate", "pacing rate, bytes/s; 2^63 - 1 without pacing"),
    ("tcpi_delivered", "segments delivered"),
    ("tcpi_dsack_dups", "segments reported as received twice"),
    ("tcpi_data_segs_out", "data segments sent"),
    ("tcpi_bytes_acked", "bytes acknowledged"),
    ("tcpi_notsent_bytes", "bytes written and not sent"),
    ("tcpi_snd_wnd", "the peer's window, bytes"),
];

impl Socket {
    /// Returns the constants and the values of the fields.
    pub(super) fn state_variables(&self) -> BTreeMap<&'static str, Value> {
        let mut variables: BTreeMap<&'static str, Value> =
            CONSTANTS.iter().map(|&(name, value)| (name, Value::Whole(value))).collect();
        let Some(sender) = &self.sender else { return variables };
        let info = sender.tcp_info();
        let whole = |number: f64| if number.is_finite() { number as i64 } else { i64::MAX };
        let micros = |nanos: u64| (nanos / 1000) as i64;
        let ca_state = match info.state {
            State::Open => 0,
            State::Disorder => 1,
            State::Cwr => 2,
            State::Recovery => 3,
            State::Loss => 4,
        };
        let options = i64::from(self.peer.timestamps)
            | i64::from(self.peer.sack) << 1
            | i64::from(self.peer.window_scaling) << 2
            | i64::from(self.peer.ecn) << 3;
        let ssthresh = if info.ssthresh.is_finite() { whole(info.ssthresh) } else { INFINITE_SSTHRESH };
        let sent_bytes = self.stream.start(sender.next_segment());
        let value = |name: &str| match name {
            "tcpi_state" => i64::from(self.phase == Phase::Established),
            "tcpi_ca_state" => ca_state,
            "tcpi_retransmits" => i64::from(info.timeouts),
            "tcpi_backoff" => i64::from(info.backoff),
            "tcpi_options" => options,
            "tcpi_snd_wscale" => i64::from(self.peer.window_scale),
            "tcpi_rcv_wscale" => i64::from(self.receive_scale()),
            "tcpi_rto" => micros(info.timeout),
            "tcpi_snd_mss" => i64::from(info.mss),
            "tcpi_unacked" => i64::from(info.unacked),
            "tcpi_sacked" => i64::from(info.sacked),
            "tcpi_lost" => i64::from(info.lost),
            "tcpi_retrans" => i64::from(info.retransmitted),
            "tcpi_rtt" => micros(info.srtt),
            "tcpi_rttvar" => micros(info.rtt_variation),
            "tcpi_min_rtt" => info.min_rtt.map_or(i64::from(u32::MAX), micros),
            "tcpi_snd_ssthresh" => ssthresh,
            "tcpi_snd_cwnd" => whole(info.cwnd),
            "tcpi_reordering" => i64::from(info.reordering),
            "tcpi_reord_seen" => i64::from(info.reordering_events),
            "tcpi_total_retrans" => info.total_retransmissions as i64,
            "tcpi_total_rto" => info.total_timeouts as i64,
            "tcpi_pacing_rate" => whole(info.pacing_rate),
            "tcpi_delivered" => info.delivered as i64,
            "tcpi_dsack_dups" => info.duplicates as i64,
            "tcpi_data_segs_out" => info.sent as i64,
            "tcpi_bytes_acked" => self.stream.start(sender.acknowledged()) as i64,
            "tcpi_notsent_bytes" => (self.stream.end() - sent_bytes) as i64,
            "tcpi_snd_wnd" => self.peer.window as i64,
            _ => 0,
        };
        variables.extend(TCP_FIELDS.iter().map(|(name, _)| (*name, Value::Whole(value(name)))));
        variables
    }
}
