//! HyStart: slow start that ends before the queue overflows.
//!
//! S. Ha, I. Rhee, "Taming the Elephants: New TCP Slow Start", NCSU 2008 (Computer Networks 55, 2011), with
//! the constants and the refinements of Linux 5.6 and later. Two signs end slow start at the window where they
//! appear (`ssthresh := cwnd`), looked for from 16 segments up:
//!
//! - *ACK train*: ACKs that follow each other within 2 ms, since the round began, for longer than half the
//!   least RTT. A whole window sent back to back then fills the forward path. Linux adds to the least RTT the
//!   time of four 64 KiB bursts at the pacing rate (twice `cwnd / srtt`), at most 1 ms, and does not halve the
//!   sum for a flow that is paced, since pacing alone spreads the train over half an RTT.
//! - *Delay*: the least RTT of the round, once 8 samples are in, exceeds the least RTT by more than an eighth
//!   of it, the eighth kept within 4 to 16 ms.
//!
//! Linux looks whenever `cwnd < ssthresh`, even in a recovery in which rate reduction took the window under
//! `ssthresh`; so does this. After a timeout it looks anew.

use super::round::RoundRtt;
use crate::{Ack, Nanos, Window};

const LOW_WINDOW: f64 = 16.0;
const TRAIN_GAP: Nanos = Nanos::from_millis(2);
const SAMPLES: u32 = 8;
const MIN_THRESHOLD: Nanos = Nanos::from_millis(4);
const MAX_THRESHOLD: Nanos = Nanos::from_millis(16);
const BURST_BYTES: f64 = 4.0 * 65_536.0;
const MAX_BURST: Nanos = Nanos::from_millis(1);

/// HyStart's state.
#[derive(Clone, Debug)]
pub struct HyStart {
    found: bool,
    round_start: Nanos,
    last_ack: Nanos,
    rtt: RoundRtt,
}

impl HyStart {
    /// Ready for a flow that starts now.
    pub fn new(now: Nanos) -> Self {
        HyStart { found: false, round_start: now, last_ack: now, rtt: RoundRtt::EMPTY }
    }

    /// Look at an ACK in slow start and end it if a sign is seen. `delay_min` is the least RTT of the path,
    /// [`Nanos::MAX`] if none is known.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack, delay_min: Nanos) {
        if self.found {
            return;
        }
        if ack.round_start {
            *self = HyStart::new(ack.now);
        }
        let Some(rtt) = ack.rtt else { return };
        if window.cwnd < LOW_WINDOW || delay_min == Nanos::MAX {
            return;
        }
        if ack.now.since(self.last_ack) <= TRAIN_GAP {
            self.last_ack = ack.now;
            self.found = ack.now.since(self.round_start) > train_threshold(window, ack, delay_min);
        }
        if self.rtt.samples >= SAMPLES {
            self.rtt.min = self.rtt.min.min(rtt);
            let threshold = Nanos(delay_min.0 / 8).clamp(MIN_THRESHOLD, MAX_THRESHOLD);
            self.found |= self.rtt.min > delay_min + threshold;
        } else {
            self.rtt.add(rtt);
        }
        if self.found {
            window.set_ssthresh(window.cwnd);
        }
    }
}

fn train_threshold(window: &Window, ack: &Ack, delay_min: Nanos) -> Nanos {
    // rate = 2 cwnd mss / srtt, so the bursts take BURST_BYTES srtt / (2 cwnd mss).
    let window_bytes = 2.0 * window.cwnd * f64::from(window.mss().max(1));
    let burst = Nanos((BURST_BYTES * ack.srtt.0 as f64 / window_bytes) as u64).min(MAX_BURST);
    let threshold = delay_min + burst;
    if window.pacing_rate.is_finite() { threshold } else { Nanos(threshold.0 / 2) }
}
