//! The application at the receivers' end: it reads what comes as soon as it can, and throws it away.

use crate::socket;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use socket2::Socket;
use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// All sockets of that end.
pub struct Receivers {
    readiness: Poll,
    events: Events,
    sockets: Vec<Receiver>,
    /// Bytes that each offers at most.
    window: u32,
}

struct Receiver {
    socket: Socket,
    role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Listens,
    Receives,
    /// All has come. It stays open, so that the sender's socket can still be asked.
    Done,
}

impl Receivers {
    /// Creates receivers for the connections of these listeners. Each offers at most `window` bytes.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn new(listeners: Vec<Socket>, window: u32) -> io::Result<Receivers> {
        let (readiness, events) = (Poll::new()?, Events::with_capacity(1024));
        let mut receivers = Receivers { readiness, events, sockets: Vec::new(), window };
        listeners.into_iter().try_for_each(|listener| receivers.add(listener, Role::Listens))?;
        Ok(receivers)
    }

    fn add(&mut self, socket: Socket, role: Role) -> io::Result<()> {
        let (fd, token) = (socket.as_raw_fd(), Token(self.sockets.len()));
        self.readiness.registry().register(&mut SourceFd(&fd), token, Interest::READABLE)?;
        self.sockets.push(Receiver { socket, role });
        Ok(())
    }

    /// Waits until data or a connection has come, at most for `timeout`, and reads or accepts it.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn serve(&mut self, timeout: Duration) -> io::Result<()> {
        match self.readiness.poll(&mut self.events, Some(timeout)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        let mut accepted = Vec::new();
        for event in &self.events {
            let Receiver { socket, role } = &mut self.sockets[event.token().0];
            match role {
                Role::Receives => {
                    *role = take(socket, event.is_read_closed());
                    socket::offer_at_most(socket, self.window)?;
                }
                Role::Done => {}
                // One event stands for all that wait.
                Role::Listens => {
                    while let Some(socket) = accept(socket)? {
                        accepted.push(socket);
                    }
                }
            }
        }
        accepted.into_iter().try_for_each(|socket| self.add(socket, Role::Receives))
    }
}

/// Accepts a connection; none if none waits.
fn accept(listener: &Socket) -> io::Result<Option<Socket>> {
    let socket = match listener.accept() {
        Ok((socket, _)) => socket,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
        Err(error) => return Err(error),
    };
    socket.set_nonblocking(true)?;
    // Or it would outlive the run without an owner, and with it the algorithm's programs.
    socket.set_linger(Some(Duration::ZERO))?;
    Ok(Some(socket))
}

/// Reads what there is. A read that returns less than it asked for has emptied the socket, and later data is another event (epoll(7)). The end
/// of the stream may already be there: with `has_ended` it is read, too.
fn take(socket: &Socket, has_ended: bool) -> Role {
    loop {
        match socket::discard(socket) {
            Ok(Some(0)) => return Role::Done,
            Ok(Some(count)) if count == socket::DISCARDED_MOST || has_ended => {}
            Ok(Some(_) | None) => return Role::Receives,
            // A sender that ends throws its connection away.
            Err(_) => return Role::Done,
        }
    }
}
