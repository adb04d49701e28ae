//! The functions behind the metrics that are made from samples over time.

use super::view::{Flows, View, jain_index, mean_of, transmission};
use crate::statistics::percentile;
use cwnd_scenario::{LinkSpec, Rate, SampleState, Time, Trace};

/// A window counts as at its maximum from the first sample that is within this part of the greatest one.
const AT_MAXIMUM: f64 = 0.95;
/// Utilisation over which a flow has converged.
const FULL: f64 = 0.95;
/// The window of time over which that is looked at.
const SECOND: Time = Time::from_secs(1);
/// Jain's index from which shares are even.
const EVEN: f64 = 0.9;
/// The window of time over which that is looked at, in seconds.
const FIVE_SECONDS: usize = 5;
/// The one of which Jain's index is averaged, in seconds.
const TEN_SECONDS: usize = 10;

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

pub(super) fn backoff_factor(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let samples = view.samples.as_ref()?;
    mean_of(flows, |flow| {
        let mut greatest: f64 = 0.0;
        for sample in &samples[flow] {
            greatest = greatest.max(sample.cwnd);
            if !matches!(sample.state, SampleState::Open | SampleState::Disorder) {
                return Some(sample.ssthresh / greatest).filter(|kept| kept.is_finite());
            }
        }
        None
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
    let mut delays = Vec::new();
    for flow in flows {
        // The sampled queues on the flow's way, with their places in the trace.
        let links = view.scenario.flows[*flow].route.iter().map(|link| &view.scenario.network.links[*link]);
        let queues: Vec<(usize, &LinkSpec)> = links
            .filter_map(|link| Some((trace.queues.iter().position(|name| *name == link.name)?, link)))
            .collect();
        delays.extend(samples[*flow].iter().map(|sample| {
            let (time, lengths) = (trace.times[sample.time_index], &trace.queue_lengths[sample.time_index]);
            let wait = |(queue, link): &(usize, &LinkSpec)| wait_s(view, link, time, lengths[*queue]);
            queues.iter().map(wait).sum::<f64>()
        }));
    }
    percentile(&delays, percent)
}

/// A percentile of what a packet that comes to a link's queue at a sample time waits there, seconds; none if the link has no
/// rate, or its queue is not sampled.
pub(super) fn link_queue_delay_percentile(view: &View<'_>, link: usize, percent: f64) -> Option<f64> {
    let trace = view.outcome.trace.as_ref()?;
    let spec = view.scenario.network.links.get(link)?;
    let queue = trace.queues.iter().position(|name| *name == spec.name)?;
    spec.mean_rate(view.outcome.begin, view.outcome.end)?;
    let sampled = trace.times.iter().zip(&trace.queue_lengths);
    let counted = sampled.filter(|(time, _)| **time >= view.outcome.begin);
    let delays: Vec<f64> = counted.map(|(time, lengths)| wait_s(view, spec, *time, lengths[queue])).collect();
    percentile(&delays, percent)
}

/// How long `packets` full packets take to leave a link from a time on, at the rates that it has then, seconds. Those that it never
/// transmits wait until the end of the run: a lower bound, which depends on the run's duration.
fn wait_s(view: &View<'_>, link: &LinkSpec, from: Time, packets: u32) -> f64 {
    let full = view.scenario.stack.full_packet();
    if link.schedule.is_none() {
        return f64::from(packets) * transmission(link.rate, f64::from(full));
    }
    let bits = u64::from(packets) * u64::from(full) * 8;
    let until_end = || Time(view.outcome.end.0.saturating_sub(from.0)).as_secs_f64();
    link.scheduled_transmission_s(from, bits).unwrap_or_else(until_end)
}

pub(super) fn convergence_time_s(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let (acknowledged, enough) = full_seconds(view, flows)?;
    let first = acknowledged.windows(0, 1).find(|window| acknowledged.total(*window) > enough)?;
    Some((first + 1) as f64)
}

pub(super) fn converged(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let (acknowledged, enough) = full_seconds(view, flows)?;
    let is_full = acknowledged.windows(0, 1).any(|window| acknowledged.total(window) > enough);
    Some(f64::from(u8::from(is_full)))
}

/// What flows had acknowledged, and over how much of it in a second the bottleneck counts as full.
fn full_seconds(view: &View<'_>, flows: Flows<'_>) -> Option<(Acknowledged, f64)> {
    let network = &view.scenario.network;
    let rate = network.links.get(network.bottleneck)?.rate;
    if rate == Rate::UNLIMITED || rate.0 == 0 {
        return None;
    }
    let stack = &view.scenario.stack;
    // Samples count payload; the link carries headers too.
    let wire = f64::from(stack.full_packet()) / f64::from(stack.payload.max(1));
    Some((Acknowledged::of(view, flows)?, FULL * rate.0 as f64 / 8.0 / wire))
}

pub(super) fn fairness_first_s(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    even_windows(view, flows)?.iter().position(|even| *even).map(|first| first as f64)
}

pub(super) fn fairness_time_s(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let even = even_windows(view, flows)?;
    // From the end backwards, as long as all windows are even.
    let first = even.len() - even.iter().rev().take_while(|even| **even).count();
    (first < even.len()).then_some(first as f64)
}

/// For each window of 5 s that begins at 0 s, 1 s, 2 s, … and ends before the first flow does, whether shares in it are
/// even. What flows that have stopped leave to the others is no matter of fairness.
fn even_windows(view: &View<'_>, flows: Flows<'_>) -> Option<Vec<bool>> {
    let acknowledged = Acknowledged::of(view, flows)?;
    let ends = flows.iter().map(|flow| {
        let flow = view.flow(*flow);
        flow.stop.unwrap_or(Time(u64::MAX)).min(flow.completed.unwrap_or(Time(u64::MAX)))
    });
    let end = ends.min()?;
    let windows = acknowledged.windows(0, FIVE_SECONDS);
    let whole = windows.take_while(|window| (window + FIVE_SECONDS) as u64 * SECOND.0 <= end.0);
    Some(whole.map(|window| jain_index(&acknowledged.shares(window, FIVE_SECONDS)) >= EVEN).collect())
}

pub(super) fn jain_10s(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let indices = jain_every_10s(view, flows)?;
    super::view::mean(indices.iter().sum(), indices.len() as u64)
}

pub(super) fn jain_10s_least(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    jain_every_10s(view, flows)?.into_iter().min_by(f64::total_cmp)
}

/// One after the other from the first whole second of the counted time on.
fn jain_every_10s(view: &View<'_>, flows: Flows<'_>) -> Option<Vec<f64>> {
    let acknowledged = Acknowledged::of(view, flows)?;
    let begin = view.outcome.begin.0.div_ceil(SECOND.0) as usize;
    let windows = acknowledged.windows(begin, TEN_SECONDS).step_by(TEN_SECONDS);
    Some(windows.map(|window| jain_index(&acknowledged.shares(window, TEN_SECONDS))).collect())
}

/// What each flow had acknowledged at 0 s, 1 s, 2 s, … of the whole run, a warm-up included: for each flow and time,
/// payload bytes.
struct Acknowledged(Vec<Vec<u64>>);

impl Acknowledged {
    /// None if there are no samples at these times.
    fn of(view: &View<'_>, flows: Flows<'_>) -> Option<Acknowledged> {
        let trace: &Trace = view.outcome.trace.as_ref()?;
        let count = (view.outcome.end.0 / SECOND.0) as usize + 1;
        // For each sample time the second that it is.
        let second = |time: &Time| {
            Some((time.0 / SECOND.0) as usize).filter(|s| time.0.is_multiple_of(SECOND.0) && *s < count)
        };
        let seconds: Vec<Option<usize>> = trace.times.iter().map(second).collect();
        let mut sampled = vec![false; count];
        seconds.iter().flatten().for_each(|second| sampled[*second] = true);
        if sampled.contains(&false) {
            return None;
        }
        let mut row = vec![None; view.all().len()];
        flows.iter().enumerate().for_each(|(place, flow)| row[*flow] = Some(place));
        let mut bytes = vec![vec![0; count]; flows.len()];
        for sample in &trace.samples {
            let place = row.get(sample.flow).copied().flatten();
            let second = seconds.get(sample.time_index).copied().flatten();
            if let (Some(place), Some(second)) = (place, second) {
                bytes[place][second] = sample.delivered_bytes;
            }
        }
        Some(Acknowledged(bytes))
    }

    /// Where windows of so many seconds begin, from a second on.
    fn windows(&self, from: usize, seconds: usize) -> std::ops::Range<usize> {
        let times = self.0.first().map_or(0, Vec::len);
        from..times.saturating_sub(seconds).max(from)
    }

    fn total(&self, window: usize) -> f64 {
        self.shares(window, 1).iter().sum()
    }

    /// What each flow had acknowledged within a window.
    fn shares(&self, window: usize, seconds: usize) -> Vec<f64> {
        let share = |bytes: &Vec<u64>| bytes[window + seconds].saturating_sub(bytes[window]) as f64;
        self.0.iter().map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    /// A wait that the end of a run cuts off is a lower bound.
    #[test]
    fn queue_delays_say_that_the_end_of_the_run_may_cut_them_off() {
        let delays = crate::all().filter(|metric| metric.name.contains("queue_delay_p"));
        let bounded = delays.map(|metric| metric.about.contains("lower bound"));
        assert_eq!(bounded.collect::<Vec<_>>(), [true; 6]);
    }
}
