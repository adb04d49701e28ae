//! The system calls of the application.

use crate::cursor::{Place, ScriptError};
use crate::endpoint::Endpoint;
use crate::script::{Argument, Call};
use crate::settings::{Note, algorithm};

/// The calls that are supported, for errors.
const CALLS: &str = "socket, setsockopt, getsockopt, bind, listen, accept, accept4, connect, write, writev, send, sendto, sendmsg, \
                     read, recv, recvfrom, recvmsg, shutdown, close, fcntl, ioctl and poll";

/// Socket options without an effect on the endpoint.
const IGNORED_OPTIONS: &[&str] = &[
    "SO_REUSEADDR",
    "SO_REUSEPORT",
    "SO_SNDBUF",
    "SO_RCVBUF",
    "SO_SNDBUFFORCE",
    "SO_RCVBUFFORCE",
    "SO_PRIORITY",
    "SO_MARK",
    "SO_LINGER",
    "SO_KEEPALIVE",
    "SO_RCVLOWAT",
    "SO_ZEROCOPY",
    "SO_TIMESTAMPING",
    "SO_MAX_PACING_RATE",
    "SO_BUSY_POLL",
    "IP_MTU_DISCOVER",
    "IP_TOS",
    "IP_TTL",
    "IP_RECVERR",
    "IP_FREEBIND",
    "IPV6_TCLASS",
    "IPV6_MTU_DISCOVER",
    "TCP_USER_TIMEOUT",
    "TCP_NOTSENT_LOWAT",
    "TCP_QUICKACK",
    "TCP_WINDOW_CLAMP",
    "TCP_MAXSEG",
    "TCP_SYNCNT",
    "TCP_DEFER_ACCEPT",
    "TCP_SAVE_SYN",
    "TCP_LINGER2",
    "TCP_INQ",
    "TCP_TIMESTAMP",
    "TCP_FASTOPEN",
    "TCP_KEEPIDLE",
    "TCP_KEEPINTVL",
    "TCP_KEEPCNT",
];

/// Options whose effect a test may notice.
const NOTED_OPTIONS: &[&str] = &[
    "SO_MAX_PACING_RATE",
    "TCP_USER_TIMEOUT",
    "TCP_NOTSENT_LOWAT",
    "TCP_QUICKACK",
    "TCP_WINDOW_CLAMP",
    "TCP_MAXSEG",
    "TCP_FASTOPEN",
    "TCP_DEFER_ACCEPT",
    "TCP_KEEPIDLE",
    "SO_ZEROCOPY",
];

/// The application's file descriptors.
#[derive(Debug, Default)]
pub(super) struct Application {
    /// The listening socket, while it is open.
    listener: Option<i64>,
    /// The descriptor of the connection, once it was accepted or connected to; a script that writes `...` gives none.
    connection: Option<i64>,
    /// Whether it was.
    connected: bool,
    /// Whether calls return at once.
    non_blocking: bool,
}

/// What was expected and what has happened, if they differ.
type Problem = Option<(String, String)>;

impl Application {
    /// Makes a call. `blocks`: the script gives the time at which it returns.
    pub fn call(
        &mut self,
        endpoint: &mut dyn Endpoint,
        call: &Call,
        blocks: bool,
        notes: &mut Vec<Note>,
    ) -> Result<Problem, ScriptError> {
        let result = match call.name.as_str() {
            // The script numbers the descriptors.
            "socket" => call.result.unwrap_or(3),
            "bind" => 0,
            "listen" => {
                endpoint.listen(call.place)?;
                self.listener = descriptor(call);
                0
            }
            "accept" | "accept4" => {
                if !endpoint.accept() {
                    return Ok(Some(("a connection".to_owned(), "no handshake has ended".to_owned())));
                }
                self.connected = true;
                self.connection = call.result;
                call.result.unwrap_or(4)
            }
            "connect" => {
                self.connected = true;
                self.connection = descriptor(call);
                if endpoint.info().is_none() {
                    endpoint.connect(call.place)?;
                }
                if self.non_blocking { -1 } else { 0 }
            }
            "setsockopt" => set_option(endpoint, call, notes)?,
            "getsockopt" | "poll" | "ioctl" => call.result.unwrap_or(0),
            "fcntl" => {
                let non_blocking = |argument: &(Place, Argument)| matches!(&argument.1, Argument::Symbols(names) if names.iter().any(|name| name == "O_NONBLOCK"));
                self.non_blocking |= call.arguments.iter().any(non_blocking);
                call.result.unwrap_or(0)
            }
            "write" | "writev" | "send" | "sendto" | "sendmsg" => {
                let bytes = size(call)?;
                self.check(call)?;
                if !self.connected {
                    return Ok(Some(("a connection".to_owned(), "none is established".to_owned())));
                }
                if endpoint.write(bytes, call.place)? { bytes as i64 } else { -1 }
            }
            "read" | "recv" | "recvfrom" | "recvmsg" => {
                self.check(call)?;
                let wanted = call.result.and_then(|n| u64::try_from(n).ok());
                let most = size(call).unwrap_or(u64::MAX);
                if blocks {
                    let message = "the result of a read that blocks is not compared".to_owned();
                    notes.push(Note { place: call.place, message });
                    return Ok(None);
                }
                match endpoint.readable() {
                    0 if endpoint.is_finished() => 0,
                    0 => -1,
                    _ => endpoint.read(wanted.map_or(most, |_| most)) as i64,
                }
            }
            "shutdown" | "close" => {
                let closed = descriptor(call);
                if closed.is_some() && closed == self.listener && closed != self.connection {
                    // The connection continues without the socket from which it came.
                    self.listener = None;
                } else {
                    self.check(call)?;
                    if self.connected {
                        endpoint.close();
                    }
                }
                0
            }
            name => {
                return Err(ScriptError::new(
                    call.place,
                    format!("the system call `{name}` is not supported; supported calls are {CALLS}"),
                ));
            }
        };
        let expected = call.result.filter(|&expected| expected != result);
        Ok(expected
            .map(|expected| (format!("{} = {expected}", call.name), format!("{} = {result}", call.name))))
    }
}

impl Application {
    /// Checks that a call is for the connection. Before there is one, and where the script writes `...`, any descriptor is.
    fn check(&self, call: &Call) -> Result<(), ScriptError> {
        let (Some(named), Some(connection)) = (descriptor(call), self.connection) else { return Ok(()) };
        if named == connection {
            return Ok(());
        }
        let what = match self.listener {
            Some(listener) if listener == named => "is the listening socket",
            _ => "is not open",
        };
        Err(ScriptError::new(
            call.place,
            format!("`{}({named}, ...)`: {named} {what}; the connection is {connection}", call.name),
        ))
    }
}

/// Returns the descriptor that a call names, if it names one.
fn descriptor(call: &Call) -> Option<i64> {
    match call.arguments.first() {
        Some((_, Argument::Number(number))) => Some(*number),
        _ => None,
    }
}

/// Returns the number of bytes that a call passes: the last number among its arguments, or the lengths in a list.
fn size(call: &Call) -> Result<u64, ScriptError> {
    let numbers = call.arguments.iter().skip(1).take(if call.name.ends_with("to") { 2 } else { 4 });
    let number = numbers.filter_map(|(_, argument)| match argument {
        Argument::Number(number) => u64::try_from(*number).ok(),
        _ => None,
    });
    // In `send(fd, ..., size, flags)` the size comes first.
    let mut number = number;
    number.next().or_else(|| call.result.and_then(|n| u64::try_from(n).ok())).ok_or_else(|| {
        ScriptError::new(
            call.place,
            format!("`{}` needs a number of bytes: `{}(4, ..., 1000) = 1000`", call.name, call.name),
        )
    })
}

fn set_option(endpoint: &mut dyn Endpoint, call: &Call, notes: &mut Vec<Note>) -> Result<i64, ScriptError> {
    let Some((place, Argument::Symbols(names))) = call.arguments.get(2) else {
        return Ok(call.result.unwrap_or(0));
    };
    let name = names.first().map_or("", String::as_str);
    let value = call.arguments.get(3).map(|(_, value)| value);
    match name {
        "TCP_NODELAY" => endpoint.set_no_delay(),
        "TCP_CONGESTION" => {
            let chosen = match value {
                Some(Argument::Text(text)) => text.clone(),
                Some(Argument::List(items)) => match items.first() {
                    Some(Argument::Text(text)) => text.clone(),
                    _ => String::new(),
                },
                _ => String::new(),
            };
            if endpoint.info().is_some() {
                return Err(ScriptError::new(
                    *place,
                    "TCP_CONGESTION is supported before the handshake only; set it on the listening socket",
                ));
            }
            endpoint.settings().algorithm = algorithm(*place, &chosen)?;
        }
        _ if IGNORED_OPTIONS.contains(&name) => {
            if NOTED_OPTIONS.contains(&name) {
                notes.push(Note {
                    place: *place,
                    message: format!("the socket option {name} has no effect here"),
                });
            }
        }
        _ => {
            return Err(ScriptError::new(
                *place,
                format!(
                    "the socket option `{name}` is not supported; TCP_CONGESTION and TCP_NODELAY have an effect, and \
                     buffer sizes, priorities and keepalives are accepted"
                ),
            ));
        }
    }
    Ok(call.result.unwrap_or(0))
}
