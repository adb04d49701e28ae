//! A `cwnd serve` of its own for each test, in a directory of its own.

use crate::http::{Connection, Response, exchange};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// A study of some seconds.
pub const STUDY: &str = r#"
title = "A study of <b>some</b> seconds"
question = "Does it continue?"

[scenario]
rate = "50 Mbit/s"
rtt = "40 ms"
duration = "30 s"

[run]
repeats = 200
metrics = ["throughput_bps"]

[[axes]]
name = "algorithm"
title = "Algorithm"
key = "algorithm"
values = ["cubic", "newreno"]

[[claims]]
text = "CUBIC uses the path"
measure = "mean"
metric = "throughput_bps"
where = { algorithm = "cubic" }
expect = ">= 40e6"
"#;

/// A server that is killed when this is dropped.
pub struct Server {
    pub directory: TempDir,
    pub port: u16,
    pub token: String,
    child: Child,
}

impl Server {
    /// Starts a server with one study that was not run yet.
    pub fn start() -> Server {
        Server::start_with(&[])
    }

    /// The same with further arguments.
    pub fn start_with(arguments: &[&str]) -> Server {
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(directory.path().join("dist/assets")).expect("it can be written");
        fs::write(directory.path().join("dist/serve.html"), "<!doctype html><title>page</title>")
            .expect("written");
        fs::write(directory.path().join("dist/assets/page.js"), "export {};").expect("written");
        fs::write(directory.path().join("secret.txt"), "the secret").expect("written");
        #[cfg(unix)]
        std::os::unix::fs::symlink("../secret.txt", directory.path().join("dist/link.txt")).expect("a link");
        fs::write(directory.path().join("study.toml"), STUDY).expect("written");
        Server::start_in(directory, 0, arguments)
    }

    fn start_in(directory: TempDir, port: u16, arguments: &[&str]) -> Server {
        let mut child = command(directory.path())
            .args([
                "serve",
                "study.toml",
                "--web",
                "dist",
                "--token-file",
                "token",
                "--port",
                &port.to_string(),
            ])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("cwnd starts");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let url =
            lines.map_while(Result::ok).find(|line| line.contains("http://")).expect("it prints its address");
        let (address, token) = url.trim().split_once("/serve.html?token=").expect("the address has a token");
        let port =
            address.rsplit(':').next().and_then(|port| port.parse().ok()).expect("the address has a port");
        Server { directory, port, token: token.to_owned(), child }
    }

    /// Kills the server without a warning and starts it again at the same port.
    pub fn killed_and_started(mut self) -> Server {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
        let directory = std::mem::replace(&mut self.directory, tempfile::tempdir().expect("a directory"));
        Server::start_in(directory, self.port, &[])
    }

    /// Waits until the server has ended by itself, and starts it again at the same port.
    #[cfg(unix)]
    pub fn ended_and_started(mut self) -> Server {
        let ended = self.child.wait().expect("it ends");
        assert!(ended.success(), "{ended}");
        let directory = std::mem::replace(&mut self.directory, tempfile::tempdir().expect("a directory"));
        Server::start_in(directory, self.port, &[])
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The headers of a page of this server.
    pub fn headers(&self) -> String {
        let (port, token) = (self.port, &self.token);
        format!(
            "Host: 127.0.0.1:{port}\r\nCookie: cwnd-{port}={token}\r\nOrigin: http://127.0.0.1:{port}\r\n"
        )
    }

    pub fn get(&self, path: &str) -> Response {
        exchange(self.port, format!("GET {path} HTTP/1.1\r\n{}\r\n", self.headers()).as_bytes())
    }

    pub fn post(&self, path: &str, body: &str) -> Response {
        exchange(self.port, self.posted(path, body).as_bytes())
    }

    /// Opens a stream and reads nothing but its head.
    pub fn stream(&self, path: &str, body: Option<&str>) -> Connection {
        let request = match body {
            Some(body) => self.posted(path, body),
            None => format!("GET {path} HTTP/1.1\r\n{}\r\n", self.headers()),
        };
        Connection::open(self.port, request.as_bytes()).expect("the server answers")
    }

    fn posted(&self, path: &str, body: &str) -> String {
        format!("POST {path} HTTP/1.1\r\n{}Content-Length: {}\r\n\r\n{body}", self.headers(), body.len())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `cwnd` in a directory.
pub fn command(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cwnd"));
    command.current_dir(directory);
    command
}
