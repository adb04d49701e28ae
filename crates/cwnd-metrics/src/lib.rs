//! Metrics of a run, defined once, and [`statistics`] over repeated runs.
//!
//! [`all`] lists the metrics with title, unit, formula and meaning. [`values`] computes them by name. [`RunMetrics`] holds
//! those that `cwnd compare` writes as JSON. Both use the same functions.
//!
//! Wire bytes count headers as the stack defines them; payload does not. Durations are those of the counting:
//! from [`Outcome::begin`] (0, or the end of the warm-up) to [`Outcome::end`]. Rates are in bits a second and times in seconds; what cannot be measured (a
//! round-trip time without a sample) is `None`, never NaN.
//!
//! A run's own figures are those of its **forward** flows, the ones that are not marked as reverse: reverse
//! flows are the load against which the others run. They are listed in [`RunMetrics::flows`] like the others, and
//! their sum is [`RunMetrics::reverse_throughput_bps`]. Short flows have a part in sums; what speaks of flows one by one leaves
//! them out.

#![forbid(unsafe_code)]

mod breaker;
mod comparative;
mod completion;
mod document;
mod registry;
mod samples;
pub mod statistics;
mod values;
mod view;

pub use comparative::{bandwidth_stolen_rate, harm, harm_of_less, relative_gain};
pub use document::markdown;
pub use registry::{Better, Measure, Metric, Range, Scope, all};
pub use values::{
    MAX_FLOWS, SIZE_CLASSES, find, find_of_flows, full_name, has, of_each_flow, size_class, split, values,
    visit,
};
pub use view::{View, jain_index};

use cwnd_scenario::{LinkOutcome, Outcome, Scenario, Time};
use serde::Serialize;

/// Counts up whenever a metric that is made from samples gets another formula, so that stored values are told apart. A new
/// metric leaves it: the other values stay as they are, and runs that were stored before lack only the new one. Metrics that
/// are made from counts are computed again whenever they are read.
pub const SAMPLED_VERSION: u32 = 8;

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
    /// 8 x wire bytes of new data that left the bottleneck / (its mean rate x duration), from 0 to 1; none if it has no rate.
    pub utilisation: Option<f64>,
    /// (Data packets dropped by any queue + lost to errors) / (in flight when the counting began + sent + copied by links),
    /// from 0 to 1; 0 if none was sent.
    pub loss_ratio: f64,
    /// Data packets dropped by any queue / the same, from 0 to 1; 0 if none was sent.
    pub drop_ratio: f64,
    /// 1 - received for the first time / (in flight when the counting began + sent), from 0 to 1, so that what is in flight at the end counts, and so does what
    /// was spuriously retransmitted; 0 if none was sent.
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
    /// One for each flow that is not short, in the scenario's order.
    pub flows: Vec<FlowMetrics>,
    /// Those of all short flows, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_flows: Option<ShortFlowMetrics>,
}

/// The metrics of all short flows together that started while it was counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShortFlowMetrics {
    /// How many there are.
    pub flows: u64,
    /// How many of them reached their end.
    pub completed: u64,
    /// Wire bytes of their data that reached the receiver for the first time, x 8 / the run's duration, bit/s.
    pub throughput_bps: f64,
    /// Payload that the receiver has in order x 8 / the run's duration, bit/s.
    pub goodput_bps: f64,
    /// Mean of their completion times, seconds; as the rest, of those that reached their end.
    pub completion_time_s: Option<f64>,
    /// Median.
    pub completion_p50_s: Option<f64>,
    /// 95th percentile.
    pub completion_p95_s: Option<f64>,
    /// 99th percentile.
    pub completion_p99_s: Option<f64>,
    /// Mean of completion time / the least possible one.
    pub slowdown: Option<f64>,
    /// Median.
    pub slowdown_p50: Option<f64>,
    /// 95th percentile.
    pub slowdown_p95: Option<f64>,
    /// 99th percentile.
    pub slowdown_p99: Option<f64>,
    /// Of those that have a deadline, the part that missed it, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed_deadline_ratio: Option<f64>,
    /// Data packets handed to the sender's own queue, retransmissions included.
    pub packets_sent: u64,
    /// (Dropped + lost to errors) / sent, from 0 to 1; 0 if none was sent.
    pub loss_ratio: f64,
    /// Data packets that were sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

/// The metrics of a flow's messages that were given while it was counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MessageMetrics {
    /// How many of them were completed.
    pub completed: f64,
    /// Mean time from when a message was given to the acknowledgement of its last byte, seconds.
    pub time_s: Option<f64>,
    /// Median.
    pub time_p50_s: Option<f64>,
    /// 95th percentile.
    pub time_p95_s: Option<f64>,
    /// 99th percentile.
    pub time_p99_s: Option<f64>,
    /// Mean of that time / the least possible one.
    pub slowdown: Option<f64>,
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
    /// Those of its messages, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageMetrics>,
}

impl RunMetrics {
    /// The metrics of a scenario's outcome. Flows and links of the two are matched by their order.
    pub fn new(scenario: &Scenario, outcome: &Outcome) -> RunMetrics {
        let view = &View::new(scenario, outcome);
        let forward = &view.forward();
        RunMetrics {
            throughput_bps: view::throughput_bps(view, forward),
            throughput_active_bps: view::throughput_active_bps(view, forward),
            goodput_bps: view::goodput_bps(view, forward),
            utilisation: view::utilisation(view, forward),
            loss_ratio: view::loss_ratio(view, forward),
            drop_ratio: view::drop_ratio(view, forward),
            unreceived_ratio: view::unreceived_ratio(view, forward),
            jain_index: view::jain_throughput(view, forward),
            rtt_mean_s: view::rtt_mean_s(view, forward),
            packets_sent: view.sum(forward, |flow| flow.packets_sent),
            packets_received: view.sum(forward, |flow| flow.packets_received),
            packets_duplicated: view.sum(forward, |flow| flow.duplicates),
            packets_dropped: view.sum(forward, |flow| flow.packets_dropped),
            packets_lost_to_errors: view.sum(forward, |flow| flow.packets_lost),
            retransmissions: view.sum(forward, |flow| flow.retransmissions),
            timeouts: view.sum(forward, |flow| flow.timeouts),
            congestion_events: view.sum(forward, |flow| flow.congestion_events),
            reverse_throughput_bps: view::throughput_bps(view, &view.reverse()),
            queues: outcome.links.iter().map(|link| QueueMetrics::new(link, view.seconds())).collect(),
            flows: view
                .all()
                .filter(|flow| !scenario.flows[*flow].short)
                .map(|index| FlowMetrics::new(view, index))
                .collect(),
            short_flows: ShortFlowMetrics::new(view, &view.short()),
        }
    }
}

impl ShortFlowMetrics {
    fn new(view: &View<'_>, flows: &[usize]) -> Option<ShortFlowMetrics> {
        let percentiles = |of: fn(&View<'_>, &[usize], f64) -> Option<f64>| {
            [50.0, 95.0, 99.0].map(|percent| of(view, flows, percent))
        };
        let completion = percentiles(completion::completion_percentile);
        let slowdown = percentiles(completion::slowdown_percentile);
        (!flows.is_empty()).then(|| ShortFlowMetrics {
            flows: flows.len() as u64,
            completed: flows.iter().filter(|flow| view.flow(**flow).completed.is_some()).count() as u64,
            throughput_bps: view::throughput_bps(view, flows),
            goodput_bps: view::goodput_bps(view, flows),
            completion_time_s: completion::completion_time_s(view, flows),
            completion_p50_s: completion[0],
            completion_p95_s: completion[1],
            completion_p99_s: completion[2],
            slowdown: completion::slowdown(view, flows),
            slowdown_p50: slowdown[0],
            slowdown_p95: slowdown[1],
            slowdown_p99: slowdown[2],
            missed_deadline_ratio: completion::missed_deadline_ratio(view, flows),
            packets_sent: view.sum(flows, |flow| flow.packets_sent),
            loss_ratio: view::loss_ratio(view, flows),
            retransmissions: view.sum(flows, |flow| flow.retransmissions),
            timeouts: view.sum(flows, |flow| flow.timeouts),
        })
    }
}

impl MessageMetrics {
    fn new(view: &View<'_>, flow: &[usize]) -> Option<MessageMetrics> {
        Some(MessageMetrics {
            completed: completion::messages(view, flow)?,
            time_s: completion::message_time_s(view, flow),
            time_p50_s: completion::message_time_percentile(view, flow, 50.0),
            time_p95_s: completion::message_time_percentile(view, flow, 95.0),
            time_p99_s: completion::message_time_percentile(view, flow, 99.0),
            slowdown: completion::message_slowdown(view, flow),
        })
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
    fn new(view: &View<'_>, index: usize) -> FlowMetrics {
        let (spec, flow, this) = (&view.scenario.flows[index], view.flow(index), &[index]);
        FlowMetrics {
            flow: index + 1,
            algorithm: spec.algorithm.to_string(),
            reverse: spec.reverse,
            start_s: flow.start.as_secs_f64(),
            stop_s: flow.stop.map(Time::as_secs_f64),
            completion_time_s: completion::completion_time_s(view, this),
            throughput_bps: view::throughput_bps(view, this),
            throughput_active_bps: view::throughput_active_bps(view, this),
            goodput_bps: view::goodput_bps(view, this),
            rtt_mean_s: view::rtt_mean_s(view, this),
            rtt_min_s: view::rtt_min_s(view, this),
            rtt_max_s: view::rtt_max_s(view, this),
            cwnd_mean: view::cwnd_mean(view, this),
            packets_sent: flow.packets_sent,
            packets_received: flow.packets_received,
            packets_duplicated: flow.duplicates,
            packets_dropped: flow.packets_dropped,
            packets_lost_to_errors: flow.packets_lost,
            packets_marked: flow.packets_marked,
            loss_ratio: view::loss_ratio(view, this),
            retransmissions: flow.retransmissions,
            timeouts: flow.timeouts,
            congestion_events: flow.congestion_events,
            messages: MessageMetrics::new(view, this),
        }
    }
}

#[cfg(test)]
mod tests;
