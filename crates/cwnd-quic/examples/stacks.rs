//! Compares an algorithm over TCP with the same over noq and quinn, on one bottleneck:
//! `stacks ALGORITHM MBIT_PER_S RTT_MS BUFFER_BDP [SECONDS]`.
//!
//! It prints the goodput of the sender, and the mean round-trip time, after a warm-up of a quarter of the run. `all` in place of the
//! numbers runs the 20 paths of `studies/quic/stacks.toml`.

use cwnd_experiment::{Buffer, ExperimentSpec, FlowGroup, LineDelay};
use cwnd_scenario::{Rate, Time};
use std::error::Error;

const STACKS: [&str; 3] = ["tcp", "noq", "quinn"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((algorithm, numbers)) = arguments.split_first() else {
        return Err("usage: stacks ALGORITHM MBIT_PER_S RTT_MS BUFFER_BDP [SECONDS]".into());
    };
    let mut paths = Vec::new();
    if numbers == ["all"] {
        for (rate, rtt) in [(10, 20), (10, 100), (50, 50), (100, 20), (100, 100)] {
            paths.extend([0.5, 1.0, 2.0, 4.0].map(|buffer| (rate, rtt, buffer, 20)));
        }
    } else {
        let [rate, rtt, buffer, rest @ ..] = numbers else {
            return Err("three numbers describe a path".into());
        };
        let seconds = rest.first().map_or(Ok(40), |text| text.parse())?;
        paths.push((rate.parse()?, rtt.parse()?, buffer.parse()?, seconds));
    }
    println!("{:<24} {:>20} {:>20} {:>20}", algorithm, STACKS[0], STACKS[1], STACKS[2]);
    for (rate, rtt, buffer, seconds) in paths {
        let results = STACKS.map(|stack| run(algorithm, stack, rate, rtt, buffer, seconds));
        print!("{:<24}", format!("{rate} Mbit/s {rtt} ms {buffer} BDP"));
        for result in results {
            let (goodput, rtt) = result?;
            print!(" {goodput:>10.2} {rtt:>6.1} ms");
        }
        println!();
    }
    Ok(())
}

/// Returns the goodput, Mbit/s, and the mean round-trip time, ms.
fn run(
    algorithm: &str,
    stack: &str,
    rate: u64,
    rtt: u64,
    buffer: f64,
    seconds: u64,
) -> Result<(f64, f64), Box<dyn Error>> {
    let spec = ExperimentSpec {
        rate: Rate(rate * 1_000_000),
        delay: LineDelay::OneWay(Time::from_millis(rtt / 2)),
        buffer: format!("{buffer} BDP").parse::<Buffer>()?,
        duration: Time::from_secs(seconds),
        warm_up: Time::from_secs(seconds / 4),
        ..ExperimentSpec::default()
    };
    let flow: FlowGroup = format!("{algorithm}; stack={stack}").parse()?;
    let scenario = spec.scenario(&[flow], 1).map_err(|problems| problems[0].to_string())?;
    let outcome = cwnd_quic::host::run_with(&scenario, &cwnd_sim::registered)?;
    let flow = &outcome.flows[0];
    let time = outcome.end.as_secs_f64() - outcome.begin.as_secs_f64();
    Ok((flow.bytes_in_order as f64 * 8e-6 / time, 1e3 * flow.rtt_sum_s / flow.rtt_samples as f64))
}
