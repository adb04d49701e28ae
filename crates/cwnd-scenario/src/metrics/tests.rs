use super::*;
use crate::{
    AlgorithmSpec, FlowGroup, QueueLimit,
    build::{LineDelay, Setup, Topology},
};

/// Three forward flows and a reverse one over 10 s at 100 Mbit/s.
fn scenario() -> Scenario {
    let cubic =
        AlgorithmSpec { name: "cubic".to_owned(), parameters: [("c".to_owned(), "1".to_owned())].into() };
    let setup = Setup {
        topology: Topology::Dumbbell,
        rate: Rate(100_000_000),
        delay: LineDelay::OneWay(Time::from_millis(10)),
        duration: Time::from_secs(10),
        buffer: 20.into(),
        ..Setup::default()
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
