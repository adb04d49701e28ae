//! Algorithms for noq.
//!
//! noq sends while its bytes in flight and a datagram are at most the window, and paces at the algorithm's rate. For algorithms without
//! a rate it paces at 1.25 windows per smoothed round-trip time.
//!
//! noq reports packets by number, losses one by one, and spurious losses. It reports one ECN event for an ACK frame with new marks, without
//! their number: all packets that the frame acknowledges then count as marked. noq sends ECT(0), so queues treat DCTCP and TCP Prague as
//! classic traffic.
//!
//! When a peer's port changes, noq copies the controller. An algorithm's state cannot be copied: the copy begins with its initial window.

use crate::controllers::{AlgorithmError, Controller as Shared, Controllers};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Returns a factory of controllers with a registered algorithm, for `TransportConfig::congestion_controller_factory`: `NAME` or
/// `NAME:PARAMETER=VALUE,…`.
///
/// # Errors
/// There is no such algorithm, or it refuses its parameters.
pub fn factory(algorithm: &str) -> Result<Arc<dyn ControllerFactory + Send + Sync>, AlgorithmError> {
    Ok(Arc::new(Controllers::named(algorithm)?))
}

impl ControllerFactory for Controllers {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(NoqController(Mutex::new(Shared::new(&self, now, current_mtu))))
    }
}

/// A controller. Calls that change nothing for noq may tell the algorithm of the last ACK, therefore the lock. It is never contended.
struct NoqController(Mutex<Shared>);

impl NoqController {
    fn shared(&mut self) -> &mut Shared {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, read: impl FnOnce(&mut Shared) -> T) -> T {
        read(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for NoqController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with(|shared| f.debug_tuple("NoqController").field(&shared.adapter).finish())
    }
}

impl Controller for NoqController {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.shared().on_sent(now, u32::from(bytes), pn);
    }

    fn on_cwnd_limited(&mut self) {
        self.shared().adapter.on_window_limited();
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, _: u64, pn: u64, _: bool, _: &RttEstimator) {
        self.shared().on_acked(now, sent, Some(pn));
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        self.shared().on_ack_end(now, in_flight, app_limited);
    }

    fn on_packet_lost(&mut self, _: u16, pn: u64, now: Instant) {
        self.shared().on_lost(now, pn);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        _: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        _: u64,
        _: u64,
    ) {
        if is_ecn {
            self.shared().on_marks(now);
        } else {
            self.shared().on_losses(now, is_persistent_congestion);
        }
    }

    fn on_spurious_congestion_event(&mut self) {
        self.shared().on_spurious_losses();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.shared().on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.with(|shared| shared.adapter.window())
    }

    fn metrics(&self) -> ControllerMetrics {
        self.with(|shared| {
            let mut metrics = ControllerMetrics::default();
            metrics.congestion_window = shared.adapter.window();
            metrics.ssthresh = shared.adapter.ssthresh();
            metrics.pacing_rate = shared.adapter.pacing_rate().map(|rate| rate as u64);
            metrics
        })
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(NoqController(Mutex::new(self.with(|shared| shared.begin_again()))))
    }

    fn initial_window(&self) -> u64 {
        self.with(|shared| shared.initial_window())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
