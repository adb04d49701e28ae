//! The state of a socket (`struct tcp_info` in `linux/tcp.h`) in the names of scripts.

use cwnd_cc::State;
use cwnd_drill::code::Value;
use cwnd_drill::socket::CONSTANTS;
use cwnd_tcp::TcpInfo;
use socket2::Socket;
use std::collections::BTreeMap;
use std::os::fd::AsRawFd;

/// The threshold that Linux reports while there is none.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// The fields of bytes: name and offset.
const BYTES: &[(&str, usize)] = &[
    ("tcpi_state", 0),
    ("tcpi_ca_state", 1),
    ("tcpi_retransmits", 2),
    ("tcpi_backoff", 4),
    ("tcpi_options", 5),
];

/// The fields of 32 bits.
const WORDS: &[(&str, usize)] = &[
    ("tcpi_rto", 8),
    ("tcpi_snd_mss", 16),
    ("tcpi_unacked", 24),
    ("tcpi_sacked", 28),
    ("tcpi_lost", 32),
    ("tcpi_retrans", 36),
    ("tcpi_rtt", 68),
    ("tcpi_rttvar", 72),
    ("tcpi_snd_ssthresh", 76),
    ("tcpi_snd_cwnd", 80),
    ("tcpi_reordering", 88),
    ("tcpi_total_retrans", 100),
    ("tcpi_notsent_bytes", 144),
    ("tcpi_min_rtt", 148),
    ("tcpi_data_segs_out", 156),
    ("tcpi_delivered", 192),
    ("tcpi_dsack_dups", 216),
    ("tcpi_reord_seen", 220),
    ("tcpi_snd_wnd", 228),
];

/// The fields of 64 bits.
const LONGS: &[(&str, usize)] = &[("tcpi_pacing_rate", 104), ("tcpi_bytes_acked", 120)];

/// The raw structure.
struct Raw(Vec<u8>);

impl Raw {
    fn of(socket: &Socket) -> Option<Raw> {
        let mut bytes = vec![0u8; 512];
        let mut length = bytes.len() as libc::socklen_t;
        // SAFETY: the buffer is as long as said.
        let done = unsafe {
            let (option, data) = (libc::TCP_INFO, bytes.as_mut_ptr().cast());
            libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, option, data, &raw mut length)
        };
        bytes.truncate(length as usize);
        (done == 0).then_some(Raw(bytes))
    }

    fn byte(&self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    fn word(&self, at: usize) -> u32 {
        self.0.get(at..at + 4).map_or(0, |four| u32::from_ne_bytes([four[0], four[1], four[2], four[3]]))
    }

    fn long(&self, at: usize) -> u64 {
        // The two halves are in the order of this machine.
        let (first, second) = (u64::from(self.word(at)), u64::from(self.word(at + 4)));
        if cfg!(target_endian = "little") { second << 32 | first } else { first << 32 | second }
    }
}

/// Returns the state of an established connection.
pub(super) fn info(socket: &Socket) -> Option<TcpInfo> {
    const SYN_SENT: u8 = 2;
    const SYN_RECEIVED: u8 = 3;
    let raw = Raw::of(socket)?;
    if matches!(raw.byte(0), SYN_SENT | SYN_RECEIVED) {
        return None;
    }
    let nanos = |at: usize| u64::from(raw.word(at)) * 1000;
    let ssthresh = raw.word(76);
    Some(TcpInfo {
        cwnd: f64::from(raw.word(80)),
        ssthresh: if ssthresh == INFINITE_SSTHRESH { f64::INFINITY } else { f64::from(ssthresh) },
        state: match raw.byte(1) {
            1 => State::Disorder,
            2 => State::Cwr,
            3 => State::Recovery,
            4 => State::Loss,
            _ => State::Open,
        },
        unacked: raw.word(24),
        sacked: raw.word(28),
        lost: raw.word(32),
        retransmitted: raw.word(36),
        reordering: raw.word(88),
        reordering_events: raw.word(220),
        srtt: nanos(68),
        rtt_variation: nanos(72),
        min_rtt: Some(nanos(148)),
        timeout: nanos(8),
        timeouts: u32::from(raw.byte(2)),
        backoff: u32::from(raw.byte(4)),
        total_retransmissions: u64::from(raw.word(100)),
        total_timeouts: 0,
        delivered: u64::from(raw.word(192)),
        duplicates: u64::from(raw.word(216)),
        sent: u64::from(raw.word(156)),
        unsent: u64::from(raw.word(144)).div_ceil(u64::from(raw.word(16).max(1))),
        pacing_rate: raw.long(104) as f64,
        mss: raw.word(16),
    })
}

/// Returns the constants and the fields.
pub(super) fn variables(socket: Option<&Socket>) -> BTreeMap<&'static str, Value> {
    let mut variables: BTreeMap<&'static str, Value> =
        CONSTANTS.iter().map(|&(name, value)| (name, Value::Whole(value))).collect();
    let Some(raw) = socket.and_then(Raw::of) else { return variables };
    let mut set = |name, value| variables.insert(name, Value::Whole(value));
    for &(name, at) in BYTES {
        set(name, i64::from(raw.byte(at)));
    }
    for &(name, at) in WORDS {
        set(name, i64::from(raw.word(at)));
    }
    for &(name, at) in LONGS {
        set(name, i64::try_from(raw.long(at)).unwrap_or(i64::MAX));
    }
    set("tcpi_snd_wscale", i64::from(raw.byte(6) & 15));
    set("tcpi_rcv_wscale", i64::from(raw.byte(6) >> 4));
    set("tcpi_total_rto", i64::from(raw.word(240) & 0xffff));
    variables
}
