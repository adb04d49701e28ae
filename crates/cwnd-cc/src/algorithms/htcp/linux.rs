//! H-TCP in integers, as in the modules of Linux and ns-2.35: times in ticks, and alpha and beta in 128ths.
//!
//! A tick is a millisecond, or what the stack's timers have ([`Init::timer_hz`]): Linux measures in jiffies, which are 4 ms long
//! in Debian's kernels, where a round trip of 40.001 ms counts as 44 ms.
//!
//! Its measurements differ from the paper's by more than rounding. A throughput sample needs nearly a window (less alpha) of
//! acknowledged segments and a time of RTTmin, so that there is none while alpha exceeds the window.
//!
//! | | Linux 2.6 and ns-2.35 | Linux 6.1 |
//! |---|---|---|
//! | RTTmin and RTTmax | from the smoothed round-trip time, rounded, in congestion avoidance | from each sample, rounded up |
//! | RTTmax rises | later than four RTTmin after an event | whenever the state is open |
//! | an ACK's state | the one after it | the one before it, so that the ACK that ends a recovery does not count |
//! | a step of the window | keeps what is counted beyond it | takes an ACK of its own, and the count begins at zero |
//! | an ACK of n segments counts | 1 | n; 1 if the state was not open before it |
//! | undone events | restore RTTmax and B(k-1) as well | restore the time of the last event |

use super::HTcpParameters;
use crate::observable::{bits_per_second, known};
use crate::parts::jiffies::Jiffies;
use crate::parts::prior_state::PriorState;
use crate::{Ack, Arithmetic, Congestion, Init, Nanos, State, Window};

const ONE: u64 = 128;
const HALF: u64 = 64;
/// Largest fraction that is kept, 0.797.
const MOST_KEPT: u64 = 102;
/// RTTmin above which beta can differ from a half, ms.
const LEAST_RTT_MS: u64 = 10;
/// The greatest rise of RTTmax by one sample, ms.
const MOST_RTT_RISE_MS: u64 = 20;
/// Number of RTTmin (rounded down) after an event in which throughput is not averaged and RTTmax not followed.
const FRESH_ROUNDS: u64 = 3;
/// A threshold from this value on counts as not set.
const NO_SSTHRESH: f64 = 65_535.0;

/// The module's state. Times are in ticks of its clock.
#[derive(Clone, Debug)]
pub(super) struct HTcpLinux {
    clock: Jiffies,
    /// Growth, 128ths of a segment per round trip.
    alpha: u64,
    /// The fraction kept at the last event, in 128ths.
    pub beta: u64,
    /// 0 before the first sample.
    rtt_min: u64,
    epoch: Epoch,
    before: Epoch,
    /// Today's module: whether the last event has neither ended nor been undone.
    is_pending: bool,
    /// Today's module: the state before the ACK, what an ACK counts as, and what is counted towards the next step.
    prior_state: PriorState,
    acked: u64,
    progress: u64,
    /// Whether the last event was steady, or the first steady one.
    steady: bool,
    /// Segments acknowledged since `counted_from`.
    counted: u64,
    counted_from: u64,
    /// Segments a second.
    average: u64,
    peak: u64,
}

/// State that an undone event restores.
#[derive(Clone, Copy, Debug, Default)]
struct Epoch {
    /// The last event, the end of its recovery, or the first ACK.
    since: Option<u64>,
    rtt_max: u64,
    last_peak: u64,
}

impl HTcpLinux {
    pub fn new() -> Self {
        HTcpLinux {
            clock: Jiffies::default(),
            alpha: ONE,
            beta: HALF,
            rtt_min: 0,
            epoch: Epoch::default(),
            before: Epoch::default(),
            is_pending: false,
            prior_state: PriorState::default(),
            acked: 1,
            progress: 0,
            steady: false,
            counted: 0,
            counted_from: 0,
            average: 0,
            peak: 0,
        }
    }

    /// Begins the time of today's module, which counts from the begin of the connection and not from its first ACK.
    pub fn init(&mut self, window: &Window, init: &Init) {
        if window.arithmetic() == Arithmetic::Linux {
            self.clock = Jiffies::of(init);
            self.epoch.since = Some(self.clock.at(init.now));
        }
    }

    #[inline]
    pub fn on_ack(&mut self, window: &mut Window, ack: &Ack, parameters: &HTcpParameters) {
        if window.arithmetic() == Arithmetic::Linux {
            return self.on_ack_today(window, ack, parameters);
        }
        let now = self.clock.at(ack.now);
        let since = *self.epoch.since.get_or_insert(now);
        if ack.cumulative > 0 {
            self.measure_throughput(window.cwnd as u64, now, since, ack.cumulative, ack.state);
        }
        if !ack.may_grow() {
            return;
        }
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        self.measure_rtt(self.clock.at(ack.srtt + Nanos(500_000)).max(1), window, now, since, ack.state);
        let cwnd = window.cwnd;
        window.increase(acked, (cwnd as u64 * ONE).div_ceil(self.alpha) as f64);
        if window.cwnd != cwnd {
            // The module updates alpha only after a step of the window.
            self.alpha = self.alpha_at(now, parameters);
        }
    }

    /// Handles an ACK in today's module. It measures before the ACK changes the state, and grows after that.
    fn on_ack_today(&mut self, window: &mut Window, ack: &Ack, parameters: &HTcpParameters) {
        let now = self.clock.at(ack.now);
        let since = *self.epoch.since.get_or_insert(now);
        let state = self.prior_state.on_ack(ack);
        if state == State::Open {
            self.acked = u64::from(ack.cumulative);
        }
        if let Some(rtt) = ack.rtt.filter(|&Nanos(rtt)| rtt >= 1000) {
            self.measure_rtt_today(self.clock.round_up(rtt), state);
        }
        self.measure_throughput(window.cwnd as u64, now, since, ack.cumulative, state);
        if ack.state == State::Open {
            self.end_event(now);
        }
        if !ack.may_grow() {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack.acked);
            return;
        }
        if self.progress.saturating_mul(self.alpha) / ONE >= window.cwnd as u64 {
            window.set_cwnd(window.cwnd + 1.0);
            self.progress = 0;
            self.alpha = self.alpha_at(now, parameters);
        } else {
            self.progress += self.acked;
        }
        self.acked = 1;
    }

    #[inline]
    fn measure_throughput(&mut self, cwnd: u64, now: u64, since: u64, cumulative: u32, state: State) {
        if !matches!(state, State::Open | State::Disorder) {
            self.counted = 0;
            self.counted_from = now;
            return;
        }
        self.counted += u64::from(cumulative);
        let Some(enough) = cwnd.checked_sub((self.alpha / ONE).max(1)) else { return };
        let span = now.saturating_sub(self.counted_from);
        if self.counted < enough || self.rtt_min == 0 || span < self.rtt_min {
            return;
        }
        let sample = self.counted * self.clock.hz() / span;
        if self.is_fresh(now, since) {
            self.average = sample;
            self.peak = sample;
        } else {
            self.average = (3 * self.average + sample) / 4;
            self.peak = self.peak.max(self.average);
        }
        self.counted = 0;
        self.counted_from = now;
    }

    fn measure_rtt(&mut self, rtt: u64, window: &Window, now: u64, since: u64, state: State) {
        if self.rtt_min > rtt || self.rtt_min == 0 {
            self.rtt_min = rtt;
        }
        if state != State::Open || window.ssthresh >= NO_SSTHRESH || self.is_fresh(now, since) {
            return;
        }
        let greatest = self.epoch.rtt_max.max(self.rtt_min);
        let rises = greatest < rtt && rtt <= greatest + self.ticks(MOST_RTT_RISE_MS);
        self.epoch.rtt_max = if rises { rtt } else { greatest };
    }

    fn measure_rtt_today(&mut self, rtt: u64, state: State) {
        if self.rtt_min > rtt || self.rtt_min == 0 {
            self.rtt_min = rtt;
        }
        if state == State::Open {
            let greatest = self.epoch.rtt_max.max(self.rtt_min);
            let rises = greatest < rtt && rtt <= greatest + self.ticks(MOST_RTT_RISE_MS);
            self.epoch.rtt_max = if rises { rtt } else { greatest };
        }
    }

    /// Returns milliseconds in ticks, rounded up.
    fn ticks(&self, millis: u64) -> u64 {
        self.clock.round_up(Nanos::from_millis(millis))
    }

    fn is_fresh(&self, now: u64, since: u64) -> bool {
        now.saturating_sub(since) / self.rtt_min <= FRESH_ROUNDS
    }

    /// Updates beta and alpha at a congestion event. Returns the threshold, segments.
    pub fn on_congestion(
        &mut self,
        window: &Window,
        congestion: &Congestion,
        parameters: &HTcpParameters,
    ) -> f64 {
        let now = self.clock.at(congestion.now);
        self.before = self.epoch;
        self.beta = if parameters.adaptive_backoff { self.backoff() } else { HALF };
        // Time still counts from the last event.
        self.alpha = self.alpha_at(now, parameters);
        let Epoch { rtt_max, .. } = &mut self.epoch;
        if self.rtt_min > 0 && *rtt_max > self.rtt_min {
            *rtt_max = self.rtt_min + (*rtt_max - self.rtt_min) * 95 / 100;
        }
        self.progress = 0;
        if window.arithmetic() == Arithmetic::Linux {
            self.begin_event(congestion);
        } else {
            self.epoch.since = Some(now);
        }
        (window.cwnd as u64 * self.beta / ONE) as f64
    }

    /// Handles a further timeout of the same data, which today's module takes for another event without a reduction.
    pub fn on_repeated_timeout(&mut self, window: &Window, congestion: &Congestion) {
        if window.arithmetic() == Arithmetic::Linux {
            self.begin_event(congestion);
        }
    }

    fn begin_event(&mut self, congestion: &Congestion) {
        self.before = self.epoch;
        self.epoch.since = Some(self.clock.at(congestion.now));
        self.is_pending = true;
        self.prior_state.on_congestion(congestion);
    }

    /// Restarts the time when the state is open again after an event that was not undone.
    fn end_event(&mut self, now: u64) {
        if core::mem::take(&mut self.is_pending) {
            self.epoch.since = Some(now);
        }
    }

    /// Returns alpha, beta, the time since the last event, RTTmax and B(k) as [`super::OBSERVABLES`] has them.
    pub fn observe(&self, window: &Window, now: Nanos) -> [f64; 5] {
        let hz = self.clock.hz() as f64;
        let since =
            self.epoch.since.map_or(f64::NAN, |since| self.clock.at(now).saturating_sub(since) as f64);
        [
            self.alpha as f64 / ONE as f64,
            self.beta as f64 / ONE as f64,
            since / hz,
            known(self.epoch.rtt_max as f64 / hz),
            bits_per_second(Some(self.peak as f64), window),
        ]
    }

    pub fn on_recovery_exit(&mut self, window: &Window, now: Nanos) {
        if window.arithmetic() == Arithmetic::Linux {
            self.end_event(self.clock.at(now));
        } else {
            self.epoch.since = Some(self.clock.at(now));
        }
    }

    pub fn on_undo(&mut self, now: Nanos) {
        self.epoch = self.before;
        self.is_pending = false;
        self.prior_state.on_undo(now);
    }

    /// Returns the fraction to keep.
    fn backoff(&mut self) -> u64 {
        let last = core::mem::replace(&mut self.epoch.last_peak, self.peak);
        if !(4 * last..=6 * last).contains(&(5 * self.peak)) {
            self.steady = false;
            return HALF;
        }
        // The module waits for a second steady event.
        let was_steady = core::mem::replace(&mut self.steady, true);
        if !was_steady || self.rtt_min <= self.ticks(LEAST_RTT_MS) || self.epoch.rtt_max == 0 {
            return HALF;
        }
        (self.rtt_min * ONE / self.epoch.rtt_max).clamp(HALF, MOST_KEPT)
    }

    fn alpha_at(&self, now: u64, parameters: &HTcpParameters) -> u64 {
        let past = now.saturating_sub(self.epoch.since.unwrap_or(now));
        // After months, the module's integers would overflow.
        let hz = self.clock.hz();
        let past = past.saturating_sub((parameters.delta_l * hz as f64) as u64).min(1 << 32);
        let mut factor = 1 + (10 * past + (past / 2) * (past / 2) / hz) / hz;
        if parameters.rtt_scaling && self.rtt_min > 0 {
            // Eighths of a tenth of a second over RTTmin, for 0.1 to 2 round trips of one.
            let scale = (8 * hz / (10 * self.rtt_min)).clamp(4, 80);
            factor = (8 * factor / scale).max(1);
        }
        2 * factor * (ONE - self.beta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionKind;
    use crate::testing::{acks_for_a_segment, congestion, window, window_with};

    const PLAIN: HTcpParameters = HTcpParameters { delta_l: 1.0, adaptive_backoff: true, rtt_scaling: false };

    /// An ACK of a number of segments at a round-trip time.
    fn ack(at_ms: u64, acked: u32, rtt_ms: u64) -> Ack {
        let rtt = Nanos::from_millis(rtt_ms);
        Ack { acked, cumulative: acked, rtt: Some(rtt), srtt: rtt, ..crate::testing::ack(at_ms) }
    }

    /// A window of that size without a fraction of a step.
    fn large(cwnd: f64) -> Window {
        window(cwnd, Arithmetic::Linux26)
    }

    #[test]
    fn factors_are_whole() {
        // 2 s: 1 + (10000 + 250000/1000)/1000 = 11; alpha 2 * 11 * 64 = 1408/128 = 11. 3 s: 1 + 21 = 22.
        let module = HTcpLinux { epoch: Epoch { since: Some(0), ..Epoch::default() }, ..HTcpLinux::new() };
        for (at, alpha) in [(1000, 1), (2000, 11), (3000, 22), (11_000, 126)] {
            assert_eq!(module.alpha_at(at, &PLAIN), alpha * ONE);
        }
        // Scaled at 204 ms: 8000/2040 = 3, at least 4, so twice as much. 150 ms: 8000/1500 = 5, so 88/5 = 17. 1 ms:
        // 800, at most 80, so a tenth: 1.
        let scaled = HTcpParameters { rtt_scaling: true, ..PLAIN };
        for (rtt_min, alpha) in [(204, 22), (150, 17), (1, 1)] {
            assert_eq!(HTcpLinux { rtt_min, ..module.clone() }.alpha_at(2000, &scaled), alpha * ONE);
        }
    }

    #[test]
    fn a_clock_of_250_ticks_a_second_measures_in_four_milliseconds() {
        let mut module = HTcpLinux::new();
        let init = Init { now: Nanos::from_millis(1003), timer_hz: 250, ..Init::default() };
        module.init(&window(10.0, Arithmetic::Linux), &init);
        assert_eq!(module.epoch.since, Some(250));
        // 40.001 ms are 11 ticks, 60 ms are 15; a rise of 20 ms is one of 5 ticks.
        for (rtt_us, rtt_max) in [(40_001, 11), (60_000, 15), (80_001, 15), (80_000, 20)] {
            module.measure_rtt_today(module.clock.round_up(Nanos(1000 * rtt_us)), State::Open);
            assert_eq!((module.rtt_min, module.epoch.rtt_max), (11, rtt_max));
        }
        // 2 s after the event: 1 + (2500 + 125 * 125/250)/250 = 11; by 8 * 250/110 = 18 eighths: 88/18 = 4. Alpha is 2 * 4 * 64.
        let scaled = HTcpParameters { rtt_scaling: true, ..PLAIN };
        assert_eq!(module.alpha_at(250 + 500, &scaled), 4 * ONE);
    }

    #[test]
    fn a_throughput_sample_takes_a_window_less_alpha_and_the_least_round_trip() {
        let mut module = HTcpLinux { rtt_min: 100, ..HTcpLinux::new() };
        let mut count = |at, acked| {
            module.measure_throughput(100, at, 0, acked, State::Open);
            (module.counted, module.peak)
        };
        // Alpha is one: 99 are enough, but not before 100 ms are over; 105 in 110 ms are 954 a second.
        assert_eq!(count(50, 98), (98, 0));
        assert_eq!(count(90, 6), (104, 0));
        assert_eq!(count(110, 1), (0, 954));
        // Not enough after a round trip: it waits.
        assert_eq!(count(300, 98), (98, 954));
        // 99 in 289 ms: 342, and it is still fresh.
        assert_eq!(count(399, 1), (0, 342));
        // At four times RTTmin it is averaged: 200 in 101 ms are 1980, (3 * 342 + 1980)/4 = 751.
        assert_eq!(count(500, 200), (0, 751));
        // Alpha of 101 at a window of 100: never.
        module.alpha = 101 * ONE;
        module.measure_throughput(100, 900, 0, 1000, State::Open);
        assert_eq!((module.counted, module.peak), (1000, 751));
        // What a recovery acknowledges does not count.
        module.measure_throughput(100, 950, 0, 1, State::Recovery);
        assert_eq!((module.counted, module.counted_from), (0, 950));
    }

    #[test]
    fn the_greatest_rtt_follows_when_the_event_is_four_round_trips_past() {
        let mut module = HTcpLinux::new();
        let lossy = window_with(100.0, 50.0, Arithmetic::Linux26);
        let see = |module: &mut HTcpLinux, at, rtt| {
            module.measure_rtt(rtt, &lossy, at, 0, State::Open);
            (module.rtt_min, module.epoch.rtt_max)
        };
        assert_eq!(see(&mut module, 399, 100), (100, 0));
        assert_eq!(see(&mut module, 400, 100), (100, 100));
        // It follows up to 20 ms at once, and not further.
        assert_eq!(see(&mut module, 500, 120), (100, 120));
        assert_eq!(see(&mut module, 600, 141), (100, 120));
        // Nor before there was a loss.
        module.epoch.rtt_max = 0;
        module.measure_rtt(110, &window_with(100.0, 1e5, Arithmetic::Linux26), 700, 0, State::Open);
        assert_eq!(module.epoch.rtt_max, 0);
    }

    #[test]
    fn it_keeps_what_the_queue_did_not_hold_from_the_second_steady_event_on() {
        // Peaks 1000, 1000, 1200: steady twice. RTTmin 100 of 140: 12800/140 = 91/128; of 110: 116, at most 102. A window
        // of 1000: 710 and 796. RTTmax gives way: 100 + 40 * 0.95 = 138.
        for (rtt_max, kept) in [(140, 710.0), (110, 796.0)] {
            let epoch = Epoch { rtt_max, last_peak: 1000, since: Some(0) };
            let mut module = HTcpLinux { rtt_min: 100, epoch, peak: 1000, ..HTcpLinux::new() };
            assert_eq!(module.on_congestion(&large(1000.0), &loss(9000), &PLAIN), 500.0);
            module.epoch.rtt_max = rtt_max;
            module.peak = 1200;
            assert_eq!(module.on_congestion(&large(1000.0), &loss(9900), &PLAIN), kept);
            assert_eq!(module.epoch.rtt_max, 100 + (rtt_max - 100) * 95 / 100);
            // 1441 is more than a fifth above 1200, so that the next must wait again.
            module.peak = 1441;
            assert_eq!(module.on_congestion(&large(1000.0), &loss(9990), &PLAIN), 500.0);
            assert!(!module.steady);
        }
    }

    #[test]
    fn alpha_is_of_the_old_event_until_the_next_step() {
        // An event at 3 s: alpha 22, so that 110 take a step after 5 ACKs and the one on which it is taken; then it is
        // 1, and 111 take 112.
        let mut module =
            HTcpLinux { epoch: Epoch { since: Some(0), ..Epoch::default() }, ..HTcpLinux::new() };
        module.on_congestion(&large(220.0), &loss(3000), &PLAIN);
        let mut htcp = super::super::HTcp { linux: module, ..crate::Configurable::new(PLAIN) };
        let mut window = large(110.0);
        let steps = [6, 112].map(|_| acks_for_a_segment(&mut htcp, &mut window, &ack(3100, 1, 100)));
        assert_eq!(steps, [6, 112]);
    }

    fn loss(at_ms: u64) -> Congestion {
        congestion(&large(10.0), CongestionKind::Loss, at_ms)
    }

    /// Today's arithmetic.
    fn today(cwnd: f64) -> Window {
        window(cwnd, Arithmetic::Linux)
    }

    #[test]
    fn a_step_of_today_takes_an_ack_of_its_own() {
        // Alpha 4, a window of 100: 25 segments are enough (100/128ths rounded down). ACKs of two: 26 are there after 13, and the
        // 14th takes the step and is not counted. Alpha is then 1: 101 are enough, 51 ACKs count 102, and the 52nd steps.
        let mut module = HTcpLinux { alpha: 4 * ONE, ..HTcpLinux::new() };
        let mut window = today(100.0);
        module.init(&window, &Init::default());
        let mut steps = |module: &mut HTcpLinux| {
            let before = window.cwnd;
            (1..).find(|_| {
                module.on_ack(&mut window, &ack(100, 2, 50), &PLAIN);
                window.cwnd > before
            })
        };
        assert_eq!((steps(&mut module), module.progress), (Some(14), 0));
        assert_eq!(steps(&mut module), Some(52));
        // The ACK that ends a recovery counts as one, even if the recovery began without an ACK; one that begins it counts
        // as before.
        for (at, counted) in [(150, 1), (200, 40)] {
            module.on_congestion(&window, &loss(at), &PLAIN);
            module.on_ack(&mut window, &ack(200, 40, 50), &PLAIN);
            assert_eq!(module.progress, counted);
        }
    }

    #[test]
    fn samples_of_today_are_rounded_up_and_count_in_every_state() {
        let mut module = HTcpLinux::new();
        let mut window = today(10.0);
        let mut see = |module: &mut HTcpLinux, rtt, state| {
            let ack = Ack { rtt: Some(Nanos(rtt)), state, cwnd_limited: false, ..ack(7, 1, 0) };
            module.on_ack(&mut window, &ack, &PLAIN);
            (module.rtt_min, module.epoch.rtt_max)
        };
        // 40.001 ms are 41. The state before the ACK decides about the greatest one, in slow start, too.
        assert_eq!(see(&mut module, 40_001_000, State::Open), (41, 41));
        assert_eq!(see(&mut module, 60_999_000, State::Recovery), (41, 61));
        assert_eq!(see(&mut module, 70_000_000, State::Open), (41, 61));
        assert_eq!(see(&mut module, 40_000_999, State::Open), (40, 61));
        assert_eq!(see(&mut module, 82_000_000, State::Open), (40, 61));
    }

    #[test]
    fn an_undone_event_of_today_restores_only_its_time() {
        let mut module = HTcpLinux { rtt_min: 100, peak: 7, ..HTcpLinux::new() };
        let window = today(100.0);
        module.init(&window, &Init { now: Nanos::from_millis(5), ..Init::default() });
        module.epoch.rtt_max = 140;
        module.on_congestion(&window, &loss(900), &PLAIN);
        let event = module.clone();
        module.on_undo(Nanos::from_millis(910));
        assert_eq!((module.epoch.since, module.epoch.rtt_max, module.epoch.last_peak), (Some(5), 138, 7));
        // It has no end then, while another one has.
        module.on_recovery_exit(&window, Nanos::from_millis(950));
        assert_eq!(module.epoch.since, Some(5));
        let mut module = event;
        assert_eq!(module.epoch.since, Some(900));
        module.on_recovery_exit(&window, Nanos::from_millis(950));
        module.on_recovery_exit(&window, Nanos::from_millis(970));
        assert_eq!(module.epoch.since, Some(950));
    }
}
