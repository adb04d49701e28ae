//! Changes of a setting during a run.

use cwnd_wasm::{Bench, Setting};

#[test]
fn the_rate_of_a_trace_cannot_change_and_what_else_can_does() {
    let text = "rate-trace=even.trace\nrtt=40 ms\nduration=4 s\nflow=cubic\n@1 s rtt=80 ms\n@2 s rate=1 Mbit/s\n@3 s rtt=60 ms";
    let setting = Setting::parse(text, "1\n2\n3\n4\n").expect("valid lines");
    let mut bench = Bench::new(setting).expect("a network that can be built");
    bench.run_until(1.5, 0.1).expect("the delay can change");
    let problems = bench.run_until(4.0, 0.1).expect_err("the rate cannot change");
    assert_eq!((problems.len(), problems[0].line, bench.now()), (1, 6, 2.0));
    assert!(problems[0].message.contains("because a delivery trace"), "{}", problems[0].message);
    bench.run_until(4.0, 0.1).expect("the run continues, and its delay can change");
    assert_eq!(bench.now(), 4.0);
}

#[test]
fn a_buffer_in_bdps_stays_when_the_rate_changes_as_with_a_schedule() {
    let base = "rate=10 Mbit/s\nrtt=40 ms\nduration=10 s\nflow=cubic\n";
    let rows = |more: &str| {
        let setting = Setting::parse(&format!("{base}{more}"), "").expect("valid lines");
        let mut bench = Bench::new(setting).expect("a network that can be built");
        bench.run_until(10.0, 0.1).expect("all changes are possible");
        bench.rows().iter().map(|value| value.to_bits()).collect::<Vec<u64>>()
    };
    let scheduled = rows("schedule=5 s: 1 Mbit/s");
    assert_eq!(rows("@5 s rate=1 Mbit/s"), scheduled);
    assert_eq!(rows("buffer=1 BDP\n@5 s rate=1 Mbit/s"), scheduled);
    assert_ne!(rows("@5 s rate=1 Mbit/s\n@5 s buffer=1 BDP"), scheduled, "it is that of the new rate");
}
