//! `cargo xtask mutants`: does a test notice when the algorithms, the endpoint, the metrics or the claims are changed?
//!
//! `cargo mutants` changes one thing in the source (a mutant), runs the tests, and changes it back. A mutant
//! that no test notices has survived. All of them would take hours, so a sample is drawn: each mutant has a
//! number by its name and the seed, and those with the least numbers are tried. A name tells file, function
//! and change, but no line, so that most of a sample stays the same when the source is edited.

mod names;

use crate::command::{self, cargo, output, shown, succeeds};
use crate::json;
use crate::options::Options;
use names::Mutant;
use std::path::{Path, PathBuf};

/// Its options, for the list.
pub const OPTIONS: &str = "[--package cwnd-cc] [--seed 1] [--sample 500] [--jobs 1] [--again]";

const PACKAGE: &str = "--package";
const SEED: &str = "--seed";
const SAMPLE: &str = "--sample";
const JOBS: &str = "--jobs";
const AGAIN: &str = "--again";

/// How many of 100 viable mutants may survive.
const BAR_PERCENT: f64 = 10.0;

/// The version that the documents speak of; another may know other mutants.
const INSTALL: [&str; 5] = ["install", "cargo-mutants", "--locked", "--version", "27.1.0"];

/// What is changed, and which tests must notice.
struct Scope {
    package: &'static str,
    /// The files that are changed; all of the package if there is none.
    files: Option<&'static str>,
    /// What is tried of the tests, one after the other: whatever a step notices is not tried by the next one.
    ///
    /// The unit tests notice most mutants and run in no time, so that it is the build that must be short. What follows takes
    /// long without optimisation.
    steps: &'static [Step],
}

const SCOPES: [Scope; 4] = [
    Scope {
        package: "cwnd-cc",
        files: None,
        steps: &[
            Step { targets: &["--lib"], only: None, opt_level: "0" },
            Step { targets: &["--test", "properties"], only: None, opt_level: "1" },
        ],
    },
    Scope {
        package: "cwnd-tcp",
        files: None,
        steps: &[
            Step { targets: &["--lib", "--test", "endpoint"], only: None, opt_level: "0" },
            Step { targets: &["--test", "independent"], only: None, opt_level: "1" },
        ],
    },
    Scope {
        package: "cwnd-metrics",
        files: None,
        steps: &[Step { targets: &["--lib"], only: None, opt_level: "0" }],
    },
    // Of the crate of studies: whether what is claimed was measured. Other tests of that crate take a minute without optimisation,
    // and need traces that are generated, which the copy of the source lacks.
    Scope {
        package: "cwnd-study",
        files: Some("crates/cwnd-study/src/claims/*.rs"),
        steps: &[Step { targets: &["--lib"], only: Some("claims::"), opt_level: "0" }],
    },
];

struct Step {
    /// What is built and run; all others, such as the crate's examples, are left alone.
    targets: &'static [&'static str],
    /// What the names of the tests contain that are run; all are run if there is none.
    only: Option<&'static str>,
    opt_level: &'static str,
}

/// Try a sample of the mutants of a package, or with `--again` the survivors of the last run. Whether few
/// enough of a sample survive, or none of the survivors.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[PACKAGE, SEED, SAMPLE, JOBS], &[AGAIN])?;
    let package = options.text(PACKAGE).unwrap_or(SCOPES[0].package);
    let scope = SCOPES.iter().find(|scope| scope.package == package);
    let scope = scope.ok_or_else(|| {
        let known = SCOPES.map(|scope| scope.package).join(", ");
        format!("{PACKAGE} \"{package}\": say one of {known}")
    })?;
    let seed = options.number(SEED, 1)?;
    let jobs = options.number(JOBS, 1)?;
    let size = options.number(SAMPLE, 500)?;
    let version = installed()?;
    let places = Places::new(scope)?;

    let mut list = cargo();
    list.args(["mutants", "--list", "--json"]).args(scope.arguments());
    let all = names::number(&output(&mut list)?)?;
    let total = all.len();
    let (sample, drawn, bar) = if options.has(AGAIN) {
        (places.survivors(all)?, "the last run's survivors".to_owned(), 0.0)
    } else {
        (names::sample(all, seed as u64, size), format!("seed {seed}"), BAR_PERCENT)
    };
    let head = format!("{} of {total} mutants of {package}, {drawn}, {version}", sample.len());
    println!("{head}");
    let mut verdicts = Verdicts { survived: sample, ..Verdicts::default() };
    for step in scope.steps {
        verdicts = step.run(scope, &places, jobs, verdicts)?;
    }
    let report = format!("{head}\n{}", verdicts.report(bar));
    println!("\n{report}\nwritten to {}", places.report.display());
    places.write(&places.report, &report)?;
    Ok(verdicts.percent() <= bar)
}

impl Scope {
    /// What tells `cargo mutants` of it.
    fn arguments(&self) -> Vec<&'static str> {
        let files = self.files.into_iter().flat_map(|files| ["--file", files]);
        ["--package", self.package].into_iter().chain(files).collect()
    }
}

/// What `cargo mutants` calls itself. It is installed if it is missing.
fn installed() -> Result<String, String> {
    if !succeeds(cargo().args(["mutants", "--version"])) {
        let mut install = cargo();
        install.args(INSTALL);
        println!("{}", shown(&install));
        if !command::run(&mut install)? {
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
    fn new(scope: &Scope) -> Result<Self, String> {
        let metadata = json::metadata()?;
        let target =
            metadata["target_directory"].as_str().ok_or("cargo metadata names no target directory")?;
        let mut folder = Path::new(target).join("mutants");
        if scope.package != SCOPES[0].package {
            folder.push(scope.package);
        }
        Ok(Places { config: folder.join("sample.toml"), report: folder.join("report.txt"), folder })
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        std::fs::write(path, text).map_err(failed)
    }

    /// Those of `all` that the last run's report names as survivors.
    fn survivors(&self, all: Vec<Mutant>) -> Result<Vec<Mutant>, String> {
        let report = std::fs::read_to_string(&self.report)
            .map_err(|error| format!("{}: {error}; run it without {AGAIN} first", self.report.display()))?;
        let list = report.lines().skip_while(|line| *line != "survived:").take_while(|line| !line.is_empty());
        let named: Vec<&str> = list.map(str::trim).collect();
        let again: Vec<Mutant> =
            all.into_iter().filter(|mutant| named.contains(&mutant.name.as_str())).collect();
        if again.is_empty() { Err("nothing survived the last run".to_owned()) } else { Ok(again) }
    }
}

/// Mutants by what came of them.
#[derive(Default)]
struct Verdicts {
    caught: Vec<Mutant>,
    /// No test failed.
    survived: Vec<Mutant>,
    /// The tests did not end: noticed as well.
    hung: Vec<Mutant>,
    /// It does not compile, and so is no mutant at all.
    unviable: Vec<Mutant>,
}

impl Step {
    /// Try those that have survived so far.
    fn run(&self, scope: &Scope, places: &Places, jobs: usize, before: Verdicts) -> Result<Verdicts, String> {
        if before.survived.is_empty() {
            return Ok(before);
        }
        places.write(&places.config, &names::config(&before.survived))?;
        let mut mutants = cargo();
        mutants.arg("mutants").args(scope.arguments()).args(["--no-shuffle", "--colors=never", "--config"]);
        mutants.arg(&places.config).arg("--output").arg(&places.folder).args(["--jobs", &jobs.to_string()]);
        // The unit tests take a fraction of a second, and the properties' limit is five times what they take.
        mutants.args(["--minimum-test-timeout", "8"]);
        mutants.args(self.targets.iter().map(|word| format!("--cargo-arg={word}")));
        mutants.args(self.only.map(|only| format!("--cargo-test-arg={only}")));
        mutants.env("CARGO_PROFILE_DEV_OPT_LEVEL", self.opt_level).env("CARGO_PROFILE_DEV_DEBUG", "0");
        // Each job has a target directory of its own.
        mutants.env_remove("CARGO_TARGET_DIR");
        println!("\n{}", shown(&mutants));
        command::run(&mut mutants)?;

        let Verdicts { mut caught, survived: tried, mut hung, mut unviable } = before;
        let of = |verdict| places.of(verdict, &tried);
        let survived = of("missed")?;
        let noticed = [of("caught")?, of("timeout")?, of("unviable")?];
        let done = survived.len() + noticed.iter().map(Vec::len).sum::<usize>();
        if done < tried.len() {
            return Err(format!("only {done} of {} mutants were tried", tried.len()));
        }
        let [more_caught, more_hung, more_unviable] = noticed;
        caught.extend(more_caught);
        hung.extend(more_hung);
        unviable.extend(more_unviable);
        Ok(Verdicts { caught, survived, hung, unviable })
    }
}

impl Places {
    /// Those of a sample that `cargo mutants` has written down under one of its verdicts. Version 27.1 tries
    /// deleted fields whether they are asked for or not; those outside the sample do not count.
    fn of(&self, verdict: &str, sample: &[Mutant]) -> Result<Vec<Mutant>, String> {
        let path = self.folder.join("mutants.out").join(format!("{verdict}.txt"));
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let is_named = |mutant: &&Mutant| text.lines().any(|line| line == mutant.shown);
        Ok(sample.iter().filter(is_named).cloned().collect())
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

    fn report(&self, bar: f64) -> String {
        let Verdicts { caught, survived, hung, unviable } = self;
        let mut text = format!(
            "{} caught, {} hung (noticed as well), {} survived, {} do not compile\n",
            caught.len(),
            hung.len(),
            survived.len(),
            unviable.len()
        );
        let (viable, percent) = (self.viable(), self.percent());
        text += &format!("{percent:.1} % of {viable} survived; the bar is {bar} %\n");
        for (title, mutants) in [("survived", survived), ("hung", hung)] {
            if !mutants.is_empty() {
                let lines: String = mutants.iter().map(|mutant| format!("  {}\n", mutant.name)).collect();
                text += &format!("\n{title}:\n{lines}");
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
        let mutant = |i| Mutant { shown: format!("a.rs:{i}:1: mutant {i}"), name: format!("mutant {i}") };
        let names = |n: usize| (0..n).map(mutant).collect::<Vec<_>>();
        // 3 of 25 + 3 + 2 = 30 viable ones are 10 %.
        let verdicts = Verdicts { caught: names(25), survived: names(3), hung: names(2), unviable: names(7) };
        assert_eq!((verdicts.viable(), verdicts.percent()), (30, 10.0));
        assert!(
            verdicts.report(10.0).starts_with("25 caught, 2 hung (noticed as well), 3 survived, 7 do not")
        );
        assert!(verdicts.report(10.0).contains("\nsurvived:\n  mutant 0\n  mutant 1\n  mutant 2\n\nhung:"));
    }
}
