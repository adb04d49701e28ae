//! Simulates a scenario that is given by the settings of `cwnd compare`, and prints how many data packets came to the bottleneck's
//! queue:
//!
//!     cargo run --release -p cwnd-sim --example simulate -- --algorithm cubic --flows 4 --rate '1 Gbit/s' --duration '10 s'
//!
//! It is the simulator without what the command does before and after a run. Where the tests of this crate are built, it takes
//! seconds to build, so that each change can be compared with the recorded instruction counts: `cargo xtask bench --instructions`.

use cwnd_experiment::{ExperimentSpec, settings};
use cwnd_scenario::{Problem, Scenario, UnitError, nearest};
use cwnd_sim::{Options, Shortcuts, registered, run_with_options};
use std::process::ExitCode;

fn main() -> ExitCode {
    match packets(std::env::args().skip(1)) {
        Ok(packets) => {
            println!("{packets}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("simulate: {why}");
            ExitCode::from(2)
        }
    }
}

fn packets(arguments: impl Iterator<Item = String>) -> Result<u64, String> {
    let (scenario, options) = read(arguments)?;
    let outcome = run_with_options(&scenario, &registered, &options).map_err(|error| error.to_string())?;
    Ok(outcome.links[scenario.network.bottleneck].data_arrived)
}

fn read(mut arguments: impl Iterator<Item = String>) -> Result<(Scenario, Options), String> {
    let (mut spec, mut options) = (ExperimentSpec::default(), Options::default());
    while let Some(argument) = arguments.next() {
        let key = argument.strip_prefix("--").ok_or_else(|| format!("`{argument}` is not `--SETTING`"))?;
        let value = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
        set(&mut spec, &mut options, key, &value).map_err(|why| format!("{argument}: {why}"))?;
    }
    let groups = spec.groups().map_err(|problem| problem.to_string())?;
    let listed =
        |problems: Vec<Problem>| problems.iter().map(|problem| format!("{problem}\n")).collect::<String>();
    let scenario = spec.scenario(&groups, 1).map_err(listed)?;
    Ok((scenario, options))
}

/// Sets a setting, or what the command has besides them: how often the run is sampled, and the shortcut that is not taken.
fn set(spec: &mut ExperimentSpec, options: &mut Options, key: &str, value: &str) -> Result<(), String> {
    match key {
        "sample" => spec.sample = Some(value.parse().map_err(|error: UnitError| error.message)?),
        "no-fast-path" => options.shortcuts = Shortcuts::without(value)?,
        _ => (settings::find(key).ok_or_else(|| unknown(key))?.set)(spec, value)?,
    }
    Ok(())
}

fn unknown(key: &str) -> String {
    let known = settings::SETTINGS.iter().map(|setting| setting.key);
    let meant = nearest(key, known).map(|key| format!("; did you mean --{key}?"));
    format!("there is no such setting{}", meant.unwrap_or_default())
}
