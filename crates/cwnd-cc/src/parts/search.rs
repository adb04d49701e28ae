//! SEARCH: slow start that ends where deliveries fall behind what was sent one round trip before.
//!
//! J. Chung, M. Kachooei, F. Li, M. Claypool, "SEARCH -- a New Slow Start Algorithm for TCP and QUIC", draft-chung-ccwg-search. The bins and
//! their interpolation are those of the algorithm's version 3.0; the comparison and its threshold those of revision 09 (2026).
//!
//! ```text
//! bin        = 3.5 RTT_initial / 10
//! delivered  = segments delivered in the last 10 bins
//! sent       = segments sent in the 10 bins that ended one least RTT ago, interpolated between bins
//! exit         if (sent - delivered)/sent >= 0.26:  ssthresh := cwnd
//! ```
//!
//! While the window doubles and nothing queues, what was sent one RTT ago is delivered now. Behind a bottleneck it is not.
//!
//! Interpretations:
//! - *One RTT ago* is one least round-trip time ago. The draft's pseudocode takes the latest one. But what was sent one latest round-trip time ago is,
//!   without losses, what has been delivered by now, so that a growing queue would stay invisible. With the least one, the difference reaches 0.26 at
//!   1.5 round trips after the bottleneck is full, where the draft's analysis has two.
//! - Bins end at ACKs: the first ACK after the end of a bin sets its counters, and those of bins that were skipped. After more than 10 skipped
//!   bins (a pause) it begins again, with the next round-trip time as RTT_initial.
//! - There is no check before 11 bins have passed at one RTT ago, nor where the RTT has grown beyond 15 bins.
//! - The window stays where it is at the exit. Version 3.0 subtracted what it had delivered since two RTTs ago.
//! - A loss or a mark ends it permanently, as slow start.

use crate::{Ack, Nanos, Window};

/// Bins of the compared window.
const W: u64 = 10;
/// Bins by which the RTT may be longer.
const EXTRA: u64 = 15;
const DELIVERED_BINS: usize = W as usize + 1;
const SENT_BINS: usize = DELIVERED_BINS + EXTRA as usize;
const THRESHOLD: f64 = 0.26;

/// SEARCH's state.
#[derive(Clone, Debug, Default)]
pub struct Search {
    bins: Option<Bins>,
    over: bool,
}

/// The counters at the ends of the bins.
#[derive(Clone, Debug)]
struct Bins {
    duration: Nanos,
    /// End of the bin under way.
    end: Nanos,
    /// Number of the bin that ended last.
    last: u64,
    delivered: [u64; DELIVERED_BINS],
    sent: [u64; SENT_BINS],
}

impl Search {
    /// Measures an ACK in slow start. Sets `ssthresh` to the window where slow start is to end.
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let Some(rtt) = ack.rtt.filter(|rtt| !self.over && *rtt > Nanos::ZERO) else { return };
        let bins = self.bins.get_or_insert_with(|| Bins::new(rtt, ack));
        if ack.now <= bins.end {
            return;
        }
        if !bins.advance(ack) {
            self.bins = None;
        } else if bins.difference(ack.min_rtt.min(rtt)).is_some_and(|difference| difference >= THRESHOLD) {
            window.set_ssthresh(window.cwnd);
            self.over = true;
        }
    }

    /// Handles a loss, a mark or a timeout.
    pub fn end(&mut self) {
        self.over = true;
    }
}

impl Bins {
    fn new(rtt: Nanos, ack: &Ack) -> Bins {
        // 3.5 RTT/10, without an overflow where a transport reports an absurd time.
        let duration = Nanos((rtt.0 / 20).saturating_mul(7).max(1));
        let (delivered, sent) = ([ack.delivered; DELIVERED_BINS], [ack.sent; SENT_BINS]);
        Bins { duration, end: Nanos(ack.now.0.saturating_add(duration.0)), last: 0, delivered, sent }
    }

    /// Ends the bins that are over. Returns false if they are too many to compare.
    fn advance(&mut self, ack: &Ack) -> bool {
        let passed = (ack.now.0 - self.end.0) / self.duration.0 + 1;
        if passed > W {
            return false;
        }
        for bin in self.last + 1..=self.last + passed {
            self.delivered[bin as usize % DELIVERED_BINS] = ack.delivered;
            self.sent[bin as usize % SENT_BINS] = ack.sent;
        }
        self.last += passed;
        self.end = Nanos(self.end.0.saturating_add(self.duration.0.saturating_mul(passed)));
        true
    }

    /// Returns by how much deliveries are behind, as a share of what was sent; none without enough bins.
    fn difference(&self, rtt: Nanos) -> Option<f64> {
        let (back, rest) = (rtt.0 / self.duration.0, rtt.0 % self.duration.0);
        if back >= EXTRA || self.last - back.min(self.last) <= W {
            return None;
        }
        let then = self.last - back;
        let sent_at = |bin: u64| self.sent[bin as usize % SENT_BINS] as f64;
        let between = |end: u64| sent_at(end) - sent_at(end - W);
        let fraction = rest as f64 / self.duration.0 as f64;
        let sent = between(then - 1) * fraction + between(then) * (1.0 - fraction);
        let delivered_at = |bin: u64| self.delivered[bin as usize % DELIVERED_BINS] as f64;
        let delivered = delivered_at(self.last) - delivered_at(self.last - W);
        (sent > 0.0).then(|| (sent - delivered) / sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arithmetic;
    use crate::testing::{ack_rtt, window_with};

    /// With an RTT of 100 ms a bin is 35 ms, and one RTT ago is 2 bins and 30/35 of one.
    const BIN_MS: u64 = 35;

    /// Runs `bins` bins, with the segments sent and delivered in each. Returns the bin in which slow start ended.
    fn run(search: &mut Search, bins: u64, sent: u64, delivered: u64) -> Option<u64> {
        let mut window = window_with(100.0, f64::INFINITY, Arithmetic::Real);
        (0..=bins).find(|&n| {
            // The ACK of a bin comes 1 ms after its end.
            let at = 1000 + BIN_MS * n + u64::from(n > 0);
            let ack = Ack { sent: 10 + sent * n, delivered: delivered * n, ..ack_rtt(at, 100) };
            search.on_ack(&mut window, &ack);
            window.ssthresh == 100.0
        })
    }

    #[test]
    fn the_threshold_is_a_quarter_and_a_hundredth() {
        // 100 sent in each bin: with 75 delivered the difference is 0.25, with 74 it is 0.26. The first bin with 11 bins at one RTT ago (2 bins
        // and a part) is the 13th.
        assert_eq!(run(&mut Search::default(), 40, 100, 75), None);
        assert_eq!(run(&mut Search::default(), 40, 100, 74), Some(13));
    }

    #[test]
    fn doubling_without_a_queue_continues() {
        // Delivered is what was sent 100 ms ago, and both double in that time: sent(n) = 2^(0.35 n), delivered(n) = 2^(0.35 n - 1).
        let mut search = Search::default();
        let mut window = window_with(100.0, f64::INFINITY, Arithmetic::Real);
        for n in 0..40u64 {
            let sent = libm::exp2(0.35 * n as f64) * 1e6;
            let at = 1000 + BIN_MS * n + u64::from(n > 0);
            let ack = Ack { sent: sent as u64, delivered: (sent / 2.0) as u64, ..ack_rtt(at, 100) };
            search.on_ack(&mut window, &ack);
        }
        assert!(window.ssthresh.is_infinite());
    }

    #[test]
    fn a_plateau_ends_it_within_the_window() {
        // As above up to bin 20; then deliveries stay at their rate, and the sender sends two segments for each.
        let mut search = Search::default();
        let mut window = window_with(100.0, f64::INFINITY, Arithmetic::Real);
        let (mut sent, mut delivered) = (1e6, 0.5e6);
        let factor = libm::exp2(0.35) - 1.0;
        let mut ended = None;
        for n in 0..60u64 {
            if n > 0 {
                let step =
                    if n <= 20 { delivered * factor } else { 0.5e6 * libm::exp2(0.35 * 20.0) * factor };
                delivered += step;
                sent += if n <= 20 { sent * factor } else { 2.0 * step };
            }
            let at = 1000 + BIN_MS * n + u64::from(n > 0);
            let ack = Ack { sent: sent as u64, delivered: delivered as u64, ..ack_rtt(at, 100) };
            search.on_ack(&mut window, &ack);
            if window.ssthresh.is_finite() {
                ended = Some(n);
                break;
            }
        }
        // Two round trips are 5.7 bins: the draft says "within about two RTTs".
        assert!(ended.is_some_and(|bin| (21..=27).contains(&bin)), "{ended:?}");
    }

    #[test]
    fn a_pause_begins_it_again() {
        let mut search = Search::default();
        assert_eq!(run(&mut search, 12, 100, 74), None);
        let mut window = window_with(100.0, f64::INFINITY, Arithmetic::Real);
        // Bin 13 would end at 1,455 ms; ten more are skipped.
        search.on_ack(&mut window, &Ack { sent: 1310, delivered: 962, ..ack_rtt(1456 + 10 * BIN_MS, 100) });
        assert!(search.bins.is_none() && window.ssthresh.is_infinite());
    }

    #[test]
    fn no_exit_after_a_loss() {
        let mut search = Search::default();
        search.end();
        assert_eq!(run(&mut search, 40, 100, 50), None);
    }
}
