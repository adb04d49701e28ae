//! Applications that have not always data to send, and what a window is worth after a pause (RFC 2861, RFC 5681 section
//! 4.1). A segment has 1,000 bytes, a round trip takes 100 ms.

use crate::bench::{Bench, MS, sender_config, window};
use crate::fake::Fake;
use cwnd_cc::{FlowHints, Nanos, WindowConfig};
use cwnd_scenario::Traffic;
use cwnd_scenario::{Purpose, Recovery, Stream};
use cwnd_tcp::{Application, Message, NEVER, SenderConfig};

fn config(traffic: &str) -> SenderConfig {
    let traffic: Traffic = traffic.parse().unwrap_or_else(|error| panic!("{error}"));
    let stream = Stream::new(1, Purpose::Traffic, 0);
    SenderConfig { application: Application::new(&traffic, stream, 1000), ..sender_config() }
}

#[test]
fn off_it_gives_nothing_and_on_as_much_as_the_window_takes() {
    let mut bench = Bench::started(config("on-off:300 ms,500 ms"), Fake::fixed());
    assert_eq!(bench.ack(100 * MS, 10).len(), 10);
    assert_eq!(bench.ack(200 * MS, 15), [20, 21, 22, 23, 24]);
    assert!(!bench.notes().acks[1].app_limited);
    // Off at 300 ms: what is outstanding is acknowledged, and nothing follows.
    assert_eq!(bench.sender.deadline(), 300 * MS);
    assert_eq!(bench.timer(), [0u32; 0]);
    assert_eq!(bench.ack(301 * MS, 25), [0u32; 0]);
    assert!(bench.notes().acks[2].app_limited);
    // On again 500 ms later; nothing has been in flight for 499 ms.
    assert_eq!(bench.sender.deadline(), 800 * MS);
    assert_eq!(bench.timer(), (25..35).collect::<Vec<u32>>());
    assert_eq!(bench.notes().restarts, [(Nanos(800 * MS), Nanos(499 * MS))]);
    assert_eq!(bench.windows().0, 10.0);
    // And off at 1,100 ms.
    bench.ack(900 * MS, 35);
    assert_eq!(bench.sender.deadline(), 1100 * MS);
}

#[test]
fn what_is_outstanding_when_it_is_off_is_recovered() {
    // The first of ten is lost; SACKs of three above it tell so (RFC 6675) while the application is off.
    let mut bench = Bench::started(config("on-off:50 ms,500 ms"), Fake::fixed());
    assert_eq!(bench.timer(), [0u32; 0]);
    assert_eq!(bench.sack(101 * MS, 0, &[(1, 2)]), [0u32; 0]);
    bench.sack(102 * MS, 0, &[(1, 3)]);
    assert_eq!(bench.sack(103 * MS, 0, &[(1, 4)]), [0]);
}

#[test]
fn a_live_stream_gives_a_packet_at_a_time() {
    // 80 kbit/s: 1,000 bytes every 100 ms.
    let config = SenderConfig { window: window(2.0), ..config("live:80 kbit/s") };
    let (mut bench, first) = Bench::start(config, Fake::fixed());
    assert_eq!(first, [0]);
    // Two fit into the window; what comes at 200 and 300 ms is kept, and sent as soon as an ACK lets it.
    assert_eq!(bench.run(350 * MS), [(100 * MS, 1)]);
    assert_eq!(bench.ack(350 * MS, 2), [2, 3]);
    assert_eq!(bench.ack(390 * MS, 4), [0u32; 0]);
    assert_eq!(bench.run(450 * MS), [(400 * MS, 4)]);
    assert_eq!(bench.notes().restarts, [(Nanos(400 * MS), Nanos(10 * MS))]);
}

#[test]
fn rounded_times_do_not_add_up() {
    // 3 kbit/s: 8,000/3,000 s a packet. The third comes at 16/3 s, 5,333,333,333 ns, not at twice 2,666,666,666.
    let (mut bench, _) = Bench::start(config("live:3 kbit/s"), Fake::fixed());
    bench.ack(100 * MS, 1);
    assert_eq!(bench.run(2_700 * MS), [(2_666_666_666, 1)]);
    bench.ack(2_800 * MS, 2);
    assert_eq!(bench.run(5_400 * MS), [(5_333_333_333, 2)]);
}

#[test]
fn messages_follow_each_other() {
    // 2,500 bytes are three packets; the next message comes 50 ms after the last ACK.
    let mut bench = Bench::started(config("responses:size=2500 B,think=50 ms"), Fake::fixed());
    assert_eq!(bench.ack(100 * MS, 2), [0u32; 0]);
    assert_eq!(bench.ack(101 * MS, 3), [0u32; 0]);
    assert_eq!(bench.sender.deadline(), 151 * MS);
    assert_eq!(bench.timer(), [3, 4, 5]);
    let message = |start: u64, end: Option<u64>| Message {
        bytes: 3000,
        start: start * MS,
        end: end.map(|end| end * MS),
    };
    assert_eq!(bench.sender.messages(), [message(0, Some(101)), message(151, None)]);
    assert_eq!(bench.notes().restarts, [(Nanos(151 * MS), Nanos(50 * MS))]);
    // An ACK that comes late changes nothing.
    bench.ack(160 * MS, 3);
    assert_eq!(bench.sender.messages()[0], message(0, Some(101)));
}

#[test]
fn messages_of_an_application_that_is_replaced_are_kept() {
    // The first message is complete at 100 ms, the second is not and never ends. The other application gives 1,000 bytes at 170 ms.
    let mut bench = Bench::started(config("responses:size=2500 B,think=50 ms"), Fake::fixed());
    bench.ack(100 * MS, 3);
    assert_eq!(bench.timer(), [3, 4, 5]);
    let traffic: Traffic = "responses:size=1000 B,think=50 ms".parse().unwrap();
    bench.sender.set_traffic(170 * MS, Some(&traffic), Stream::new(1, Purpose::Traffic, 0));
    assert_eq!(bench.timer(), [6]);
    let messages: Vec<(u64, u64, Option<u64>)> = bench
        .sender
        .messages()
        .iter()
        .map(|of| (of.bytes, of.start / MS, of.end.map(|end| end / MS)))
        .collect();
    assert_eq!(messages, [(3000, 0, Some(100)), (3000, 150, None), (1000, 170, None)]);
}

#[test]
fn frames_follow_the_algorithm_and_late_ones_are_discarded() {
    // Without `on_frame` the rate is a window of 2,000 bytes each round trip of 100 ms, 20 kB/s: two packets for each frame of 100 ms.
    let media = SenderConfig { window: window(2.0), ..config("media:1 Mbit/s,100 ms,150 ms") };
    let (mut bench, first) = Bench::start(media, Fake::fixed());
    let frame = |bytes: u64, start: u64, end: Option<u64>| Message {
        bytes,
        start: start * MS,
        end: end.map(|end| end * MS),
    };
    // No round-trip time is known yet: the smallest frame, which the next one makes up for.
    assert_eq!(first, [0]);
    assert_eq!(bench.ack(100 * MS, 1), [0u32; 0]);
    assert_eq!(bench.run(150 * MS), [(100 * MS, 1)]);
    assert_eq!(bench.ack(200 * MS, 2), [0u32; 0]);
    assert_eq!(bench.sender.messages(), [frame(1000, 0, Some(100)), frame(1000, 100, Some(200))]);
    // Two packets are in flight and nothing is acknowledged: the frames of 300 and 400 ms wait. At 500 ms the older one has waited
    // for 200 ms, and both are discarded. That of 500 ms is kept.
    assert_eq!(bench.run(250 * MS), [(200 * MS, 2), (200 * MS, 3)]);
    while bench.sender.messages().len() < 6 {
        assert_eq!(bench.timer(), [0u32; 0]);
    }
    assert_eq!(bench.ack(510 * MS, 3), [4]);
    assert_eq!(bench.ack(520 * MS, 4), [5]);
    assert_eq!(bench.ack(530 * MS, 6), [0u32; 0]);
    let later = [(200, Some(520)), (300, None), (400, None), (500, Some(530))];
    assert_eq!(bench.sender.messages()[2..], later.map(|(start, end)| frame(2000, start, end)));
}

#[test]
fn the_end_of_a_transfer_cuts_the_last_message() {
    // 4,400 bytes are five packets, the last of 400: three of the first message, two of the second.
    let config =
        SenderConfig { segments: 5, last_packet_size: 450, ..config("responses:size=2500 B,think=50 ms") };
    let mut bench = Bench::started(config, Fake::fixed());
    bench.ack(100 * MS, 3);
    assert_eq!(bench.timer(), [3, 4]);
    bench.ack(250 * MS, 5);
    let last = Message { bytes: 1400, start: 150 * MS, end: Some(250 * MS) };
    assert_eq!(bench.sender.messages()[1], last);
    assert_eq!((bench.sender.completed, bench.sender.deadline()), (Some(250 * MS), NEVER));
}

#[test]
fn a_flow_that_is_stopped_has_no_more_turns() {
    for traffic in ["on-off:300 ms,500 ms", "live:80 kbit/s", "responses:size=2500 B,think=50 ms"] {
        let (mut bench, sent) = Bench::start(config(traffic), Fake::fixed());
        bench.sender.stop(40 * MS);
        assert_eq!(bench.ack(100 * MS, sent.len() as u32), [0u32; 0]);
        assert_eq!(bench.sender.deadline(), NEVER, "{traffic}");
        let mut before = Bench::idle(SenderConfig { start: 50 * MS, ..config(traffic) }, Fake::fixed());
        before.sender.stop(40 * MS);
        assert_eq!(before.sender.deadline(), NEVER, "{traffic}");
    }
}

/// It sends at 0, 100 and 200 ms, its window grows by slow start from 4 to 8, 16 and 32, and it is on again at `again` ms.
fn paused(again: u64, restarts: bool) -> Bench {
    let traffic = format!("on-off:250 ms,{} ms", again - 250);
    let config = SenderConfig { window: window(4.0), restart_after_idle: restarts, ..config(&traffic) };
    let mut bench = Bench::started(config, Fake::reno());
    assert_eq!(bench.ack(100 * MS, 4).len(), 8);
    assert_eq!(bench.ack(200 * MS, 12).len(), 16);
    assert_eq!(bench.timer(), [0u32; 0]);
    bench.ack(300 * MS, 28);
    assert_eq!(bench.windows().0, 32.0);
    let sent = bench.timer();
    assert_eq!(sent.len(), bench.windows().0 as usize);
    bench
}

#[test]
fn a_window_is_worth_less_after_a_pause() {
    // RTO (RFC 6298): samples of 100 ms, so 100 + max(4 RTTVAR, 200) = 300 ms. The last packet went at 200 ms. RFC 2861
    // section 3.2, as Linux counts: it must be longer ago than an RTO, and for each whole one before now the window halves.
    // 300 ms ago: as it was. 301: half of 32. 700: twice, 900: twice, 901: three times; never under the initial window of 4.
    for (again, cwnd) in [(500, 32.0), (501, 16.0), (900, 8.0), (1100, 8.0), (1101, 4.0), (9000, 4.0)] {
        let bench = paused(again, true);
        assert_eq!(bench.windows().0, cwnd, "on again at {again} ms");
        let idle = Nanos((again - 300) * MS);
        assert_eq!(bench.notes().restarts, [(Nanos(again * MS), idle)]);
    }
    assert_eq!(paused(9000, false).windows().0, 32.0);
}

#[test]
fn the_threshold_remembers_three_quarters_of_the_window() {
    // RFC 2861 section 3.2: ssthresh = max(ssthresh, 3/4 cwnd): of 4, with a threshold of 2, it is 3.
    let window = WindowConfig { initial_ssthresh: 2.0, ..window(4.0) };
    let config = SenderConfig { window, restart_after_idle: true, ..config("on-off:50 ms,850 ms") };
    let mut bench = Bench::started(config, Fake::fixed());
    bench.timer();
    bench.ack(100 * MS, 4);
    assert_eq!(bench.windows(), (4.0, 2.0));
    bench.timer();
    assert_eq!(bench.windows(), (4.0, 3.0));
}

#[test]
fn an_algorithm_that_looks_after_its_window_keeps_it() {
    let config = SenderConfig { restart_after_idle: true, ..config("on-off:50 ms,9 s") };
    let mut bench = Bench::started(config, Fake::at_once(2.0));
    bench.timer();
    bench.ack(100 * MS, 10);
    bench.timer();
    assert_eq!(bench.windows().0, 10.0);
    assert_eq!(bench.notes().restarts.len(), 1);
}

#[test]
fn samples_of_a_live_stream_are_application_limited() {
    // draft-ietf-ccwg-bbr section 4.1.2.4: after the first packet the window has room and there is nothing to send, so
    // what is sent next says little of the path. It is so too for the first packet after all was acknowledged.
    let (mut bench, _) = Bench::start(config("live:400 kbit/s"), Fake::sampled());
    assert_eq!(bench.run(99 * MS), [(20 * MS, 1), (40 * MS, 2), (60 * MS, 3), (80 * MS, 4)]);
    bench.ack(100 * MS, 1);
    bench.run(119 * MS);
    bench.ack(120 * MS, 2);
    let limited: Vec<bool> =
        bench.notes().acks.iter().map(|ack| ack.rate.expect("a sample").app_limited).collect();
    assert_eq!(limited, [false, true]);
    assert!(bench.notes().acks.iter().all(|ack| ack.app_limited));
}

#[test]
fn samples_of_a_full_window_are_not() {
    // Ten of 10,000 segments fill the window: the network limits, and the last message's end is far away.
    let mut bench = Bench::started(config("responses:size=10 MB,think=1 s"), Fake::sampled());
    for k in 1..=20 {
        bench.ack((99 + k) * MS, k as u32);
    }
    assert!(
        bench.notes().acks.iter().all(|ack| !ack.app_limited && !ack.rate.expect("a sample").app_limited)
    );
}

#[test]
fn the_algorithm_hears_of_length_and_deadline() {
    let hints = FlowHints { bytes: Some(5000), deadline: Some(Nanos(70 * MS)) };
    let bench = Bench::started(SenderConfig { hints, ..sender_config() }, Fake::fixed());
    let told = bench.notes().init.expect("it was told").hints;
    assert_eq!((told.bytes, told.deadline), (Some(5000), Some(Nanos(70 * MS))));
}

#[test]
fn linux_marks_samples_where_the_application_writes() {
    // Messages of ten segments and a pause of 50 ms. Each write finds nothing waiting: the flight that it begins is
    // application-limited, up to the first ACK of it. What is sent after that ACK is not, although nothing more waits then.
    let config = SenderConfig { recovery: Recovery::Linux, ..config("responses:size=14 kB,think=50 ms") };
    let mut bench = Bench::started(config, Fake::sampled());
    for k in 1..=14 {
        bench.ack((99 + 10 * k) * MS, k as u32);
    }
    let limited: Vec<bool> =
        bench.notes().acks.iter().map(|ack| ack.rate.expect("a sample").app_limited).collect();
    assert_eq!(limited, [vec![true; 10], vec![false; 4]].concat());
}
