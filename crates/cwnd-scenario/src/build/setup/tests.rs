use super::*;
use crate::{AlgorithmSpec, Ecn, Loss};

fn cubic(count: u32) -> FlowGroup {
    FlowGroup::new(AlgorithmSpec { name: "cubic".to_owned(), ..AlgorithmSpec::default() }, count)
}

#[track_caller]
fn built(setup: &Setup, groups: &[FlowGroup]) -> Scenario {
    setup.scenario(groups, 1).unwrap_or_else(|problems| panic!("{problems:?}"))
}

#[track_caller]
fn refused(setup: &Setup, groups: &[FlowGroup]) -> Vec<String> {
    setup.scenario(groups, 1).expect_err("refused").iter().map(ToString::to_string).collect()
}

fn limits(scenario: &Scenario) -> Vec<QueueLimit> {
    scenario.network.links.iter().map(|link| link.queue.limit).collect()
}

#[test]
fn defaults_are_what_they_are_said_to_be() {
    let scenario = built(&Setup::default(), &[cubic(1)]);
    assert_eq!(scenario.network.links.len(), 6);
    assert_eq!(scenario.network.links[0].rate, Rate(1_000_000_000));
    assert_eq!(scenario.network.links[2].rate, Rate(1_000_000_000));
    assert_eq!(scenario.network.links[0].loss, Loss::None);
    // 1e9 x 0.204 / 8,400 = 24,285.7.
    assert_eq!(limits(&scenario), [QueueLimit::Packets(24_286); 6]);
    assert_eq!(scenario.start_jitter, Time::from_millis(204));
    assert_eq!(scenario.send_overhead, Time(8_400));
    assert_eq!(scenario.duration, Time::from_secs(100));
    assert_eq!(scenario.stack, Stack::ns2(1_000, true, 100_000));
    assert_eq!(
        (scenario.flows[0].start, scenario.flows[0].stop, scenario.flows[0].bytes),
        (Time::ZERO, None, None)
    );
}

#[test]
fn flows_start_and_stop_in_turn() {
    let setup =
        Setup { stagger: Time::from_secs(5), stop_stagger: Some(Time::from_secs(5)), ..Setup::default() };
    let scenario = built(&setup, &[cubic(4)]);
    let starts: Vec<f64> = scenario.flows.iter().map(|flow| flow.start.as_secs_f64()).collect();
    let stops: Vec<Option<f64>> =
        scenario.flows.iter().map(|flow| flow.stop.map(Time::as_secs_f64)).collect();
    assert_eq!(starts, [0.0, 5.0, 10.0, 15.0]);
    assert_eq!(stops, [Some(85.0), Some(90.0), Some(95.0), None]);
}

#[test]
fn reverse_flows_run_through() {
    let setup = Setup {
        stagger: Time::from_secs(5),
        stop_stagger: Some(Time::from_secs(5)),
        bytes: Some(ByteSize(1_000_000)),
        ..Setup::default()
    };
    let reverse = FlowGroup { reverse: true, ..cubic(2) };
    let scenario = built(&setup, &[reverse, cubic(2)]);
    let flows: Vec<_> = scenario.flows.iter().map(|f| (f.reverse, f.start.0, f.stop, f.bytes)).collect();
    assert_eq!(flows[0], (true, 0, None, None));
    assert_eq!(flows[1], (true, 0, None, None));
    assert_eq!(flows[2], (false, 0, Some(Time::from_secs(95)), Some(1_000_000)));
    assert_eq!(flows[3], (false, 5_000_000_000, None, Some(1_000_000)));
}

#[test]
fn a_flow_says_for_itself_what_it_likes() {
    let setup = Setup {
        rate: Rate(100_000_000),
        delay: LineDelay::BaseRtt(Time::from_millis(20)),
        duration: Time::from_secs(600),
        buffer: 250.into(),
        ..Setup::default()
    };
    let first = FlowGroup { rtt: Some(Time::from_millis(80)), start: Some(Time::from_secs(1)), ..cubic(1) };
    let second =
        FlowGroup { rtt: Some(Time::from_millis(320)), start: Some(Time::from_secs(21)), ..cubic(1) };
    let scenario = built(&setup, &[first, second]);
    assert_eq!(scenario.base_rtt(0), Time::from_millis(80));
    assert_eq!(scenario.base_rtt(1), Time::from_millis(320));
    assert_eq!(scenario.flows[1].start, Time::from_secs(21));
    assert_eq!(scenario.start_jitter, Time::from_millis(320));
}

#[test]
fn a_linux_window_holds_four_times_the_network() {
    let setup = Setup {
        rate: Rate(100_000_000),
        delay: LineDelay::BaseRtt(Time::from_millis(80)),
        buffer: 50.into(),
        access_buffer: Some(1000.into()),
        stack: StackChoice { profile: StackProfile::Linux, ..StackChoice::default() },
        ..Setup::default()
    };
    // 100e6 x 0.08 / (8 x 1514) = 660.5.
    assert_eq!(built(&setup, &[cubic(1)]).stack.receive_window, 4 * (661 + 50 + 1000));
    assert_eq!(built(&setup, &[cubic(1)]).network.links[0].queue.counting, Counting::WaitingOnly);
    let path = Setup { topology: Topology::Path, access_buffer: None, ..setup.clone() };
    assert_eq!(built(&path, &[cubic(1)]).stack.receive_window, 4 * (661 + 50));
    let unlimited = Setup { buffer: Buffer::Unlimited, access_buffer: None, ..setup };
    assert_eq!(built(&unlimited, &[cubic(1)]).stack.receive_window, 4 * 661);
}

#[test]
fn a_marking_bottleneck_switches_ecn_on() {
    let setup =
        Setup { buffer: 100.into(), ecn_threshold: Some("20 %".parse().unwrap()), ..Setup::default() };
    let scenario = built(&setup, &[cubic(1)]);
    assert_eq!(scenario.stack.ecn, Ecn::Classic);
    assert_eq!(scenario.network.links[0].queue.ecn_threshold, Some(20));
    assert_eq!(scenario.network.links[2].queue.ecn_threshold, None);
}

#[test]
fn refuses_with_a_place() {
    let plain = Setup::default();
    assert_eq!(refused(&plain, &[]), ["flows: there must be at least 1 flow that is not reverse"]);
    assert_eq!(
        refused(&plain, &[cubic(MAX_FLOWS), cubic(1)]),
        ["flows: 100001 flows are too many: 100000 are the most"]
    );
    let late = FlowGroup { start: Some(Time::from_secs(100)), ..cubic(3) };
    assert_eq!(
        refused(&plain, &[cubic(1), late]),
        ["flows[1].start: a flow would start at the end of the run, 100 s, or after it"]
    );
    let short = FlowGroup { start: Some(Time::from_secs(5)), stop: Some(Time::from_secs(4)), ..cubic(1) };
    assert_eq!(
        refused(&plain, &[short]),
        ["flows[0].stop: a flow would stop at 4 s, which is not after its start at 5 s"]
    );
    let near = FlowGroup { rtt: Some(Time::from_millis(10)), ..cubic(2) };
    assert_eq!(
        refused(&plain, &[cubic(2), near]),
        [
            "flows[1].rtt: a base round trip of 10 ms is shorter than the bottleneck's own, 200 ms: make it longer, or \
          the bottleneck's delay shorter"
        ]
    );
    let stagger = Setup { stagger: Time::LONGEST, ..plain.clone() };
    assert!(refused(&stagger, &[cubic(MAX_FLOWS)])[0].starts_with("stagger: a flow would start at the end"));
    let stops = Setup { stop_stagger: Some(Time::from_secs(50)), ..plain.clone() };
    assert!(refused(&stops, &[cubic(4)])[0].starts_with("stop_stagger: a flow would stop at 0 s"));
    let empty =
        Setup { bytes: Some(ByteSize(0)), duration: Time::ZERO, sample: Some(Time::ZERO), ..plain.clone() };
    assert_eq!(
        refused(&empty, &[cubic(1)]),
        [
            "duration: a run must last: write `100 s`, for example",
            "sample: samples need a time between them: write `100 ms`, for example",
            "bytes: a transfer has at least 1 byte",
        ]
    );
    let path = Setup { topology: Topology::Path, access_delay: Some(Time::ZERO), ..plain };
    assert_eq!(
        refused(&path, &[cubic(1)]),
        ["access_delay: a path has no access links: leave it out, or take a dumbbell"]
    );
}
