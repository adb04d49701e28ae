//! The metrics of a run, with names that runs share.

use cwnd_metrics::{Metric, full_name};
use cwnd_scenario::{Outcome, Scenario};
use std::{collections::BTreeMap, ops::Index, sync::Arc};

/// Names in order, each once.
pub(crate) type Names = Arc<[String]>;

/// The metrics of a run by name; one that could not be measured is not there. Runs with the same metrics share the names, so
/// that each run holds its numbers alone.
#[derive(Clone, Debug, Default)]
pub struct MetricValues {
    names: Names,
    /// A value for each name.
    values: Box<[f64]>,
}

impl MetricValues {
    /// Returns the value of a metric, if it is there.
    pub fn get(&self, name: &str) -> Option<&f64> {
        Some(&self.values[self.names.binary_search_by(|own| own.as_str().cmp(name)).ok()?])
    }

    /// Returns the names, in order.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }

    /// Returns the metrics in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &f64)> {
        self.names.iter().zip(&self.values)
    }

    /// Adds a metric, or replaces its value. The names are then no longer shared with other runs.
    pub fn insert(&mut self, name: String, value: f64) {
        SharedNames::default().add(self, &name, value);
    }

    /// Returns the names, which other runs may have as well.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the values in the order of the names.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }
}

impl PartialEq for MetricValues {
    fn eq(&self, other: &MetricValues) -> bool {
        self.names == other.names && self.values == other.values
    }
}

impl Index<&str> for MetricValues {
    type Output = f64;

    fn index(&self, name: &str) -> &f64 {
        self.get(name).unwrap_or_else(|| panic!("there is no metric {name}"))
    }
}

impl From<BTreeMap<String, f64>> for MetricValues {
    fn from(values: BTreeMap<String, f64>) -> MetricValues {
        let (names, values): (Vec<String>, Vec<f64>) = values.into_iter().unzip();
        MetricValues { names: names.into(), values: values.into() }
    }
}

impl FromIterator<(String, f64)> for MetricValues {
    fn from_iter<I: IntoIterator<Item = (String, f64)>>(values: I) -> MetricValues {
        values.into_iter().collect::<BTreeMap<_, _>>().into()
    }
}

impl<const N: usize> From<[(String, f64); N]> for MetricValues {
    fn from(values: [(String, f64); N]) -> MetricValues {
        values.into_iter().collect()
    }
}

/// Computes the metrics of runs, and gives the same names to runs with the same metrics.
#[derive(Default)]
pub(crate) struct SharedNames {
    /// The metrics of the runs before, those of the last run first.
    shapes: Vec<Shape>,
    /// The names to which a metric was added last: before, the metric, after.
    added: Option<(Names, String, Names)>,
    /// The metrics of the run that is being read, as they come.
    found: Vec<f64>,
}

/// A metric, and what it is of (`flow2`; empty for the run). Metrics of the same follow each other and share the text, so that few texts
/// are compared again and again.
type OfWhat = (Arc<str>, &'static Metric);

/// Which metrics a run has, in the order in which they come.
struct Shape {
    metrics: Vec<OfWhat>,
    names: Names,
    /// For each name the place of its metric.
    places: Vec<usize>,
}

impl SharedNames {
    /// Runs of other shapes are forgotten: a metric is rarely there in one repeat and not in the next.
    const MOST_SHAPES: usize = 8;

    /// Computes the metrics of a run.
    pub fn values(&mut self, scenario: &Scenario, outcome: &Outcome) -> MetricValues {
        let found = &mut self.found;
        found.clear();
        // As long as everything comes as in the last run, no name is made.
        let mut other: Option<Vec<OfWhat>> = None;
        let last = self.shapes.first().map_or(&[][..], |shape| &shape.metrics);
        cwnd_metrics::visit(scenario, outcome, &mut |of, metric, value| {
            let place = found.len();
            found.push(value);
            match &mut other {
                Some(other) => push(other, of, metric),
                None => {
                    let is_same = |(known, same): &OfWhat| std::ptr::eq(*same, metric) && **known == *of;
                    if !last.get(place).is_some_and(is_same) {
                        let mut changed = last[..place].to_vec();
                        push(&mut changed, of, metric);
                        other = Some(changed);
                    }
                }
            }
        });
        let fewer = || last[..found.len()].to_vec();
        let other = other.or_else(|| (found.len() < last.len()).then(fewer));
        if let Some(metrics) = other {
            self.put_first(metrics);
        }
        let Some(shape) = self.shapes.first() else { return MetricValues::default() };
        let values = shape.places.iter().map(|place| self.found[*place]).collect();
        MetricValues { names: Arc::clone(&shape.names), values }
    }

    /// Makes the shape with these metrics the first.
    fn put_first(&mut self, metrics: Vec<OfWhat>) {
        let same = |shape: &Shape| {
            let all = shape.metrics.iter().zip(&metrics);
            shape.metrics.len() == metrics.len()
                && all.into_iter().all(|(one, other)| one.0 == other.0 && std::ptr::eq(one.1, other.1))
        };
        let shape = match self.shapes.iter().position(same) {
            Some(place) => self.shapes.remove(place),
            None => Shape::new(metrics),
        };
        self.shapes.insert(0, shape);
        self.shapes.truncate(SharedNames::MOST_SHAPES);
    }

    /// Adds a metric to a run, or replaces its value.
    pub fn add(&mut self, run: &mut MetricValues, name: &str, value: f64) {
        let place = match run.names.binary_search_by(|own| own.as_str().cmp(name)) {
            Ok(place) => {
                run.values[place] = value;
                return;
            }
            Err(place) => place,
        };
        let known =
            self.added.as_ref().filter(|(before, added, _)| Arc::ptr_eq(before, &run.names) && added == name);
        let names = match known {
            Some((.., after)) => Arc::clone(after),
            None => {
                let mut names = run.names.to_vec();
                names.insert(place, name.to_owned());
                let names: Names = names.into();
                self.added = Some((Arc::clone(&run.names), name.to_owned(), Arc::clone(&names)));
                names
            }
        };
        let mut values = std::mem::take(&mut run.values).into_vec();
        values.insert(place, value);
        *run = MetricValues { names, values: values.into() };
    }
}

/// Adds a metric, with the text of the one before if that is the same.
fn push(metrics: &mut Vec<OfWhat>, of: &str, metric: &'static Metric) {
    let before = metrics.last().map(|(before, _)| before).filter(|before| ***before == *of);
    let of = before.map_or_else(|| of.into(), Arc::clone);
    metrics.push((of, metric));
}

impl Shape {
    fn new(metrics: Vec<OfWhat>) -> Shape {
        // Of two with the same name the later counts.
        let named = metrics.iter().enumerate().map(|(place, (of, metric))| (full_name(of, metric), place));
        let (names, places): (Vec<String>, Vec<usize>) =
            named.collect::<BTreeMap<_, _>>().into_iter().unzip();
        Shape { metrics, names: names.into(), places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{STUDY, Toy, study};
    use cwnd_scenario::Engine;

    /// Returns what the toy engine gives for a number of flows.
    fn run(flows: u32) -> (Scenario, Outcome) {
        let study = study(&STUDY.replace("flows = 2", &format!("flows = {flows}")));
        let scenario = study.scenario(0, 0);
        let outcome = Toy::default().run(&scenario).expect("a run");
        (scenario, outcome)
    }

    #[test]
    fn runs_with_the_same_metrics_share_their_names_and_have_their_own_values() {
        let mut names = SharedNames::default();
        let (one, two) = (run(1), run(2));
        let all = [&one, &one, &two, &one].map(|(scenario, outcome)| names.values(scenario, outcome));
        for (values, (scenario, outcome)) in all.iter().zip([&one, &one, &two, &one]) {
            assert_eq!(*values, MetricValues::from(cwnd_metrics::values(scenario, outcome)));
        }
        assert!(Arc::ptr_eq(all[0].names(), all[1].names()) && Arc::ptr_eq(all[0].names(), all[3].names()));
        assert!(all[2].get("flow2.throughput_bps").is_some() && all[3].get("flow2.throughput_bps").is_none());
    }

    #[test]
    fn a_metric_that_is_missing_in_one_run_changes_the_names_of_that_run_alone() {
        let (scenario, outcome) = run(2);
        let mut without = outcome.clone();
        // No round-trip time was measured.
        without.flows.iter_mut().for_each(|flow| flow.rtt_samples = 0);
        let mut names = SharedNames::default();
        for outcome in [&outcome, &without, &outcome, &without] {
            let expected = MetricValues::from(cwnd_metrics::values(&scenario, outcome));
            assert_eq!(names.values(&scenario, outcome), expected);
        }
        assert!(names.values(&scenario, &without).get("rtt_mean_s").is_none());
    }

    #[test]
    fn metrics_are_added_in_the_order_of_names() {
        let mut names = SharedNames::default();
        let mut runs = [1.0, 2.0].map(|value| MetricValues::from([("b".to_owned(), value)]));
        let shared = Arc::clone(runs[0].names());
        runs[1].names = shared;
        for (run, value) in runs.iter_mut().zip([5.0, 6.0]) {
            names.add(run, "a", value);
            names.add(run, "b", 10.0 * value);
        }
        assert_eq!(runs[1], MetricValues::from([("a".to_owned(), 6.0), ("b".to_owned(), 60.0)]));
        assert!(Arc::ptr_eq(runs[0].names(), runs[1].names()));
        assert_eq!((runs[0]["a"], runs[0].get("c")), (5.0, None));
    }
}
