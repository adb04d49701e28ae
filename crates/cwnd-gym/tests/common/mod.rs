//! What tests share.
#![allow(dead_code)] // no test uses all of it

use cwnd_experiment::{ExperimentSpec, FlowGroup, LineDelay, Topology};
use cwnd_gym::{PathRanges, Source};
use cwnd_scenario::{AlgorithmSpec, DelayedAck, Purpose, Rate, Scenario, Stream, Time};

/// A path of one rate and delay, without losses and with a queue of 148,414 packets.
pub fn lossless(rate_pps: f64, delay_s: f64) -> Source {
    Source::Paths(PathRanges {
        rate_pps: (rate_pps, rate_pps),
        delay_s: (delay_s, delay_s),
        ln_queue: (11.907_8, 11.907_8),
        loss: (0.0, 0.0),
        ..PathRanges::aurora()
    })
}

/// A path of 3 Mbit/s and 80 ms with a long queue, without anything random; ACKs at once.
pub fn slow_path() -> Scenario {
    let spec = ExperimentSpec {
        topology: Topology::Path,
        rate: Rate(3_000_000),
        delay: LineDelay::OneWay(Time::from_millis(40)),
        buffer: "100000 packets".parse().expect("a buffer"),
        duration: Time::from_secs(10_000),
        start_jitter: Some(Time::ZERO),
        send_overhead: Some(Time::ZERO),
        ..ExperimentSpec::default()
    };
    let agent = AlgorithmSpec { name: "agent".to_owned(), ..AlgorithmSpec::default() };
    let mut scenario = spec.scenario(&[FlowGroup::new(agent, 1)], 1).expect("a valid path");
    scenario.stack.delayed_ack = DelayedAck::Off;
    scenario.stack.handshake = false;
    scenario
}

/// Random actions from -1 to 1.
pub fn actions(seed: u64) -> impl Iterator<Item = f32> {
    let mut stream = Stream::new(seed, Purpose::Algorithm, 0);
    std::iter::repeat_with(move || 2.0 * stream.uniform() as f32 - 1.0)
}
