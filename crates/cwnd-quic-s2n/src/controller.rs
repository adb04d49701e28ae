//! The controller of one path.

use crate::Endpoint;
use crate::pacer::{Pacer, burst};
use cwnd_cc::transport::{AckEnd, Adapter, SentPacket, Settings};
use cwnd_cc::{CongestionControl, Nanos, State};
use s2n_quic::provider::congestion_controller::{
    CongestionController, Publisher, RandomGenerator, RttEstimator, Timestamp,
};
use std::cell::RefCell;
use std::fmt;
use std::time::Duration;

/// Windows per smoothed round-trip time at which a path is paced whose algorithm has no rate (RFC 9002 section 7.7), and in slow start.
const PACED: f64 = 1.25;
const PACED_IN_SLOW_START: f64 = 2.0;

/// A controller of s2n-quic with an algorithm of cwnd.
///
/// s2n-quic asks for the window by `&self`. The adapter then reports the last ACK and the losses after it to the algorithm, therefore the
/// cell.
pub struct Controller {
    inner: RefCell<Inner>,
    endpoint: Endpoint,
}

struct Inner {
    adapter: Adapter,
    /// The zero of the algorithm's clock: the first time that s2n-quic reports.
    origin: Option<Timestamp>,
    datagram: u16,
    /// Bytes in flight.
    in_flight: u64,
    /// The newest packet that counts as in flight.
    newest: Option<SentPacket>,
    /// Losses that were reported, of which the adapter does not know the end: when, and whether they are persistent congestion.
    losses: Option<(Nanos, bool)>,
    /// Marks that were reported before the packets of their ACK frame.
    marks: u32,
    app_limited: bool,
    /// A datagram may leave beyond the window, since a recovery period has begun.
    may_exceed: bool,
    /// The window at the last time that the algorithm knew everything, bytes.
    window: u32,
    pacer: Option<Pacer>,
    /// Bytes of a burst, if the path is paced.
    burst: Option<u64>,
}

impl Controller {
    pub(crate) fn new(
        endpoint: Endpoint,
        algorithm: Box<dyn CongestionControl>,
        datagram: u16,
        settings: &Settings,
    ) -> Controller {
        let mut inner = Inner {
            adapter: Adapter::new(algorithm, Nanos::ZERO, settings),
            origin: None,
            datagram,
            in_flight: 0,
            newest: None,
            losses: None,
            marks: 0,
            app_limited: false,
            may_exceed: false,
            window: 0,
            pacer: None,
            burst: None,
        };
        inner.settle();
        Controller { inner: RefCell::new(inner), endpoint }
    }
}

impl Inner {
    /// Returns a time of s2n-quic on the algorithm's clock.
    fn at(&mut self, time: Timestamp) -> Nanos {
        let origin = *self.origin.get_or_insert(time);
        Nanos::from(time.saturating_duration_since(origin))
    }

    /// Reports everything to the algorithm.
    fn settle(&mut self) {
        self.end_losses();
        self.window = self.adapter.window().try_into().unwrap_or(u32::MAX);
    }

    fn end_losses(&mut self) {
        if let Some((now, is_persistent)) = self.losses.take() {
            let before = self.adapter.state();
            self.adapter.on_losses(now, is_persistent);
            self.may_exceed |= before == State::Open && self.adapter.state() != State::Open;
        }
    }

    /// Reports the marks of the present ACK frame, whose packets have been reported.
    fn report_marks(&mut self, now: Nanos) {
        let marks = std::mem::take(&mut self.marks);
        if marks > 0 {
            self.adapter.on_marks(now, Some(marks));
        }
    }

    /// Returns the rate at which the path is paced, bytes a second; `None` before the first round-trip time.
    fn rate(&mut self) -> Option<f64> {
        let srtt = self.adapter.srtt();
        if srtt == Nanos::ZERO {
            return None;
        }
        let rate = self.adapter.pacing_rate().unwrap_or_else(|| {
            let in_slow_start = self.adapter.segments().in_slow_start();
            let windows = if in_slow_start { PACED_IN_SLOW_START } else { PACED };
            windows * f64::from(self.window) / srtt.as_secs_f64()
        });
        Some(rate).filter(|rate| *rate > 0.0)
    }
}

impl CongestionController for Controller {
    /// The newest packet in flight when this one was sent: itself, or the one before if it does not count.
    type PacketInfo = Option<SentPacket>;

    fn congestion_window(&self) -> u32 {
        self.inner.borrow().window
    }

    fn bytes_in_flight(&self) -> u32 {
        self.inner.borrow().in_flight.try_into().unwrap_or(u32::MAX)
    }

    fn is_congestion_limited(&self) -> bool {
        let mut inner = self.inner.borrow_mut();
        inner.settle();
        u64::from(inner.window).saturating_sub(inner.in_flight) < u64::from(inner.datagram)
    }

    fn requires_fast_retransmission(&self) -> bool {
        let mut inner = self.inner.borrow_mut();
        inner.settle();
        inner.may_exceed
    }

    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        sent_bytes: usize,
        app_limited: Option<bool>,
        _: &RttEstimator,
        _: &mut Pub,
    ) -> Self::PacketInfo {
        let inner = self.inner.get_mut();
        let now = inner.at(time_sent);
        if sent_bytes == 0 {
            return inner.newest;
        }
        inner.settle();
        inner.may_exceed = false;
        let packet = inner.adapter.on_packet_sent(now, sent_bytes as u32);
        inner.newest = Some(packet);
        inner.in_flight += sent_bytes as u64;
        inner.app_limited = app_limited.unwrap_or(false);
        if inner.app_limited {
            inner.adapter.on_app_limited();
        }
        let datagram = inner.datagram;
        let rate = inner.rate();
        inner.burst = rate.map(|rate| burst(rate, datagram));
        match rate {
            Some(rate) => {
                inner.pacer.get_or_insert_default().on_sent(now, sent_bytes as u64, rate, datagram);
            }
            None => inner.pacer = None,
        }
        inner.newest
    }

    fn on_rtt_update<Pub: Publisher>(&mut self, _: Timestamp, _: Timestamp, _: &RttEstimator, _: &mut Pub) {
        // The adapter has the times of its packets.
    }

    fn on_ack<Pub: Publisher>(
        &mut self,
        _: Timestamp,
        bytes_acknowledged: usize,
        newest_acked_packet_info: Self::PacketInfo,
        _: &RttEstimator,
        _: &mut dyn RandomGenerator,
        ack_receive_time: Timestamp,
        _: &mut Pub,
    ) {
        let inner = self.inner.get_mut();
        let now = inner.at(ack_receive_time);
        inner.end_losses();
        let bytes = bytes_acknowledged as u64;
        inner.in_flight = inner.in_flight.saturating_sub(bytes);
        if let Some(newest) = newest_acked_packet_info {
            inner.adapter.on_bytes_acked(now, &newest, bytes);
            inner.report_marks(now);
            let end = AckEnd { in_flight: Some(inner.in_flight), app_limited: inner.app_limited };
            inner.adapter.on_ack_end(now, &end);
        }
    }

    fn on_packet_lost<Pub: Publisher>(
        &mut self,
        lost_bytes: u32,
        packet_info: Self::PacketInfo,
        persistent_congestion: bool,
        _: bool,
        _: &mut dyn RandomGenerator,
        timestamp: Timestamp,
        _: &mut Pub,
    ) {
        let inner = self.inner.get_mut();
        let now = inner.at(timestamp);
        inner.in_flight = inner.in_flight.saturating_sub(u64::from(lost_bytes));
        if let Some(packet) = packet_info {
            inner.adapter.on_packet_lost(now, &packet);
            let before = inner.losses.is_some_and(|(_, is_persistent)| is_persistent);
            inner.losses = Some((now, before || persistent_congestion));
        }
    }

    fn on_explicit_congestion<Pub: Publisher>(&mut self, ce_count: u64, _: Timestamp, _: &mut Pub) {
        // s2n-quic reports them before the packets of the same ACK frame.
        let inner = self.inner.get_mut();
        inner.marks = inner.marks.saturating_add(ce_count.try_into().unwrap_or(u32::MAX));
    }

    fn on_mtu_update<Pub: Publisher>(&mut self, max_data_size: u16, _: &mut Pub) {
        let inner = self.inner.get_mut();
        inner.datagram = max_data_size;
        inner.adapter.set_mss(u32::from(max_data_size));
        inner.settle();
    }

    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes_sent: usize, _: &mut Pub) {
        // Of several packets only the sum is known. The adapter takes the bytes in flight over at the next ACK.
        let inner = self.inner.get_mut();
        inner.in_flight = inner.in_flight.saturating_sub(bytes_sent as u64);
    }

    fn earliest_departure_time(&self) -> Option<Timestamp> {
        let inner = self.inner.borrow();
        let next = inner.pacer?.next();
        Some(inner.origin? + Duration::from_nanos(next.0))
    }

    fn send_quantum(&self) -> Option<usize> {
        self.inner.borrow().burst.map(|bytes| bytes as usize)
    }
}

impl Clone for Controller {
    /// Returns a new controller of the same kind. An algorithm's state cannot be copied; the new one begins with its initial window.
    fn clone(&self) -> Controller {
        self.endpoint.controller(self.inner.borrow().datagram)
    }
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("adapter", &self.inner.borrow().adapter).finish_non_exhaustive()
    }
}
