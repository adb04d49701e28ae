//! Requests of other processes to a process that keeps a network up: a text, and whether it was done.
//!
//! They come over Unix sockets with abstract names, which the kernel forgets with the process. Such a name belongs to a network
//! namespace, so that the process listens on this host and in each namespace in which programs of the network run.

use crate::namespace::Namespace;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

/// Bytes of a request or an answer, at most.
const MOST: u64 = 1 << 16;

/// How long the other side may take to send a request, and to answer one.
const PATIENCE: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(10)];

/// What an answer to a request that was done begins with.
const DONE: &str = "done ";

/// Where requests come.
pub struct Requests(Vec<UnixListener>);

/// A request, which is to be answered.
pub struct Request {
    stream: UnixStream,
    text: String,
}

impl Requests {
    /// Listens under a name in the namespaces of a network, and on this host if the network is to be found there.
    ///
    /// # Errors
    /// If another process listens under the name on this host.
    pub fn listen<'a>(
        name: &str,
        on_host: bool,
        namespaces: impl IntoIterator<Item = &'a Namespace>,
    ) -> io::Result<Requests> {
        let address = address(name)?;
        let mut listeners = Vec::new();
        if on_host {
            listeners.push(UnixListener::bind_addr(&address)?);
        }
        for namespace in namespaces {
            listeners.push(namespace.within(|| UnixListener::bind_addr(&address))?);
        }
        for listener in &listeners {
            listener.set_nonblocking(true)?;
        }
        Ok(Requests(listeners))
    }

    /// Returns the next request, if one has come. Those of other users are closed without an answer.
    pub fn next(&self) -> Option<Request> {
        let (stream, _) = self.0.iter().find_map(|listener| listener.accept().ok())?;
        if user_of(&stream).ok()? != own_user() {
            return None;
        }
        stream.set_nonblocking(false).ok()?;
        stream.set_read_timeout(Some(PATIENCE[0])).ok()?;
        let text = read(&stream).ok()?;
        Some(Request { stream, text })
    }
}

impl Request {
    /// Returns what is asked for.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Sends what was done, or why it could not be done.
    pub fn answer(mut self, answer: Result<String, String>) {
        let text = answer.map_or_else(|why| why, |done| DONE.to_owned() + &done);
        // Who does not wait for the answer does not need it.
        let _ = self.stream.write_all(text.as_bytes());
    }
}

/// Asks the process that listens under a name. Returns its answer.
///
/// # Errors
/// If none listens, or it does not answer.
pub fn ask(name: &str, text: &str) -> io::Result<Result<String, String>> {
    let mut stream = UnixStream::connect_addr(&address(name)?)?;
    if user_of(&stream)? != own_user() {
        let why = "it belongs to another user, who alone can change it";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    stream.set_read_timeout(Some(PATIENCE[1]))?;
    stream.write_all(text.as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    let answer = read(&stream)?;
    if answer.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ended before it answered"));
    }
    Ok(match answer.strip_prefix(DONE) {
        Some(done) => Ok(done.to_owned()),
        None => Err(answer),
    })
}

fn address(name: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("cwnd-lab-link/{name}"))
}

fn read(stream: &UnixStream) -> io::Result<String> {
    let mut text = String::new();
    stream.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}

fn own_user() -> u32 {
    // SAFETY: it has no arguments and cannot fail.
    unsafe { libc::geteuid() }
}

/// Returns the user of the process at the other end: of the one that connected, or of the one that listens.
fn user_of(stream: &UnixStream) -> io::Result<u32> {
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the structure is what this option writes, and is as long as said.
    let done = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut credentials).cast(),
            &raw mut length,
        )
    };
    if done == 0 { Ok(credentials.uid) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_request_is_answered() {
        let name = format!("test-{}", std::process::id());
        let listener = UnixListener::bind_addr(&address(&name).unwrap()).unwrap();
        listener.set_nonblocking(true).unwrap();
        let requests = Requests(vec![listener]);
        let asked = thread::spawn(move || [ask(&name, "rate=1").unwrap(), ask(&name, "no").unwrap()]);
        for answer in [Ok("rate 1".to_owned()), Err("it is not known".to_owned())] {
            let request = loop {
                match requests.next() {
                    Some(request) => break request,
                    None => thread::sleep(Duration::from_millis(1)),
                }
            };
            assert!(["rate=1", "no"].contains(&request.text()));
            request.answer(answer);
        }
        assert_eq!(asked.join().unwrap(), [Ok("rate 1".to_owned()), Err("it is not known".to_owned())]);
        assert!(ask("nobody-listens", "x").is_err());
    }
}
