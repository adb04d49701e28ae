//! The studies of an evaluation, with the algorithm in its place.

use super::python;
use crate::commands::{reproduce, run::Prepared};
use crate::{catalogue, failure::Failure};
use cwnd_evaluate::{Criteria, Field};
use cwnd_scenario::AlgorithmSpec;
use cwnd_study::{RunScale, Study, memory::MemoryBudget};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The folder of the studies.
const FOLDER: &str = "rfc9743";

/// Reads the algorithm that a user names: a name with parameters, a file of parameters, or a class in a file of Python.
///
/// # Errors
/// There is no such algorithm, or the file is wrong.
pub fn candidate(given: &str) -> Result<String, Failure> {
    let text = match python::class(given)? {
        Some(class) => class.spec(),
        None if given.ends_with(".toml") => of_file(Path::new(given))?,
        None => given.to_owned(),
    };
    let spec: AlgorithmSpec =
        text.parse().map_err(|error| Failure::bad_input(format!("`{text}`: {error}")))?;
    catalogue::algorithm(&spec).map_err(Failure::bad_input)?;
    Ok(spec.to_string())
}

/// Reads a file of parameters: `name = "elastic"`, and a line for each parameter.
fn of_file(path: &Path) -> Result<String, Failure> {
    let wrong = |why: String| Failure::bad_input(format!("`{}`: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    let Some(name) = table.get("name").and_then(toml::Value::as_str) else {
        return Err(wrong(
            "it needs a line `name = \"elastic\"`, and may have one for each parameter".into(),
        ));
    };
    let mut parameters = Vec::new();
    for (key, value) in table.iter().filter(|(key, _)| *key != "name") {
        let value = match value {
            toml::Value::String(word) => word.clone(),
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Float(number) => number.to_string(),
            toml::Value::Boolean(switch) => switch.to_string(),
            _ => return Err(wrong(format!("`{key}` takes a number, a switch or a word"))),
        };
        parameters.push(format!("{key}={value}"));
    }
    Ok(if parameters.is_empty() { name.to_owned() } else { format!("{name}:{}", parameters.join(",")) })
}

/// Where the studies and the list of criteria come from.
pub struct Library<'a> {
    /// A folder; none for those of the program.
    folder: Option<&'a Path>,
}

/// What is to be run.
pub struct Job<'a> {
    /// The algorithms.
    pub field: &'a Field,
    /// How much of the studies.
    pub scale: RunScale,
    /// Where the results go, each study's in a directory of its own.
    pub directory: &'a Path,
    /// The command that makes the same results.
    pub command: &'a str,
    /// The memory that runs may use.
    pub memory: MemoryBudget,
    /// How many times as many repeats as the studies say.
    pub times: u32,
    /// Which engines run a study.
    pub engines: super::EnginesOf<'a>,
}

impl<'a> Library<'a> {
    /// Creates a library of a folder, or of the program's studies.
    pub fn new(folder: Option<&'a Path>) -> Library<'a> {
        Library { folder }
    }

    /// Reads the list of criteria, or those of a section.
    ///
    /// # Errors
    /// The list is wrong, or there is no such section.
    pub fn criteria(&self, section: Option<&str>) -> Result<Criteria, Failure> {
        let (file, text) = self.text("criteria")?;
        let criteria =
            Criteria::parse(&text).map_err(|why| Failure::bad_input(format!("{}: {why}", file.display())))?;
        match section {
            None => Ok(criteria),
            Some(section) => {
                criteria.section(section).map_err(|why| Failure::bad_input(format!("--section: {why}")))
            }
        }
    }

    /// Prepares the studies that the criteria name.
    ///
    /// # Errors
    /// A study is wrong, or its directory is not for it.
    pub fn studies(&self, criteria: &Criteria, job: &Job<'_>) -> Result<Vec<Prepared>, Failure> {
        let prepared = |name: &str| {
            let mut study = self.study(name, job.field)?.at_scale(job.scale);
            study.repeats *= job.times;
            let engines = (job.engines)(&study);
            Prepared::new(study, engines, Some(job.directory.join(name)), job.command.to_owned(), job.memory)
        };
        criteria.studies().into_iter().map(prepared).collect()
    }

    /// Reads a study with the algorithms in their place.
    ///
    /// # Errors
    /// It is wrong.
    pub fn study(&self, name: &str, field: &Field) -> Result<Study, Failure> {
        let (file, text) = self.text(name)?;
        let file = file.display().to_string();
        let text = field.put_into(&text).map_err(|why| Failure::bad_input(format!("{file}: {why}")))?;
        Study::parse(&format!("{FOLDER}/{name}"), &file, &text, &catalogue::check)
            .map_err(|error| Failure::bad_input(error.to_string()))
    }

    /// Returns the path of a file, and its text.
    fn text(&self, name: &str) -> Result<(PathBuf, String), Failure> {
        let file = format!("{name}.toml");
        match self.folder {
            None => {
                let path = Path::new("studies").join(FOLDER).join(file);
                let text = reproduce::text(&format!("{FOLDER}/{name}"));
                let lacks = || Failure::broken(format!("the program lacks {}", path.display()));
                Ok((path.clone(), text.ok_or_else(lacks)?.to_owned()))
            }
            Some(folder) => {
                let path = folder.join(file);
                let cannot = |error: std::io::Error| {
                    Failure::bad_input(format!("--studies: `{}`: {error}", path.display()))
                };
                let text = fs::read_to_string(&path).map_err(cannot)?;
                Ok((path, text))
            }
        }
    }
}

/// The name of a study within the folder.
pub fn short(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, short)| short)
}

/// The directory of the results, if the user names none.
pub fn directory(candidate: &str, scale: RunScale) -> PathBuf {
    let name = plain(candidate);
    let name = if scale == RunScale::Paper { name } else { format!("{name}-{scale}") };
    Path::new("results").join(FOLDER).join(name)
}

/// Returns a name of algorithms as one of files.
pub fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '=' | ',');
    name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_criterion_has_its_study_and_its_cells() {
        let library = Library::new(None);
        let Ok(criteria) = library.criteria(None) else { panic!("the list is wrong") };
        assert_eq!(criteria.rows.len(), 26);
        let field = Field::new("elastic", &["cubic".to_owned(), "bbr3".to_owned()]);
        for criterion in criteria.rows.iter().flat_map(|row| &row.criteria) {
            let study =
                library.study(&criterion.study, &field).unwrap_or_else(|error| panic!("{}", error.message()));
            let select = criterion.select();
            for (axis, labels) in &select.0 {
                let Some(axis) = study.axis(axis) else { panic!("{}: no axis `{axis}`", criterion.id) };
                let known =
                    |label: &String| study.axes[axis].points.iter().any(|point| point.label == *label);
                assert!(labels.iter().all(known), "{}: {labels:?}", criterion.id);
            }
            // At the quick scale as well.
            assert!(study.at_scale(RunScale::Quick).select(&select).count() > 0, "{}", criterion.id);
            assert!(study.metrics_asked().contains(&criterion.metric.as_str()), "{}", criterion.id);
        }
    }

    #[test]
    fn a_file_of_parameters_is_an_algorithm() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mine.toml");
        let read = |text: &str| {
            fs::write(&path, text).expect("written");
            candidate(path.to_str().expect("UTF-8")).map_err(|error| error.message().to_owned())
        };
        assert_eq!(read("name = \"cubic\"\nbeta = 0.8\n").unwrap(), "cubic:beta=0.8");
        assert_eq!(read("name = \"reno\"\n").unwrap(), "newreno");
        assert!(read("beta = 0.8\n").unwrap_err().contains("needs a line `name"));
        assert!(read("name = \"cubic\"\nbeta = [1]\n").unwrap_err().contains("takes a number"));
        assert!(read("name = \"cubik\"\n").unwrap_err().contains("did you mean `cubic`?"));
    }
}
