//! How many TCP sockets use which congestion control: asked of the kernel by netlink, in every network namespace
//! that a process is in or that has a name.

use super::netlink;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::{fd::AsRawFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
};

/// Sockets by the name of their congestion control.
pub type Sockets = BTreeMap<String, usize>;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_CONG: u16 = 4;
/// `struct inet_diag_req_v2`.
const REQUEST: usize = 56;
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

/// Returns the number of each network namespace that a process is in or that has a name.
pub(super) fn namespace_inodes() -> BTreeSet<u64> {
    namespaces().iter().filter_map(|path| inode(path)).collect()
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
    let mut request = [0u8; REQUEST];
    request[0] = family;
    request[1] = libc::IPPROTO_TCP as u8;
    request[2] = 1 << (INET_DIAG_CONG - 1);
    // Sockets in every state.
    request[4..8].copy_from_slice(&u32::MAX.to_ne_bytes());
    netlink::dump(libc::NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, &request, |answer| {
        let mut of_socket = netlink::attributes(answer.get(MESSAGE..).unwrap_or_default());
        if let Some((_, name)) = of_socket.find(|(kind, _)| *kind == INET_DIAG_CONG) {
            *counted.entry(netlink::text(name)).or_default() += 1;
        }
    })
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
