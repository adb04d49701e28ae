//! How many TCP sockets use which congestion control: asked of the kernel by netlink, in every network namespace
//! that a process is in or that has a name.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    path::{Path, PathBuf},
};

/// Sockets by the name of their congestion control.
pub type Sockets = BTreeMap<String, usize>;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_CONG: u16 = 4;
const HEADER: usize = 16;
const REQUEST: usize = HEADER + 56;
/// `struct inet_diag_msg`.
const MESSAGE: usize = 72;

/// Count the sockets of the host, those that listen included.
pub fn sockets() -> Sockets {
    let mut counted = Sockets::new();
    let of_one = |_: &Path| {
        let mut counted = Sockets::new();
        for family in [libc::AF_INET, libc::AF_INET6] {
            // A namespace that has gone since has no sockets.
            let _ = count(family as u8, &mut counted);
        }
        counted
    };
    for (name, count) in in_each_namespace(of_one).into_iter().flatten() {
        *counted.entry(name).or_default() += count;
    }
    counted
}

/// Does something in each network namespace that can be entered: without root that is the command's own alone.
pub fn in_each_namespace<T: Send>(what: impl Fn(&Path) -> T + Sync) -> Vec<T> {
    let own = inode(Path::new("/proc/self/ns/net"));
    let inside = |namespace: PathBuf| {
        let file = fs::File::open(&namespace).ok()?;
        // SAFETY: a call with plain numbers.
        let entered = unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) } == 0;
        (entered || inode(&namespace) == own).then(|| what(&namespace))
    };
    // A thread for each, since what it enters cannot be left by everyone.
    let of_one =
        |namespace| std::thread::scope(|scope| scope.spawn(|| inside(namespace)).join().ok().flatten());
    namespaces().into_iter().filter_map(of_one).collect()
}

/// A path to each network namespace.
fn namespaces() -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let of_processes = processes.map(|entry| entry.path().join("ns/net"));
    let named = ["/run/netns", "/var/run/netns"].into_iter().flat_map(fs::read_dir).flatten().flatten();
    let mut seen = BTreeSet::new();
    of_processes
        .chain(named.map(|entry| entry.path()))
        .filter(|path: &PathBuf| inode(path).is_some_and(|inode| seen.insert(inode)))
        .collect()
}

pub(super) fn inode(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|about| about.ino())
}

fn count(family: u8, counted: &mut Sockets) -> io::Result<()> {
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
    request[HEADER + 2] = 1 << (INET_DIAG_CONG - 1);
    // Sockets in every state.
    request[HEADER + 4..HEADER + 8].copy_from_slice(&u32::MAX.to_ne_bytes());
    // SAFETY: the buffer is as long as said.
    if unsafe { libc::send(socket.as_raw_fd(), request.as_ptr().cast(), REQUEST, 0) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut buffer = vec![0u8; 1 << 16];
    loop {
        // SAFETY: as above.
        let length = unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        if length < 0 {
            return Err(io::Error::last_os_error());
        }
        if !read_answers(&buffer[..length as usize], counted)? {
            return Ok(());
        }
    }
}

/// Count the sockets of an answer. False once the last has come.
fn read_answers(mut bytes: &[u8], counted: &mut Sockets) -> io::Result<bool> {
    while bytes.len() >= HEADER {
        let length = number(bytes, 0) as usize;
        let kind = i32::from(short(bytes, 4));
        if length < HEADER || length > bytes.len() || kind == libc::NLMSG_DONE {
            return Ok(false);
        }
        if kind == libc::NLMSG_ERROR {
            return Err(io::Error::from_raw_os_error((number(bytes, HEADER) as i32).wrapping_neg()));
        }
        let name = congestion_control(&bytes[(HEADER + MESSAGE).min(length)..length]);
        if let Some(name) = name {
            *counted.entry(name).or_default() += 1;
        }
        bytes = &bytes[(length.next_multiple_of(4)).min(bytes.len())..];
    }
    Ok(true)
}

/// The name in a socket's attributes.
fn congestion_control(mut attributes: &[u8]) -> Option<String> {
    while attributes.len() >= 4 {
        let length = usize::from(short(attributes, 0));
        if length < 4 || length > attributes.len() {
            return None;
        }
        if short(attributes, 2) == INET_DIAG_CONG {
            let text = attributes[4..length].split(|byte| *byte == 0).next().unwrap_or_default();
            return Some(String::from_utf8_lossy(text).into_owned());
        }
        attributes = &attributes[length.next_multiple_of(4).min(attributes.len())..];
    }
    None
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |word| u32::from_ne_bytes(word.try_into().expect("four bytes")))
}

fn short(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |half| u16::from_ne_bytes(half.try_into().expect("two bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_adds_its_sockets() {
        let default = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let _server = listener.accept().unwrap();
        // Others may come and go meanwhile; these three are there.
        let counted = sockets();
        let expected = if fs::File::open("/proc/1/ns/net").is_ok() { 3 } else { 0 };
        assert!(counted.get(default.trim()).copied().unwrap_or(0) >= expected, "{counted:?}");
    }
}
