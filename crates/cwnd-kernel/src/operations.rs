//! The structures that algorithms in C and in Rust share when the C is compiled for this machine.

/// What an object has room for (`PARAMETERS_MOST` of `bpf/fields.h`).
pub const MAX_PARAMETERS: usize = 10;

/// The values of an algorithm's parameters, in the order and the units of its C file.
pub type Values = [u64; MAX_PARAMETERS];

/// The C's `struct cwnd_native`.
#[repr(C)]
#[derive(Debug)]
pub struct Operations {
    pub ssthresh: unsafe extern "C" fn(*mut TcpSock) -> u32,
    pub cong_avoid: Option<unsafe extern "C" fn(*mut TcpSock, u32)>,
    pub set_state: Option<unsafe extern "C" fn(*mut TcpSock, u8)>,
    pub cwnd_event: Option<unsafe extern "C" fn(*mut TcpSock, u32)>,
    pub cwnd_event_tx_start: Option<unsafe extern "C" fn(*mut TcpSock)>,
    pub pkts_acked: Option<unsafe extern "C" fn(*mut TcpSock, u32, i32)>,
    pub cong_control: Option<unsafe extern "C" fn(*mut TcpSock, *const RateSample)>,
    pub undo_cwnd: unsafe extern "C" fn(*mut TcpSock) -> u32,
    pub init: Option<unsafe extern "C" fn(*mut TcpSock)>,
    pub parameters: *const u64,
    pub socket_size: u64,
    pub flags: u32,
}

// SAFETY: the C's tables are constant.
unsafe impl Sync for Operations {}

impl Operations {
    #[cfg(test)]
    pub fn defaults(&self) -> Values {
        // SAFETY: the C has as many words, and they are constant.
        unsafe { *self.parameters.cast::<Values>() }
    }
}

/// The C's `struct tcp_sock` of `bpf/fields.h`.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct TcpSock {
    pub pacing_status: u32,
    pub pacing_rate: u64,
    pub max_pacing_rate: u64,
    pub ack_pending: u8,
    pub private: [u64; 13],
    pub snd_cwnd: u32,
    pub snd_cwnd_cnt: u32,
    pub snd_cwnd_clamp: u32,
    pub snd_ssthresh: u32,
    pub prior_cwnd: u32,
    pub snd_una: u32,
    pub snd_nxt: u32,
    pub rcv_nxt: u32,
    pub mss_cache: u32,
    pub max_packets_out: u32,
    pub packets_out: u32,
    pub sacked_out: u32,
    pub lost_out: u32,
    pub retrans_out: u32,
    pub prr_out: u32,
    /// Eighths of a microsecond.
    pub srtt_us: u32,
    pub delivered: u32,
    pub delivered_ce: u32,
    pub lost: u32,
    /// Microseconds.
    pub tcp_mstamp: u64,
    /// Three samples of time and value; the first is the least.
    pub rtt_min: [u32; 6],
    pub ecn_flags: u8,
    pub is_cwnd_limited: u8,
    pub parameters: *const u64,
    pub seed: u64,
    /// Bytes to send, and microseconds of the clock of `tcp_mstamp`.
    pub hints: [u64; 2],
    pub storage: [u64; 96],
}

/// The C's `struct rate_sample` of `bpf/fields.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    pub prior_delivered: u32,
    pub delivered: i32,
    pub interval_us: i64,
    pub rtt_us: i64,
    pub losses: i32,
    pub acked_sacked: u32,
    pub prior_in_flight: u32,
    pub is_app_limited: bool,
}

/// Rate of a socket for which none is set.
pub const NO_PACING: u64 = u64::MAX;

impl TcpSock {
    pub fn new() -> TcpSock {
        // SAFETY: all fields are numbers or a raw pointer, for which zero is a value.
        let zeroed = unsafe { std::mem::zeroed() };
        TcpSock { rtt_min: [u32::MAX; 6], pacing_rate: NO_PACING, max_pacing_rate: NO_PACING, ..zeroed }
    }
}
