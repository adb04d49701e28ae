//! A policy in a run of the simulator.

mod common;

use common::slow_path;
use cwnd_gym::policy::{Activation, Layer, Policy, factory, version};
use cwnd_gym::{Action, Env, EnvConfig, FirstRate, Source, Transport};
use cwnd_scenario::{AlgorithmSpec, Time};
use cwnd_sim::Simulation;
use std::path::PathBuf;

/// A policy whose action is always the same.
fn constant(action: f64) -> Policy {
    let config = EnvConfig::aurora();
    let layer = Layer { weights: vec![vec![0.0; 30]], bias: vec![action] };
    Policy { first_rate_pps: Some(100.0), ..Policy::new(&config, Activation::Tanh, vec![layer]).unwrap() }
}

fn written(name: &str, policy: &Policy) -> (PathBuf, AlgorithmSpec) {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, policy.to_json()).unwrap();
    let spec = format!("policy:file={}", path.display()).parse().unwrap();
    (path, spec)
}

fn simulation(spec: &AlgorithmSpec) -> Simulation<'static> {
    let mut scenario = slow_path();
    scenario.flows[0].algorithm = spec.clone();
    Simulation::with_factory(&scenario, &factory).unwrap()
}

#[test]
fn a_constant_policy_sends_at_its_rate() {
    let (_, spec) = written("constant.json", &constant(0.0));
    let mut simulation = simulation(&spec);
    simulation.run_until(Time::from_secs(10));
    let before = simulation.flow(0).sent.0;
    simulation.run_until(Time::from_secs(20));
    // 100 packets a second.
    assert!((simulation.flow(0).sent.0 - before).abs_diff(1000) <= 2);
}

#[test]
fn a_policy_acts_once_an_interval() {
    let (_, spec) = written("rising.json", &constant(1.0));
    let mut simulation = simulation(&spec);
    // The base round-trip time is 84 ms, so the first action comes after 252 ms and the second 126 ms later.
    let pps = |simulation: &Simulation| simulation.flow(0).pacing_rate / 1448.0;
    simulation.run_until(Time::from_millis(250));
    assert!((pps(&simulation) - 100.0).abs() < 1e-9);
    simulation.run_until(Time::from_millis(350));
    assert!((pps(&simulation) - 102.5).abs() < 1e-9, "{}", pps(&simulation));
    // Every half round-trip time 2.5 % more; the link takes 248 packets a second.
    simulation.run_until(Time::from_secs(60));
    assert!((260.0..=1000.0).contains(&pps(&simulation)));
}

#[test]
fn a_policy_that_holds_delay_keeps_the_queue_short() {
    // Less when the latency rises, more otherwise.
    let config = EnvConfig { history: 1, ..EnvConfig::aurora() };
    let layer = Layer { weights: vec![vec![-4.0, -4.0, 0.0]], bias: vec![5.0] };
    let policy = Policy::new(&config, Activation::Tanh, vec![layer]).unwrap();
    let (_, spec) = written("delay.json", &policy);
    let mut simulation = simulation(&spec);
    simulation.run_until(Time::from_secs(60));
    let begin = simulation.flow(0).delivered_bytes;
    simulation.run_until(Time::from_secs(120));
    let rate = (simulation.flow(0).delivered_bytes - begin) as f64 * 8.0 / 60.0;
    // 3 Mbit/s on the wire are 2.87 of payload.
    assert!(rate > 2.2e6, "{rate} bit/s");
    assert!(simulation.queue_length(0) < 60, "{} packets wait", simulation.queue_length(0));
}

/// The same policy, once in an environment and once as an algorithm.
#[test]
fn a_policy_does_in_a_run_what_it_does_in_its_environment() {
    let config = EnvConfig {
        source: Source::Scenarios(vec![slow_path()]),
        transport: Transport::Tcp,
        first_rate: FirstRate::Packets(100.0),
        history: 2,
        max_steps: 100_000,
        ..EnvConfig::aurora()
    };
    let hidden = Layer { weights: vec![vec![0.0, 0.0, 0.0, -2.0, -2.0, 0.0]], bias: vec![2.6] };
    let layers = vec![hidden, Layer { weights: vec![vec![3.0]], bias: vec![0.0] }];
    let policy = Policy::new(&config, Activation::Tanh, layers).unwrap();
    let policy = Policy { first_rate_pps: Some(100.0), ..policy };
    let mut env = Env::new(config).unwrap();
    env.reset(Some(1)).unwrap();
    let (mut sums, mut time_s) = ([0.0; 3], 0.0);
    while time_s < 60.0 {
        let info = env.step(policy.act(env.observation())).unwrap().info;
        time_s = info.time_s;
        if time_s > 20.0 {
            let values = [info.throughput_bps, info.rtt_s, 1.0];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value * info.duration_s);
        }
    }
    let [throughput_bps, rtt_s] = [sums[0] / sums[2], sums[1] / sums[2]];
    let (_, spec) = written("same.json", &policy);
    let mut simulation = simulation(&spec);
    simulation.run_until(Time::from_secs(20));
    let before = simulation.outcome().flows[0].clone();
    simulation.run_until(Time::from_secs(60));
    let after = &simulation.outcome().flows[0];
    let run_bps = (after.wire_bytes_received - before.wire_bytes_received) as f64 * 8.0 / 40.0;
    let samples = (after.rtt_samples - before.rtt_samples) as f64;
    let run_rtt_s = (after.rtt_sum_s - before.rtt_sum_s) / samples;
    assert!((run_bps / throughput_bps - 1.0).abs() < 0.03, "{run_bps} and {throughput_bps} bit/s");
    assert!((run_rtt_s / rtt_s - 1.0).abs() < 0.03, "{run_rtt_s} and {rtt_s} s");
}

#[test]
fn a_policy_over_cubic_and_a_discrete_one_run() {
    for action in [Action::orca(), Action::discrete()] {
        let config = EnvConfig { action, ..EnvConfig::orca() };
        let outputs = if matches!(config.action, Action::Discrete { .. }) { 5 } else { 1 };
        let layer = Layer { weights: vec![vec![0.0; 70]; outputs], bias: vec![0.0; outputs] };
        let policy = Policy::new(&config, Activation::Relu, vec![layer]).unwrap();
        assert_eq!(Policy::from_json(&policy.to_json()), Ok(policy.clone()));
        let (_, spec) = written(&format!("window-{outputs}.json"), &policy);
        let mut simulation = simulation(&spec);
        simulation.run_until(Time::from_secs(10));
        assert!(simulation.flow(0).delivered_bytes > 0);
    }
}

#[test]
fn the_documented_policy_is_valid() {
    let documentation = include_str!("../src/policy.rs");
    let lines = documentation.lines().map(|line| line.trim_start_matches("//!"));
    let text: Vec<&str> = lines
        .skip_while(|line| !line.contains("```json"))
        .skip(1)
        .take_while(|line| !line.contains("```"))
        .collect();
    let policy = Policy::from_json(&text.join("\n")).unwrap();
    // -10 x 0 - 1 - 1 + 2.
    assert_eq!(policy.act(&[0.0, 1.0, 1.0]), 0.0);
}

#[test]
fn the_version_is_the_digest_of_the_file() {
    let (path, spec) = written("version.json", &constant(0.5));
    let digest = version(&spec).unwrap().unwrap();
    assert!(digest.starts_with("sha256:") && digest.len() == 7 + 64);
    std::fs::write(&path, constant(0.25).to_json()).unwrap();
    assert_ne!(version(&spec).unwrap().unwrap(), digest);
    assert!(version(&"cubic".parse().unwrap()).is_none());
}

#[test]
fn what_is_wrong_is_said() {
    let refused = |text: &str| Policy::from_json(text).unwrap_err().to_string();
    let good = constant(0.0).to_json();
    assert_eq!(
        refused(&good.replace("cwnd-policy-1", "onnx")),
        "format: is `onnx`; this version reads `cwnd-policy-1`"
    );
    assert_eq!(
        refused(&good.replace(r#""history":10"#, r#""history":9"#)),
        "layers[0].weights[0]: has 30 numbers; the observation has 27"
    );
    assert!(refused("{").starts_with("policy: EOF while parsing"));
    let refused = |spec: &str| factory(&spec.parse().unwrap()).err().expect("it is invalid");
    assert_eq!(refused("policy"), "`policy`: a policy has one parameter, its file: `policy:file=FILE.json`");
    assert_eq!(refused("policy:file=missing.json"), "missing.json: No such file or directory (os error 2)");
    assert!(factory(&"cubic".parse().unwrap()).is_ok());
}
