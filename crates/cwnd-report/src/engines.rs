//! Two engines that answered the same: how far the simulator is from the kernel.
//!
//! - A **pair** is two cells that differ in the axis of engines alone, the one answered by the simulator, the other by a
//!   kernel: this host's, or one in a virtual machine.
//! - The **deviation** of a metric is the mean over repeats of (simulator - kernel), paired by seed, over the size of the
//!   kernel's mean. Its interval is that of the mean difference (Student's t, n - 1 degrees of freedom) over the same size:
//!   the kernel's mean is taken as it is. Runs of one seed start their flows alike; else nothing makes the two of a pair
//!   alike, so that the interval is rather too wide than too narrow.
//! - Of **curves**, the windows of the forward flows are averaged at each time, since no flow of the one run is a certain
//!   flow of the other. s(t) is the simulator's mean window at its sample times, k(t) the kernel's there, interpolated between
//!   its samples; times at which one of the two has no sample have no part. With the mean over these times written as E,
//!   the mean deviation is (E s - E k) / E k, and the distance is sqrt(E (s - k)^2) / E k.

use cwnd_metrics::statistics::Paired;
use cwnd_scenario::{Scenario, Trace};
use cwnd_study::{EngineKind, Results, Study};

/// Two cells that differ in their engines alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The cell that is simulated.
    pub sim: usize,
    /// The cell that a kernel answers: this host's, or one in a virtual machine.
    pub kernel: usize,
    /// What both are called: the labels on the other axes, and the kernel's engine if the study has several.
    pub label: String,
}

/// The pairs of a study, in the order of its cells; none without an axis of engines.
pub fn pairs(study: &Study) -> Vec<Pair> {
    let Some(axis) = study.engine_axis else { return Vec::new() };
    let others = |cell: usize| {
        let coordinates = study.cells[cell].coordinates.iter().enumerate();
        coordinates.filter(|(of, _)| *of != axis).map(|(_, point)| *point).collect::<Vec<_>>()
    };
    let of = |kind: EngineKind| (0..study.cells.len()).filter(move |cell| study.cells[*cell].engine == kind);
    let label = |cell: usize| {
        let points = study.axes.iter().zip(&study.cells[cell].coordinates).enumerate();
        let labels = points.filter(|(of, _)| *of != axis);
        labels.map(|(_, (axis, point))| axis.points[*point].label.as_str()).collect::<Vec<_>>().join(", ")
    };
    let kernels: Vec<EngineKind> = study.engines().into_iter().filter(|kind| kind.is_kernels()).collect();
    let of_kernel = |sim: usize, kind: EngineKind| {
        let kernel = of(kind).find(|kernel| others(*kernel) == others(sim))?;
        let parts = [label(sim), if kernels.len() > 1 { kind.to_string() } else { String::new() }];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Some(Pair { sim, kernel, label: parts.join(", ") })
    };
    of(EngineKind::Sim).flat_map(|sim| kernels.iter().filter_map(move |kind| of_kernel(sim, *kind))).collect()
}

/// How far a metric of the simulator is from the kernel's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    /// The simulator's mean, over the repeats that both have.
    pub sim: f64,
    /// The kernel's.
    pub kernel: f64,
    /// (simulator - kernel) / |kernel|; none if the kernel has 0.
    pub relative: Option<f64>,
    /// Half of its 95 % interval; none of a single repeat.
    pub half: Option<f64>,
    /// How many repeats both have.
    pub count: usize,
}

impl Deviation {
    /// Of the repeats of a pair that both have; none if there are none.
    pub fn of(results: &Results, pair: &Pair, metric: &str) -> Option<Deviation> {
        let runs = results.runs_of(pair.kernel).iter().zip(results.runs_of(pair.sim));
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        let both: Vec<(f64, f64)> = runs
            .filter_map(|(kernel, sim)| Some((finite(kernel.metric(metric))?, finite(sim.metric(metric))?)))
            .collect();
        let paired = Paired::of(&both)?;
        let mean = |of: fn(&(f64, f64)) -> f64| both.iter().map(of).sum::<f64>() / both.len() as f64;
        let (kernel, sim) = (mean(|both| both.0), mean(|both| both.1));
        let over = |value: f64| Some(value / kernel.abs()).filter(|value| value.is_finite());
        let half = paired.ci95.and_then(over);
        Some(Deviation { sim, kernel, relative: over(paired.mean_difference), half, count: both.len() })
    }

    /// Whether it is more than chance: its interval does not have 0 in it.
    pub fn is_significant(&self) -> bool {
        self.relative.zip(self.half).is_some_and(|(relative, half)| relative.abs() > half)
    }
}

/// How far a curve of the simulator is from the kernel's, as parts of the kernel's mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveDeviation {
    /// The simulator's mean less the kernel's.
    pub mean: f64,
    /// The root of the mean square of the distance.
    pub rms: f64,
    /// At how many times both have a value.
    pub times: usize,
}

impl CurveDeviation {
    /// Of the mean windows of two runs; none if they have no time in common, or the kernel's windows are nothing.
    pub fn of_windows(scenario: &Scenario, sim: &Trace, kernel: &Trace) -> Option<CurveDeviation> {
        CurveDeviation::of(&mean_windows(scenario, sim), &mean_windows(scenario, kernel))
    }

    /// Of two curves, each in the order of its times.
    pub fn of(sim: &[(f64, f64)], kernel: &[(f64, f64)]) -> Option<CurveDeviation> {
        let both: Vec<(f64, f64)> =
            sim.iter().filter_map(|(time, value)| Some((*value, at(kernel, *time)?))).collect();
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| both.iter().map(of).sum::<f64>() / both.len() as f64;
        let (own, others) = (mean(&|(sim, _)| *sim), mean(&|(_, kernel)| *kernel));
        let square = mean(&|(sim, kernel)| (sim - kernel) * (sim - kernel));
        let (mean, rms) = ((own - others) / others, square.sqrt() / others);
        (mean.is_finite() && rms.is_finite()).then_some(CurveDeviation { mean, rms, times: both.len() })
    }
}

/// The mean window of the forward flows at each time at which any is sampled.
fn mean_windows(scenario: &Scenario, trace: &Trace) -> Vec<(f64, f64)> {
    let mut sums = vec![(0.0, 0u32); trace.times.len()];
    let is_reverse = |flow: usize| scenario.flows.get(flow).is_some_and(|flow| flow.reverse);
    for sample in trace.samples.iter().filter(|sample| !is_reverse(sample.flow)) {
        if let Some((sum, count)) = sums.get_mut(sample.time_index) {
            (*sum, *count) = (*sum + sample.cwnd, *count + 1);
        }
    }
    let sampled = trace.times.iter().zip(sums).filter(|(_, (_, count))| *count > 0);
    sampled.map(|(time, (sum, count))| (time.as_secs_f64(), sum / f64::from(count))).collect()
}

/// The value of a curve at a time, interpolated; none outside of it.
fn at(curve: &[(f64, f64)], time: f64) -> Option<f64> {
    let behind = curve.partition_point(|(known, _)| *known < time);
    let (later, value) = *curve.get(behind)?;
    if later == time {
        return Some(value);
    }
    let (earlier, before) = *curve.get(behind.checked_sub(1)?)?;
    Some(before + (value - before) * (time - earlier) / (later - earlier))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: s = 2, 4, 6 at 1, 2, 3 s; k = 1 at 0 s and 5 at 4 s, so 2, 3, 4 there. E s = 4, E k = 3, and the squares of
    /// 0, 1, 2 have the mean 5/3.
    #[test]
    fn curves_by_hand() {
        let (sim, kernel) = ([(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)], [(0.0, 1.0), (4.0, 5.0)]);
        let found = CurveDeviation::of(&sim, &kernel).unwrap();
        assert!((found.mean - 1.0 / 3.0).abs() < 1e-15, "{found:?}");
        assert!((found.rms - (5.0f64 / 3.0).sqrt() / 3.0).abs() < 1e-15, "{found:?}");
        assert_eq!(found.times, 3);
    }

    #[test]
    fn curves_are_compared_where_both_are() {
        let sim = [(0.0, 9.0), (1.0, 2.0), (2.0, 2.0), (3.0, 9.0)];
        let found = CurveDeviation::of(&sim, &[(1.0, 1.0), (2.0, 1.0)]).unwrap();
        assert_eq!((found.mean, found.rms, found.times), (1.0, 1.0, 2));
        assert_eq!(CurveDeviation::of(&sim, &[]), None);
        assert_eq!(CurveDeviation::of(&sim, &[(4.0, 1.0), (5.0, 1.0)]), None);
        assert_eq!(CurveDeviation::of(&sim, &[(0.0, 0.0), (3.0, 0.0)]), None);
    }
}
