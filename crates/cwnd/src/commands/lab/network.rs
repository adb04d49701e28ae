//! The flags that say a network of one way between two hosts.

use crate::{
    failure::Failure,
    numbers::whole,
    setting_flags::{Selection, SettingFlags},
};
use clap::Args;
use cwnd_experiment::{
    ExperimentSpec, FlowGroup, LineDelay, StackChoice, Topology,
    settings::{OF_LINES, Setting},
};
use cwnd_scenario::{AlgorithmSpec, DeliveryTrace, Problem, Rate, Scenario, StackProfile, Time};
use cwnd_study::input_file::{self, MAX_INPUT};
use std::path::Path;

/// A network of one way between two hosts.
#[derive(Clone, Args)]
pub struct LinkFlags {
    /// The link.
    #[command(flatten)]
    pub settings: SettingFlags<OneLink>,

    /// Bytes of the largest IP packet.
    #[arg(long, value_name = "BYTES", default_value = "1500", value_parser = whole::<u32>, allow_hyphen_values = true)]
    pub mtu: u32,

    /// Seed of all that is random.
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole::<u64>, allow_hyphen_values = true)]
    pub seed: u64,
}

/// The settings of a link.
pub struct OneLink;

impl Selection for OneLink {
    fn has(setting: &Setting) -> bool {
        setting.key == "rtt" || OF_LINES.contains(&setting.key) || is_of_access(setting)
    }

    fn default(setting: &Setting) -> &'static str {
        match setting.key {
            "rate" => "100 Mbit/s; with a trace its mean",
            "delay" => "20 ms",
            _ if is_of_access(setting) => {
                "no access links; if another access flag is given, as in a dumbbell"
            }
            _ => setting.default,
        }
    }
}

/// Whether it describes access links: one on each side, so that senders have a queue and a line of their own.
fn is_of_access(setting: &Setting) -> bool {
    setting.key.starts_with("access-")
}

impl LinkFlags {
    /// The scenario whose network it is, of one flow for each host.
    ///
    /// # Errors
    /// What is wrong, by the flag.
    pub fn scenario(&self, hosts: u32) -> Result<Scenario, Failure> {
        let flows = FlowGroup::new(AlgorithmSpec { name: "cubic".into(), ..AlgorithmSpec::default() }, hosts);
        self.scenario_of(&[flows], ExperimentSpec::default().duration)
    }

    /// The scenario of these flows over it.
    ///
    /// # Errors
    /// What is wrong, by the flag.
    pub fn scenario_of(&self, flows: &[FlowGroup], duration: Time) -> Result<Scenario, Failure> {
        let has_access = self.settings.given().iter().any(|given| is_of_access(given.setting));
        let mut experiment = ExperimentSpec {
            topology: if has_access { Topology::Dumbbell } else { Topology::Path },
            rate: Rate(100_000_000),
            delay: LineDelay::OneWay(Time::from_millis(20)),
            stack: StackChoice {
                profile: StackProfile::Linux,
                mtu: Some(self.mtu),
                ..StackChoice::default()
            },
            duration,
            ..ExperimentSpec::default()
        };
        self.settings.apply(&mut experiment);
        let by_flag = |problem: Problem| {
            let flag = problem.place.rsplit('.').next().unwrap_or_default().replace('_', "-");
            Problem { place: format!("--{flag}"), ..problem }
        };
        let read = &mut |path: &str| {
            let text =
                input_file::read_text(Path::new(path), MAX_INPUT).map_err(|error| error.to_string())?;
            DeliveryTrace::parse(path, &text).map_err(|error| format!("`{path}` is no trace: {error}"))
        };
        experiment.read_traces(read).map_err(|problem| Failure::problems(&[by_flag(problem)]))?;
        experiment.scenario(flows, self.seed).map_err(|problems| {
            let problems: Vec<Problem> = problems.into_iter().map(by_flag).collect();
            Failure::problems(&problems)
        })
    }
}

/// Returns a network of this rate and round-trip time with a buffer of one BDP, and a number of CUBIC flows.
///
/// # Errors
/// What is wrong with them.
pub fn plain(rate: Rate, rtt: Time, flows: u32, duration: Time) -> Result<Scenario, Failure> {
    let experiment = ExperimentSpec {
        topology: Topology::Path,
        rate,
        delay: LineDelay::BaseRtt(rtt),
        stack: StackChoice { profile: StackProfile::Linux, ..StackChoice::default() },
        duration,
        ..ExperimentSpec::default()
    };
    let cubic = AlgorithmSpec { name: "cubic-linux".into(), ..AlgorithmSpec::default() };
    experiment.scenario(&[FlowGroup::new(cubic, flows)], 1).map_err(|problems| Failure::problems(&problems))
}
