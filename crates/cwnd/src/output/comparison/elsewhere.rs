//! A note where packets wait or are dropped elsewhere than at the bottleneck.

use super::{mean, number};
use cwnd_metrics::{QueueMetrics, RunMetrics};
use cwnd_scenario::Scenario;

/// The part of all drops, or of all waiting packets, that deserves a note.
const NOTED: f64 = 0.1;
/// Fewer packets than this, waiting in the mean of a run, are no queue.
const QUEUE: f64 = 1.0;

/// Returns what part of the drops and of the queueing of data packets happens elsewhere than at the bottleneck, and where, if
/// it is more than a tenth; none otherwise.
pub(super) fn note(scenario: &Scenario, runs: &[&RunMetrics]) -> Option<String> {
    let places = places(scenario);
    let part = |what: &str, least: f64, value: fn(&QueueMetrics) -> f64| {
        let sum = |place| mean(runs, |run| Some(queues_at(run, &places, place).map(value).sum()));
        let (here, there) = (sum(Place::Bottleneck)?, sum(Place::Elsewhere)?);
        let part = there / (here + there);
        (there >= least && part > NOTED).then(|| format!("{} % of {what}", number(part * 100.0, 0)))
    };
    let parts = [
        part("the dropped packets", 1.0, |queue| queue.dropped as f64),
        part("the waiting packets", QUEUE, |queue| queue.mean_packets),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| {
        let at = busiest(runs.iter().flat_map(|run| queues_at(run, &places, Place::Elsewhere)));
        format!("{} are not at the bottleneck but at other links, most at `{at}`", parts.join(" and "))
    })
}

/// Where a link is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// It is the bottleneck, or a hop that the report shows with it.
    Bottleneck,
    /// It is another link that data crosses forward.
    Elsewhere,
    /// Only ACKs cross it, which are no concern here, or nothing does.
    NotForward,
}

/// Returns where each link of a scenario is.
fn places(scenario: &Scenario) -> Vec<Place> {
    let links = &scenario.network.links;
    let mut places = vec![Place::NotForward; links.len()];
    for &link in scenario.flows.iter().filter(|flow| !flow.reverse).flat_map(|flow| &flow.route) {
        let is_own = link == scenario.network.bottleneck || links[link].name.starts_with("hop-");
        places[link] = if is_own { Place::Bottleneck } else { Place::Elsewhere };
    }
    places
}

/// Returns the queues of the links at a place. A run has a queue for each link, in their order.
fn queues_at<'a>(
    run: &'a RunMetrics,
    places: &'a [Place],
    wanted: Place,
) -> impl Iterator<Item = &'a QueueMetrics> {
    run.queues.iter().zip(places).filter(move |(_, place)| **place == wanted).map(|(queue, _)| queue)
}

/// Returns the name of the link at which most packets wait and are dropped.
fn busiest<'a>(queues: impl Iterator<Item = &'a QueueMetrics>) -> String {
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
