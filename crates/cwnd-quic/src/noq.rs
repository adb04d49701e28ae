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

use crate::controller::Locked;
use crate::controllers::{AlgorithmError, Controllers};
use noq_proto::RttEstimator;
use noq_proto::congestion::{
    Bbr3Config, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// What `TransportConfig::congestion_controller_factory` takes.
pub type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// noq's own algorithms, by the names that [`own`] takes.
pub const OWN: [&str; 3] = ["cubic", "newreno", "bbr3"];

/// Returns a factory of controllers with an algorithm of noq itself.
pub fn own(name: &str) -> Option<Factory> {
    Some(match name {
        "cubic" => Arc::new(CubicConfig::default()),
        "newreno" => Arc::new(NewRenoConfig::default()),
        "bbr3" => Arc::new(Bbr3Config::default()),
        _ => return None,
    })
}

/// Returns a factory of controllers with a registered algorithm, for `TransportConfig::congestion_controller_factory`: `NAME` or
/// `NAME:PARAMETER=VALUE,…`.
///
/// # Errors
/// There is no such algorithm, or it refuses its parameters.
pub fn factory(algorithm: &str) -> Result<Factory, AlgorithmError> {
    Ok(Arc::new(Controllers::named(algorithm)?))
}

impl ControllerFactory for Controllers {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Locked::new(&self, now, current_mtu))
    }
}

impl Controller for Locked {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.get().on_sent(now, u32::from(bytes), pn);
    }

    fn on_cwnd_limited(&mut self) {
        self.get().adapter.on_window_limited();
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, _: u64, pn: u64, _: bool, _: &RttEstimator) {
        self.get().on_acked(now, sent, Some(pn));
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        self.get().on_ack_end(now, in_flight, app_limited);
    }

    fn on_packet_lost(&mut self, _: u16, pn: u64, now: Instant) {
        self.get().on_lost(now, pn);
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
            self.get().on_marks(now);
        } else {
            self.get().on_losses(now, is_persistent_congestion);
        }
    }

    fn on_spurious_congestion_event(&mut self) {
        self.get().on_spurious_losses();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.get().on_mtu_update(new_mtu);
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
        Box::new(self.begin_again())
    }

    fn initial_window(&self) -> u64 {
        self.with(|shared| shared.initial_window())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const MS: Duration = Duration::from_millis(1);

    fn built(name: &str) -> (Box<dyn Controller>, Instant) {
        let now = Instant::now();
        (factory(name).unwrap().build(now, 1_200), now)
    }

    fn send(controller: &mut dyn Controller, now: Instant, packets: std::ops::Range<u64>) {
        packets.for_each(|number| controller.on_packet_sent(now, 1_200, number));
    }

    fn lose(controller: &mut dyn Controller, now: Instant, packets: std::ops::Range<u64>, persistent: bool) {
        packets.clone().for_each(|number| controller.on_packet_lost(1_200, number, now));
        let bytes = 1_200 * (packets.end - packets.start);
        controller.on_congestion_event(now, now, persistent, false, bytes, packets.end - 1);
    }

    /// The losses of one flight halve the window once. Those of packets that were sent after that do it again.
    #[test]
    fn losses_of_one_flight_are_one_event() {
        let (mut controller, now) = built("newreno");
        send(&mut *controller, now, 0..10);
        lose(&mut *controller, now + 50 * MS, 0..2, false);
        assert_eq!((controller.window(), controller.metrics().ssthresh), (6_000, Some(6_000)));
        send(&mut *controller, now + 50 * MS, 10..12);
        lose(&mut *controller, now + 51 * MS, 2..4, false);
        assert_eq!(controller.window(), 6_000);
        lose(&mut *controller, now + 99 * MS, 10..11, false);
        assert_eq!(controller.window(), 2_400);
        lose(&mut *controller, now + 900 * MS, 4..10, true);
        assert_eq!(controller.window(), 2_400);
    }

    #[test]
    fn spurious_losses_are_undone() {
        let (mut controller, now) = built("cubic");
        send(&mut *controller, now, 0..10);
        lose(&mut *controller, now + 50 * MS, 0..2, false);
        assert!(controller.window() < 12_000);
        controller.on_spurious_congestion_event();
        assert_eq!((controller.window(), controller.metrics().ssthresh), (12_000, None));
    }

    /// A mark is an event for NewReno. BBR v3 takes marks from the ACKs.
    #[test]
    fn marks_are_events_for_those_that_ask() {
        for (name, window) in [("newreno", 6_000), ("bbr3", 12_000)] {
            let (mut controller, now) = built(name);
            send(&mut *controller, now, 0..10);
            controller.on_congestion_event(now + 50 * MS, now, false, true, 0, 9);
            assert_eq!(controller.window(), window, "{name}");
        }
    }

    #[test]
    fn a_larger_mtu_and_a_copy_begin_with_ten_datagrams() {
        let (mut controller, now) = built("cubic");
        controller.on_mtu_update(1_452);
        assert_eq!((controller.window(), controller.initial_window()), (14_520, 14_520));
        send(&mut *controller, now, 0..10);
        lose(&mut *controller, now + 50 * MS, 0..1, false);
        assert!(controller.window() < 14_520);
        assert_eq!(controller.clone_box().window(), 14_520);
        assert!(format!("{controller:?}").starts_with("Controller(Adapter"));
    }

    /// Algorithms without a rate leave pacing to noq.
    #[test]
    fn only_a_rate_based_algorithm_sets_the_rate() {
        assert_eq!(built("cubic").0.metrics().pacing_rate, None);
        assert!(built("bbr3").0.metrics().pacing_rate.is_some_and(|rate| rate > 0));
    }
}
