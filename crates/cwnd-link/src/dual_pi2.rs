//! Two coupled queues: one for scalable congestion control (L), one for classic (C).
//!
//! RFC 9332, appendix A. Packets that are ECT(1) or CE wait in the L queue, others in the C queue. At regular times the
//! base probability p' moves with the queue's delay d (the PI controller of appendix A.1):
//!
//! ```text
//! p' += alpha (d - target) + beta (d - d_old),    within 0 and 1
//! p_C = p'^2          a classic packet is dropped, or marked if it is ECT(0)
//! p_CL = k p'         what an L packet is marked with on account of the C queue
//! p_L = max(p'_L, p_CL),    p'_L = 1 if it has waited for longer than `step`, else 0
//! ```
//!
//! | parameter | default | source |
//! |---|---|---|
//! | `target` | 15 ms | A.1 |
//! | `update` | 16 ms | A.1: min(target, RTT_max/3); Linux has 16 ms |
//! | `alpha`, `beta` | 0.16/s, 3.2/s | A.1, with RTT_max = 100 ms; Linux's rounding |
//! | `coupling` k | 2 | A.1 |
//! | `step` | 1 ms | Linux; A.1 has a ramp from 0.8 to 1.2 ms |
//! | `classic_most` | 0.25 | A.1: p_Cmax = min(1/k^2, 1) |
//! | `classic_share` | 0.1 | Linux |
//!
//! Interpretations and differences:
//! - *Likelihoods* add up to a mark or drop (`recur` in A.1): 1 is subtracted from a sum above 1. There are no random numbers.
//!   The drops of one queue, its marks, and the decisions of the other have a sum each.
//! - *The delay* d is the waiting time of the head of either queue, whichever is longer. L traffic that ignores marks
//!   therefore changes p', too.
//! - *The step* replaces A.1's ramp, as in Linux. It marks only where another L packet waits behind the one that leaves
//!   (Th_len of A.1 is one packet; here the one that leaves counts), so that a link on which a single packet takes longer than
//!   `step` does not mark every one.
//! - *Overload* (A.2) is p_C > `classic_most` for both queues: C packets are dropped, also those that can be marked, and L
//!   packets are dropped with p_C; those that are not are marked with p_CL. (A.2 looks at p_CL for L packets; with k = 2
//!   both come to p' = 1/2.)
//! - *The scheduler*, which A.1 leaves open, is a weighted round robin by bytes. It serves the L queue unless the C queue is
//!   owed its head packet: each L byte that leaves while C packets wait owes it `classic_share`, each C byte that leaves while
//!   L packets wait pays off the rest of 1. So C has its share while both have packets, and a burst of L packets passes first.
//!   There is no debt while one queue is empty.
//! - *Updates* are at whole multiples of `update`, as in [`pie`](crate::pie).
//! - *The limit* is for both queues together; a packet that does not fit is dropped.

#[cfg(test)]
mod tests;

use crate::backlog::{Backlog, QueuedPacket};
use crate::periodic::Periodic;
use crate::pie::seconds;
use crate::{Arrival, Codepoint, Departure, Limits, QueueDiscipline};
use cwnd_scenario::DualPi2;

#[derive(Clone, Debug)]
pub(crate) struct DualPi2Queue<P> {
    dual: DualPi2,
    low_latency: Backlog<P>,
    classic: Backlog<P>,
    updates: Periodic,
    /// p'.
    base: f64,
    /// p_C and p_CL.
    classic_probability: f64,
    coupled: f64,
    /// d at the last update, ns.
    delay: u64,
    /// The C queue's share, in [`SHARES`].
    share: i64,
    /// Bytes times [`SHARES`] that the C queue is owed.
    owed: i64,
    classic_hits: Likelihood,
    low_latency_marks: Likelihood,
    low_latency_drops: Likelihood,
}

/// The whole, of which shares are parts.
const SHARES: i64 = 1 << 20;

/// A sum of likelihoods.
#[derive(Clone, Copy, Debug, Default)]
struct Likelihood(f64);

impl Likelihood {
    /// Whether none is due after one more of this likelihood, which is added only then.
    #[inline]
    fn passes(&mut self, likelihood: f64) -> bool {
        let sum = self.0 + likelihood;
        let passes = sum <= 1.0;
        if passes {
            self.0 = sum;
        }
        passes
    }

    #[inline]
    fn recurs(&mut self, likelihood: f64) -> bool {
        self.0 += likelihood;
        let hit = self.0 > 1.0;
        if hit {
            self.0 -= 1.0;
        }
        hit
    }
}

/// The action for a leaving packet.
enum Verdict {
    Pass,
    Mark,
    Drop,
}

#[inline]
fn depart<P: Copy>(held: QueuedPacket<P>, verdict: &Verdict) -> Departure<P> {
    Departure { packet: held.packet, bytes: held.bytes, mark: matches!(verdict, Verdict::Mark) }
}

impl<P: Copy> DualPi2Queue<P> {
    pub fn new(dual: &DualPi2) -> DualPi2Queue<P> {
        let mut queue = DualPi2Queue {
            dual: *dual,
            low_latency: Backlog::new(),
            classic: Backlog::new(),
            updates: Periodic::new(dual.update.0),
            base: 0.0,
            classic_probability: 0.0,
            coupled: 0.0,
            delay: 0,
            share: 0,
            owed: 0,
            classic_hits: Likelihood::default(),
            low_latency_marks: Likelihood::default(),
            low_latency_drops: Likelihood::default(),
        };
        queue.set(dual);
        queue
    }

    pub fn set(&mut self, dual: &DualPi2) {
        self.dual = *dual;
        self.updates.set(dual.update.0);
        self.share = libm::round(dual.classic_share.clamp(0.0, 1.0) * SHARES as f64) as i64;
        self.couple();
    }

    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.low_latency.iter().chain(self.classic.iter())
    }

    /// Returns the queue whose turn it is.
    #[inline]
    fn serves_classic(&mut self) -> bool {
        match self.classic.head() {
            Some(_) if self.low_latency.len() == 0 => {
                self.owed = 0;
                true
            }
            Some(head) => self.owed >= (SHARES - self.share) * i64::from(head.bytes),
            None => {
                self.owed = 0;
                false
            }
        }
    }

    #[inline]
    fn classic_verdict(&mut self, held: &QueuedPacket<P>) -> Verdict {
        if !self.classic_hits.recurs(self.classic_probability) {
            Verdict::Pass
        } else if held.ecn.can_be_marked() && !self.overloaded() {
            Verdict::Mark
        } else {
            Verdict::Drop
        }
    }

    #[inline]
    fn low_latency_verdict(&mut self, held: &QueuedPacket<P>, now: u64) -> Verdict {
        if self.overloaded() {
            if self.low_latency_drops.recurs(self.classic_probability) {
                return Verdict::Drop;
            }
            return if self.low_latency_marks.recurs(self.coupled) { Verdict::Mark } else { Verdict::Pass };
        }
        let waited = now.saturating_sub(held.arrived);
        let native = waited > self.dual.step.0 && self.low_latency.len() > 0;
        let likelihood = if native { 1.0 } else { self.coupled };
        if self.low_latency_marks.recurs(likelihood) { Verdict::Mark } else { Verdict::Pass }
    }

    #[inline]
    fn overloaded(&self) -> bool {
        self.classic_probability > self.dual.classic_most
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
        self.couple();
    }

    /// Computes the base probability again. Returns true if the updates after this one will change nothing more but the delay,
    /// as long as nothing comes or goes: the time between two calls may be long.
    fn update(&mut self, at: u64) -> bool {
        let DualPi2 { target, alpha, beta, .. } = self.dual;
        let (delay, old) = (self.delay_at(at), self.delay);
        let before = self.base;
        let step = alpha * seconds(delay, target.0) + beta * seconds(delay, old);
        self.base = (before + step).clamp(0.0, 1.0);
        self.delay = delay;
        let rests = self.waiting() == 0 && old == 0 && self.base == before;
        let full = before == 1.0 && self.base == 1.0 && delay >= target.0;
        rests || full
    }

    fn couple(&mut self) {
        self.classic_probability = self.base * self.base;
        self.coupled = (self.dual.coupling * self.base).min(1.0);
    }

    fn delay_at(&self, at: u64) -> u64 {
        let head = |queue: &Backlog<P>| queue.head().map_or(0, |head| at.saturating_sub(head.arrived));
        head(&self.low_latency).max(head(&self.classic))
    }
}

impl<P: Copy> QueueDiscipline<P> for DualPi2Queue<P> {
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
        if !limits.admit(self.waiting() as u64, self.waiting_bytes(), transmitting, bytes) {
            dropped.push(packet);
            return;
        }
        let queue = match ecn {
            Codepoint::Ect1 | Codepoint::Ce => &mut self.low_latency,
            Codepoint::NotEct | Codepoint::Ect0 => &mut self.classic,
        };
        queue.push(QueuedPacket { packet, arrived: now, bytes, ecn, mark: false });
    }

    #[inline]
    fn dequeue(&mut self, now: u64, dropped: &mut Vec<P>) -> Option<Departure<P>> {
        if self.updates.is_due(now) {
            self.catch_up(now);
        }
        if self.low_latency.len() == 0 {
            self.owed = 0;
            let held = self.classic.pop()?;
            match self.classic_verdict(&held) {
                Verdict::Drop => dropped.push(held.packet),
                verdict => return Some(depart(held, &verdict)),
            }
        }
        loop {
            let contended = self.low_latency.len() > 0 && self.classic.len() > 0;
            let serves_classic = self.serves_classic();
            let (held, verdict) = if serves_classic {
                let held = self.classic.pop()?;
                let verdict = self.classic_verdict(&held);
                (held, verdict)
            } else {
                let held = self.low_latency.pop()?;
                let verdict = self.low_latency_verdict(&held, now);
                (held, verdict)
            };
            if let Verdict::Drop = verdict {
                dropped.push(held.packet);
                continue;
            }
            if contended {
                let change = if serves_classic { self.share - SHARES } else { self.share };
                self.owed += change * i64::from(held.bytes);
            }
            return Some(depart(held, &verdict));
        }
    }

    #[inline(always)]
    fn dequeue_plainly(&mut self, now: u64) -> Option<Departure<P>> {
        let classic_alone = self.low_latency.len() == 0 && self.classic.len() > 0;
        if self.updates.is_due(now) || !classic_alone || !self.classic_hits.passes(self.classic_probability) {
            return None;
        }
        self.owed = 0;
        self.classic.pop().map(|held| depart(held, &Verdict::Pass))
    }

    #[inline]
    fn waiting(&self) -> usize {
        self.low_latency.len() + self.classic.len()
    }

    #[inline]
    fn waiting_bytes(&self) -> u64 {
        self.low_latency.bytes() + self.classic.bytes()
    }
}
