mod names;
mod samples;

use super::*;
use cwnd_experiment::{ExperimentSpec, FlowGroup, LineDelay, OrBottleneck, Topology};
use cwnd_scenario::{AlgorithmSpec, FlowOutcome, QueueLimit, Rate, StackProfile};

/// Three forward flows and a reverse one over 10 s at 100 Mbit/s.
fn scenario() -> Scenario {
    let cubic: AlgorithmSpec = "cubic:c=1".parse().unwrap();
    let setup = ExperimentSpec {
        topology: Topology::Dumbbell,
        access_rate: Some(OrBottleneck::Bottleneck),
        stack: StackProfile::Ns2.into(),
        rate: Rate(100_000_000),
        delay: LineDelay::OneWay(Time::from_millis(10)),
        duration: Time::from_secs(10),
        buffer: 20.into(),
        ..ExperimentSpec::default()
    };
    let groups = [FlowGroup::new(cubic.clone(), 3), FlowGroup { reverse: true, ..FlowGroup::new(cubic, 1) }];
    setup.scenario(&groups, 7).unwrap()
}

fn outcome() -> Outcome {
    let bulk = FlowOutcome {
        start: Time::from_secs(1),
        packets_sent: 1_000,
        retransmissions: 30,
        packets_received: 940,
        duplicates: 10,
        wire_bytes_received: 12_500_000,
        bytes_in_order: 10_000_000,
        packets_dropped: 20,
        packets_lost: 5,
        packets_in_flight: 25,
        timeouts: 1,
        congestion_events: 4,
        rtt_samples: 4,
        rtt_sum_s: 0.1,
        rtt_min: Some(Time::from_millis(20)),
        rtt_max: Some(Time::from_millis(30)),
        cwnd_integral: 900.0,
        ..FlowOutcome::default()
    };
    let stopped = FlowOutcome { stop: Some(Time::from_secs(6)), ..bulk.clone() };
    let completed = FlowOutcome {
        start: Time::from_secs(2),
        completed: Some(Time::from_millis(4_500)),
        wire_bytes_received: 50_000_000,
        rtt_samples: 0,
        rtt_sum_s: 0.0,
        rtt_min: None,
        rtt_max: None,
        ..bulk.clone()
    };
    let reverse = FlowOutcome { wire_bytes_received: 125_000, ..bulk.clone() };
    let link = LinkOutcome {
        name: "bottleneck".to_owned(),
        arrived: 3_000,
        data_arrived: 2_000,
        dropped: 60,
        lost: 15,
        waiting_integral: 45.0,
        max_waiting: 19,
        ..LinkOutcome::default()
    };
    Outcome {
        begin: Time::ZERO,
        end: Time::from_secs(10),
        flows: vec![bulk, stopped, completed, reverse],
        links: vec![link],
        trace: None,
        emulation: None,
    }
}

#[test]
fn a_run_is_the_sum_of_its_forward_flows() {
    let run = RunMetrics::new(&scenario(), &outcome());
    // (12.5 + 12.5 + 50) MB in 10 s.
    assert_eq!(run.throughput_bps, 60e6);
    // From the first start at 1 s to the end of the first flow, which is that of the run, at 10 s.
    assert_eq!(run.throughput_active_bps, 75e6 * 8.0 / 9.0);
    assert_eq!(run.goodput_bps, 24e6);
    assert_eq!(run.utilisation, Some(0.6));
    assert_eq!(run.packets_sent, 3_000);
    assert_eq!((run.packets_received, run.packets_duplicated), (2_820, 30));
    assert_eq!(run.packets_dropped, 60);
    assert_eq!(run.packets_lost_to_errors, 15);
    assert_eq!(run.loss_ratio, 0.025);
    assert_eq!(run.drop_ratio, 0.02);
    assert_eq!(run.unreceived_ratio, 0.06);
    assert_eq!((run.retransmissions, run.timeouts, run.congestion_events), (90, 3, 12));
    // 10, 10 and 40 Mbit/s: 60^2 / (3 x 1,800) = 2/3.
    assert!((run.jain_index - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(run.rtt_mean_s, Some(0.2 / 8.0));
    assert_eq!(run.reverse_throughput_bps, 1e5);
}

#[test]
fn a_flow_is_measured_over_the_run_and_over_its_own_time() {
    let run = RunMetrics::new(&scenario(), &outcome());
    let [bulk, stopped, completed, reverse] = run.flows.as_slice() else { panic!("four flows") };
    assert_eq!((bulk.flow, bulk.algorithm.as_str(), bulk.reverse), (1, "cubic:c=1", false));
    assert_eq!((bulk.throughput_bps, bulk.goodput_bps), (10e6, 8e6));
    assert_eq!(bulk.throughput_active_bps, 100e6 / 9.0);
    assert_eq!((bulk.start_s, bulk.stop_s, bulk.completion_time_s), (1.0, None, None));
    assert_eq!((bulk.rtt_mean_s, bulk.rtt_min_s, bulk.rtt_max_s), (Some(0.025), Some(0.02), Some(0.03)));
    assert_eq!(bulk.cwnd_mean, Some(100.0));
    assert_eq!((bulk.packets_sent, bulk.packets_received, bulk.loss_ratio), (1_000, 940, 0.025));
    assert_eq!((stopped.stop_s, stopped.throughput_active_bps), (Some(6.0), 20e6));
    assert_eq!(completed.completion_time_s, Some(2.5));
    assert_eq!(completed.throughput_active_bps, 160e6);
    assert_eq!((completed.rtt_mean_s, completed.rtt_min_s), (None, None));
    assert!(reverse.reverse);
}

#[test]
fn what_is_counted_begins_when_the_warm_up_is_over() {
    // The same counts in the last 5 s: rates are twice as high.
    let late = Outcome { begin: Time::from_secs(5), ..outcome() };
    let run = RunMetrics::new(&scenario(), &late);
    assert_eq!((run.throughput_bps, run.goodput_bps), (120e6, 48e6));
    assert_eq!(run.throughput_active_bps, 120e6);
    let [bulk, stopped, completed, _] = run.flows.as_slice() else { panic!("four flows") };
    assert_eq!((bulk.throughput_bps, bulk.cwnd_mean), (20e6, Some(180.0)));
    // From 5 s to its stop at 6 s.
    assert_eq!(stopped.throughput_active_bps, 100e6);
    // It ended before anything counted; the time it took stays.
    assert_eq!((completed.throughput_active_bps, completed.completion_time_s), (0.0, Some(2.5)));
    assert_eq!(run.queues[0].mean_packets, 9.0);
}

#[test]
fn a_queue_counts_what_waits() {
    let run = RunMetrics::new(&scenario(), &outcome());
    let queue = &run.queues[0];
    assert_eq!((queue.link.as_str(), queue.dropped, queue.lost_to_errors), ("bottleneck", 60, 15));
    assert_eq!((queue.mean_packets, queue.max_packets), (4.5, 19));
}

#[test]
fn nothing_that_happened_is_no_nan() {
    let scenario = scenario();
    for end in [Time::ZERO, Time::from_secs(10)] {
        let flows = vec![FlowOutcome { start: Time::from_secs(10), ..FlowOutcome::default() }; 4];
        let outcome = Outcome { end, flows, ..Outcome::default() };
        let run = RunMetrics::new(&scenario, &outcome);
        assert_eq!((run.throughput_bps, run.throughput_active_bps, run.loss_ratio), (0.0, 0.0, 0.0));
        assert_eq!((run.jain_index, run.rtt_mean_s, run.flows[0].cwnd_mean), (1.0, None, None));
        let json = serde_json::to_string(&run).unwrap();
        assert!(!json.contains("NaN"), "{json}");
    }
}

#[test]
fn a_bottleneck_without_a_rate_is_not_utilised() {
    let mut scenario = scenario();
    scenario.network.links[0].rate = Rate::UNLIMITED;
    scenario.network.links[0].queue.limit = QueueLimit::Unlimited;
    assert_eq!(RunMetrics::new(&scenario, &outcome()).utilisation, None);
}

#[test]
fn jains_index_by_hand() {
    assert_eq!(jain_index(&[]), 1.0);
    assert_eq!(jain_index(&[0.0, 0.0]), 1.0);
    assert_eq!(jain_index(&[3.0]), 1.0);
    assert_eq!(jain_index(&[1.0, 0.0]), 0.5);
    assert!((jain_index(&[1.0, 2.0, 3.0]) - 36.0 / 42.0).abs() < 1e-15);
    assert_eq!(jain_index(&[f64::MAX, f64::MAX]), 1.0);
}

fn value(scenario: &Scenario, outcome: &Outcome, name: &str) -> Option<f64> {
    values(scenario, outcome).get(name).copied()
}

#[track_caller]
fn close(value: Option<f64>, expected: f64) {
    let value = value.expect("measured");
    assert!((value - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{value} is not {expected}");
}

#[test]
fn values_are_those_of_the_run_its_flows_and_its_queues() {
    let (scenario, outcome) = (scenario(), outcome());
    let get = |name: &str| value(&scenario, &outcome, name);
    assert_eq!(get("throughput_bps"), Some(60e6));
    assert_eq!(get("flow3.throughput_bps"), Some(40e6));
    assert_eq!(get("flow4.throughput_bps"), Some(1e5));
    assert_eq!(get("flow1.loss_ratio"), Some(0.025));
    assert_eq!(get("bottleneck.mean_packets"), Some(4.5));
    assert_eq!(get("delivery_ratio"), Some(0.94));
    assert_eq!(get("retransmission_ratio"), Some(0.03));
    close(get("throughput_ratio"), 160.0 / (100.0 / 9.0));
    // Flow 3 has no samples: the mean is that of the others; the indices are of flows that have them.
    assert_eq!(get("rtt_mean_s"), Some(0.025));
    assert_eq!((get("jain_rtt"), get("flow3.rtt_mean_s")), (Some(1.0), None));
    // The base RTT is 2 x (1 + 10 + 1) = 24 ms; 1,050 B take 84 us on each of three links, and 40 B 3.2 us.
    close(get("queueing_delay_mean_s"), 0.025 - 0.024 - 3.0 * 84e-6 - 3.0 * 3.2e-6);
    // One algorithm, one base RTT, flows without an end, no samples.
    for name in ["jain_algorithms", "jain_base_rtts", "completion_time_s", "slowdown", "cwnd_max"] {
        assert_eq!(get(name), None, "{name}");
    }
    assert!(values(&scenario, &outcome).keys().all(|name| find(name).is_some() && has(&scenario, name)));
    assert!(has(&scenario, "access-1.dropped") && !has(&scenario, "exit-1.dropped"));
    assert!(has(&scenario, "flow4.goodput_bps") && !has(&scenario, "flow5.goodput_bps"));
    assert!(!has(&scenario, "cubic:c=1.goodput_bps"));
}

#[test]
fn algorithms_that_share_have_values_of_their_own() {
    let mut scenario = scenario();
    scenario.flows[2].algorithm = "elastic:beta=0.5".parse().unwrap();
    let get = |name: &str| value(&scenario, &outcome(), name);
    assert_eq!(get("elastic:beta=0.5.throughput_bps"), Some(40e6));
    assert_eq!(get("cubic:c=1.throughput_bps"), Some(20e6));
    assert_eq!(get("cubic:c=1.jain_index"), Some(1.0));
    assert!(has(&scenario, "cubic:c=1.jain_index") && !has(&scenario, "cubic.jain_index"));
    assert!(values(&scenario, &outcome()).keys().all(|name| has(&scenario, name)));
    // 10 and 40 Mbit/s a flow: 50^2 / (2 x 1,700).
    close(get("jain_algorithms"), 2500.0 / 3400.0);
}

#[test]
fn groups_have_values_of_their_own() {
    let mut scenario = scenario();
    for (flow, name) in [(0, "tested"), (1, "tested"), (2, "background"), (3, "against")] {
        scenario.flows[flow].group = Some(name.to_owned());
    }
    let get = |name: &str| value(&scenario, &outcome(), name);
    assert_eq!(get("tested.throughput_bps"), Some(20e6));
    assert_eq!((get("tested.throughput_mean_bps"), get("throughput_mean_bps")), (Some(10e6), Some(20e6)));
    assert_eq!((get("background.utilisation"), get("tested.jain_index")), (Some(0.4), Some(1.0)));
    close(get("tested.throughput_share"), 1.0 / 3.0);
    close(get("flow3.throughput_share"), 2.0 / 3.0);
    // 10 Mbit/s a flow and 40; the reverse flow's group has no part in it.
    assert_eq!(get("group_ratio"), Some(0.25));
    assert_eq!(get("against.throughput_bps"), None);
    assert!(has(&scenario, "background.jain_10s") && !has(&scenario, "against.jain_index"));
    assert!(values(&scenario, &outcome()).keys().all(|name| has(&scenario, name)));
    // Of one group, and of three, there is no ratio.
    scenario.flows[2].group = None;
    assert_eq!(value(&scenario, &outcome(), "group_ratio"), None);
    scenario.flows[1].group = Some("third".to_owned());
    scenario.flows[2].group = Some("background".to_owned());
    assert_eq!(value(&scenario, &outcome(), "group_ratio"), None);
}

#[test]
fn links_that_flows_share_have_values() {
    let setup = ExperimentSpec {
        topology: Topology::Satellite,
        rate: Rate(100_000_000),
        delay: LineDelay::OneWay(Time::from_millis(20)),
        cross_flows: Some("newreno*4".parse().unwrap()),
        duration: Time::from_secs(10),
        ..ExperimentSpec::default()
    };
    let cubic = AlgorithmSpec { name: "cubic".to_owned(), ..AlgorithmSpec::default() };
    let mut scenario = setup.scenario(&[FlowGroup::new(cubic, 2)], 1).unwrap();
    let links = scenario.network.links.iter();
    let links = links.map(|link| LinkOutcome { name: link.name.clone(), ..LinkOutcome::default() }).collect();
    // Two flows of 1 Mbit/s over a satellite of 10, four of 20 on wires.
    let flow = |bytes| FlowOutcome { wire_bytes_received: bytes, ..FlowOutcome::default() };
    let flows = [vec![flow(1_250_000); 2], vec![flow(25_000_000); 4]].concat();
    let outcome = Outcome { end: Time::from_secs(10), flows, links, ..Outcome::default() };
    let get = |scenario: &Scenario, name: &str| value(scenario, &outcome, name);
    close(get(&scenario, "satellite.link_utilisation"), 0.2);
    close(get(&scenario, "bottleneck.link_utilisation"), 0.82);
    close(get(&scenario, "wired.link_utilisation"), 0.08);
    assert_eq!(get(&scenario, "group_ratio"), Some(0.05));
    assert!(has(&scenario, "wired.link_utilisation") && !has(&scenario, "satellite-return.link_utilisation"));
    scenario.network.links[0].rate = Rate::UNLIMITED;
    assert_eq!(get(&scenario, "bottleneck.link_utilisation"), None);
}

#[test]
fn transfers_are_held_against_the_least_possible_time() {
    let mut scenario = scenario();
    let mut outcome = outcome();
    for flow in 0..3 {
        // 10,000 packets of 1,000 B are 10.5 MB on the wire.
        scenario.flows[flow].bytes = Some(10_000_000);
        outcome.flows[flow].completed =
            Some(Time(outcome.flows[flow].start.0 + 1_000_000_000 * (1 + flow as u64)));
    }
    close(value(&scenario, &outcome, "completion_time_s"), 2.0);
    // All leave the first link, with 40 B instead of 1,050 in the first packet; the last crosses two more, and its ACK three.
    let least = 0.024 + 2.0 * 84e-6 + 3.0 * 3.2e-6 + (10_500_000.0 - 1_010.0) * 8.0 / 1e8;
    close(value(&scenario, &outcome, "flow2.slowdown"), 2.0 / least);
    outcome.flows[1].completed = None;
    assert_eq!(value(&scenario, &outcome, "completion_time_s"), None);
    assert_eq!(value(&scenario, &outcome, "flow1.completion_time_s"), Some(1.0));
}

/// By hand: three forward flows with round trips of 25, 50 and 100 ms.
#[test]
fn jains_index_of_round_trips_and_queueing_delays() {
    let (scenario, mut outcome) = (scenario(), outcome());
    for (flow, sum) in [(0, 0.1), (1, 0.2), (2, 0.4)] {
        (outcome.flows[flow].rtt_samples, outcome.flows[flow].rtt_sum_s) = (4, sum);
    }
    let index = |values: [f64; 3]| {
        let (sum, squares) = values.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        sum * sum / (3.0 * squares)
    };
    let values = values(&scenario, &outcome);
    // 175^2 / (3 (625 + 2,500 + 10,000)) = 7/9.
    assert!((values["jain_rtt"] - 7.0 / 9.0).abs() < 1e-12);
    // An idle path takes 24 ms, and three times 84 us for a packet and 3.2 us for an ACK.
    let idle = 0.024 + 3.0 * 84e-6 + 3.0 * 3.2e-6;
    let expected = index([0.025 - idle, 0.05 - idle, 0.1 - idle]);
    assert!((values["jain_queueing_delay"] - expected).abs() < 1e-12);
}

/// A packet may leave half a nanosecond early. Of the smallest packet here, with 10 bytes, 80 bits take 800 ns at 100 Mbit/s, so that the
/// utilisation may be 0.5/800 = 6.25e-4 over one. What has no link's rate in it may be over by rounding alone.
#[test]
fn ranges_leave_room_for_rounded_times() {
    let mut scenario = scenario();
    (scenario.stack.first_packet, scenario.stack.data_overhead, scenario.stack.ack_size) = (None, 9, 60);
    let allows = |name: &str, value: f64| find(name).unwrap().allows(&scenario, value);
    assert!(allows("utilisation", 1.0 + 6.2e-4) && !allows("utilisation", 1.0 + 6.3e-4));
    assert!(allows("utilisation", 0.0) && !allows("utilisation", -6.3e-4));
    assert!(allows("jain_index", 1.0 + 0.9e-9) && !allows("jain_index", 1.0 + 1.1e-9));
}
