//! What is sampled: from a trace to lines.

use super::state;
use crate::measure::Measure;
use crate::sampled_throughput::{span, throughput, window};
use cwnd_cc::Observable;
use cwnd_metrics::jain_index;
use cwnd_plot::Axis;
use cwnd_scenario::{Sample, Scenario, Time, Trace};
use cwnd_study::Results;
use cwnd_study::STATE;
use std::collections::BTreeMap;

/// Jain's index is that of so much time.
const JAIN_WINDOW: Time = Time::from_secs(10);

/// Something that is sampled.
pub(in crate::figures) struct Quantity {
    pub measure: Measure,
    kind: Kind,
}

enum Kind {
    Cwnd,
    Ssthresh,
    Rtt,
    InFlight,
    Throughput,
    /// The mean over flows.
    MeanCwnd,
    /// Jain's index of what flows had acknowledged in 10 s.
    Jain,
    /// Of this link; none if no run has any.
    Queue(Option<String>),
    /// Of the algorithms' state.
    State(&'static Observable),
}

impl Quantity {
    /// The quantity of this name; an unknown name is the window. `queue` is the link whose queue is shown, and `scenarios` are
    /// those of the runs that are drawn.
    pub fn new<'a>(
        name: &str,
        queue: Option<&str>,
        scenarios: impl Iterator<Item = &'a Scenario>,
    ) -> Quantity {
        let state = name.strip_prefix(STATE).and_then(|name| state::find(scenarios, name));
        if let Some(observable) = state {
            let measure = match observable.unit {
                "s" | "bit/s" => Measure::si(observable.symbol, observable.unit),
                "1" => Measure::plain(observable.symbol, ""),
                unit => Measure::plain(observable.symbol, unit),
            };
            return Quantity { measure, kind: Kind::State(observable) };
        }
        let packets = |title| Measure::plain(title, "packets");
        let (measure, kind) = match name {
            "ssthresh" => (packets("ssthresh"), Kind::Ssthresh),
            "rtt" => (Measure::si("RTT", "s"), Kind::Rtt),
            "in_flight" => (packets("in flight"), Kind::InFlight),
            "throughput" => (Measure::si("throughput", "bit/s"), Kind::Throughput),
            "mean_cwnd" => (packets("mean cwnd"), Kind::MeanCwnd),
            "jain" => (Measure::plain("Jain's index", "").within(0.0, 1.0), Kind::Jain),
            "queue" => (packets("queue"), Kind::Queue(queue.map(str::to_owned))),
            _ => (packets("cwnd"), Kind::Cwnd),
        };
        Quantity { measure, kind }
    }

    /// The vertical axis of its panel.
    pub fn axis(&self, unit: &str) -> Axis {
        match self.kind {
            Kind::State(observable) if !observable.modes.is_empty() => {
                Axis::named(observable.symbol, observable.modes.iter().copied())
            }
            // A symbol keeps its letters as they are.
            Kind::State(_) => Axis::linear(&self.measure.title, unit).from(0.0),
            _ => Axis::linear(&self.measure.heading(), unit).from(0.0),
        }
    }

    /// Returns the value of state that it is.
    pub fn state(&self) -> Option<&'static Observable> {
        if let Kind::State(observable) = self.kind { Some(observable) } else { None }
    }

    pub fn is_mode(&self) -> bool {
        self.state().is_some_and(|observable| !observable.modes.is_empty())
    }

    pub fn is_queue(&self) -> bool {
        matches!(self.kind, Kind::Queue(_))
    }

    /// Whether it is one line of a run, whatever its flows.
    pub fn is_of_all(&self) -> bool {
        matches!(self.kind, Kind::MeanCwnd | Kind::Jain | Kind::Queue(_))
    }

    /// That line, if it is made of the samples of flows.
    pub fn of_all(&self, flows: &Flows<'_>) -> Option<Vec<(f64, f64)>> {
        match self.kind {
            Kind::MeanCwnd => Some(flows.mean(self).0),
            Kind::Jain => Some(flows.jain()),
            _ => None,
        }
    }

    /// The length of the queue over time; nothing if the run has no such queue.
    pub fn queue_points(&self, trace: &Trace) -> Vec<(f64, f64)> {
        let Kind::Queue(Some(link)) = &self.kind else { return Vec::new() };
        let Some(place) = trace.queues.iter().position(|name| name == link) else { return Vec::new() };
        let rows = trace.times.iter().zip(&trace.queue_lengths);
        rows.map(|(time, lengths)| (time.as_secs_f64(), lengths[place].into())).collect()
    }

    /// The value of one sample, given those of the same flow up to it (itself the last), and the flow's `state` if it is one.
    fn value(&self, trace: &Trace, upto: &[&Sample], window: f64, state: Option<&[f64]>) -> f64 {
        let Some(sample) = upto.last() else { return f64::NAN };
        if let Some(values) = state {
            return values.get(sample.time_index).copied().unwrap_or(f64::NAN);
        }
        match self.kind {
            Kind::Cwnd | Kind::MeanCwnd => sample.cwnd,
            Kind::Ssthresh if sample.ssthresh.is_finite() => sample.ssthresh,
            Kind::Rtt => sample.rtt.map_or(f64::NAN, Time::as_secs_f64),
            Kind::InFlight => sample.in_flight as f64,
            Kind::Throughput => throughput(upto, &trace.times, window).unwrap_or(f64::NAN),
            Kind::Ssthresh | Kind::Jain | Kind::Queue(_) | Kind::State(_) => f64::NAN,
        }
    }
}

/// The flows of a run that are shown: those that do not run against the others.
pub(in crate::figures) struct Flows<'a> {
    pub trace: &'a Trace,
    scenario: &'a Scenario,
    flows: BTreeMap<usize, Vec<&'a Sample>>,
}

/// A line, and a band around it.
type Spread = (Vec<(f64, f64)>, Vec<(f64, f64, f64)>);

impl<'a> Flows<'a> {
    pub fn new(scenario: &'a Scenario, trace: &'a Trace) -> Flows<'a> {
        let mut flows: BTreeMap<usize, Vec<&Sample>> = BTreeMap::new();
        let is_reverse = |flow: usize| scenario.flows.get(flow).is_some_and(|flow| flow.reverse);
        for sample in trace.samples.iter().filter(|sample| !is_reverse(sample.flow)) {
            flows.entry(sample.flow).or_default().push(sample);
        }
        Flows { trace, scenario, flows }
    }

    pub fn count(&self) -> usize {
        self.flows.len()
    }

    /// Each flow with its line; a sample time at which it has none is a gap.
    pub fn each(&self, quantity: &Quantity) -> impl Iterator<Item = (usize, Vec<(f64, f64)>)> {
        self.flows.iter().map(|(flow, samples)| (*flow, self.points(quantity, *flow, samples)))
    }

    /// The mean of all flows, and from the least to the greatest.
    pub fn mean(&self, quantity: &Quantity) -> Spread {
        let times = &self.trace.times;
        let mut at: Vec<(f64, f64, f64, f64)> =
            vec![(f64::INFINITY, 0.0, f64::NEG_INFINITY, 0.0); times.len()];
        let window = window(&self.trace.times);
        for (flow, samples) in &self.flows {
            let state = self.state(quantity, *flow);
            for i in 0..samples.len() {
                let value = quantity.value(self.trace, &samples[..=i], window, state);
                if value.is_finite() {
                    let (low, sum, high, count) = &mut at[samples[i].time_index];
                    (*low, *sum, *high, *count) =
                        (low.min(value), *sum + value, high.max(value), *count + 1.0);
                }
            }
        }
        let seconds = times.iter().map(|time| time.as_secs_f64());
        let rows = seconds.zip(&at).map(|(time, (low, sum, high, count))| match *count > 0.0 {
            true => ((time, sum / count), (time, *low, *high)),
            false => ((time, f64::NAN), (time, f64::NAN, f64::NAN)),
        });
        rows.unzip()
    }

    /// Jain's index of what flows had acknowledged, for each 10 s from the first sample on, at their end.
    fn jain(&self) -> Vec<(f64, f64)> {
        let times = &self.trace.times;
        let delivered = |flow: &[&Sample], index: usize| {
            let upto = flow.partition_point(|sample| sample.time_index <= index);
            upto.checked_sub(1).map_or(0, |last| flow[last].delivered_bytes)
        };
        let Some(mut begin) = times.first().map(|_| 0) else { return Vec::new() };
        let mut points = Vec::new();
        for (end, time) in times.iter().enumerate() {
            if time.0.saturating_sub(times[begin].0) >= JAIN_WINDOW.0 {
                let share =
                    |flow: &Vec<&Sample>| delivered(flow, end).saturating_sub(delivered(flow, begin)) as f64;
                points.push((
                    time.as_secs_f64(),
                    jain_index(&self.flows.values().map(share).collect::<Vec<_>>()),
                ));
                begin = end;
            }
        }
        points
    }

    /// The recorded state of a flow, if the quantity is one.
    fn state(&self, quantity: &Quantity, flow: usize) -> Option<&'a [f64]> {
        state::values(self.scenario, self.trace, flow, quantity.state()?)
    }

    fn points(&self, quantity: &Quantity, flow: usize, samples: &[&Sample]) -> Vec<(f64, f64)> {
        let window = window(&self.trace.times);
        let state = self.state(quantity, flow);
        let mut points = Vec::with_capacity(samples.len());
        for (i, sample) in samples.iter().enumerate() {
            let time = self.trace.times[sample.time_index].as_secs_f64();
            if i > 0 && samples[i - 1].time_index + 1 != sample.time_index {
                points.push((time, f64::NAN));
            }
            points.push((time, quantity.value(self.trace, &samples[..=i], window, state)));
        }
        if quantity.is_mode() { state::steps(&points) } else { points }
    }
}

/// How the lines were sampled, if all alike.
pub(super) fn window_note<'a>(show: &[String], traces: impl Iterator<Item = &'a Trace>) -> Option<String> {
    let traces: Vec<&Trace> = traces.collect();
    let gaps = traces.iter().flat_map(|t| t.times.windows(2)).map(|pair| pair[1].0.saturating_sub(pair[0].0));
    let (least, most) = gaps.fold((u64::MAX, 0), |(l, m), gap| (l.min(gap), m.max(gap)));
    let (Some(first), true) = (traces.first(), least == most) else { return None };
    let throughput = show.iter().any(|name| name == "throughput");
    let window =
        if throughput { format!("; throughput over {} s", round(span(&first.times))) } else { String::new() };
    let jain = if show.iter().any(|name| name == "jain") { "; Jain's index over 10 s" } else { "" };
    Some(format!("Sampled every {} s{window}{jain}.", Time(most).as_secs_f64()))
}

fn round(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}

/// The link whose queue is drawn: the bottleneck, unless another held more in some run.
pub(in crate::figures) fn queue<'a>(
    results: &Results,
    runs: impl Iterator<Item = (usize, &'a Trace)>,
) -> Option<String> {
    let mut greatest: Vec<(String, u32)> = Vec::new();
    for (cell, trace) in runs {
        let network = &results.study.cells[cell].scenario.network;
        let bottleneck = network.links.get(network.bottleneck).map(|link| link.name.as_str());
        // The bottleneck comes first, so that it wins a tie.
        let mut order: Vec<usize> = (0..trace.queues.len()).collect();
        order.sort_by_key(|place| Some(trace.queues[*place].as_str()) != bottleneck);
        for place in order {
            let most = trace.queue_lengths.iter().map(|lengths| lengths[place]).max().unwrap_or(0);
            match greatest.iter_mut().find(|(name, _)| *name == trace.queues[place]) {
                Some((_, known)) => *known = most.max(*known),
                None => greatest.push((trace.queues[place].clone(), most)),
            }
        }
    }
    let most = greatest.iter().map(|(_, most)| *most).max()?;
    greatest.into_iter().find(|(_, own)| *own == most).map(|(name, _)| name)
}
