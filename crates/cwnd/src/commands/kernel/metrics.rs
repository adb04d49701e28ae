//! `cwnd kernel metrics`: the text format of Prometheus over HTTP.

mod text;
mod totals;

use super::{DigestsFlag, failure, status::counts_calls};
use crate::{failure::Failure, interrupt, output, terminal::tell};
use clap::Args;
use cwnd_kernel::load::{self, ObservedSocket, SocketReader};
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};
use text::Reading;
use totals::Totals;

#[cfg(test)]
pub(super) use text::tests::socket as a_socket;

/// Serve what the kernel has loaded, its connections and the state of their algorithms as Prometheus metrics over HTTP (`/metrics`).
///
/// Each request reads the sockets. Between requests they are read once a second for the counters that only rise (`..._total`), which
/// therefore lack what a connection does between its last reading and its end. The connections are not slowed down.
#[derive(Args)]
pub struct MetricsFlags {
    /// The address and port to listen on. Others than a loopback address let the network read the metrics.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:9435", value_parser = address)]
    listen: SocketAddr,

    /// Print the metrics once instead.
    #[arg(long)]
    once: bool,

    #[command(flatten)]
    digests: DigestsFlag,
}

/// Parses an address with a port.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "it must be an IP address and a port: write `127.0.0.1:9435` or `[::1]:9435`".to_owned())
}

/// The longest request that is read, bytes.
const LONGEST: u64 = 8192;
/// How long a client may take for its request, or for taking the answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two readings for the counters.
const PERIOD: Duration = Duration::from_secs(1);
/// Between two looks at whether it has ended.
const TICK: Duration = Duration::from_millis(50);

/// Does what the flags ask.
pub fn run(flags: &MetricsFlags) -> Result<(), Failure> {
    flags.digests.check(&load::SOCKETS)?;
    let reader = SocketReader::new().map_err(failure)?;
    if flags.once {
        return output::print(&metrics(&super::read(&reader)?, None)?);
    }
    let stop = interrupt::catch().map_err(Failure::broken)?;
    let failed = |error: io::Error| Failure::broken(format!("--listen {}: {error}", flags.listen));
    let listener = TcpListener::bind(flags.listen).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    if !address.ip().is_loopback() {
        tell!("note: --listen {address}: others on the network can read the metrics");
    }
    output::print(&format!("http://{address}/metrics; Ctrl-C ends it\n"))?;
    let mut totals = Totals::default();
    let read = |totals: &mut Totals| {
        let sockets = super::read(&reader)?;
        totals.add(&sockets);
        Ok(sockets)
    };
    read(&mut totals)?;
    let mut last = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        if last.elapsed() >= PERIOD {
            // The next reading tells what has come since the one before.
            let _unread = read(&mut totals);
            last = Instant::now();
        }
        match listener.accept() {
            // A client that goes away is its own affair.
            Ok((stream, _)) => {
                let answered = answer(&stream, || {
                    let sockets = read(&mut totals)?;
                    metrics(&sockets, Some(&totals))
                });
                drop(answered);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(TICK),
            // As when the client is gone again, or descriptors are short.
            Err(_) => thread::sleep(TICK),
        }
    }
    Ok(())
}

fn metrics(sockets: &[ObservedSocket], totals: Option<&Totals>) -> Result<String, Failure> {
    let (objects, selections) = (load::loaded().map_err(failure)?, load::selections());
    Ok(text::text(&Reading {
        objects: &objects,
        selections: &selections,
        sockets,
        counts_calls: counts_calls(),
        totals,
    }))
}

/// Reads a request and answers it.
fn answer(mut stream: &TcpStream, metrics: impl FnOnce() -> Result<String, Failure>) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(stream.take(LONGEST)).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let (status, body) = match response(&request) {
        Ok(()) => match metrics() {
            Ok(text) => ("200 OK", text),
            Err(failure) => ("500 Internal Server Error", format!("{}\n", failure.message())),
        },
        Err(status) => (status, "the metrics are at /metrics\n".to_owned()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Whether the first line of a request asks for the metrics; otherwise the status of the answer.
fn response(request: &str) -> Result<(), &'static str> {
    let words: Vec<&str> = request.split(' ').collect();
    match words[..] {
        ["GET", path, version] if version.starts_with("HTTP/1.") => match path.split('?').next() {
            Some("/metrics") => Ok(()),
            _ => Err("404 Not Found"),
        },
        [_, _, version] if version.starts_with("HTTP/1.") => Err("405 Method Not Allowed"),
        _ => Err("400 Bad Request"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends a request, and returns the answer.
    fn ask(request: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        answer(&listener.accept().unwrap().0, || Ok("cwnd_connections 1\n".to_owned())).unwrap();
        let mut text = String::new();
        client.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn metrics_are_answered_over_http() {
        let text = ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert!(
            text.contains("Content-Length: 19\r\n") && text.ends_with("\r\n\r\ncwnd_connections 1\n"),
            "{text}"
        );
        assert!(ask("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(ask("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
        for request in ["", "nonsense\r\n\r\n", "GET /metrics\r\n\r\n"] {
            assert!(ask(request).starts_with("HTTP/1.1 400"), "{request}");
        }
    }
}
