//! `cwnd lab bench`: how exact an emulated network is on this machine.

use super::{build, network::plain};
use crate::{failure::Failure, output};
use clap::Args;
use cpu_time::ProcessTime;
use cwnd_lab::{Lab, TOO_LATE, probe};
use cwnd_metrics::RunMetrics;
use cwnd_report::table::{Align, Sacrifice, Table};
use cwnd_scenario::{Engine, EngineError, Rate, Time};
use std::{fs, time::Duration};

/// The flags. By default what the laboratory is to hold: 1 Gbit/s and 100 ms, with packets of 1,500 bytes.
#[derive(Args)]
pub struct Flags {
    /// Rates of the link, one measurement each.
    #[arg(long, value_name = "RATE", default_values = ["100 Mbit/s", "1 Gbit/s"], allow_hyphen_values = true)]
    rate: Vec<Rate>,

    /// Round-trip time.
    #[arg(long, value_name = "TIME", default_value = "100 ms", allow_hyphen_values = true)]
    rtt: Time,

    /// How long each measurement sends.
    #[arg(long, value_name = "TIME", default_value = "20 s", allow_hyphen_values = true)]
    duration: Time,

    /// How many flows of CUBIC send.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=500))]
    flows: u16,
}

/// Packets of the measurement of the idle round-trip time, and the time between them.
const PROBES: u64 = 200;
const PROBES_EVERY: Duration = Duration::from_millis(10);

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let columns = [
        "rate",
        "RTT idle",
        "deviation",
        "throughput",
        "rate error",
        "late p50",
        "p99",
        "at most",
        "steal",
        "CPU",
    ];
    let mut table = Table::new(columns.map(|name| (name, Align::Right))).indent(2);
    let mut validity_warnings = Vec::new();
    for &rate in &flags.rate {
        let scenario = plain(rate, flags.rtt, u32::from(flags.flows), flags.duration)?;
        let (mean, deviation) = idle(&scenario)?;
        crate::terminal::tell!("  {rate}: sending for {}", flags.duration);
        let cpu = ProcessTime::try_now().ok();
        let outcome = Lab::default().run(&scenario).map_err(|error| match error {
            EngineError::Refused(problems) => Failure::problems(&problems),
            EngineError::Failed(why) => Failure::broken(format!("{rate}: {why}")),
        })?;
        let cpu = cpu.and_then(|cpu| cpu.try_elapsed().ok()).unwrap_or_default().as_secs_f64();
        let Some(emulation) = &outcome.emulation else { continue };
        let percent = |share: f64| format!("{:.2} %", share * 100.0);
        table.row([
            rate.to_string(),
            format!("{:.3} ms", mean * 1e3),
            format!("{:.3} ms", deviation * 1e3),
            format!("{:.1} Mbit/s", RunMetrics::new(&scenario, &outcome).throughput_bps * 1e-6),
            emulation.rate_error.map_or("-".to_owned(), percent),
            emulation.late_p50.to_string(),
            emulation.late_p99.to_string(),
            emulation.late_max.to_string(),
            percent(emulation.steal),
            percent(cpu / flags.duration.as_secs_f64()),
        ]);
        validity_warnings.extend(emulation.validity_warnings.iter().map(|doubt| format!("{rate}: {doubt}")));
    }
    let sacrifices = ["late p50", "steal", "deviation", "at most", "RTT idle", "CPU"].map(Sacrifice::Drop);
    let table = output::fitted(table, &sacrifices);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut text = format!(
        "\n{} flow{} of CUBIC, round trip {}, packets of 1,500 bytes, for {}\n\n{table}\n",
        flags.flows,
        if flags.flows == 1 { "" } else { "s" },
        flags.rtt,
        flags.duration
    );
    text += &output::wrapped(
        &format!(
            "RTT idle: of {PROBES} UDP packets through both directions, mean and standard deviation. Late: when packets came \
             out after they were due; more than {TOO_LATE} at p99, or a rate error of more than 1 %, are not valid. CPU: of \
             one core, this process and the kernel's TCP together. Load of this machine: {}",
            load.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
        ),
        2,
    );
    output::print(&(text + "\n"))?;
    if validity_warnings.is_empty() {
        Ok(())
    } else {
        Err(Failure::broken(format!("not held: {}", validity_warnings.join("; "))))
    }
}

/// The round-trip time of a network in which nothing else is: mean and standard deviation, seconds.
fn idle(scenario: &cwnd_scenario::Scenario) -> Result<(f64, f64), Failure> {
    let (testbed, _) = build(scenario, false, None)?;
    let times = probe::echo(&testbed, PROBES, PROBES_EVERY)
        .map_err(|error| Failure::broken(format!("the round-trip time cannot be measured: {error}")))?;
    if times.is_empty() {
        return Err(Failure::broken("no packet came back: is a firewall at work in new network namespaces?"));
    }
    let times: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    Ok((mean, variance.sqrt()))
}
