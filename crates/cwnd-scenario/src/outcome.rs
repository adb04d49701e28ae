//! The answer: raw counts of a run, from which every metric is computed.

use crate::{Emulation, Time};
use serde::{Deserialize, Serialize};

/// What happened in a run between the end of its warm-up (usually its beginning) and its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Outcome {
    /// When the counting began: [`Scenario::warm_up`](crate::Scenario::warm_up).
    pub begin: Time,
    /// When the counting ended.
    pub end: Time,
    /// One for each flow, in the scenario's order.
    pub flows: Vec<FlowOutcome>,
    /// One for each link, in the network's order.
    pub links: Vec<LinkOutcome>,
    /// Samples over time, if asked for.
    #[serde(skip)]
    pub trace: Option<Trace>,
    /// How well the network kept its times, if it was an emulated one.
    pub emulation: Option<Emulation>,
}

impl Outcome {
    /// Checks that every packet is accounted for: of each flow, and at each link.
    ///
    /// # Errors
    /// A line for each flow and link of which packets are missing or too many.
    pub fn check_conservation(&self) -> Result<(), String> {
        let flows = self.flows.iter().enumerate().filter_map(|(i, flow)| {
            let gone = flow.packets_dropped + flow.packets_lost + flow.packets_in_flight;
            let accounted = flow.packets_received + flow.duplicates + gone;
            let entered = flow.packets_sent + flow.packets_copied;
            (entered != accounted)
                .then(|| format!("flows[{i}]: {entered} sent, {accounted} accounted for: {flow:?}"))
        });
        let links = self.links.iter().filter_map(|link| {
            let accounted = link.dropped + link.lost + link.delivered + link.in_flight;
            let entered = link.arrived + link.copied;
            (entered != accounted)
                .then(|| format!("{}: {entered} arrived, {accounted} accounted for: {link:?}", link.name))
        });
        let wrong: Vec<String> = flows.chain(links).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }

    /// What happened after `before`, which is what had happened in the same run by then: counts, sums and integrals are differences;
    /// times, states and extremes stay. Messages are those given then or later.
    ///
    /// Of `before`, [`FlowOutcome::bytes_left`] counts what links had begun to transmit, too: a packet in transmission when the
    /// counting began took capacity from before it.
    #[must_use]
    pub fn since(self, before: &Outcome) -> Outcome {
        let begin = before.end;
        let after = self;
        let flow = |(before, after): (&FlowOutcome, FlowOutcome)| FlowOutcome {
            bytes_left: difference(&after.bytes_left, &before.bytes_left),
            packets_sent: after.packets_sent - before.packets_sent,
            retransmissions: after.retransmissions - before.retransmissions,
            packets_received: after.packets_received - before.packets_received,
            duplicates: after.duplicates - before.duplicates,
            wire_bytes_received: after.wire_bytes_received - before.wire_bytes_received,
            bytes_in_order: after.bytes_in_order - before.bytes_in_order,
            packets_dropped: after.packets_dropped - before.packets_dropped,
            packets_lost: after.packets_lost - before.packets_lost,
            packets_copied: after.packets_copied - before.packets_copied,
            timeouts: after.timeouts - before.timeouts,
            congestion_events: after.congestion_events - before.congestion_events,
            acks_received: after.acks_received - before.acks_received,
            packets_marked: after.packets_marked - before.packets_marked,
            rtt_samples: after.rtt_samples - before.rtt_samples,
            rtt_sum_s: after.rtt_sum_s - before.rtt_sum_s,
            cwnd_integral: after.cwnd_integral - before.cwnd_integral,
            messages: after.messages.iter().filter(|message| message.start >= begin).copied().collect(),
            ..after
        };
        let link = |(before, after): (&LinkOutcome, LinkOutcome)| LinkOutcome {
            arrived: after.arrived - before.arrived,
            data_arrived: after.data_arrived - before.data_arrived,
            dropped: after.dropped - before.dropped,
            lost: after.lost - before.lost,
            marked: after.marked - before.marked,
            copied: after.copied - before.copied,
            delivered: after.delivered - before.delivered,
            waiting_integral: after.waiting_integral - before.waiting_integral,
            ..after
        };
        Outcome {
            begin: before.end,
            end: after.end,
            flows: before.flows.iter().zip(after.flows).map(flow).collect(),
            links: before.links.iter().zip(after.links).map(link).collect(),
            trace: after.trace,
            emulation: after.emulation,
        }
    }
}

/// Returns the difference of each two counts. What had left a link, and was dropped by a later one, may be missing at the end.
fn difference(after: &[u64], before: &[u64]) -> Vec<u64> {
    after.iter().zip(before).map(|(after, before)| after.saturating_sub(*before)).collect()
}

/// What happened to a flow. Counts, sums and integrals are those since the counting began; times, states and extremes
/// (`rtt_min`, `rtt_max`) are those of the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FlowOutcome {
    /// When it really started (after jitter).
    pub start: Time,
    /// When it stopped sending new data, if it did before the end.
    pub stop: Option<Time>,
    /// When its last byte was acknowledged, if it had an end and reached it.
    pub completed: Option<Time>,
    /// Data packets handed to the sender's own queue, retransmissions included.
    pub packets_sent: u64,
    /// Of these, retransmissions.
    pub retransmissions: u64,
    /// Data packets that reached the receiver for the first time.
    pub packets_received: u64,
    /// Data packets that reached the receiver again.
    pub duplicates: u64,
    /// Wire bytes of `packets_received`.
    pub wire_bytes_received: u64,
    /// Payload bytes that the receiver has in order. A first packet that is shorter than others carried less.
    pub bytes_in_order: u64,
    /// For each link of the data's route, the wire bytes of new data that left its transmitter: what has reached the receiver
    /// (`wire_bytes_received`), or is on its way there and will be new. Empty if the engine does not tell.
    pub bytes_left: Vec<u64>,
    /// Data packets dropped by queues, anywhere.
    pub packets_dropped: u64,
    /// Data packets lost to errors on lines.
    pub packets_lost: u64,
    /// Copies of data packets that links made.
    pub packets_copied: u64,
    /// Data packets still in the network at the end.
    pub packets_in_flight: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Congestion episodes (losses, marks and timeouts to which the algorithm answered).
    pub congestion_events: u64,
    /// ACKs that the sender processed.
    pub acks_received: u64,
    /// Data packets that arrived with a congestion mark.
    pub packets_marked: u64,
    /// Round-trip time samples.
    pub rtt_samples: u64,
    /// Their sum, seconds.
    pub rtt_sum_s: f64,
    /// Least sample, if any.
    pub rtt_min: Option<Time>,
    /// Greatest sample, if any.
    pub rtt_max: Option<Time>,
    /// The window integrated over the time since the start (or since the counting began): segments x seconds.
    pub cwnd_integral: f64,
    /// The window at the end, segments.
    pub cwnd: f64,
    /// The slow-start threshold at the end, segments; infinite if never set.
    #[serde(with = "crate::infinite")]
    pub ssthresh: f64,
    /// The messages that its application gave since the counting began, in that order, if it gives any.
    pub messages: Vec<MessageOutcome>,
}

/// What happened to a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MessageOutcome {
    /// Its payload, bytes, rounded up to whole packets.
    pub bytes: u64,
    /// When the application gave it.
    pub start: Time,
    /// When its last byte was acknowledged, if it was before the end.
    pub end: Option<Time>,
}

/// What happened at a link. Counts and integrals are those since the counting began; `in_flight` and `max_waiting` are
/// those of the whole run. Handshakes before time zero are in the counts, but not in `waiting_integral`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LinkOutcome {
    /// The link's name.
    pub name: String,
    /// Packets that came to the queue (data and ACKs).
    pub arrived: u64,
    /// Of these, data packets.
    pub data_arrived: u64,
    /// Packets dropped by the queue (data and ACKs).
    pub dropped: u64,
    /// Packets lost on the line.
    pub lost: u64,
    /// Packets marked by the queue.
    pub marked: u64,
    /// Copies that the line made.
    pub copied: u64,
    /// Packets that came out of the line.
    pub delivered: u64,
    /// Packets waiting, in transmission or on the line at the end.
    pub in_flight: u64,
    /// Waiting packets integrated over time: packets x seconds.
    pub waiting_integral: f64,
    /// Most packets that ever waited.
    pub max_waiting: u64,
}

/// Samples over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Names of the links whose queues are sampled.
    pub queues: Vec<String>,
    /// Rows, ordered by time and then by flow.
    pub samples: Vec<Sample>,
    /// Waiting packets: for every sample time, one number for each of `queues`.
    pub queue_lengths: Vec<Vec<u32>>,
    /// The sample times, as long as `queue_lengths`.
    pub times: Vec<Time>,
    /// State of the flows' algorithms, for each flow in turn; empty if the engine does not see it.
    pub observed: Vec<Observed>,
}

impl Trace {
    /// Returns a value of the state of a flow's algorithm, for each of [`Trace::times`]; none if it was not recorded.
    pub fn observed(&self, flow: usize, name: &str) -> Option<&[f64]> {
        let found = self.observed.iter().find(|observed| observed.flow == flow && observed.name == name);
        found.map(|observed| observed.values.as_slice())
    }
}

/// One value of the state of a flow's algorithm over time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Observed {
    /// Flow, as an index into the scenario's flows.
    pub flow: usize,
    /// The algorithm's name for it, such as `lambda`.
    pub name: String,
    /// One for each of [`Trace::times`]; NaN before the flow starts and where the algorithm does not know it yet.
    pub values: Vec<f64>,
}

impl PartialEq for Observed {
    /// Compares the values bit by bit, so that NaN equals itself.
    fn eq(&self, other: &Observed) -> bool {
        let bits =
            |observed: &Observed| observed.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        self.flow == other.flow && self.name == other.name && bits(self) == bits(other)
    }
}

/// One flow at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Index into [`Trace::times`].
    pub time_index: usize,
    /// Flow, as an index into the scenario's flows.
    pub flow: usize,
    /// Congestion window, segments.
    pub cwnd: f64,
    /// Slow-start threshold, segments; infinite if not set.
    pub ssthresh: f64,
    /// Smoothed round-trip time; none before the first sample.
    pub rtt: Option<Time>,
    /// Payload bytes acknowledged so far.
    pub delivered_bytes: u64,
    /// Segments in flight.
    pub in_flight: u64,
    /// Data packets sent so far, and retransmissions among them; none where it is not known, as in a file of samples.
    pub sent: Option<(u64, u64)>,
    /// Loss-recovery state.
    pub state: SampleState,
}

/// Loss-recovery state of a sample, named as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SampleState {
    /// Nothing unusual.
    Open,
    /// Duplicate ACKs, too few to be a loss.
    Disorder,
    /// Reducing after an ECN echo.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a timeout.
    Loss,
}

impl SampleState {
    /// The word that traces use.
    pub fn name(self) -> &'static str {
        match self {
            SampleState::Open => "open",
            SampleState::Disorder => "disorder",
            SampleState::Cwr => "cwr",
            SampleState::Recovery => "recovery",
            SampleState::Loss => "loss",
        }
    }
}
