//! The Python package: built for this machine, its types checked, and its tests run.
//!
//! Everything goes into a virtual environment in `target/tools/python`. The extension is built with the profile of the other
//! tests, in the same target directory.

use crate::command::{self, output, root, run_showing, shown, succeeds};
use crate::options::Options;
use std::path::PathBuf;
use std::process::Command;

/// Options of the chore.
pub const OPTIONS: &str = "";

/// What is installed from PyPI.
const REQUIREMENTS: &str = "python/requirements-test.txt";
/// What must be there for Python to make a virtual environment; Debian has it apart.
const VENV: &str = "import ensurepip, venv";

/// Builds, checks and tests the package. The last line counts tests as cargo does.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    Options::new(arguments, &[], &[])?;
    let programs = environment()?;
    let mut build = tool(&programs, "maturin");
    build.args(["develop", "--quiet", "--features", "as-in-tests"]);
    show(&mut build)?;
    let mut all = true;
    for name in ["mypy", "pyright"] {
        all &= show(&mut tool(&programs, name)).is_ok();
    }
    let mut counts = None;
    let mut tests = tool(&programs, "pytest");
    tests.args(["-q", "-rs", "--color=no"]);
    println!("{}", shown(&tests));
    all &= run_showing(&mut tests, |line| counts = counted(line).or(counts))?;
    let [passed, failed, skipped] = counts.ok_or("pytest did not say how many tests it ran")?;
    let word = if all { "ok" } else { "FAILED" };
    println!("test result: {word}. {passed} passed; {failed} failed; {skipped} ignored");
    Ok(all)
}

/// Returns why the package cannot be tested: what is missing, and what would change that.
pub fn obstacle() -> Option<String> {
    if !succeeds(Command::new("python3").args(["-c", "import sys; assert sys.version_info >= (3, 10)"])) {
        return Some("there is no Python 3.10 or later (python3)".to_owned());
    }
    if !succeeds(Command::new("python3").args(["-c", VENV])) {
        return crate::command::install("python3-venv").err();
    }
    None
}

/// Makes the virtual environment if its requirements have changed, and returns the folder of its programs.
fn environment() -> Result<PathBuf, String> {
    let place = root().join("target/tools/python");
    let programs = place.join("bin");
    let done = place.join("requirements.txt");
    let wanted = std::fs::read_to_string(root().join(REQUIREMENTS))
        .map_err(|error| format!("{REQUIREMENTS}: {error}"))?;
    if std::fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(programs);
    }
    println!("python3 -m venv target/tools/python; pip install -r {REQUIREMENTS}");
    output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place))?;
    let mut install = Command::new(programs.join("python"));
    // Python compiles what is imported; pip would compile all of it.
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]);
    install.args(["-r", REQUIREMENTS]);
    output(install.current_dir(root()))?;
    std::fs::write(&done, wanted).map_err(|error| format!("{}: {error}", done.display()))?;
    Ok(programs)
}

/// Returns a program of the environment, with the environment active.
fn tool(programs: &std::path::Path, name: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(programs.join(name));
    command.current_dir(root()).env("PATH", format!("{}:{path}", programs.display()));
    command.env("VIRTUAL_ENV", programs.parent().unwrap_or(programs)).env_remove("PYTHONPATH");
    command::forget_package(&mut command);
    command
}

/// Runs a command and shows what it says.
///
/// # Errors
/// If it fails.
fn show(command: &mut Command) -> Result<(), String> {
    println!("{}", shown(command));
    match command::run(command) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let message = format!("{} failed", shown(command));
            println!("{message}");
            Err(message)
        }
        Err(why) => Err(why),
    }
}

/// Reads the numbers of tests that passed, failed and were skipped from the last line of pytest.
fn counted(line: &str) -> Option<[u64; 3]> {
    let (counts, _) = line.rsplit_once(" in ")?;
    let mut all = [0; 3];
    let mut found = false;
    for part in counts.trim_matches('=').split(',') {
        let (number, what) = part.trim().split_once(' ')?;
        let place = match what {
            "passed" => 0,
            "failed" | "error" | "errors" => 1,
            "skipped" => 2,
            "warning" | "warnings" | "deselected" | "xfailed" => continue,
            _ => return None,
        };
        all[place] += number.parse::<u64>().ok()?;
        found = true;
    }
    found.then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_pytest_counts() {
        assert_eq!(counted("27 passed in 7.68s"), Some([27, 0, 0]));
        assert_eq!(counted("2 failed, 25 passed, 1 skipped, 3 warnings in 7.68s"), Some([25, 2, 1]));
        assert_eq!(counted("1 error in 0.31s"), Some([0, 1, 0]));
        assert_eq!(counted("SKIPPED [1] python/tests/test_gym.py:5: could not import 'gymnasium'"), None);
        assert_eq!(counted("all in 3 parts"), None);
    }
}
