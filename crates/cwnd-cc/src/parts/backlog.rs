//! The Vegas backlog estimate: the part of the window that is in queues.
//!
//! L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13(8),
//! 1995. A window W with a round-trip time of RTT has the rate W/RTT; without queues, the rate would be W/baseRTT. The difference
//! times baseRTT is the flow's backlog in queues:
//!
//! ```text
//! Diff = (W/baseRTT - W/RTT) baseRTT = W (1 - baseRTT/RTT)          segments
//! ```
//!
//! baseRTT is the smallest round-trip time of the connection's data, as in Linux's modules. Packets of a handshake are
//! shorter, so every full packet would seem queued if they counted. Algorithms differ in RTT. Most use the smallest sample of a round trip
//! ([`RoundDelay`]), which delayed ACKs do not affect; some use the latest or a smoothed one.

use super::prior_state::PriorState;
use super::round::{RoundRtt, SentRound};
use crate::{Ack, Arithmetic, Congestion, Nanos, State, Window};

/// Returns `1 - baseRTT/RTT`, the fraction of the window that is in queues; 0 without a sample.
#[inline]
pub fn queued_share(base: Nanos, rtt: Nanos) -> f64 {
    if rtt.0 == 0 || base >= rtt { 0.0 } else { 1.0 - base.0 as f64 / rtt.0 as f64 }
}

/// Returns Diff, segments: the part of a window of `cwnd` that is in queues.
#[inline]
pub fn queued_segments(cwnd: f64, base: Nanos, rtt: Nanos) -> f64 {
    cwnd * queued_share(base, rtt)
}

/// The delay of a round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundDelay {
    /// Smallest round-trip time of the connection.
    pub base: Nanos,
    /// Smallest round-trip time of this round trip.
    pub rtt: Nanos,
    /// Number of samples of the round trip; at least one, but for a module's round trip ([`DelayRounds::on_ack_as_module`]).
    pub samples: u32,
}

impl RoundDelay {
    /// Returns the fraction of the window that was in queues.
    pub fn queued_share(&self) -> f64 {
        queued_share(self.base, self.rtt)
    }

    /// Returns Diff, segments, for a window of `cwnd`.
    pub fn queued_segments(&self, cwnd: f64) -> f64 {
        queued_segments(cwnd, self.base, self.rtt)
    }

    /// Computes Diff as Linux's modules do: whole segments, from times in whole microseconds plus one, so that no time is
    /// zero.
    pub fn whole_segments(&self, cwnd: f64) -> f64 {
        let [base, rtt] = self.microseconds();
        let queued = u128::from(cwnd as u64) * u128::from(rtt.saturating_sub(base));
        (queued / u128::from(rtt)) as f64
    }

    /// Returns baseRTT and RTT as Linux's modules store them: whole microseconds plus one.
    pub fn microseconds(&self) -> [u64; 2] {
        [self.base, self.rtt].map(|time| time.0 / 1000 + 1)
    }

    /// Returns RTT - baseRTT.
    pub fn queueing_delay(&self) -> Nanos {
        self.rtt.since(self.base)
    }
}

/// Follows round trips and reports the delay of each.
#[derive(Clone, Debug)]
pub struct DelayRounds {
    base: Nanos,
    round: RoundRtt,
    /// Round trips as in Linux's modules.
    module: SentRound,
    /// Today's Linux: the state before an ACK.
    prior_state: PriorState,
    /// The delay of the last round trip that had a sample.
    last: Option<RoundDelay>,
}

impl Default for DelayRounds {
    fn default() -> Self {
        DelayRounds {
            base: Nanos::MAX,
            round: RoundRtt::EMPTY,
            module: SentRound::default(),
            prior_state: PriorState::default(),
            last: None,
        }
    }
}

impl DelayRounds {
    /// Measures an ACK. When it begins a round trip, returns the delay of the previous one, if that had a sample.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) -> Option<RoundDelay> {
        let ended = if ack.round_start { self.end_round() } else { None };
        self.measure(ack);
        ended
    }

    /// Measures an ACK for an algorithm that follows Linux's module in the integer arithmetics. A round trip then ends with the
    /// first ACK beyond the segments sent at its beginning, if the window may grow. The sample of that ACK is its last. A round
    /// trip may have no sample.
    ///
    /// In today's Linux, the ACK with which the state becomes open begins a round trip, and so does the first; their samples do
    /// not count.
    #[inline]
    pub fn on_ack_as_module(&mut self, window: &Window, ack: &Ack) -> Option<RoundDelay> {
        if window.arithmetic() == Arithmetic::Real {
            return self.on_ack(ack);
        }
        let is_first = self.module.acknowledged == 0;
        self.module.on_ack(ack);
        self.measure(ack);
        if window.arithmetic() == Arithmetic::Linux {
            let opens = self.prior_state.on_ack(ack) != State::Open && ack.state == State::Open;
            if opens || is_first {
                self.restart();
            }
        }
        if !ack.may_grow() || !self.module.is_over() {
            return None;
        }
        self.module.begin_next();
        let RoundRtt { min: rtt, samples } = self.round;
        Some(self.end_round().unwrap_or(RoundDelay { base: self.base, rtt, samples }))
    }

    #[inline]
    fn measure(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.base = self.base.min(rtt);
            self.round.add(rtt);
        }
    }

    /// Returns the smallest sample so far; [`Nanos::MAX`] before the first.
    pub fn base(&self) -> Nanos {
        self.base
    }

    /// Returns the delay of the last round trip that had a sample.
    pub fn last(&self) -> Option<RoundDelay> {
        self.last
    }

    /// Handles the beginning of a congestion episode: discards the samples of the round trip. Linux's modules discard them only at
    /// the end of the episode.
    pub fn on_congestion(&mut self, window: &Window, congestion: &Congestion) {
        self.prior_state.on_congestion(congestion);
        if window.arithmetic() == Arithmetic::Real {
            self.restart();
        }
    }

    /// Handles the undoing of an episode: in today's Linux the state is open again, which begins a round trip.
    pub fn on_undo(&mut self, window: &Window, now: Nanos) {
        if window.arithmetic() == Arithmetic::Linux {
            self.prior_state.on_undo(now);
            self.restart();
        }
    }

    /// Forgets baseRTT and the last delay, and begins a round trip, as today's Linux does when it sends while nothing is in flight. The other
    /// arithmetics do not.
    pub fn on_idle_restart(&mut self, window: &Window) {
        if window.arithmetic() == Arithmetic::Linux {
            self.base = Nanos::MAX;
            self.last = None;
            self.restart();
        }
    }

    /// Discards the samples of the round trip and begins another, at the beginning or end of a recovery.
    pub fn restart(&mut self) {
        self.round = RoundRtt::EMPTY;
        self.module.restart();
    }

    fn end_round(&mut self) -> Option<RoundDelay> {
        let RoundRtt { min: rtt, samples } = core::mem::replace(&mut self.round, RoundRtt::EMPTY);
        let ended = (samples > 0).then_some(RoundDelay { base: self.base, rtt, samples });
        self.last = ended.or(self.last);
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionKind;
    use crate::testing::{ack, ack_rtt, assert_near, congestion, window};

    const BASE: Nanos = Nanos::from_millis(100);

    #[test]
    fn the_backlog_is_the_windows_share_of_the_delay() {
        // 100 segments: 125 ms on a path of 100 ms is a fifth, 20 segments; 200 ms a half.
        for (rtt, segments) in [(100, 0.0), (125, 20.0), (200, 50.0)] {
            assert_near(queued_segments(100.0, BASE, Nanos::from_millis(rtt)), segments, 1e-12);
        }
    }

    #[test]
    fn whole_segments_are_of_whole_microseconds() {
        // 12,217 * (206,817 - 204,002) / 206,817 = 166.29.
        let delay = RoundDelay { base: Nanos(204_001_920), rtt: Nanos(206_816_400), samples: 3 };
        assert_eq!(delay.whole_segments(12_217.0), 166.0);
        // 1,000 * (1,001 - 501) / 1,001 = 499.5, where whole milliseconds would give 500.
        let delay = RoundDelay { base: Nanos(500_999), rtt: Nanos(1_000_000), samples: 3 };
        assert_eq!(delay.whole_segments(1_000.0), 499.0);
    }

    #[test]
    fn a_module_follows_round_trips_itself() {
        let module = window(10.0, Arithmetic::Linux26);
        let mut rounds = DelayRounds::default();
        let ack = |rounds: &mut DelayRounds, rtt, sent, state| {
            // The connection's own round trips do not matter.
            let ack = Ack { sent, state, round_start: sent == 2, ..ack_rtt(0, rtt) };
            rounds.on_ack_as_module(&module, &ack).map(|delay| (delay.rtt, delay.samples))
        };
        let ms = Nanos::from_millis;
        // Two are sent at the first ACK; the third ACK ends the round trip, and its sample is the last of it.
        assert_eq!(ack(&mut rounds, 120, 2, State::Open), None);
        assert_eq!(ack(&mut rounds, 125, 3, State::Open), None);
        assert_eq!(ack(&mut rounds, 110, 4, State::Open), Some((ms(110), 3)));
        // Four are sent. In a recovery none ends, and with it another begins: six are sent at its end, of which five are
        // acknowledged; the sixth comes now, and the seventh ends it.
        assert_eq!(ack(&mut rounds, 130, 5, State::Open), None);
        rounds.on_congestion(&module, &congestion(&module, CongestionKind::Loss, 0));
        assert_eq!(ack(&mut rounds, 150, 6, State::Recovery), None);
        rounds.restart();
        assert_eq!(ack(&mut rounds, 140, 7, State::Open), None);
        assert_eq!(ack(&mut rounds, 145, 8, State::Open), Some((ms(140), 2)));
        // Elsewhere an ACK that begins a round trip ends the one before without its sample.
        let real = window(10.0, Arithmetic::Real);
        let mut rounds = DelayRounds::default();
        rounds.on_ack_as_module(&real, &ack_rtt(0, 120));
        let begins = Ack { round_start: true, ..ack_rtt(1, 110) };
        let delay = rounds.on_ack_as_module(&real, &begins).unwrap();
        assert_eq!((delay.rtt, delay.samples), (ms(120), 1));
        rounds.on_congestion(&real, &congestion(&real, CongestionKind::Loss, 0));
        assert_eq!(rounds.on_ack_as_module(&real, &begins), None);
    }

    #[test]
    fn in_todays_linux_a_round_trip_begins_when_the_state_becomes_open() {
        let linux = window(10.0, Arithmetic::Linux);
        let mut rounds = DelayRounds::default();
        let ack = |rounds: &mut DelayRounds, rtt, sent, state| {
            let ack = Ack { sent, state, round_start: true, ..ack_rtt(0, rtt) };
            rounds.on_ack_as_module(&linux, &ack).map(|delay| (delay.rtt, delay.samples))
        };
        let ms = Nanos::from_millis;
        // Two are sent at the first ACK, whose sample does not count; the third ends the round trip.
        assert_eq!(ack(&mut rounds, 120, 2, State::Open), None);
        assert_eq!(ack(&mut rounds, 125, 3, State::Open), None);
        assert_eq!(ack(&mut rounds, 130, 4, State::Open), Some((ms(125), 2)));
        // A recovery, and the ACK that ends it: 6 are sent, of which 5 are acknowledged. The sixth does not end the round trip, the
        // seventh does.
        rounds.on_congestion(&linux, &congestion(&linux, CongestionKind::Loss, 0));
        assert_eq!(ack(&mut rounds, 101, 5, State::Recovery), None);
        rounds.restart();
        assert_eq!(ack(&mut rounds, 102, 6, State::Open), None);
        assert_eq!(ack(&mut rounds, 140, 7, State::Open), None);
        assert_eq!(ack(&mut rounds, 145, 8, State::Open), Some((ms(140), 2)));
        assert_eq!(rounds.base(), ms(101));
        // Reordering that is over is an end as well, and sending from idle forgets the least.
        assert_eq!(ack(&mut rounds, 110, 9, State::Disorder), None);
        assert_eq!(ack(&mut rounds, 110, 10, State::Open), None);
        assert_eq!(ack(&mut rounds, 150, 11, State::Open), None);
        assert_eq!(ack(&mut rounds, 160, 12, State::Open), Some((ms(150), 2)));
        rounds.on_idle_restart(&linux);
        assert_eq!((rounds.base(), rounds.last()), (Nanos::MAX, None));
    }

    #[test]
    fn nothing_known_is_nothing_queued() {
        for (base, rtt) in
            [(Nanos::MAX, BASE), (BASE, Nanos::ZERO), (BASE, Nanos(1)), (Nanos::ZERO, Nanos::ZERO)]
        {
            assert_eq!(queued_share(base, rtt), 0.0);
        }
    }

    #[test]
    fn a_round_trip_answers_its_least_sample() {
        let mut rounds = DelayRounds::default();
        rounds.on_ack(&ack_rtt(0, 100));
        // The sample of the ACK that begins the next round trip belongs to that one.
        let delay = rounds.on_ack(&Ack { round_start: true, ..ack_rtt(1, 130) }).unwrap();
        assert_eq!(delay, RoundDelay { base: BASE, rtt: BASE, samples: 1 });
        for (ms, rtt) in [(2, 110), (3, 150)] {
            assert_eq!(rounds.on_ack(&ack_rtt(ms, rtt)), None);
        }
        // The transport's own least, which may be of a handshake, does not count.
        let begins = Ack { round_start: true, min_rtt: Nanos(1), ..ack(4) };
        let delay = rounds.on_ack(&begins).unwrap();
        assert_eq!(delay, RoundDelay { base: BASE, rtt: Nanos::from_millis(110), samples: 3 });
        assert_eq!(delay.queueing_delay(), Nanos::from_millis(10));
        assert_eq!(rounds.base(), BASE);
    }

    #[test]
    fn a_round_trip_without_a_sample_answers_nothing() {
        let mut rounds = DelayRounds::default();
        assert_eq!(rounds.on_ack(&Ack { round_start: true, ..ack(0) }), None);
        rounds.on_ack(&ack_rtt(0, 100));
        rounds.restart();
        assert_eq!(rounds.on_ack(&Ack { round_start: true, ..ack(0) }), None);
    }
}
