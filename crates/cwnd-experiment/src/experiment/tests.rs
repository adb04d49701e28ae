mod receive_window;
mod traces;

use super::*;
use cwnd_scenario::{AlgorithmSpec, Counting, Ecn, Loss, QueueLimit, Schedule};

fn cubic(count: u32) -> FlowGroup {
    FlowGroup::new(AlgorithmSpec { name: "cubic".to_owned(), ..AlgorithmSpec::default() }, count)
}

#[track_caller]
fn built(setup: &ExperimentSpec, groups: &[FlowGroup]) -> Scenario {
    setup.scenario(groups, 1).unwrap_or_else(|problems| panic!("{problems:?}"))
}

#[track_caller]
fn refused(setup: &ExperimentSpec, groups: &[FlowGroup]) -> Vec<String> {
    setup.scenario(groups, 1).expect_err("refused").iter().map(ToString::to_string).collect()
}

fn limits(scenario: &Scenario) -> Vec<QueueLimit> {
    scenario.network.links.iter().map(|link| link.queue.limit).collect()
}

#[test]
fn defaults_are_what_they_are_said_to_be() {
    let scenario = built(&ExperimentSpec::default(), &[cubic(1)]);
    assert_eq!(scenario.network.links.len(), 6);
    assert_eq!(scenario.network.links[0].rate, Rate(1_000_000_000));
    assert_eq!(scenario.network.links[2].rate, Rate(10_000_000_000));
    assert_eq!(scenario.network.links[0].loss, Loss::None);
    // 1e9 x 0.204 / 12,112 = 16,842.8.
    assert_eq!(limits(&scenario), [QueueLimit::Packets(16_843); 6]);
    assert_eq!(scenario.start_jitter, Time::from_millis(204));
    assert_eq!(scenario.send_overhead, Time(12_112));
    assert_eq!(scenario.duration, Time::from_secs(100));
    // 4 x (BDP + the bottleneck's buffer + the sender's).
    assert_eq!(scenario.stack, Stack::linux(1_500, true, 202_116));
    assert_eq!(
        (scenario.flows[0].start, scenario.flows[0].stop, scenario.flows[0].bytes),
        (Time::ZERO, None, None)
    );
}

#[test]
fn settings_of_tcp_are_refused_where_no_flow_has_it() {
    let of_tcp = [
        ("sack", "off"),
        ("timestamps", "off"),
        ("delayed-ack", "off"),
        ("l4s", "off"),
        ("recovery", "rack"),
        ("timer-hz", "100"),
        ("linux-version", "5.4"),
        ("ecn", "accurate"),
    ];
    for (key, value) in of_tcp {
        let why = said(&[("stack", "noq"), (key, value)]).unwrap_err();
        assert!(why.starts_with(&format!("{}: all flows have QUIC", key.replace('-', "_"))), "{why}");
        let setting = crate::settings::find(key).unwrap();
        let quic = crate::FlowGroup::new("cubic".parse().unwrap(), 1);
        let mut both = crate::ExperimentSpec::default();
        for (key, value) in [("stack", "noq"), (key, value)] {
            (crate::settings::find(key).unwrap().set)(&mut both, value).unwrap();
        }
        let tcp = FlowGroup { transport: Some(cwnd_scenario::Transport::Tcp), ..quic.clone() };
        assert!(both.scenario(&[quic, tcp], 1).is_ok(), "{key}");
        let (e, s) = (crate::ExperimentSpec::default(), said(&[("stack", "quinn"), ("ecn", "on")]).unwrap());
        assert_eq!((setting.get)(&e, &s), (key == "ecn").then(|| "on".to_owned()), "{key}");
    }
}

#[test]
fn a_policer_holds_a_packet() {
    let policed = |text: &str| said(&[("policer", text)]);
    assert!(policed("1 Mbit/s, 1514 B").is_ok());
    let why = policed("1 Mbit/s, 100 B").unwrap_err();
    assert_eq!(why, "policer: it holds 100 B, and packets of 1514 B would never pass: it must hold one");
}

#[test]
fn access_links_are_wider_than_the_bottleneck_unless_said() {
    let access = |settings: &[(&str, &str)]| {
        let scenario = said(&[&[("rate", "10 Mbit/s"), ("buffer", "20")], settings].concat()).unwrap();
        let link = &scenario.network.links[2];
        (link.rate.0 / 1_000_000, link.queue.limit)
    };
    assert_eq!(access(&[]), (100, QueueLimit::Packets(1_000)));
    assert_eq!(access(&[("topology", "incast")]), (10, QueueLimit::Packets(1_000)));
    assert_eq!(access(&[("buffer", "2000")]), (100, QueueLimit::Packets(2_000)));
    assert_eq!(access(&[("buffer", "64 KB")]), (100, QueueLimit::Bytes(1_500_000)));
    assert_eq!(access(&[("buffer", "unlimited")]), (100, QueueLimit::Unlimited));
    let same = [("access-rate", "bottleneck"), ("access-buffer", "bottleneck")];
    assert_eq!(access(&same), (10, QueueLimit::Packets(20)));
    assert_eq!(access(&[("access-rate", "7 Mbit/s"), ("access-buffer", "3")]), (7, QueueLimit::Packets(3)));
    let wrong = "fast".parse::<OrBottleneck<Rate>>().unwrap_err().message;
    assert!(wrong.ends_with("(or `bottleneck`, for the same as the bottleneck's)"), "{wrong}");
}

#[test]
fn flows_start_and_stop_in_turn() {
    let setup = ExperimentSpec {
        stagger: Time::from_secs(5),
        stop_stagger: Some(Time::from_secs(5)),
        ..ExperimentSpec::default()
    };
    let scenario = built(&setup, &[cubic(4)]);
    let starts: Vec<f64> = scenario.flows.iter().map(|flow| flow.start.as_secs_f64()).collect();
    let stops: Vec<Option<f64>> =
        scenario.flows.iter().map(|flow| flow.stop.map(Time::as_secs_f64)).collect();
    assert_eq!(starts, [0.0, 5.0, 10.0, 15.0]);
    assert_eq!(stops, [Some(85.0), Some(90.0), Some(95.0), None]);
}

#[test]
fn reverse_flows_run_through() {
    let setup = ExperimentSpec {
        stagger: Time::from_secs(5),
        stop_stagger: Some(Time::from_secs(5)),
        bytes: Some(ByteSize(1_000_000)),
        ..ExperimentSpec::default()
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
    let setup = ExperimentSpec {
        rate: Rate(100_000_000),
        delay: LineDelay::BaseRtt(Time::from_millis(20)),
        duration: Time::from_secs(600),
        buffer: 250.into(),
        ..ExperimentSpec::default()
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
fn a_marking_bottleneck_switches_ecn_on() {
    let setup = ExperimentSpec {
        buffer: 100.into(),
        ecn_threshold: Some("20 %".parse().unwrap()),
        ..ExperimentSpec::default()
    };
    let scenario = built(&setup, &[cubic(1)]);
    assert_eq!(scenario.stack.ecn, Ecn::Classic);
    assert_eq!(scenario.network.links[0].queue.ecn_threshold, Some(20));
    assert_eq!(scenario.network.links[2].queue.ecn_threshold, None);
}

#[test]
fn refuses_with_a_place() {
    let plain = ExperimentSpec::default();
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
    let stagger = ExperimentSpec { stagger: Time::LONGEST, ..plain.clone() };
    assert!(refused(&stagger, &[cubic(MAX_FLOWS)])[0].starts_with("stagger: a flow would start at the end"));
    let stops = ExperimentSpec { stop_stagger: Some(Time::from_secs(50)), ..plain.clone() };
    assert!(refused(&stops, &[cubic(4)])[0].starts_with("stop_stagger: a flow would stop at 0 s"));
    let empty = ExperimentSpec {
        bytes: Some(ByteSize(0)),
        duration: Time::ZERO,
        sample: Some(Time::ZERO),
        ..plain.clone()
    };
    assert_eq!(
        refused(&empty, &[cubic(1)]),
        [
            "duration: a run must last: write `100 s`, for example",
            "sample: samples need a time between them: write `100 ms`, for example",
            "bytes: a transfer has at least 1 byte",
        ]
    );
    let path = ExperimentSpec { topology: Topology::Path, access_delay: Some(Time::ZERO), ..plain };
    assert_eq!(
        refused(&path, &[cubic(1)]),
        ["access_delay: a path has no access links: leave it out, or take a dumbbell"]
    );
}

/// Sets settings as a person writes them.
#[track_caller]
fn set(experiment: &mut ExperimentSpec, settings: &[(&str, &str)]) {
    for (key, text) in settings {
        let setting = crate::settings::find(key).unwrap_or_else(|| panic!("{key}"));
        (setting.set)(experiment, text).unwrap_or_else(|message| panic!("{key}: {message}"));
    }
}

/// An experiment with one flow of CUBIC, said in settings.
#[track_caller]
fn said(settings: &[(&str, &str)]) -> Result<Scenario, String> {
    let mut experiment =
        crate::ExperimentSpec { algorithm: "cubic".parse().ok(), ..crate::ExperimentSpec::default() };
    set(&mut experiment, settings);
    experiment
        .resolve(1)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

#[track_caller]
fn link(scenario: &Scenario, name: &str) -> cwnd_scenario::LinkSpec {
    let link = scenario.network.links.iter().find(|link| link.name == name);
    link.unwrap_or_else(|| panic!("no link {name}")).clone()
}

#[test]
fn each_direction_has_its_own_traits() {
    let scenario = said(&[
        ("queue", "codel"),
        ("loss", "nth:5,17"),
        ("jitter", "uniform:5 ms"),
        ("duplication", "1 %"),
        ("slot", "2 ms"),
        ("policer", "50 Mbit/s, 100 KB"),
        ("reverse-rate", "5 Mbit/s"),
        ("reverse-buffer", "7"),
        ("reverse-queue", "drop-tail"),
        ("reverse-loss", "1e-3"),
        ("reverse-jitter", "exponential:1 ms,reorder"),
        ("reverse-slot", "3 ms"),
        ("ack-thinning", "4"),
        ("access-queue", "fq-codel"),
    ])
    .unwrap();
    let (forward, reverse) = (link(&scenario, "bottleneck"), link(&scenario, "bottleneck-reverse"));
    assert_eq!(forward.queue.discipline.to_string(), "codel");
    assert_eq!(
        (forward.loss.to_string(), forward.effects.jitter.unwrap().to_string()),
        ("nth:5,17".into(), "uniform:5 ms".into())
    );
    assert_eq!((forward.effects.duplication, forward.effects.slot), (0.01, Some(Time::from_millis(2))));
    assert_eq!(forward.effects.policer.unwrap().to_string(), "50 Mbit/s, 100 KB");
    assert_eq!((forward.effects.ack_thinning, reverse.effects.ack_thinning), (None, Some(4)));
    assert_eq!((reverse.rate, reverse.queue.limit), (Rate(5_000_000), QueueLimit::Packets(7)));
    assert_eq!((reverse.queue.discipline, reverse.loss), (Discipline::DropTail, Loss::Bernoulli(1e-3)));
    assert_eq!((reverse.effects.slot, reverse.effects.policer), (Some(Time::from_millis(3)), None));
    assert!(reverse.effects.jitter.unwrap().reorders);
    assert_eq!(link(&scenario, "access-1").queue.discipline.to_string(), "fq-codel");
    // What is not said of the reverse direction alone both have.
    let both = said(&[("queue", "pie"), ("reverse-rate", "5 Mbit/s")]).unwrap();
    assert_eq!(link(&both, "bottleneck-reverse").queue.discipline.to_string(), "pie");
    assert_eq!(link(&both, "bottleneck-reverse").queue.limit, link(&both, "bottleneck").queue.limit);
}

#[test]
fn flows_use_ecn_where_a_queue_marks() {
    let ecn = |settings: &[(&str, &str)]| said(settings).unwrap().stack.ecn;
    assert_eq!(ecn(&[("queue", "codel")]), Ecn::Off);
    assert_eq!(ecn(&[("queue", "codel:ecn")]), Ecn::Classic);
    assert_eq!(ecn(&[("queue", "fq-codel")]), Ecn::Classic);
    assert_eq!(ecn(&[("queue", "dualpi2")]), Ecn::Classic);
    assert_eq!(ecn(&[("access-queue", "red:ecn")]), Ecn::Classic);
    assert_eq!(ecn(&[("queue", "codel"), ("reverse-queue", "pie:ecn")]), Ecn::Classic);
    assert_eq!(ecn(&[("queue", "codel:ecn"), ("ecn", "off")]), Ecn::Off);
    let l4s = |settings: &[(&str, &str)]| said(settings).unwrap().stack.l4s;
    assert!(l4s(&[]) && l4s(&[("stack", "linux")]) && !l4s(&[("l4s", "off")]));
}

#[test]
fn a_line_varies_in_both_directions() {
    let steps = |scenario: &Scenario, name: &str| match link(scenario, name).schedule {
        Some(Schedule::Steps(steps)) => {
            steps.steps.iter().map(|step| (step.rate.0 / 1_000_000, step.delay.0 / 1_000_000)).collect()
        }
        _ => Vec::new(),
    };
    let schedule = ("schedule", "10 s: 20 Mbit/s; 30 s: down; 31 s: up, 40 ms");
    let both = said(&[schedule, ("rate", "50 Mbit/s"), ("delay", "5 ms")]).unwrap();
    assert_eq!(steps(&both, "bottleneck"), [(20, 5), (0, 5), (20, 40)]);
    assert_eq!(steps(&both, "bottleneck-reverse"), steps(&both, "bottleneck"));
    let own =
        said(&[schedule, ("rate", "50 Mbit/s"), ("delay", "5 ms"), ("reverse-rate", "1 Mbit/s")]).unwrap();
    assert_eq!(steps(&own, "bottleneck-reverse"), [(1, 5), (0, 5), (1, 40)]);
}

#[test]
fn a_trace_gives_the_rate_unless_one_is_said() {
    let scenario = |settings: &[(&str, &str)]| {
        let mut experiment =
            crate::ExperimentSpec { algorithm: "cubic".parse().ok(), ..crate::ExperimentSpec::default() };
        for (key, value) in settings {
            (crate::settings::find(key).unwrap().set)(&mut experiment, value).unwrap();
        }
        // 3 x 1,500 B in 10 ms: 3.6 Mbit/s.
        let mut read = |path: &str| match path {
            "good" => DeliveryTrace::parse("good", "2\n5\n10").map_err(|error| error.to_string()),
            _ => Err(format!("cannot read `{path}`")),
        };
        experiment.read_traces(&mut read).map_err(|problem| problem.to_string())?;
        experiment.resolve(1).map_err(|problems| problems[0].to_string())
    };
    let trace = scenario(&[("rate-trace", "good"), ("rtt", "100 ms")]).unwrap();
    let bottleneck = link(&trace, "bottleneck");
    assert_eq!(bottleneck.rate, Rate(3_600_000));
    // 3.6e6 x 0.1 / 12,112 = 29.7.
    assert_eq!(bottleneck.queue.limit, QueueLimit::Packets(30));
    assert!(matches!(bottleneck.schedule, Some(Schedule::Trace(trace)) if trace.name == "good"));
    assert_eq!(link(&trace, "bottleneck-reverse").schedule, None);
    let said_too = scenario(&[("rate", "12.112 Mbit/s"), ("rate-trace", "good"), ("rtt", "100 ms")]).unwrap();
    assert_eq!(link(&said_too, "bottleneck").queue.limit, QueueLimit::Packets(100));
    let back = scenario(&[("reverse-rate-trace", "good")]).unwrap();
    assert_eq!(link(&back, "bottleneck-reverse").rate, Rate(3_600_000));
    assert_eq!(link(&back, "bottleneck").rate, Rate(1_000_000_000));
    assert_eq!(scenario(&[("rate-trace", "bad")]).unwrap_err(), "rate_trace: cannot read `bad`");
}

#[test]
fn cross_flows_come_after_the_experiments_own() {
    let setting = [
        ("topology", "parking-lot"),
        ("hops", "2"),
        ("cross-flows", "2"),
        ("stagger", "5 s"),
        ("bytes", "1 MB"),
    ];
    let scenario = said(&[&setting[..], &[("flows", "2")]].concat()).unwrap();
    let routes: Vec<usize> = scenario.flows.iter().map(|flow| flow.route.len()).collect();
    assert_eq!(routes, [4, 4, 3, 3, 3, 3]);
    let starts: Vec<u64> = scenario.flows.iter().map(|flow| flow.start.0 / 1_000_000_000).collect();
    assert_eq!(starts, [0, 5, 0, 0, 0, 0]);
    let bytes: Vec<Option<u64>> = scenario.flows.iter().map(|flow| flow.bytes).collect();
    assert_eq!(bytes[1..3], [Some(1_000_000), None]);
    let crossed: Vec<usize> = scenario.flows[2..].iter().map(|flow| flow.route[1]).collect();
    assert_eq!(crossed, [0, 0, 2, 2]);
    let hybrid =
        said(&[("topology", "satellite"), ("cross-flows", "newreno*2,elastic"), ("delay", "20 ms")]).unwrap();
    let names: Vec<&str> = hybrid.flows.iter().map(|flow| flow.algorithm.name.as_str()).collect();
    assert_eq!(names, ["cubic", "newreno", "newreno", "elastic"]);
    assert_eq!(hybrid.network.links[hybrid.flows[1].route[0]].name, "wired");
    assert_eq!(hybrid.network.links[hybrid.flows[0].route[0]].name, "satellite");
    let beside = said(&[("cross-flows", "newreno*2,elastic"), ("flows", "3")]).unwrap();
    let groups: Vec<&str> = beside.flows.iter().filter_map(|flow| flow.group.as_deref()).collect();
    assert_eq!(groups, ["own", "own", "own", "cross", "cross", "cross"]);
    assert!(beside.flows.iter().all(|flow| flow.route[1] == 0));
}

#[test]
fn every_flow_starts_within_the_run() {
    let jitter = |jitter: &str, stagger: &str| {
        said(&[("duration", "10 s"), ("start-jitter", jitter), ("stagger", stagger), ("flows", "3")])
    };
    // A draw is less than the jitter.
    assert!(jitter("10 s", "0 s").is_ok() && jitter("6 s", "2 s").is_ok());
    let expected = "start_jitter: a flow that starts at 0 s may start up to 30 s later, at 30 s, and the run ends at 10 s: \
                    make it shorter";
    assert_eq!(jitter("30 s", "0 s").unwrap_err(), expected);
    // The last starts at 4 s.
    assert!(jitter("7 s", "2 s").unwrap_err().starts_with("start_jitter: a flow that starts at 4 s may"));
    // What is not said may be longer than a short run.
    assert!(said(&[("duration", "100 ms")]).is_ok());
}

#[test]
fn flows_take_base_rtts_in_turn() {
    let settings = [("rtts", "80 ms, 20 ms"), ("delay", "5 ms"), ("flows", "3"), ("cross-flows", "newreno")];
    let scenario = said(&settings).unwrap();
    let rtts: Vec<Time> = (0..4).map(|flow| scenario.base_rtt(flow)).collect();
    // The cross flow has the topology's: 2 x (1 + 5 + 1) ms.
    assert_eq!(rtts, [80, 20, 80, 14].map(Time::from_millis));
    // The second of them is too short, for whatever flow; it is said once.
    let short = said(&[("rtts", "80 ms, 8 ms"), ("delay", "5 ms"), ("flows", "4")]).unwrap_err();
    assert!(short.starts_with("rtts: a base round trip of 8 ms") && short.lines().count() == 1, "{short}");
    let own =
        crate::ExperimentSpec { rtts: vec![Time::from_millis(500)], ..crate::ExperimentSpec::default() };
    let groups = ["cubic; rtt=8 ms".parse::<FlowGroup>().unwrap()];
    assert!(refused(&own, &groups)[0].starts_with("flows[0].rtt: a base round trip of 8 ms"));
    let setting = crate::settings::find("rtts").unwrap();
    let refused = (setting.set)(&mut crate::ExperimentSpec::default(), "80 ms, 20").unwrap_err();
    assert!(refused.contains("unit"), "{refused}");
}

#[test]
fn a_group_has_a_name_that_metrics_give_to_nothing_else() {
    let named = |flows: &[&str]| {
        let groups: Vec<FlowGroup> = flows.iter().map(|flow| flow.parse().unwrap()).collect();
        ExperimentSpec::default().scenario(&groups, 1)
    };
    let scenario = named(&["cubic; group=tested", "newreno; count=2; group=background", "elastic"]).unwrap();
    let groups: Vec<Option<&str>> = scenario.flows.iter().map(|flow| flow.group.as_deref()).collect();
    assert_eq!(groups, [Some("tested"), Some("background"), Some("background"), None]);
    for name in ["newreno", "flow2", "short-small"] {
        let problems = named(&[&format!("cubic; group={name}"), "newreno"]).unwrap_err();
        assert_eq!(problems[0].place, "flows[0].group");
        assert!(problems[0].message.contains(&format!("`{name}`")), "{problems:?}");
    }
    // An algorithm that is not among them is no hindrance.
    assert!(named(&["cubic; group=vegas"]).is_ok());
}

#[test]
fn what_contradicts_names_its_setting() {
    let refused = |settings: &[(&str, &str)]| said(settings).unwrap_err();
    let graph = ExperimentSpec {
        topology: Topology::Graph(crate::Graph::default().into()),
        cross_flows: Some("2".parse().unwrap()),
        ..ExperimentSpec::default()
    };
    assert!(graph.scenario(&[cubic(1)], 1).unwrap_err()[0].message.starts_with("a graph has no place"));
    assert!(refused(&[("hops", "2")]).starts_with("hops: only a parking lot has hops"));
    assert!(refused(&[("satellite-rate", "1 Mbit/s")]).starts_with("satellite_rate: there is no satellite"));
    assert!(
        refused(&[("queue", "codel"), ("ecn-threshold", "5")]).starts_with("ecn_threshold: only a drop-tail")
    );
    assert!(
        refused(&[("queue", "codel"), ("ack-thinning", "2")]).starts_with("ack_thinning: only a drop-tail")
    );
    assert!(
        refused(&[("ack-thinning", "1")]).starts_with("ack_thinning: ACKs are thinned to one of at least 2")
    );
    assert!(refused(&[("per", "1e-3"), ("loss", "1e-3")]).starts_with("per: it is a loss too"));
    assert!(refused(&[("slot", "0 s")]).starts_with("slot: it must last"));
    assert!(refused(&[("reverse-buffer", "10 B")]).starts_with("reverse_buffer: 10 B hold no packet"));
    assert!(
        refused(&[("topology", "path"), ("access-queue", "codel")])
            .starts_with("access_queue: a path has no")
    );
    let setup = ExperimentSpec::default();
    let side: FlowGroup = "cubic; side=wired".parse().unwrap();
    let problems = setup.scenario(&[cubic(1), side], 1).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "flows[1].side: only a satellite network has sides: `topology = \"satellite\"`"
    );
}

#[test]
fn a_scenario_knows_whether_it_draws_from_the_seed() {
    let spec = |settings: &[(&str, &str)]| {
        let mut spec =
            ExperimentSpec { algorithm: Some("cubic".parse().unwrap()), ..ExperimentSpec::default() };
        for (key, value) in settings {
            (crate::settings::find(key).unwrap().set)(&mut spec, value).unwrap();
        }
        spec.resolve(1).expect("it can be built").is_random()
    };
    let still = [("start-jitter", "0 s"), ("send-overhead", "0 s")];
    let with = |key, value| spec(&[still[0], still[1], (key, value)]);
    assert!(spec(&[]) && spec(&still[..1]) && spec(&still[1..]));
    assert!(!spec(&still) && !with("queue", "codel") && !with("loss", "nth:5"));
    for (key, value) in [
        ("per", "1e-5"),
        ("queue", "red"),
        ("jitter", "uniform:1 ms"),
        ("duplication", "1e-4"),
        ("traffic", "on-off:exponential 2 s,1 s"),
        ("short-flows", "cubic; rate=5/s; size=10 KB"),
    ] {
        assert!(with(key, value), "{key} {value}");
    }
    assert!(!with("traffic", "on-off:2 s,1 s"));
}
