//! TCP sockets of this host's kernel, and what they tell of themselves.

use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::AsRawFd;
use std::time::Duration;

/// The port that receivers listen on.
pub const PORT: u16 = 5001;

/// Data that is not sent yet is kept in the application, not in the kernel, beyond so many bytes: what a flow gives no more when
/// it stops, and enough for 10 Gbit/s and a scheduler that is a millisecond late.
const NOT_SENT: libc::c_int = 1 << 20;

/// A socket that takes connections for a flow's receiver, with that congestion control: of it hangs how marks are echoed. It
/// offers at most `window` bytes, once its connections are told so ([`offer_at_most`]).
///
/// # Errors
/// If the kernel refuses; that it has no such congestion control, for one.
pub fn listen(address: Ipv4Addr, algorithm: &str, window: u32) -> io::Result<Socket> {
    let socket = tcp(algorithm)?;
    offer_at_most(&socket, scaled_for(window))?;
    socket.set_reuse_address(true)?;
    socket.bind(&SockAddr::from(SocketAddrV4::new(address, PORT)))?;
    socket.listen(4)?;
    Ok(socket)
}

/// Returns the clamp of a listener with which its connections get the window scale of a host whose receive buffers hold twice the
/// window (`tcp_adv_win_scale` = 1). The simulator has the same scale ([`cwnd_tcp::GrowingWindow`]). The kernel derives the scale from the
/// clamp. With a finer scale, each ACK advertises another window while it grows, and Linux's header prediction fails for all of them.
fn scaled_for(window: u32) -> u32 {
    const WITHOUT_SCALE: u32 = 65_535;
    const BUFFER_UNIT: u32 = 65_536;
    if window <= WITHOUT_SCALE {
        return window;
    }
    window.saturating_mul(2).checked_next_multiple_of(BUFFER_UNIT).unwrap_or(u32::MAX)
}

/// Have a receiver offer no more than so many bytes. Kernels since 6.10 lift that when they learn how much memory packets take, so
/// it is to be said again as data comes.
///
/// # Errors
/// If the kernel refuses.
pub fn offer_at_most(socket: &Socket, window: u32) -> io::Result<()> {
    // What is more than the greatest window there is means the same.
    set(socket, libc::TCP_WINDOW_CLAMP, libc::c_int::try_from(window).unwrap_or(libc::c_int::MAX))
}

/// A socket on its way to a receiver.
///
/// # Errors
/// If the kernel refuses.
pub fn connect(from: Ipv4Addr, to: Ipv4Addr, algorithm: &str) -> io::Result<Socket> {
    let socket = tcp(algorithm)?;
    set(&socket, libc::TCP_NOTSENT_LOWAT, NOT_SENT)?;
    // What is left at the end is thrown away.
    socket.set_linger(Some(Duration::ZERO))?;
    socket.bind(&SockAddr::from(SocketAddrV4::new(from, 0)))?;
    match socket.connect(&SockAddr::from(SocketAddrV4::new(to, PORT))) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(socket),
    }
}

fn tcp(algorithm: &str) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM.nonblocking().cloexec(), Some(Protocol::TCP))?;
    // Before the connection is made: it says whether ECN is asked for.
    socket.set_tcp_congestion(algorithm.as_bytes()).map_err(|error| {
        io::Error::new(error.kind(), format!("congestion control `{algorithm}`: {error}"))
    })?;
    Ok(socket)
}

fn set(socket: &Socket, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the value is as long as said, and lives as long as the call.
    let done = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, option, (&raw const value).cast(), length)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Bytes that [`discard`] throws away at a time, at most.
pub const DISCARDED_MOST: usize = 1 << 20;

/// Throw away what a socket has received. Returns how many bytes that were; none if there is nothing now.
///
/// # Errors
/// If the connection has broken.
pub fn discard(socket: &Socket) -> io::Result<Option<usize>> {
    // SAFETY: with MSG_TRUNC a TCP socket writes nothing anywhere (tcp(7)).
    let count =
        unsafe { libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), DISCARDED_MOST, libc::MSG_TRUNC) };
    match usize::try_from(count) {
        Ok(count) => Ok(Some(count)),
        Err(_) => {
            let error = io::Error::last_os_error();
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) {
                Ok(None)
            } else {
                Err(error)
            }
        }
    }
}

/// What a socket's congestion control reports of itself (`TCP_CC_INFO`); nothing if it reports nothing.
///
/// # Errors
/// If the kernel does not answer.
pub fn congestion_info(socket: &Socket) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0u8; 64];
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: the buffer is as long as said.
    let done = unsafe {
        let data = bytes.as_mut_ptr().cast();
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_CC_INFO, data, &raw mut length)
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    bytes.truncate(length as usize);
    Ok(bytes)
}

/// The threshold of a socket that has none yet (`TCP_INFINITE_SSTHRESH` of the kernel).
pub const INFINITE_SSTHRESH: u32 = 0x7FFF_FFFF;

/// The state of a socket (`TCP_INFO`; the fields of `struct tcp_info` in `linux/tcp.h`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Loss-recovery state: open, disorder, CWR, recovery, loss.
    pub state: u8,
    /// Segments that were sent and not acknowledged.
    pub unacked: u32,
    /// Of these, SACKed.
    pub sacked: u32,
    /// Of these, taken for lost.
    pub lost: u32,
    /// Of these, sent again.
    pub retransmitted: u32,
    /// Smoothed round-trip time, microseconds.
    pub rtt: u32,
    /// Slow-start threshold, segments.
    pub ssthresh: u32,
    /// Window, segments.
    pub cwnd: u32,
    /// Retransmissions so far.
    pub total_retransmissions: u32,
    /// Bytes acknowledged, and the SYN.
    pub bytes_acked: u64,
    /// Retransmission timeouts so far; none of kernels that do not tell (before 6.7).
    pub timeouts: Option<u16>,
    /// Segments that were delivered with a mark.
    pub delivered_ce: u32,
}

impl TcpInfo {
    /// Ask a socket.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn of(socket: &Socket) -> io::Result<TcpInfo> {
        let mut bytes = [0u8; 512];
        let mut length = bytes.len() as libc::socklen_t;
        // SAFETY: the buffer is as long as said.
        let done = unsafe {
            let (option, data) = (libc::TCP_INFO, bytes.as_mut_ptr().cast());
            libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, option, data, &raw mut length)
        };
        if done != 0 {
            return Err(io::Error::last_os_error());
        }
        TcpInfo::read(&bytes[..length as usize])
            .ok_or_else(|| io::Error::other("the kernel's TCP_INFO is shorter than that of Linux 4.6"))
    }

    /// Reads a `struct tcp_info`; none if it is shorter than that of Linux 4.6.
    pub(crate) fn read(bytes: &[u8]) -> Option<TcpInfo> {
        if bytes.len() < 168 {
            return None;
        }
        let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        // Kernels since 4.6 have all up to `tcpi_delivery_rate`; what came later may be missing.
        let later = |at: usize| if bytes.len() >= at + 4 { word(at) } else { 0 };
        Some(TcpInfo {
            state: bytes[1],
            unacked: word(24),
            sacked: word(28),
            lost: word(32),
            retransmitted: word(36),
            rtt: word(68),
            ssthresh: word(76),
            cwnd: word(80),
            total_retransmissions: word(100),
            bytes_acked: u64::from_ne_bytes(bytes[120..128].try_into().expect("eight bytes")),
            timeouts: bytes.get(240..242).map(|two| u16::from_ne_bytes([two[0], two[1]])),
            delivered_ce: later(196),
        })
    }

    /// Segments in flight, as the kernel counts them.
    pub fn in_flight(&self) -> u64 {
        u64::from((self.unacked + self.retransmitted).saturating_sub(self.sacked + self.lost))
    }

    /// The slow-start threshold, segments; infinite while there is none.
    pub fn ssthresh(&self) -> f64 {
        if self.ssthresh >= INFINITE_SSTHRESH { f64::INFINITY } else { f64::from(self.ssthresh) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_of_this_kernel_tells_its_window() {
        let listener = listen(Ipv4Addr::LOCALHOST, "reno", 1 << 20);
        // Another program may listen there; then there is nothing to see.
        let Ok(listener) = listener else { return };
        let socket = connect(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST, "reno").unwrap();
        let info = TcpInfo::of(&socket).unwrap();
        assert_eq!((info.cwnd, info.ssthresh()), (10, f64::INFINITY));
        drop(listener);
    }

    #[test]
    fn a_listener_is_given_the_scale_of_a_buffer_of_twice_the_window() {
        // 14 bits are the kernel's scale for a clamp of 2^29 and more; it takes the position of the highest bit less 15.
        let scale = |window: u32| scaled_for(window).ilog2().saturating_sub(15).min(14);
        for segments in [46, 2172, 46_341, 1 << 20] {
            let simulated = cwnd_tcp::GrowingWindow::new(u64::from(segments), 1448);
            assert_eq!(scale(segments * 1448), simulated.scale(), "{segments} segments");
        }
        // Without a scale, what the SYN-ACK offers is the clamp.
        assert_eq!([1, 65_535].map(scaled_for), [1, 65_535]);
        assert_eq!(scaled_for(u32::MAX), u32::MAX);
    }

    #[test]
    fn a_congestion_control_that_is_missing_is_named() {
        let error = listen(Ipv4Addr::LOCALHOST, "no-such", 1 << 20).unwrap_err();
        assert!(error.to_string().contains("`no-such`"), "{error}");
    }
}
