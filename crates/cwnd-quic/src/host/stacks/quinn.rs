//! quinn as an end of flows.

#[path = "metered.rs"]
#[expect(clippy::duplicate_mod, reason = "it is compiled against each of the two implementations")]
mod metered;
#[path = "peer.rs"]
#[expect(clippy::duplicate_mod, reason = "it is compiled against each of the two implementations")]
mod peer;

use crate::host::log::Log;
use crate::host::seeds::nanoseconds;
use bytes::{Bytes, BytesMut};
use proto::congestion::{Controller, ControllerMetrics};
use proto::{
    Connection, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, RttEstimator, ServerConfig,
    TransportConfig,
};
use quinn_proto as proto;
use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use crate::quinn::own;
use metered::Metered;

pub use metered::controllers;
pub use peer::QuicPeer;

/// What the names of the implementation's own algorithms end with.
const OWN_SUFFIX: &str = "@quinn";

fn endpoint(config: EndpointConfig, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(Arc::new(config), server, true, None)
}

fn set_log(transport: &mut TransportConfig, log: Log, zero: Instant) {
    let mut config = proto::QlogConfig::default();
    config.writer(Box::new(log)).title(Some("quinn".to_owned())).start_time(zero);
    transport.qlog_stream(config.into_stream());
}

fn set_id_generator(
    config: &mut EndpointConfig,
    generator: impl Fn() -> Box<dyn proto::ConnectionIdGenerator> + Send + Sync + 'static,
) {
    config.cid_generator(generator);
}

fn server_config(tls: Arc<proto::crypto::rustls::QuicServerConfig>) -> ServerConfig {
    // The key of address-validation tokens. The simulated server sends none.
    let key = ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, &[]).extract(&[0; 32]);
    let mut config = ServerConfig::new(tls, Arc::new(key));
    let mut tokens = proto::ValidationTokenConfig::default();
    tokens.sent(0);
    config.validation_token_config(tokens);
    config
}

fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    remote: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    buffer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, remote, None, ecn, data, buffer)
}

fn poll_transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<proto::Transmit> {
    connection.poll_transmit(now, 1, buffer)
}

fn write(stream: &mut proto::SendStream<'_>, data: Bytes) -> Result<usize, proto::WriteError> {
    stream.write_chunks(&mut [data]).map(|written| written.bytes)
}

/// Returns the controller of the path.
fn controller(connection: &Connection) -> Option<&dyn Controller> {
    Some(connection.congestion_state())
}

fn lost_packets(connection: &mut Connection) -> u64 {
    connection.stats().path.lost_packets
}

impl Controller for Metered {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.begin(now);
        self.meter.on_sent(bytes);
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.begin(now);
        self.meter.on_ack(nanoseconds(sent), bytes, rtt.get().as_nanos() as u64);
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.begin(now);
        self.meter.on_end_acks(nanoseconds(now), in_flight);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        self.note_congestion(now, sent, persistent, lost_bytes);
        self.inner.on_congestion_event(now, sent, persistent, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        let metrics = self.inner.metrics();
        self.meter.set_window(self.inner.window(), metrics.ssthresh);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Metered {
            inner: self.inner.clone_box(),
            meter: self.meter.clone(),
            counts_episodes: self.counts_episodes,
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
