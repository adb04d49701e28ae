//! A client that sends given bytes: tests also send what no browser would.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

/// A response.
pub struct Response {
    pub status: u16,
    /// The head, in lower case.
    pub head: String,
    pub body: Vec<u8>,
}

impl Response {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// A connection whose response is read piece by piece.
pub struct Connection {
    reader: BufReader<TcpStream>,
    pub status: u16,
    pub head: String,
    is_chunked: bool,
    length: usize,
}

impl Connection {
    /// Sends bytes and reads the head of the response.
    pub fn open(port: u16, request: &[u8]) -> std::io::Result<Connection> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        // A server that refuses a large body may close before it has all.
        let _ = stream.write_all(request);
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        let head = head.to_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let is_chunked = head.contains("transfer-encoding: chunked");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        Ok(Connection { reader, status, head, is_chunked, length: length.unwrap_or(0) })
    }

    /// Reads the next chunk; none at the end.
    pub fn chunk(&mut self) -> Option<Vec<u8>> {
        let mut line = String::new();
        self.reader.read_line(&mut line).ok()?;
        let length = usize::from_str_radix(line.trim(), 16).ok()?;
        let mut chunk = vec![0; length + 2];
        self.reader.read_exact(&mut chunk).ok()?;
        chunk.truncate(length);
        (length > 0).then_some(chunk)
    }

    /// Reads the rest of the body.
    pub fn rest(&mut self) -> Vec<u8> {
        if self.is_chunked {
            return std::iter::from_fn(|| self.chunk()).flatten().collect();
        }
        let mut body = vec![0; self.length];
        self.reader.read_exact(&mut body).expect("the body is as long as stated");
        body
    }

    /// Reads the next server-sent event that has data.
    pub fn event(&mut self) -> serde_json::Value {
        loop {
            let chunk = self.chunk().expect("the stream continues");
            let text = String::from_utf8(chunk).expect("events are UTF-8");
            if let Some(data) = text.strip_prefix("data: ") {
                return serde_json::from_str(data.trim_end()).expect("events are JSON");
            }
        }
    }
}

/// Sends bytes and reads the whole response.
#[track_caller]
pub fn exchange(port: u16, request: &[u8]) -> Response {
    let mut connection = Connection::open(port, request).expect("the server answers");
    let body = connection.rest();
    Response { status: connection.status, head: connection.head, body }
}
