//! The TCP sockets of this host as JSON.

use cwnd_lab::socket_diag::{TcpSocket, tcp_sockets};
use serde::Serialize;

/// Sockets that are listed at most; the others are counted.
const MOST: usize = 200;

/// The sockets at a time.
#[derive(Serialize)]
pub struct SocketList {
    /// How many there are.
    count: usize,
    sockets: Vec<SocketLine>,
    /// Why they cannot be read.
    problem: Option<String>,
}

#[derive(Serialize)]
struct SocketLine {
    local: String,
    remote: String,
    state: &'static str,
    algorithm: String,
    recovery: &'static str,
    /// Segments.
    cwnd: u32,
    /// Segments; none while there is no threshold.
    ssthresh: Option<u32>,
    rtt_s: Option<f64>,
    in_flight: u64,
    acknowledged_bytes: u64,
    retransmissions: u32,
}

/// Reads the connected sockets of this network namespace: those with the most bytes acknowledged first.
pub fn now() -> SocketList {
    match tcp_sockets() {
        Err(error) => {
            let problem = format!("the kernel does not list its sockets: {error}; it needs CONFIG_INET_DIAG");
            SocketList { count: 0, sockets: Vec::new(), problem: Some(problem) }
        }
        Ok(mut sockets) => {
            sockets.sort_by_key(|socket| std::cmp::Reverse(socket.info.bytes_acked));
            let count = sockets.len();
            sockets.truncate(MOST);
            SocketList { count, sockets: sockets.iter().map(SocketLine::new).collect(), problem: None }
        }
    }
}

impl SocketLine {
    fn new(socket: &TcpSocket) -> SocketLine {
        const RECOVERY: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];
        let info = &socket.info;
        SocketLine {
            local: socket.local.to_string(),
            remote: socket.remote.to_string(),
            state: socket.state,
            algorithm: socket.algorithm.clone(),
            recovery: RECOVERY.get(usize::from(info.state)).unwrap_or(&""),
            cwnd: info.cwnd,
            ssthresh: info.ssthresh().is_finite().then_some(info.ssthresh),
            rtt_s: (info.rtt > 0).then(|| f64::from(info.rtt) * 1e-6),
            in_flight: info.in_flight(),
            acknowledged_bytes: info.bytes_acked.saturating_sub(1),
            retransmissions: info.total_retransmissions,
        }
    }
}
