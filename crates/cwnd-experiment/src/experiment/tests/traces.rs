//! Defaults of scenarios whose bottleneck follows a trace.

use super::*;

/// Returns the scenario of a bottleneck that follows a trace with these times, in milliseconds, and a flow of CUBIC.
fn on_trace(times: &[u32], settings: &[(&str, &str)]) -> Result<Scenario, String> {
    let mut experiment =
        crate::ExperimentSpec { algorithm: "cubic".parse().ok(), ..crate::ExperimentSpec::default() };
    set(&mut experiment, &[("stack", "linux"), ("rate-trace", "a.trace")]);
    set(&mut experiment, settings);
    let trace = DeliveryTrace { name: "a.trace".to_owned(), times_ms: times.into() };
    experiment.read_traces(&mut |_| Ok(trace.clone())).expect("the trace was read");
    experiment.resolve(1).map_err(|problems| problems[0].to_string())
}

/// Returns a trace of 1 s with `peak` opportunities in each millisecond, and 9 s with one in ten milliseconds.
fn falling(peak: u32) -> Vec<u32> {
    let first = (1..=1_000).flat_map(|ms| std::iter::repeat_n(ms, peak as usize));
    first.chain((1_010..=10_000).step_by(10)).collect()
}

#[test]
fn a_window_is_enough_for_the_best_time_of_a_trace() {
    let window = |times: &[u32], more: &[(&str, &str)]| {
        let path = [("topology", "path"), ("rtt", "300 ms"), ("buffer", "50")];
        on_trace(times, &[&path, more].concat()).unwrap().stack.receive_window
    };
    // 120 Mbit/s for 1 s and 1.2 for 9 s have a mean of 13.08, and 324 packets in 300 ms; 324 x 120 / 13.08 = 2,972.
    assert_eq!(window(&falling(10), &[]), 4 * (2_972 + 50));
    // Bursts of 20 ms are averaged over 100 ms: 28 packets, 3.36 Mbit/s, where the mean is 1.416, and 5 packets in 40 ms.
    let burst: Vec<u32> = (1..=20).chain((30..=1_000).step_by(10)).collect();
    assert_eq!(window(&burst, &[("rtt", "40 ms")]), 4 * (5 * 336 / 141 + 50));
    // The window of a steady trace is that of its mean: 1 packet in 2.4 ms, 5 Mbit/s, has 124 in 300 ms.
    let steady: Vec<u32> = (1..=10_000).map(|i| i * 12 / 5).collect();
    assert_eq!(window(&steady, &[]), 4 * (124 + 50));
    // A rate that is given is that of the product, but not less than the trace's.
    assert_eq!(window(&steady, &[("rate", "10 Mbit/s")]), 4 * (248 + 50));
    assert_eq!(window(&steady, &[("rate", "2.5 Mbit/s")]), 4 * (124 + 50));
}

#[test]
fn access_links_are_wider_than_the_bottleneck_at_any_time() {
    let access = |scenario: &Scenario| link(scenario, "access-1").rate;
    // 12 Mbit/s for 2 s, and none until 32 s.
    let mut outage: Vec<u32> = (1..=2_000).collect();
    outage.push(32_000);
    assert_eq!(access(&on_trace(&outage, &[]).unwrap()), Rate(24_000_000));
    assert_eq!(access(&on_trace(&outage, &[("access-rate", "bottleneck")]).unwrap()), Rate(750_375));
    // Ten times the mean is more.
    let half: Vec<u32> = (1..=1_000).chain((1_010..=2_000).step_by(10)).collect();
    assert_eq!(access(&on_trace(&half, &[]).unwrap()), Rate(66_000_000));
    let steady: Vec<u32> = (1..=1_000).collect();
    assert_eq!(access(&on_trace(&steady, &[]).unwrap()), Rate(120_000_000));
    let steps = |schedule| access(&said(&[("rate", "5 Mbit/s"), ("schedule", schedule)]).unwrap());
    assert_eq!(steps("10 s: 500 Mbit/s"), Rate(1_000_000_000));
    assert_eq!(steps("10 s: 20 Mbit/s; 20 s: down"), Rate(50_000_000));
    assert_eq!(steps("10 s: unlimited"), Rate::UNLIMITED);
}

#[test]
fn a_trace_whose_mean_is_no_rate_of_a_link_is_refused_by_name() {
    // 12,000 bits in 60 s.
    let wrong = "the mean rate of `a.trace` is 200 bit/s, and the rate of a link must be 1 kbit/s to 10 Tbit/s: take another trace, or give";
    let refused = on_trace(&[60_000], &[]).unwrap_err();
    assert_eq!(refused, format!("rate_trace: {wrong} `rate`, of which buffers in BDP are computed"));
    let reverse =
        on_trace(&[60_000], &[("rate", "1 kbit/s"), ("reverse-rate-trace", "a.trace")]).unwrap_err();
    assert!(reverse.starts_with(&format!("reverse_rate_trace: {wrong} `reverse-rate`")), "{reverse}");
    let given = on_trace(&[60_000], &[("rate", "1 kbit/s")]).unwrap();
    assert_eq!(link(&given, "bottleneck").rate, Rate(1_000));
}
