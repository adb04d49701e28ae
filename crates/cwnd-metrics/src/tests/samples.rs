//! Metrics of samples over time.

use super::*;
use cwnd_scenario::{Sample, SampleState, Schedule, Step, Steps, Trace};

/// The outcome with samples of every 500 ms: flow 1 from 1 s on with 1 MB a second, flow 2 from 1 s to 6 s with 3 MB,
/// flow 3 from 2 s on with 1 MB (it completes at 4.5 s).
fn sampled() -> Outcome {
    let times: Vec<Time> = (0..=20).map(|half| Time::from_millis(500 * half)).collect();
    let mut trace = Trace { queues: vec!["bottleneck".to_owned()], ..Trace::default() };
    for (time_index, time) in times.iter().enumerate() {
        trace.queue_lengths.push(vec![time_index as u32]);
        for (flow, start, stop, rate) in [(0, 2, 20, 1u64), (1, 2, 12, 3), (2, 4, 9, 1)] {
            if time_index >= start {
                let halves = time_index.min(stop) - start;
                trace.samples.push(Sample {
                    time_index,
                    flow,
                    cwnd: [10.0, 50.0, 99.0, 100.0][halves.min(3)] * rate as f64,
                    ssthresh: f64::INFINITY,
                    rtt: (halves > 0).then(|| Time::from_millis(20 + halves as u64)),
                    delivered_bytes: 500_000 * rate * halves as u64,
                    in_flight: 1,
                    sent: None,
                    state: SampleState::Open,
                });
            }
        }
        trace.times.push(*time);
    }
    Outcome { trace: Some(trace), ..outcome() }
}

#[test]
fn samples_by_hand() {
    let mut scenario = scenario();
    let outcome = sampled();
    let get = |scenario: &Scenario, name: &str| value(scenario, &outcome, name);
    // 100, 300 and 100 segments; the first sample over 95 % of it is the third, 1 s after the start.
    close(get(&scenario, "cwnd_max"), 500.0 / 3.0);
    assert_eq!(get(&scenario, "flow2.cwnd_max"), Some(300.0));
    close(get(&scenario, "time_to_cwnd_max_s"), 1.0);
    // Flow 2's RTTs: 21 to 29 ms, 30 ms ten times.
    close(get(&scenario, "flow2.rtt_p50_s"), 0.0295);
    // The queue has 2 to 20 packets at flow 2's samples: the median is 11, of 84 us each.
    close(get(&scenario, "flow2.queue_delay_p50_s"), 11.0 * 84e-6);
    // At all sample times it has 0 to 20 packets: 10 in the median, 19 and 19.8 at 95 % and 99 %.
    close(get(&scenario, "bottleneck.link_queue_delay_p50_s"), 10.0 * 84e-6);
    close(get(&scenario, "bottleneck.link_queue_delay_p95_s"), 19.0 * 84e-6);
    close(get(&scenario, "bottleneck.link_queue_delay_p99_s"), 19.8 * 84e-6);
    // From 5 s on, 10 to 20.
    let second_half = Outcome { begin: Time::from_secs(5), ..outcome.clone() };
    close(value(&scenario, &second_half, "bottleneck.link_queue_delay_p50_s"), 15.0 * 84e-6);
    let mut unlimited = scenario.clone();
    unlimited.network.links[0].rate = Rate::UNLIMITED;
    assert_eq!(get(&unlimited, "bottleneck.link_queue_delay_p95_s"), None);
    let counts = Outcome { trace: None, ..outcome.clone() };
    assert_eq!(value(&scenario, &counts, "bottleneck.link_queue_delay_p95_s"), None);
    // 5 MB of payload a second are 42 Mbit/s on the wire: over 0.95 x 44 Mbit/s, from 2 s to 3 s at first.
    scenario.network.links[0].rate = Rate(44_000_000);
    assert_eq!(get(&scenario, "convergence_time_s"), Some(3.0));
    assert_eq!(get(&scenario, "converged"), Some(1.0));
    // A warm-up changes nothing in that.
    let late = Outcome { begin: Time::from_secs(5), ..outcome.clone() };
    assert_eq!(value(&scenario, &late, "convergence_time_s"), Some(3.0));
    scenario.network.links[0].rate = Rate(45_000_000);
    assert_eq!(get(&scenario, "convergence_time_s"), None);
    assert_eq!(get(&scenario, "converged"), Some(0.0));
    // 1, 3 and 1 MB/s: (5^2)/(3 x 11) = 0.76, never even. Flow 3 ends at 4.5 s, so no 5 s are looked at at all.
    assert_eq!(get(&scenario, "fairness_time_s"), None);
}

/// By hand: intervals of a second (five round trips of 22 ms are less), in each 100 packets. Three seconds in a row with over ten
/// retransmissions trip the breaker; then it begins again, so that seven in a row are two trips.
#[test]
fn a_circuit_breaker_trips_after_three_bad_intervals() {
    let cubic = AlgorithmSpec { name: "cubic".to_owned(), ..AlgorithmSpec::default() };
    let setup = ExperimentSpec {
        delay: "10 ms".parse::<Time>().map(cwnd_experiment::LineDelay::OneWay).unwrap(),
        duration: Time::from_secs(20),
        ..ExperimentSpec::default()
    };
    let scenario = setup.scenario(&[FlowGroup::new(cubic, 1)], 1).unwrap();
    let metric = |name: &str, again: &[u64], known: bool| {
        let mut trace = Trace { queues: Vec::new(), ..Trace::default() };
        let mut total = 0;
        for time_index in 0..=again.len() {
            trace.times.push(Time::from_secs(time_index as u64));
            trace.queue_lengths.push(Vec::new());
            trace.samples.push(Sample {
                time_index,
                flow: 0,
                cwnd: 10.0,
                ssthresh: 5.0,
                rtt: None,
                delivered_bytes: 0,
                in_flight: 10,
                sent: known.then_some((100 * time_index as u64, total)),
                state: SampleState::Open,
            });
            total += again.get(time_index).copied().unwrap_or_default();
        }
        let outcome = Outcome {
            end: Time::from_secs(20),
            flows: vec![FlowOutcome::default()],
            trace: Some(trace),
            ..outcome()
        };
        value(&scenario, &outcome, name)
    };
    let trips = |again: &[u64]| metric("breaker_trips", again, true);
    assert_eq!(trips(&[11, 11, 11, 0]), Some(1.0));
    assert_eq!(trips(&[11, 11, 10, 11, 11]), Some(0.0));
    assert_eq!(trips(&[50; 7]), Some(2.0));
    assert_eq!(metric("breaker_share", &[11, 10, 50, 0], true), Some(0.5));
    assert_eq!(metric("breaker_trips", &[50; 7], false), None);
}

#[test]
fn epochs_are_from_one_reduction_to_the_next() {
    use SampleState::{Cwr, Disorder, Loss, Open, Recovery};
    let cubic = AlgorithmSpec { name: "cubic".to_owned(), ..AlgorithmSpec::default() };
    let setup = ExperimentSpec {
        stack: StackProfile::Ns2.into(),
        duration: Time::from_secs(20),
        ..ExperimentSpec::default()
    };
    let scenario = setup.scenario(&[FlowGroup::new(cubic, 1)], 1).unwrap();
    let metric = |name: &str, states: &[SampleState]| {
        let mut trace = Trace { queues: Vec::new(), ..Trace::default() };
        for (time_index, state) in states.iter().enumerate() {
            trace.times.push(Time::from_secs(time_index as u64));
            trace.queue_lengths.push(Vec::new());
            let sample = Sample {
                time_index,
                flow: 0,
                cwnd: 10.0,
                ssthresh: 5.0,
                rtt: None,
                delivered_bytes: 0,
                in_flight: 10,
                sent: None,
                state: *state,
            };
            trace.samples.push(sample);
        }
        let flow = FlowOutcome::default();
        let outcome =
            Outcome { end: Time::from_secs(20), flows: vec![flow], trace: Some(trace), ..outcome() };
        value(&scenario, &outcome, name)
    };
    let epoch = |states: &[SampleState]| metric("epoch_time_s", states);
    // Reductions begin at 2, 5 and 9 s: (9 - 2)/2. The one that is under way at first does not count.
    assert_eq!(
        epoch(&[Recovery, Open, Recovery, Recovery, Open, Cwr, Open, Disorder, Open, Loss, Loss, Open]),
        Some(3.5)
    );
    assert_eq!(epoch(&[Open, Recovery, Open, Open]), None);
    assert_eq!(epoch(&[Open, Disorder]), None);
    // The greatest window is 10, and ssthresh in the first reduction 5.
    assert_eq!(metric("backoff_factor", &[Open, Disorder, Recovery, Open, Cwr]), Some(0.5));
    assert_eq!(metric("backoff_factor", &[Open, Disorder]), None);
}

#[test]
fn shares_are_even_from_when_they_stay_so() {
    // Two flows: the second has nothing for 4 s, and then as much as the first, until 20 s.
    let cubic = AlgorithmSpec { name: "cubic".to_owned(), ..AlgorithmSpec::default() };
    let setup = ExperimentSpec {
        stack: StackProfile::Ns2.into(),
        duration: Time::from_secs(20),
        ..ExperimentSpec::default()
    };
    let scenario = setup.scenario(&[FlowGroup::new(cubic, 2)], 1).unwrap();
    let mut trace = Trace { queues: Vec::new(), ..Trace::default() };
    for second in 0..=20u64 {
        trace.times.push(Time::from_secs(second));
        trace.queue_lengths.push(Vec::new());
        for flow in 0..2 {
            let delivered = if flow == 0 { second } else { second.saturating_sub(4) };
            trace.samples.push(Sample {
                time_index: second as usize,
                flow,
                cwnd: 1.0,
                ssthresh: 1.0,
                rtt: None,
                delivered_bytes: 1_000 * delivered,
                in_flight: 0,
                sent: None,
                state: SampleState::Open,
            });
        }
    }
    let end = Time::from_secs(20);
    let outcome =
        Outcome { end, flows: vec![FlowOutcome::default(); 2], trace: Some(trace), ..Outcome::default() };
    // From 2 s to 7 s the flows have 5 and 3: 64 / 68 = 0.94; from 1 s to 6 s 5 and 2: 49 / 58 = 0.84.
    assert_eq!(value(&scenario, &outcome, "fairness_time_s"), Some(2.0));
    assert_eq!(value(&scenario, &outcome, "fairness_first_s"), Some(2.0));
    // 10 and 6, then 10 and 10: 256 / 272 and 1.
    close(value(&scenario, &outcome, "jain_10s"), (256.0 / 272.0 + 1.0) / 2.0);
    close(value(&scenario, &outcome, "jain_10s_least"), 256.0 / 272.0);
    // These are times of the whole run, and indices are of the counted time: from 5 s to 15 s 10 and 10, and no more.
    let late = Outcome { begin: Time::from_secs(5), ..outcome.clone() };
    assert_eq!(value(&scenario, &late, "fairness_time_s"), Some(2.0));
    close(value(&scenario, &late, "jain_10s"), 1.0);
    let short = Outcome { begin: Time::from_secs(11), ..outcome.clone() };
    assert_eq!(value(&scenario, &short, "jain_10s"), None);
}

/// The queue has 0 to 20 packets of 84 us each at the sample times 0, 0.5, ... 10 s.
#[test]
fn queue_delays_are_at_the_rates_that_come() {
    let step = |at, rate| Step { at: Time::from_secs(at), rate: Rate(rate), delay: Time::from_millis(10) };
    let with = |steps: Vec<Step>| {
        let mut scenario = scenario();
        let bottleneck = scenario.network.bottleneck;
        scenario.network.links[bottleneck].schedule = Some(Schedule::Steps(Steps { steps, period: None }));
        scenario
    };
    let outcome = sampled();
    let get = |scenario: &Scenario, name: &str| value(scenario, &outcome, name);
    // A tenth of the rate from 5 s on: 10 to 20 packets take 8.4 to 16.8 ms, and the others less than 1 ms.
    let slower = with(vec![step(5, 10_000_000)]);
    close(get(&slower, "bottleneck.link_queue_delay_p50_s"), 8.4e-3);
    close(get(&slower, "bottleneck.link_queue_delay_p95_s"), 19.0 * 0.84e-3);
    close(get(&slower, "flow2.queue_delay_p50_s"), 11.0 * 0.84e-3);
    // From 9 s to 9.6 s nothing goes: 18 and 19 packets wait for 0.6 and 0.1 s.
    let outage = with(vec![step(9, 0), Step { at: Time::from_millis(9_600), ..step(0, 100_000_000) }]);
    close(get(&outage, "bottleneck.link_queue_delay_p95_s"), 0.1 + 19.0 * 84e-6);
    // What never goes waits until the end, for 1 and 0.5 s.
    close(get(&with(vec![step(9, 0)]), "bottleneck.link_queue_delay_p95_s"), 0.5);
}

#[test]
fn no_delay_is_taken_off_where_it_changes() {
    let varying = |link: usize, delay| {
        let mut scenario = scenario();
        let step = Step { at: Time::from_secs(5), rate: Rate(10_000_000), delay: Time::from_millis(delay) };
        scenario.network.links[link].schedule =
            Some(Schedule::Steps(Steps { steps: vec![step], period: None }));
        ["queueing_delay_mean_s", "jain_queueing_delay"]
            .map(|name| value(&scenario, &outcome(), name).is_some())
    };
    let scenario = scenario();
    let (forward, back) = (scenario.network.bottleneck, scenario.flows[0].ack_route[1]);
    assert_eq!((varying(forward, 10), varying(forward, 20)), ([true; 2], [false; 2]));
    assert_eq!((varying(back, 10), varying(back, 1)), ([true; 2], [false; 2]));
}
