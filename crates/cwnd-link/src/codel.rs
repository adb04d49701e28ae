//! Controlled delay: drops packets at the head at a rising rate while packets have waited too long.
//!
//! RFC 8289. A queue is bad when every packet that left it within an `interval` had waited for `target` or longer.
//! Then one packet is dropped, and another each `interval / sqrt(count)` after the one before it, until a packet has
//! waited for less (sections 3 and 4; the rules are those of the pseudocode in section 5).
//!
//! | parameter | default | source |
//! |---|---|---|
//! | `target` | 5 ms | section 4 |
//! | `interval` | 100 ms | section 4 |
//! | `ecn` | off | |
//!
//! Interpretations and differences:
//! - *A queue of one full packet or less* is never bad: no more bytes wait behind the packet than an MTU (section 5). A full
//!   packet's wire bytes stand for the MTU.
//! - *Coming back*: a queue that is bad again within 16 intervals continues with the difference `count - lastcount` of the
//!   last time, as in the pseudocode.
//! - *Marks*: a packet that can be marked is marked instead of dropped, and leaves. One departure therefore has at most one
//!   mark; further ones follow at the next departures.
//! - *Times* are nanoseconds; `interval / sqrt(count)` is rounded down.
//! - *A packet that does not fit* is dropped at the tail.

#[cfg(test)]
mod tests;

use crate::backlog::{Backlog, QueuedPacket};
use crate::{Arrival, Departure, Limits, QueueDiscipline};
use cwnd_scenario::CoDel;

#[derive(Clone, Debug)]
pub(crate) struct CoDelQueue<P> {
    codel: CoDel,
    full_packet: u32,
    control: Control,
    backlog: Backlog<P>,
}

impl<P: Copy> CoDelQueue<P> {
    pub fn new(codel: &CoDel, full_packet: u32) -> CoDelQueue<P> {
        CoDelQueue { codel: *codel, full_packet, control: Control::default(), backlog: Backlog::new() }
    }

    pub fn set(&mut self, codel: &CoDel) {
        self.codel = *codel;
    }

    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.backlog.iter()
    }
}

impl<P: Copy> QueueDiscipline<P> for CoDelQueue<P> {
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
        if !limits.admit(self.backlog.len() as u64, self.backlog.bytes(), transmitting, bytes) {
            dropped.push(packet);
            return;
        }
        self.backlog.push(QueuedPacket { packet, arrived: now, bytes, ecn, mark: false });
    }

    #[inline]
    fn dequeue(&mut self, now: u64, dropped: &mut Vec<P>) -> Option<Departure<P>> {
        self.control.dequeue(&self.codel, self.full_packet, now, &mut self.backlog, dropped)
    }

    #[inline(always)]
    fn dequeue_plainly(&mut self, now: u64) -> Option<Departure<P>> {
        self.control.pass(&self.codel, self.full_packet, now, &mut self.backlog)
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

/// CoDel's state of a queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Control {
    /// Time from which the queue is bad, if no packet leaves earlier after waiting for less than the target.
    bad_from: Option<u64>,
    /// Whether the queue is bad, so that packets are dropped.
    dropping: bool,
    /// Time at which the next drop is due, or would have been.
    drop_next: u64,
    /// Drops since it is bad, plus those carried over from the last time.
    count: u32,
    /// `count` when it became bad.
    last_count: u32,
}

impl Control {
    /// Returns the next packet of this queue that is not dropped.
    #[inline]
    pub fn dequeue<P: Copy>(
        &mut self,
        codel: &CoDel,
        full_packet: u32,
        now: u64,
        backlog: &mut Backlog<P>,
        dropped: &mut Vec<P>,
    ) -> Option<Departure<P>> {
        if let Some(departure) = self.pass(codel, full_packet, now, backlog) {
            return Some(departure);
        }
        let (held, bad) = self.take(codel, full_packet, now, backlog)?;
        self.drop_or_mark(codel, full_packet, now, backlog, dropped, held, bad)
    }

    /// Handles a request for a packet from the empty queue.
    pub fn rest(&mut self) {
        self.bad_from = None;
        self.dropping = false;
    }

    /// Returns the packet at the head if it leaves unchanged and no packet is dropped, as is usual. Otherwise the state is
    /// unchanged.
    #[inline(always)]
    pub fn pass<P: Copy>(
        &mut self,
        codel: &CoDel,
        full_packet: u32,
        now: u64,
        backlog: &mut Backlog<P>,
    ) -> Option<Departure<P>> {
        let head = backlog.head()?;
        let waited = now - head.arrived;
        if !self.dropping && waited < codel.target.0 {
            self.bad_from = None;
        } else if !self.lets_pass(codel, full_packet, now, waited, backlog.bytes() - u64::from(head.bytes)) {
            return None;
        }
        backlog.pop().map(|held| depart(held, false))
    }

    /// Returns whether a packet that waited this long, with this backlog in bytes behind it, leaves unchanged. If not, no state has
    /// changed.
    #[inline(never)]
    fn lets_pass(&mut self, codel: &CoDel, full_packet: u32, now: u64, waited: u64, behind: u64) -> bool {
        if self.is_bad(codel, full_packet, now, waited, behind) {
            return self.dropping && now < self.drop_next;
        }
        self.dropping = false;
        true
    }

    /// Returns whether a packet that waited this long, with this backlog in bytes behind it, is to be dropped or marked.
    #[inline]
    fn is_bad(&mut self, codel: &CoDel, full_packet: u32, now: u64, waited: u64, behind: u64) -> bool {
        if waited < codel.target.0 || behind <= u64::from(full_packet) {
            self.bad_from = None;
            return false;
        }
        match self.bad_from {
            Some(at) => now >= at,
            None => {
                self.bad_from = Some(now.saturating_add(codel.interval.0));
                false
            }
        }
    }

    /// Removes the packet at the head. Returns whether it has waited too long and must be dropped or marked.
    #[inline]
    fn take<P: Copy>(
        &mut self,
        codel: &CoDel,
        full_packet: u32,
        now: u64,
        backlog: &mut Backlog<P>,
    ) -> Option<(QueuedPacket<P>, bool)> {
        let Some(held) = backlog.pop() else {
            self.rest();
            return None;
        };
        let bad = self.is_bad(codel, full_packet, now, now - held.arrived, backlog.bytes());
        Some((held, bad))
    }

    #[inline(never)]
    #[allow(clippy::too_many_arguments)] // the pieces of one queue, split so that FQ-CoDel can own them
    fn drop_or_mark<P: Copy>(
        &mut self,
        codel: &CoDel,
        full_packet: u32,
        now: u64,
        backlog: &mut Backlog<P>,
        dropped: &mut Vec<P>,
        mut held: QueuedPacket<P>,
        mut bad: bool,
    ) -> Option<Departure<P>> {
        if !self.dropping {
            let mark = codel.ecn && held.ecn.can_be_marked();
            if !mark {
                dropped.push(held.packet);
                (held, _) = self.take(codel, full_packet, now, backlog)?;
            }
            self.become_bad(codel, now);
            return Some(depart(held, mark));
        }
        self.dropping = bad;
        while self.dropping && now >= self.drop_next {
            self.count += 1;
            if codel.ecn && held.ecn.can_be_marked() {
                self.drop_next = due(self.drop_next, codel, self.count);
                return Some(depart(held, true));
            }
            dropped.push(held.packet);
            (held, bad) = self.take(codel, full_packet, now, backlog)?;
            if bad {
                self.drop_next = due(self.drop_next, codel, self.count);
            } else {
                self.dropping = false;
            }
        }
        Some(depart(held, false))
    }

    fn become_bad(&mut self, codel: &CoDel, now: u64) {
        self.dropping = true;
        // drop_next may lie ahead: then it was bad only just now.
        let lately = now.saturating_sub(self.drop_next) < codel.interval.0.saturating_mul(16);
        let bequeathed = self.count - self.last_count;
        self.count = if bequeathed > 1 && lately { bequeathed } else { 1 };
        self.last_count = self.count;
        self.drop_next = due(now, codel, self.count);
    }
}

/// Returns the time of the next drop after one at `from`, by the control law (section 3).
fn due(from: u64, codel: &CoDel, count: u32) -> u64 {
    from.saturating_add((codel.interval.0 as f64 / libm::sqrt(f64::from(count))) as u64)
}

#[inline]
fn depart<P: Copy>(held: QueuedPacket<P>, mark: bool) -> Departure<P> {
    Departure { packet: held.packet, bytes: held.bytes, mark }
}
