//! A class in a Python file as the algorithm: `./my_algorithm.py:MyClass`.
//!
//! This program has no Python. The package `cwnd` for Python has this command line and runs classes, so the same arguments go to it.

use crate::failure::Failure;
use std::{
    ffi::OsString,
    process::{Command, Stdio},
};

/// A class in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The file.
    pub file: String,
    /// The name of the class.
    pub name: String,
    /// Parameters, as after the name of any algorithm: `beta=0.7`.
    pub parameters: Option<String>,
}

/// Reads `FILE.py:CLASS` or `FILE.py:CLASS:beta=0.7`; none if a text is not of this form.
///
/// # Errors
/// The text names a file of Python and no class.
pub fn class(text: &str) -> Result<Option<Class>, Failure> {
    const END: &str = ".py";
    if text.ends_with(END) {
        return Err(Failure::bad_input(format!(
            "`{text}`: name the class as well, as in `{text}:MyAlgorithm`"
        )));
    }
    let Some((before, after)) = text.split_once(&format!("{END}:")) else { return Ok(None) };
    let (name, parameters) = match after.split_once(':') {
        Some((name, parameters)) => (name, Some(parameters.to_owned())),
        None => (after, None),
    };
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    if !is_name(name) {
        return Err(Failure::bad_input(format!("`{text}`: `{name}` is no name of a class in Python")));
    }
    Ok(Some(Class { file: format!("{before}{END}"), name: name.to_owned(), parameters }))
}

impl Class {
    /// Returns the name by which studies have the class, with its parameters.
    pub fn spec(&self) -> String {
        let parameters = self.parameters.as_ref().map(|text| format!(":{text}")).unwrap_or_default();
        format!("{}@python{parameters}", self.name)
    }
}

/// Runs the command line of the Python package with the same arguments, of which the first is the program's name, in place of this
/// process. Where a process cannot be replaced, returns its exit code.
///
/// # Errors
/// There is no Python, or it has no package `cwnd` that runs classes.
pub fn hand_over(class: &Class, arguments: &[OsString]) -> Result<u8, Failure> {
    const PYTHON: &str = "python3";
    let needs = |why: &str| {
        Failure::bad_input(format!(
            "`{}` is a class in Python, and {why}\nInstall the package for Python with `pip install .` in the folder of cwnd's \
             source, and activate the environment that has it (docs/how-to/python.md)",
            class.file
        ))
    };
    let mut check = Command::new(PYTHON);
    check.args(["-c", "from cwnd._command_line import class_of_file"]).stdin(Stdio::null());
    let checked = check.output().map_err(|error| needs(&format!("`{PYTHON}` cannot be started: {error}")))?;
    if !checked.status.success() {
        let told = String::from_utf8_lossy(&checked.stderr);
        let last = told.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
        return Err(needs(&format!("`{PYTHON}` has no package `cwnd` that runs one: {last}")));
    }
    let mut command = Command::new(PYTHON);
    command.args(["-m", "cwnd"]).args(arguments.iter().skip(1));
    replace(command).map_err(|error| needs(&format!("`{PYTHON}` cannot be started: {error}")))
}

#[cfg(unix)]
fn replace(mut command: Command) -> std::io::Result<u8> {
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

#[cfg(not(unix))]
fn replace(mut command: Command) -> std::io::Result<u8> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_named_by_their_files() {
        let read = |text: &str| class(text).map_err(|failure| failure.message().to_owned());
        let of = |file: &str, name: &str, parameters: Option<&str>| {
            Ok(Some(Class {
                file: file.to_owned(),
                name: name.to_owned(),
                parameters: parameters.map(str::to_owned),
            }))
        };
        assert_eq!(read("./mine.py:Aimd"), of("./mine.py", "Aimd", None));
        assert_eq!(read("a b/mine.py:Aimd:beta=0.7,k=2"), of("a b/mine.py", "Aimd", Some("beta=0.7,k=2")));
        assert_eq!(read("C:\\mine.py:_A2"), of("C:\\mine.py", "_A2", None));
        for other in ["elastic", "agile-sd:lambda_max=4", "./mine.toml", "Aimd@python"] {
            assert_eq!(read(other), Ok(None));
        }
        assert!(read("./mine.py").unwrap_err().contains("./mine.py:MyAlgorithm"));
        assert!(read("./mine.py:2nd").unwrap_err().contains("`2nd` is no name"));
        let spec = |text: &str| class(text).ok().flatten().map(|class| class.spec());
        assert_eq!(spec("x.py:Aimd:beta=0.7").as_deref(), Some("Aimd@python:beta=0.7"));
    }
}
