//! `cargo xtask mutants`: does a test notice when the algorithms are changed?
//!
//! `cargo mutants` changes one thing in the source (a mutant), runs the tests, and changes it back. A mutant
//! that no test notices has survived. All of them would take hours, so a sample is drawn: each mutant has a
//! number by its name and the seed, and those with the least numbers are tried. A name tells file, function
//! and change, but no line, so that most of a sample stays the same when the source is edited.

mod names;

use crate::command::{cargo, output, run_showing, shown, succeeds};
use crate::json;
use crate::options::Options;
use names::Mutant;
use std::path::{Path, PathBuf};

/// Its options, for the list.
pub const OPTIONS: &str = "[--seed 1] [--sample 500] [--jobs 1] [--again]";

const SEED: &str = "--seed";
const SAMPLE: &str = "--sample";
const JOBS: &str = "--jobs";
const AGAIN: &str = "--again";

/// How many of 100 viable mutants may survive.
const BAR_PERCENT: f64 = 10.0;

/// The version that the documents speak of; another may know other mutants.
const INSTALL: [&str; 5] = ["install", "cargo-mutants", "--locked", "--version", "27.1.0"];

/// Only these are built and run for each mutant; the crate's examples would double the time.
const TARGETS: [&str; 3] = ["--lib", "--test", "properties"];

/// Try a sample of the mutants of `cwnd-cc`, or with `--again` the survivors of the last run. Whether few
/// enough survive.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[SEED, SAMPLE, JOBS], &[AGAIN])?;
    let seed = options.number(SEED, 1)?;
    let jobs = options.number(JOBS, 1)?;
    let size = options.number(SAMPLE, 500)?;
    let version = installed()?;
    let places = Places::new()?;

    let all = names::number(&output(cargo().args(["mutants", "--list", "--json", "--package", "cwnd-cc"]))?)?;
    let total = all.len();
    let (sample, drawn) = if options.has(AGAIN) {
        (places.survivors(all)?, "the last run's survivors".to_owned())
    } else {
        (names::sample(all, seed as u64, size), format!("seed {seed}"))
    };
    println!("{} of {total} mutants of cwnd-cc ({drawn}, {version})", sample.len());
    places.write(&places.config, &names::config(&sample))?;
    let verdicts = try_mutants(&places, jobs, &sample)?;
    let report = format!("{} of {total} mutants, {drawn}, {version}\n{}", sample.len(), verdicts.report());
    println!("\n{report}written to {}", places.report.display());
    places.write(&places.report, &report)?;
    Ok(verdicts.percent() <= BAR_PERCENT)
}

/// What `cargo mutants` calls itself. It is installed if it is missing.
fn installed() -> Result<String, String> {
    if !succeeds(cargo().args(["mutants", "--version"])) {
        let mut install = cargo();
        install.args(INSTALL);
        println!("{}", shown(&install));
        if !run_showing(&mut install, |_| {})? {
            return Err(format!("cargo-mutants is not installed: cargo {}", INSTALL.join(" ")));
        }
    }
    output(cargo().args(["mutants", "--version"])).map(|version| version.trim().to_owned())
}

/// Where everything is, under `target/mutants`.
struct Places {
    folder: PathBuf,
    /// Which mutants to try.
    config: PathBuf,
    /// What came of them.
    report: PathBuf,
}

impl Places {
    fn new() -> Result<Self, String> {
        let metadata = json::metadata()?;
        let target =
            metadata["target_directory"].as_str().ok_or("cargo metadata names no target directory")?;
        let folder = Path::new(target).join("mutants");
        Ok(Places { config: folder.join("sample.toml"), report: folder.join("report.txt"), folder })
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        std::fs::write(path, text).map_err(failed)
    }

    /// Those of `all` that the last run's report names.
    fn survivors(&self, all: Vec<Mutant>) -> Result<Vec<Mutant>, String> {
        let report = std::fs::read_to_string(&self.report)
            .map_err(|error| format!("{}: {error}; run it without {AGAIN} first", self.report.display()))?;
        let named: Vec<&str> = report.lines().map(str::trim).collect();
        let again: Vec<Mutant> =
            all.into_iter().filter(|mutant| named.contains(&mutant.name.as_str())).collect();
        if again.is_empty() { Err("nothing survived the last run".to_owned()) } else { Ok(again) }
    }
}

/// Names by what came of them.
struct Verdicts {
    caught: Vec<String>,
    /// No test failed.
    survived: Vec<String>,
    /// The tests did not end: noticed as well.
    hung: Vec<String>,
    /// It does not compile, and so is no mutant at all.
    unviable: Vec<String>,
}

fn try_mutants(places: &Places, jobs: usize, sample: &[Mutant]) -> Result<Verdicts, String> {
    let mut mutants = cargo();
    mutants.args(["mutants", "--package", "cwnd-cc", "--no-shuffle", "--colors=never", "--config"]);
    mutants.arg(&places.config).arg("--output").arg(&places.folder).args(["--jobs", &jobs.to_string()]);
    mutants.args(TARGETS.map(|word| format!("--cargo-arg={word}")));
    // Debug information is nearly half of the time of a build. Each job has a target directory of its own.
    mutants.env("CARGO_PROFILE_DEV_DEBUG", "0").env_remove("CARGO_TARGET_DIR");
    println!("{}\n", shown(&mutants));
    run_showing(&mut mutants, |_| {})?;

    let verdicts = Verdicts {
        caught: places.names("caught", sample)?,
        survived: places.names("missed", sample)?,
        hung: places.names("timeout", sample)?,
        unviable: places.names("unviable", sample)?,
    };
    let tried = verdicts.viable() + verdicts.unviable.len();
    if tried < sample.len() {
        return Err(format!("only {tried} of {} mutants were tried", sample.len()));
    }
    Ok(verdicts)
}

impl Places {
    /// What `cargo mutants` has written down under one of its verdicts. Version 27.1 tries deleted fields
    /// whether they are asked for or not; those outside the sample do not count.
    fn names(&self, verdict: &str, sample: &[Mutant]) -> Result<Vec<String>, String> {
        let path = self.folder.join("mutants.out").join(format!("{verdict}.txt"));
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let wanted = sample.iter().filter(|mutant| text.lines().any(|line| line == mutant.shown));
        Ok(wanted.map(|mutant| mutant.name.clone()).collect())
    }
}

impl Verdicts {
    fn viable(&self) -> usize {
        self.caught.len() + self.survived.len() + self.hung.len()
    }

    /// How many of 100 viable mutants survived.
    fn percent(&self) -> f64 {
        100.0 * self.survived.len() as f64 / self.viable().max(1) as f64
    }

    fn report(&self) -> String {
        let Verdicts { caught, survived, hung, unviable } = self;
        let mut text = format!(
            "{} caught, {} hung (noticed as well), {} survived, {} do not compile\n",
            caught.len(),
            hung.len(),
            survived.len(),
            unviable.len()
        );
        let (viable, percent) = (self.viable(), self.percent());
        text += &format!("{percent:.1} % of {viable} survived; the bar is {BAR_PERCENT} %\n");
        for (title, names) in [("survived", survived), ("hung", hung)] {
            if !names.is_empty() {
                text += &format!("\n{title}:\n  {}\n", names.join("\n  "));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_share_of_what_compiles() {
        let names = |n: usize| (0..n).map(|i| format!("mutant {i}")).collect::<Vec<_>>();
        // 3 of 25 + 3 + 2 = 30 viable ones are 10 %.
        let verdicts = Verdicts { caught: names(25), survived: names(3), hung: names(2), unviable: names(7) };
        assert_eq!((verdicts.viable(), verdicts.percent()), (30, 10.0));
        assert!(verdicts.report().starts_with("25 caught, 2 hung (noticed as well), 3 survived, 7 do not"));
        assert!(verdicts.report().contains("\nsurvived:\n  mutant 0\n  mutant 1\n  mutant 2\n\nhung:"));
    }
}
