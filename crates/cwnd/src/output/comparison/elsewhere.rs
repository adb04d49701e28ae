//! A note where packets wait or are dropped elsewhere than at the bottleneck.

use super::{mean, number};
use cwnd_metrics::{QueueMetrics, RunMetrics};
use cwnd_scenario::Scenario;
use std::collections::BTreeSet;

/// The part of all drops, or of all waiting packets, that deserves a note.
const NOTED: f64 = 0.1;
/// Fewer packets than this, waiting in the mean of a run, are no queue.
const QUEUE: f64 = 1.0;

/// Returns what part of the drops and of the queueing of data packets happens elsewhere than at the bottleneck, and where, if
/// it is more than a tenth; none otherwise.
pub(super) fn note(scenario: &Scenario, runs: &[&RunMetrics]) -> Option<String> {
    let links = &scenario.network.links;
    let bottleneck = &links[scenario.network.bottleneck];
    let own = |name: &str| name == bottleneck.name || name.starts_with("hop-");
    // What data crosses forward; ACKs wait elsewhere, and are no concern here.
    let flows = scenario.flows.iter().filter(|flow| !flow.reverse);
    let crossed: BTreeSet<&str> =
        flows.flat_map(|flow| &flow.route).map(|&link| links[link].name.as_str()).collect();
    let part = |what: &str, least: f64, value: fn(&QueueMetrics) -> f64| {
        let sum = |elsewhere: bool| {
            mean(runs, |run| {
                let of = run.queues.iter().filter(|queue| crossed.contains(queue.link.as_str()));
                Some(of.filter(|queue| own(&queue.link) != elsewhere).map(value).sum())
            })
        };
        let (here, there) = (sum(false)?, sum(true)?);
        let part = there / (here + there);
        (there >= least && part > NOTED).then(|| format!("{} % of {what}", number(part * 100.0, 0)))
    };
    let parts = [
        part("the dropped packets", 1.0, |queue| queue.dropped as f64),
        part("the waiting packets", QUEUE, |queue| queue.mean_packets),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| {
        let at = busiest(runs, |queue| crossed.contains(queue.link.as_str()) && !own(&queue.link));
        format!("{} are not at the bottleneck but at other links, most at `{at}`", parts.join(" and "))
    })
}

/// Returns the name of the link at which most packets wait and are dropped, of those that `is` holds for.
fn busiest(runs: &[&RunMetrics], is: impl Fn(&QueueMetrics) -> bool) -> String {
    let queues = runs.iter().flat_map(|run| &run.queues).filter(|queue| is(queue));
    let busy = |queue: &&QueueMetrics| (queue.dropped as f64, queue.mean_packets);
    let most = queues.max_by(|a, b| busy(a).partial_cmp(&busy(b)).unwrap_or(std::cmp::Ordering::Equal));
    most.map_or_else(String::new, |queue| queue.link.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_experiment::{ExperimentSpec, FlowGroup};
    use cwnd_scenario::{LinkOutcome, Outcome, Time};

    /// Returns the note on a dumbbell with two flows, given the drops and the waiting packets at the bottleneck and at the first
    /// access link.
    fn noted(bottleneck: (u64, f64), access: (u64, f64)) -> Option<String> {
        let spec = ExperimentSpec { duration: Time::from_secs(1), ..ExperimentSpec::default() };
        let scenario = spec.scenario(&[FlowGroup::new("cubic".parse().unwrap(), 2)], 1).unwrap();
        let link = |name: &String| {
            let (dropped, waiting_integral) = match name.as_str() {
                "bottleneck" => bottleneck,
                "access-1" => access,
                // ACKs.
                "bottleneck-reverse" => (1_000, 1_000.0),
                _ => (0, 0.0),
            };
            LinkOutcome { name: name.clone(), dropped, waiting_integral, ..LinkOutcome::default() }
        };
        let links = scenario.network.links.iter().map(|spec| link(&spec.name)).collect();
        let flows = vec![cwnd_scenario::FlowOutcome::default(); 2];
        let outcome = Outcome { end: scenario.duration, flows, links, ..Outcome::default() };
        note(&scenario, &[&RunMetrics::new(&scenario, &outcome)])
    }

    #[test]
    fn more_than_a_tenth_elsewhere_is_noted() {
        assert_eq!(noted((90, 90.0), (10, 10.0)), None);
        assert_eq!(noted((0, 0.0), (0, 0.9)), None);
        let drops =
            "20 % of the dropped packets are not at the bottleneck but at other links, most at `access-1`";
        assert_eq!(noted((80, 100.0), (20, 1.0)).as_deref(), Some(drops));
        let both = "100 % of the dropped packets and 50 % of the waiting packets are not at the bottleneck but at other \
                    links, most at `access-1`";
        assert_eq!(noted((0, 7.0), (3, 7.0)).as_deref(), Some(both));
    }
}
