//! Single runs: natively simulated, and over the kernel. And what is read of the kernel.

use crate::{http::Connection, server::Server};
use cwnd_wasm::{Bench, Setting};
use std::time::{Duration, Instant};

const SETTING: &str =
    "rate=100 Mbit/s\nrtt=40 ms\nbuffer=333\nduration=20 s\nflow=cubic\nflow=bbr3\n@10 s rate=50 Mbit/s";

/// A run of many minutes.
const LONG: &str = "rate=10 Gbit/s\nrtt=40 ms\nbuffer=33000\nduration=600 s\nflow=cubic; count=8";

/// The frames of a response: their kinds and contents.
fn frames(body: &[u8]) -> Vec<(u8, &[u8])> {
    let mut frames = Vec::new();
    let mut rest = body;
    while let Some((head, after)) = rest.split_first_chunk::<8>() {
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        frames.push((head[0], &after[..length]));
        rest = &after[length..];
    }
    assert!(rest.is_empty(), "the last frame is whole");
    frames
}

/// The numbers of all rows.
fn rows(frames: &[(u8, &[u8])]) -> Vec<f64> {
    let rows = frames.iter().filter(|(kind, _)| *kind == b'r');
    let numbers = rows.flat_map(|(_, content)| &content[24..]).copied().collect::<Vec<u8>>();
    numbers.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes"))).collect()
}

#[test]
fn a_native_run_has_the_samples_of_the_bench() {
    let server = Server::start();
    let body = server.post("/api/simulation", SETTING).body;
    let frames = frames(&body);
    assert_eq!(frames.first().map(|(kind, _)| *kind), Some(b'd'));
    assert_eq!(frames.last().map(|(kind, _)| *kind), Some(b'e'));

    let setting = Setting::parse(SETTING, None).expect("it is valid");
    let mut bench = Bench::new(setting).expect("it is possible");
    assert_eq!(frames[0].1, bench.describe().as_bytes());
    let mut expected = Vec::new();
    let every = 20.0 / 1500.0;
    for sample in 1..=1500 {
        bench.run_until(f64::from(sample) * every, every).expect("the change is possible");
        expected.extend_from_slice(bench.rows());
    }
    let got = rows(&frames);
    assert_eq!(got.len(), expected.len());
    // Values that a flow does not have yet are not numbers.
    assert!(
        got.iter()
            .zip(&expected)
            .all(|(one, other)| one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan())
    );
}

#[test]
fn what_is_wrong_with_a_setting_is_said_by_line() {
    let server = Server::start();
    let refused = server.post("/api/simulation", "rate=10 Mbit/s\nbufer=7\nflow=cubik");
    assert_eq!(refused.status, 422);
    let problems = refused.json()["problems"].clone();
    assert_eq!((&problems[0]["line"], &problems[0]["key"]), (&2.into(), &"bufer".into()), "{problems}");
    assert!(
        problems[0]["message"].as_str().is_some_and(|text| text.contains("did you mean `buffer`?")),
        "{problems}"
    );

    for (file, wanted) in [
        ("rate-trace=lte.trace", "does not read the file `lte.trace`"),
        ("reverse-rate-trace=lte.trace", "does not read the file `lte.trace`"),
        ("short-flows=cubic; load=20 %; size=sizes.csv", "does not read the file `sizes.csv`"),
    ] {
        let refused = server.post("/api/simulation", &format!("rtt=40 ms\n{file}\nflow=cubic"));
        let problem = refused.json()["problems"][0].clone();
        assert_eq!((refused.status, &problem["line"]), (422, &2.into()), "{problem}");
        assert!(problem["message"].as_str().is_some_and(|text| text.contains(wanted)), "{problem}");
    }

    let refused = server.post("/api/simulation", "flow=policy:file=aurora.json");
    let problem = refused.json()["problems"][0].clone();
    assert_eq!(refused.status, 422, "{problem}");
    let message = problem["message"].as_str().unwrap_or_default();
    assert!(message.contains("`cwnd compare` and study files run it"), "{problem}");

    let refused = server.post("/api/simulation", "rate=10 Mbit/s\nflow=cubic\n@1 s stop=2\n@2 s queue=codel");
    assert_eq!(refused.status, 422, "it does not begin");
    let problems = refused.json()["problems"].clone();
    assert_eq!((&problems[0]["line"], &problems[1]["line"]), (&3.into(), &4.into()), "{problems}");
    let message = problems[1]["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("the queue is drop-tail and cannot become codel while the link is in use"),
        "{problems}"
    );
}

/// Opens a run as soon as there is a place for it.
#[track_caller]
fn opened(server: &Server, setting: &str) -> Connection {
    let begin = Instant::now();
    loop {
        let run = server.stream("/api/simulation", Some(setting));
        if run.status == 200 {
            return run;
        }
        assert_eq!(run.status, 429);
        assert!(begin.elapsed() < Duration::from_secs(10), "what has no reader still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_ends_when_its_reader_has_gone() {
    let server = Server::start();
    // There are two places: of ten runs, each of many minutes, eight begin because others have ended.
    for _ in 0..5 {
        let runs = [(); 2].map(|()| opened(&server, LONG));
        let third = server.post("/api/simulation", LONG);
        assert_eq!(third.status, 429, "two at a time");
        assert!(third.text().contains("2 simulations are running, which is the limit"), "{}", third.text());
        drop(runs);
    }
    let last = [(); 2].map(|()| opened(&server, "duration=1 s\nrate=1 Mbit/s\nflow=cubic"));
    drop(last);
    assert_idle(server.id());
}

#[test]
fn a_slow_reader_slows_its_run_and_no_other() {
    let server = Server::start();
    let eight = ["bbr3"; 8].map(|name| format!("\nflow={name}")).concat();
    let setting = format!("rate=10 Mbit/s\nrtt=40 ms\nduration=60 s{eight}");
    // Each has more than 2 MB of samples, which no socket keeps while nobody reads.
    let mut slow = [(); 2].map(|()| opened(&server, &setting));
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(server.post("/api/simulation", SETTING).status, 429, "they wait for their readers");
    assert_eq!(server.get("/api/stores").status, 200);
    assert_idle(server.id());
    for one in &mut slow {
        let body = one.rest();
        let frames = frames(&body);
        assert_eq!(frames.last().map(|(kind, _)| *kind), Some(b'e'), "nothing is lost");
        let length: serde_json::Value = serde_json::from_slice(frames[0].1).expect("a description");
        assert_eq!(rows(&frames).len() as u64, 1500 * length["rowLength"].as_u64().expect("a number"));
    }
}

#[test]
fn a_tab_that_reads_no_progress_misses_some_and_costs_nothing() {
    let server = Server::start();
    let mut slow = server.stream("/api/progress", None);
    assert_eq!(server.post("/api/stores/0/start", "").status, 202);
    let mut fast = server.stream("/api/progress", None);
    while fast.event()["phase"] != "done" {}
    let mut last = slow.event();
    while last["phase"] != "done" {
        last = slow.event();
    }
    assert_eq!(last["stored"], 400);
}

#[cfg(target_os = "linux")]
#[test]
fn the_sockets_of_this_host_are_listed() {
    let server = Server::start();
    let mut events = server.stream("/api/sockets", None);
    for _ in 0..2 {
        let list = events.event();
        let ours = format!("127.0.0.1:{}", server.port);
        let sockets = list["sockets"].as_array().expect("a list");
        let found = sockets.iter().find(|socket| socket["local"] == ours.as_str());
        let found = found.unwrap_or_else(|| panic!("{ours} is not in {list}"));
        assert!(found["cwnd"].as_u64() > Some(0) && found["state"] == "established", "{found}");
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs root, TUN devices and a machine that does nothing else"]
fn a_run_over_the_kernel_is_sampled_while_it_is_on() {
    let server = Server::start();
    let machine = server.get("/api/machine").json();
    assert_eq!(machine["lab_problem"], serde_json::Value::Null);
    let setting = "rate=20 Mbit/s\nrtt=40 ms\nbuffer=67\nduration=5 s\nflow=newreno";
    let mut run = server.stream("/api/kernel-run", Some(setting));
    assert_eq!(run.status, 200);
    let first = run.chunk().expect("the description");
    assert_eq!(first[0], b'd');
    let second = run.chunk().expect("samples");
    assert_eq!(second[0], b'r');
    let sampled = Instant::now();
    assert_eq!(server.post("/api/simulation", SETTING).status, 409, "the kernel has the machine for itself");
    let body = [first, second, run.rest()].concat();
    assert!(sampled.elapsed() > Duration::from_secs(3), "the first samples came while it ran");
    let frames = frames(&body);
    let (kind, end) = frames.last().expect("an end");
    let end = String::from_utf8_lossy(end);
    assert_eq!(*kind, b'e', "{end}");
    assert!(end.contains("the kernel's built-in reno"), "{end}");
    let rows = rows(&frames);
    let last = rows.chunks_exact(13).last().expect("rows");
    assert!(last[0] > 4.5 && last[5] > 1.0 && last[8] > 1e6, "{last:?}");
    // A reader that goes away ends it.
    drop(server.stream("/api/kernel-run", Some(&setting.replace("5 s", "300 s"))));
    let begin = Instant::now();
    while server.post("/api/simulation", SETTING).status != 200 {
        assert!(begin.elapsed() < Duration::from_secs(20), "it still runs");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_over_the_kernel_that_is_impossible_is_refused_with_the_reason() {
    let server = Server::start();
    let machine = server.get("/api/machine").json();
    let refused = server.post("/api/kernel-run", "rate=20 Mbit/s\nduration=3 s\nflow=cdg");
    if machine["lab_problem"].is_string() {
        assert_eq!(refused.status, 501);
        assert!(refused.text().contains("cannot run over its kernel"), "{}", refused.text());
        return;
    }
    assert_eq!(refused.status, 422, "CDG has no implementation for the kernel");
    assert!(refused.text().contains("cdg"), "{}", refused.text());
    for (setting, key) in
        [("duration=3600 s\nflow=newreno", "duration"), ("flow=newreno\n@1 s rate=1 Mbit/s", "@")]
    {
        let refused = server.post("/api/kernel-run", setting);
        assert_eq!((refused.status, &refused.json()["problems"][0]["key"]), (422, &key.into()), "{setting}");
    }
}

#[test]
fn the_kernel_is_shown_or_the_reason_is_said() {
    let server = Server::start();
    let kernel = server.get("/api/kernel");
    match kernel.status {
        200 => {
            let status = &kernel.json()["status"];
            assert!(status["sockets"].is_object() && status["counting"].is_boolean(), "{}", kernel.text());
            assert!(
                ["loaded", "selections", "canaries"].iter().all(|part| status[part].is_array()),
                "{status}"
            );
        }
        501 => assert!(kernel.json()["message"].as_str().is_some_and(|why| !why.is_empty())),
        other => panic!("{other}: {}", kernel.text()),
    }
}

/// Checks that a process uses hardly any CPU time for half a second.
#[track_caller]
fn assert_idle(process: u32) {
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let after = stat.rsplit(')').next().unwrap_or_default().to_owned();
        let fields: Vec<u64> =
            after.split_whitespace().skip(11).take(2).filter_map(|n| n.parse().ok()).collect();
        fields.iter().sum::<u64>()
    };
    let before = ticks();
    std::thread::sleep(Duration::from_millis(500));
    let used = ticks() - before;
    // A tick is 10 ms.
    assert!(used <= 10, "it used {used} ticks of CPU time in half a second");
}
