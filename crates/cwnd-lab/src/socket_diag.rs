//! The TCP sockets of a network namespace with their `TCP_INFO`, read from the kernel by netlink (`sock_diag(7)`).

use crate::socket::TcpInfo;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_CONG: u16 = 4;
/// `struct nlmsghdr`.
const HEADER: usize = 16;
/// With `struct inet_diag_req_v2`.
const REQUEST: usize = HEADER + 56;
/// `struct inet_diag_msg`.
const MESSAGE: usize = 72;
/// Names of the states, by number (`include/net/tcp_states.h`).
const STATES: [&str; 13] = [
    "unknown",
    "established",
    "syn-sent",
    "syn-received",
    "fin-wait-1",
    "fin-wait-2",
    "time-wait",
    "closed",
    "close-wait",
    "last-ack",
    "listening",
    "closing",
    "new-syn-received",
];
/// States with a congestion window: established, FIN-WAIT-1, FIN-WAIT-2, CLOSE-WAIT, LAST-ACK and CLOSING.
const CONNECTED: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

/// A connected TCP socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpSocket {
    /// The address of this end.
    pub local: SocketAddr,
    /// The address of the other end.
    pub remote: SocketAddr,
    /// The name of its state, such as `established`.
    pub state: &'static str,
    /// The kernel's name of its congestion control.
    pub algorithm: String,
    /// Its `TCP_INFO`.
    pub info: TcpInfo,
}

/// Returns the connected TCP sockets of this thread's network namespace, IPv4 first. No privilege is needed.
///
/// # Errors
/// If the kernel has no `sock_diag` or refuses the request.
pub fn tcp_sockets() -> io::Result<Vec<TcpSocket>> {
    let mut sockets = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        dump(family as u8, &mut sockets)?;
    }
    Ok(sockets)
}

fn dump(family: u8, sockets: &mut Vec<TcpSocket>) -> io::Result<()> {
    // SAFETY: plain numbers; the descriptor is owned from then on.
    let socket = unsafe {
        let fd = libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_SOCK_DIAG);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(fd)
    };
    let mut request = [0u8; REQUEST];
    request[0..4].copy_from_slice(&(REQUEST as u32).to_ne_bytes());
    request[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    request[6..8].copy_from_slice(&flags.to_ne_bytes());
    request[HEADER] = family;
    request[HEADER + 1] = libc::IPPROTO_TCP as u8;
    request[HEADER + 2] = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1);
    request[HEADER + 4..HEADER + 8].copy_from_slice(&CONNECTED.to_ne_bytes());
    // SAFETY: the buffer is as long as said.
    if unsafe { libc::send(socket.as_raw_fd(), request.as_ptr().cast(), REQUEST, 0) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        // SAFETY: as above.
        let length = unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
        if !read_messages(&buffer[..length], sockets)? {
            return Ok(());
        }
    }
}

/// Reads the messages of a datagram. Returns false after the last message of the dump.
fn read_messages(mut bytes: &[u8], sockets: &mut Vec<TcpSocket>) -> io::Result<bool> {
    while bytes.len() >= HEADER {
        let length = u32_at(bytes, 0) as usize;
        let kind = i32::from(u16_at(bytes, 4));
        if length < HEADER || length > bytes.len() || kind == libc::NLMSG_DONE {
            return Ok(false);
        }
        if kind == libc::NLMSG_ERROR {
            let code = if length >= HEADER + 4 { u32_at(bytes, HEADER) as i32 } else { -libc::EIO };
            return Err(io::Error::from_raw_os_error(code.wrapping_neg()));
        }
        sockets.extend(read_socket(&bytes[HEADER..length]));
        bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
    }
    Ok(true)
}

/// Reads a `struct inet_diag_msg` and its attributes; none if it has no `TCP_INFO`.
fn read_socket(message: &[u8]) -> Option<TcpSocket> {
    let attributes = message.get(MESSAGE..)?;
    let address = |at: usize| -> Option<IpAddr> {
        let bytes: [u8; 16] = message[at..at + 16].try_into().ok()?;
        Some(match i32::from(message[0]) {
            libc::AF_INET => Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into(),
            _ => Ipv6Addr::from(bytes).to_canonical(),
        })
    };
    let port = |at: usize| u16::from_be_bytes([message[at], message[at + 1]]);
    let algorithm = attribute(attributes, INET_DIAG_CONG).unwrap_or_default();
    let algorithm = algorithm.split(|byte| *byte == 0).next().unwrap_or_default();
    Some(TcpSocket {
        local: SocketAddr::new(address(8)?, port(4)),
        remote: SocketAddr::new(address(24)?, port(6)),
        state: STATES.get(usize::from(message[1])).unwrap_or(&STATES[0]),
        algorithm: String::from_utf8_lossy(algorithm).into_owned(),
        info: TcpInfo::read(attribute(attributes, INET_DIAG_INFO)?)?,
    })
}

/// Returns the content of an attribute.
fn attribute(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    while attributes.len() >= 4 {
        let length = usize::from(u16_at(attributes, 0));
        let content = attributes.get(4..length)?;
        if u16_at(attributes, 2) == wanted {
            return Some(content);
        }
        attributes = &attributes[length.next_multiple_of(4).min(attributes.len())..];
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_of_this_process_is_found_with_its_window() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // A host may have no IPv6.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let server = listener.local_addr().expect("it is bound");
            let client = TcpStream::connect(server).expect("it listens");
            let local = client.local_addr().expect("it is connected");
            let sockets = tcp_sockets().expect("the kernel has sock_diag");
            let found = sockets.iter().find(|socket| socket.local == local && socket.remote == server);
            let found = found.unwrap_or_else(|| panic!("{local} is not among {sockets:?}"));
            assert_eq!(found.state, "established");
            assert_eq!(found.info.cwnd, 10);
            assert!(crate::host::available().contains(&found.algorithm), "{found:?}");
            assert!(sockets.iter().any(|socket| socket.local == server && socket.remote == local));
        }
    }

    #[test]
    fn a_message_that_is_cut_short_is_no_socket() {
        for length in 0..MESSAGE + 8 {
            assert_eq!(read_socket(&vec![2; length]), None, "{length} bytes");
        }
        assert_eq!(attribute(&[3, 0, 2, 0, 0, 0, 0, 0], INET_DIAG_INFO), None);
    }
}
