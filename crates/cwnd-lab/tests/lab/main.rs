//! The laboratory for real: real namespaces, this kernel's TCP, packets through the emulator.
//!
//! Tests that need root, TUN devices and `ip` are ignored by default:
//! `cargo test -p cwnd-lab --test lab -- --include-ignored --nocapture`
#![cfg(target_os = "linux")]

mod offloads;

use cwnd_lab::{Lab, Named, Namespace, Testbed, address, doctor, probe};
use cwnd_scenario::{
    AlgorithmSpec, Counting, Ecn, Engine, EngineError, FlowSpec, LinkSpec, Loss, Network, Outcome,
    QueueLimit, QueueSpec, Rate, Scenario, Stack, Time, Traffic,
};
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Waits until no other test emulates a network.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let missing = doctor::missing();
    assert!(missing.is_empty(), "{}", missing.join("; "));
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One link there and one back, `rate` Mbit/s, `rtt` milliseconds, a buffer in packets.
fn scenario(rate: u64, rtt: u64, buffer: u32, seconds: u64, flows: Vec<FlowSpec>) -> Scenario {
    let link = |name, from, to| LinkSpec::new(name, from, to, Rate(rate * 1_000_000), Time(rtt * 500_000));
    let mut there = link("there", 0, 1);
    there.queue = QueueSpec::drop_tail(QueueLimit::Packets(buffer), Counting::WaitingOnly);
    Scenario {
        network: Network { links: vec![there, link("back", 1, 0)], ..(*doctor::smallest().network).clone() }
            .into(),
        flows: flows.into(),
        stack: Stack::linux(1500, true, 2_000),
        duration: Time::from_secs(seconds),
        ..doctor::smallest()
    }
}

fn flow(algorithm: &str) -> FlowSpec {
    let algorithm = AlgorithmSpec { name: algorithm.into(), ..AlgorithmSpec::default() };
    FlowSpec { algorithm, ..doctor::smallest().flows.remove(0) }
}

/// The engine as it is on a host, and as it is in a virtual machine, where the emulator's thread reads for the receivers as well.
fn labs() -> [Lab; 2] {
    [Lab::default(), Lab::in_virtual_time()]
}

fn run(scenario: &Scenario) -> Outcome {
    run_on(&Lab::default(), scenario)
}

fn run_on(lab: &Lab, scenario: &Scenario) -> Outcome {
    let outcome = lab.run(scenario).unwrap_or_else(|error| panic!("{error}"));
    outcome.check_conservation().unwrap_or_else(|wrong| panic!("{wrong}"));
    outcome
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn no_packet_comes_early_and_few_come_late() {
    let _turn = turn();
    let testbed = Testbed::new(&scenario(100, 40, 100, 1, vec![flow("newreno")]), None).unwrap();
    let mut times = probe::echo(&testbed, 100, Duration::from_millis(5)).unwrap();
    times.sort();
    assert_eq!(times.len(), 100, "packets are missing");
    // 40 ms and two transmissions of 50 bytes.
    assert!(times[0] >= Duration::from_nanos(40_008_000), "{:?}", times[0]);
    assert!(times[50] < Duration::from_millis(45), "{:?}: is this machine this slow?", times[50]);
    assert_eq!(testbed.other_drops().unwrap(), [] as [String; 0]);
    let record = testbed.end().unwrap();
    assert_eq!(record.at_end.links[0].arrived, 100);
    assert_eq!(record.at_end.links[1].delivered, 100);
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn a_flow_of_ipv6_is_emulated_and_marked() {
    let _turn = turn();
    let mut asked = scenario(20, 20, 100, 1, vec![flow("newreno")]);
    asked.stack.ecn = Ecn::Classic;
    asked.network.links[0].queue.ecn_threshold = Some(20);
    let mut testbed = Testbed::new(&asked, None).unwrap();
    testbed.add_ipv6().unwrap();
    // The kernel's own words for neighbours and routers would come in this time.
    thread::sleep(Duration::from_millis(300));
    assert_eq!(testbed.snapshot().counts.links[0].arrived, 0);
    let server = SocketAddr::new(address::receiver_ipv6(0).into(), 5001);
    let listener = testbed.receivers().within(|| TcpListener::bind(server)).unwrap();
    let received = thread::spawn(move || {
        let (mut stream, from) = listener.accept().unwrap();
        (io::copy(&mut stream, &mut io::sink()).unwrap(), from)
    });
    let bytes = 2_000_000;
    let mut stream = testbed.senders().within(|| TcpStream::connect(server)).unwrap();
    stream.write_all(&vec![0; bytes as usize]).unwrap();
    drop(stream);
    let (arrived, from) = received.join().unwrap();
    assert_eq!((arrived, from.ip()), (bytes, IpAddr::from(address::sender_ipv6(0))));
    assert_eq!(testbed.other_drops().unwrap(), [] as [String; 0]);
    let record = testbed.end().unwrap();
    let flow = &record.at_end.flows[0];
    assert_eq!(flow.bytes_in_order, bytes);
    assert!(flow.rtt_min >= Some(20_000_000) && flow.rtt_samples > 100, "{flow:?}");
    assert!(flow.packets_marked > 0 && flow.packets_dropped == 0, "{flow:?}");
    assert_eq!(record.strangers, 0);
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn a_flow_of_this_kernel_fills_the_link() {
    let _turn = turn();
    let mut asked = scenario(20, 20, 33, 4, vec![flow("cubic-linux")]);
    asked.sample = Some(Time::from_millis(100));
    for lab in labs() {
        let outcome = run_on(&lab, &asked);
        let flow = &outcome.flows[0];
        // Of 4 s at 20 Mbit/s the slow start takes away less than a tenth.
        assert!((9_000_000..=10_000_000).contains(&flow.wire_bytes_received), "{flow:?}");
        assert!(flow.packets_dropped > 0, "a full buffer of one pipe drops");
        assert!(flow.retransmissions >= flow.packets_dropped, "{flow:?}");
        assert!(flow.rtt_min >= Some(Time(20_000_000)), "{flow:?}");
        assert!(
            flow.congestion_events > 0 && flow.acks_received > 1000 && flow.rtt_samples > 1000,
            "{flow:?}"
        );
        let mean = flow.cwnd_integral / 3.9;
        assert!((20.0..90.0).contains(&mean), "a mean window of {mean} in a pipe of 33 and a buffer of 33");
        let trace = outcome.trace.unwrap();
        assert_eq!((trace.times.len(), trace.queue_lengths.len()), (41, 41));
        assert!(trace.samples.len() >= 39, "{}", trace.samples.len());
        assert!(trace.samples.is_sorted_by_key(|sample| sample.time_index));
        assert!(trace.queue_lengths.iter().any(|queues| queues[0] > 10), "{:?}", trace.queue_lengths);
        let emulation = outcome.emulation.unwrap();
        assert!(emulation.host.starts_with(fs::read_to_string("/proc/sys/kernel/osrelease").unwrap().trim()));
        assert!(emulation.late_p50 <= emulation.late_p99 && emulation.late_p99 <= emulation.late_max);
    }
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn files_arrive_whole_and_end_the_run() {
    let _turn = turn();
    let bytes = 1_234_567;
    let file = FlowSpec { bytes: Some(bytes), ..flow("newreno") };
    let later = FlowSpec { start: Time::from_millis(300), ..file.clone() };
    let mut asked = scenario(50, 10, 40, 600, vec![file, later]);
    // A third of these is lost twice or more.
    asked.network.links[0].loss = Loss::Bernoulli(0.02);
    for lab in labs() {
        let begin = Instant::now();
        let outcome = run_on(&lab, &asked);
        assert!(begin.elapsed() < Duration::from_secs(60), "it ends when all has come");
        assert_eq!(outcome.end, asked.duration);
        for flow in &outcome.flows {
            assert_eq!(flow.bytes_in_order, bytes, "{flow:?}");
            assert!(flow.packets_lost > 0 && flow.retransmissions > 0, "{flow:?}");
            let (start, end) = (flow.start, flow.completed.unwrap());
            // 10 ms there and back at least, and 1.3 MB at 50 Mbit/s.
            assert!(end.0 - start.0 > 200_000_000, "{flow:?}");
        }
        assert!(outcome.flows[1].start >= Time::from_millis(300), "{:?}", outcome.flows[1]);
    }
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn flows_have_their_own_round_trip_and_stop() {
    let _turn = turn();
    let mut asked = scenario(20, 10, 100, 3, vec![flow("newreno"), flow("cubic-linux")]);
    let far = LinkSpec::new("far", 1, 0, Rate(20_000_000), Time::from_millis(55));
    asked.network.links.push(far);
    asked.flows[1].ack_route = vec![2];
    asked.flows[0].stop = Some(Time::from_secs(1));
    asked.warm_up = Time::from_secs(2);
    let outcome = run_without_sums(&asked);
    let [near, far] = &outcome.flows[..] else { panic!("two flows") };
    assert!(near.rtt_min >= Some(Time(10_000_000)) && near.rtt_min < Some(Time(40_000_000)), "{near:?}");
    assert!(far.rtt_min >= Some(Time(60_000_000)), "{far:?}");
    assert!(near.stop.is_some_and(|at| at >= Time::from_secs(1) && at < Time::from_millis(1200)), "{near:?}");
    // Of the last second the first flow has nothing but what its socket still held.
    assert!(far.bytes_in_order > near.bytes_in_order, "{near:?} {far:?}");
    assert_eq!((outcome.begin, outcome.end), (Time::from_secs(2), Time::from_secs(3)));
}

/// With a warm-up what was under way when it ended is in no sum.
fn run_without_sums(scenario: &Scenario) -> Outcome {
    Lab::default().run(scenario).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn marks_are_heeded_where_flows_asked_for_them() {
    let _turn = turn();
    // A file, so that no mark is under way when the run ends: 2.4 s at 20 Mbit/s.
    let file = FlowSpec { bytes: Some(6_000_000), ..flow("newreno") };
    let mut asked = scenario(20, 20, 500, 20, vec![file]);
    asked.network.links[0].queue.ecn_threshold = Some(20);
    asked.stack.ecn = cwnd_scenario::Ecn::Classic;
    let outcome = run(&asked);
    let flow = &outcome.flows[0];
    assert_eq!(flow.packets_in_flight, 0, "{outcome:?}");
    assert!(flow.packets_marked > 0 && outcome.links[0].marked == flow.packets_marked, "{outcome:?}");
    assert_eq!(flow.packets_dropped, 0, "{flow:?}");
    assert!(flow.congestion_events > 1, "{flow:?}");
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn every_queue_and_effect_is_the_simulators() {
    let _turn = turn();
    let mut asked = scenario(20, 20, 100, 2, vec![flow("newreno")]);
    asked.network.links[0].queue.discipline =
        cwnd_scenario::Discipline::CoDel(cwnd_scenario::CoDel::default());
    asked.network.links[0].effects.duplication = 0.01;
    asked.network.links[1].effects.jitter = Some(cwnd_scenario::Jitter {
        shape: cwnd_scenario::JitterShape::Uniform(Time::from_millis(3)),
        reorders: true,
    });
    let outcome = run(&asked);
    assert!(outcome.flows[0].packets_copied > 0 && outcome.flows[0].duplicates > 0, "{outcome:?}");
    assert!(outcome.flows[0].packets_dropped > 0, "{outcome:?}");
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn a_receiver_offers_no_more_than_was_asked() {
    let _turn = turn();
    let mut asked = scenario(100, 50, 400, 3, vec![flow("cubic-linux")]);
    asked.stack.receive_window = 20;
    for lab in labs() {
        let outcome = run_on(&lab, &asked);
        // 20 packets of 1,514 bytes each 50 ms are 4.8 Mbit/s.
        let rate = outcome.flows[0].wire_bytes_received as f64 * 8.0 / 3.0;
        assert!((3.5e6..=4.9e6).contains(&rate), "{rate} bit/s");
        assert_eq!(outcome.flows[0].packets_dropped, 0);
    }
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn what_others_drop_is_found() {
    let _turn = turn();
    let testbed = Testbed::new(&scenario(100, 10, 100, 1, vec![flow("newreno")]), None).unwrap();
    assert_eq!(testbed.other_drops().unwrap(), [] as [String; 0]);
    // A device that holds one packet, and a program that sends more at a time.
    testbed.senders().ip(&["link set cwnd0 txqueuelen 1".to_owned()]).unwrap();
    let sent = testbed.senders().within(|| {
        let socket = std::net::UdpSocket::bind("198.18.0.1:0")?;
        (0..20_000).try_for_each(|_| socket.send_to(&[0; 1000], "198.19.0.1:9").map(drop))
    });
    let drops = testbed.other_drops().unwrap();
    assert!(drops.iter().any(|drop| drop.starts_with("senders: cwnd0 send drops")), "{drops:?} {sent:?}");
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn it_stops_at_once_when_told() {
    let _turn = turn();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let begin = Instant::now();
    let told = thread::spawn(move || {
        thread::sleep(Duration::from_secs(1));
        flag.store(true, Ordering::Relaxed);
    });
    let stopped = Lab::new(stop).run(&scenario(10, 20, 20, 100, vec![flow("newreno")]));
    assert_eq!(stopped, Err(EngineError::Failed("it was stopped".into())));
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    told.join().unwrap();
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn two_runs_come_one_after_the_other() {
    let _turn = turn();
    let begin = Instant::now();
    let both = [(); 2].map(|()| thread::spawn(|| run(&scenario(10, 10, 20, 1, vec![flow("newreno")]))));
    both.into_iter().for_each(|one| drop(one.join().unwrap()));
    assert!(begin.elapsed() >= Duration::from_secs(2), "{:?}", begin.elapsed());
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn the_host_is_as_it_was() {
    let _turn = turn();
    let state = || {
        let show = |arguments: &[&str]| {
            let done = Command::new("ip").args(arguments).output().unwrap();
            String::from_utf8_lossy(&done.stdout).into_owned()
        };
        let settings = ["ipv4/tcp_rmem", "ipv4/tcp_ecn", "ipv4/tcp_congestion_control", "ipv4/tcp_sack"];
        let settings = settings.map(|name| fs::read_to_string(format!("/proc/sys/net/{name}")).unwrap());
        (show(&["-o", "link"]), show(&["route", "show", "table", "all"]), show(&["netns"]), settings)
    };
    let before = state();
    let mut asked = scenario(20, 20, 50, 1, vec![flow("newreno")]);
    asked.stack.sack = false;
    asked.stack.ecn = cwnd_scenario::Ecn::Classic;
    run(&asked);
    assert_eq!(state(), before);
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn names_are_there_while_they_are_held_and_taken_away_after_a_kill() {
    let _turn = turn();
    let testbed = Testbed::new(&scenario(20, 20, 50, 1, vec![flow("newreno")]), None).unwrap();
    let name = format!("cwnd-test-{}", std::process::id());
    let there = |name: &str| {
        let done = Command::new("ip").args(["netns", "exec", name, "ip", "-o", "link"]).output().unwrap();
        String::from_utf8_lossy(&done.stdout).contains("cwnd0")
    };
    let named = Named::new(&name, testbed.senders()).unwrap();
    assert!(there(&name));
    let taken = Named::new(&name, testbed.receivers()).unwrap_err();
    assert!(taken.to_string().contains("choose another name"), "{taken}");
    drop(named);
    assert!(!there(&name));
    // As a process leaves it that is killed: a name, and the record of an owner that is no more.
    std::mem::forget(Named::new(&name, testbed.senders()).unwrap());
    fs::write(format!("/run/cwnd-lab/{name}"), "4000000000 1").unwrap();
    assert_eq!(cwnd_lab::clean_up(), std::slice::from_ref(&name));
    assert!(!there(&name) && !fs::exists(format!("/run/netns/{name}")).unwrap());
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn a_name_is_given_once_and_the_loser_leaves_it() {
    let _turn = turn();
    let name = format!("cwnd-race-{}", std::process::id());
    let namespaces: Vec<Namespace> = (0..8).map(|_| Namespace::new().unwrap()).collect();
    for round in 0..20 {
        let start = std::sync::Barrier::new(namespaces.len());
        let given: Vec<_> = thread::scope(|scope| {
            let all = namespaces.iter().map(|namespace| {
                scope.spawn(|| {
                    start.wait();
                    Named::new(&name, namespace)
                })
            });
            let all: Vec<_> = all.collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let losers = given.iter().filter_map(|given| given.as_ref().err());
        assert_eq!(losers.clone().count(), namespaces.len() - 1, "round {round}");
        assert!(losers.clone().all(|error| error.to_string().contains("choose another name")), "{given:?}");
        // The winner's is still there, with its record.
        for there in [format!("/run/netns/{name}"), format!("/run/cwnd-lab/{name}")] {
            assert!(fs::exists(&there).unwrap(), "round {round}: {there} is gone");
        }
        assert_eq!(cwnd_lab::clean_up(), [] as [String; 0]);
        drop(given);
        assert!(!fs::exists(format!("/run/netns/{name}")).unwrap());
    }
    // A name that others have given is neither taken nor removed.
    fs::write(format!("/run/netns/{name}"), "").unwrap();
    assert!(Named::new(&name, &namespaces[0]).is_err());
    fs::remove_file(format!("/run/netns/{name}")).unwrap();
    assert!(!fs::exists(format!("/run/cwnd-lab/{name}")).unwrap());
}

#[test]
fn says_what_it_does_not_run() {
    let refused = |change: &dyn Fn(&mut Scenario)| {
        let mut asked = scenario(20, 20, 50, 1, vec![flow("newreno")]);
        change(&mut asked);
        let problems = Lab::default().check(&asked).unwrap_err();
        problems.iter().map(|problem| format!("{problem}\n")).collect::<String>()
    };
    let text = refused(&|asked| asked.stack = Stack::ns2(1000, true, 1000));
    assert!(text.contains("stack: is not Linux's"), "{text}");
    let text = refused(&|asked| asked.flows[0].algorithm.name = "no-such".into());
    assert!(text.contains("flows[0].algorithm") && text.contains("reno"), "{text}");
    let text = refused(&|asked| asked.flows[0].traffic = Traffic::Live(Rate(1000)));
    assert!(text.contains("flows[0]: has an application"), "{text}");
    let text = refused(&|asked| asked.duration = Time::ZERO);
    assert!(text.contains("duration"), "{text}");
}

#[cfg(feature = "load")]
#[test]
#[ignore = "needs root, TUN devices and ip"]
fn what_the_kernel_lacks_is_loaded_for_the_run() {
    let _turn = turn();
    assert_eq!(cwnd_kernel::load::missing(), [] as [String; 0]);
    let before = loaded_ids();
    // Another process, here this one, may have loaded the same: with other parameters, and by what name it likes.
    let others = format!("cwnd_l{}", std::process::id());
    let elastic = cwnd_kernel::find("elastic").unwrap();
    let others = cwnd_kernel::load::load_as(elastic, &[], &others).unwrap();
    let of = |spec: &str| FlowSpec { algorithm: spec.parse().unwrap(), ..flow("elastic") };
    let flows = vec![of("elastic:beta=0.8"), of("elastic"), of("elastic:beta=0.8"), of("cubic-linux")];
    let outcome = run(&scenario(20, 20, 33, 3, flows));
    let rates: Vec<u64> = outcome.flows.iter().map(|flow| flow.wire_bytes_received).collect();
    assert!(rates.iter().all(|bytes| *bytes > 200_000), "{rates:?}");
    let bpf = format!("BPF, source {}", elastic.source);
    let ran: Vec<(String, String)> =
        (outcome.emulation.unwrap().implementations.into_iter()).map(|ran| (ran.algorithm, ran.by)).collect();
    assert_eq!(ran[0], ("elastic:beta=0.8".to_owned(), bpf.clone()));
    assert_eq!(ran[1], ("elastic".to_owned(), bpf));
    assert!(ran[2].0 == "cubic-linux" && ran[2].1.starts_with("the kernel's "), "{ran:?}");
    assert_eq!(ran.len(), 3);
    assert!(
        cwnd_lab::host::available().iter().any(|name| name == others.kernel_name()),
        "nobody else's was touched"
    );
    drop(others);
    gone(&before);

    // DCTCP asks for ECN itself, and wants its own echo of marks at the other end.
    let mut asked = scenario(50, 10, 400, 3, vec![flow("dctcp")]);
    asked.network.links[0].queue.ecn_threshold = Some(20);
    let outcome = run(&asked);
    let dctcp = &outcome.flows[0];
    assert!(dctcp.packets_marked > 0 && dctcp.packets_dropped == 0, "{dctcp:?}");
    let waiting = outcome.links[0].waiting_integral / 3.0;
    assert!(
        (2.0..60.0).contains(&waiting),
        "{waiting} packets wait on the average, and 20 are the threshold"
    );

    gone(&before);
    let text = |spec: &str| {
        let mut asked = scenario(20, 20, 33, 1, vec![flow("newreno")]);
        asked.flows[0].algorithm = spec.parse().unwrap();
        Lab::default().check(&asked).unwrap_err()[0].to_string()
    };
    assert!(text("elastic:beta=7").contains("beta"), "{}", text("elastic:beta=7"));
    assert!(text("cdg").contains("no implementation for the kernel"), "{}", text("cdg"));
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn samples_have_what_the_kernels_bbr_reports() {
    let _turn = turn();
    let mut asked = scenario(20, 20, 66, 4, vec![flow("bbr")]);
    asked.sample = Some(Time::from_millis(100));
    let trace = run(&asked).trace.unwrap();
    let last = |name: &str| *trace.observed(0, name).unwrap().last().unwrap();
    // The link carries 20 Mbit/s of packets, of which 1,448 of 1,514 B are payload.
    let bandwidth = last("max_bw") / (20e6 * 1448.0 / 1514.0);
    assert!((0.8..1.3).contains(&bandwidth), "{bandwidth}");
    assert!((0.02..0.04).contains(&last("min_rtt")), "{}", last("min_rtt"));
    assert!([0.75, 1.0, 1.25].contains(&last("pacing_gain")), "{}", last("pacing_gain"));
    assert_eq!(last("cwnd_gain"), 2.0);
}

#[cfg(feature = "load")]
#[test]
#[ignore = "needs root, TUN devices and ip"]
fn samples_have_the_state_of_loaded_algorithms() {
    let _turn = turn();
    let before = loaded_ids();
    let flows = ["elastic", "agile-sd", "invs", "cubic-linux"].map(flow).to_vec();
    let mut asked = scenario(20, 20, 33, 6, flows);
    asked.sample = Some(Time::from_millis(100));
    let trace = run(&asked).trace.unwrap();
    let known = |flow: usize, name: &str| {
        let values = trace.observed(flow, name).unwrap_or_else(|| panic!("flow {flow} has no {name}"));
        let known: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
        assert!(known.len() > 20, "{name}: {values:?}");
        known
    };
    // The path has 20 ms, and 33 packets take 20 ms more; the emulator may be late. RTTmax never falls.
    let rtt_max = known(0, "rtt_max");
    assert!(rtt_max.is_sorted() && (0.02..0.2).contains(&rtt_max[rtt_max.len() - 1]), "{rtt_max:?}");
    let utilisation = known(0, "utilisation");
    assert!(utilisation.iter().all(|ratio| (0.05..=1.0).contains(ratio)), "{utilisation:?}");
    // WWF is of the window that the same sample has.
    let of_elastic = trace.samples.iter().filter(|sample| sample.flow == 0);
    let [wwf, ratio] = ["wwf", "utilisation"].map(|name| trace.observed(0, name).unwrap());
    for sample in of_elastic {
        let (wwf, ratio) = (wwf[sample.time_index], ratio[sample.time_index]);
        assert!(
            wwf.is_nan() || (wwf * wwf * ratio / sample.cwnd - 1.0).abs() < 1e-3,
            "{wwf} {ratio} {sample:?}"
        );
    }
    // Its losses take 5 or 10 % of Agile-SD's window, a segment at least.
    let (loss, gap) = (known(1, "w_loss"), known(1, "gap_total"));
    let fits = |(loss, gap): (&f64, &f64)| *gap >= 1.0 && *gap <= 0.1 * loss + 1.0;
    assert!(loss.iter().zip(&gap).all(fits), "{loss:?} {gap:?}");
    let bandwidth = known(2, "bandwidth");
    assert!(bandwidth.iter().all(|rate| (1e4..4e7).contains(rate)), "{bandwidth:?}");
    assert!(known(2, "k").iter().all(|k| *k >= 1.0));
    assert!(!trace.observed.iter().any(|observed| observed.flow == 3), "the kernel's own is not read");

    let mut asked = scenario(50, 10, 400, 4, vec![flow("cltcp")]);
    asked.network.links[0].queue.ecn_threshold = Some(20);
    asked.sample = Some(Time::from_millis(100));
    let trace = run(&asked).trace.unwrap();
    let [n, alpha] = ["n", "alpha"].map(|name| trace.observed(0, name).unwrap());
    assert!(n.iter().all(|n| n.is_nan() || *n >= 1.0), "{n:?}");
    assert!(alpha.iter().any(|alpha| *alpha > 0.0 && *alpha <= 1.0), "{alpha:?}");
    gone(&before);
}

/// The algorithms that the kernel has loaded of cwnd's.
#[cfg(feature = "load")]
fn loaded_ids() -> Vec<u32> {
    cwnd_kernel::load::loaded().unwrap().iter().map(|object| object.id).collect()
}

/// Waits until the kernel has freed what has been loaded since: sockets that a run left behind would keep it.
#[cfg(feature = "load")]
fn gone(before: &[u32]) {
    let begin = Instant::now();
    while loaded_ids().iter().any(|id| !before.contains(id)) {
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", cwnd_kernel::load::loaded());
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs root, TUN devices and ip"]
fn scripts_pass_on_this_kernel_as_on_the_simulated_endpoint() {
    let _turn = turn();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cwnd-drill/tests/scripts");
    // Scripts whose result does not depend on the tick of this kernel's timers.
    for name in ["slow-start", "fast-retransmit", "limited-transmit", "cubic-reduction", "ecn-echo"] {
        let path = folder.join(name).with_extension("pkt");
        // A busy machine can make this process late; a difference of TCP shows each time.
        let mut report = String::new();
        let passes = (0..5).any(|_| {
            let result = cwnd_drill::run_file_with(&path, cwnd_drill::Settings::default(), |settings| {
                Ok(Box::new(cwnd_lab::drill::KernelEndpoint::new(settings)?))
            });
            report = cwnd_drill::report::text(name, &result, true);
            result.is_ok_and(|outcome| outcome.passed())
        });
        assert!(passes, "{report}");
    }
}
