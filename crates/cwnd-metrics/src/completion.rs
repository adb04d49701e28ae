//! The functions behind the metrics of what has an end: transfers, short flows and messages.
//!
//! Where there are flows that last, short ones are left out. Of these those count that started since the counting began.

use super::view::{Flows, View, between, mean, mean_of, ratio, transmission};
use crate::statistics::percentile;
use cwnd_scenario::{MessageOutcome, Time, Traffic};

/// The mean over flows; none if a flow that is not short has no value. Short flows may be under way when the run ends.
fn mean_of_ends(view: &View<'_>, flows: Flows<'_>, value: impl Fn(usize) -> Option<f64>) -> Option<f64> {
    let lasting = view.lasting(flows);
    if lasting.is_empty() {
        let values: Vec<f64> = chosen(view, flows).into_iter().filter_map(value).collect();
        return mean(values.iter().sum(), values.len() as u64);
    }
    mean_of(&lasting, value)
}

/// The flows that are spoken of.
fn chosen(view: &View<'_>, flows: Flows<'_>) -> Vec<usize> {
    let lasting = view.lasting(flows);
    match lasting.is_empty() {
        true => flows.iter().copied().filter(|flow| view.flow(*flow).start >= view.outcome.begin).collect(),
        false => lasting,
    }
}

pub(super) fn completion_time_s(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    mean_of_ends(view, flows, |flow| completion(view, flow))
}

pub(super) fn completion_percentile(view: &View<'_>, flows: Flows<'_>, percent: f64) -> Option<f64> {
    let times = chosen(view, flows).into_iter().filter_map(|flow| completion(view, flow));
    percentile(&times.collect::<Vec<_>>(), percent)
}

pub(super) fn slowdown(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    mean_of_ends(view, flows, |flow| flow_slowdown(view, flow))
}

pub(super) fn slowdown_percentile(view: &View<'_>, flows: Flows<'_>, percent: f64) -> Option<f64> {
    let slowdowns = chosen(view, flows).into_iter().filter_map(|flow| flow_slowdown(view, flow));
    percentile(&slowdowns.collect::<Vec<_>>(), percent)
}

/// Of the flows that send a number of bytes and started before the end.
pub(super) fn completion_ratio(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let transfers: Vec<usize> = chosen(view, flows)
        .into_iter()
        .filter(|flow| {
            view.scenario.flows[*flow].bytes.is_some() && view.flow(*flow).start < view.outcome.end
        })
        .collect();
    let completed = transfers.iter().filter(|flow| view.flow(**flow).completed.is_some()).count();
    (!transfers.is_empty()).then(|| ratio(completed as u64, transfers.len() as u64))
}

/// Of the flows that have a deadline, and have met it or have come to it before the end.
pub(super) fn missed_deadline_ratio(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let met = |flow: usize| {
        let (deadline, counted) = (view.scenario.flows[flow].deadline?, view.flow(flow));
        let until = counted.start.0.saturating_add(deadline.0);
        match counted.completed {
            Some(completed) => Some(completed.0 <= until),
            None => (until <= view.outcome.end.0).then_some(false),
        }
    };
    let verdicts: Vec<bool> = chosen(view, flows).into_iter().filter_map(met).collect();
    let missed = verdicts.iter().filter(|met| !**met).count();
    (!verdicts.is_empty()).then(|| ratio(missed as u64, verdicts.len() as u64))
}

fn completion(view: &View<'_>, flow: usize) -> Option<f64> {
    let flow = view.flow(flow);
    flow.completed.map(|completed| between(flow.start, completed))
}

/// Returns whether the ACKs of a flow say when its data has arrived: a receiver that acknowledges missing data can make a transfer end
/// sooner than is possible.
fn is_acknowledged_truly(view: &View<'_>, flow: usize) -> bool {
    !view.scenario.flows[flow].receiver.conceals_losses()
}

fn flow_slowdown(view: &View<'_>, flow: usize) -> Option<f64> {
    if !is_acknowledged_truly(view, flow) {
        return None;
    }
    let least = least_time(view, flow, view.scenario.flows[flow].bytes?, true);
    Some(completion(view, flow)? / least).filter(|ratio| ratio.is_finite())
}

/// How long so many bytes of a flow take on an idle path at least, from their first being there to the ACK of the last,
/// seconds: the first packet comes to the narrowest link, all of them leave that one after the other, and the last one goes
/// on to the receiver and its ACK back. The first packet of a flow (`begins`) may be shorter than others. Where rate or delay
/// of a link vary, the best that they ever are counts.
fn least_time(view: &View<'_>, flow: usize, bytes: u64, begins: bool) -> f64 {
    let (spec, stack) = (&view.scenario.flows[flow], &view.scenario.stack);
    let (payload, headers) = (u64::from(stack.payload.max(1)), u64::from(stack.data_overhead));
    let packets = bytes.div_ceil(payload).max(1);
    let full = bytes.min(payload) + headers;
    let first = stack.first_packet.filter(|_| begins).map_or(full, |first| full.min(u64::from(first)));
    let last = if packets > 1 { bytes - (packets - 1) * payload + headers } else { first };
    let links = &view.scenario.network.links;
    let rate = |place: &usize| links[spec.route[*place]].fastest_rate();
    let on_wire = |route: &[usize], bytes: u64| -> f64 {
        route.iter().map(|link| transmission(links[*link].fastest_rate(), bytes as f64)).sum()
    };
    let narrowest = (0..spec.route.len()).min_by_key(rate).unwrap_or(0);
    let (before, after) = (&spec.route[..narrowest], &spec.route[narrowest + 1..]);
    let propagation =
        spec.route.iter().chain(&spec.ack_route).map(|link| links[*link].least_delay().as_secs_f64());
    propagation.sum::<f64>()
        + on_wire(before, first)
        + transmission(rate(&narrowest), (bytes + packets * headers - (full - first)) as f64)
        + on_wire(after, last)
        + on_wire(&spec.ack_route, u64::from(stack.ack_size))
}

/// The values of all messages that were completed.
fn of_messages(
    view: &View<'_>,
    flows: Flows<'_>,
    value: impl Fn(usize, usize, &MessageOutcome) -> Option<f64>,
) -> Vec<f64> {
    let of_flow = |flow: &usize| {
        let messages = view.flow(*flow).messages.iter().enumerate();
        messages.filter_map(|(place, message)| value(*flow, place, message)).collect::<Vec<f64>>()
    };
    flows.iter().flat_map(of_flow).filter(|value| value.is_finite()).collect()
}

fn message_times(view: &View<'_>, flows: Flows<'_>) -> Vec<f64> {
    of_messages(view, flows, |_, _, message| Some(between(message.start, message.end?)))
}

fn message_slowdowns(view: &View<'_>, flows: Flows<'_>) -> Vec<f64> {
    of_messages(view, flows, |flow, place, message| {
        if !is_acknowledged_truly(view, flow) {
            return None;
        }
        // The first packet of a flow carries the beginning of its first message.
        Some(between(message.start, message.end?) / least_time(view, flow, message.bytes, place == 0))
    })
}

pub(super) fn messages(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let given = flows.iter().any(|flow| !view.flow(*flow).messages.is_empty());
    given.then(|| message_times(view, flows).len() as f64)
}

/// The share of frames that were not acknowledged by their deadline, of those whose deadline is over.
pub(super) fn late_frames(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let end = view.scenario.duration;
    let (mut due, mut late) = (0, 0);
    for flow in flows {
        let Traffic::Media { deadline, .. } = view.scenario.flows[*flow].traffic else { continue };
        for frame in &view.flow(*flow).messages {
            let by = Time(frame.start.0.saturating_add(deadline.0));
            if by <= end {
                due += 1;
                late += u64::from(frame.end.is_none_or(|end| end > by));
            }
        }
    }
    mean(late as f64, due)
}

pub(super) fn message_time_s(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let times = message_times(view, flows);
    mean(times.iter().sum(), times.len() as u64)
}

pub(super) fn message_time_percentile(view: &View<'_>, flows: Flows<'_>, percent: f64) -> Option<f64> {
    percentile(&message_times(view, flows), percent)
}

pub(super) fn message_slowdown(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let slowdowns = message_slowdowns(view, flows);
    mean(slowdowns.iter().sum(), slowdowns.len() as u64)
}

pub(super) fn message_slowdown_percentile(view: &View<'_>, flows: Flows<'_>, percent: f64) -> Option<f64> {
    percentile(&message_slowdowns(view, flows), percent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunMetrics, values};
    use cwnd_experiment::{ExperimentSpec, FlowGroup};
    use cwnd_scenario::{FlowOutcome, Outcome, Rate, Scenario, Time};

    /// 100 Mbit/s between access links of 200 Mbit/s, base RTT 24 ms: one flow that lasts, and short ones of 30 KB at
    /// 50/s over 10 s.
    fn scenario() -> Scenario {
        let setup = ExperimentSpec {
            stack: cwnd_scenario::StackProfile::Ns2.into(),
            rate: Rate(100_000_000),
            delay: cwnd_experiment::LineDelay::OneWay(Time::from_millis(10)),
            access_rate: Some(cwnd_experiment::OrBottleneck::Own(Rate(200_000_000))),
            duration: Time::from_secs(10),
            short_flows: Some("cubic; rate=50/s; size=30 KB; deadline=40 ms".parse().unwrap()),
            ..ExperimentSpec::default()
        };
        setup.scenario(&[FlowGroup::new("cubic".parse().unwrap(), 1)], 1).unwrap()
    }

    /// Short flow i takes (i + 1) ms; the last is under way at the end.
    fn outcome(scenario: &Scenario) -> Outcome {
        let flow = |(i, spec): (usize, &cwnd_scenario::FlowSpec)| FlowOutcome {
            start: spec.start,
            completed: (spec.short && i + 1 < scenario.flows.len())
                .then(|| Time(spec.start.0 + i as u64 * 1_000_000)),
            wire_bytes_received: 1_000_000,
            ..FlowOutcome::default()
        };
        let flows = scenario.flows.iter().enumerate().map(flow).collect();
        Outcome { end: scenario.duration, flows, ..Outcome::default() }
    }

    #[test]
    fn the_least_time_is_that_of_an_idle_path() {
        let scenario = scenario();
        let outcome = outcome(&scenario);
        let view = &View::new(&scenario, &outcome);
        // 24 ms; 30 packets of 1,050 B at 100 Mbit/s: 2.52 ms; a packet more on either access link at 200 Mbit/s: 2 x 42 us; an
        // ACK of 40 B: 1.6 us, 3.2 us and 1.6 us.
        let expected = 0.024 + 2.52e-3 + 84e-6 + 6.4e-6;
        assert!((least_time(view, 1, 30_000, false) - expected).abs() < 1e-12);
        // One byte: a packet of 51 B on three links: 2.04 us, 4.08 us and 2.04 us.
        assert!((least_time(view, 1, 1, false) - 0.024 - 8.16e-6 - 6.4e-6).abs() < 1e-12);
        // 1,001 B: a full packet on the first link, 1,050 + 51 B on the narrowest, 51 B on the last.
        let expected = 0.024 + 42e-6 + 88.08e-6 + 2.04e-6 + 6.4e-6;
        assert!((least_time(view, 1, 1_001, false) - expected).abs() < 1e-12);
        // Where the flow begins the first packet has 40 B: 1.6 us on the first link, and 3.2 us instead of 84 on the next. One
        // of a single packet has it alone.
        assert!((least_time(view, 1, 1_001, true) - expected + 40.4e-6 + 80.8e-6).abs() < 1e-12);
        assert!((least_time(view, 1, 1, true) - 0.024 - 6.4e-6 - 6.4e-6).abs() < 1e-12);
    }

    #[test]
    fn short_flows_are_measured_together() {
        let scenario = scenario();
        let outcome = outcome(&scenario);
        let short = scenario.flows.len() - 1;
        assert!(short > 400, "{short}: 500 are expected");
        let run = RunMetrics::new(&scenario, &outcome);
        assert_eq!(run.flows.len(), 1);
        assert_eq!(run.throughput_bps, 8e6 * (short + 1) as f64 / 10.0);
        assert_eq!(run.jain_index, 1.0);
        let together = run.short_flows.expect("there are some");
        assert_eq!((together.flows, together.completed), (short as u64, short as u64 - 1));
        // 1, 2, … n ms, n = short - 1: the mean and the median are (n + 1)/2.
        let middle = short as f64 / 2.0 * 1e-3;
        assert!((together.completion_time_s.unwrap() - middle).abs() < 1e-9);
        assert!((together.completion_p50_s.unwrap() - middle).abs() < 1e-9);
        // All have the same least time: that of 30 KB, whose first packet has 40 B.
        let least = 0.024 + 2.52e-3 + 84e-6 + 6.4e-6 - 121.2e-6;
        let close =
            |found: Option<f64>, expected: f64| (found.unwrap() * least / expected - 1.0).abs() < 1e-9;
        assert!(close(together.slowdown, middle) && close(together.slowdown_p50, middle));
        // The p-th percentile stands p (n - 1) places behind the first.
        let at = |percent: f64| 1e-3 * (1.0 + percent / 100.0 * (short as f64 - 2.0));
        assert!(close(together.completion_p95_s.map(|time| time / least), at(95.0)));
        assert!(close(together.completion_p99_s.map(|time| time / least), at(99.0)));
        assert!(close(together.slowdown_p95, at(95.0)) && close(together.slowdown_p99, at(99.0)));
        // All over 40 ms have missed it; of the one under way that is not known, or known to be missed.
        let last = scenario.flows[short].start.0 + 40_000_000 <= scenario.duration.0;
        let verdicts = (short - 1) as f64 + f64::from(u8::from(last));
        assert!((together.missed_deadline_ratio.unwrap() - (verdicts - 40.0) / verdicts).abs() < 1e-12);
    }

    #[test]
    fn the_names_of_short_flows_have_values() {
        let mut scenario = scenario();
        let outcome = outcome(&scenario);
        let count = scenario.flows.len();
        scenario.flows[count / 2].bytes = Some(2_000_000);
        let values = values(&scenario, &outcome);
        for name in [
            "short.slowdown_p99",
            "short-small.completion_p50_s",
            "short-large.slowdown",
            "short.throughput_bps",
        ] {
            assert!(values.contains_key(name) && crate::has(&scenario, name), "{name}");
            assert!(crate::find(name).is_some(), "{name}");
        }
        assert_eq!(values["short-large.completion_time_s"], (count / 2) as f64 * 1e-3);
        assert!(!crate::has(&scenario, "flow2.throughput_bps") && !values.contains_key("short.cwnd_mean"));
        // What lasts has no end here, so of the run there is no completion time, though short flows have theirs.
        assert!(!values.contains_key("completion_p50_s") && !values.contains_key("completion_time_s"));
        assert!(values.keys().all(|name| crate::has(&scenario, name)));
    }

    /// By hand, with a deadline of 50 ms: 30, 20 and 50 ms are in time, 60 ms and the discarded frame are late, and that of the last
    /// frame is after the end.
    #[test]
    fn frames_are_late_after_their_deadline() {
        let mut scenario = scenario();
        scenario.flows.truncate(1);
        scenario.flows[0].traffic = "media:1 Mbit/s,100 ms,50 ms".parse().unwrap();
        let mut outcome = outcome(&scenario);
        let last = scenario.duration.0 / 1_000_000 - 10;
        let frame = |start: u64, end: Option<u64>| MessageOutcome {
            bytes: 3_000,
            start: Time::from_millis(start),
            end: end.map(Time::from_millis),
        };
        outcome.flows[0].messages = vec![
            frame(0, Some(30)),
            frame(100, Some(160)),
            frame(200, None),
            frame(300, Some(320)),
            frame(400, Some(450)),
            frame(last, None),
        ];
        let late = values(&scenario, &outcome)["flow1.late_frames"];
        assert!((late - 2.0 / 5.0).abs() < 1e-12, "{late}");
    }

    #[test]
    fn messages_are_measured_by_themselves() {
        let mut scenario = scenario();
        scenario.flows.truncate(1);
        let mut outcome = outcome(&scenario);
        let message = |start: u64, end: Option<u64>| MessageOutcome {
            bytes: 30_000,
            start: Time::from_millis(start),
            end: end.map(Time::from_millis),
        };
        outcome.flows[0].messages =
            vec![message(0, Some(30)), message(100, Some(160)), message(200, Some(290)), message(300, None)];
        let messages = RunMetrics::new(&scenario, &outcome).flows[0].messages.clone().expect("it has some");
        // 30, 60 and 90 ms.
        assert_eq!(messages.completed, 3.0);
        assert!(
            (messages.time_s.unwrap() - 0.06).abs() < 1e-12
                && (messages.time_p50_s.unwrap() - 0.06).abs() < 1e-12
        );
        // The 95th percentile stands at place 0.95 x 2 = 1.9: 60 + 0.9 x 30 ms.
        assert!((messages.time_p95_s.unwrap() - 0.087).abs() < 1e-12);
        // The first begins with the flow's packet of 40 B: 40.4 us less on the first link, and 80.8 us less on the next.
        let least = 0.024 + 2.52e-3 + 84e-6 + 6.4e-6;
        let expected = (0.03 / (least - 121.2e-6) + 0.15 / least) / 3.0;
        assert!((messages.slowdown.unwrap() - expected).abs() < 1e-9);
    }
}
