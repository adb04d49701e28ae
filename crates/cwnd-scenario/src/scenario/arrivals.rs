//! Short flows that come and go.

use super::{FlowSpec, MAX_FLOWS};
use crate::{FlowSizes, Purpose, Stream, Time};
use serde::{Deserialize, Serialize};

/// Flows that arrive as a Poisson process and end. They are drawn from the scenario's seed, into its
/// [`Scenario::flows`](crate::Scenario::flows), after those that last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Arrivals {
    /// What they have in common; arrivals begin at its start.
    pub flow: FlowSpec,
    /// How many arrive in a second, in the mean.
    pub per_second: f64,
    /// Bytes of each.
    pub size: FlowSizes,
    /// When arrivals end, if that is before the run's end.
    pub until: Option<Time>,
}

impl Arrivals {
    /// The flows that arrive in a run of this length under a seed, in the order of their arrival; never more than `room`.
    ///
    /// The gaps between arrivals are exponential, the first one from the start on. Gap and size come in turn from one
    /// stream.
    pub(super) fn draw(&self, seed: u64, duration: Time, room: usize) -> Vec<FlowSpec> {
        let end = self.until.unwrap_or(duration).min(duration);
        let mut stream = Stream::new(seed, Purpose::ShortFlows, 0);
        let mut flows = Vec::new();
        let mut at = self.flow.start.0;
        while flows.len() < room {
            let gap = -libm::log(1.0 - stream.uniform()) / self.per_second * 1e9;
            let bytes = self.size.draw(&mut stream);
            at = at.saturating_add(libm::round(gap) as u64);
            if at >= end.0 {
                break;
            }
            flows.push(FlowSpec { start: Time(at), bytes: Some(bytes), short: true, ..self.flow.clone() });
        }
        flows
    }

    /// How many flows arrive in a run of this length, in the mean.
    pub fn expected(&self, duration: Time) -> f64 {
        let end = self.until.unwrap_or(duration).min(duration);
        self.per_second * Time(end.0.saturating_sub(self.flow.start.0)).as_secs_f64()
    }

    /// What is wrong with it, and what would be right; none if nothing is.
    pub fn problem(&self, duration: Time) -> Option<String> {
        // The number that arrives has a deviation of its square root: a tenth is room enough.
        let most = 0.9 * f64::from(MAX_FLOWS);
        let expected = self.expected(duration);
        if let Some(problem) = self.size.problem() {
            Some(problem)
        } else if !(self.per_second > 0.0 && self.per_second.is_finite()) {
            Some(
                "flows must arrive at a rate of more than nothing: write `rate=50/s`, for example".to_owned(),
            )
        } else if expected > most {
            let many = "take a lower rate or load, larger flows, or a shorter time";
            Some(format!("{expected:.0} flows would arrive, and {most:.0} are the most: {many}"))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AlgorithmSpec, Distribution, ReceiverBehaviour, Traffic, Transport};

    fn arrivals() -> Arrivals {
        let flow = FlowSpec {
            algorithm: AlgorithmSpec { name: "cubic".to_owned(), ..AlgorithmSpec::default() },
            route: vec![0],
            ack_route: vec![1],
            start: Time::from_secs(2),
            stop: None,
            bytes: None,
            traffic: Traffic::Bulk,
            deadline: None,
            group: None,
            short: true,
            reverse: false,
            receiver: ReceiverBehaviour::Honest,
            transport: Transport::Tcp,
        };
        Arrivals {
            flow,
            per_second: 100.0,
            size: FlowSizes::Named(Distribution::Constant(30_000)),
            until: Some(Time::from_secs(52)),
        }
    }

    #[test]
    fn come_as_a_poisson_process() {
        let duration = Time::from_secs(100);
        let flows = arrivals().draw(1, duration, usize::MAX);
        assert_eq!(arrivals().expected(duration), 5000.0);
        // A Poisson number: its deviation is sqrt(5000) = 71. Six of them are allowed.
        assert!((4575..5425).contains(&flows.len()), "{}", flows.len());
        assert!(flows.is_sorted_by_key(|flow| flow.start));
        let (first, last) = (flows[0].start, flows[flows.len() - 1].start);
        assert!(first >= Time::from_secs(2) && last < Time::from_secs(52), "{first} to {last}");
        // Of exponential gaps 1/e are longer than the mean, 10 ms: binomial, with a deviation of 0.7 %.
        let longer = flows.windows(2).filter(|pair| pair[1].start.0 - pair[0].start.0 > 10_000_000).count();
        let share = longer as f64 / flows.len() as f64;
        assert!((share - 0.3679).abs() < 0.042, "{share}");
        assert!(flows.iter().all(|flow| flow.short && flow.bytes == Some(30_000)));
    }

    #[test]
    fn hang_on_the_seed_and_on_nothing_else() {
        let starts = |seed, until| {
            let arrivals = Arrivals { until, ..arrivals() };
            let flows = arrivals.draw(seed, Time::from_secs(100), usize::MAX);
            flows.into_iter().map(|flow| flow.start).collect::<Vec<_>>()
        };
        assert_eq!(starts(1, None), starts(1, None));
        assert_ne!(starts(1, None)[0], starts(2, None)[0]);
        let (all, fewer) = (starts(1, None), starts(1, Some(Time::from_secs(10))));
        assert_eq!(all[..fewer.len()], fewer[..]);
    }

    #[test]
    fn too_many_are_refused() {
        let arrivals = Arrivals { per_second: 1e4, until: None, ..arrivals() };
        let problem = arrivals.problem(Time::from_secs(100)).expect("980,000 are too many");
        assert!(problem.starts_with("980000 flows would arrive, and 90000 are the most"), "{problem}");
        assert_eq!(Arrivals { per_second: 50.0, ..arrivals.clone() }.problem(Time::from_secs(100)), None);
        assert!(Arrivals { per_second: 0.0, ..arrivals }.problem(Time::from_secs(100)).is_some());
    }
}
