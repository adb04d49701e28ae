//! quinn as an end of flows.

#[path = "peer.rs"]
#[expect(clippy::duplicate_mod, reason = "it is compiled against each of the two implementations")]
mod peer;

use crate::host::bridge::Bridge;
use crate::host::end::Plan;
use crate::host::log::Log;
use crate::host::meter::Meter;
use crate::host::seeds::nanoseconds;
use bytes::{Bytes, BytesMut};
use cwnd_scenario::AlgorithmSpec;
use cwnd_sim::Factory;
use proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use proto::{
    Connection, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, RttEstimator, ServerConfig,
    TransportConfig,
};
use quinn_proto as proto;
use std::any::Any;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

pub use peer::{Controllers, QuicPeer};

/// quinn's own algorithms.
pub const OWN: [&str; 3] = ["cubic", "newreno", "bbr"];

/// Returns quinn's own algorithm of this name.
fn own(name: &str) -> Option<Controllers> {
    Some(match name {
        "cubic" => Arc::new(CubicConfig::default()),
        "newreno" => Arc::new(NewRenoConfig::default()),
        "bbr" => Arc::new(BbrConfig::default()),
        _ => return None,
    })
}

/// Returns the controllers of a flow, with its meter: quinn's own, or an algorithm of `factory`.
///
/// # Errors
/// There is no algorithm of this name.
pub fn controllers(
    algorithm: &AlgorithmSpec,
    plan: &Plan,
    factory: Factory<'_>,
) -> Result<Controllers, String> {
    let inner = match algorithm.name.strip_suffix("@quinn") {
        Some(name) => own(name).ok_or_else(|| format!("quinn has no `{name}`"))?,
        None => Arc::new(BridgedFactory(Bridged(Arc::new(Mutex::new(plan.bridge(factory(algorithm)?)))))),
    };
    Ok(Arc::new(MeteredFactory { inner, meter: plan.meter.clone() }))
}

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

fn lost_packets(connection: &mut Connection) -> u64 {
    connection.stats().path.lost_packets
}

struct MeteredFactory {
    inner: Controllers,
    meter: Meter,
}

impl ControllerFactory for MeteredFactory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.inner).build(now, current_mtu);
        let metered = Metered { inner, meter: self.meter.clone() };
        metered.note_window(now);
        Box::new(metered)
    }
}

/// A controller that tells a meter what it is told and what it decides.
struct Metered {
    inner: Box<dyn Controller>,
    meter: Meter,
}

impl Metered {
    fn note_window(&self, now: Instant) {
        self.meter.set_window(nanoseconds(now), self.inner.window(), self.inner.metrics().ssthresh);
    }
}

impl Controller for Metered {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.meter.on_sent(bytes);
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.meter.on_ack(nanoseconds(sent), bytes, rtt.get().as_nanos() as u64);
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.meter.on_end_acks(nanoseconds(now), in_flight);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        self.note_window(now);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        self.meter.on_congestion(lost_bytes, persistent);
        self.inner.on_congestion_event(now, sent, persistent, lost_bytes);
        self.note_window(now);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Metered { inner: self.inner.clone_box(), meter: self.meter.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}

struct BridgedFactory(Bridged);

impl ControllerFactory for BridgedFactory {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        self.0.clone_box()
    }
}

/// An algorithm of cwnd. The one path of a simulated connection has one controller, so that copies share its state.
#[derive(Clone)]
struct Bridged(Arc<Mutex<Bridge>>);

impl Bridged {
    fn with<T>(&self, act: impl FnOnce(&mut Bridge) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Controller for Bridged {
    fn on_sent(&mut self, now: Instant, bytes: u64, _: u64) {
        self.with(|bridge| bridge.on_sent(nanoseconds(now), bytes));
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, _: u64, _: bool, rtt: &RttEstimator) {
        let srtt = rtt.get().as_nanos() as u64;
        self.with(|bridge| bridge.on_ack(nanoseconds(now), nanoseconds(sent), srtt));
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        self.with(|bridge| bridge.on_end_acks(nanoseconds(now), in_flight, app_limited));
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        let (now, sent) = (nanoseconds(now), nanoseconds(sent));
        // quinn reports no lost bytes with marks, and only then.
        self.with(|bridge| bridge.on_congestion(now, sent, persistent, lost_bytes == 0, lost_bytes));
    }

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        // quinn sends while a datagram more is below the window, and not while it is equal: without this byte one is missing.
        self.with(|bridge| bridge.window() + 1)
    }

    fn metrics(&self) -> ControllerMetrics {
        self.with(|bridge| {
            let mut metrics = ControllerMetrics::default();
            metrics.congestion_window = bridge.window();
            metrics.ssthresh = bridge.ssthresh();
            metrics.pacing_rate = bridge.pacing_rate().map(|rate| 8 * rate);
            metrics
        })
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
