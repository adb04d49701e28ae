//! `cwnd serve` under requests.

use super::{BOUND_MIB, Part};
use crate::bench::sweeps;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A connection is closed after this many requests, as browsers do.
const EACH_CONNECTION: usize = 10;
/// One of this many requests runs a simulation.
const SIMULATIONS: usize = 100;

const SETTING: &str = "rate=10 Mbit/s\nrtt=40 ms\nduration=2 s\nflow=cubic";

/// What is asked for in turn, and the answers that are right: a page, results, a name that is not there, a request without the token.
const PATHS: [(&str, bool, u16); 5] = [
    ("/serve.html", true, 200),
    ("/api/stores", true, 200),
    ("/api/machine", true, 200),
    ("/api/stores/7", true, 404),
    ("/api/stores", false, 401),
];

pub fn part(cwnd: &Path, directory: &Path, requests: usize) -> Result<Part, String> {
    let (file, page) = (directory.join("served.toml"), directory.join("dist"));
    let write = || {
        fs::create_dir_all(&page)?;
        // A study that was not run: reading results is another part's work.
        fs::write(&file, sweeps::study(1))?;
        fs::write(page.join("serve.html"), "<!doctype html><title>page</title>")
    };
    write().map_err(|error| format!("{}: {error}", page.display()))?;
    let mut command = Command::new(cwnd);
    command.arg("serve").arg(&file).args(["--port", "0", "--web"]).arg(&page).stdout(Stdio::piped());
    Ok(Part {
        name: "serve",
        load: format!("{requests} requests"),
        obstacle: || None,
        command,
        work: Box::new(move |child| {
            let server = Server::new(child)?;
            let mut connection = None;
            let mut simulations = 0;
            for number in 0..requests {
                if number % EACH_CONNECTION == 0 {
                    connection = None;
                }
                let connection = match &mut connection {
                    Some(open) => open,
                    none => none.insert(server.connect()?),
                };
                if number % SIMULATIONS == 0 {
                    let status = connection.ask(&server.simulation())?;
                    // A former one may not have left its place yet.
                    if ![200, 429].contains(&status) {
                        return Err(format!("a simulation: {status}"));
                    }
                    simulations += usize::from(status == 200);
                    continue;
                }
                let (path, with_token, right) = PATHS[number % PATHS.len()];
                let status = connection.ask(&server.get(path, with_token))?;
                if status != right {
                    return Err(format!("{path}: {status} instead of {right}"));
                }
            }
            Ok(format!("{} connections, {simulations} simulations", requests.div_ceil(EACH_CONNECTION)))
        }),
        bound_mib: BOUND_MIB,
    })
}

struct Server {
    port: u16,
    token: String,
}

impl Server {
    /// Reads the address that a server prints.
    fn new(child: &mut Child) -> Result<Server, String> {
        let lines = BufReader::new(child.stdout.take().ok_or("its output is not piped")?).lines();
        let line = lines.map_while(Result::ok).find(|line| line.contains("http://"));
        let url = line.ok_or("it prints no address")?;
        let parts = url.trim().split_once("/serve.html?token=").and_then(|(address, token)| {
            Some(Server { port: address.rsplit(':').next()?.parse().ok()?, token: token.to_owned() })
        });
        parts.ok_or_else(|| format!("there is no port and token in {url}"))
    }

    fn connect(&self) -> Result<Connection, String> {
        let connect = || {
            let stream = TcpStream::connect(("127.0.0.1", self.port))?;
            stream.set_read_timeout(Some(Duration::from_secs(60)))?;
            Ok(Connection(BufReader::new(stream)))
        };
        connect().map_err(|error: std::io::Error| format!("connect: {error}"))
    }

    fn get(&self, path: &str, with_token: bool) -> String {
        format!("GET {path} HTTP/1.1\r\n{}\r\n", self.headers(with_token))
    }

    fn simulation(&self) -> String {
        let (headers, length) = (self.headers(true), SETTING.len());
        format!("POST /api/simulation HTTP/1.1\r\n{headers}Content-Length: {length}\r\n\r\n{SETTING}")
    }

    fn headers(&self, with_token: bool) -> String {
        let Server { port, token } = self;
        let cookie = if with_token { format!("Cookie: cwnd-{port}={token}\r\n") } else { String::new() };
        format!("Host: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n{cookie}")
    }
}

struct Connection(BufReader<TcpStream>);

impl Connection {
    /// Sends a request, reads the whole response, and returns its status.
    fn ask(&mut self, request: &str) -> Result<u16, String> {
        self.exchange(request).map_err(|error| error.to_string())
    }

    fn exchange(&mut self, request: &str) -> std::io::Result<u16> {
        self.0.get_mut().write_all(request.as_bytes())?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.0.read_line(&mut head)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        let head = head.to_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        if head.contains("transfer-encoding: chunked") {
            while self.chunk()? > 0 {}
        } else {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            self.skip(length.unwrap_or(0))?;
        }
        Ok(status)
    }

    /// Reads a chunk and returns its length.
    fn chunk(&mut self) -> std::io::Result<u64> {
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        let length = u64::from_str_radix(line.trim(), 16).map_err(|_| std::io::ErrorKind::InvalidData)?;
        self.skip(length + 2)?;
        Ok(length)
    }

    fn skip(&mut self, length: u64) -> std::io::Result<()> {
        let read = std::io::copy(&mut self.0.by_ref().take(length), &mut std::io::sink())?;
        if read == length { Ok(()) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
    }
}
