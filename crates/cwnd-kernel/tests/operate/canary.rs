//! Canaries in network namespaces: a bad one is returned, a good one is kept.

use super::host::{Instances, TestCgroup};
use crate::lab::{Lab, RECEIVER, congestion_control};
use cwnd_kernel::load::{self, Bounds, Canary, Ending, Groups};
use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

const SENDERS: usize = 6;
/// Bytes of a connection: enough for several losses.
const BYTES: usize = 1_500_000;
const SHARE: f64 = 0.5;

/// Judged after a few seconds of this traffic. One that is ten times as bad is found, and chance does not reach a third.
const BOUNDS: Bounds = Bounds {
    retransmissions: 3.0,
    retransmission_margin: 0.002,
    rtt: 3.0,
    least_sockets: 10,
    least_segments: 4_000,
    significance: 0.05,
};

/// Sends connections one after another over a bottleneck with `reno` as the default, and one more that stays open. Returns how the
/// canary ended, its last counts, the congestion controls of the long connections at the end, and how many new ones of ten had it.
fn run_canary(
    name: &str,
    until: Duration,
    stop_after: Option<Duration>,
) -> (Ending, Groups, Vec<String>, usize) {
    let lab = Lab::new("200mbit", "60k", 0).unwrap();
    lab.set_sender("ipv4/tcp_congestion_control", "reno").unwrap();
    let cgroup = TestCgroup::new(&format!("canary-{name}"), None);
    let done = Arc::new(AtomicBool::new(false));
    let listener = lab.within(2, || TcpListener::bind((RECEIVER, 5001))).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let (mut stream, mut buffer) = (stream, vec![0; 1 << 16]);
                while stream.read(&mut buffer).is_ok_and(|count| count > 0) {}
            });
        }
    });
    let canary = Canary::begin(&cgroup.0, name, None, SHARE).unwrap();
    let long: Mutex<Vec<TcpStream>> = Mutex::new(Vec::new());
    let (mut ending, mut last) = (None, Groups::default());
    let mut new = 0;
    thread::scope(|scope| {
        for _ in 0..SENDERS {
            scope.spawn(|| {
                let send = || {
                    cgroup.enter();
                    while !done.load(Ordering::Relaxed) {
                        let mut stream = TcpStream::connect((RECEIVER, 5001))?;
                        stream.write_all(&vec![7; BYTES])?;
                    }
                    Ok(())
                };
                lab.within(0, send).unwrap();
            });
        }
        // Some that stay open, of which about half are canaries.
        scope.spawn(|| {
            let send = || {
                cgroup.enter();
                for _ in 0..8 {
                    long.lock().unwrap().push(TcpStream::connect((RECEIVER, 5001))?);
                }
                while !done.load(Ordering::Relaxed) {
                    for stream in long.lock().unwrap().iter_mut() {
                        stream.write_all(&[7; 3000])?;
                    }
                    thread::sleep(Duration::from_millis(100));
                }
                Ok(())
            };
            lab.within(0, send).unwrap();
        });
        let stop = Arc::new(AtomicBool::new(false));
        if let Some(after) = stop_after {
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                thread::sleep(after);
                stop.store(true, Ordering::Relaxed);
            });
        }
        let report = |groups: &Groups, verdict: &load::Verdict| {
            let (canary, rest) = (groups.canary.total(), groups.rest.total());
            println!(
                "{name}: canary {:5} connections, {:.3} % retransmitted, {:.2} ms; rest {:5}, {:.3} %, {:.2} ms; {verdict:?}",
                canary.sockets,
                100.0 * canary.retransmission_rate(),
                1e3 * canary.mean_rtt_s(),
                rest.sockets,
                100.0 * rest.retransmission_rate(),
                1e3 * rest.mean_rtt_s(),
            );
        };
        ending =
            Some(load::watch(&canary, &BOUNDS, until, Duration::from_millis(500), &stop, report).unwrap());
        last = canary.counts().unwrap();
        let connect = || {
            cgroup.enter();
            (0..10).map(|_| congestion_control(&TcpStream::connect((RECEIVER, 5001))?)).collect()
        };
        let names: Vec<String> = lab.within(0, connect).unwrap();
        new = names.iter().filter(|other| *other == name).count();
        done.store(true, Ordering::Relaxed);
    });
    let long = long.into_inner().unwrap().iter().map(|stream| congestion_control(stream).unwrap()).collect();
    (ending.expect("it has ended"), last, long, new)
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip, tc and cgroup2"]
fn a_canary_that_retransmits_more_is_returned() {
    let mut instances = Instances::new();
    // As 50 connections of Reno: it hardly reduces its window.
    let name = instances.load("multcp", 'n', &[("n", "50")]);
    let (ending, groups, long, new) = run_canary(&name, Duration::from_secs(60), None);
    let Ending::Worse(why) = ending else { panic!("it ended with {ending:?} after {groups:?}") };
    assert!(why.starts_with("its share of retransmitted segments is"), "{why}");
    // New connections have the default, and open canaries have returned to it.
    assert_eq!((long, new), (vec!["reno".to_owned(); 8], 0), "{groups:?}");
    assert!(groups.canary.total().returned > 0, "{groups:?}");
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip, tc and cgroup2"]
fn a_canary_that_is_as_good_is_kept() {
    let mut instances = Instances::new();
    let name = instances.load("newreno", 'o', &[]);
    let (ending, groups, long, new) = run_canary(&name, Duration::from_secs(8), None);
    assert_eq!(ending, Ending::Kept, "{groups:?}");
    // The open ones keep it; of the new ones a half get it. That all or none of 18 do has a chance of 1 in 130,000.
    let open = long.iter().filter(|other| **other == name).count();
    assert!((1..18).contains(&(open + new)), "{long:?} {new}");
    let (canary, rest) = (groups.canary.total().sockets as f64, groups.rest.total().sockets as f64);
    let share = canary / (canary + rest);
    assert!((0.25..0.75).contains(&share), "{groups:?}");
    assert_eq!(groups.canary.total().returned, 0);
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip, tc and cgroup2"]
fn a_stopped_canary_is_returned() {
    let mut instances = Instances::new();
    let name = instances.load("newreno", 'p', &[]);
    let (ending, _, long, new) = run_canary(&name, Duration::from_secs(60), Some(Duration::from_secs(2)));
    assert_eq!((ending, long, new), (Ending::Stopped, vec!["reno".to_owned(); 8], 0));
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip and cgroup2"]
fn a_canary_in_a_cgroup_with_a_selection_is_refused() {
    let mut instances = Instances::new();
    let name = instances.load("newreno", 'q', &[]);
    let outer = TestCgroup::new("refused", None);
    let inner = TestCgroup::new("inner", Some(&outer));
    load::select(&inner.0, &name).unwrap();
    for cgroup in [&outer, &inner] {
        let why = Canary::begin(&cgroup.0, "reno", None, SHARE).unwrap_err().to_string();
        assert!(why.contains("has the selection") && why.contains(&name), "{why}");
    }
    load::unselect(&inner.0).unwrap();
    drop(Canary::begin(&inner.0, &name, Some("reno"), SHARE).unwrap());
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip, tc and cgroup2"]
fn the_algorithm_of_a_canary_stays_or_the_canary_ends() {
    let mut instances = Instances::new();
    let name = instances.load("newreno", 'r', &[]);
    let cgroup = TestCgroup::new("unloaded", None);
    let canary = Canary::begin(&cgroup.0, &name, None, SHARE).unwrap();
    assert_eq!(canary.gone(), None);
    let refused = load::unload(&name, false).unwrap_err().to_string();
    assert!(refused.contains(&format!("the canary of {}", cgroup.0.path.display())), "{refused}");
    load::unload(&name, true).unwrap();
    let (never, minute) = (AtomicBool::new(false), Duration::from_secs(60));
    let ending = load::watch(&canary, &BOUNDS, minute, Duration::from_millis(100), &never, |_, _| {});
    assert_eq!(ending.unwrap(), Ending::Unloaded(name));
}
