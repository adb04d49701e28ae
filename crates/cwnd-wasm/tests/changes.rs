//! Changes of a setting during a run.

use cwnd_wasm::{Bench, Setting};

#[test]
fn the_rate_of_a_trace_cannot_change_and_what_else_can_does() {
    let text = "rate-trace=even.trace\nrtt=40 ms\nduration=4 s\nflow=cubic\n@1 s rtt=80 ms\n@3 s rtt=60 ms";
    let read = |text: &str| Setting::parse(text, Some("1\n2\n3\n4\n")).expect("valid lines");
    let problems =
        Bench::new(read(&format!("{text}\n@2 s rate=1 Mbit/s"))).err().expect("the rate cannot change");
    assert_eq!((problems.len(), problems[0].line, problems[0].key.as_str()), (1, 7, "rate"));
    assert!(problems[0].message.contains("the delivery trace `even.trace`"), "{}", problems[0].message);
    let mut bench = Bench::new(read(text)).expect("a network that can be built");
    bench.run_until(1.5, 0.1).expect("the delay can change");
    let problems = bench.change("rate=1 Mbit/s").expect_err("the rate cannot change");
    assert_eq!((problems.len(), problems[0].key.as_str()), (1, "rate"));
    bench.run_until(4.0, 0.1).expect("the run continues, and its delay can change");
    assert_eq!(bench.now(), 4.0);
}

#[test]
fn a_queue_that_cannot_change_is_refused_before_the_run() {
    let opened = |queue: &str, changed: &str| {
        let text = format!(
            "queue={queue}\nduration=4 s\nflow=cubic\n@1 s rate=5 Mbit/s\n@2 s queue={changed}\n@3 s per=0.1"
        );
        Bench::new(Setting::parse(&text, None).expect("valid lines")).map(drop)
    };
    for (queue, changed, wanted) in [
        ("drop-tail", "codel", "the queue is drop-tail and cannot become codel while the link is in use"),
        ("codel", "drop-tail", "the queue is codel and cannot become drop-tail while the link is in use"),
        ("codel", "pie:target=20 ms", "the queue is codel and cannot become pie while the link is in use"),
        ("fq-codel", "fq-codel:queues=16", "must stay 1024"),
    ] {
        let problems = opened(queue, changed).expect_err(changed);
        assert_eq!(
            (problems.len(), problems[0].line, problems[0].key.as_str()),
            (1, 5, "queue"),
            "{problems:?}"
        );
        assert!(problems[0].message.contains(wanted), "{}", problems[0].message);
    }
    for (queue, changed) in
        [("codel", "codel:target=20 ms"), ("drop-tail", "drop-tail"), ("fq-codel", "fq-codel:ecn=on")]
    {
        opened(queue, changed).expect(changed);
    }
}

#[test]
fn rate_and_delay_of_a_schedule_change_until_its_next_step() {
    let base = "rate=10 Mbit/s\nrtt=40 ms\nduration=4 s\nflow=cubic\nschedule=1 s: down; 2 s: up\n";
    let digest = |changes: &str| {
        let setting = Setting::parse(&format!("{base}{changes}"), None).expect("valid lines");
        let mut bench = Bench::new(setting).expect("a network that can be built");
        bench.run_until(4.0, 0.1).expect("all changes are possible");
        bench.digest()
    };
    let changed = digest("@0.5 s rate=5 Mbit/s\n@3 s rtt=60 ms");
    assert_ne!(changed, digest(""));
    assert_ne!(changed, digest("@0.5 s rate=5 Mbit/s"));
}

#[test]
fn a_buffer_in_bdps_stays_when_the_rate_changes_as_with_a_schedule() {
    let base = "rate=10 Mbit/s\nrtt=40 ms\nduration=10 s\nflow=cubic\n";
    let rows = |more: &str| {
        let setting = Setting::parse(&format!("{base}{more}"), None).expect("valid lines");
        let mut bench = Bench::new(setting).expect("a network that can be built");
        bench.run_until(10.0, 0.1).expect("all changes are possible");
        bench.rows().iter().map(|value| value.to_bits()).collect::<Vec<u64>>()
    };
    let scheduled = rows("schedule=5 s: 1 Mbit/s");
    assert_eq!(rows("@5 s rate=1 Mbit/s"), scheduled);
    assert_eq!(rows("buffer=1 BDP\n@5 s rate=1 Mbit/s"), scheduled);
    assert_ne!(rows("@5 s rate=1 Mbit/s\n@5 s buffer=1 BDP"), scheduled, "it is that of the new rate");
}

#[test]
fn a_change_of_a_queue_leaves_other_limits_in_bdps_as_they_are() {
    // 10 Mbit/s times 40 ms are 33 packets: after a change of the rate 1 BDP would be 3.
    let digest = |more: &str, changes: &str| {
        let base = "rate=10 Mbit/s\nrtt=40 ms\nduration=6 s\nflow=cubic\nreverse-flows=1\n";
        let text = format!("{base}{more}\n@1 s rate=1 Mbit/s\n{changes}");
        let mut bench = Bench::new(Setting::parse(&text, None).expect("valid lines"))
            .expect("a network that can be built");
        bench.run_until(6.0, 0.1).expect("all changes are possible");
        bench.digest()
    };
    let parameters = "@2 s queue=codel:target=50 ms";
    assert_eq!(digest("queue=codel\nbuffer=1 BDP", parameters), digest("queue=codel\nbuffer=33", parameters));
    assert_ne!(digest("queue=codel", parameters), digest("queue=codel", ""), "the parameters have changed");
    let marking = "ecn=on\necn-threshold=50 %\n";
    let queue = "@2 s queue=drop-tail";
    assert_eq!(
        digest(&format!("{marking}buffer=1 BDP"), queue),
        digest(&format!("{marking}buffer=33"), queue)
    );
    let in_reverse = "@2 s reverse-buffer=5";
    assert_eq!(digest("buffer=1 BDP", in_reverse), digest("buffer=33", in_reverse));
    let forward = "@2 s buffer=5";
    assert_eq!(digest("reverse-buffer=1 BDP", forward), digest("reverse-buffer=33", forward));
    assert_ne!(
        digest("", forward),
        digest("reverse-buffer=33", forward),
        "without its own the reverse has that of the forward direction"
    );
    assert_eq!(
        digest("", &format!("{forward}\n@3 s buffer=1 BDP")),
        digest("", &format!("{forward}\n@3 s buffer=3")),
        "it is that of the new rate"
    );
}
