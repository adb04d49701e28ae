//! Random early detection: the probability of a drop rises with the average queue length.
//!
//! S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM ToN 1(4), 1993, figure 2
//! and section 4. With q the packets that an arrival finds waiting:
//!
//! ```text
//! avg = (1 - w) avg + w q                         at each arrival
//! avg = (1 - w)^m avg,  m = idle time / s         at one that finds the link idle
//! p_b = p_max (avg - min) / (max - min)           for min <= avg < max
//! p_a = p_b / (1 - count p_b)                     count: packets since the last one that was hit
//! ```
//!
//! An arrival is hit, that is dropped or marked, with probability p_a.
//!
//! | parameter | default | source |
//! |---|---|---|
//! | `min`, `max` | 5, 15 packets | paper, section 6; `max` 3 `min`: S. Floyd, "RED: Discussions of Setting Parameters", 1997 |
//! | `p_max` | 0.1 | the same note |
//! | `weight` | 0.002 | paper, section 5 |
//! | `gentle` | on | S. Floyd, "Recommendation on using the gentle variant of RED", 2000 |
//! | `ecn` | off | |
//!
//! Interpretations and differences:
//! - *count* is as in figure 2: -1 while avg < min, and raised before it is used. So the first packet over `min` has p_b,
//!   and the first after a hit p_b / (1 - p_b).
//! - *Gentle*: from `max` to twice `max`, p_b rises from `p_max` to 1, and becomes p_a as below `max`.
//! - *Where the probability is 1* all arrivals are dropped, marked or not: RFC 3168, section 7.
//! - *Equal thresholds* are a step, whatever `gentle` and `p_max` say: an arrival that finds avg >= `max` (figure 2 has "not
//!   less than") is hit. That step marks what can be marked; with `weight` 1 it is DCTCP's threshold on the queue itself.
//! - *Idle* is a link that has sent all that it was given, at its nominal rate; with a varying rate that is about
//!   right. s is the time of a full packet (the paper: of a typical small one). With `weight` 1, avg is then 0.
//! - *A packet that does not fit* is dropped and counts as a hit. The paper has no limit.
//! - The paper's option to weight probabilities by packet size is not implemented.

#[cfg(test)]
mod tests;

use crate::backlog::{Backlog, QueuedPacket};
use crate::{Arrival, Departure, Limits, QueueDiscipline, SerialTime, Stream};
use cwnd_scenario::{Rate, Red};

#[derive(Clone, Debug)]
pub(crate) struct RedQueue<P> {
    red: Red,
    /// p_max / (max - min), and what p_b rises by from `max` on.
    slope: f64,
    gentle_slope: f64,
    /// ln(1 - w).
    ln_keep: f64,
    serial: SerialTime,
    /// 1 / s, 1/ns; infinite if transmission takes no time.
    per_packet: f64,
    stream: Stream,
    backlog: Backlog<P>,
    /// avg, packets.
    average: f64,
    /// Packets since the last hit; -1 while the average is under `min`.
    count: i64,
    /// When the last packet left, and its wire bytes: from there on it takes its time.
    last_left: (u64, u32),
}

/// The decision about an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    /// Mark it if it is ECN-capable, otherwise drop it.
    Hit,
    Drop,
}

impl<P: Copy> RedQueue<P> {
    pub fn new(red: &Red, rate: Rate, full_packet: u32, stream: Stream) -> RedQueue<P> {
        let serial = SerialTime::new(rate);
        let mut queue = RedQueue {
            red: *red,
            slope: 0.0,
            gentle_slope: 0.0,
            ln_keep: 0.0,
            serial,
            per_packet: 1.0 / serial.of(full_packet) as f64,
            stream,
            backlog: Backlog::new(),
            average: 0.0,
            count: -1,
            last_left: (0, 0),
        };
        queue.set(red);
        queue
    }

    pub fn set(&mut self, red: &Red) {
        self.red = *red;
        self.slope = red.p_max / (red.max - red.min);
        self.gentle_slope = (1.0 - red.p_max) / red.max;
        self.ln_keep = libm::log1p(-red.weight);
    }

    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.backlog.iter()
    }

    #[inline]
    fn average(&mut self, now: u64, waiting: usize, busy: bool) {
        let weight = self.red.weight;
        if waiting > 0 || busy {
            self.average = (1.0 - weight) * self.average + weight * waiting as f64;
        } else {
            self.average *= self.kept_while_idle(now);
        }
    }

    /// (1 - w)^m.
    #[inline(never)]
    fn kept_while_idle(&self, now: u64) -> f64 {
        let (left, bytes) = self.last_left;
        let idle_from = if bytes == 0 { 0 } else { left.saturating_add(self.serial.of(bytes)) };
        match now.saturating_sub(idle_from) {
            _ if self.red.weight >= 1.0 => 0.0,
            0 => 1.0,
            idle => libm::exp(self.ln_keep * (idle as f64 * self.per_packet)),
        }
    }

    #[inline]
    fn verdict(&mut self) -> Verdict {
        let Red { min, max, p_max, gentle, .. } = self.red;
        let average = self.average;
        if average < min {
            self.count = -1;
            return Verdict::Pass;
        }
        let p_b = if average < max {
            self.slope * (average - min)
        } else if min < max && gentle && average < 2.0 * max {
            p_max + self.gentle_slope * (average - max)
        } else {
            self.count = 0;
            return if min < max { Verdict::Drop } else { Verdict::Hit };
        };
        self.count += 1;
        // u < p_b / (1 - count p_b), where that is a probability; always, where it is none any more.
        if self.stream.uniform() * (1.0 - self.count as f64 * p_b) < p_b {
            self.count = 0;
            return Verdict::Hit;
        }
        Verdict::Pass
    }
}

impl<P: Copy> QueueDiscipline<P> for RedQueue<P> {
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
        let waiting = self.backlog.len();
        self.average(now, waiting, transmitting.is_some());
        let verdict = self.verdict();
        let fits = limits.admit(waiting as u64, self.backlog.bytes(), transmitting, bytes);
        let mark = verdict == Verdict::Hit && self.red.ecn && ecn.can_be_marked();
        if !fits || (verdict != Verdict::Pass && !mark) {
            self.count = self.count.min(0);
            dropped.push(packet);
            return;
        }
        self.backlog.push(QueuedPacket { packet, arrived: now, bytes, ecn, mark });
    }

    #[inline]
    fn dequeue(&mut self, now: u64, _dropped: &mut Vec<P>) -> Option<Departure<P>> {
        self.dequeue_plainly(now)
    }

    #[inline(always)]
    fn dequeue_plainly(&mut self, now: u64) -> Option<Departure<P>> {
        let QueuedPacket { packet, bytes, mark, .. } = self.backlog.pop()?;
        self.last_left = (now, bytes);
        Some(Departure { packet, bytes, mark })
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
