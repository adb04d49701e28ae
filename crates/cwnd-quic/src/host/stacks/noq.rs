//! noq as an end of flows.

#[path = "metered.rs"]
mod metered;
#[path = "peer.rs"]
mod peer;

use crate::host::log::Log;
use crate::host::seeds::nanoseconds;
use bytes::{Bytes, BytesMut};
use noq_proto as proto;
use proto::congestion::{Controller, ControllerMetrics};
use proto::{
    Connection, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, PathId, RttEstimator, ServerConfig,
    TransportConfig,
};
use std::any::Any;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::noq::own;
use metered::Metered;

pub use metered::controllers;
pub use peer::QuicPeer;

/// What the names of the implementation's own algorithms end with.
const OWN_SUFFIX: &str = "@noq";

fn endpoint(config: EndpointConfig, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(Arc::new(config), server, true)
}

fn set_log(transport: &mut TransportConfig, log: Log, zero: Instant) {
    transport.qlog_factory(Arc::new(Logged { log, zero }));
}

/// Gives the one connection its log.
struct Logged {
    log: Log,
    zero: Instant,
}

impl proto::QlogFactory for Logged {
    fn for_connection(
        &self,
        _: proto::Side,
        _: SocketAddr,
        _: proto::ConnectionId,
        _: Instant,
    ) -> Option<proto::QlogConfig> {
        let mut config = proto::QlogConfig::new(Box::new(self.log.clone()));
        config.title(Some("noq".to_owned())).start_time(self.zero);
        Some(config)
    }
}

fn set_id_generator(
    config: &mut EndpointConfig,
    generator: impl Fn() -> Box<dyn proto::ConnectionIdGenerator> + Send + Sync + 'static,
) {
    config.cid_generator(Arc::new(generator));
}

fn server_config(tls: Arc<proto::crypto::rustls::QuicServerConfig>) -> ServerConfig {
    let mut config = ServerConfig::new(tls, Arc::new(NoTokens));
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
    endpoint.handle(now, proto::FourTuple::new(remote, None), ecn, data, buffer)
}

fn poll_transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<proto::Transmit> {
    connection.poll_transmit(now, NonZeroUsize::MIN, buffer)
}

fn write(stream: &mut proto::SendStream<'_>, data: Bytes) -> Result<usize, proto::WriteError> {
    stream.write_chunks(&mut &mut [data][..])
}

/// Returns the controller of the one path.
fn controller(connection: &Connection) -> Option<&dyn Controller> {
    connection.congestion_state(PathId::ZERO)
}

fn lost_packets(connection: &mut Connection) -> u64 {
    connection.path_stats(PathId::ZERO).map_or(0, |stats| stats.lost_packets)
}

/// The key of address-validation tokens. The simulated server sends none.
struct NoTokens;

impl proto::crypto::HandshakeTokenKey for NoTokens {
    fn seal(&self, _: u128, _: &mut Vec<u8>) -> Result<(), proto::crypto::CryptoError> {
        Err(proto::crypto::CryptoError)
    }

    fn open<'a>(&self, _: u128, _: &'a mut [u8]) -> Result<&'a [u8], proto::crypto::CryptoError> {
        Err(proto::crypto::CryptoError)
    }
}

impl Controller for Metered {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest_pn: u64) {
        self.begin(now);
        self.meter.on_sent(bytes);
        self.inner.on_sent(now, bytes, largest_pn);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.inner.on_packet_sent(now, bytes, pn);
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.begin(now);
        self.meter.on_ack(nanoseconds(sent), bytes, rtt.get().as_nanos() as u64);
        self.inner.on_ack(now, sent, bytes, pn, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.begin(now);
        self.meter.on_end_acks(nanoseconds(now), in_flight);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost_pn: u64,
    ) {
        self.note_congestion(now, sent, persistent, lost_bytes);
        self.inner.on_congestion_event(now, sent, persistent, is_ecn, lost_bytes, largest_lost_pn);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.inner.on_packet_lost(lost_bytes, pn, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn on_ack_frequency_update(&mut self, ack_eliciting_threshold: u64, requested_max_ack_delay: Duration) {
        self.inner.on_ack_frequency_update(ack_eliciting_threshold, requested_max_ack_delay);
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
