//! Slow start as a part that is chosen by a word.

use super::{hystart::HyStart, hystart_plus_plus::HyStartPlusPlus};
use crate::{Ack, CongestionKind, Nanos, Window};

words! {
    /// Which slow start.
    pub enum SlowStartKind {
        /// RFC 5681: one segment for each acknowledged one, until `ssthresh` or a loss.
        Standard = "standard",
        /// HyStart, as Linux has it.
        HyStart = "hystart",
        /// RFC 9406.
        HyStartPlusPlus = "hystart++",
    }
}

/// A slow start and its state.
#[derive(Clone, Debug)]
pub enum SlowStart {
    /// RFC 5681.
    Standard,
    /// HyStart, as Linux has it.
    HyStart(HyStart),
    /// RFC 9406.
    HyStartPlusPlus(HyStartPlusPlus),
}

impl SlowStart {
    /// The slow start of that kind, for a flow that starts now.
    pub fn new(kind: SlowStartKind, now: Nanos) -> Self {
        match kind {
            SlowStartKind::Standard => SlowStart::Standard,
            SlowStartKind::HyStart => SlowStart::HyStart(HyStart::new(now)),
            SlowStartKind::HyStartPlusPlus => SlowStart::HyStartPlusPlus(HyStartPlusPlus::default()),
        }
    }

    /// An ACK came in slow start. Measures always, grows the window if it may, and returns how many
    /// acknowledged segments are left for congestion avoidance.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack) -> u32 {
        match self {
            SlowStart::Standard => {}
            SlowStart::HyStart(hystart) => hystart.on_ack(window, ack, ack.min_rtt),
            SlowStart::HyStartPlusPlus(hystart) => return hystart.on_ack(window, ack),
        }
        if !ack.may_grow() {
            0
        } else if window.in_slow_start() {
            window.slow_start(ack.acked)
        } else {
            ack.acked
        }
    }

    /// A congestion episode begins.
    pub fn on_congestion(&mut self, kind: CongestionKind, now: Nanos) {
        match self {
            SlowStart::Standard => {}
            SlowStart::HyStart(hystart) if kind == CongestionKind::Timeout => *hystart = HyStart::new(now),
            SlowStart::HyStart(_) => {}
            SlowStart::HyStartPlusPlus(hystart) => hystart.end(),
        }
    }
}
