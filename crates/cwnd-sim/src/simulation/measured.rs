//! The scenario that live changes of rates and delays make: they become the schedules of their links.

use super::Simulation;
use cwnd_scenario::{LinkId, LinkSpec, Rate, Scenario, Schedule, Step, Steps, Time};

/// A live change of a link's rate or delay.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineChange {
    /// When it came.
    pub at: Time,
    /// The link.
    pub link: LinkId,
    /// The link's own rate and delay before it.
    pub before: (Rate, Time),
    /// What changed.
    pub to: Changed,
}

/// The value that a link got.
#[derive(Clone, Copy, Debug)]
pub(super) enum Changed {
    /// A rate.
    Rate(Rate),
    /// A propagation delay.
    Delay(Time),
}

impl Simulation<'_> {
    /// Returns the scenario with the live changes of rates and delays up to now as schedules of their links. Metrics of the outcome
    /// need it: with the scenario that the simulation began with, they would use rates that links no longer have.
    ///
    /// ```
    /// # use cwnd_experiment::{ExperimentSpec, FlowGroup};
    /// # use cwnd_scenario::{AlgorithmSpec, Rate, Time};
    /// # let cubic = AlgorithmSpec { name: "cubic".into(), ..AlgorithmSpec::default() };
    /// # let setup = ExperimentSpec { rate: Rate(10_000_000), ..ExperimentSpec::default() };
    /// # let scenario = setup.scenario(&[FlowGroup::new(cubic, 1)], 1).expect("a network that can be built");
    /// let mut simulation = cwnd_sim::Simulation::new(&scenario)?;
    /// simulation.run_until(Time::from_secs(2));
    /// simulation.set_rate(scenario.network.bottleneck, Rate(50_000_000)).expect("it is possible");
    /// simulation.run_until(Time::from_secs(4));
    /// let bottleneck = &simulation.measured_scenario().network.links[scenario.network.bottleneck];
    /// assert_eq!(bottleneck.mean_rate(Time::ZERO, simulation.now()), Some(30e6));
    /// # Ok::<(), cwnd_scenario::EngineError>(())
    /// ```
    pub fn measured_scenario(&self) -> Scenario {
        measured(&self.scenario, &self.line_changes, self.now())
    }
}

fn measured(scenario: &Scenario, changes: &[LineChange], end: Time) -> Scenario {
    let mut measured = scenario.clone();
    for (id, link) in measured.network.links.iter_mut().enumerate() {
        let own: Vec<LineChange> = changes.iter().filter(|change| change.link == id).copied().collect();
        if !own.is_empty() {
            reschedule(link, &own, end);
        }
    }
    measured
}

fn reschedule(link: &mut LinkSpec, changes: &[LineChange], end: Time) {
    // What is changed before the first packet is what the link has.
    let (first, later) = changes.split_at(changes.partition_point(|change| change.at == Time::ZERO));
    let mut own = first.iter().fold(changes[0].before, |own, change| changed(own, change.to));
    (link.rate, link.delay) = own;
    if later.is_empty() {
        return;
    }
    let scheduled = match &link.schedule {
        // The rate of a trace stays; the least delay is what a metric asks for.
        Some(Schedule::Trace(_)) => {
            let delays = later.iter().map(|change| changed(own, change.to).1);
            link.delay = delays.fold(link.delay, Time::min);
            return;
        }
        Some(Schedule::Steps(steps)) => unrolled(steps, end),
        None => Vec::new(),
    };
    let mut steps: Vec<Step> = Vec::new();
    let (mut scheduled, mut later) = (scheduled.into_iter().peekable(), later.iter().peekable());
    let mut now = own;
    loop {
        // A live change comes before a step of the same time.
        let is_live = match (later.peek(), scheduled.peek()) {
            (None, None) => break,
            (Some(change), Some((at, _))) => change.at <= *at,
            (change, _) => change.is_some(),
        };
        let at = if is_live {
            let Some(change) = later.next() else { break };
            (own, now) = (changed(own, change.to), changed(now, change.to));
            change.at
        } else {
            let Some((at, step)) = scheduled.next() else { break };
            now = step.unwrap_or(own);
            at
        };
        let (rate, delay) = now;
        match steps.last_mut().filter(|last| last.at == at) {
            Some(last) => (last.rate, last.delay) = now,
            None => steps.push(Step { at, rate, delay }),
        }
    }
    link.schedule = Some(Schedule::Steps(Steps { steps, period: None }));
}

fn changed((rate, delay): (Rate, Time), to: Changed) -> (Rate, Time) {
    match to {
        Changed::Rate(rate) => (rate, delay),
        Changed::Delay(delay) => (rate, delay),
    }
}

/// Returns the steps of a schedule until `end`, each period after the other. None is a return to the link's own rate and delay.
fn unrolled(schedule: &Steps, end: Time) -> Vec<(Time, Option<(Rate, Time)>)> {
    let within = || schedule.steps.iter().map(|step| (step.at, Some((step.rate, step.delay))));
    let Some(period) = schedule.period.filter(|period| period.0 > 0 && !schedule.steps.is_empty()) else {
        return within().collect();
    };
    let returns = schedule.steps.first().is_some_and(|first| first.at.0 > 0);
    let begins = (0..=end.0 / period.0).map(|number| number * period.0);
    let of_period = |base: u64| {
        let back = (returns && base > 0).then_some((Time(base), None));
        back.into_iter().chain(within().map(move |(at, step)| (Time(base + at.0), step)))
    };
    begins.flat_map(of_period).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_experiment::{ExperimentSpec, FlowGroup};
    use cwnd_scenario::AlgorithmSpec;

    const MBIT: u64 = 1_000_000;

    fn scenario(schedule: Option<Schedule>) -> Scenario {
        let link = LinkSpec {
            schedule,
            ..LinkSpec::new("bottleneck", 0, 1, Rate(10 * MBIT), Time::from_millis(10))
        };
        let cubic = AlgorithmSpec { name: "cubic".to_owned(), ..AlgorithmSpec::default() };
        let mut scenario = ExperimentSpec::default()
            .scenario(&[FlowGroup::new(cubic, 1)], 1)
            .unwrap_or_else(|problems| panic!("{problems:?}"));
        scenario.network.links = vec![link];
        scenario.network.bottleneck = 0;
        scenario
    }

    fn change(at: u64, to: Changed) -> LineChange {
        let before = (Rate(10 * MBIT), Time::from_millis(10));
        LineChange { at: Time::from_secs(at), link: 0, before, to }
    }

    fn rate(at: u64, mbit: u64) -> LineChange {
        change(at, Changed::Rate(Rate(mbit * MBIT)))
    }

    fn mean(schedule: Option<Schedule>, changes: &[LineChange], end: u64) -> Option<f64> {
        let end = Time::from_secs(end);
        measured(&scenario(schedule), changes, end).network.links[0].mean_rate(Time::ZERO, end)
    }

    fn steps(period: Option<u64>) -> Option<Schedule> {
        let step = |at, mbit| Step {
            at: Time::from_secs(at),
            rate: Rate(mbit * MBIT),
            delay: Time::from_millis(10),
        };
        Some(Schedule::Steps(Steps {
            steps: vec![step(2, 20), step(3, 40)],
            period: period.map(Time::from_secs),
        }))
    }

    #[test]
    fn the_mean_rate_is_that_of_the_rates_that_were() {
        assert_eq!(mean(None, &[], 10), Some(10e6));
        // 4 s at 10 Mbit/s, 6 s at 50.
        assert_eq!(mean(None, &[rate(4, 50)], 10), Some(34e6));
        // At the very beginning it is the link's own, and the last of one time counts.
        assert_eq!(mean(None, &[rate(0, 30), rate(0, 20)], 10), Some(20e6));
        assert_eq!(mean(None, &[rate(5, 90), rate(5, 30)], 10), Some(20e6));
    }

    #[test]
    fn a_change_holds_until_the_schedules_next_step() {
        // 1 s at 10, 1 s at 60, 1 s at 20, 2 s at 40.
        assert_eq!(mean(steps(None), &[rate(1, 60)], 5), Some(34e6));
        // A step of the same time comes after it.
        assert_eq!(mean(steps(None), &[rate(2, 60)], 5), mean(steps(None), &[], 5));
        // Every 5 s; the second period begins with the rate that was set.
        let expected = (10.0 + 60.0 + 20.0 + 80.0 + 120.0 + 20.0 + 80.0) / 10.0 * 1e6;
        assert_eq!(mean(steps(Some(5)), &[rate(1, 60)], 10), Some(expected));
    }

    #[test]
    fn a_delay_that_changes_varies() {
        let delay = change(1, Changed::Delay(Time::from_millis(5)));
        let link = measured(&scenario(None), &[delay], Time::from_secs(2)).network.links[0].clone();
        assert!(link.delay_varies());
        assert_eq!(
            (link.least_delay(), link.mean_rate(Time::ZERO, Time::from_secs(2))),
            (Time::from_millis(5), Some(10e6))
        );
    }
}
