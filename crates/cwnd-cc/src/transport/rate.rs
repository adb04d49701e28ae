//! Delivery-rate samples (draft-ietf-ccwg-bbr section 4.1) from the records of packets.

use super::SentPacket;
use crate::{Nanos, RateSample};

/// The delivery-rate sampler.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateSampler {
    /// When the last segment was delivered (C.delivered_time).
    delivered_at: Nanos,
    /// When the newest packet was sent that an ACK delivered last (C.first_send_time).
    first_sent: Nanos,
    /// Samples are application-limited until more than this number of segments is delivered (C.app_limited).
    limited_until: Option<u64>,
    /// The packet sent last among those that this ACK delivers.
    newest: Option<SentPacket>,
}

/// The counters that samples are differences of, segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    pub delivered: u64,
    pub lost: u64,
    pub marked: u64,
}

impl RateSampler {
    /// Creates the sampler of a connection that begins at `now`.
    pub fn new(now: Nanos) -> RateSampler {
        RateSampler { delivered_at: now, first_sent: now, limited_until: None, newest: None }
    }

    /// Writes the sampler's part of a packet's record. `alone`: nothing else is in flight.
    pub fn on_sent(&mut self, packet: &mut SentPacket, alone: bool) {
        if alone {
            self.first_sent = packet.sent;
            self.delivered_at = packet.sent;
        }
        packet.first_sent = self.first_sent;
        packet.delivered_at = self.delivered_at;
        packet.app_limited = self.limited_until.is_some();
    }

    /// Does the same for a packet that may have ACKs alone, which begins no flight for those after it.
    pub fn on_uncertain_sent(&self, packet: &mut SentPacket, alone: bool) {
        let mut sampler = *self;
        sampler.on_sent(packet, alone);
    }

    /// Records a packet that is delivered.
    pub fn on_acked(&mut self, now: Nanos, packet: &SentPacket) {
        self.delivered_at = now;
        if self.newest.as_ref().is_none_or(|newest| packet.order > newest.order) {
            self.newest = Some(*packet);
            self.first_sent = packet.sent;
        }
    }

    /// Records that samples are application-limited until more than `delivered` segments are delivered.
    pub fn limit_until(&mut self, delivered: u64) {
        self.limited_until = Some(delivered);
    }

    /// Returns the sample of an ACK that came at `now`; `None` if its interval is shorter than the smallest round-trip time.
    pub fn finish(&mut self, now: Nanos, min_rtt: Nanos, totals: Totals) -> Option<RateSample> {
        if self.limited_until.is_some_and(|limit| totals.delivered > limit) {
            self.limited_until = None;
        }
        let packet = self.newest.take()?;
        let sending = packet.sent.since(packet.first_sent);
        let acknowledging = self.delivered_at.since(packet.delivered_at);
        let sample = RateSample {
            delivered: totals.delivered - packet.delivered,
            prior_delivered: packet.delivered,
            interval: sending.max(acknowledging),
            app_limited: packet.app_limited,
            tx_in_flight: packet.in_flight,
            lost: totals.lost - packet.lost,
            marked: totals.marked - packet.marked,
            rtt: now.since(packet.sent),
        };
        (sample.interval >= min_rtt).then_some(sample)
    }
}
