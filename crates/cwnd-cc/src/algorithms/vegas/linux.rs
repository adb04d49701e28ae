//! Vegas as in the module of Linux 2.6 and ns-2.35: in halves of a segment and whole microseconds.
//!
//! With *sent* the segments sent in the round trip before the one that ends, W the window and W' the window as it was
//! when the one that ends began, before it was moved then:
//!
//! ```text
//! Diff = sent - sent baseRTT/RTT                        in halves, both rounded down
//! congestion avoidance   W moves by one towards W' + 1 if Diff < alpha, W' - 1 if Diff > beta, W' otherwise
//! slow start             Diff > gamma: ssthresh = 2, W = min(W, sent baseRTT/RTT + 1); and one more for each ACK
//! ```
//!
//! W' is one round trip late, so that W takes a step in every other round trip. The end of a recovery begins a round trip, and
//! segments sent in the recovery count in *sent*. With fewer than three samples, and after a timeout until all lost segments
//! are acknowledged, it is Reno.

use super::{MIN_SAMPLES, VegasParameters};
use crate::parts::{reno, round::SentRound};
use crate::{Ack, Nanos, State, Window};

/// The state.
#[derive(Clone, Debug)]
pub(super) struct VegasLinux {
    round: SentRound,
    /// Window at the beginning of this round trip.
    cwnd: f64,
    /// Smallest round-trip times of the connection and of this round trip, microseconds plus one.
    base: u64,
    least: u64,
    /// The smallest of the last round trip.
    last: u64,
    samples: u32,
}

impl Default for VegasLinux {
    fn default() -> Self {
        let round = SentRound::default();
        VegasLinux { round, cwnd: 0.0, base: u64::MAX, least: u64::MAX, last: u64::MAX, samples: 0 }
    }
}

impl VegasLinux {
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack, parameters: &VegasParameters) {
        self.round.on_ack(ack);
        if let Some(Nanos(rtt)) = ack.rtt {
            let rtt = rtt / 1000 + 1;
            self.base = self.base.min(rtt);
            self.least = self.least.min(rtt);
            self.samples = self.samples.saturating_add(1);
        }
        if !ack.may_grow() {
            return;
        }
        if ack.state == State::Loss {
            reno::increase(window, ack);
        } else if self.round.is_over() {
            self.end_round(window, ack, parameters);
        } else if window.in_slow_start() {
            window.slow_start(1);
        }
    }

    /// Handles the end of a recovery.
    pub fn begin_round(&mut self) {
        self.round.restart();
        self.forget_samples();
    }

    /// Returns the smallest round-trip times of the connection and of the last round trip; [`Nanos::MAX`] if not known.
    pub fn round_trips(&self) -> (Nanos, Nanos) {
        let time = |us: u64| Nanos(us.saturating_mul(1000));
        (time(self.base), time(self.last))
    }

    fn forget_samples(&mut self) {
        self.samples = 0;
        self.least = u64::MAX;
    }

    fn end_round(&mut self, window: &mut Window, ack: &Ack, parameters: &VegasParameters) {
        let sent = self.round.begin_next();
        let begun_with = core::mem::replace(&mut self.cwnd, window.cwnd);
        let (least, samples) = (self.least, self.samples);
        self.last = least;
        self.forget_samples();
        if samples < MIN_SAMPLES {
            return reno::increase(window, ack);
        }
        let due = (u128::from(2 * sent) * u128::from(self.base) / u128::from(least)) as u64;
        let queued = (2 * sent - due) as f64;
        if window.in_slow_start() {
            if queued > 2.0 * parameters.gamma {
                window.set_ssthresh(0.0);
                window.set_cwnd(window.cwnd.min((due / 2 + 1) as f64));
            }
            window.slow_start(1);
        } else {
            let towards = if queued > 2.0 * parameters.beta {
                begun_with - 1.0
            } else if queued < 2.0 * parameters.alpha {
                begun_with + 1.0
            } else {
                begun_with
            };
            window.set_cwnd(window.cwnd + (towards - window.cwnd).clamp(-1.0, 1.0));
        }
        window.set_cwnd(window.cwnd.max(2.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arithmetic;
    use crate::testing::{ack, ack_rtt, window, window_with};

    /// A round trip ends in which `sent` segments were sent, at `rtt` microseconds on a path of 100,000. It began with a
    /// window of `begun_with`.
    fn end(window: &mut Window, begun_with: f64, sent: u64, rtt: u64) -> VegasLinux {
        let round = SentRound { acknowledged: sent, sent: 2 * sent, end: sent, ..SentRound::default() };
        let mut module =
            VegasLinux { round, cwnd: begun_with, base: 100_001, least: rtt + 1, last: u64::MAX, samples: 2 };
        let last = Ack { sent: 2 * sent, rtt: Some(Nanos(1000 * rtt)), ..ack(0) };
        module.on_ack(window, &last, &VegasParameters::default());
        module
    }

    #[test]
    fn diff_is_in_halves_of_what_was_sent() {
        // 200 halves: at 101.5 ms 200 100,001/101,501 = 197.04, 3 queued; 102: 196.08, 4; 104: 192.3, 8; 104.5: 191.4, 9.
        for (rtt, left) in [(101_500, 101.0), (102_000, 100.0), (104_000, 100.0), (104_500, 99.0)] {
            let mut window = window(100.0, Arithmetic::Linux26);
            let module = end(&mut window, 100.0, 100, rtt);
            assert_eq!(window.cwnd, left, "{rtt}");
            // What had been sent, and the window as it was, are where the next one begins.
            assert_eq!(
                (module.round.before, module.round.end, module.cwnd, module.samples),
                (100, 200, 100.0, 0)
            );
        }
    }

    #[test]
    fn a_step_is_from_the_window_before() {
        // Nothing is queued. Towards 100 + 1 from 101: stays. Towards 101 + 1: one. Never more than one, and two stay.
        for (cwnd, begun_with, left) in [(101.0, 100.0, 101.0), (101.0, 101.0, 102.0), (101.0, 150.0, 102.0)]
        {
            let mut window = window(cwnd, Arithmetic::Linux26);
            end(&mut window, begun_with, 100, 100_000);
            assert_eq!(window.cwnd, left);
        }
        let mut small = window_with(3.0, 2.0, Arithmetic::Linux26);
        small.cwnd = 2.0;
        small.ssthresh = 1.0;
        end(&mut small, 2.0, 100, 200_000);
        assert_eq!(small.cwnd, 2.0);
    }

    #[test]
    fn slow_start_ends_with_what_was_delivered_and_one() {
        // 128 100,001/128,001 = 100 halves: 50 + 1, and one for the ACK.
        let mut slow = window_with(64.0, f64::INFINITY, Arithmetic::Linux26);
        end(&mut slow, 32.0, 64, 128_000);
        assert_eq!((slow.cwnd, slow.ssthresh), (52.0, 2.0));
        // 128 100,001/101,501 = 126.1: two halves queued are not over gamma.
        let mut slow = window_with(64.0, f64::INFINITY, Arithmetic::Linux26);
        end(&mut slow, 32.0, 64, 101_500);
        assert_eq!((slow.cwnd, slow.in_slow_start()), (65.0, true));
    }

    #[test]
    fn it_is_reno_where_it_knows_too_little() {
        let parameters = VegasParameters::default();
        // After a timeout it is slow start, also where a round trip would end.
        let mut slow = window_with(1.0, 50.0, Arithmetic::Linux26);
        let mut module = VegasLinux::default();
        for state in [State::Loss, State::Recovery, State::Loss] {
            module.on_ack(&mut slow, &Ack { state, ..ack_rtt(0, 100) }, &parameters);
        }
        assert_eq!((slow.cwnd, module.samples), (3.0, 3));
        // Four were sent when a recovery ends, of which three are acknowledged: two ACKs end the round trip, with two samples,
        // where the judgement would be to grow. One of a window of 100 is counted.
        module.on_ack(&mut slow, &Ack { cumulative: 0, sent: 4, ..ack(0) }, &parameters);
        module.begin_round();
        let mut avoiding = window(100.0, Arithmetic::Linux26);
        let windows = [5, 6].map(|sent| {
            module.on_ack(&mut avoiding, &Ack { sent, ..ack_rtt(0, 100) }, &parameters);
            avoiding.cwnd
        });
        assert_eq!((windows, module.samples, module.round.end), ([100.0; 2], 0, 6));
    }
}
