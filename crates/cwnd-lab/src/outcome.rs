//! From what the emulator counted and the sockets told to the answer that every engine gives.

use crate::emulator::{Counts, FlowCounts, LinkCounts, Record};
use crate::host;
use crate::traffic::{FlowRecord, TrafficRecord};
use cwnd_scenario::{
    Emulation, FlowOutcome, LinkOutcome, Outcome, Sample, SampleState, Scenario, Time, Trace,
};

/// Packets that come out of the emulator later than this after they were due are too late: 99 of 100 must not be.
pub const TOO_LATE: Time = Time(500_000);

/// A rate that is further off than this is not the rate.
const RATE_ERROR: f64 = 0.01;

/// All that a run has told.
pub struct Answers {
    /// The emulator.
    pub record: Record,
    /// The sockets.
    pub told: TrafficRecord,
    /// The scenario's time zero on the emulator's clock, ns.
    pub origin: u64,
    /// The times of samples on it.
    pub samples: Vec<u64>,
    /// The share of CPU time that was stolen.
    pub steal: f64,
}

/// The answer.
pub fn outcome(scenario: &Scenario, answers: &Answers) -> Outcome {
    let Answers { record, told, origin, .. } = answers;
    let nothing = Counts::default();
    let before = record.at_warm_up.as_ref().unwrap_or(&nothing);
    let flows = record.at_end.flows.iter().zip(&told.flows).enumerate();
    let flows = flows.map(|(i, (after, socket))| {
        let before = before.flows.get(i).cloned().unwrap_or_default();
        let in_flight = record.flows_in_flight[i];
        flow(&before, after, socket, in_flight, *origin)
    });
    let links = record.at_end.links.iter().zip(&scenario.network.links).enumerate();
    let links = links.map(|(i, (after, spec))| {
        let before = before.links.get(i).cloned().unwrap_or_default();
        link(&spec.name, &before, after, record.links_in_flight[i])
    });
    Outcome {
        begin: scenario.warm_up,
        // Where every flow had reached its end, nothing would have come any more.
        end: scenario.duration,
        flows: flows.collect(),
        links: links.collect(),
        trace: scenario.sample.map(|_| trace(scenario, answers)),
        emulation: Some(emulation(answers)),
    }
}

fn flow(
    before: &FlowCounts,
    after: &FlowCounts,
    socket: &FlowRecord,
    packets_in_flight: u64,
    origin: u64,
) -> FlowOutcome {
    let time = |clock: u64| Time(clock.saturating_sub(origin));
    let nothing = FlowRecord::default();
    let then = socket.at_warm_up.as_deref().unwrap_or(&nothing);
    let timeouts = |record: &FlowRecord| u64::from(record.last.timeouts.unwrap_or(0));
    FlowOutcome {
        start: time(socket.started.unwrap_or(origin)),
        stop: socket.stopped.map(time),
        completed: after.completed.map(time),
        packets_sent: after.packets_sent - before.packets_sent,
        retransmissions: after.retransmissions - before.retransmissions,
        packets_received: after.packets_received - before.packets_received,
        duplicates: after.duplicates - before.duplicates,
        wire_bytes_received: after.wire_bytes_received - before.wire_bytes_received,
        bytes_in_order: after.bytes_in_order - before.bytes_in_order,
        packets_dropped: after.packets_dropped - before.packets_dropped,
        packets_lost: after.packets_lost - before.packets_lost,
        packets_copied: after.packets_copied - before.packets_copied,
        packets_in_flight,
        timeouts: timeouts(socket) - timeouts(then),
        congestion_events: socket.congestion_events - then.congestion_events,
        acks_received: after.acks_received - before.acks_received,
        packets_marked: after.packets_marked - before.packets_marked,
        rtt_samples: after.rtt_samples - before.rtt_samples,
        rtt_sum_s: (after.rtt_sum - before.rtt_sum) as f64 * 1e-9,
        rtt_min: after.rtt_min.map(Time),
        rtt_max: after.rtt_max.map(Time),
        cwnd_integral: (socket.cwnd_integral - then.cwnd_integral) * 1e-9,
        cwnd: f64::from(socket.last.cwnd),
        ssthresh: socket.last.ssthresh(),
        messages: Vec::new(),
    }
}

fn link(name: &str, before: &LinkCounts, after: &LinkCounts, in_flight: u64) -> LinkOutcome {
    LinkOutcome {
        name: name.to_owned(),
        arrived: after.arrived - before.arrived,
        data_arrived: after.data_arrived - before.data_arrived,
        dropped: after.dropped - before.dropped,
        lost: after.lost - before.lost,
        marked: after.marked - before.marked,
        copied: after.copied - before.copied,
        delivered: after.delivered - before.delivered,
        in_flight,
        waiting_integral: (after.waiting_integral - before.waiting_integral) as f64 * 1e-9,
        max_waiting: after.max_waiting,
    }
}

fn trace(scenario: &Scenario, answers: &Answers) -> Trace {
    let Answers { record, told, origin, samples, .. } = answers;
    let names = scenario.network.sampled_links().into_iter();
    // A run that ends early has no more samples.
    let times = samples.iter().take(record.queue_lengths.len());
    let rows = told.rows.iter().filter(|row| row.time < record.queue_lengths.len());
    Trace {
        queues: names.map(|link| scenario.network.links[link].name.clone()).collect(),
        samples: rows
            .map(|row| Sample {
                time_index: row.time,
                flow: row.flow,
                cwnd: f64::from(row.info.cwnd),
                ssthresh: row.info.ssthresh(),
                rtt: (row.info.rtt > 0).then(|| Time(u64::from(row.info.rtt) * 1000)),
                // The SYN is acknowledged as a byte.
                delivered_bytes: row.info.bytes_acked.saturating_sub(1),
                in_flight: row.info.in_flight(),
                state: match row.info.state {
                    0 => SampleState::Open,
                    1 => SampleState::Disorder,
                    2 => SampleState::Cwr,
                    3 => SampleState::Recovery,
                    _ => SampleState::Loss,
                },
            })
            .collect(),
        queue_lengths: record.queue_lengths.clone(),
        times: times.map(|at| Time(at - origin)).collect(),
    }
}

fn emulation(answers: &Answers) -> Emulation {
    let Record { lateness, rate_error, .. } = &answers.record;
    let late_p99 = lateness.quantile(0.99);
    let mut doubts = Vec::new();
    if late_p99 > TOO_LATE.0 {
        doubts.push(format!(
            "one packet in a hundred came out more than {} late, where {} is the most",
            Time(late_p99),
            TOO_LATE
        ));
    }
    if let Some(error) = rate_error.filter(|error| *error > RATE_ERROR) {
        doubts.push(format!(
            "the bottleneck's rate was {:.1} % off for a second, where {:.0} % is the most",
            error * 100.0,
            RATE_ERROR * 100.0
        ));
    }
    Emulation {
        late_p50: Time(lateness.quantile(0.5)),
        late_p99: Time(late_p99),
        late_max: Time(lateness.max),
        rate_error: *rate_error,
        steal: answers.steal,
        doubts,
        host: host::kernel(),
    }
}
