//! `cwnd lab set`: changes a link while it is up.

use super::{
    link,
    network::{LinkFlags, OneLink},
};
use crate::{
    failure::Failure,
    output,
    setting_flags::{Selection, SettingFlags, checked},
};
use clap::Args;
use cwnd_experiment::settings::{Setting, find};
use cwnd_lab::{Testbed, requests};
use cwnd_scenario::Scenario;
use std::io;

const EXAMPLES: &str = "\
Rate, delays, buffers, losses and effects change; the queue's discipline, schedules and traces do not. A buffer in BDPs follows rate and
RTT. Packets in transmission and on the line are not lost. `none` switches jitter, slots and the policer off.

Examples:
  Half of the rate and more loss from now on, in the link that `cwnd lab link` keeps up:
    cwnd lab set --rate '10 Mbit/s' --per '1 %'

  A link that becomes slow after five seconds of a transfer:
    cwnd lab link --server 'iperf3 -s' -- sh -c \\
      '(sleep 5; cwnd lab set --rate \"5 Mbit/s\") & sleep 1; iperf3 -c $CWND_SERVER'";

/// The flags.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// The link, by the name that `cwnd lab link --name` gave it. A program in a link without a name finds it by the default.
    #[arg(long, value_name = "NAME", default_value = link::DEFAULT_NAME, value_parser = link::name)]
    name: String,

    /// What changes.
    #[command(flatten)]
    settings: SettingFlags<Changeable>,
}

/// The settings of a link that can change while it is up.
pub struct Changeable;

impl Selection for Changeable {
    fn has(setting: &Setting) -> bool {
        const FIXED: [&str; 4] = ["schedule", "rate-trace", "reverse-rate-trace", "ack-thinning"];
        OneLink::has(setting) && !FIXED.contains(&setting.key)
    }

    fn default(_: &Setting) -> &'static str {
        "as it is"
    }
}

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let given = flags.settings.given().iter();
    let lines: Vec<String> = given
        .flat_map(|given| given.values.iter().map(|value| format!("{}={value}", given.setting.key)))
        .collect();
    if lines.is_empty() {
        return Err(Failure::bad_input("nothing is to change: give a setting, such as `--rate '10 Mbit/s'`"));
    }
    let name = &flags.name;
    match requests::ask(name, &lines.join("\n")) {
        Ok(Ok(now)) => output::print(&format!("{now}\n")),
        Ok(Err(why)) => Err(Failure::bad_input(why)),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Err(Failure::broken(format!(
            "no link `{name}` is up: `cwnd lab link --name {name}` keeps one up, and the network of `cwnd lab shell` cannot change"
        ))),
        Err(error) => Err(Failure::broken(format!("the link `{name}`: {error}"))),
    }
}

/// Changes a link as a request asks for; each end has this number of hosts. Returns its flags and its scenario from now on, and
/// when it was changed ([`Testbed::change`]).
///
/// # Errors
/// What is wrong with the request, or cannot change. Nothing is changed then.
pub fn change(
    flags: &LinkFlags,
    hosts: u32,
    testbed: &Testbed,
    request: &str,
) -> Result<(LinkFlags, Scenario, u64), String> {
    let mut wanted = flags.clone();
    for line in request.lines() {
        let (key, value) = line.split_once('=').ok_or_else(|| format!("`{line}` is not a setting"))?;
        let setting = find(key).filter(|setting| Changeable::has(setting));
        let setting = setting.ok_or_else(|| format!("`{key}` cannot change while a link is up"))?;
        let value = checked(setting, value).map_err(|why| format!("--{key}: {why}"))?;
        wanted.settings = wanted.settings.with(setting, value);
    }
    let scenario = wanted.scenario(hosts).map_err(|failure| failure.message().to_owned())?;
    let at = testbed.change(&scenario)?;
    Ok((wanted, scenario, at))
}
