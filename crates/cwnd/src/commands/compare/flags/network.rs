//! Flags that are made from the table of settings, so that a study's word is a flag without more ado.

use super::{NETWORK as HEADING, STACK};
use crate::{catalogue, failure::Failure};
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, builder::TypedValueParser};
use cwnd_scenario::{
    DeliveryTrace, Problem, Rate,
    build::{
        CrossFlows, Experiment, Setup,
        settings::{CONFLICTS, NETWORK, Setting, SettingKind},
    },
};
use cwnd_study::{MAX_INPUT, input_file};
use std::{ffi::OsStr, path::Path};

/// Settings of the network with the values that were said, in the order of the table.
#[derive(Default)]
pub struct NetworkFlags {
    said: Vec<(&'static Setting, String)>,
}

impl NetworkFlags {
    /// A setup with what they say, and with the bottleneck's rate if it was said: a trace has one of its own. Traces are read.
    ///
    /// # Errors
    /// A trace that cannot be, by its flag.
    pub fn setup(&self, setup: Setup, rate: Option<Rate>) -> Result<Setup, Failure> {
        let mut experiment = Experiment { setup, ..Experiment::default() };
        experiment.setup.forward.rate = rate;
        self.apply(&mut experiment);
        let mut read = |path: &str| {
            let text =
                input_file::read_text(Path::new(path), MAX_INPUT).map_err(|error| error.to_string())?;
            DeliveryTrace::parse(path, &text).map_err(|error| format!("`{path}` is no trace: {error}"))
        };
        let mut setup = experiment.setup;
        match setup.read_traces(&mut read) {
            Ok(()) => Ok(setup),
            Err(problem) => {
                let place = format!("--{}", problem.place.replace('_', "-"));
                Err(Failure::problems(&[Problem { place, ..problem }]))
            }
        }
    }

    /// Put them into an experiment. They were tried when they were read.
    fn apply(&self, experiment: &mut Experiment) {
        for (setting, value) in &self.said {
            let _ = (setting.set)(experiment, value);
        }
    }
}

impl Args for NetworkFlags {
    fn augment_args(command: Command) -> Command {
        command.args(NETWORK.iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        NetworkFlags::augment_args(command)
    }
}

impl FromArgMatches for NetworkFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<NetworkFlags, Error> {
        let mut flags = NetworkFlags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let said = |setting: &'static Setting| {
            let value: &String = matches.get_one(setting.key)?;
            Some((setting, value.clone()))
        };
        self.said = NETWORK.iter().filter_map(said).collect();
        Ok(())
    }
}

fn flag(setting: &'static Setting) -> Arg {
    let others = CONFLICTS.iter().filter_map(|(a, b)| match setting.key {
        key if key == *a => Some(*b),
        key if key == *b => Some(*a),
        _ => None,
    });
    // The other flag says it where it is not in this table.
    let others: Vec<&str> = others.filter(|key| NETWORK.iter().any(|other| other.key == *key)).collect();
    Arg::new(setting.key)
        .long(setting.key)
        .value_name(value_name(setting))
        .help(format!("{} [default: {}]", setting.about.trim_end_matches('.'), setting.default))
        .help_heading(if setting.key == "l4s" { STACK } else { HEADING })
        .allow_hyphen_values(true)
        .conflicts_with_all(others)
        .value_parser(Parser(setting))
}

fn value_name(setting: &Setting) -> &'static str {
    match (setting.kind, setting.key) {
        (SettingKind::Switch, _) => "on|off",
        (SettingKind::Count, _) => "N",
        (SettingKind::Kind(_), key) if key.ends_with("queue") => "QUEUE",
        (SettingKind::Kind(_), key) if key.ends_with("jitter") => "JITTER",
        (SettingKind::Kind(_), _) => "LOSS",
        (SettingKind::Steps, _) => "STEPS",
        (SettingKind::File, _) => "FILE",
        (_, key) if key.ends_with("rate") => "RATE",
        (_, key) if key.ends_with("buffer") => "BUFFER",
        (_, "cross-flows") => "N|MIX",
        (_, "policer") => "RATE, SIZE",
        (_, "duplication") => "PROBABILITY",
        _ => "TIME",
    }
}

/// Tries a value as a study would, and keeps its text.
#[derive(Clone)]
struct Parser(&'static Setting);

impl TypedValueParser for Parser {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        let setting = self.0;
        let check = move |text: &str| -> Result<String, String> {
            if text.starts_with("--") {
                return Err(format!("a value is missing before `{text}`"));
            }
            let mut scratch = Experiment::default();
            (setting.set)(&mut scratch, text)?;
            let cross = match &scratch.setup.cross_flows {
                Some(CrossFlows::Mix(mix)) => mix.0.as_slice(),
                _ => &[],
            };
            cross.iter().try_for_each(|group| catalogue::algorithm(&group.algorithm))?;
            Ok(text.to_owned())
        };
        check.parse_ref(command, arg, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_networks_is_a_flag() {
        let command = NetworkFlags::augment_args(Command::new("compare"));
        for setting in NETWORK {
            let matches = command
                .clone()
                .try_get_matches_from(["compare", &format!("--{}", setting.key), setting.example])
                .unwrap_or_else(|error| panic!("{error}"));
            let flags = NetworkFlags::from_arg_matches(&matches).unwrap_or_else(|error| panic!("{error}"));
            let (mut by_flag, mut by_setting) = (Experiment::default(), Experiment::default());
            flags.apply(&mut by_flag);
            assert_eq!((setting.set)(&mut by_setting, setting.example), Ok(()));
            assert_eq!(by_flag, by_setting, "{}", setting.key);
            assert_ne!(by_flag, Experiment::default(), "{}", setting.key);
        }
    }
}
