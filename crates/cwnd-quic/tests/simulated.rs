//! QUIC flows in simulated time.

use cwnd_cc::{Ack, Congestion, CongestionControl, Init, Window};
use cwnd_experiment::{Buffer, ExperimentSpec, FlowGroup, LineDelay};
use cwnd_quic::host::{check_with, run_with};
use cwnd_scenario::{
    AlgorithmSpec, ByteSize, EngineError, Outcome, Probability, Rate, Scenario, StackProfile, Time, Transport,
};

fn scenario(flows: &[&str], change: impl FnOnce(&mut ExperimentSpec)) -> Scenario {
    let mut spec = ExperimentSpec {
        rate: Rate(20_000_000),
        delay: LineDelay::OneWay(Time::from_millis(20)),
        duration: Time::from_secs(10),
        ..ExperimentSpec::default()
    };
    change(&mut spec);
    let groups: Vec<FlowGroup> = flows.iter().map(|text| text.parse().unwrap()).collect();
    spec.scenario(&groups, 7).unwrap()
}

fn run(scenario: &Scenario) -> Outcome {
    run_with(scenario, &cwnd_sim::registered).unwrap()
}

/// Payload of all flows as a share of what the bottleneck could have carried.
fn use_of_the_bottleneck(scenario: &Scenario, outcome: &Outcome) -> f64 {
    let bytes: u64 = outcome.flows.iter().map(|flow| flow.bytes_in_order).sum();
    let rate = scenario.network.links[scenario.network.bottleneck].rate.0 as f64;
    8.0 * bytes as f64 / rate / outcome.end.as_secs_f64()
}

#[track_caller]
fn conserved(outcome: &Outcome) {
    outcome.check_conservation().unwrap_or_else(|wrong| panic!("{wrong}"));
}

const FLOWS: [&str; 10] = [
    "cubic@noq; stack=noq",
    "newreno@noq; stack=noq",
    "bbr3@noq; stack=noq",
    "cubic@quinn; stack=quinn",
    "newreno@quinn; stack=quinn",
    "cubic; stack=noq",
    "bbr3; stack=noq",
    "cubic; stack=quinn",
    "bbr3; stack=quinn",
    "bbr@quinn; stack=quinn",
];

#[test]
fn every_stack_fills_a_bottleneck() {
    for flow in FLOWS {
        let scenario = scenario(&[flow], |_| {});
        let outcome = run(&scenario);
        conserved(&outcome);
        let used = use_of_the_bottleneck(&scenario, &outcome);
        assert!((0.80..0.96).contains(&used), "{flow}: {used}");
    }
}

/// Slow start and the first epochs of CUBIC over a short buffer: one episode for each flight that loses, as over TCP, however many
/// packets it loses.
#[test]
fn losses_of_a_flight_are_one_episode() {
    let episodes = |flow: &str| {
        let scenario = scenario(&[flow], |spec| spec.duration = Time::from_secs(20));
        let outcome = run(&scenario);
        let flow = &outcome.flows[0];
        assert!(flow.retransmissions > 2 * flow.congestion_events, "{flow:?}");
        flow.congestion_events as f64
    };
    let tcp = episodes("newreno");
    for flow in
        ["newreno; stack=noq", "newreno; stack=quinn", "newreno@noq; stack=noq", "newreno@quinn; stack=quinn"]
    {
        let quic = episodes(flow);
        assert!((quic - tcp).abs() <= 2.0, "{flow}: {quic} instead of {tcp}");
    }
}

/// Late packets are taken for lost, and their data arrives twice: what the receiver had is no throughput. Packets that the handshake lost
/// are no retransmissions.
#[test]
fn what_arrives_again_is_not_new() {
    for stack in ["noq", "quinn"] {
        let scenario = scenario(&[&format!("cubic; stack={stack}")], |spec| {
            spec.forward.jitter = Some(Some("sometimes:2 %,20 ms,reorder=on".parse().unwrap()));
        });
        let outcome = run(&scenario);
        conserved(&outcome);
        let flow = &outcome.flows[0];
        assert!(
            flow.duplicates > 10 && flow.duplicates + flow.packets_dropped + 5 > flow.retransmissions,
            "{flow:?}"
        );
        let headers = flow.bytes_in_order as f64 / flow.wire_bytes_received as f64;
        assert!((headers - 1440.0 / 1514.0).abs() < 0.005, "{headers}");
        let lossy = self::scenario(&[&format!("cubic; stack={stack}; bytes=20 KB")], |spec| {
            spec.forward.loss = Some("nth:1,2,3".parse().unwrap());
        });
        let outcome = run(&lossy);
        assert_eq!((outcome.flows[0].retransmissions, outcome.flows[0].packets_lost), (0, 0), "{outcome:?}");
    }
}

/// The same outcome on every run, and on a thread next to others. Keys of TLS differ between the runs.
#[test]
fn a_seed_has_one_outcome() {
    let mut flows = FLOWS.to_vec();
    flows.retain(|flow| !["bbr3@noq", "bbr@quinn"].iter().any(|unseeded| flow.starts_with(unseeded)));
    flows.push("cubic");
    let lossy = |spec: &mut ExperimentSpec| {
        spec.per = Probability::new(0.002).unwrap();
        spec.duration = Time::from_secs(5);
        spec.sample = Some(Time::from_millis(100));
    };
    let scenario = scenario(&flows, lossy);
    let first = run(&scenario);
    conserved(&first);
    assert!(first.flows.iter().all(|flow| flow.packets_lost + flow.packets_dropped > 0));
    assert_eq!(first, run(&scenario));
    let parallel: Vec<Outcome> = std::thread::scope(|scope| {
        let runs = [(); 2].map(|()| scope.spawn(|| run(&scenario)));
        runs.map(|run| run.join().unwrap()).into()
    });
    assert_eq!(parallel, [first.clone(), first.clone()]);
    let other = run(&scenario.with_seed(8));
    assert_ne!(first.flows, other.flows);
}

/// TCP flows run on the same state machines in both engines, so a scenario without QUIC has the same counts in both.
#[test]
fn tcp_flows_are_those_of_the_simulator() {
    let scenario = scenario(&["cubic", "bbr3; start=1 s"], |_| {});
    let ours = run(&scenario);
    conserved(&ours);
    let theirs = cwnd_sim::run_with(&scenario, &cwnd_sim::registered).unwrap();
    for (ours, theirs) in ours.flows.iter().zip(&theirs.flows) {
        let counts = |flow: &cwnd_scenario::FlowOutcome| {
            (
                flow.packets_sent,
                flow.retransmissions,
                flow.bytes_in_order,
                flow.packets_dropped,
                flow.rtt_samples,
            )
        };
        assert_eq!(counts(ours), counts(theirs));
    }
}

#[test]
fn tcp_and_quic_share_a_bottleneck() {
    let flows = ["cubic; stack=noq; group=quic", "cubic; group=tcp"];
    let scenario = scenario(&flows, |spec| spec.duration = Time::from_secs(60));
    let outcome = run(&scenario);
    conserved(&outcome);
    assert!(use_of_the_bottleneck(&scenario, &outcome) > 0.9);
    let [quic, tcp] = [0, 1].map(|flow| outcome.flows[flow].bytes_in_order as f64);
    assert!((0.25..0.75).contains(&(quic / (quic + tcp))), "{quic} {tcp}");
}

#[test]
fn a_transfer_completes_with_its_bytes() {
    for stack in ["noq", "quinn"] {
        let scenario =
            scenario(&[&format!("cubic; stack={stack}")], |spec| spec.bytes = Some(ByteSize(1_000_000)));
        let flow = &run(&scenario).flows[0];
        assert_eq!(flow.bytes_in_order, 1_000_000);
        // At 20 Mbit/s 1 MB takes 0.4 s, and slow start some round trips of 42 ms.
        let time = flow.completed.unwrap().as_secs_f64() - flow.start.as_secs_f64();
        assert!((0.4..1.0).contains(&time), "{stack}: {time}");
        let stopped = FlowGroup {
            stop: Some(Time::from_millis(200)),
            ..format!("cubic; stack={stack}").parse().unwrap()
        };
        let scenario = self::scenario(&[&stopped.to_string()], |_| {});
        let flow = &run(&scenario).flows[0];
        assert_eq!(flow.stop, Some(Time::from_millis(200)));
        assert!(flow.bytes_in_order < 600_000, "{stack}: {}", flow.bytes_in_order);
    }
}

/// Where a queue marks, noq and quinn send ECT(0), and CUBIC responds to marks before the queue is full.
#[test]
fn marks_reach_the_controller() {
    for stack in ["noq", "quinn"] {
        let marking = |spec: &mut ExperimentSpec| {
            spec.ecn_threshold = Some("20".parse().unwrap());
            spec.buffer = Buffer::from(1_000);
            spec.duration = Time::from_secs(20);
        };
        let flow = format!("cubic; stack={stack}");
        let outcome = run(&scenario(&[&flow], marking));
        let flow = &outcome.flows[0];
        assert!(flow.packets_marked > 0 && flow.congestion_events > 0, "{stack}: {flow:?}");
        assert_eq!(flow.packets_dropped, 0, "{stack}");
    }
}

type Change = fn(&mut Window);

/// NewReno, until a change of its window at an ACK.
struct Broken {
    inner: Box<dyn CongestionControl>,
    acks: u32,
    /// At which.
    at: u32,
    change: Change,
}

impl CongestionControl for Broken {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.inner.init(window, init);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.inner.on_ack(window, ack);
        self.acks += 1;
        if self.acks == self.at {
            (self.change)(window);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.inner.on_congestion(window, congestion);
        if self.acks >= self.at {
            (self.change)(window);
        }
    }
}

/// Runs CUBIC and a broken flow. Returns the error.
fn failure(flow: &str, at: u32, change: Change) -> String {
    let scenario = scenario(&["cubic", flow], |_| {});
    let factory = |spec: &AlgorithmSpec| -> Result<Box<dyn CongestionControl>, String> {
        let inner = cwnd_sim::registered(spec)?;
        Ok(if spec.name == "cubic" { inner } else { Box::new(Broken { inner, acks: 0, at, change }) })
    };
    match run_with(&scenario, &factory) {
        Err(EngineError::Failed(message)) => message,
        other => panic!("{flow}: it is the algorithm that fails: {other:?}"),
    }
}

#[test]
fn a_value_that_no_window_may_have_ends_the_run() {
    let changes: [(Change, &str); 3] = [
        (|window| window.cwnd = f64::NAN, "set cwnd to NaN at "),
        (|window| window.pacing_rate = 0.0, "set pacing_rate to 0 at "),
        (|window| window.ssthresh = f64::NAN, "set ssthresh to NaN at "),
    ];
    for stack in ["noq", "quinn"] {
        for (change, expected) in changes {
            let message = failure(&format!("newreno; stack={stack}"), 20, change);
            assert!(message.starts_with(&format!("flow 2: newreno {expected}")), "{stack}: {message}");
        }
        // Nothing happens after the only ACK.
        let message =
            failure(&format!("newreno; stack={stack}; bytes=1 kB"), 1, |window| window.cwnd = f64::NAN);
        assert!(message.starts_with("flow 2: newreno set cwnd to NaN at "), "{stack}: {message}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let message = |flow: &str, change: &dyn Fn(&mut ExperimentSpec)| {
        let problems = check_with(&scenario(&[flow], change), &cwnd_sim::registered).unwrap_err();
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    let own = "`cubic@noq` is noq's own algorithm, and the flow's stack is `tcp`: set `stack=noq`";
    assert!(message("cubic@noq", &|_| {}).contains(own));
    let other = "`cubic@noq` is noq's own algorithm, and the flow's stack is `quinn`: set `stack=noq`";
    assert!(message("cubic@noq; stack=quinn", &|_| {}).contains(other));
    assert!(
        message("vegas@noq; stack=noq", &|_| {}).contains("there are `cubic@noq`, `newreno@noq`, `bbr3@noq`")
    );
    assert!(message("cubic@noq:beta=0.5; stack=noq", &|_| {}).contains("takes no parameters"));
    assert!(message("nothing; stack=noq", &|_| {}).contains("no algorithm is called"));
    assert!(message("cubic; stack=noq; receiver=hide-ce", &|_| {}).contains("honest receivers only"));
    assert!(message("cubic; stack=noq; traffic=live:1 Mbit/s", &|_| {}).contains("leave `traffic` out"));
    let ns2 = |spec: &mut ExperimentSpec| spec.stack.profile = StackProfile::Ns2;
    assert!(message("cubic; stack=noq", &ns2).contains("run the others on `linux`"));
    let small = |spec: &mut ExperimentSpec| spec.stack.mtu = Some(1_000);
    assert!(message("cubic; stack=noq", &small).contains("QUIC flows need at least 1228"));
    // The simulator of TCP says that it does not run QUIC.
    let refused =
        cwnd_sim::check_with(&scenario(&["cubic; stack=noq"], |_| {}), &cwnd_sim::registered).unwrap_err();
    assert!(refused[0].to_string().contains("this engine runs TCP only"));
}

#[test]
fn the_stated_versions_are_those_of_the_build() {
    let lock = include_str!("../../../Cargo.lock");
    for (transport, version) in cwnd_quic::host::IMPLEMENTATIONS {
        let entry = format!("name = \"{transport}-proto\"\nversion = \"{version}\"");
        assert!(
            lock.contains(&entry),
            "{transport}: set its version in IMPLEMENTATIONS to that of Cargo.lock"
        );
    }
    assert_eq!(
        cwnd_quic::host::IMPLEMENTATIONS.map(|(transport, _)| transport),
        [Transport::Noq, Transport::Quinn]
    );
}
