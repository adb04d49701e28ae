//! The functions behind the metrics that are made from samples over time.

use super::view::{Flows, View, jain_index, mean_of, transmission};
use crate::{Rate, SampleState, Time, Trace, statistics::percentile};

/// A window counts as at its maximum from the first sample that is within this part of the greatest one.
const AT_MAXIMUM: f64 = 0.95;
/// Utilisation over which a flow has converged.
const FULL: f64 = 0.95;
/// The window of time over which that is looked at.
const SECOND: Time = Time::from_secs(1);
/// Jain's index from which shares are even.
const EVEN: f64 = 0.9;
/// The window of time over which that is looked at.
const FIVE_SECONDS: Time = Time::from_secs(5);

pub(super) fn cwnd_max(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    mean_of(flows, |flow| greatest_window(view, flow))
}

pub(super) fn time_to_cwnd_max_s(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let times = &view.outcome.trace.as_ref()?.times;
    mean_of(flows, |flow| {
        let enough = AT_MAXIMUM * greatest_window(view, flow)?;
        let first = view.samples.as_ref()?[flow].iter().find(|sample| sample.cwnd >= enough)?;
        Some(super::view::between(view.flow(flow).start, times[first.time_index]))
    })
}

pub(super) fn epoch_time_s(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let times = &view.outcome.trace.as_ref()?.times;
    let samples = view.samples.as_ref()?;
    mean_of(flows, |flow| {
        // An episode that is under way when the counting begins has no beginning.
        let mut was_reducing = true;
        let mut begins = Vec::new();
        for sample in &samples[flow] {
            let is_reducing = !matches!(sample.state, SampleState::Open | SampleState::Disorder);
            if is_reducing && !was_reducing {
                begins.push(times[sample.time_index]);
            }
            was_reducing = is_reducing;
        }
        let (first, last) = (begins.first()?, begins.last()?);
        let epochs = begins.len() - 1;
        (epochs > 0).then(|| super::view::between(*first, *last) / epochs as f64)
    })
}

fn greatest_window(view: &View<'_>, flow: usize) -> Option<f64> {
    let samples = &view.samples.as_ref()?[flow];
    samples.iter().map(|sample| sample.cwnd).max_by(f64::total_cmp)
}

pub(super) fn rtt_percentile(view: &View<'_>, flows: Flows<'_>, percent: f64) -> Option<f64> {
    let samples = view.samples.as_ref()?;
    let rtts = flows.iter().flat_map(|flow| &samples[*flow]).filter_map(|sample| sample.rtt);
    percentile(&rtts.map(Time::as_secs_f64).collect::<Vec<_>>(), percent)
}

pub(super) fn queue_delay_percentile(view: &View<'_>, flows: Flows<'_>, percent: f64) -> Option<f64> {
    let trace = view.outcome.trace.as_ref()?;
    let samples = view.samples.as_ref()?;
    let links = &view.scenario.network.links;
    let bytes = f64::from(view.scenario.stack.full_packet());
    let mut delays = Vec::new();
    for flow in flows {
        // For each sampled queue on the flow's way, its place in the trace and what a packet in it costs.
        let queues: Vec<(usize, f64)> = view.scenario.flows[*flow]
            .route
            .iter()
            .filter_map(|link| {
                let queue = trace.queues.iter().position(|name| *name == links[*link].name)?;
                Some((queue, transmission(links[*link].rate, bytes)))
            })
            .collect();
        delays.extend(samples[*flow].iter().map(|sample| {
            let lengths = &trace.queue_lengths[sample.time_index];
            queues.iter().map(|(queue, each)| f64::from(lengths[*queue]) * each).sum::<f64>()
        }));
    }
    percentile(&delays, percent)
}

pub(super) fn convergence_time_s(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let network = &view.scenario.network;
    let rate = network.links.get(network.bottleneck)?.rate;
    if rate == Rate::UNLIMITED || rate.0 == 0 {
        return None;
    }
    let stack = &view.scenario.stack;
    // Samples count payload; the link carries headers too.
    let wire = f64::from(stack.full_packet()) / f64::from(stack.payload.max(1));
    let acknowledged = Acknowledged::of(view, flows, SECOND)?;
    let enough = FULL * rate.0 as f64 / 8.0 / wire;
    let window = acknowledged.windows(1).find(|window| acknowledged.total(*window) > enough)?;
    Some((window + 1) as f64)
}

pub(super) fn fairness_time_s(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let acknowledged = Acknowledged::of(view, flows, SECOND)?;
    let seconds = (FIVE_SECONDS.0 / SECOND.0) as usize;
    // What flows that have stopped leave to the others is no matter of fairness.
    let ends = flows.iter().map(|flow| {
        let flow = view.flow(*flow);
        flow.stop.unwrap_or(Time(u64::MAX)).min(flow.completed.unwrap_or(Time(u64::MAX)))
    });
    let end = ends.min()?;
    let even = |window: usize| jain_index(&acknowledged.shares(window, seconds)) >= EVEN;
    let last =
        acknowledged.windows(seconds).rfind(|window| ((window + seconds) as u64) * SECOND.0 <= end.0)?;
    let begins = acknowledged.windows(seconds).filter(|window| *window <= last);
    // From the end backwards, as long as all windows are even.
    let first = begins.rev().take_while(|window| even(*window)).last()?;
    Some(first as f64)
}

/// What each flow had acknowledged at 0 s, 1 s, 2 s, … of the run.
struct Acknowledged {
    /// The first of these times that counts.
    first: usize,
    /// For each flow and time, payload bytes.
    bytes: Vec<Vec<u64>>,
}

impl Acknowledged {
    /// None if there are no samples at these times.
    fn of(view: &View<'_>, flows: Flows<'_>, every: Time) -> Option<Acknowledged> {
        let trace: &Trace = view.outcome.trace.as_ref()?;
        let count = (view.outcome.end.0 / every.0) as usize + 1;
        let mut places = vec![None; count];
        for (index, time) in trace.times.iter().enumerate().filter(|(_, time)| time.0 % every.0 == 0) {
            if let Some(place) = places.get_mut((time.0 / every.0) as usize) {
                *place = Some(index);
            }
        }
        let places: Vec<usize> = places.into_iter().collect::<Option<_>>()?;
        let samples = view.samples.as_ref()?;
        let of_flow = |flow: &usize| {
            let mut bytes = vec![0; count];
            for sample in &samples[*flow] {
                if let Ok(place) = places.binary_search(&sample.time_index) {
                    bytes[place] = sample.delivered_bytes;
                }
            }
            bytes
        };
        let first = view.outcome.begin.0.div_ceil(every.0) as usize;
        Some(Acknowledged { first, bytes: flows.iter().map(of_flow).collect() })
    }

    /// Where windows of so many steps begin.
    fn windows(&self, steps: usize) -> std::ops::Range<usize> {
        let times = self.bytes.first().map_or(0, Vec::len);
        self.first..times.saturating_sub(steps).max(self.first)
    }

    fn total(&self, window: usize) -> f64 {
        self.shares(window, 1).iter().sum()
    }

    /// What each flow had acknowledged within a window.
    fn shares(&self, window: usize, steps: usize) -> Vec<f64> {
        let share = |bytes: &Vec<u64>| bytes[window + steps].saturating_sub(bytes[window]) as f64;
        self.bytes.iter().map(share).collect()
    }
}
