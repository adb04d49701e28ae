//! Traffic through whole runs: applications, short flows, deadlines.

use cwnd_experiment::{Buffer, EcnThreshold, FlowGroup};
use cwnd_experiment::{ExperimentSpec, LineDelay, OrBottleneck, Topology};
use cwnd_scenario::{Engine, MessageOutcome, Outcome, Rate, Scenario, StackProfile, Time};
use cwnd_sim::{Simulation, Simulator};

const MS: u64 = 1_000_000;

/// A path of 10 Mbit/s with a round-trip time of 20 ms for 10 s, and nothing random; a packet takes 840 us, the
/// first too, and an ACK 40.
fn setup() -> ExperimentSpec {
    ExperimentSpec {
        topology: Topology::Path,
        stack: StackProfile::Ns2.into(),
        rate: Rate(10_000_000),
        delay: LineDelay::OneWay(Time::from_millis(10)),
        buffer: Buffer::from(100),
        duration: Time::from_secs(10),
        start_jitter: Some(Time::ZERO),
        send_overhead: Some(Time::ZERO),
        ..ExperimentSpec::default()
    }
}

fn scenario(setup: &ExperimentSpec, flows: &[&str]) -> Scenario {
    let groups: Vec<FlowGroup> = flows.iter().map(|flow| flow.parse().expect("a flow")).collect();
    let mut scenario = setup.scenario(&groups, 1).unwrap_or_else(|problems| panic!("{problems:?}"));
    if scenario.stack.profile == StackProfile::Ns2 {
        (scenario.stack.first_packet, scenario.stack.ack_size) = (None, 50);
    }
    scenario
}

fn run(scenario: &Scenario) -> Outcome {
    Simulator.run(scenario).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn messages_on_an_idle_path_to_the_nanosecond() {
    // Two packets leave together: the second is sent at 1.68 ms, arrives at 11.68, and its ACK is back 10.04 ms later, at
    // 21.72. After 5 ms of thinking the next is there, for which the window is more than enough.
    let outcome = run(&scenario(&setup(), &["newreno; traffic=responses:size=2 KB,think=5 ms"]));
    let trip = 21_720_000;
    let messages = &outcome.flows[0].messages;
    for (i, message) in (0u64..).zip(&messages[..messages.len() - 1]) {
        let start = i * (trip + 5 * MS);
        let expected = MessageOutcome { bytes: 2000, start: Time(start), end: Some(Time(start + trip)) };
        assert_eq!(*message, expected);
    }
    // 10 s are 374 times 26.72 ms and a bit.
    assert_eq!(messages.len(), 375);
}

#[test]
fn a_warm_up_forgets_the_messages_before_it() {
    let warm = ExperimentSpec { warm_up: Time::from_secs(5), ..setup() };
    let flow = "newreno; traffic=responses:size=2 KB,think=5 ms";
    let (all, late) = (run(&scenario(&setup(), &[flow])), run(&scenario(&warm, &[flow])));
    let expected: Vec<MessageOutcome> =
        all.flows[0].messages.iter().filter(|message| message.start >= Time::from_secs(5)).copied().collect();
    assert!(expected.len() > 180 && expected.len() < all.flows[0].messages.len());
    assert_eq!(late.flows[0].messages, expected);
}

#[test]
fn nothing_new_is_sent_while_it_is_off() {
    let scenario = scenario(&setup(), &["newreno; traffic=on-off:1 s,1 s"]);
    let mut simulation = Simulation::new(&scenario).unwrap_or_else(|error| panic!("{error}"));
    let mut sent = |ms: u64| {
        simulation.run_until(Time::from_millis(ms));
        let (sent, again) = simulation.flow(0).sent;
        sent - again
    };
    let counts = [1_000, 1_001, 1_999, 2_100, 3_000, 3_001, 4_000].map(&mut sent);
    assert!(counts[0] > 500 && counts[0] == counts[1] && counts[1] == counts[2], "{counts:?}");
    assert!(counts[3] > counts[2] + 50 && counts[4] > counts[3], "{counts:?}");
    assert!(counts[4] == counts[5] && counts[5] == counts[6], "{counts:?}");
}

#[test]
fn a_live_stream_that_fits_is_all_delivered() {
    // 5 of 10 Mbit/s: a packet every 1.6 ms, 6,250 in 10 s, each through in 840 us.
    let outcome = run(&scenario(&setup(), &["cubic; traffic=live:5 Mbit/s"]));
    let flow = &outcome.flows[0];
    assert_eq!((flow.packets_sent, flow.retransmissions), (6_250, 0));
    // Some are held back at first, while the window grows; then none waits.
    assert!(flow.rtt_max.expect("samples") < Time(40 * MS));
    assert_eq!(flow.rtt_min, Some(Time(20 * MS + 880_000)));
    // Of the last 20.88 ms some are on their way.
    assert!(flow.bytes_in_order >= 6_235_000, "{}", flow.bytes_in_order);
}

#[test]
fn a_split_run_is_the_same() {
    let flows = [
        "cubic; traffic=on-off:exponential 300 ms,pareto 200 ms shape 1.5",
        "bbr; traffic=live:3 Mbit/s",
        "newreno; traffic=responses:size=lognormal 30 KB sigma 1,think=exponential 50 ms; bytes=2 MB",
    ];
    let short_flows =
        Some("cubic; load=20 %; size=exponential 20 KB; deadline=100 ms".parse().expect("short flows"));
    let scenario = scenario(&ExperimentSpec { short_flows, ..setup() }, &flows);
    let whole = run(&scenario);
    let mut simulation = Simulation::new(&scenario).unwrap_or_else(|error| panic!("{error}"));
    let mut time = 0;
    while time < scenario.duration.0 {
        time += 1_234_567;
        simulation.run_until(Time(time.min(scenario.duration.0)));
    }
    assert_eq!(simulation.outcome(), whole);
    assert!(whole.flows[2].messages.len() > 20);
}

#[test]
fn short_flows_come_and_go() {
    let short_flows = "cubic; load=30 %; size=web-search; stop=8 s".parse().expect("short flows");
    let setup = ExperimentSpec {
        rate: Rate(100_000_000),
        short_flows: Some(short_flows),
        duration: Time::from_secs(60),
        ..setup()
    };
    let scenario = scenario(&setup, &["cubic; stop=8 s"]);
    let outcome = run(&scenario);
    assert!(scenario.flows.len() > 10 && scenario.flows[1..].iter().all(|flow| flow.short));
    for (spec, flow) in scenario.flows.iter().zip(&outcome.flows).skip(1) {
        assert_eq!(flow.start, spec.start);
        assert_eq!(Some(flow.bytes_in_order), spec.bytes);
        assert!(flow.completed.is_some_and(|completed| completed > flow.start));
    }
    let again = scenario.with_seed(1);
    assert_eq!(again, scenario);
    let other = scenario.with_seed(2);
    assert_ne!(other.flows.last().map(|flow| flow.start), scenario.flows.last().map(|flow| flow.start));
    assert_eq!(other.with_seed(1), scenario);
}

#[test]
fn a_dumbbells_short_flows_share_two_hosts() {
    let short_flows = "cubic; rate=100/s; size=10 KB".parse().expect("short flows");
    let setup = ExperimentSpec {
        topology: Topology::Dumbbell,
        access_rate: Some(OrBottleneck::Bottleneck),
        access_buffer: Some(OrBottleneck::Bottleneck),
        delay: LineDelay::OneWay(Time::from_millis(8)),
        short_flows: Some(short_flows),
        ..setup()
    };
    let scenario = scenario(&setup, &["cubic; count=2"]);
    // Two routers, and two hosts for each flow that lasts and for all short ones.
    assert_eq!(scenario.network.nodes.len(), 8);
    let route = &scenario.flows[2].route;
    assert_eq!(scenario.network.links[route[0]].name, "access-3");
    assert!(scenario.flows[2..].iter().all(|flow| flow.route == *route));
    let outcome = run(&scenario);
    let completed = outcome.flows[2..].iter().filter(|flow| flow.completed.is_some()).count();
    assert!(completed > 900, "{completed} of {}", outcome.flows.len() - 2);
}

#[test]
fn short_flows_alone_need_no_others() {
    let short_flows = Some("cubic; rate=100/s; size=10 KB".parse().expect("short flows"));
    let scenario = scenario(&ExperimentSpec { short_flows, ..setup() }, &[]);
    assert!((800..1200).contains(&scenario.flows.len()));
    assert!(run(&scenario).flows.iter().filter(|flow| flow.completed.is_some()).count() > 790);
}

#[test]
fn a_deadline_makes_d2tcp_hurry() {
    // Two flows of 20 MB share 100 Mbit/s that marks over 20 packets: one has 2.5 s, for which it must have two thirds of the
    // rate, the other a minute. Without deadlines both are DCTCP flows, and done at the same time, more or less.
    let setup = ExperimentSpec {
        rate: Rate(100_000_000),
        delay: LineDelay::OneWay(Time::from_millis(1)),
        ecn_threshold: Some(EcnThreshold::Packets(20)),
        // One ACK a packet: with delayed ones marks fall on the bursts of one flow more than on the other's for seconds.
        stack: StackProfile::Ns2.into(),
        send_overhead: None,
        ..setup()
    };
    let ends = |urgent: &str, patient: &str| {
        let flow = |deadline: &str| format!("d2tcp; bytes=20 MB{deadline}");
        let outcome = run(&scenario(&setup, &[&flow(urgent), &flow(patient)]));
        [0, 1].map(|i| outcome.flows[i].completed.expect("it is done").as_secs_f64())
    };
    let [one, other] = ends("", "");
    assert!((one - other).abs() < 0.3, "{one} and {other}");
    let [urgent, patient] = ends("; deadline=2.5 s", "; deadline=60 s");
    assert!(urgent < 0.9 * one.min(other) && patient > urgent + 0.5, "{urgent} and {patient}");
}
