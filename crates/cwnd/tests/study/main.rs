//! Studies from outside: that a study which is killed, stopped or run twice at once gives what an undisturbed one gives,
//! and that problems with its directory are reported and lose no data.

mod bad_input;
mod diff;
mod disk;
mod engines;
mod interruption;
#[cfg(feature = "kernel")]
mod kernel;
mod records;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

/// A study that takes about a second: 48 runs, some of them with a trace.
const STUDY: &str = r#"
title = "A study"
question = "How does throughput depend on the buffer?"
[scenario]
rate = "20 Mbit/s"
delay = "5 ms"
per = 1e-4
flows = 2
duration = "20 s"
[run]
repeats = 4
metrics = ["throughput_bps", "jain_index"]
[trace]
sample = "100 ms"
where = { buffer = 25 }
[[axes]]
name = "variant"
key = "algorithm"
values = ["agile-sd", "cubic-2008", "newreno"]
[[axes]]
name = "buffer"
key = "buffer"
values = [5, 25, 100, 400]
"#;
const RUNS: usize = 48;

/// A directory with a study file in it.
struct Workplace {
    directory: TempDir,
}

impl Workplace {
    fn new() -> Workplace {
        Workplace::with(STUDY)
    }

    fn with(text: &str) -> Workplace {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("quick.toml"), text).expect("a study file");
        Workplace { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cwnd"));
        command.args(arguments).current_dir(self.directory.path());
        command
    }

    fn cwnd(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("cwnd starts")
    }

    /// What it prints, if it succeeds.
    #[track_caller]
    fn printed(&self, arguments: &[&str]) -> String {
        let output = self.cwnd(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// What it says on standard error when it fails with this exit code.
    #[track_caller]
    fn refused(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.cwnd(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
        text(&output.stderr)
    }

    #[track_caller]
    fn canonical(&self, directory: &str) -> String {
        self.printed(&["export", directory, "--canonical"])
    }
}

/// What an undisturbed run of the study gives.
fn undisturbed() -> String {
    let place = Workplace::new();
    place.printed(&["run", "quick.toml", "--quiet"]);
    let canonical = place.canonical("results/quick");
    assert_eq!(canonical.lines().filter(|line| line.contains(",done,")).count(), RUNS);
    canonical
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("cwnd prints UTF-8")
}

fn files(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .map(|entries| entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect())
        .unwrap_or_default();
    names.sort();
    names
}

#[test]
fn a_study_is_run_once() {
    let place = Workplace::new();
    let first = place.cwnd(&["run", "quick.toml"]);
    assert!(first.status.success());
    let said = text(&first.stderr);
    assert!(said.starts_with("quick: 48 runs to do on "), "{said}");
    let printed = text(&first.stdout);
    assert!(
        printed.contains("48 runs done in ") && printed.contains("results in results/quick"),
        "{printed}"
    );
    assert_eq!(fs::read_to_string(place.path("results/quick/study.toml")).unwrap(), STUDY);
    assert_eq!(files(&place.path("results/quick/traces")).len(), 3);

    let again = place.cwnd(&["run", "quick.toml"]);
    assert_eq!(text(&again.stderr), "");
    assert!(text(&again.stdout).contains("all 48 runs were stored already"), "{}", text(&again.stdout));

    let more = place.printed(&["run", "quick.toml", "--repeats", "5", "--quiet"]);
    assert!(more.contains("12 runs done in ") && more.contains(", 48 were stored already"), "{more}");
}

#[test]
fn threads_do_not_matter() {
    let place = Workplace::new();
    place.printed(&["run", "quick.toml", "--quiet", "--threads", "1", "--out", "one"]);
    place.printed(&["run", "quick.toml", "--quiet", "--jobs", "2", "--out", "two"]);
    assert_eq!(place.canonical("one"), place.canonical("two"));
    assert_eq!(files(&place.path("one/traces")), files(&place.path("two/traces")));
}

#[test]
fn exports_are_files() {
    let place = Workplace::new();
    place.printed(&["run", "quick.toml", "--quiet", "--repeats", "1"]);
    for name in ["table.csv", "table.parquet", "table.json"] {
        place.printed(&["export", "results/quick", "--out", name]);
    }
    let csv = fs::read_to_string(place.path("table.csv")).unwrap();
    assert_eq!(csv, place.printed(&["export", "results/quick"]));
    assert_eq!(csv.lines().count(), 13);
    assert!(
        csv.starts_with("variant,buffer,buffer_value,repeat,seed,state,reason,throughput_bps,jain_index,")
    );
    let json = fs::read_to_string(place.path("table.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["runs"].as_array().unwrap().len(), 12);
    assert!(fs::read(place.path("table.parquet")).unwrap().starts_with(b"PAR1"));
}
