//! From what the emulator counted and the sockets told to the answer that every engine gives.

use crate::emulator::{Counts, FlowCounts, LinkCounts, Record};
use crate::host;
use crate::traffic::{FlowRecord, TrafficRecord};
use cwnd_scenario::{
    Emulation, FlowOutcome, Implementation, LinkOutcome, Observed, Outcome, Sample, SampleState, Scenario,
    Time, Trace,
};

/// Packets that come out of the emulator later than this after they were due are too late: 99 of 100 must not be.
pub const TOO_LATE: Time = Time(500_000);

/// A rate that is further off than this is not the rate.
const RATE_ERROR: f64 = 0.01;

/// No algorithm chooses a larger window or slow-start threshold, segments: it is 9 GB with segments of 536 bytes. Some kernels of virtual
/// machines do not call BPF programs while process 1 runs, and use what is on the stack as the hook's return value.
const WINDOW_MOST: u32 = 1 << 24;

/// All that a run has told.
pub struct Measurements {
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
    /// What ran each algorithm.
    pub implementations: Vec<Implementation>,
}

/// The answer.
pub fn outcome(scenario: &Scenario, answers: &Measurements) -> Outcome {
    let Measurements { record, told, origin, .. } = answers;
    let [left_then, left] = &record.bytes_left;
    let all = counted(scenario, &record.at_end, left, told.flows.iter(), *origin);
    let mut outcome = match &record.at_warm_up {
        None => all,
        Some(counts) => {
            let nothing = FlowRecord::default();
            let then = told.flows.iter().map(|flow| flow.at_warm_up.as_deref().unwrap_or(&nothing));
            all.since(&counted(scenario, counts, left_then, then, *origin))
        }
    };
    for (flow, in_flight) in outcome.flows.iter_mut().zip(&record.flows_in_flight) {
        flow.packets_in_flight = *in_flight;
    }
    for (link, in_flight) in outcome.links.iter_mut().zip(&record.links_in_flight) {
        link.in_flight = *in_flight;
    }
    Outcome {
        begin: scenario.warm_up,
        // Where every flow had reached its end, nothing would have come any more.
        end: scenario.duration,
        trace: scenario.sample.map(|_| trace(scenario, answers)),
        emulation: Some(emulation(answers)),
        ..outcome
    }
}

/// What had been counted and had left each link by a time, and what the flows' sockets had told.
fn counted<'a>(
    scenario: &Scenario,
    counts: &Counts,
    left: &[Vec<u64>],
    sockets: impl Iterator<Item = &'a FlowRecord>,
    origin: u64,
) -> Outcome {
    let flows = counts.flows.iter().zip(sockets).zip(left);
    let links = counts.links.iter().zip(&scenario.network.links);
    Outcome {
        flows: flows.map(|((counts, socket), left)| flow(counts, left, socket, origin)).collect(),
        links: links.map(|(counts, spec)| link(&spec.name, counts)).collect(),
        ..Outcome::default()
    }
}

fn flow(counts: &FlowCounts, left: &[u64], socket: &FlowRecord, origin: u64) -> FlowOutcome {
    let time = |clock: u64| Time(clock.saturating_sub(origin));
    FlowOutcome {
        start: time(socket.started.unwrap_or(origin)),
        stop: socket.stopped.map(time),
        completed: counts.completed.map(time),
        packets_sent: counts.packets_sent,
        retransmissions: counts.retransmissions,
        packets_received: counts.packets_received,
        duplicates: counts.duplicates,
        wire_bytes_received: counts.wire_bytes_received,
        bytes_in_order: counts.bytes_in_order,
        bytes_left: left.to_vec(),
        packets_dropped: counts.packets_dropped,
        packets_lost: counts.packets_lost,
        packets_copied: counts.packets_copied,
        packets_in_flight: 0,
        timeouts: u64::from(socket.last.timeouts.unwrap_or(0)),
        congestion_events: socket.congestion_events,
        acks_received: counts.acks_received,
        packets_marked: counts.packets_marked,
        rtt_samples: counts.rtt_samples,
        rtt_sum_s: counts.rtt_sum as f64 * 1e-9,
        rtt_min: counts.rtt_min.map(Time),
        rtt_max: counts.rtt_max.map(Time),
        cwnd_integral: socket.cwnd_integral * 1e-9,
        cwnd: f64::from(socket.last.cwnd),
        ssthresh: socket.last.ssthresh(),
        messages: Vec::new(),
    }
}

fn link(name: &str, counts: &LinkCounts) -> LinkOutcome {
    LinkOutcome {
        name: name.to_owned(),
        arrived: counts.arrived,
        data_arrived: counts.data_arrived,
        dropped: counts.dropped,
        lost: counts.lost,
        marked: counts.marked,
        copied: counts.copied,
        delivered: counts.delivered,
        in_flight: 0,
        waiting_integral: counts.waiting_integral as f64 * 1e-9,
        max_waiting: counts.max_waiting,
    }
}

fn trace(scenario: &Scenario, answers: &Measurements) -> Trace {
    let Measurements { record, told, origin, samples, .. } = answers;
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
                sent: None,
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
        observed: observed(told, record.queue_lengths.len().min(samples.len())),
    }
}

/// Returns the state of the flows' algorithms as series.
fn observed(told: &TrafficRecord, times: usize) -> Vec<Observed> {
    let names = told.states.iter().enumerate();
    let names =
        names.flat_map(|(flow, names)| names.iter().enumerate().map(move |(i, name)| (flow, i, *name)));
    let series = |(flow, i, name): (usize, usize, &str)| {
        let mut values = vec![f64::NAN; times];
        for row in told.rows.iter().filter(|row| row.flow == flow && row.time < times) {
            values[row.time] = row.state.get(i).copied().unwrap_or(f64::NAN);
        }
        Observed { flow, name: name.to_owned(), values }
    };
    names.map(series).collect()
}

fn emulation(answers: &Measurements) -> Emulation {
    let Record { lateness, rate_error, .. } = &answers.record;
    let mut validity_warnings = validity_warnings(&answers.record);
    validity_warnings.extend(window_warning(&answers.told.flows));
    Emulation {
        late_p50: Time(lateness.quantile(0.5)),
        late_p99: Time(lateness.quantile(0.99)),
        late_max: Time(lateness.max),
        rate_error: *rate_error,
        steal: answers.steal,
        validity_warnings,
        host: host::kernel(),
        implementations: answers.implementations.clone(),
    }
}

/// Returns why a network was not accurate enough for a valid run; nothing if it was.
pub fn validity_warnings(record: &Record) -> Vec<String> {
    let mut warnings = Vec::new();
    let late_p99 = Time(record.lateness.quantile(0.99));
    if late_p99 > TOO_LATE {
        warnings.push(format!(
            "one packet in a hundred came out more than {late_p99} late, where {TOO_LATE} is the most"
        ));
    }
    if let Some(error) = record.rate_error.filter(|error| *error > RATE_ERROR) {
        warnings.push(format!(
            "the bottleneck's rate was {:.1} % off for a second, where {:.0} % is the most",
            error * 100.0,
            RATE_ERROR * 100.0
        ));
    }
    warnings
}

/// Returns why the windows of a run are not those of its algorithms; nothing if they may be.
fn window_warning(flows: &[FlowRecord]) -> Option<String> {
    let (flow, record) = flows.iter().enumerate().max_by_key(|(_, flow)| flow.window_max)?;
    (record.window_max > WINDOW_MOST).then(|| {
        format!(
            "flow {flow} had a window or a threshold of {} segments, which no algorithm chose: this kernel does not always call the algorithm's BPF \
             program",
            record.window_max
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_no_algorithm_chose_makes_a_run_not_valid() {
        let flow = |window_max| FlowRecord { window_max, ..FlowRecord::default() };
        assert_eq!(window_warning(&[]), None);
        assert_eq!(window_warning(&[flow(12_000), flow(1 << 24)]), None);
        let warning = window_warning(&[flow(12_000), flow(135_340_032), flow(4)]).expect("it is too large");
        assert!(warning.starts_with("flow 1 had a window or a threshold of 135340032 segments"), "{warning}");
    }
}
