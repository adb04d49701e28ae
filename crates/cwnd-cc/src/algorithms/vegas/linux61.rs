//! Vegas as in the module of Linux 6.1: whole segments, from whole microseconds plus one.
//!
//! ```text
//! Diff = W (RTT - baseRTT)/baseRTT                      rounded down; larger than the paper's by RTT/baseRTT
//! congestion avoidance   W += 1 if Diff < alpha, W -= 1 if Diff > beta
//! slow start             Diff > gamma: W = min(W, W baseRTT/RTT + 1), ssthresh = min(ssthresh, W); else one segment for each
//!                        acknowledged one
//! after each             ssthresh = max(ssthresh, 3/4 W)
//! ```
//!
//! Slow start and the steps do not ask whether the window is in use. With fewer than three samples, and outside the open state,
//! it is Reno. Round trips are those of [`DelayRounds`] in today's Linux, but end whether the window is in use or not.

use super::{MIN_SAMPLES, VegasParameters};
use crate::parts::backlog::{DelayRounds, RoundDelay};
use crate::parts::reno;
use crate::{Ack, State, Window};

/// Handles an ACK.
pub(super) fn on_ack(rounds: &mut DelayRounds, window: &mut Window, ack: &Ack, parameters: &VegasParameters) {
    let used = Ack { cwnd_limited: true, ..*ack };
    // Outside the open state, the module does not look for the end of a round trip.
    let looks = if ack.state == State::Open { used } else { Ack { cwnd_limited: false, ..*ack } };
    let ended = rounds.on_ack_as_module(window, &looks);
    if !used.may_grow() {
        return;
    }
    if ack.state != State::Open {
        return reno::increase(window, ack);
    }
    match ended {
        Some(delay) if delay.samples >= MIN_SAMPLES => end_round(window, ack, &delay, parameters),
        Some(_) => reno::increase(window, ack),
        None if window.in_slow_start() => {
            window.slow_start(ack.acked);
        }
        None => {}
    }
}

fn end_round(window: &mut Window, ack: &Ack, delay: &RoundDelay, parameters: &VegasParameters) {
    let VegasParameters { alpha, beta, gamma, .. } = *parameters;
    let [base, rtt] = delay.microseconds();
    let cwnd = window.cwnd as u64;
    let diff = (u128::from(cwnd) * u128::from(rtt - base) / u128::from(base)) as f64;
    if window.in_slow_start() {
        if diff > gamma {
            let delivered = (u128::from(cwnd) * u128::from(base) / u128::from(rtt)) as f64;
            window.set_cwnd(window.cwnd.min(delivered + 1.0));
            window.set_ssthresh(window.ssthresh.min(window.cwnd));
        } else {
            window.slow_start(ack.acked);
        }
    } else if diff > beta {
        window.set_cwnd(window.cwnd - 1.0);
        window.set_ssthresh(window.ssthresh.min(window.cwnd));
    } else if diff < alpha {
        window.set_cwnd(window.cwnd + 1.0);
    }
    window.set_cwnd(window.cwnd.max(2.0));
    let most_of_it = window.whole(window.cwnd / 2.0) + window.whole(window.cwnd / 4.0);
    window.ssthresh = window.ssthresh.max(most_of_it);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ack, ack_rtt, window, window_with};
    use crate::{Arithmetic, Configurable, CongestionControl, Nanos};

    /// A round trip of three samples ends at a round-trip time in microseconds, on a path of 99,999.
    fn end(window: &mut Window, rtt: u64) {
        let delay = RoundDelay { base: Nanos(99_999_000), rtt: Nanos(1000 * (rtt - 1)), samples: 3 };
        end_round(window, &ack(0), &delay, &VegasParameters::default());
    }

    #[test]
    fn diff_is_a_share_of_the_base() {
        // 100 (RTT - 100,000)/100,000: 101,999 us are 1.999, rounded down 1; 104,999 are 4; 105,000 are 5.
        for (rtt, left) in [(101_999, 101.0), (102_000, 100.0), (104_999, 100.0), (105_000, 99.0)] {
            let mut window = window(100.0, Arithmetic::Linux);
            end(&mut window, rtt);
            assert_eq!(window.cwnd, left, "{rtt}");
        }
        // Half a base of delay: the paper's Diff of 6 segments is 2, this one 3.
        let mut small = window(6.0, Arithmetic::Linux);
        end(&mut small, 150_000);
        assert_eq!(small.cwnd, 6.0);
    }

    #[test]
    fn slow_start_ends_with_what_was_delivered_and_one() {
        // 64 * 28,000/100,000 = 17: over. 64 * 100,000/128,000 = 50.
        let mut slow = window_with(64.0, f64::INFINITY, Arithmetic::Linux);
        end(&mut slow, 128_000);
        assert_eq!((slow.cwnd, slow.ssthresh), (51.0, 51.0));
        // 64 * 3,000/100,000 = 1 is not over gamma. The ACK of one segment adds one.
        let mut slow = window_with(64.0, f64::INFINITY, Arithmetic::Linux);
        end(&mut slow, 103_000);
        assert_eq!((slow.cwnd, slow.ssthresh), (65.0, f64::INFINITY));
        // The threshold follows the window: 16 + 8.
        let mut low = window_with(32.0, 10.0, Arithmetic::Linux);
        end(&mut low, 100_000);
        assert_eq!((low.cwnd, low.ssthresh), (33.0, 24.0));
    }

    #[test]
    fn it_grows_in_slow_start_without_use_and_as_reno_after_a_timeout() {
        let mut vegas = super::super::Vegas::new(VegasParameters::default());
        let mut slow = window_with(10.0, f64::INFINITY, Arithmetic::Linux);
        let unused = Ack { cwnd_limited: false, sent: 20, ..ack_rtt(0, 100) };
        vegas.on_ack(&mut slow, &unused);
        assert_eq!(slow.cwnd, 11.0);
        vegas.on_ack(&mut slow, &Ack { state: State::Loss, ..unused });
        assert_eq!(slow.cwnd, 11.0);
        vegas.on_ack(&mut slow, &Ack { state: State::Loss, cwnd_limited: true, ..unused });
        assert_eq!(slow.cwnd, 12.0);
    }
}
