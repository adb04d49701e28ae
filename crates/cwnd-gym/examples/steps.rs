//! Measures steps a second at Aurora's ranges, with random actions.
//!
//!     cargo run --release -p cwnd-gym --example steps -- datagram 64 2000 1
//!
//! The arguments are the transport (`datagram` or `tcp`), the number of environments, steps and threads. It prints the rate
//! by the clock, and for one thread also by CPU time, which other programs on the machine disturb less.

use cwnd_gym::{Autoreset, EnvConfig, GymError, Transport, VectorEnv};
use cwnd_scenario::{Purpose, Stream};
use std::time::Instant;

fn main() -> Result<(), GymError> {
    let mut arguments = std::env::args().skip(1);
    let transport = match arguments.next().as_deref() {
        Some("tcp") => Transport::Tcp,
        _ => Transport::Datagram,
    };
    let mut number =
        |default: usize| arguments.next().map_or(default, |text| text.parse().expect("a whole number"));
    let (environments, steps, threads) = (number(64), number(2000), number(1));
    let config = EnvConfig { transport, ..EnvConfig::aurora() };
    let mut envs = VectorEnv::new(config, environments, Autoreset::NextStep, threads)?;
    envs.reset(None, None)?;
    let mut stream = Stream::new(1, Purpose::Episode, 0);
    let mut actions = vec![0.0; environments];
    let (mut packets, mut reward) = (0.0, 0.0);
    let (begin, cpu) = (Instant::now(), cpu_seconds());
    for _ in 0..steps {
        actions.fill_with(|| 2.0 * stream.uniform() as f32 - 1.0);
        let batch = envs.step(&actions)?;
        reward += batch.rewards.iter().sum::<f64>();
        let rates = batch.info.send_rate_bps.iter().zip(&batch.info.duration_s);
        packets += rates.map(|(bps, seconds)| bps * seconds / 12_000.0).sum::<f64>();
    }
    let (clock, cpu) = (begin.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let count = (environments * steps) as f64;
    println!("{transport:?}, {environments} environments, {threads} threads: {:.0} steps/s", count / clock);
    if threads == 1 && cpu > 0.0 {
        println!("{:.0} steps a second of CPU time, {:.1} ns a packet", count / cpu, cpu * 1e9 / packets);
    }
    println!("{:.1} packets a step, mean reward {:.4}", packets / count, reward / count);
    Ok(())
}

/// Returns the CPU time of this thread where Linux tells it, else 0.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}
