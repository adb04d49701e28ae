//! One end of a connection. This file is compiled twice: against noq-proto and against quinn-proto, whose interfaces are alike.
//! `super` has the functions in which they differ, and the crate as `proto`.

use super::proto::{
    ClientConfig, Connection, ConnectionEvent, ConnectionHandle, ConnectionId, ConnectionIdGenerator,
    DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event, StreamEvent, StreamId, TimeSource,
    TransportConfig, VarInt, congestion, crypto,
};
use crate::host::end::{HostEndpoint, Plan, Progress};
use crate::host::ranges::Ranges;
use crate::host::seeds::{self, instant, nanoseconds};
use crate::host::tls;
use bytes::{Bytes, BytesMut};
use cwnd_net::Codepoint;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

/// Creates controllers of connections.
pub type Controllers = Arc<dyn congestion::ControllerFactory + Send + Sync>;

/// What applications send, in pieces of this length.
static ZEROS: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(vec![0; 1 << 20]));

/// An endpoint with its one connection, and the application.
pub struct QuicPeer {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// The other end.
    remote: SocketAddr,
    client: Option<ClientConfig>,
    /// The one stream.
    stream: Option<StreamId>,
    /// Bytes that the application has not written yet.
    unwritten: u64,
    /// Whether the stream ends after them.
    ends: bool,
    stopped: bool,
    progress: Progress,
    arrived: Ranges,
    /// Packets that were lost before the handshake was complete; none until then.
    lost_in_handshake: Option<u64>,
    /// A datagram that the endpoint, not the connection, has to send.
    response: Option<Vec<u8>>,
}

impl QuicPeer {
    /// Creates the sender of a flow, whose controllers come from `controllers`.
    ///
    /// # Errors
    /// The implementation refuses the configuration.
    pub fn sender(plan: &Plan, controllers: Controllers) -> Result<QuicPeer, String> {
        let mut transport = transport(plan)?;
        transport.congestion_controller_factory(controllers);
        if let Some(log) = plan.log.clone() {
            super::set_log(&mut transport, log, instant(plan.origin));
        }
        let tls = tls::CLIENT.clone().map_err(|error| error.to_string())?;
        let tls = crypto::rustls::QuicClientConfig::try_from(tls).map_err(|error| error.to_string())?;
        let mut client = ClientConfig::new(Arc::new(tls));
        client.transport_config(Arc::new(transport));
        let seeds = seeds::Bytes::new(plan.seed, plan.channel);
        let first = ConnectionId::new(&seeds.next::<20>());
        client.initial_dst_cid_provider(Arc::new(move || first));
        let endpoint = super::endpoint(endpoint_config(plan, seeds)?, None);
        Ok(QuicPeer { client: Some(client), ..QuicPeer::new(endpoint, plan) })
    }

    /// Creates the receiver of a flow.
    ///
    /// # Errors
    /// The implementation refuses the configuration.
    pub fn receiver(plan: &Plan) -> Result<QuicPeer, String> {
        let tls = tls::SERVER.clone().map_err(|error| error.to_string())?;
        let tls = crypto::rustls::QuicServerConfig::try_from(tls).map_err(|error| error.to_string())?;
        let mut server = super::server_config(Arc::new(tls));
        server.transport_config(Arc::new(transport(plan)?));
        server.time_source(Arc::new(FixedTime));
        let seeds = seeds::Bytes::new(plan.seed, plan.channel);
        let endpoint = super::endpoint(endpoint_config(plan, seeds)?, Some(Arc::new(server)));
        Ok(QuicPeer::new(endpoint, plan))
    }

    fn new(endpoint: Endpoint, plan: &Plan) -> QuicPeer {
        QuicPeer {
            endpoint,
            connection: None,
            remote: address(plan.channel ^ 1),
            client: None,
            stream: None,
            unwritten: plan.bytes.unwrap_or(u64::MAX),
            ends: plan.bytes.is_some(),
            stopped: false,
            progress: Progress::default(),
            arrived: Ranges::default(),
            lost_in_handshake: None,
            response: None,
        }
    }

    /// Exchanges events between the connection, the endpoint and the application until there are none.
    fn settle(&mut self, now: u64) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Stream(StreamEvent::Finished { .. }) => {
                    self.progress.completed.get_or_insert(now);
                }
                Event::Connected => self.lost_in_handshake = Some(super::lost_packets(connection)),
                Event::ConnectionLost { reason } => self.progress.failure = Some(reason.to_string()),
                _ => {}
            }
        }
        match self.client {
            Some(_) => self.write(),
            None => self.read(),
        }
    }

    /// Writes as much as the send buffer holds.
    fn write(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        if self.stream.is_none() {
            self.stream = connection.streams().open(Dir::Uni);
        }
        let Some(stream) = self.stream.filter(|_| self.unwritten > 0 && !self.stopped) else { return };
        let mut stream = connection.send_stream(stream);
        while self.unwritten > 0 {
            let length = self.unwritten.min(ZEROS.len() as u64);
            let Ok(written) = super::write(&mut stream, ZEROS.slice(..length as usize)) else { return };
            self.unwritten -= if self.ends { written as u64 } else { 0 };
        }
        // It can only be finished once, and then nothing is unwritten.
        let _ = stream.finish();
    }

    /// Reads everything that has arrived. An application that read in order would lose its connection where the implementation's
    /// buffer has too many gaps.
    fn read(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        if self.stream.is_none() {
            self.stream = connection.streams().accept(Dir::Uni);
        }
        let Some(stream) = self.stream else { return };
        let mut stream = connection.recv_stream(stream);
        let Ok(mut chunks) = stream.read(false) else { return };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.arrived.insert(chunk.offset, chunk.offset + chunk.bytes.len() as u64);
        }
        // The datagrams that this asks for leave with the others.
        let _ = chunks.finalize();
        self.progress.received = self.arrived.in_order();
    }

    fn deliver(&mut self, handle: ConnectionHandle, event: ConnectionEvent) {
        if let Some((_, connection)) = self.connection.as_mut().filter(|(own, _)| *own == handle) {
            connection.handle_event(event);
        }
    }
}

impl HostEndpoint for QuicPeer {
    fn connect(&mut self, now: u64) -> Result<(), String> {
        let Some(client) = self.client.clone() else { return Ok(()) };
        let connection = self.endpoint.connect(instant(now), client, self.remote, tls::SERVER_NAME);
        self.connection = Some(connection.map_err(|error| error.to_string())?);
        self.settle(now);
        Ok(())
    }

    fn receive(&mut self, now: u64, payload: &Bytes, ecn: Codepoint) {
        let mut buffer = Vec::new();
        let data = BytesMut::from(payload.as_ref());
        match super::handle(&mut self.endpoint, instant(now), self.remote, field(ecn), data, &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => self.deliver(handle, event),
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                match self.endpoint.accept(incoming, instant(now), &mut buffer, None) {
                    Ok(connection) => self.connection = Some(connection),
                    Err(error) => self.progress.failure = Some(error.cause.to_string()),
                }
            }
            // A repeated first packet of a connection that is there.
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(response)) => {
                buffer.truncate(response.size);
                self.response = Some(buffer);
            }
            None => {}
        }
        self.settle(now);
    }

    fn on_timeout(&mut self, now: u64) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(instant(now));
        }
        self.settle(now);
    }

    fn timeout(&mut self) -> Option<u64> {
        self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout()).map(nanoseconds)
    }

    fn transmit(&mut self, now: u64, buffer: &mut Vec<u8>) -> Option<Codepoint> {
        if let Some(response) = self.response.take() {
            *buffer = response;
            return Some(Codepoint::NotEct);
        }
        let (_, connection) = self.connection.as_mut()?;
        let Some(transmit) = super::poll_transmit(connection, instant(now), buffer) else {
            // The event is over: the meter notes the window that it has left.
            super::controller(connection).map(congestion::Controller::metrics);
            return None;
        };
        buffer.truncate(transmit.size);
        Some(match transmit.ecn {
            None => Codepoint::NotEct,
            Some(EcnCodepoint::Ect0) => Codepoint::Ect0,
            Some(EcnCodepoint::Ect1) => Codepoint::Ect1,
            Some(EcnCodepoint::Ce) => Codepoint::Ce,
        })
    }

    fn stop(&mut self) {
        self.stopped = true;
        self.client = self.client.take().filter(|_| self.connection.is_some());
        if let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) {
            // A stream that has been acknowledged to its end is closed already.
            let _ = connection.send_stream(stream).reset(VarInt::from_u32(0));
        }
    }

    fn stream_bytes(&self) -> u64 {
        self.arrived.total()
    }

    fn progress(&mut self) -> Progress {
        if let Some((_, connection)) = &mut self.connection {
            let of_handshake = self.lost_in_handshake.unwrap_or(u64::MAX);
            self.progress.lost_packets = super::lost_packets(connection).saturating_sub(of_handshake);
        }
        self.progress.clone()
    }
}

/// Returns the transport parameters of both ends: the scenario's packet size and windows, no probing of the MTU, no idle timeout.
/// Everything else is the implementation's default.
fn transport(plan: &Plan) -> Result<TransportConfig, String> {
    let window = VarInt::from_u64(plan.window).map_err(|error| error.to_string())?;
    let mut transport = TransportConfig::default();
    transport
        .initial_mtu(plan.udp_payload)
        .min_mtu(plan.udp_payload)
        .mtu_discovery_config(None)
        .max_idle_timeout(None)
        .stream_receive_window(window)
        .receive_window(window)
        .send_window(plan.window);
    Ok(transport)
}

fn endpoint_config(plan: &Plan, seeds: seeds::Bytes) -> Result<EndpointConfig, String> {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &seeds.next::<64>());
    let mut config = EndpointConfig::new(Arc::new(key));
    config.max_udp_payload_size(plan.udp_payload).map_err(|error| error.to_string())?;
    config.rng_seed(Some(seeds.next::<32>()));
    let seeds = Arc::new(seeds);
    super::set_id_generator(&mut config, move || Box::new(SeededIds(Arc::clone(&seeds))));
    Ok(config)
}

/// Connection IDs of 8 bytes, the length of the implementations' own.
struct SeededIds(Arc<seeds::Bytes>);

impl ConnectionIdGenerator for SeededIds {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.next::<8>())
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// A wall clock that stands still: nothing that the simulation uses expires.
struct FixedTime;

impl TimeSource for FixedTime {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

/// Returns the address of an end.
fn address(channel: u32) -> SocketAddr {
    let [_, high, middle, low] = channel.to_be_bytes();
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, high, middle, low)), 443)
}

fn field(codepoint: Codepoint) -> Option<EcnCodepoint> {
    match codepoint {
        Codepoint::NotEct => None,
        Codepoint::Ect0 => Some(EcnCodepoint::Ect0),
        Codepoint::Ect1 => Some(EcnCodepoint::Ect1),
        Codepoint::Ce => Some(EcnCodepoint::Ce),
    }
}
