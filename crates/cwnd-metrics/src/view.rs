//! The functions behind the metrics that are made from counts. Each takes some flows of a run: one, those of an
//! algorithm, or all forward ones.

use cwnd_scenario::{FlowOutcome, LinkOutcome, Outcome, Rate, Sample, Scenario, Time};

/// A run, as the metrics look at it.
pub struct View<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) outcome: &'a Outcome,
    /// For each flow its samples since the counting began, if there are any at all.
    pub(super) samples: Option<Vec<Vec<&'a Sample>>>,
}

/// Some flows, as indices.
pub(super) type Flows<'a> = &'a [usize];

impl<'a> View<'a> {
    /// A run whose flows and links are matched with the scenario's by their order.
    pub fn new(scenario: &'a Scenario, outcome: &'a Outcome) -> View<'a> {
        let flows = scenario.flows.len().min(outcome.flows.len());
        let samples = outcome.trace.as_ref().map(|trace| {
            let mut by_flow: Vec<Vec<&Sample>> = vec![Vec::new(); flows];
            for sample in &trace.samples {
                let counts = trace.times.get(sample.time_index).is_some_and(|time| *time >= outcome.begin);
                if let Some(of_flow) = by_flow.get_mut(sample.flow).filter(|_| counts) {
                    of_flow.push(sample);
                }
            }
            by_flow
        });
        View { scenario, outcome, samples }
    }

    /// Returns the index of the bottleneck link.
    pub fn bottleneck(&self) -> usize {
        self.scenario.network.bottleneck
    }

    /// Those of some flows that are not short. What speaks of flows one by one is of these.
    pub(super) fn lasting(&self, flows: Flows<'_>) -> Vec<usize> {
        flows.iter().copied().filter(|flow| !self.scenario.flows[*flow].short).collect()
    }

    /// The short flows that started while it was counted.
    pub(super) fn short(&self) -> Vec<usize> {
        let counted = self.outcome.begin..self.outcome.end;
        let short = self.all().filter(|flow| self.scenario.flows[*flow].short);
        short.filter(|flow| counted.contains(&self.flow(*flow).start)).collect()
    }

    /// The flows that are not marked as reverse.
    pub fn forward(&self) -> Vec<usize> {
        self.all().filter(|flow| !self.scenario.flows[*flow].reverse).collect()
    }

    /// The flows that are marked as reverse.
    pub fn reverse(&self) -> Vec<usize> {
        self.all().filter(|flow| self.scenario.flows[*flow].reverse).collect()
    }

    /// All flows.
    pub(super) fn all(&self) -> std::ops::Range<usize> {
        0..self.scenario.flows.len().min(self.outcome.flows.len())
    }

    pub(super) fn flow(&self, flow: usize) -> &'a FlowOutcome {
        &self.outcome.flows[flow]
    }

    pub(super) fn link(&self, link: usize) -> &'a LinkOutcome {
        &self.outcome.links[link]
    }

    /// How long the counting lasted, seconds.
    pub(super) fn seconds(&self) -> f64 {
        between(self.outcome.begin, self.outcome.end)
    }

    pub(super) fn sum(&self, flows: Flows<'_>, count: fn(&FlowOutcome) -> u64) -> u64 {
        flows.iter().map(|flow| count(self.flow(*flow))).sum()
    }

    /// The round-trip time of a flow whose packets and ACKs wait for nobody: propagation, and the transmission of a full
    /// packet and of an ACK on every link, seconds.
    pub(super) fn unloaded_rtt(&self, flow: usize) -> f64 {
        let (spec, stack) = (&self.scenario.flows[flow], &self.scenario.stack);
        self.scenario.base_rtt(flow).as_secs_f64()
            + self.on_wire(&spec.route, f64::from(stack.full_packet()))
            + self.on_wire(&spec.ack_route, f64::from(stack.ack_size))
    }

    /// Returns whether a flow's data crosses the bottleneck.
    pub fn crosses_bottleneck(&self, flow: usize) -> bool {
        self.scenario.flows[flow].route.contains(&self.scenario.network.bottleneck)
    }

    /// Returns whether the propagation delay of a flow's way there or back changes over time.
    pub(super) fn delay_varies(&self, flow: usize) -> bool {
        let spec = &self.scenario.flows[flow];
        let mut links = spec.route.iter().chain(&spec.ack_route);
        links.any(|link| self.scenario.network.links[*link].delay_varies())
    }

    /// How long links take to transmit so many bytes, one after the other, seconds.
    pub(super) fn on_wire(&self, links: &[usize], bytes: f64) -> f64 {
        links.iter().map(|link| transmission(self.scenario.network.links[*link].rate, bytes)).sum()
    }
}

/// Returns the forward flows of each named group that are not short, in the order of their first flows.
pub(super) fn named_groups(scenario: &Scenario) -> Vec<(&str, Vec<usize>)> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    let forward = scenario.flows.iter().enumerate().filter(|(_, flow)| !flow.reverse && !flow.short);
    for (index, name) in forward.filter_map(|(index, flow)| Some((index, flow.group.as_deref()?))) {
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, flows)) => flows.push(index),
            None => groups.push((name, vec![index])),
        }
    }
    groups
}

/// How long so many bytes take to leave, seconds.
pub(super) fn transmission(rate: Rate, bytes: f64) -> f64 {
    if rate == Rate::UNLIMITED || rate.0 == 0 { 0.0 } else { bytes * 8.0 / rate.0 as f64 }
}

pub(super) fn throughput_bps(view: &View<'_>, flows: Flows<'_>) -> f64 {
    bit_rate(view.sum(flows, |flow| flow.wire_bytes_received), view.seconds())
}

pub(super) fn throughput_active_bps(view: &View<'_>, flows: Flows<'_>) -> f64 {
    bit_rate(view.sum(flows, |flow| flow.wire_bytes_received), active_seconds(view, flows))
}

pub(super) fn goodput_bps(view: &View<'_>, flows: Flows<'_>) -> f64 {
    bit_rate(view.sum(flows, |flow| flow.bytes_in_order), view.seconds())
}

pub(super) fn utilisation(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    utilisation_of(view, view.scenario.network.bottleneck, flows)
}

pub(super) fn link_utilisation(view: &View<'_>, link: usize) -> Option<f64> {
    utilisation_of(view, link, &view.forward())
}

/// Returns the share of a link's capacity in the counted time that new data of these flows took; none if it has no rate.
///
/// It counts what left the link in that time. What receivers got in it left the link earlier, and may be more than the link
/// could send: delays and queues behind it vary.
fn utilisation_of(view: &View<'_>, link: usize, flows: Flows<'_>) -> Option<f64> {
    let rate = view.scenario.network.links.get(link)?.mean_rate(view.outcome.begin, view.outcome.end)?;
    let left = flows.iter().filter_map(|flow| {
        let hop = view.scenario.flows[*flow].route.iter().position(|crossed| *crossed == link)?;
        let flow = view.flow(*flow);
        Some(flow.bytes_left.get(hop).copied().unwrap_or(flow.wire_bytes_received))
    });
    Some(bit_rate(left.sum(), view.seconds()) / rate)
}

/// Packets waiting, averaged over the counted time.
pub(super) fn mean_queue(view: &View<'_>, link: usize) -> f64 {
    let seconds = view.seconds();
    if seconds > 0.0 { view.link(link).waiting_integral / seconds } else { 0.0 }
}

/// Mean throughput of a flow, short ones left out.
pub(super) fn throughput_mean_bps(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let flows = &view.lasting(flows);
    mean(throughput_bps(view, flows), flows.len() as u64)
}

/// Returns what these flows have of the throughput of all forward ones; none if those have none, or one of these is not
/// forward.
pub(super) fn throughput_share(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    if flows.iter().any(|flow| view.scenario.flows[*flow].reverse) {
        return None;
    }
    let share = throughput_bps(view, flows) / throughput_bps(view, &view.forward());
    Some(share).filter(|share| share.is_finite())
}

/// Of two named groups the first one's mean throughput of a flow over the second one's.
pub(super) fn group_ratio(view: &View<'_>, _: Flows<'_>) -> Option<f64> {
    let groups = named_groups(view.scenario);
    let [(_, first), (_, second)] = groups.as_slice() else { return None };
    let ratio = throughput_mean_bps(view, first)? / throughput_mean_bps(view, second)?;
    Some(ratio).filter(|ratio| ratio.is_finite())
}

pub(super) fn loss_ratio(view: &View<'_>, flows: Flows<'_>) -> f64 {
    ratio(view.sum(flows, |flow| flow.packets_dropped + flow.packets_lost), carried(view, flows))
}

pub(super) fn drop_ratio(view: &View<'_>, flows: Flows<'_>) -> f64 {
    ratio(view.sum(flows, |flow| flow.packets_dropped), carried(view, flows))
}

pub(super) fn unreceived_ratio(view: &View<'_>, flows: Flows<'_>) -> f64 {
    let (received, originals) = (view.sum(flows, |flow| flow.packets_received), originals(view, flows));
    ratio(originals.saturating_sub(received), originals)
}

pub(super) fn delivery_ratio(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let received = view.sum(flows, |flow| flow.packets_received);
    mean(received as f64, originals(view, flows))
}

pub(super) fn mark_ratio(view: &View<'_>, flows: Flows<'_>) -> f64 {
    let arrived = view.sum(flows, |flow| flow.packets_received + flow.duplicates);
    ratio(view.sum(flows, |flow| flow.packets_marked), arrived)
}

pub(super) fn retransmission_ratio(view: &View<'_>, flows: Flows<'_>) -> f64 {
    ratio(view.sum(flows, |flow| flow.retransmissions), sent(view, flows))
}

pub(super) fn rtt_mean_s(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let sum: f64 = flows.iter().map(|flow| view.flow(*flow).rtt_sum_s).sum();
    mean(sum, view.sum(flows, |flow| flow.rtt_samples))
}

pub(super) fn rtt_min_s(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    flows.iter().filter_map(|flow| view.flow(*flow).rtt_min).min().map(Time::as_secs_f64)
}

pub(super) fn rtt_max_s(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    flows.iter().filter_map(|flow| view.flow(*flow).rtt_max).max().map(Time::as_secs_f64)
}

pub(super) fn queueing_delay_mean_s(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    // The counts do not tell which round-trip times belong to which delay.
    if flows.iter().any(|flow| view.delay_varies(*flow)) {
        return None;
    }
    let over = |flow: &usize| {
        let counted = view.flow(*flow);
        counted.rtt_sum_s - counted.rtt_samples as f64 * view.unloaded_rtt(*flow)
    };
    mean(flows.iter().map(over).sum(), view.sum(flows, |flow| flow.rtt_samples)).map(|delay| delay.max(0.0))
}

pub(super) fn jain_throughput(view: &View<'_>, flows: Flows<'_>) -> f64 {
    let flows = &view.lasting(flows);
    jain_index(&flows.iter().map(|flow| throughput_bps(view, &[*flow])).collect::<Vec<_>>())
}

pub(super) fn jain_rtt(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let flows = &view.lasting(flows);
    jain_of(flows, |flow| rtt_mean_s(view, &[flow]))
}

pub(super) fn jain_queueing_delay(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let flows = &view.lasting(flows);
    jain_of(flows, |flow| queueing_delay_mean_s(view, &[flow]))
}

/// Of the flows that have the quantity; none if no flow has it.
fn jain_of(flows: Flows<'_>, quantity: impl Fn(usize) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = flows.iter().filter_map(|flow| quantity(*flow)).collect();
    (!values.is_empty()).then(|| jain_index(&values))
}

pub(super) fn jain_algorithms(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    jain_between(view, flows, |flow| view.scenario.flows[flow].algorithm.to_string())
}

pub(super) fn jain_base_rtts(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    jain_between(view, flows, |flow| view.scenario.base_rtt(flow))
}

/// Jain's index of the mean throughputs of classes of flows; none if all flows are of one class.
fn jain_between<K: Ord>(view: &View<'_>, flows: Flows<'_>, class: impl Fn(usize) -> K) -> Option<f64> {
    let mut classes = std::collections::BTreeMap::<K, Vec<usize>>::new();
    for flow in &view.lasting(flows) {
        classes.entry(class(*flow)).or_default().push(*flow);
    }
    let means: Vec<f64> =
        classes.values().map(|flows| throughput_bps(view, flows) / flows.len() as f64).collect();
    (means.len() > 1).then(|| jain_index(&means))
}

pub(super) fn throughput_ratio(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let flows = &view.lasting(flows);
    if flows.is_empty() {
        return None;
    }
    let rates = flows.iter().map(|flow| throughput_active_bps(view, &[*flow]));
    let (least, most) =
        rates.fold((f64::INFINITY, 0.0f64), |(least, most), rate| (least.min(rate), most.max(rate)));
    Some(most / least).filter(|ratio| ratio.is_finite())
}

pub(super) fn cwnd_mean(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let flows = &view.lasting(flows);
    mean_of(flows, |flow| {
        let flow = view.flow(flow);
        let open = between(flow.start.max(view.outcome.begin), view.outcome.end);
        Some(flow.cwnd_integral / open).filter(|window| window.is_finite())
    })
}

/// The mean over flows; none if a flow has no value.
pub(super) fn mean_of(flows: Flows<'_>, value: impl Fn(usize) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = flows.iter().map(|flow| value(*flow)).collect();
    values.and_then(|values| mean(values.iter().sum(), values.len() as u64))
}

fn sent(view: &View<'_>, flows: Flows<'_>) -> u64 {
    view.sum(flows, |flow| flow.packets_sent)
}

/// Returns how many data packets were in the network at some moment of the counted time: those in flight when the counting
/// began, those sent since, and the copies that links made. Each of them arrived, was dropped or lost, or is in flight at the
/// end, so this is the sum of those counts.
fn carried(view: &View<'_>, flows: Flows<'_>) -> u64 {
    view.sum(flows, |flow| {
        let ends = [flow.duplicates, flow.packets_dropped, flow.packets_lost, flow.packets_in_flight];
        ends.into_iter().fold(flow.packets_received, u64::saturating_add)
    })
}

/// The same without the copies: each packet that is received for the first time stands for one of these.
fn originals(view: &View<'_>, flows: Flows<'_>) -> u64 {
    carried(view, flows).saturating_sub(view.sum(flows, |flow| flow.packets_copied))
}

/// Jain's fairness index of `shares`: (sum x)^2 / (n sum x^2), from 1/n (one has all) to 1 (all are equal); 1 if
/// there are none, or all are nothing (Jain, Chiu and Hawe, DEC-TR-301, 1984).
pub fn jain_index(shares: &[f64]) -> f64 {
    // Scaled by the largest, so that neither sum overflows.
    let most = shares.iter().fold(0.0f64, |most, share| most.max(*share));
    if most <= 0.0 {
        return 1.0;
    }
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), share| {
        let share = share / most;
        (sum + share, squares + share * share)
    });
    // Rounding may carry equal shares just over 1.
    (sum * sum / (shares.len() as f64 * squares)).min(1.0)
}

pub(super) fn bit_rate(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

pub(super) fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

pub(super) fn between(from: Time, to: Time) -> f64 {
    Time(to.0.saturating_sub(from.0)).as_secs_f64()
}

/// The counted time from the first start to the last stop, completion or the end of the run; flows that never started
/// have no part in it.
fn active_seconds(view: &View<'_>, flows: Flows<'_>) -> f64 {
    let end = view.outcome.end;
    let started = || flows.iter().map(|flow| view.flow(*flow)).filter(|flow| flow.start < end);
    let first = started().map(|flow| flow.start.max(view.outcome.begin)).min();
    let last =
        started().map(|flow| flow.stop.unwrap_or(end).min(flow.completed.unwrap_or(end)).min(end)).max();
    first.zip(last).map_or(0.0, |(first, last)| between(first, last))
}
