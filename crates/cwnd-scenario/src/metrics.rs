//! The metrics of one run, defined once.
//!
//! Wire bytes count headers as the stack defines them; payload does not. Durations are those of the counting:
//! from [`Outcome::begin`] (0, or the end of the warm-up) to [`Outcome::end`]. Rates are in bits a second and times in seconds; what cannot be measured (a
//! round-trip time without a sample) is `None`, never NaN.
//!
//! A run's own figures are those of its **forward** flows, the ones that are not marked as reverse: reverse
//! flows are the load against which the others run. They are listed in [`RunMetrics::flows`] like the others, and
//! their sum is [`RunMetrics::reverse_throughput_bps`].

use crate::{FlowOutcome, LinkOutcome, Outcome, Rate, Scenario, Time};
use serde::Serialize;

/// The metrics of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunMetrics {
    /// Wire bytes of data that reached receivers for the first time, x 8 / duration, bit/s.
    pub throughput_bps: f64,
    /// The same wire bytes x 8 / the time in which there were flows: from the first start to the last stop (or
    /// completion, or the end of the run), bit/s.
    pub throughput_active_bps: f64,
    /// Payload that receivers have in order x 8 / duration, bit/s.
    pub goodput_bps: f64,
    /// Throughput of the flows that cross the bottleneck / its rate, from 0 to 1; none if it has no rate.
    pub utilisation: Option<f64>,
    /// (Data packets dropped by any queue + lost to errors) / sent, from 0 to 1; 0 if none was sent.
    pub loss_ratio: f64,
    /// Data packets dropped by any queue / sent; 0 if none was sent.
    pub drop_ratio: f64,
    /// (Sent - received for the first time) / sent, so that what is in flight at the end counts, and so does what
    /// was sent again for nothing; 0 if none was sent.
    pub unreceived_ratio: f64,
    /// Jain's index of the flows' throughput: (sum x)^2 / (n sum x^2), from 1/n to 1; 1 if all are nothing.
    pub jain_index: f64,
    /// Mean of all round-trip time samples, seconds.
    pub rtt_mean_s: Option<f64>,
    /// Data packets handed to the senders' own queues, retransmissions included.
    pub packets_sent: u64,
    /// Data packets that reached receivers for the first time.
    pub packets_received: u64,
    /// Data packets that reached receivers again. Sent = received + duplicates + dropped + lost + in flight.
    pub packets_duplicated: u64,
    /// Data packets dropped by queues, anywhere.
    pub packets_dropped: u64,
    /// Data packets lost to errors on lines.
    pub packets_lost_to_errors: u64,
    /// Data packets that were sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Congestion episodes that the algorithms answered: losses, marks and timeouts.
    pub congestion_events: u64,
    /// Throughput of the reverse flows, bit/s.
    pub reverse_throughput_bps: f64,
    /// One for each link, in the network's order.
    pub queues: Vec<QueueMetrics>,
    /// One for each flow, in the scenario's order.
    pub flows: Vec<FlowMetrics>,
}

/// The metrics of one link and its queue; data packets and ACKs of all flows count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueMetrics {
    /// The link's name.
    pub link: String,
    /// Packets that came to the queue.
    pub arrived: u64,
    /// Packets that it dropped.
    pub dropped: u64,
    /// Packets that it marked.
    pub marked: u64,
    /// Packets lost to errors on the line behind it.
    pub lost_to_errors: u64,
    /// Waiting packets, averaged over the run's duration. The packet in transmission does not wait.
    pub mean_packets: f64,
    /// Most packets that ever waited.
    pub max_packets: u64,
}

/// The metrics of one flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowMetrics {
    /// The flow's number, from 1.
    pub flow: usize,
    /// Its algorithm, with the parameters that were set.
    pub algorithm: String,
    /// Whether it runs against the direction of the others.
    pub reverse: bool,
    /// When it started, jitter included, seconds.
    pub start_s: f64,
    /// When it stopped sending new data, seconds; none if it did not before the end.
    pub stop_s: Option<f64>,
    /// From its start until its last byte was acknowledged, seconds; none if it had no end or did not reach it.
    pub completion_time_s: Option<f64>,
    /// Wire bytes of data that reached the receiver for the first time, x 8 / the run's duration, bit/s.
    pub throughput_bps: f64,
    /// The same x 8 / the time from its start to its stop (or completion, or the end of the run), bit/s.
    pub throughput_active_bps: f64,
    /// Payload that the receiver has in order x 8 / the run's duration, bit/s.
    pub goodput_bps: f64,
    /// Mean of its round-trip time samples, seconds.
    pub rtt_mean_s: Option<f64>,
    /// Least of them, seconds.
    pub rtt_min_s: Option<f64>,
    /// Greatest of them, seconds.
    pub rtt_max_s: Option<f64>,
    /// Its congestion window averaged over the time since its start, segments; none if it did not start.
    pub cwnd_mean: Option<f64>,
    /// Data packets handed to the sender's own queue, retransmissions included.
    pub packets_sent: u64,
    /// Data packets that reached the receiver for the first time.
    pub packets_received: u64,
    /// Data packets that reached the receiver again.
    pub packets_duplicated: u64,
    /// Data packets dropped by queues, anywhere.
    pub packets_dropped: u64,
    /// Data packets lost to errors on lines.
    pub packets_lost_to_errors: u64,
    /// Data packets that arrived with a congestion mark.
    pub packets_marked: u64,
    /// (Dropped + lost to errors) / sent, from 0 to 1; 0 if none was sent.
    pub loss_ratio: f64,
    /// Data packets that were sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Congestion episodes that the algorithm answered.
    pub congestion_events: u64,
}

impl RunMetrics {
    /// The metrics of a scenario's outcome. Flows and links of the two are matched by their order.
    pub fn new(scenario: &Scenario, outcome: &Outcome) -> RunMetrics {
        let seconds = counted_seconds(outcome);
        let pairs = || scenario.flows.iter().zip(&outcome.flows);
        let forward: Vec<&FlowOutcome> =
            pairs().filter(|(spec, _)| !spec.reverse).map(|(_, flow)| flow).collect();
        let reverse = pairs().filter(|(spec, _)| spec.reverse).map(|(_, flow)| flow.wire_bytes_received);
        let sum = |count: fn(&FlowOutcome) -> u64| forward.iter().map(|flow| count(flow)).sum::<u64>();

        let wire_bytes = sum(|flow| flow.wire_bytes_received);
        let crossing = pairs()
            .filter(|(spec, _)| !spec.reverse && spec.route.contains(&scenario.network.bottleneck))
            .map(|(_, flow)| flow.wire_bytes_received);
        let bottleneck = scenario.network.links.get(scenario.network.bottleneck);
        let capacity = bottleneck.map(|link| link.rate).filter(|rate| *rate != Rate::UNLIMITED && rate.0 > 0);
        let rates: Vec<f64> =
            forward.iter().map(|flow| bit_rate(flow.wire_bytes_received, seconds)).collect();

        let sent = sum(|flow| flow.packets_sent);
        let received = sum(|flow| flow.packets_received);
        let dropped = sum(|flow| flow.packets_dropped);
        let lost = sum(|flow| flow.packets_lost);
        let rtt_samples = sum(|flow| flow.rtt_samples);
        let rtt_sum: f64 = forward.iter().map(|flow| flow.rtt_sum_s).sum();
        RunMetrics {
            throughput_bps: bit_rate(wire_bytes, seconds),
            throughput_active_bps: bit_rate(wire_bytes, active_seconds(&forward, outcome)),
            goodput_bps: bit_rate(sum(|flow| flow.bytes_in_order), seconds),
            utilisation: capacity.map(|rate| bit_rate(crossing.sum(), seconds) / rate.0 as f64),
            loss_ratio: ratio(dropped + lost, sent),
            drop_ratio: ratio(dropped, sent),
            unreceived_ratio: ratio(sent.saturating_sub(received), sent),
            jain_index: jain_index(&rates),
            rtt_mean_s: mean(rtt_sum, rtt_samples),
            packets_sent: sent,
            packets_received: received,
            packets_duplicated: sum(|flow| flow.duplicates),
            packets_dropped: dropped,
            packets_lost_to_errors: lost,
            retransmissions: sum(|flow| flow.retransmissions),
            timeouts: sum(|flow| flow.timeouts),
            congestion_events: sum(|flow| flow.congestion_events),
            reverse_throughput_bps: bit_rate(reverse.sum(), seconds),
            queues: outcome.links.iter().map(|link| QueueMetrics::new(link, seconds)).collect(),
            flows: (0..scenario.flows.len().min(outcome.flows.len()))
                .map(|index| FlowMetrics::new(scenario, outcome, index))
                .collect(),
        }
    }
}

impl QueueMetrics {
    fn new(link: &LinkOutcome, seconds: f64) -> QueueMetrics {
        QueueMetrics {
            link: link.name.clone(),
            arrived: link.arrived,
            dropped: link.dropped,
            marked: link.marked,
            lost_to_errors: link.lost,
            mean_packets: if seconds > 0.0 { link.waiting_integral / seconds } else { 0.0 },
            max_packets: link.max_waiting,
        }
    }
}

impl FlowMetrics {
    fn new(scenario: &Scenario, outcome: &Outcome, index: usize) -> FlowMetrics {
        let (spec, flow) = (&scenario.flows[index], &outcome.flows[index]);
        let seconds = counted_seconds(outcome);
        let open = between(flow.start.max(outcome.begin), outcome.end);
        let finite_window = flow.cwnd_integral / open;
        FlowMetrics {
            flow: index + 1,
            algorithm: spec.algorithm.to_string(),
            reverse: spec.reverse,
            start_s: flow.start.as_secs_f64(),
            stop_s: flow.stop.map(Time::as_secs_f64),
            completion_time_s: flow.completed.map(|completed| between(flow.start, completed)),
            throughput_bps: bit_rate(flow.wire_bytes_received, seconds),
            throughput_active_bps: bit_rate(flow.wire_bytes_received, active_seconds(&[flow], outcome)),
            goodput_bps: bit_rate(flow.bytes_in_order, seconds),
            rtt_mean_s: mean(flow.rtt_sum_s, flow.rtt_samples),
            rtt_min_s: flow.rtt_min.map(Time::as_secs_f64),
            rtt_max_s: flow.rtt_max.map(Time::as_secs_f64),
            cwnd_mean: Some(finite_window).filter(|window| window.is_finite()),
            packets_sent: flow.packets_sent,
            packets_received: flow.packets_received,
            packets_duplicated: flow.duplicates,
            packets_dropped: flow.packets_dropped,
            packets_lost_to_errors: flow.packets_lost,
            packets_marked: flow.packets_marked,
            loss_ratio: ratio(flow.packets_dropped + flow.packets_lost, flow.packets_sent),
            retransmissions: flow.retransmissions,
            timeouts: flow.timeouts,
            congestion_events: flow.congestion_events,
        }
    }
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
    sum * sum / (shares.len() as f64 * squares)
}

fn bit_rate(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// How long the counting lasted.
fn counted_seconds(outcome: &Outcome) -> f64 {
    between(outcome.begin, outcome.end)
}

fn between(from: Time, to: Time) -> f64 {
    Time(to.0.saturating_sub(from.0)).as_secs_f64()
}

/// The counted time from the first start to the last stop, completion or the end of the run; flows that never started
/// have no part in it.
fn active_seconds(flows: &[&FlowOutcome], outcome: &Outcome) -> f64 {
    let end = outcome.end;
    let started = || flows.iter().filter(|flow| flow.start < end);
    let first = started().map(|flow| flow.start.max(outcome.begin)).min();
    let last =
        started().map(|flow| flow.stop.unwrap_or(end).min(flow.completed.unwrap_or(end)).min(end)).max();
    first.zip(last).map_or(0.0, |(first, last)| between(first, last))
}

#[cfg(test)]
mod tests;
