//! Rates and delays that change at given times, for links in closed form.
//!
//! The simulation stops at each step and applies it as a live change: the closed form holds between two of them. What all
//! stages know of the link, its least latency, holds for the whole schedule, so that a step concerns nobody but the link and the
//! rings that it feeds.

use super::{Change, ClosedForm};
use crate::ring::Ring;
use cwnd_link::{Place, SerialTime, Timeline};
use cwnd_scenario::{LinkSpec, Rate, Schedule};

/// A rate, by the serialisation times that it gives, and a propagation delay, ns.
pub type Line = (SerialTime, u64);

/// The steps of a link, and which comes next.
#[derive(Clone, Debug)]
pub struct Steps {
    timeline: Timeline<Line>,
    place: Place,
    /// The link's own rate and delay.
    own: Line,
    /// The fastest rate and the least delay that there ever are.
    bound: Line,
    split: Split,
}

/// A packet in transmission at a step. What is left of it is rounded at each step. The sum of its parts may come out less than its
/// serialisation time at the fastest rate, but it does not leave earlier than that.
#[derive(Clone, Copy, Debug, Default)]
pub struct Split {
    /// When it leaves.
    departure: u64,
    /// When it would leave by the sum of its parts.
    sum: u64,
    /// When it leaves at the earliest.
    earliest: u64,
}

impl Steps {
    /// Creates the steps of a link, if it has some, the closed form holds between them, and there are at most `most` before
    /// `end` on the scenario's clock. Time zero of that clock is `origin` on the engine's.
    pub fn of(link: &LinkSpec, origin: u64, end: u64, most: u64) -> Option<Steps> {
        let constant = LinkSpec { schedule: None, ..link.clone() };
        let Some(Schedule::Steps(schedule)) = link.schedule.as_ref().filter(|_| constant.is_plain()) else {
            return None;
        };
        let rates = || schedule.steps.iter().map(|step| step.rate);
        // During an outage nothing is known of when a packet leaves.
        let outage = rates().any(|rate| rate == Rate(0));
        // A queue that marks counts its marks when packets leave it.
        let marks = link.queue.ecn_threshold.is_some();
        if schedule.steps.is_empty() || outage || marks {
            return None;
        }
        let before = |end: u64| schedule.steps.iter().filter(|step| step.at.0 < end).count() as u64;
        let steps = match schedule.period.filter(|period| period.0 > 0) {
            None => before(end),
            Some(period) => (end / period.0).saturating_mul(before(period.0)) + before(end % period.0),
        };
        if steps > most {
            return None;
        }
        let own = (SerialTime::new(link.rate), link.delay.0);
        let timeline = Timeline::new(Some(schedule), own, |step| (SerialTime::new(step.rate), step.delay.0));
        let place = timeline.start(origin);
        let mut steps = Steps { timeline, place, own, bound: own, split: Split::default() };
        steps.set_bound(own);
        Some(steps)
    }

    /// Returns when the next step comes; `u64::MAX` if there is none.
    pub fn next_at(&self) -> u64 {
        self.timeline.next_at(self.place)
    }

    /// Returns the least time from a packet's arrival to the end of the line, over the whole schedule, for packets of at least
    /// `size` bytes.
    pub fn least_latency(&self, size: u32) -> u64 {
        self.bound.0.of(size) + self.bound.1
    }

    /// The link's own rate or delay changes, after which it has those of `present`.
    pub fn set_own(&mut self, change: &Change, present: Line) {
        match change {
            Change::Rate(_) => self.own.0 = present.0,
            Change::Delay(_) => self.own.1 = present.1,
            Change::Loss(..) => {}
        }
        self.timeline.set_own(self.own);
        self.set_bound(present);
    }

    fn set_bound(&mut self, present: Line) {
        let all = || self.timeline.values().chain([self.own, present]);
        let fastest = all().map(|(serial, _)| serial).min_by_key(|serial| serial.slope());
        let least = all().map(|(_, delay)| delay).min();
        self.bound = (fastest.unwrap_or_default(), least.unwrap_or(0));
    }

    /// Returns when the packet in transmission leaves, of `size` bytes, if a step at `t` changes its serialisation times from
    /// `old` to `new`. It would have left at `departure`.
    pub fn split(&mut self, t: u64, departure: u64, size: u32, [old, new]: [SerialTime; 2]) -> u64 {
        if self.split.departure != departure {
            let began = departure.saturating_sub(old.of(size));
            self.split = Split { departure, sum: departure, earliest: began + self.bound.0.of(size) };
        }
        let split = &mut self.split;
        if split.sum > t {
            split.sum = t + new.convert(split.sum - t, old);
        }
        split.departure = split.sum.max(split.earliest);
        split.departure
    }

    /// The packet in transmission leaves at `departure` after a live change: it is not known any more when it began.
    pub fn forget_split(&mut self, departure: u64) {
        self.split = Split { departure, sum: departure, earliest: 0 };
    }
}

impl ClosedForm {
    /// Applies the next step, when everything before its time has been done and nothing at that time or later.
    pub fn step(&mut self, rings: &mut [Ring]) {
        let Some(mut steps) = self.steps.take() else { return };
        let t = steps.next_at();
        if let Some((serial, delay)) = steps.timeline.step(&mut steps.place) {
            let old = self.serial;
            self.set_line(t, (serial, delay), rings, |departure, size| {
                steps.split(t, departure, size, [old, serial])
            });
        }
        self.steps = Some(steps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_link::{Purpose, Stream, Transmitter};
    use cwnd_scenario::{Counting, QueueLimit, QueueSpec, Step, Time};
    use cwnd_tcp::packet::Packet;

    /// A link without a limit whose rate (bit/s) changes at these times, ns.
    fn spec(own: u64, rates: &[(u64, u64)], period: Option<u64>) -> LinkSpec {
        let step = |&(at, rate): &(u64, u64)| Step { at: Time(at), rate: Rate(rate), delay: Time(0) };
        let steps = rates.iter().map(step).collect();
        let steps = cwnd_scenario::Steps { steps, period: period.map(Time) };
        let mut link = LinkSpec::new("link", 0, 1, Rate(own), Time(0));
        link.queue = QueueSpec::drop_tail(QueueLimit::Unlimited, Counting::WaitingOnly);
        LinkSpec { schedule: Some(Schedule::Steps(steps)), ..link }
    }

    /// Returns when packets leave the link that come at these times, with these sizes in bytes.
    fn departures(link: &LinkSpec, packets: &[(u64, u32)]) -> Vec<u64> {
        let mut state = ClosedForm::new(SerialTime::new(link.rate), 0, &link.queue);
        state.set_steps(Steps::of(link, 0, u64::MAX, u64::MAX).expect("it has a closed form"));
        state.next = crate::link::NextRing::One(0);
        let mut rings = [Ring::default()];
        for &(at, size) in packets {
            while state.steps().is_some_and(|steps| steps.next_at() <= at) {
                state.step(&mut rings);
            }
            let verdict = state.offer(at, size, 0, 0).expect("there is no limit");
            rings[0].push(Packet { at: verdict.at, size: size as u16, ..Packet::default() });
        }
        while rings[0]
            .iter()
            .last()
            .is_some_and(|packet| state.steps().is_some_and(|steps| steps.next_at() <= packet.at))
        {
            state.step(&mut rings);
        }
        rings[0].iter().map(|packet| packet.at).collect()
    }

    #[test]
    fn a_step_concerns_the_remaining_bits_and_the_packets_behind() {
        // 8 Mbit/s: a byte in 1,000 ns. From 400,000 ns on 16 Mbit/s: the other 600 bytes take half as long.
        let link = spec(8_000_000, &[(400_000, 16_000_000)], None);
        assert_eq!(departures(&link, &[(0, 1000), (10, 500)]), [700_000, 950_000]);
        // Back to its own rate at 800,000 ns: 200 of the 500 bytes are sent, 300 are left.
        let link = spec(8_000_000, &[(400_000, 16_000_000)], Some(800_000));
        assert_eq!(departures(&link, &[(0, 1000), (10, 500)]), [700_000, 1_100_000]);
    }

    #[test]
    fn packets_leave_when_a_transmitter_lets_them_go() {
        for seed in 0..3000 {
            let mut dice = Stream::new(seed, Purpose::Queue, 0);
            let mut below = |most: u64| dice.next_u64() % most;
            let rate = |near: u64| 1_000_000_000 + near;
            let near = [3, 1_000_000, 1_000_000_000][seed as usize % 3];
            let mut at = 0;
            let steps: Vec<(u64, u64)> = (0..1 + below(8))
                .map(|_| {
                    let most = [3, 2_000][below(2) as usize];
                    at += 1 + below(most);
                    (at, rate(below(near)))
                })
                .collect();
            let period = (below(2) == 0).then_some(at + 1 + below(2_000));
            let link = spec(rate(below(near)), &steps, period);
            let mut now = 0;
            let packets: Vec<(u64, u32)> = (0..20)
                .map(|_| {
                    now += below(600);
                    (now, 1 + below(90) as u32)
                })
                .collect();
            let mut transmitter = Transmitter::new(link.rate, link.schedule.as_ref(), 0);
            let mut free = 0;
            let expected: Vec<u64> = packets
                .iter()
                .map(|&(at, size)| {
                    free = transmitter.finish(at.max(free), size, at < free);
                    free
                })
                .collect();
            assert_eq!(
                departures(&link, &packets),
                expected,
                "seed {seed}: {steps:?}, {period:?}, {packets:?}"
            );
        }
    }
}
