//! One environment: observations, rewards, ends of episodes, and what is refused.

mod common;

use common::{actions, lossless, slow_path};
use cwnd_gym::{
    Action, ActionSpace, Env, EnvConfig, FirstRate, GymError, Interval, IntervalLength, PathRanges, Reward,
    Source, Transport, episode_seed,
};
use cwnd_scenario::{AlgorithmSpec, LinkSpec, Rate, Recovery, Scenario, Time};
use cwnd_sim::Simulation;

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

/// 100 packets a second over a link of 200, 50 ms one way. A packet's transmission takes 12,000 bit / 2.4 Mbit/s = 5 ms, so
/// its round-trip time is 105 ms.
#[test]
fn observation_and_reward_of_an_idle_path_by_hand() {
    let config = EnvConfig {
        source: lossless(200.0, 0.05),
        interval: IntervalLength::Fixed { time: Time::from_millis(100) },
        first_rate: FirstRate::Packets(100.0),
        history: 2,
        ..EnvConfig::aurora()
    };
    let mut env = Env::new(config).unwrap();
    let info = env.reset(Some(1)).unwrap();
    // The warm-up: 3 x 100 ms.
    near(info.time_s, 0.3);
    assert_eq!(info.throughput_bps, 0.0);
    assert_eq!(env.observation(), [0.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
    let step = env.step(0.0).unwrap();
    let interval = env.interval().unwrap();
    assert_eq!((interval.sent, interval.acked, interval.lost, interval.rtt_samples), (10, 10, 0, 10));
    near(interval.rtt_mean_s, 0.105);
    // Sent 10, and 9 gaps between 10 deliveries.
    assert_eq!(env.observation(), [0.0, 1.0, 1.0, 0.0, 1.0, 10.0 / 9.0]);
    // 10 x 9 / 0.1 s - 1000 x 0.105 s.
    near(step.reward, 0.001 * (900.0 - 105.0));
    near(step.info.throughput_bps, 1_200_000.0);
    near(step.info.rtt_s, 0.105);
    assert!(!step.terminated && !step.truncated);
}

/// Twice the rate of the link: the queue grows by a packet for each one delivered, so each packet waits 5 ms longer than the one
/// before it.
#[test]
fn overload_shows_as_latency_inflation() {
    let config = EnvConfig {
        source: lossless(200.0, 0.05),
        interval: IntervalLength::Fixed { time: Time::from_millis(100) },
        first_rate: FirstRate::Packets(400.0),
        ..EnvConfig::aurora()
    };
    let mut env = Env::new(config).unwrap();
    env.reset(Some(1)).unwrap();
    env.step(0.0).unwrap();
    let interval = *env.interval().unwrap();
    // 20 delivered; packet n waits 2.5 ms x n, as much longer as the gap of 2.5 ms is shorter than 5 ms.
    assert_eq!((interval.sent, interval.acked), (40, 20));
    near(interval.rtt_increase_s, 10.0 * 0.0025);
    let last = &env.observation()[27..];
    near(f64::from(last[0]), f64::from((10.0 * 0.0025 / 0.1) as f32));
    near(f64::from(last[2]), f64::from((40.0 / 19.0) as f32));
}

/// Without losses a datagram meets the links at the times at which TCP's packet does.
#[test]
fn datagrams_and_tcp_agree_to_the_bit_where_nothing_is_lost() {
    for pps in [70.0, 333.0] {
        let mut scenario = slow_path();
        // Linux sends bursts of at least two packets; RFC 6675 has no such rule.
        scenario.stack.recovery = Recovery::Prr;
        let run = |transport| {
            let config = EnvConfig {
                source: Source::Scenarios(vec![scenario.clone()]),
                transport,
                first_rate: FirstRate::Packets(pps),
                ..EnvConfig::aurora()
            };
            let mut env = Env::new(config).unwrap();
            env.reset(Some(3)).unwrap();
            let step = |_| {
                env.step(0.0).unwrap();
                let Interval { duration_s, sent, acked, lost, rtt_mean_s, rtt_min_s, rtt_increase_s, .. } =
                    *env.interval().unwrap();
                ([sent, acked, lost], [duration_s, rtt_mean_s, rtt_min_s, rtt_increase_s])
            };
            // The queue of the overloaded link is not full before the 66th.
            (0..60).map(step).collect::<Vec<_>>()
        };
        assert_eq!(run(Transport::Datagram), run(Transport::Tcp), "{pps} packets a second");
    }
}

/// With losses TCP's packets are the same in number, up to the bursts of two that Linux sends.
#[test]
fn tcp_loses_and_delivers_like_datagrams_at_auroras_ranges() {
    let mut compared = 0;
    for seed in 0..30 {
        let sums = [Transport::Datagram, Transport::Tcp].map(|transport| {
            let mut env = Env::new(EnvConfig { transport, ..EnvConfig::aurora() }).unwrap();
            env.reset(Some(seed)).unwrap();
            let mut sum = [0.0; 2];
            for _ in 0..50 {
                let info = env.step(0.0).unwrap().info;
                sum[0] += info.throughput_bps * info.duration_s;
                sum[1] += info.duration_s;
            }
            sum[0] / sum[1]
        });
        // Queues of a few packets drop the second packet of bursts.
        if (sums[0] / sums[1] - 1.0).abs() < 0.05 {
            compared += 1;
        }
    }
    assert!(compared >= 24, "{compared} of 30 seeds agree within 5 %");
}

#[test]
fn a_constant_rate_is_the_throughput() {
    for transport in [Transport::Datagram, Transport::Tcp] {
        let config = EnvConfig {
            source: lossless(400.0, 0.02),
            transport,
            first_rate: FirstRate::Packets(250.0),
            interval: IntervalLength::Fixed { time: Time::from_secs(1) },
            warm_up_rtts: 100.0,
            ..EnvConfig::aurora()
        };
        let mut env = Env::new(config).unwrap();
        env.reset(Some(1)).unwrap();
        for _ in 0..20 {
            let step = env.step(0.0).unwrap();
            // 250 x 12,000 bit, up to a packet at either end.
            assert!((step.info.throughput_bps - 3e6).abs() <= 24_000.0, "{transport:?}: {:?}", step.info);
            assert_eq!(step.info.loss_ratio, 0.0);
        }
    }
}

#[test]
fn nothing_is_delivered_or_lost_that_was_not_sent() {
    let orca = EnvConfig { max_steps: 200, ..EnvConfig::orca() };
    let tcp = EnvConfig { transport: Transport::Tcp, max_steps: 200, ..EnvConfig::aurora() };
    for config in [EnvConfig::aurora(), tcp, orca] {
        let mut env = Env::new(EnvConfig { warm_up_rtts: 0.0, ..config }).unwrap();
        for seed in 0..8 {
            env.reset(Some(seed)).unwrap();
            let (mut sent, mut known) = (0, 0);
            for action in actions(seed).take(200) {
                env.step(action).unwrap();
                let interval = env.interval().unwrap();
                sent += interval.sent;
                known += interval.acked + interval.lost;
                assert!(known <= sent, "seed {seed}: {known} of {sent}");
            }
            assert!(known > 0);
        }
    }
}

#[test]
fn orcas_action_of_zero_leaves_cubic_alone() {
    let scenario = slow_path();
    let config = EnvConfig {
        source: Source::Scenarios(vec![scenario.clone()]),
        warm_up_rtts: 0.0,
        max_steps: 1000,
        ..EnvConfig::orca()
    };
    let mut env = Env::new(config).unwrap();
    env.reset(Some(9)).unwrap();
    let mut plain = scenario.with_seed(9);
    plain.flows[0].algorithm = "cubic".parse().unwrap();
    let mut simulation = Simulation::new(&plain).unwrap();
    for step in 1..=500 {
        let info = env.step(0.0).unwrap().info;
        simulation.run_until(Time::from_millis(20 * step));
        assert_eq!(info.cwnd, simulation.flow(0).cwnd, "step {step}");
    }
    let before = simulation.flow(0).cwnd;
    // 4^0.5, from the next ACK on.
    let after = env.step(0.5).unwrap().info.cwnd;
    assert!(after > 1.8 * before, "{before} became {after}");
}

#[test]
fn discrete_steps_change_the_window() {
    let config = EnvConfig {
        source: Source::Scenarios(vec![slow_path()]),
        transport: Transport::Tcp,
        action: Action::discrete(),
        interval: IntervalLength::Fixed { time: Time::from_millis(200) },
        ..EnvConfig::aurora()
    };
    assert_eq!(config.action_space(), ActionSpace::Discrete(5));
    let mut env = Env::new(config).unwrap();
    env.reset(Some(1)).unwrap();
    // The initial window is 10: doubled, 10 more, the same, half, 10 less, and at least 2.
    let windows = [4.0, 3.0, 2.0, 0.0, 1.0, 1.0].map(|action| env.step(action).unwrap().info.cwnd);
    assert_eq!(windows, [20.0, 30.0, 30.0, 15.0, 5.0, 2.0]);
}

#[test]
fn competitors_take_their_share() {
    let throughput = |competitors: Vec<AlgorithmSpec>| {
        let config = EnvConfig {
            source: lossless(400.0, 0.05),
            transport: Transport::Tcp,
            competitors,
            first_rate: FirstRate::Packets(380.0),
            ..EnvConfig::aurora()
        };
        let mut env = Env::new(config).unwrap();
        env.reset(Some(1)).unwrap();
        (0..100).map(|_| env.step(0.0).unwrap().info.throughput_bps).sum::<f64>() / 100.0
    };
    let (alone, shared) = (throughput(vec![]), throughput(vec!["cubic".parse().unwrap(); 2]));
    assert!(shared < 0.98 * alone, "{alone} alone, {shared} with two of CUBIC");
}

#[test]
fn episodes_repeat_by_their_seeds_and_differ_otherwise() {
    let mut env = Env::new(EnvConfig::aurora()).unwrap();
    let mut play = |seed| {
        let info = env.reset(seed).unwrap();
        let rewards: Vec<u64> =
            actions(5).take(30).map(|action| env.step(action).unwrap().reward.to_bits()).collect();
        (info.seed, rewards)
    };
    let (first, second) = (play(Some(4)), play(None));
    assert_eq!((first.0, second.0), (4, episode_seed(4, 1)));
    assert_ne!(first.1, second.1);
    assert_eq!(play(Some(4)), first);
    // The seed of an episode repeats it.
    assert_eq!(play(Some(second.0)), second);
}

#[test]
fn an_episode_ends_with_its_data_its_steps_or_its_scenario() {
    let mut scenario = slow_path();
    scenario.duration = Time::from_secs(10);
    let run = |scenario: &Scenario, max_steps| {
        let config = EnvConfig {
            source: Source::Scenarios(vec![scenario.clone()]),
            transport: Transport::Tcp,
            first_rate: FirstRate::Packets(100.0),
            interval: IntervalLength::Fixed { time: Time::from_millis(700) },
            max_steps,
            ..EnvConfig::aurora()
        };
        let mut env = Env::new(config).unwrap();
        env.reset(Some(1)).unwrap();
        let mut steps = 0;
        loop {
            steps += 1;
            let step = env.step(0.0).unwrap();
            if step.terminated || step.truncated {
                let error = env.step(0.0).unwrap_err();
                assert_eq!(error.to_string(), "there is no episode: call `reset` first");
                return (steps, step.terminated, step.truncated, step.info.time_s);
            }
        }
    };
    assert_eq!(run(&scenario, 4).0, 4);
    let (_, terminated, truncated, time_s) = run(&scenario, 400);
    assert_eq!((terminated, truncated, time_s), (false, true, 10.0));
    scenario.flows[0].bytes = Some(100_000);
    let (steps, terminated, truncated, _) = run(&scenario, 400);
    assert!(terminated && !truncated && steps < 4);
}

#[test]
fn what_is_wrong_is_said() {
    let refused = |config: EnvConfig| Env::new(config).err().expect("it is invalid").to_string();
    let aurora = EnvConfig::aurora();
    insta::assert_snapshot!(
        [
            refused(EnvConfig { history: 0, ..aurora.clone() }),
            refused(EnvConfig { features: vec![], ..aurora.clone() }),
            refused(EnvConfig { max_steps: 0, ..aurora.clone() }),
            refused(EnvConfig { interval: IntervalLength::SmoothedRtts { times: 0.0 }, ..aurora.clone() }),
            refused(EnvConfig { warm_up_rtts: f64::NAN, ..aurora.clone() }),
            refused(EnvConfig { first_rate: FirstRate::OfBottleneck(1.5, 0.3), ..aurora.clone() }),
            refused(EnvConfig { reward: Reward::Power { delay_weight: -1.0 }, ..aurora.clone() }),
            refused(EnvConfig { action: Action::orca(), ..aurora.clone() }),
            refused(EnvConfig { action: Action::Discrete { steps: vec![] }, ..aurora.clone() }),
            refused(EnvConfig { competitors: vec!["cubic".parse().unwrap()], ..aurora.clone() }),
            refused(EnvConfig {
                competitors: vec!["cubik".parse().unwrap()],
                transport: Transport::Tcp,
                ..aurora.clone()
            })
            .split(';')
            .next()
            .unwrap()
            .to_owned(),
            refused(EnvConfig { source: Source::Scenarios(vec![]), ..aurora.clone() }),
            refused(EnvConfig {
                source: Source::Paths(PathRanges { loss: (0.1, 0.05), ..PathRanges::aurora() }),
                ..aurora.clone()
            }),
            refused(EnvConfig { source: Source::Scenarios(vec![unlimited()]), ..aurora.clone() }),
        ]
        .join("\n")
    );
    let mut env = Env::new(aurora).unwrap();
    assert!(matches!(env.step(0.0), Err(GymError::Call(_))));
    env.reset(None).unwrap();
    let error = env.step(f32::NAN).unwrap_err();
    assert_eq!(
        error.to_string(),
        "action of environment 0: is NaN; it must be -1000000000000 to 1000000000000"
    );
}

fn unlimited() -> Scenario {
    let mut scenario = slow_path();
    scenario.network.links[0] = LinkSpec::new("bottleneck", 0, 1, Rate::UNLIMITED, Time::from_millis(50));
    scenario
}

#[test]
fn a_configuration_survives_json() {
    for config in [EnvConfig::aurora(), EnvConfig::orca()] {
        assert_eq!(EnvConfig::from_json(&config.to_json()), Ok(config));
    }
    let short = EnvConfig::from_json(r#"{"transport": "tcp", "history": 3}"#).unwrap();
    assert_eq!(short, EnvConfig { transport: Transport::Tcp, history: 3, ..EnvConfig::aurora() });
    let error = EnvConfig::from_json(r#"{"histori": 3}"#).unwrap_err().to_string();
    assert!(error.starts_with("configuration: unknown field `histori`, expected one of"), "{error}");
}
