//! Many environments: the same as single ones, on any number of threads; when episodes begin.

mod common;

use common::actions;
use cwnd_gym::{Autoreset, Batch, Env, EnvConfig, Transport, VectorEnv, episode_seed};

fn short(transport: Transport) -> EnvConfig {
    EnvConfig { transport, max_steps: 7, ..EnvConfig::aurora() }
}

fn envs(config: EnvConfig, count: usize, autoreset: Autoreset, threads: usize) -> VectorEnv {
    VectorEnv::new(config, count, autoreset, threads).unwrap()
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for (transport, autoreset) in [
        (Transport::Datagram, Autoreset::NextStep),
        (Transport::Datagram, Autoreset::SameStep),
        (Transport::Tcp, Autoreset::SameStep),
    ] {
        let run = |threads| {
            let mut envs = envs(short(transport), 13, autoreset, threads);
            let mut batches = vec![envs.reset(None, None).unwrap().clone()];
            let mut actions = actions(1);
            for _ in 0..30 {
                let actions: Vec<f32> = actions.by_ref().take(13).collect();
                batches.push(envs.step(&actions).unwrap().clone());
            }
            batches
        };
        let one: Vec<Batch> = run(1);
        assert!(one.iter().any(|batch| batch.truncated.contains(&true)));
        for threads in [2, 5, 0] {
            assert_eq!(run(threads), one, "{threads} threads");
        }
    }
}

#[test]
fn each_environment_is_a_single_one_with_its_seed() {
    let mut vector = envs(EnvConfig::aurora(), 3, Autoreset::Disabled, 2);
    let seeds = [11, 5, 0];
    vector.reset(Some(&seeds), None).unwrap();
    let mut singles = seeds.map(|seed| {
        let mut env = Env::new(EnvConfig::aurora()).unwrap();
        env.reset(Some(seed)).unwrap();
        env
    });
    for action in actions(2).take(50) {
        let batch = vector.step(&[action; 3]).unwrap();
        for (i, env) in singles.iter_mut().enumerate() {
            let step = env.step(action).unwrap();
            assert_eq!(batch.rewards[i].to_bits(), step.reward.to_bits());
            assert_eq!(&batch.observations[30 * i..30 * (i + 1)], env.observation());
            assert_eq!(batch.info.rtt_s[i], step.info.rtt_s);
            assert_eq!(batch.info.seed[i], seeds[i]);
        }
    }
}

#[test]
fn next_step_begins_an_episode_in_the_step_after_the_last() {
    let mut vector = envs(short(Transport::Datagram), 1, Autoreset::NextStep, 1);
    vector.reset(Some(&[3]), None).unwrap();
    let first = vector.batch().observations.clone();
    for _ in 0..6 {
        assert!(!vector.step(&[1.0]).unwrap().truncated[0]);
    }
    let last = vector.step(&[1.0]).unwrap().clone();
    assert!(last.truncated[0] && !last.terminated[0] && !last.has_final[0]);
    assert_ne!(last.observations, first);
    // The action is ignored, even one that is none.
    let begun = vector.step(&[f32::NAN]).unwrap();
    assert_eq!((begun.rewards[0], begun.truncated[0], begun.info.seed[0]), (0.0, false, episode_seed(3, 1)));
    assert_eq!(begun.observations, first);
    assert!(vector.step(&[f32::NAN]).is_err());
    assert_eq!(vector.step(&[0.0]).unwrap().info.seed[0], episode_seed(3, 1));
}

#[test]
fn same_step_returns_the_last_observation_and_the_first() {
    let mut vector = envs(short(Transport::Datagram), 2, Autoreset::SameStep, 1);
    let mut disabled = envs(short(Transport::Datagram), 2, Autoreset::Disabled, 1);
    let first = vector.reset(Some(&[3, 4]), None).unwrap().observations.clone();
    disabled.reset(Some(&[3, 4]), None).unwrap();
    for step in 1..=7 {
        let expected = disabled.step(&[0.5, -0.5]).unwrap().clone();
        let batch = vector.step(&[0.5, -0.5]).unwrap();
        assert_eq!(batch.rewards, expected.rewards);
        assert_eq!(batch.truncated, [step == 7; 2]);
        assert_eq!(batch.has_final, [step == 7; 2]);
        if step == 7 {
            assert_eq!(batch.final_observations, expected.observations);
            assert_eq!(batch.final_info, expected.info);
            assert_eq!(batch.observations, first);
            assert_eq!(batch.info.seed, [episode_seed(3, 1), episode_seed(4, 1)]);
        } else {
            assert_eq!(batch.observations, expected.observations);
        }
    }
    assert_eq!(vector.step(&[0.0, 0.0]).unwrap().has_final, [false; 2]);
}

#[test]
fn disabled_waits_for_a_reset_with_a_mask() {
    let mut vector = envs(short(Transport::Datagram), 2, Autoreset::Disabled, 1);
    let error = vector.step(&[0.0, 0.0]).unwrap_err().to_string();
    assert_eq!(error, "environment 0 has no episode: call `reset` first");
    vector.reset(None, None).unwrap();
    for _ in 0..4 {
        vector.step(&[0.0, 0.0]).unwrap();
    }
    // The second one begins again, so the first ends before it.
    let before = vector.batch().clone();
    let masked = vector.reset(None, Some(&[false, true])).unwrap();
    assert_eq!(masked.observations[..30], before.observations[..30]);
    assert_eq!(masked.info.seed, [0, episode_seed(1, 1)]);
    for _ in 0..3 {
        vector.step(&[0.0, 0.0]).unwrap();
    }
    assert_eq!(vector.batch().truncated, [true, false]);
    let error = vector.step(&[0.0, 0.0]).unwrap_err().to_string();
    assert_eq!(error, "environment 0 has ended its episode: call `reset` with a mask");
    vector.reset(None, Some(&[true, false])).unwrap();
    assert!(vector.step(&[0.0, 0.0]).is_ok());
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_stepped() {
    let refused = |count, threads| {
        let made = VectorEnv::new(EnvConfig::aurora(), count, Autoreset::NextStep, threads);
        made.err().expect("it is invalid").to_string()
    };
    assert_eq!(refused(0, 1), "environments: is 0; it must be 1 to 1048576");
    assert_eq!(refused(1, 5000), "threads: is 5000; it must be at most 1024, or 0 for one a core");
    let mut vector = envs(EnvConfig::aurora(), 2, Autoreset::NextStep, 1);
    let message = "seeds: there are 3; there must be 2, one for each environment";
    assert_eq!(vector.reset(Some(&[1, 2, 3]), None).unwrap_err().to_string(), message);
    vector.reset(None, None).unwrap();
    let before = vector.batch().clone();
    let message = "actions: there are 1; there must be 2, one for each environment";
    assert_eq!(vector.step(&[0.0]).unwrap_err().to_string(), message);
    let error = vector.step(&[0.0, f32::INFINITY]).unwrap_err().to_string();
    assert_eq!(error, "action of environment 1: is inf; it must be -1000000000000 to 1000000000000");
    assert_eq!(vector.batch(), &before);
}

#[test]
fn environments_can_move_between_threads() {
    fn is_send<T: Send>() {}
    is_send::<Env>();
    is_send::<VectorEnv>();
}
