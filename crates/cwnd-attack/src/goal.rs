//! The metric by which two algorithms are compared on a path.

use cwnd_metrics::{Better, Metric, Scope, find, split, values};
use cwnd_scenario::{Outcome, Scenario, nearest};

/// The group of the flow under test. Cross traffic is in [`CROSS`].
pub const OWN: &str = "own";
/// The group of cross traffic.
pub const CROSS: &str = "cross";

/// The metric that is to be worst, and what a difference in it counts.
#[derive(Clone)]
pub struct Goal {
    /// The name by which studies have it. That of a metric which can be measured of groups is of the flow under test:
    /// `own.utilisation`.
    pub name: String,
    /// The metric.
    pub metric: &'static Metric,
}

impl Goal {
    /// Finds a metric by the name that a user gives: `utilisation`, `bottleneck.mean_packets`.
    ///
    /// # Errors
    /// There is none of this name, or it is not one of which more or less is better, or no simulated run has it.
    pub fn new(name: &str) -> Result<Goal, String> {
        let (of, own) = split(name);
        let Some(metric) = cwnd_metrics::all().find(|metric| metric.name == own) else {
            let meant = nearest(own, cwnd_metrics::all().map(|metric| metric.name));
            let hint =
                meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_else(|| ":".to_owned());
            return Err(format!("there is no metric `{name}`{hint} `cwnd metrics` lists all"));
        };
        if metric.better == Better::Neither {
            return Err(format!("neither more nor less of `{own}` is better, so no path is the worst by it"));
        }
        if metric.is_of_emulation() || metric.is_of(Scope::Comparison) {
            return Err(format!(
                "`{own}` is not measured of a simulated run: take another of `cwnd metrics`"
            ));
        }
        let name = match of {
            // Fairness is that between the groups.
            None if metric.is_of(Scope::Algorithm) && !own.starts_with("jain_") => format!("{OWN}.{own}"),
            None if !metric.is_of(Scope::Run) => format!("bottleneck.{own}"),
            _ => name.to_owned(),
        };
        match find(&name) {
            Some(_) if [None, Some(OWN), Some(CROSS), Some("bottleneck")].contains(&split(&name).0) => {
                Ok(Goal { name, metric })
            }
            _ => Err(format!(
                "`{name}` is not measured on these paths: flows are in the groups `{OWN}` and `{CROSS}`, and the link is \
                 `bottleneck`, as in `{OWN}.throughput_bps` or `bottleneck.mean_packets`"
            )),
        }
    }

    /// Returns its value in a run; none if it cannot be measured.
    pub fn value(&self, scenario: &Scenario, outcome: &Outcome) -> Option<f64> {
        values(scenario, outcome).get(&self.name).copied()
    }

    /// Returns how much worse the candidate is than the reference, negative if it is better: of a metric between 0 and 1 the
    /// difference, of others the difference divided by the larger of the two. It is at most 1.
    pub fn effect(&self, candidate: f64, reference: f64) -> f64 {
        let worse = match self.metric.better {
            Better::Less => candidate - reference,
            Better::More | Better::Neither => reference - candidate,
        };
        let larger = candidate.abs().max(reference.abs());
        match self.is_share() {
            true => worse,
            false if larger > 0.0 => worse / larger,
            false => 0.0,
        }
    }

    /// Whether all values are between 0 and 1.
    pub fn is_share(&self) -> bool {
        self.metric.range.least >= 0.0 && self.metric.range.most <= 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(name: &str) -> Goal {
        Goal::new(name).unwrap_or_else(|why| panic!("{why}"))
    }

    #[test]
    fn names_are_those_of_studies() {
        assert_eq!(goal("utilisation").name, "own.utilisation");
        assert_eq!(goal("bottleneck.mean_packets").name, "bottleneck.mean_packets");
        assert_eq!(goal("mean_packets").name, "bottleneck.mean_packets");
        assert_eq!(goal("jain_index").name, "jain_index");
        assert_eq!(goal("cross.throughput_bps").name, "cross.throughput_bps");
        let refused = |name: &str| Goal::new(name).err().expect("refused");
        assert!(refused("utilization").contains("did you mean `utilisation`?"));
        assert!(refused("flow7.utilisation").contains("not measured on these paths"));
    }

    /// By hand: of a share 0.9 - 0.2; of seconds (0.3 - 0.1) / 0.3.
    #[test]
    fn effects_are_positive_where_the_candidate_is_worse() {
        assert!((goal("utilisation").effect(0.2, 0.9) - 0.7).abs() < 1e-12);
        assert!((goal("rtt_mean_s").effect(0.3, 0.1) - 2.0 / 3.0).abs() < 1e-12);
        assert!((goal("throughput_bps").effect(2e6, 1e6) + 0.5).abs() < 1e-12);
        assert_eq!(goal("throughput_bps").effect(0.0, 0.0), 0.0);
    }
}
