//! Algorithms for quinn.
//!
//! quinn 0.11 ignores the pacing rate of its controllers and paces at 1.25 windows per smoothed round-trip time. A rate-based algorithm
//! such as BBR allows a window of two bandwidth-delay products and relies on its rate, so that its queue would grow by a round-trip time.
//! The adapter therefore shapes such flows by the window: quinn is given no more than what the rate sends in a round-trip time
//! ([`Settings::shape_by_window`](crate::Settings::shape_by_window) turns this off). `docs/how-to/quic.md` has measurements. Where the rate
//! matters, use noq, which paces at it.
//!
//! quinn reports the bytes of lost packets and when the last was sent: that one and the oldest are taken for lost. It reports one congestion event without lost bytes for
//! an ACK frame with new ECN marks, without their number: all packets that the frame acknowledges then count as marked. quinn sends ECT(0),
//! so queues treat DCTCP and TCP Prague as classic traffic. It does not report spurious losses.
//!
//! quinn reports packets that have ACKs alone like any other, and never what becomes of them. A packet of at most 340 bytes that leaves
//! alone may be one, and counts as in flight only when it is acknowledged or lost.
//!
//! When a peer's port changes, quinn copies the controller. An algorithm's state cannot be copied: the copy begins with its initial window.

use crate::controller::{Controller as Shared, Locked};
use crate::controllers::{AlgorithmError, Controllers};
use cwnd_cc::Nanos;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// What `TransportConfig::congestion_controller_factory` takes.
pub type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// quinn's own algorithms, by the names that [`own`] takes.
pub const OWN: [&str; 3] = ["cubic", "newreno", "bbr"];

/// Returns a factory of controllers with an algorithm of quinn itself.
pub fn own(name: &str) -> Option<Factory> {
    Some(match name {
        "cubic" => Arc::new(CubicConfig::default()),
        "newreno" => Arc::new(NewRenoConfig::default()),
        "bbr" => Arc::new(BbrConfig::default()),
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

/// Returns the window of the algorithm, or less if that shapes the flow to its pacing rate.
fn shaped_window(shared: &mut Shared) -> u64 {
    let window = shared.adapter.window();
    let rate = shared.adapter.pacing_rate().filter(|_| shared.settings().shape_by_window);
    match rate.zip(shared.adapter.min_rtt()) {
        Some((rate, min_rtt)) => shape(window, rate, min_rtt, shared.adapter.srtt(), shared.datagram()),
        None => window,
    }
}

/// Datagrams that a shaped window has beyond what the rate sends in a round-trip time, so that one can leave while an ACK is delayed.
const MARGIN: u64 = 1;

/// Share of the queueing delay for which a shaped window has room.
const ROOM: f64 = 0.9;

/// Returns the window that shapes a flow to a rate, bytes a second: at most `window`. It limits the bytes in flight to what the rate sends
/// in a round-trip time; quinn's own pacing, which is a quarter faster, spreads them. With room for the whole queueing delay any queue would
/// stay; with room for nine tenths of it, it drains. An algorithm whose rate would send its whole window in a round-trip time, such as
/// TCP Prague, is limited by the window and keeps it.
///
/// A window that made quinn pace at the rate itself, four fifths of this one, would also limit the bytes in flight to four fifths.
fn shape(window: u64, rate: f64, min_rtt: Nanos, srtt: Nanos, datagram: u64) -> u64 {
    let margin = MARGIN * datagram;
    if (rate * srtt.as_secs_f64()) as u64 + margin >= window {
        return window;
    }
    let round_trip = min_rtt.as_secs_f64() + ROOM * srtt.since(min_rtt).as_secs_f64();
    (rate * round_trip) as u64 + margin
}

impl Controller for Locked {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        let shared = self.get();
        let datagram = shared.datagram().max(1);
        let count = bytes.div_ceil(datagram);
        if count == 1 {
            return shared.on_sent_alone(now, bytes as u32, last_packet_number);
        }
        // Several datagrams that leave together have the full size, except the last.
        for i in 0..count {
            let size = datagram.min(bytes - i * datagram) as u32;
            shared.on_sent(now, size, last_packet_number.saturating_sub(count - 1 - i));
        }
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, _: u64, _: bool, _: &RttEstimator) {
        self.get().on_acked(now, sent, None);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        self.get().on_ack_end(now, in_flight, app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let shared = self.get();
        if lost_bytes == 0 {
            shared.on_marks(now);
        } else {
            shared.on_bytes_lost(now, sent, lost_bytes);
            shared.on_losses(now, is_persistent_congestion);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.get().on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        // quinn sends while its bytes in flight and a datagram are less than the window, not equal: without this byte one is missing.
        self.with(|shared| shaped_window(shared) + 1)
    }

    fn metrics(&self) -> ControllerMetrics {
        self.with(|shared| {
            let mut metrics = ControllerMetrics::default();
            metrics.congestion_window = shaped_window(shared);
            metrics.ssthresh = shared.adapter.ssthresh();
            metrics.pacing_rate = shared.adapter.pacing_rate().map(|rate| (8.0 * rate) as u64);
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
    use crate::Settings;
    use std::time::Duration;

    const MS: Duration = Duration::from_millis(1);

    fn built(controllers: Controllers) -> (Box<dyn Controller>, Instant) {
        let now = Instant::now();
        (Arc::new(controllers).build(now, 1_200), now)
    }

    /// A window of ten datagrams, and the byte without which quinn would send nine.
    #[test]
    fn a_window_has_a_byte_more() {
        let (controller, _) = built(Controllers::named("cubic").unwrap());
        assert_eq!((controller.window(), controller.initial_window()), (12_001, 12_000));
        assert_eq!(controller.metrics().congestion_window, 12_000);
    }

    /// Five of ten datagrams left in one call, as with segmentation offload. The loss of two halves the window once.
    #[test]
    fn bytes_are_taken_for_packets() {
        let (mut controller, now) = built(Controllers::named("newreno").unwrap());
        controller.on_sent(now, 5 * 1_200 - 200, 4);
        controller.on_sent(now + MS, 5 * 1_200, 9);
        controller.on_congestion_event(now + 50 * MS, now + MS, false, 2_400);
        assert_eq!(controller.window(), 5 * 1_200 + 1);
        controller.on_congestion_event(now + 51 * MS, now + MS, false, 1_200);
        assert_eq!((controller.window(), controller.metrics().ssthresh), (5 * 1_200 + 1, Some(6_000)));
        // All are lost: persistent congestion.
        controller.on_congestion_event(now + 900 * MS, now + MS, true, 7 * 1_200);
        assert_eq!(controller.window(), 2 * 1_200 + 1);
    }

    /// Ten ACKs of 40 bytes left before two datagrams, of which the first is lost, and then the second: two episodes, since the second left
    /// after the first was known to be lost.
    #[test]
    fn acks_that_left_alone_hide_no_loss() {
        let (mut controller, now) = built(Controllers::named("newreno").unwrap());
        (0..10).for_each(|number| controller.on_sent(now, 40, number));
        controller.on_sent(now + MS, 1_200, 10);
        controller.on_congestion_event(now + 50 * MS, now + MS, false, 1_200);
        assert_eq!(controller.window(), 5 * 1_200 + 1);
        controller.on_sent(now + 60 * MS, 1_200, 11);
        controller.on_congestion_event(now + 110 * MS, now + 60 * MS, false, 1_200);
        assert_eq!(controller.window(), 2 * 1_200 + 1);
    }

    /// A request each second, and ACKs of its answer, which quinn reports as it does the request. Nothing acknowledges them.
    #[test]
    fn acks_that_left_alone_fill_no_window() {
        let now = Instant::now();
        let mut controller = Locked::new(&Controllers::named("cubic").unwrap(), now, 1_200);
        let mut number = 0;
        for second in 0..100 {
            let sent = now + 1000 * MS * second;
            controller.on_sent(sent, 1_200, number);
            number += 1;
            for ack in 0..400 {
                controller.on_sent(sent + MS + Duration::from_micros(ack), 40, number);
                number += 1;
            }
            controller.get().on_acked(sent + 50 * MS, sent, None);
            controller.on_end_acks(sent + 50 * MS, 0, true, Some(number));
        }
        assert_eq!(controller.window(), 12_001);
    }

    /// Small packets that are acknowledged were in flight: they have a round-trip time, and open the window.
    #[test]
    fn small_packets_that_are_acknowledged_count() {
        let (mut controller, now) = built(Controllers::named("newreno").unwrap());
        let mut shared = Shared::new(&Controllers::named("newreno").unwrap(), now, 1_200);
        for number in 0..20 {
            shared.on_sent_alone(now + MS * number, 100, u64::from(number));
            shared.on_acked(now + MS * (50 + number), now + MS * number, None);
            shared.on_ack_end(now + MS * (50 + number), 0, false);
        }
        assert_eq!((shared.adapter.srtt(), shared.adapter.bytes_in_flight()), (Nanos::from_millis(50), 0));
        // A lost one reduces the window.
        controller.on_sent(now, 100, 0);
        controller.on_congestion_event(now + 50 * MS, now, false, 100);
        assert_eq!(controller.window(), 5 * 1_200 + 1);
    }

    /// A receiver sends ACKs alone, and never gets an ACK.
    #[test]
    fn acks_that_nobody_acknowledges_are_forgotten() {
        let now = Instant::now();
        let mut shared = Shared::new(&Controllers::named("cubic").unwrap(), now, 1_200);
        (0..100_000).for_each(|number| shared.on_sent_alone(now + MS * number, 40, u64::from(number)));
        assert!(shared.small_packets() <= 1_000);
    }

    /// An event without lost bytes is a mark.
    #[test]
    fn nothing_lost_is_a_mark() {
        let (mut controller, now) = built(Controllers::named("newreno").unwrap());
        controller.on_sent(now, 12_000, 9);
        controller.on_congestion_event(now + 50 * MS, now, false, 0);
        assert_eq!(controller.window(), 6_001);
    }

    #[test]
    fn a_larger_mtu_and_a_copy_begin_with_ten_datagrams() {
        let (mut controller, now) = built(Controllers::named("cubic").unwrap());
        controller.on_mtu_update(1_452);
        assert_eq!(controller.window(), 14_521);
        controller.on_sent(now, 1_452, 0);
        controller.on_congestion_event(now + 50 * MS, now, false, 1_452);
        assert!(controller.window() < 14_521);
        assert_eq!(controller.clone_box().window(), 14_521);
    }

    /// 12 Mbit/s for 40 ms are 60,000 bytes, and for 0.9 of 20 ms of queueing 27,000.
    #[test]
    fn a_rate_shapes_by_the_window() {
        let window = |srtt| shape(200_000, 1.5e6, Nanos::from_millis(40), Nanos::from_millis(srtt), 1_200);
        assert_eq!([40, 60].map(window), [61_200, 88_200]);
        // In 140 ms the rate would send the whole window.
        assert_eq!(window(140), 200_000);
        // Before the first round-trip time, and if it is turned off, the window is the algorithm's.
        for shape_by_window in [true, false] {
            let settings = Settings { shape_by_window, ..Settings::default() };
            let (controller, _) = built(Controllers::named("bbr3").unwrap().with_settings(settings));
            assert_eq!(controller.window(), 12_001);
        }
    }
}
