//! Values of the algorithms' own state in a figure over time.

use cwnd_cc::Observable;
use cwnd_scenario::{Scenario, Trace};

/// What the algorithm of a flow shows under this name.
fn shown(scenario: &Scenario, flow: usize, name: &str) -> Option<&'static Observable> {
    let algorithm = &scenario.flows.get(flow)?.algorithm.name;
    cwnd_cc::find(algorithm)?.observables.iter().find(|observable| observable.name == name)
}

/// Returns what is shown under this name: that of the first algorithm of these scenarios that has it.
pub fn find<'a>(
    mut scenarios: impl Iterator<Item = &'a Scenario>,
    name: &str,
) -> Option<&'static Observable> {
    scenarios.find_map(|scenario| (0..scenario.flows.len()).find_map(|flow| shown(scenario, flow, name)))
}

/// Returns the values of a flow; none if they were not recorded, or its algorithm means something else by the name.
pub fn values<'a>(
    scenario: &Scenario,
    trace: &'a Trace,
    flow: usize,
    observable: &Observable,
) -> Option<&'a [f64]> {
    let own = shown(scenario, flow, observable.name)?;
    let same = own.unit == observable.unit && own.modes == observable.modes;
    if same { trace.observed(flow, observable.name) } else { None }
}

/// Returns the points of a line that keeps each value until the next.
pub fn steps(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut stepped: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for &(time, value) in points {
        if let Some(&(_, before)) = stepped.last()
            && before != value
            && before.is_finite()
        {
            stepped.push((time, before));
        }
        stepped.push((time, value));
    }
    stepped
}

#[cfg(test)]
mod tests {
    use super::steps;

    #[test]
    fn a_mode_holds_until_the_next() {
        let points = [(0.0, 1.0), (1.0, 1.0), (2.0, 3.0)];
        assert_eq!(steps(&points), [(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (2.0, 3.0)]);
        // A gap stays a gap.
        let gap = steps(&[(0.0, f64::NAN), (1.0, 2.0), (2.0, f64::NAN)]);
        assert_eq!((gap.len(), gap[1], gap[2]), (4, (1.0, 2.0), (2.0, 2.0)));
    }
}
