//! Flags made from the table of settings: a setting's key is its flag, its key in a study, and its name in results.

use crate::catalogue;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, builder::TypedValueParser};
use cwnd_experiment::{
    ExperimentSpec,
    settings::{CONFLICTS, GROUPS, Setting, SettingKind},
};
use std::{ffi::OsStr, marker::PhantomData};

/// Which settings a command has flags for.
pub trait Selection {
    /// Whether the command has a flag for this one.
    fn has(setting: &Setting) -> bool;

    /// Returns what the setting is if the flag is not given, in words.
    fn default(setting: &Setting) -> &'static str {
        setting.default
    }
}

/// Settings with the values that flags gave, in the order of the table.
pub struct SettingFlags<S> {
    given: Vec<Given>,
    selection: PhantomData<S>,
}

/// A setting that was given.
#[derive(Clone)]
pub struct Given {
    /// Which.
    pub setting: &'static Setting,
    /// Its values, each a valid one; several for a flag that may be given again.
    pub values: Vec<String>,
}

impl<S> SettingFlags<S> {
    /// Returns everything that was given.
    pub fn given(&self) -> &[Given] {
        &self.given
    }

    /// Returns the values of a setting; none if it was not given.
    pub fn values(&self, key: &str) -> &[String] {
        self.given.iter().find(|given| given.setting.key == key).map_or(&[], |given| &given.values)
    }

    /// Returns these settings with another value for one of them, which takes the place of settings that exclude it.
    #[cfg(target_os = "linux")]
    pub fn with(&self, setting: &'static Setting, value: String) -> SettingFlags<S> {
        let excludes = |key: &str| {
            key == setting.key
                || CONFLICTS.contains(&(key, setting.key))
                || CONFLICTS.contains(&(setting.key, key))
        };
        let kept = self.given.iter().filter(|given| !excludes(given.setting.key)).cloned();
        let given = kept.chain([Given { setting, values: vec![value] }]).collect();
        SettingFlags { given, selection: PhantomData }
    }

    /// Puts the values into an experiment.
    pub fn apply(&self, experiment: &mut ExperimentSpec) {
        for given in &self.given {
            for value in &given.values {
                // The parser tried it.
                let _ = (given.setting.set)(experiment, value);
            }
        }
    }
}

impl<S> Clone for SettingFlags<S> {
    fn clone(&self) -> SettingFlags<S> {
        SettingFlags { given: self.given.clone(), selection: PhantomData }
    }
}

impl<S: Selection> Args for SettingFlags<S> {
    fn augment_args(command: Command) -> Command {
        command.args(settings::<S>().map(|(heading, setting)| flag::<S>(heading, setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Selection> FromArgMatches for SettingFlags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut flags = SettingFlags { given: Vec::new(), selection: PhantomData };
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let given = |(_, setting): (_, &'static Setting)| {
            let values: Vec<String> = matches.get_many::<String>(setting.key)?.cloned().collect();
            Some(Given { setting, values })
        };
        self.given = settings::<S>().filter_map(given).collect();
        Ok(())
    }
}

fn settings<S: Selection>() -> impl Iterator<Item = (&'static str, &'static Setting)> {
    let of_group = |(heading, settings): &(&'static str, &'static [Setting])| {
        let heading = *heading;
        settings.iter().map(move |setting| (heading, setting))
    };
    GROUPS.iter().flat_map(of_group).filter(|(_, setting)| S::has(setting))
}

fn flag<S: Selection>(heading: &'static str, setting: &'static Setting) -> Arg {
    let others = CONFLICTS.iter().filter_map(|(a, b)| match setting.key {
        key if key == *a => Some(*b),
        key if key == *b => Some(*a),
        _ => None,
    });
    // A comparison may have flows of every form; and not all settings are flags everywhere.
    let flows = |key: &str| ["algorithm", "mix", "flow"].contains(&key);
    let others = others.filter(|key| !flows(key) && settings::<S>().any(|(_, other)| other.key == *key));
    let (again, more) = match setting.key {
        "mix" => (true, ". May be given again for a further run"),
        "flow" => (true, ". May be given again for further flows of the same run"),
        _ => (false, ""),
    };
    Arg::new(setting.key)
        .long(setting.key)
        .value_name(value_name(setting))
        .help(format!("{}{more} [default: {}]", setting.about.trim_end_matches('.'), S::default(setting)))
        .help_heading(heading)
        .allow_hyphen_values(true)
        .conflicts_with_all(others.collect::<Vec<_>>())
        .action(if again { ArgAction::Append } else { ArgAction::Set })
        .value_parser(Parser(setting))
}

fn value_name(setting: &Setting) -> &'static str {
    match (setting.kind, setting.key) {
        (SettingKind::Switch, _) => "on|off",
        (SettingKind::Count, "packet-size" | "mtu") => "BYTES",
        (SettingKind::Count, _) => "N",
        (SettingKind::Algorithm, _) => "ALGORITHM",
        (SettingKind::Mix, _) => "MIX",
        (SettingKind::Flows, _) => "FLOW",
        (SettingKind::Kind(_), key) if key.ends_with("queue") => "QUEUE",
        (SettingKind::Kind(_), key) if key.ends_with("jitter") => "JITTER",
        (SettingKind::Kind(_), _) => "LOSS",
        (SettingKind::Steps, _) => "STEPS",
        (SettingKind::File, _) => "FILE",
        (SettingKind::Word(_), "topology") => "TOPOLOGY",
        (SettingKind::Word(_), "stack") => "STACK",
        (SettingKind::Word(_), "ties") => "ORDER",
        (SettingKind::Word(_), "recovery") => "RECOVERY",
        (SettingKind::Word(_), "ecn-peer") => "accurate|classic|off",
        (SettingKind::Word(_), "ecn-remark") => "CHANGE",
        (SettingKind::Word(_), _) => "auto|on|accurate|off",
        (SettingKind::Form { .. }, "linux-version") => "VERSION",
        (_, key) if key.ends_with("rate") => "RATE",
        (_, key) if key.ends_with("buffer") => "BUFFER",
        (_, "bytes") => "SIZE",
        (_, "traffic") => "TRAFFIC",
        (_, "short-flows") => "FLOWS",
        (_, "rtts") => "TIMES",
        (_, "ecn-threshold") => "THRESHOLD",
        (_, "cross-flows") => "N|MIX",
        (_, "policer") => "RATE, SIZE",
        (_, "per" | "duplication") => "PROBABILITY",
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
        let check = move |text: &str| checked(setting, text);
        check.parse_ref(command, arg, value)
    }
}

/// Returns a value of a setting if it is valid.
///
/// # Errors
/// What is wrong with it, and what would be right.
pub fn checked(setting: &Setting, text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.starts_with("--") {
        return Err(format!("a value is missing before `{text}`"));
    }
    if setting.kind == SettingKind::Flows && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Err("--flow describes a flow, such as `cubic; start=21 s`; --flows says how many".to_owned());
    }
    let mut scratch = ExperimentSpec::default();
    (setting.set)(&mut scratch, text)?;
    for (i, spec) in scratch.algorithms().enumerate() {
        let item = if setting.kind == SettingKind::Mix { format!("item {}: ", i + 1) } else { String::new() };
        catalogue::algorithm(spec).map_err(|error| format!("{item}{error}"))?;
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_experiment::settings::SETTINGS;

    struct All;

    impl Selection for All {
        fn has(_: &Setting) -> bool {
            true
        }
    }

    #[test]
    fn every_setting_is_a_flag() {
        let command = SettingFlags::<All>::augment_args(Command::new("compare"));
        for setting in SETTINGS {
            let matches = command
                .clone()
                .try_get_matches_from(["compare", &format!("--{}", setting.key), setting.example])
                .unwrap_or_else(|error| panic!("{error}"));
            let flags = SettingFlags::<All>::from_arg_matches(&matches);
            let flags = flags.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(flags.values(setting.key), [setting.example]);
            let (mut by_flag, mut by_setting) = (ExperimentSpec::default(), ExperimentSpec::default());
            flags.apply(&mut by_flag);
            assert_eq!((setting.set)(&mut by_setting, setting.example), Ok(()));
            assert_eq!(by_flag, by_setting, "{}", setting.key);
            // The examples of two are their defaults.
            let has_no_effect = ["topology", "packet-size"].contains(&setting.key);
            assert!(has_no_effect || by_flag != ExperimentSpec::default(), "{}", setting.key);
        }
    }
}
