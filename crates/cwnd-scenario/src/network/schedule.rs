//! Links whose rate and delay vary.

use super::DeliveryTimes;
use crate::{Rate, Time};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a link varies over time, on the scenario's clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// Rate and delay at given times; before the first step they are the link's own.
    Steps(Steps),
    /// Packets leave at given times only; the link's rate says nothing but what buffers are computed with.
    Trace(DeliveryTrace),
}

/// Rate and delay that change at given times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Steps {
    /// In rising order of time.
    pub steps: Vec<Step>,
    /// After this time it all begins again, if ever; later than the last step.
    pub period: Option<Time>,
}

/// From a time on a link has this rate and delay. A new rate applies to the bits that remain of the packet in
/// transmission, a new delay to packets that leave the transmitter from then on; none overtakes those before it unless
/// jitter lets it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Step {
    /// When.
    pub at: Time,
    /// The rate; zero is an outage: the transmitter stands still, and packets wait.
    pub rate: Rate,
    /// The propagation delay.
    pub delay: Time,
}

/// Times at which up to 1,500 bytes may leave, as a recorded link had them: a Mahimahi trace (Netravali et al., USENIX ATC
/// 2015). Packets that wait share an opportunity as far as their bytes fit, a packet may need several, and what
/// is left of an opportunity when nothing waits is lost. At its end the trace begins again.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DeliveryTrace {
    /// The file's name, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The times in milliseconds, not falling, at least one, the last more than zero: it is the trace's length.
    pub times_ms: DeliveryTimes,
}

impl DeliveryTrace {
    /// Bytes of an opportunity.
    pub const BYTES: u32 = 1500;

    /// The mean rate.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.times_ms.len() as u64 * u64::from(DeliveryTrace::BYTES) * 8;
        Rate(bits * 1000 / u64::from(self.times_ms.last().copied().unwrap_or(1).max(1)))
    }

    /// Returns the greatest rate over any time of this length, in whole milliseconds, rounded up, while the trace repeats. It is the
    /// mean rate where no such time has more opportunities than one of a steady link, rounded up.
    pub fn greatest_rate(&self, window: Time) -> Rate {
        let window = window.0.div_ceil(1_000_000).max(1);
        self.times_ms.greatest_rate(window, || self.find_greatest_rate(window))
    }

    /// Finds the greatest rate over any time of `n` milliseconds, at least 1, in one pass over the times.
    fn find_greatest_rate(&self, window: u64) -> Rate {
        let length = u64::from(self.times_ms.last().copied().unwrap_or(1).max(1));
        let all = self.times_ms.len();
        // Of this repetition or the next one: `rest` is shorter than one.
        let time = |i: usize| match i.checked_sub(all) {
            None => u64::from(self.times_ms[i]),
            Some(next) => length + u64::from(self.times_ms[next]),
        };
        // Whole repetitions have all opportunities, wherever they begin.
        let (whole, rest) = (window / length, window % length);
        let (mut end, mut most) = (0, 0);
        for begin in 0..if rest == 0 { 0 } else { all } {
            while time(end) < time(begin) + rest {
                end += 1;
            }
            most = most.max(end - begin);
        }
        let count = u128::from(whole) * all as u128 + most as u128;
        if count <= (all as u128 * u128::from(window)).div_ceil(u128::from(length)) {
            return self.mean_rate();
        }
        let rate = count * u128::from(DeliveryTrace::BYTES) * 8 * 1000 / u128::from(window);
        Rate(u64::try_from(rate).unwrap_or(u64::MAX))
    }
}

impl Schedule {
    /// Returns how many bits a link of this rate can transmit before `end` (and at `end`, in a trace); none if its rate is
    /// ever unlimited.
    fn capacity_bits(&self, own: Rate, end: Time) -> Option<u128> {
        match self {
            Schedule::Steps(steps) => steps.capacity_bits(own, end),
            Schedule::Trace(trace) => {
                Some(u128::from(trace.opportunities(end)) * u128::from(DeliveryTrace::BYTES) * 8)
            }
        }
    }

    /// Returns the mean rate between two times of a link whose own rate is this, bit/s; none if there is none, or it is zero.
    pub(super) fn mean_rate(&self, own: Rate, begin: Time, end: Time) -> Option<f64> {
        // An opportunity at the very beginning is one of those that count.
        let before = match self {
            Schedule::Trace(_) if begin == Time::ZERO => 0,
            Schedule::Trace(_) => self.capacity_bits(own, Time(begin.0 - 1))?,
            Schedule::Steps(_) => self.capacity_bits(own, begin)?,
        };
        let bits = self.capacity_bits(own, end)?.saturating_sub(before);
        let rate = bits as f64 / Time(end.0.saturating_sub(begin.0)).as_secs_f64();
        (bits > 0 && rate.is_finite()).then_some(rate)
    }

    /// Returns how long a link of this rate takes from a time on to transmit `bits`, seconds; none if it never has.
    pub(super) fn transmission_s(&self, own: Rate, from: Time, bits: u64) -> Option<f64> {
        let ns = match self {
            Schedule::Steps(steps) => steps.transmission_ns(own, from, bits)?,
            Schedule::Trace(trace) => trace.transmission_ns(from, bits),
        };
        Some(ns / 1e9)
    }
}

impl Steps {
    fn transmission_ns(&self, own: Rate, from: Time, bits: u64) -> Option<f64> {
        let period = self.period.map(|period| period.0).filter(|period| *period > 0);
        // Bits times 10^9, as rates times nanoseconds are.
        let mut left = u128::from(bits) * 1_000_000_000;
        let (mut at, mut elapsed) = (period.map_or(from.0, |period| from.0 % period), 0.0);
        if let Some(length) = period
            && let Some(capacity) = self.capacity_bits(own, Time(length))
        {
            let whole = left.checked_div(capacity * 1_000_000_000)?;
            left -= whole * capacity * 1_000_000_000;
            elapsed += whole as f64 * length as f64;
        }
        while left > 0 {
            let next = self.steps.partition_point(|step| step.at.0 <= at);
            let rate = if next == 0 { own } else { self.steps[next - 1].rate };
            let end = self.steps.get(next).map(|step| step.at.0).or(period);
            let capacity = end.map(|end| u128::from(rate.0) * u128::from(end - at));
            match (end, capacity) {
                _ if rate == Rate::UNLIMITED => break,
                (Some(end), Some(capacity)) if capacity < left => {
                    left -= capacity;
                    elapsed += (end - at) as f64;
                    at = if Some(end) == period { 0 } else { end };
                }
                _ if rate.0 == 0 => return None,
                _ => return Some(elapsed + left as f64 / rate.0 as f64),
            }
        }
        Some(elapsed)
    }

    fn capacity_bits(&self, own: Rate, end: Time) -> Option<u128> {
        let rates = || std::iter::once(own).chain(self.steps.iter().map(|step| step.rate));
        if rates().any(|rate| rate == Rate::UNLIMITED) {
            return None;
        }
        // Bits times 10^9 from the beginning of a period until `time` in it.
        let within = |time: u64| {
            let begins = std::iter::once(0).chain(self.steps.iter().map(|step| step.at.0));
            let ends = self.steps.iter().map(|step| step.at.0).chain([u64::MAX]);
            let pieces = begins.zip(ends).zip(rates());
            let bits = |((from, to), rate): ((u64, u64), Rate)| {
                u128::from(to.min(time).saturating_sub(from)) * u128::from(rate.0)
            };
            pieces.map(bits).sum::<u128>()
        };
        let total = match self.period.filter(|period| period.0 > 0) {
            None => within(end.0),
            Some(period) => u128::from(end.0 / period.0) * within(period.0) + within(end.0 % period.0),
        };
        Some(total / 1_000_000_000)
    }
}

impl DeliveryTrace {
    fn transmission_ns(&self, from: Time, bits: u64) -> f64 {
        let length = u64::from(self.times_ms.last().copied().unwrap_or(1).max(1));
        let needed = bits.div_ceil(u64::from(DeliveryTrace::BYTES) * 8);
        let Some(last) = (self.opportunities(from) + needed).checked_sub(1).filter(|_| needed > 0) else {
            return 0.0;
        };
        let all = self.times_ms.len() as u64;
        let at_ms = last / all * length + u64::from(self.times_ms[(last % all) as usize]);
        at_ms as f64 * 1e6 - from.0 as f64
    }

    /// Returns how many opportunities come until `end`, those at `end` included.
    fn opportunities(&self, end: Time) -> u64 {
        let length = u64::from(self.times_ms.last().copied().unwrap_or(1).max(1));
        let end = end.0 / 1_000_000;
        let within = self.times_ms.partition_point(|time| u64::from(*time) <= end % length);
        end / length * self.times_ms.len() as u64 + within as u64
    }
}

/// The name and the number of times, which may be hundreds of thousands.
impl fmt::Debug for DeliveryTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeliveryTrace({:?}, {} times)", self.name, self.times_ms.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBIT: u64 = 1_000_000;

    #[test]
    fn the_mean_rate_of_steps_is_that_of_the_counted_time() {
        let step = |at, rate| Step { at: Time::from_secs(at), rate: Rate(rate), delay: Time::ZERO };
        let steps = vec![step(2, 30 * MBIT), step(3, 0)];
        let mean = |period: Option<u64>, begin, end| {
            let steps = Steps { steps: steps.clone(), period: period.map(Time::from_secs) };
            let (begin, end) = (Time::from_secs(begin), Time::from_secs(end));
            Schedule::Steps(steps).mean_rate(Rate(10 * MBIT), begin, end)
        };
        // 2 s at 10 Mbit/s, 1 s at 30, and nothing from then on.
        assert_eq!(mean(None, 0, 5), Some(10e6));
        assert_eq!(mean(None, 1, 3), Some(20e6));
        assert_eq!(mean(None, 3, 5), None);
        // Every 4 s: 50 Mbit in a period, and 20 of the next until 6 s.
        assert_eq!(mean(Some(4), 0, 6), Some(70e6 / 6.0));
        assert_eq!(mean(Some(4), 2, 6), Some(50e6 / 4.0));
        let unlimited = Steps { steps: vec![step(1, u64::MAX)], period: None };
        assert_eq!(Schedule::Steps(unlimited).mean_rate(Rate(MBIT), Time::ZERO, Time::from_secs(2)), None);
    }

    #[test]
    fn what_waits_goes_at_the_rates_that_come() {
        let step = |at, rate| Step { at: Time::from_secs(at), rate: Rate(rate), delay: Time::ZERO };
        let time = |period: Option<u64>, from_ms, bits| {
            let steps = vec![step(2, 30 * MBIT), step(3, 0)];
            let steps = Steps { steps, period: period.map(Time::from_secs) };
            Schedule::Steps(steps).transmission_s(Rate(10 * MBIT), Time::from_millis(from_ms), bits)
        };
        assert_eq!(time(None, 0, 0), Some(0.0));
        assert_eq!(time(None, 0, 5 * MBIT), Some(0.5));
        // 10 Mbit until 2 s, and 15 Mbit at 30 Mbit/s.
        assert_eq!(time(None, 1_000, 25 * MBIT), Some(1.5));
        assert_eq!(time(None, 2_500, 15 * MBIT), Some(0.5));
        assert_eq!(time(None, 2_500, 16 * MBIT), None);
        // Every 4 s the outage ends. A period has 50 Mbit: two of them and 15 Mbit until 3 s, and 1 Mbit from 4 s on.
        assert_eq!(time(Some(4), 2_500, 16 * MBIT), Some(1.6));
        assert_eq!(time(Some(4), 10_500, 116 * MBIT), Some(9.6));
        let dead = Steps { steps: vec![step(0, 0)], period: Some(Time::from_secs(1)) };
        assert_eq!(Schedule::Steps(dead).transmission_s(Rate(MBIT), Time::ZERO, 1), None);
        let unlimited = Steps { steps: vec![step(1, u64::MAX)], period: None };
        assert_eq!(Schedule::Steps(unlimited).transmission_s(Rate(MBIT), Time::ZERO, 3 * MBIT), Some(1.0));
    }

    #[test]
    fn what_waits_goes_at_the_opportunities_that_come() {
        let trace = DeliveryTrace { name: "test".to_owned(), times_ms: [2, 5, 10].into() };
        let time = |from_us: u64, bytes: u64| {
            let from = Time(from_us * 1_000);
            Schedule::Trace(trace.clone()).transmission_s(Rate(MBIT), from, 8 * bytes).unwrap()
        };
        // At 2, 5, 10, 12, 15, 20 ms.
        assert_eq!(time(0, 0), 0.0);
        assert_eq!(time(0, 1_500), 2e-3);
        assert_eq!(time(0, 1_501), 5e-3);
        assert!((time(2_500, 6_000) - 12.5e-3).abs() < 1e-12);
        assert!((time(10_000, 1_500) - 2e-3).abs() < 1e-12);
    }

    #[test]
    fn the_greatest_rate_of_a_trace_is_that_of_its_best_time() {
        let greatest = |times_ms: Vec<u32>, window_ms| {
            let trace = DeliveryTrace { name: "test".to_owned(), times_ms: times_ms.into() };
            (trace.greatest_rate(Time::from_millis(window_ms)).0, trace.mean_rate().0)
        };
        // 100 ms with an opportunity in each, and 900 with one in ten: 190 in 1 s.
        let varying: Vec<u32> = (1..=100).chain((110..=1_000).step_by(10)).collect();
        assert_eq!(greatest(varying.clone(), 100), (12_000_000, 2_280_000));
        // 100 and 10 in 200 ms; in 1,100 ms once more 100; whole repetitions have the mean.
        assert_eq!(greatest(varying.clone(), 200).0, 110 * 12_000 * 5);
        assert_eq!(greatest(varying.clone(), 1_100).0, 290 * 12_000 * 10 / 11);
        assert_eq!(greatest(varying, 3_000), (2_280_000, 2_280_000));
        // The best time may span the end.
        let around: Vec<u32> = (1..=50).chain([500]).chain(951..=1_000).collect();
        assert_eq!(greatest(around, 100).0, 12_000_000);
        // Steady rates are their mean, whether or not opportunities fall on whole milliseconds.
        for (each_us, window_ms) in [(1_000, 100), (2_400, 100), (2_400, 101), (7_700, 333), (300, 50)] {
            let times = (1..=10_000).map(|i| i * each_us / 1_000).collect();
            let (greatest, mean) = greatest(times, window_ms);
            assert_eq!(greatest, mean, "{each_us} us, {window_ms} ms");
        }
        assert_eq!(greatest(vec![32_000], 100), (375, 375));
        assert_eq!(greatest(vec![0, 0, 1], 1), (36_000_000, 36_000_000));
    }

    #[test]
    fn the_mean_rate_of_a_trace_counts_its_opportunities() {
        let trace = DeliveryTrace { name: "test".to_owned(), times_ms: [2, 5, 10].into() };
        let mean = |begin, end| {
            Schedule::Trace(trace.clone()).mean_rate(
                Rate(MBIT),
                Time::from_millis(begin),
                Time::from_millis(end),
            )
        };
        // At 2, 5, 10, 12, 15, 20, 22 ms, with 12,000 bits each.
        let rate =
            |opportunities: f64, milliseconds: f64| Some(opportunities * 12_000.0 / (milliseconds / 1e3));
        assert_eq!(mean(0, 10), rate(3.0, 10.0));
        assert_eq!(mean(5, 12), rate(3.0, 7.0));
        assert_eq!(mean(6, 9), None);
        assert_eq!(mean(11, 24), rate(4.0, 13.0));
    }
}
