//! A test of noq's congestion control: an upload over 10 Mbit/s, 40 ms and 1 % of losses, twice with the same seed.
//!
//! `cargo run --release -p cwnd-net --example noq`
//!
//! The keys of TLS and the values of connection ids still come from the operating system. They have fixed lengths, so neither
//! sizes nor times depend on them. The endpoints' own random numbers have fixed seeds.

use bytes::BytesMut;
use cwnd_net::{Codepoint, Datagram, DatagramHost, NetworkError, Path, Rate, Time};
use noq_proto::{ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint};
use noq_proto::{
    EndpointConfig, Event, FourTuple, PathId, PathStats, ServerConfig, StreamEvent, StreamId,
    TransportConfig, congestion,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A certificate and its key, made for this example.
const CERTIFICATE: &[u8] = include_bytes!("identity/certificate.der");
const KEY: &[u8] = include_bytes!("identity/key.der");

/// One end of a connection: a client that uploads, or a server that counts what it gets.
pub struct Noq {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Simulated time zero.
    zero: Instant,
    /// What the endpoint sends without a connection.
    responses: VecDeque<Datagram>,
    peer: usize,
    to_upload: usize,
    stream: Option<StreamId>,
    /// Bytes received.
    pub received: usize,
    /// Whether the peer's stream has ended.
    pub complete: bool,
}

impl Noq {
    /// Creates host 0, which connects to host 1 and uploads.
    pub fn client(bytes: usize, transport: TransportConfig) -> Noq {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CERTIFICATE.into()).expect("the certificate can be a root");
        let mut config = ClientConfig::with_root_certificates(Arc::new(roots)).expect("a config of rustls");
        config.transport_config(Arc::new(transport));
        let mut host = Noq::new(None, 1);
        let connection = host.endpoint.connect(host.zero, config, address(1), "localhost");
        host.connection = Some(connection.expect("the address and the name are valid"));
        host.to_upload = bytes;
        host
    }

    /// Creates host 1.
    pub fn server() -> Noq {
        let key = PrivatePkcs8KeyDer::from(KEY.to_vec()).into();
        let config = ServerConfig::with_single_cert(vec![CERTIFICATE.into()], key);
        Noq::new(Some(Arc::new(config.expect("the key is the certificate's"))), 0)
    }

    fn new(server: Option<Arc<ServerConfig>>, peer: usize) -> Noq {
        let mut config = EndpointConfig::default();
        config.rng_seed(Some([peer as u8; 32]));
        Noq {
            endpoint: Endpoint::new(Arc::new(config), server, true),
            connection: None,
            zero: Instant::now(),
            responses: VecDeque::new(),
            peer,
            to_upload: 0,
            stream: None,
            received: 0,
            complete: false,
        }
    }

    /// Returns noq's counts of the first path.
    pub fn path_stats(&mut self) -> PathStats {
        let (_, connection) = self.connection.as_mut().expect("the client connected");
        connection.path_stats(PathId::ZERO).expect("the first path is open")
    }

    fn at(&self, now: u64) -> Instant {
        self.zero + Duration::from_nanos(now)
    }

    /// Does what the events of the connection ask for: the application, and the exchange with the endpoint.
    fn handle_events(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if self.to_upload > 0 => self.stream = connection.streams().open(Dir::Uni),
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                    self.stream = connection.streams().accept(Dir::Uni);
                }
                _ => {}
            }
        }
        let Some(stream) = self.stream else { return };
        if self.peer == 0 {
            let mut stream = connection.recv_stream(stream);
            let Ok(mut chunks) = stream.read(true) else { return };
            loop {
                match chunks.next(usize::MAX) {
                    Ok(Some(chunk)) => self.received += chunk.bytes.len(),
                    Ok(None) => break self.complete = true,
                    Err(_) => break,
                }
            }
            let _ = chunks.finalize();
        } else if self.to_upload > 0 {
            let mut stream = connection.send_stream(stream);
            while let Ok(written) = stream.write(&[0; 4096][..self.to_upload.min(4096)]) {
                self.to_upload -= written;
                if self.to_upload == 0 {
                    stream.finish().expect("the stream is open");
                    break;
                }
            }
        }
    }
}

impl DatagramHost for Noq {
    fn on_datagram(&mut self, now: u64, datagram: Datagram) {
        let (at, from) = (self.at(now), address(datagram.from));
        let ecn = EcnCodepoint::from_bits(datagram.ecn.bits());
        let (data, mut buffer) = (BytesMut::from(&datagram.payload[..]), Vec::new());
        match self.endpoint.handle(at, FourTuple::new(from, None), ecn, data, &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.connection = self.endpoint.accept(incoming, at, &mut buffer, None).ok();
            }
            Some(DatagramEvent::Response(_)) => {
                self.responses.push_back(Datagram::new(self.peer, Codepoint::NotEct, buffer));
            }
            None => {}
        }
        self.handle_events();
    }

    fn poll_transmit(&mut self, now: u64) -> Option<Datagram> {
        let (at, mut payload) = (self.at(now), Vec::new());
        if let Some(response) = self.responses.pop_front() {
            return Some(response);
        }
        let transmit = self.connection.as_mut()?.1.poll_transmit(at, NonZeroUsize::MIN, &mut payload)?;
        let ecn = match transmit.ecn {
            None => Codepoint::NotEct,
            Some(EcnCodepoint::Ect0) => Codepoint::Ect0,
            Some(EcnCodepoint::Ect1) => Codepoint::Ect1,
            Some(EcnCodepoint::Ce) => Codepoint::Ce,
        };
        Some(Datagram::new(self.peer, ecn, payload))
    }

    fn next_timeout(&mut self) -> Option<u64> {
        let timeout = self.connection.as_mut()?.1.poll_timeout()?;
        Some(timeout.saturating_duration_since(self.zero).as_nanos() as u64)
    }

    fn on_timeout(&mut self, now: u64) {
        let at = self.at(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(at);
        }
        self.handle_events();
    }
}

fn address(host: usize) -> SocketAddr {
    ([10, 0, 0, host as u8 + 1], 4433).into()
}

/// The result of an upload.
#[derive(Debug, PartialEq)]
pub struct Upload {
    /// When the server had the last byte, ns of simulated time.
    pub completed: u64,
    /// Packets that noq counts as sent.
    pub sent: u64,
    /// Packets that noq counts as lost.
    pub lost: u64,
    /// Packets that the network lost or dropped.
    pub lost_on_path: u64,
    /// Loss events as the congestion controller counts them.
    pub congestion_events: u64,
}

/// Uploads with CUBIC.
pub fn upload(path: &Path, bytes: usize) -> Result<Upload, NetworkError> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(congestion::CubicConfig::default()));
    let mut test = path.connect(Noq::client(bytes, transport), Noq::server())?;
    let completed = test.run_until_done(600_000_000_000, |hosts| hosts[1].host().complete);
    assert_eq!(test.transport(1).received, bytes);
    let counts = test.link_counts(0);
    let lost_on_path = counts.lost + counts.dropped;
    let stats = test.with_transport(0, |client, _| client.path_stats());
    Ok(Upload {
        completed: completed.expect("the upload ends within ten minutes"),
        sent: stats.sent_packets,
        lost: stats.lost_packets,
        lost_on_path,
        congestion_events: stats.congestion_events,
    })
}

#[allow(dead_code)] // The test includes this file.
fn main() -> Result<(), NetworkError> {
    let path = Path::new(Rate(10_000_000), Time::from_millis(40)).buffer(50).loss(0.01).seed(7);
    let start = Instant::now();
    let first = upload(&path, 10_000_000)?;
    let real = start.elapsed();
    assert_eq!(upload(&path, 10_000_000)?, first);
    let simulated = Duration::from_nanos(first.completed);
    let Upload { sent, lost, lost_on_path, congestion_events, .. } = first;
    println!(
        "{sent} packets sent, {lost} lost ({lost_on_path} on the path), {congestion_events} congestion events"
    );
    println!(
        "{simulated:?} of simulated time in {real:?}: {:.0} x",
        simulated.as_secs_f64() / real.as_secs_f64()
    );
    Ok(())
}
