//! The file of `cwnd kernel load --config`: what a host has loaded.

use super::{failure, registered, registered_among};
use crate::{failure::Failure, output, terminal::tell};
use cwnd_kernel::load::{self, Cgroup, Instance, Selection as Selected};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// What the file lists.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    #[serde(default)]
    algorithm: Vec<Entry>,
    #[serde(default)]
    cgroup: Vec<Selection>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    /// The name in the kernel, as of `--as`.
    #[serde(rename = "as")]
    instance: Option<String>,
    #[serde(default)]
    parameters: BTreeMap<String, Value>,
    #[serde(default)]
    default: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Selection {
    path: PathBuf,
    select: String,
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is not of the form.
    pub fn read(path: &Path) -> Result<Config, Failure> {
        let wrong = |why: String| Failure::bad_input(format!("--config {}: {why}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        Config::parse(&text).map_err(wrong)
    }

    fn parse(text: &str) -> Result<Config, String> {
        let config: Config = toml::from_str(text).map_err(|error| error.to_string())?;
        if config.algorithm.iter().filter(|entry| entry.default).count() > 1 {
            return Err("one algorithm can be the default, and several are".to_owned());
        }
        Ok(config)
    }

    /// Returns the instance that is to be the default, and the others.
    ///
    /// # Errors
    /// An algorithm, a name or a parameter is wrong.
    pub fn instances(&self) -> Result<(Option<Instance>, Vec<Instance>), Failure> {
        let (mut default, mut others) = (None, Vec::new());
        for entry in &self.algorithm {
            match entry.default {
                true => default = Some(entry.instance()?),
                false => others.push(entry.instance()?),
            }
        }
        Ok((default, others))
    }

    /// Returns the names in the kernel.
    ///
    /// # Errors
    /// Those of [`Config::instances`].
    pub fn names(&self) -> Result<Vec<String>, Failure> {
        self.algorithm.iter().map(|entry| Ok(entry.instance()?.kernel_name().to_owned())).collect()
    }

    /// Returns whether any cgroup selects.
    pub fn selects(&self) -> bool {
        !self.cgroup.is_empty()
    }

    /// Checks that its cgroups exist, and that what they select is registered, or is among these instances.
    ///
    /// # Errors
    /// A cgroup or a name that is not there.
    pub fn check_selections(&self, instances: &[Instance]) -> Result<(), Failure> {
        let mut known = load::registered();
        known.extend(instances.iter().map(|instance| instance.kernel_name().to_owned()));
        for Selection { path, select } in &self.cgroup {
            Cgroup::find(path).map_err(failure)?;
            if registered_among(select, &known).is_none() {
                let path = path.display();
                return Err(Failure::bad_input(format!(
                    "cgroup {path} selects `{select}`, which is neither loaded nor listed: there are {}",
                    known.join(", ")
                )));
            }
        }
        Ok(())
    }

    /// Makes its cgroups select.
    ///
    /// # Errors
    /// A cgroup does not exist, or a name is not registered.
    pub fn select(&self) -> Result<(), Failure> {
        for selection in &self.cgroup {
            let cgroup = Cgroup::find(&selection.path).map_err(failure)?;
            let name = registered(&selection.select);
            load::select(&cgroup, &name).map_err(failure)?;
            output::print(&format!("cgroup {} selects {name}\n", cgroup.path.display()))?;
        }
        Ok(())
    }

    /// Removes the selections of those of its cgroups that had none before.
    pub fn unselect_new(&self, before: &[Selected]) {
        let cgroups = self.cgroup.iter().filter_map(|selection| Cgroup::find(&selection.path).ok());
        for cgroup in cgroups.filter(|cgroup| before.iter().all(|one| one.cgroup.as_ref() != Some(cgroup))) {
            // It may not have come to that one.
            let _ = load::unselect(&cgroup);
        }
    }

    /// Removes the selections of its cgroups.
    pub fn unselect(&self) {
        for selection in &self.cgroup {
            let removed = Cgroup::find(&selection.path).and_then(|cgroup| load::unselect(&cgroup));
            if let Err(error) = removed {
                tell!("note: {error}");
            }
        }
    }
}

impl Entry {
    fn instance(&self) -> Result<Instance, Failure> {
        let algorithm = cwnd_kernel::find_or_explain(&self.name).map_err(Failure::bad_input)?;
        let parameters: Vec<(String, String)> =
            self.parameters.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        let instance = match &self.instance {
            Some(name) => Instance::named(algorithm, name, &parameters),
            None => Instance::new(algorithm, &parameters),
        };
        instance.map_err(failure)
    }
}

/// A parameter's value.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Value {
    Switch(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

/// A value as `--param` has it.
fn text(value: &Value) -> String {
    match value {
        Value::Switch(on) => on.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        [[algorithm]]
        name = "elastic"
        as = "bulk"
        parameters = { beta = 0.8, rttmax_reset_on_rto = true }

        [[algorithm]]
        name = "agile-sd"
        default = true

        [[cgroup]]
        path = "system.slice"
        select = "bulk"
    "#;

    #[test]
    fn a_file_becomes_instances() {
        let config = Config::parse(FILE).unwrap();
        let (default, others) = config.instances().unwrap();
        assert_eq!(default.unwrap().kernel_name(), "cwnd_agile_sd");
        let given = [("beta".into(), "0.8".into()), ("rttmax_reset_on_rto".into(), "true".into())];
        let bulk = Instance::named(cwnd_kernel::find("elastic").unwrap(), "bulk", &given).unwrap();
        assert_eq!(others, [bulk]);
        assert_eq!(config.names().unwrap(), ["cwnd_bulk", "cwnd_agile_sd"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let why = |text: &str| Config::parse(text).unwrap_err();
        assert!(why("[[algorithm]]\nname = \"elastic\"\nparam = 1").contains("param"));
        let two = "[[algorithm]]\nname = \"elastic\"\ndefault = true\n[[algorithm]]\nname = \"veno\"\ndefault = true\n";
        assert!(why(two).contains("one algorithm can be the default"));
        let unknown = Config::parse("[[algorithm]]\nname = \"elastc\"").unwrap();
        assert!(unknown.names().unwrap_err().message().contains("did you mean `elastic`?"));
    }
}
