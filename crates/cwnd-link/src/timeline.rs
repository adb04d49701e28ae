//! Values that change at given times.

use cwnd_scenario::{Step, Steps};

/// Values with the times from which they hold, optionally periodic.
#[derive(Clone, Debug)]
pub struct Timeline<T> {
    /// Times counted from the beginning of the period, rising.
    steps: Box<[(u64, T)]>,
    period: Option<u64>,
    /// The first step stands for the link's own value, to which a new period goes back.
    begins_with_own: bool,
}

/// A place between two steps of a [`Timeline`].
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Beginning of the period.
    base: u64,
    /// The next step in it.
    next: usize,
}

impl<T: Copy> Timeline<T> {
    /// A part of the steps of a schedule. `own` is what the link has before the first of them.
    pub fn new(steps: Option<&Steps>, own: T, part: impl Fn(&Step) -> T) -> Timeline<T> {
        let Some(Steps { steps, period }) = steps else {
            return Timeline { steps: Box::default(), period: None, begins_with_own: false };
        };
        let begins_with_own = period.is_some() && steps.first().is_some_and(|first| first.at.0 > 0);
        let own = begins_with_own.then_some((0, own));
        let last = steps.last().map_or(0, |last| last.at.0);
        Timeline {
            steps: own.into_iter().chain(steps.iter().map(|step| (step.at.0, part(step)))).collect(),
            // A period that ended before the last step would turn time back.
            period: period.filter(|_| !steps.is_empty()).map(|period| period.0.max(last + 1)),
            begins_with_own,
        }
    }

    /// The place before the first step, which lies `origin` later than time zero.
    pub fn start(&self, origin: u64) -> Place {
        Place { base: origin, next: 0 }
    }

    /// Returns the time of the next step; `u64::MAX` if there is none.
    pub fn next_at(&self, place: Place) -> u64 {
        self.steps.get(place.next).map_or(u64::MAX, |&(at, _)| place.base.saturating_add(at))
    }

    /// Advances to the next step, if there is one.
    pub fn step(&self, place: &mut Place) -> Option<T> {
        let &(_, value) = self.steps.get(place.next)?;
        place.next += 1;
        if let Some(period) = self.period.filter(|_| place.next == self.steps.len()) {
            *place = Place { base: place.base.saturating_add(period), next: 0 };
        }
        Some(value)
    }

    /// Advances over all steps before `end`. Returns the value after them, if there was a step.
    pub fn pass_before(&self, place: &mut Place, end: u64) -> Option<T> {
        if let Some(period) = self.period {
            // All periods but the last whole one would only be overwritten.
            let whole = end.saturating_sub(place.base) / period;
            if whole >= 2 {
                *place = Place { base: place.base + (whole - 1) * period, next: 0 };
            }
        }
        let mut value = None;
        while self.next_at(*place) < end {
            value = self.step(place);
        }
        value
    }

    /// Changes the link's own value.
    pub fn set_own(&mut self, own: T) {
        if self.begins_with_own {
            self.steps[0].1 = own;
        }
    }

    /// Returns all values.
    pub fn values(&self) -> impl Iterator<Item = T> {
        self.steps.iter().map(|&(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_scenario::{Rate, Time};

    fn timeline(at: &[u64], period: Option<u64>) -> Timeline<u64> {
        let step = |&at: &u64| Step { at: Time(at), rate: Rate(1), delay: Time(at) };
        let steps = Steps { steps: at.iter().map(step).collect(), period: period.map(Time) };
        Timeline::new(Some(&steps), 99, |step| step.delay.0)
    }

    /// Returns the first `n` steps from `origin` on: times and values.
    fn walk(timeline: &Timeline<u64>, origin: u64, n: usize) -> Vec<(u64, u64)> {
        let mut place = timeline.start(origin);
        let step = |_| Some((timeline.next_at(place), timeline.step(&mut place)?));
        (0..n).map_while(step).collect()
    }

    #[test]
    fn steps_come_in_their_order_and_again() {
        assert_eq!(walk(&timeline(&[10, 20], None), 5, 9), [(15, 10), (25, 20)]);
        // A period that does not begin with a step goes back to the link's own value.
        let again = [(5, 99), (15, 10), (25, 20), (35, 99), (45, 10)];
        assert_eq!(walk(&timeline(&[10, 20], Some(30)), 5, 5), again);
        assert_eq!(walk(&timeline(&[0, 20], Some(30)), 5, 4), [(5, 0), (25, 20), (35, 0), (55, 20)]);
        assert_eq!(walk(&timeline(&[], Some(30)), 5, 4), []);
    }

    #[test]
    fn passing_many_periods_is_passing_each_step() {
        for at in [&[10, 20][..], &[0, 20], &[29], &[0]] {
            let timeline = timeline(at, Some(30));
            let mut known = (timeline.start(7), None);
            for end in 0..400 {
                let mut place = timeline.start(7);
                let value = timeline.pass_before(&mut place, end);
                // One step at a time, from where the last one ended.
                while timeline.next_at(known.0) < end {
                    known.1 = timeline.step(&mut known.0);
                }
                assert_eq!((timeline.next_at(place), value), (timeline.next_at(known.0), known.1), "{end}");
            }
        }
    }

    #[test]
    fn a_period_that_is_too_short_does_not_turn_time_back() {
        assert_eq!(walk(&timeline(&[0, 20], Some(3)), 0, 4), [(0, 0), (20, 20), (21, 0), (41, 20)]);
    }
}
