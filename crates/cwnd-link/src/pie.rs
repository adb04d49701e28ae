//! Proportional integral controller, enhanced: arrivals are dropped with a probability that controls the queue's delay.
//!
//! RFC 8033. At regular times the probability p moves with the delay d, the target and the delay before (section 4.2):
//!
//! ```text
//! p += scale (alpha (d - target) + beta (d - d_old))
//! scale = 1/2048, 1/512, 1/128, 1/32, 1/8, 1/2, 1     for p < 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, and from there on
//! ```
//!
//! At most 0.02 is added from p = 0.1 on (section 5.5); p falls by 2 % when d = d_old = 0; and it stays within 0 and 1.
//! An arrival is dropped with probability p, unless (section 4.1) d_old < target/2 and p < 0.2, or no more than two full
//! packets' bytes wait, or a burst is still allowed (section 4.4): `max_burst` at first, less by each period, and
//! `max_burst` again when p = 0 and d and d_old are under half the target.
//!
//! | parameter | default | source |
//! |---|---|---|
//! | `target`, `update` | 15 ms | section 4.2 |
//! | `alpha`, `beta` | 0.125/s, 1.25/s | section 4.2 |
//! | `max_burst` | 150 ms | section 4.4 |
//! | `ecn`, `ecn_most` | off, 0.1 | section 5.1 |
//!
//! Interpretations and differences:
//! - *The delay* is for how long the packet at the head has waited: a direct measurement (section 4.3). The other way,
//!   bytes over the departure rate, needs an estimate of that rate (section 5.2), which lags on links that vary.
//! - *Updates* are at whole multiples of `update` on the clock, before what happens at the same time. They are made up for at
//!   the next call, with what waited then.
//! - *A burst* is allowed again at the update that finds the congestion gone, after that update's own subtraction.
//! - *Marks* stand for drops while p < `ecn_most`.
//! - *De-randomisation* (section 5.4) and turning PIE off while the buffer is nearly empty (section 5.3) are not in; both are
//!   optional. Neither are probabilities by packet size.
//! - *A packet that does not fit* is dropped, independent of p.

#[cfg(test)]
mod tests;

use crate::backlog::{Backlog, QueuedPacket};
use crate::periodic::Periodic;
use crate::{Arrival, Departure, Limits, QueueDiscipline, Stream};
use cwnd_scenario::Pie;

#[derive(Clone, Debug)]
pub(crate) struct PieQueue<P> {
    pie: Pie,
    full_packet: u32,
    stream: Stream,
    backlog: Backlog<P>,
    updates: Periodic,
    /// p.
    probability: f64,
    /// d at the last update, ns.
    delay: u64,
    /// Remaining time in which a burst is allowed, ns.
    burst: u64,
}

impl<P: Copy> PieQueue<P> {
    pub fn new(pie: &Pie, full_packet: u32, stream: Stream) -> PieQueue<P> {
        PieQueue {
            pie: *pie,
            full_packet,
            stream,
            backlog: Backlog::new(),
            updates: Periodic::new(pie.update.0),
            probability: 0.0,
            delay: 0,
            burst: pie.max_burst.0,
        }
    }

    pub fn set(&mut self, pie: &Pie) {
        self.pie = *pie;
        self.updates.set(pie.update.0);
        self.burst = self.burst.min(pie.max_burst.0);
    }

    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.backlog.iter()
    }

    /// Returns whether the arrival must be dropped or marked.
    #[inline]
    fn hits(&mut self) -> bool {
        let calm = self.delay < self.pie.target.0 / 2 && self.probability < 0.2;
        let short = self.backlog.bytes() <= 2 * u64::from(self.full_packet);
        if self.burst > 0 || calm || short {
            return false;
        }
        self.stream.uniform() < self.probability
    }

    /// Runs all updates that are due. No packet has arrived or left since the first of them.
    #[inline(never)]
    fn catch_up(&mut self, now: u64) {
        while let Some(at) = self.updates.take(now) {
            if !self.update(at) {
                continue;
            }
            if let Some(last) = self.updates.take_last(now) {
                self.delay = self.delay_at(last);
            }
        }
    }

    /// Computes the probability again. Returns true if the updates after this one will change nothing more but the delay, as
    /// long as nothing comes or goes: the time between two calls may be long.
    fn update(&mut self, at: u64) -> bool {
        let Pie { target, update, alpha, beta, max_burst, .. } = self.pie;
        let (delay, old) = (self.delay_at(at), self.delay);
        let before = self.probability;
        let mut step = (alpha * seconds(delay, target.0) + beta * seconds(delay, old)) * scale(before);
        if before >= 0.1 && step > 0.02 {
            step = 0.02;
        }
        let mut probability = before + step;
        if delay == 0 && old == 0 {
            probability *= 0.98;
        }
        self.probability = probability.clamp(0.0, 1.0);
        self.delay = delay;
        self.burst = self.burst.saturating_sub(update.0);
        let half = target.0 / 2;
        if self.probability == 0.0 && delay < half && old < half {
            self.burst = max_burst.0;
        }
        let rests = self.backlog.head().is_none() && old == 0 && self.probability == before;
        let full = before == 1.0 && self.probability == 1.0 && delay >= target.0 && self.burst == 0;
        rests && (self.burst == 0 || self.burst == max_burst.0 && self.probability == 0.0) || full
    }

    fn delay_at(&self, at: u64) -> u64 {
        self.backlog.head().map_or(0, |head| at.saturating_sub(head.arrived))
    }
}

impl<P: Copy> QueueDiscipline<P> for PieQueue<P> {
    #[inline(always)]
    fn enqueue(
        &mut self,
        limits: &Limits,
        now: u64,
        packet: P,
        about: Arrival,
        transmitting: Option<u32>,
        dropped: &mut Vec<P>,
    ) {
        let Arrival { bytes, ecn, .. } = about;
        if self.updates.is_due(now) {
            self.catch_up(now);
        }
        let hit = self.hits();
        let mark = hit && self.pie.ecn && ecn.can_be_marked() && self.probability < self.pie.ecn_most;
        let fits = limits.admit(self.backlog.len() as u64, self.backlog.bytes(), transmitting, bytes);
        if !fits || (hit && !mark) {
            dropped.push(packet);
            return;
        }
        self.backlog.push(QueuedPacket { packet, arrived: now, bytes, ecn, mark });
    }

    #[inline]
    fn dequeue(&mut self, now: u64, _dropped: &mut Vec<P>) -> Option<Departure<P>> {
        if self.updates.is_due(now) {
            self.catch_up(now);
        }
        self.dequeue_plainly(now)
    }

    #[inline(always)]
    fn dequeue_plainly(&mut self, now: u64) -> Option<Departure<P>> {
        if self.updates.is_due(now) {
            return None;
        }
        self.backlog.pop().map(|QueuedPacket { packet, bytes, mark, .. }| Departure { packet, bytes, mark })
    }

    #[inline]
    fn waiting(&self) -> usize {
        self.backlog.len()
    }

    #[inline]
    fn waiting_bytes(&self) -> u64 {
        self.backlog.bytes()
    }
}

/// Scales the change at small probabilities (section 4.2).
fn scale(probability: f64) -> f64 {
    match probability {
        p if p < 1e-6 => 1.0 / 2048.0,
        p if p < 1e-5 => 1.0 / 512.0,
        p if p < 1e-4 => 1.0 / 128.0,
        p if p < 1e-3 => 1.0 / 32.0,
        p if p < 0.01 => 1.0 / 8.0,
        p if p < 0.1 => 1.0 / 2.0,
        _ => 1.0,
    }
}

/// Returns `delay - other` in seconds.
pub(crate) fn seconds(delay: u64, other: u64) -> f64 {
    (delay as f64 - other as f64) * 1e-9
}
