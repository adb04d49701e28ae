//! Servers and clients of both implementations.

mod noq;
mod quinn;

use crate::algorithm::Factory;
use crate::content::Content;
use crate::{Algorithm, Error, Fingerprint, Received, Sent, tls};
use socket2::{Domain, Socket, Type};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// The receive window of a client if none is given, bytes. Both implementations end a connection whose receiver holds more than 1,024
/// pieces of a stream with gaps between them. In this window there are always fewer, even if every other packet of 1,200 bytes is lost,
/// as when slow start exceeds a queue. It is enough for 50 Mbit/s with 300 ms.
pub const DEFAULT_RECEIVE_WINDOW: u32 = 2_000_000;

/// Bytes of data that a server keeps until they are acknowledged.
const SEND_WINDOW: u64 = 64 << 20;

/// Bytes of a socket's receive buffer, if the operating system allows so much. Where a burst exceeds the buffer, its rest is lost.
const SOCKET_BUFFER: usize = 4 << 20;

/// How long a connection lives without a packet from the other end.
const IDLE: Duration = Duration::from_secs(30);

/// The longest request, bytes.
const LONGEST_REQUEST: usize = 4096;

/// The settings of a [`Server`].
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The congestion control of its connections, and the implementation.
    pub algorithm: Algorithm,
    /// Where it listens.
    pub listen: SocketAddr,
    /// What it sends.
    pub content: Content,
}

/// A server, which sends to any number of clients at a time.
#[derive(Debug)]
pub struct Server {
    endpoint: Endpoint,
    algorithm: Algorithm,
    content: Arc<Content>,
    certificate: Fingerprint,
}

#[derive(Debug)]
enum Endpoint {
    Noq(::noq::Endpoint),
    Quinn(::quinn::Endpoint),
}

impl Server {
    /// Listens. It must be called in a tokio runtime.
    ///
    /// # Errors
    /// The address cannot be used.
    pub fn bind(settings: ServerSettings) -> Result<Server, Error> {
        let ServerSettings { algorithm, listen, content } = settings;
        let (tls, certificate) = tls::server()?;
        let endpoint = match algorithm.factory() {
            Factory::Noq(factory) => Endpoint::Noq(noq::peer::listen(listen, factory, tls)?),
            Factory::Quinn(factory) => Endpoint::Quinn(quinn::peer::listen(listen, factory, tls)?),
        };
        Ok(Server { endpoint, algorithm, content: Arc::new(content), certificate })
    }

    /// Returns where it listens.
    ///
    /// # Errors
    /// The operating system does not say.
    pub fn address(&self) -> Result<SocketAddr, Error> {
        let address = match &self.endpoint {
            Endpoint::Noq(endpoint) => endpoint.local_addr(),
            Endpoint::Quinn(endpoint) => endpoint.local_addr(),
        };
        address.map_err(Error::at("the address"))
    }

    /// Returns the hash of its certificate.
    pub fn certificate(&self) -> Fingerprint {
        self.certificate
    }

    /// Sends to clients, and passes what came of each transfer to `report`. Returns after `transfers`; without a number, never.
    pub async fn run(self, transfers: Option<u64>, mut report: impl FnMut(Result<Sent, Error>)) {
        let (sender, mut finished) = mpsc::unbounded_channel();
        let mut left = transfers;
        while left != Some(0) {
            let (content, algorithm) = (Arc::clone(&self.content), self.algorithm.to_string());
            let reports = sender.clone();
            tokio::select! {
                biased;
                Some(sent) = finished.recv() => {
                    report(sent);
                    left = left.map(|left| left - 1);
                }
                incoming = accept(&self.endpoint) => {
                    let Some(incoming) = incoming else { break };
                    tokio::spawn(async move {
                        let sent = match incoming {
                            Incoming::Noq(incoming) => noq::peer::send(incoming, content, algorithm).await,
                            Incoming::Quinn(incoming) => quinn::peer::send(incoming, content, algorithm).await,
                        };
                        // The receiving end lives as long as the server.
                        let _ = reports.send(sent);
                    });
                }
            }
        }
        match self.endpoint {
            Endpoint::Noq(endpoint) => noq::peer::close(endpoint).await,
            Endpoint::Quinn(endpoint) => quinn::peer::close(endpoint).await,
        }
    }
}

/// Opens a socket at an address.
fn socket(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None)?;
    // The operating system may allow less.
    let _ = socket.set_recv_buffer_size(SOCKET_BUFFER);
    socket.bind(&address.into())?;
    Ok(socket.into())
}

enum Incoming {
    Noq(::noq::Incoming),
    Quinn(::quinn::Incoming),
}

async fn accept(endpoint: &Endpoint) -> Option<Incoming> {
    match endpoint {
        Endpoint::Noq(endpoint) => endpoint.accept().await.map(Incoming::Noq),
        Endpoint::Quinn(endpoint) => endpoint.accept().await.map(Incoming::Quinn),
    }
}

/// The settings of [`fetch`].
#[derive(Clone, Debug)]
pub struct FetchSettings {
    /// The congestion control of what the client sends, and the implementation.
    pub algorithm: Algorithm,
    /// The server.
    pub server: SocketAddr,
    /// The file's name there.
    pub file: String,
    /// The hash of the server's certificate; `None` accepts every certificate.
    pub certificate: Option<Fingerprint>,
    /// The client's address; `None` lets the operating system choose it.
    pub bind: Option<SocketAddr>,
    /// Bytes that the server may send beyond what the client has read.
    pub receive_window: u32,
    /// Where the file is written, under the same name with `.part` until it is complete; `None` discards it.
    pub output: Option<PathBuf>,
}

/// Fetches a file, and compares its hash with the server's.
///
/// # Errors
/// The server cannot be reached or refuses, the connection ends early, the file cannot be written, or the hashes differ.
pub async fn fetch(settings: &FetchSettings) -> Result<Received, Error> {
    let tls = tls::client(settings.certificate)?;
    match settings.algorithm.factory() {
        Factory::Noq(factory) => noq::peer::fetch(settings, factory, tls).await,
        Factory::Quinn(factory) => quinn::peer::fetch(settings, factory, tls).await,
    }
}
