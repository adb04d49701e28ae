//! The delivery traces that the generator makes: `cargo xtask traces` writes them.

#[path = "../examples/make_traces/model.rs"]
mod model;

use cwnd_link::Transmitter;
use cwnd_scenario::{DeliveryTrace, Rate, Schedule};

/// Results of studies over these traces depend on every bit of them.
#[test]
fn the_traces_are_always_the_same() {
    let all = model::all(1, 20.0);
    for (made, digest) in
        all.iter().zip([0x29ad_0265_ee78_eda1, 0xcb94_673c_64a4_a24e, 0x6535_2732_743d_e933])
    {
        let text = made.trace.to_text();
        let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        assert_eq!(text.bytes().fold(0xcbf2_9ce4_8422_2325, fnv), digest, "{}", made.trace.name);
        let read = DeliveryTrace::parse(&*made.trace.name, &text).expect("it is a trace");
        assert!(read == made.trace);
    }
    let readme = include_str!("../../../traces/README.md");
    assert!(readme.contains(&model::summary(&all)), "traces/README.md lacks:\n{}", model::summary(&all));
}

#[test]
fn the_models_are_what_they_are_said_to_be() {
    // 5G: 10 Mbit/s in line of sight, for 4 of 4.299 s; in fades of 5 to 26.6 dB the mean of log2(1 + SNR) is 0.3211 of
    // that at 20 dB. So 9.528 Mbit/s in the mean. A trace has about 14 fades of 0.3 s: its mean is right within about 2 %,
    // and that of 100 traces within 0.2 %; five of that allowed, since the wandering makes less than 0.5 %.
    let means = (0..100).map(|seed| model::all(seed, 20.0)[0].trace.mean_rate().0 as f64);
    let mean = means.sum::<f64>() / 100.0 / 1e6;
    assert!((mean / 9.528 - 1.0).abs() < 0.01, "{mean}");
    let [_, leo, _] = model::all(7, 20.0);
    // Nothing passes in the first 100 ms of each 15 s.
    let in_outage = |&&time: &&u32| (1..=100).contains(&(time % 15_000));
    assert_eq!(leo.trace.times_ms.iter().filter(in_outage).count(), 0);
    assert_eq!(leo.delays.len(), 5);
    // LTE: never more than 1,000 packets a second. It sticks to neither end: over 100 traces the mean lies well between.
    let traces = (0..100).map(|seed| {
        let [_, _, lte] = model::all(seed, 20.0);
        let times = &lte.trace.times_ms;
        assert!(times.windows(1002).all(|window| window[1001] - window[0] >= 1_000), "seed {seed}");
        lte.trace.mean_rate().0 as f64 / 12e6
    });
    let mean = traces.sum::<f64>() / 100.0;
    assert!((0.2..0.8).contains(&mean), "{mean}");
}

/// The evaluation of wireless paths names the command that makes its schedules.
#[test]
fn the_studies_have_the_schedules_of_the_models() {
    let study = include_str!("../../../studies/rfc9743/6.4-wireless.toml");
    let [mmwave, _, lte] = model::all(3, 4.0);
    for made in [mmwave, lte] {
        let schedule = model::schedule(&made.trace);
        assert!(study.contains(schedule.trim_end()), "{}: {schedule}", made.trace.name);
    }
}

#[test]
fn a_full_link_carries_the_mean_rate_of_its_trace() {
    for made in model::all(1, 20.0) {
        let times = made.trace.times_ms.len();
        let length = u64::from(*made.trace.times_ms.last().expect("it is not empty")) * 1_000_000;
        let mut transmitter = Transmitter::new(Rate(1000), Some(&Schedule::Trace(made.trace)), 0);
        let mut now = 0;
        let mut sent = 0;
        while now < 3 * length {
            now = transmitter.finish(now, 1500, sent > 0);
            sent += 1;
        }
        // The last opportunity of the third turn comes at its very end.
        assert_eq!((sent, now), (3 * times, 3 * length));
    }
}
