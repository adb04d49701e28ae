//! The rate that the encoder is given, and the pacing that follows from it.

use crate::{Frame, Nanos};
use core::cell::Cell;

/// Bytes of headers that a packet of media has beyond the transport's.
const PACKET_OVERHEAD: f64 = 20.0;
/// Segments from which on R is large: a segment is less than a tenth of it.
const LARGE: f64 = 11.0;
/// Pacing is this much faster than the rate.
const HEADROOM: f64 = 1.5;
/// Least rate from which pacing is computed, bytes a second.
const LEAST_PACED: f64 = 50_000.0 / 8.0;
/// Share of the encoder's greatest rate from which pacing is relaxed, and by how much at that rate.
const RELAXED_FROM: f64 = 0.8;
const MOST_RELAXED: f64 = 4.0;
/// By how much the rate is below R/s.
const BELOW: f64 = 1.2;
const ADJUSTMENT_GAIN: f64 = 1.0 / 16.0;
const MOST_ADJUSTMENT: f64 = 0.5;

/// What the rate of the encoder depends on apart from the reference window.
#[derive(Clone, Debug)]
pub(super) struct MediaRate {
    /// Grows while packets wait at the sender for more than a quarter of a frame's interval.
    adjustment: f64,
    /// The encoder's greatest rate, bytes a second; infinite without an encoder.
    most: f64,
    /// [`MediaRate::share_of_large`] of segments of this size, which two divisions gave; of none at first.
    share: Cell<(u32, f64)>,
}

impl Default for MediaRate {
    fn default() -> Self {
        MediaRate { adjustment: 0.0, most: f64::INFINITY, share: Cell::new((0, 0.0)) }
    }
}

impl MediaRate {
    pub fn on_frame(&mut self, frame: &Frame) {
        self.most = frame.most;
        let interval = frame.interval.as_secs_f64();
        let error = (frame.waited.as_secs_f64() - interval / 4.0) / interval;
        self.adjustment = (self.adjustment + error * ADJUSTMENT_GAIN).clamp(0.0, MOST_ADJUSTMENT);
        self.share.set((0, 0.0));
    }

    /// Returns the rate, bytes a second; zero while no round-trip time is known.
    pub fn of(&self, reference: f64, mss: u32, srtt: Nanos) -> f64 {
        if srtt == Nanos::ZERO {
            return 0.0;
        }
        let size = f64::from(mss);
        let share = if reference > LARGE * size {
            self.share_of_large(mss)
        } else {
            let of_small = 1.0 - ((size / reference).min(1.0) - 0.1).clamp(0.0, 0.2);
            of_small * size / (size + PACKET_OVERHEAD) / (BELOW + self.adjustment)
        };
        (share * reference / srtt.as_secs_f64()).min(self.most)
    }

    /// Returns the share of R/s that the rate is where R is large.
    fn share_of_large(&self, mss: u32) -> f64 {
        let (of, share) = self.share.get();
        if of == mss {
            return share;
        }
        let size = f64::from(mss);
        let share = size / (size + PACKET_OVERHEAD) / (BELOW + self.adjustment);
        self.share.set((mss, share));
        share
    }

    /// Returns whether the encoder could use a higher rate.
    pub fn is_below_most(&self, reference: f64, mss: u32, srtt: Nanos) -> bool {
        self.most == f64::INFINITY || self.of(reference, mss, srtt) < self.most
    }

    /// Returns the pacing rate, bytes a second.
    pub fn pacing(&self, reference: f64, mss: u32, srtt: Nanos) -> f64 {
        let rate = self.of(reference, mss, srtt);
        if self.most == f64::INFINITY {
            return HEADROOM * rate.max(LEAST_PACED);
        }
        let relaxed = (rate / self.most - RELAXED_FROM) / (1.0 - RELAXED_FROM);
        let scale = (1.0 - relaxed).clamp(1.0 / MOST_RELAXED, 1.0);
        HEADROOM * rate.max(LEAST_PACED) / scale
    }
}
