//! Name resolution for programs in a network with a way to the outside.
//!
//! The file `/etc/resolv.conf` often names a server on a loopback address, which in a network namespace is another host's. The
//! servers that this one asks are in a second file then, which the program finds in the place of the first.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::net::IpAddr;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The file that programs read.
const FILE: &CStr = c"/etc/resolv.conf";

/// Where services on a loopback address write the servers that they ask.
const UPSTREAM: [&str; 2] = ["/run/systemd/resolve/resolv.conf", "/run/NetworkManager/no-stub-resolv.conf"];

/// Which file a program finds as `/etc/resolv.conf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolver {
    /// This host's.
    Own,
    /// Another one of this host.
    Upstream(String),
    /// This host's, which names no server that can be reached through a network.
    Unreachable,
}

impl Resolver {
    /// Finds out which file names servers that can be reached through a network, by IPv4 and, if the network has it, by IPv6.
    pub fn find(with_ipv6: bool) -> Resolver {
        Resolver::among(with_ipv6, |path| fs::read_to_string(path).ok())
    }

    fn among(with_ipv6: bool, read: impl Fn(&str) -> Option<String>) -> Resolver {
        let reaches = |path: &str| read(path).is_some_and(|text| names_reachable_server(&text, with_ipv6));
        match FILE.to_str().ok().and_then(&read) {
            // Another file can be mounted only over one that is there.
            None => return Resolver::Unreachable,
            Some(own) if names_reachable_server(&own, with_ipv6) => return Resolver::Own,
            Some(_) => {}
        }
        let upstream = UPSTREAM.into_iter().find(|path| reaches(path));
        upstream.map_or(Resolver::Unreachable, |path| Resolver::Upstream(path.to_owned()))
    }

    /// Lets a program find the file, in a mount namespace of its own.
    ///
    /// # Errors
    /// If the file's name is not valid.
    pub fn apply(&self, command: &mut Command) -> io::Result<()> {
        let Resolver::Upstream(path) = self else { return Ok(()) };
        let path = CString::new(path.as_str())?;
        // SAFETY: these calls may be made between fork and exec; all paths end with a zero and outlive them.
        unsafe {
            command.pre_exec(move || {
                let none = std::ptr::null();
                let done = libc::unshare(libc::CLONE_NEWNS) == 0
                    // Mounts of the program do not reach this host.
                    && libc::mount(none, c"/".as_ptr(), none, libc::MS_REC | libc::MS_PRIVATE, none.cast()) == 0
                    && libc::mount(path.as_ptr(), FILE.as_ptr(), none, libc::MS_BIND, none.cast()) == 0;
                if done { Ok(()) } else { Err(io::Error::last_os_error()) }
            });
        }
        Ok(())
    }
}

fn names_reachable_server(text: &str, with_ipv6: bool) -> bool {
    text.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("nameserver")
            && words.next().is_some_and(|word| {
                // A link-local address, which no other network reaches, has a zone (`%eth0`) and does not parse.
                word.parse()
                    .is_ok_and(|server: IpAddr| (with_ipv6 || server.is_ipv4()) && !server.is_loopback())
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_a_loopback_address_is_not_reachable() {
        let stub = "# systemd-resolved\nnameserver 127.0.0.53\noptions edns0\n";
        let real = "nameserver 192.0.2.53\n";
        let resolver = |own: &'static str, upstream: Option<&'static str>| {
            Resolver::among(false, |path| match path {
                "/etc/resolv.conf" => Some(own.to_owned()),
                "/run/systemd/resolve/resolv.conf" => upstream.map(str::to_owned),
                _ => None,
            })
        };
        assert_eq!(resolver(real, Some(real)), Resolver::Own);
        assert_eq!(resolver(stub, Some(real)), Resolver::Upstream(UPSTREAM[0].to_owned()));
        assert_eq!(resolver(stub, Some(stub)), Resolver::Unreachable);
        let absent = |path: &str| (path == UPSTREAM[0]).then(|| real.to_owned());
        assert_eq!(Resolver::among(false, absent), Resolver::Unreachable);
        assert_eq!(resolver("nameserver ::1\n", None), Resolver::Unreachable);
        assert_eq!(resolver("nameserver fd00::53\n", None), Resolver::Unreachable);
        let by_ipv6 = |text: &str| Resolver::among(true, |_| Some(text.to_owned()));
        assert_eq!(by_ipv6("nameserver fd00::53\n"), Resolver::Own);
        assert_eq!(by_ipv6("nameserver ::1\nnameserver fe80::1%eth0\n"), Resolver::Unreachable);
    }
}
