//! `cwnd evaluate`: what RFC 9743 asks of a new congestion control, in one command.
//!
//! The studies of `studies/rfc9743/` are in the program. The algorithm takes its place in each ([`plan`]), they run as any others,
//! and `cwnd_evaluate` judges what they gave. The worst cells are run again with samples for their figures ([`worst`]).

mod calibrate;
mod plan;
pub mod python;
mod spot;
mod text;
mod worst;

use super::{reproduce, run};
use crate::{engines, failure::Failure, memory::MemoryFlags, output};
use clap::{Args, ValueEnum};
use cwnd_evaluate::{
    Field, Ledger, judge,
    ledger::{Change, Entry, FORMAT, Verdict},
    page,
};
use cwnd_study::{EngineKind, Engines, Results, RunScale, Study, output_file};
pub use plan::candidate;
use plan::{Job, Library};
use run::Prepared;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

const EXAMPLES: &str = "\
Examples:
  The whole list, some minutes:
    cwnd evaluate elastic

  In seconds, with parameters:
    cwnd evaluate agile-sd:lambda_max=4 --quick

  A class in Python, with the package for Python installed:
    cwnd evaluate ./my_algorithm.py:MyAlgorithm --quick

  One section against other references:
    cwnd evaluate elastic --section 5.2.1 --against cubic,bbr3

  Linux's own CUBIC, and a tenth of the cells over this host's kernel as well:
    sudo cwnd evaluate cubic-linux --quick --engine kernel

  In CI: fails if a verdict is worse than in the ledger that the repository keeps:
    cwnd evaluate ./my_algorithm.toml --diff ledger.json --fail-on regression

./my_algorithm.toml is a file of parameters: name = \"elastic\", then a line for each parameter.
docs/how-to/evaluate.md describes the list, the verdicts and the ledger.";

/// What an algorithm is compared with, unless it is said.
const AGAINST: &str = "cubic,reno,bbr3";

/// Evaluate an algorithm by RFC 9743, against CUBIC in its place.
///
/// Runs the studies of all sections, writes a page and a ledger, and prints a line for each section: better, as or worse than the
/// reference, with the effect and the cell in which the algorithm is worst. The same command continues an interrupted one.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// The algorithm, perhaps with parameters (`elastic`, `agile-sd:lambda_max=4`), a TOML file of parameters, or a class in a
    /// Python file (`./my_algorithm.py:MyAlgorithm`).
    #[arg(value_name = "ALGORITHM")]
    pub algorithm: String,

    /// Only this section of the RFC, or those that begin with it: `5.2.1`, `5.1`.
    #[arg(long, value_name = "SECTION")]
    section: Option<String>,

    /// A part of the cells and fewer repeats, for a first look.
    #[arg(long)]
    quick: bool,

    /// What it is compared with, parted by commas: the first is the reference of the verdicts, the others are shown alongside it.
    #[arg(long, value_name = "LIST", value_parser = super::advise::candidates::list, default_value = AGAINST)]
    against: super::advise::candidates::List,

    /// Compare with an older ledger: list the criteria whose verdicts differ, or whose intervals do not overlap.
    #[arg(long, value_name = "LEDGER")]
    diff: Option<PathBuf>,

    /// Measure the false-alarm rate instead: the first of --against with itself, in this many trials of other seeds.
    #[arg(long, value_name = "TRIALS", value_parser = clap::value_parser!(u32).range(1..=100), conflicts_with_all = ["diff", "fail_on", "json", "open"])]
    calibrate: Option<u32>,

    /// Exit with code 1 if a section is worse than the reference, or (with --diff) if a verdict has become worse.
    #[arg(long, value_name = "WHEN", value_enum)]
    fail_on: Option<FailOn>,

    /// `kernel`: run a tenth of the cells over this host's kernel as well, and show its values next to the simulator's. In real
    /// time; needs root. A candidate `NAME@host` is only run there.
    #[arg(long, value_name = "ENGINE", default_value = "sim", conflicts_with = "calibrate")]
    engine: EngineKind,

    /// Folder of the studies and `criteria.toml`, to change them [default: those of the program, `studies/rfc9743`].
    #[arg(long, value_name = "DIR")]
    studies: Option<PathBuf>,

    /// Directory of the results [default: results/rfc9743/ALGORITHM].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// How many runs at once [default: one a core].
    #[arg(long, value_name = "N", value_parser = crate::numbers::threads, allow_hyphen_values = true)]
    threads: Option<u16>,

    #[command(flatten)]
    memory: MemoryFlags,

    /// Print the ledger instead of a table.
    #[arg(long)]
    json: bool,

    /// Open the page with the system's program for it.
    #[arg(long)]
    open: bool,

    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
}

/// When the command fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// A section is worse than the reference.
    Worse,
    /// A verdict is worse than in the ledger of `--diff`.
    Regression,
}

/// Which engines run a study.
pub type EnginesOf<'a> = &'a dyn Fn(&Study) -> Engines;

/// What an evaluation gave.
struct Evaluation {
    ledger: Ledger,
    /// The ledger as it is written.
    json: String,
    page: PathBuf,
    file: PathBuf,
    /// How many runs failed.
    failures: usize,
}

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    run_with(flags, &engines::of_study)
}

/// Does what the flags ask, with engines from elsewhere.
///
/// # Errors
/// The flags are wrong, a run failed, or the verdicts are such that the user wants a failure.
pub fn run_with(flags: &Flags, engines_of: EnginesOf<'_>) -> Result<(), Failure> {
    let old = flags.diff.as_deref().map(|path| read(path, flags)).transpose()?;
    if flags.fail_on == Some(FailOn::Regression) && old.is_none() {
        return Err(Failure::bad_input("--fail-on regression: since which ledger? Name it with --diff"));
    }
    if let Some(trials) = flags.calibrate {
        return calibrate::run(flags, &Library::new(flags.studies.as_deref()), trials);
    }
    let Evaluation { ledger, json, page, file, failures } = evaluate(flags, engines_of)?;
    let changes = old.map(|old| ledger.changes_since(&old));
    if flags.json {
        output::print(&json)?;
    } else {
        output::print(&text::of(&ledger, changes.as_deref(), &page, &file))?;
    }
    if flags.open {
        super::report::open(&page)?;
    }
    run::failed(failures, true)?;
    judged(flags, &ledger, changes.as_deref().unwrap_or_default())
}

/// Returns the ledger of these arguments (without the program's and the command's name), as JSON, after an evaluation by engines from
/// elsewhere. The page and the ledger are written as well.
///
/// # Errors
/// The arguments are wrong, or a run failed.
pub fn elsewhere(flags: &Flags, engines_of: EnginesOf<'_>) -> Result<String, Failure> {
    let evaluation = evaluate(flags, engines_of)?;
    run::failed(evaluation.failures, true)?;
    Ok(evaluation.json)
}

/// Runs what is left, judges it, and writes the ledger and the page.
fn evaluate(flags: &Flags, engines_of: EnginesOf<'_>) -> Result<Evaluation, Failure> {
    let candidate = plan::candidate(&flags.algorithm)?;
    let is_of_host = candidate.ends_with("@host");
    if is_of_host && flags.engine == EngineKind::Sim {
        return Err(Failure::bad_input(format!(
            "`{candidate}` is a congestion control of this host's kernel, which the simulator does not have: add `--engine kernel`"
        )));
    }
    if flags.engine.is_vm() {
        return Err(Failure::bad_input("--engine vm: an evaluation has spot checks over `kernel` alone"));
    }
    if flags.engine == EngineKind::Kernel {
        // What would be refused after minutes of simulation is refused now.
        engines::engine(flags.engine)?;
    }
    let field = Field::new(&candidate, &against(flags));
    let library = Library::new(flags.studies.as_deref());
    let criteria = library.criteria(flags.section.as_deref())?;
    let scale = scale(flags);
    let command = command(flags, &field);
    let directory = flags.out.clone().unwrap_or_else(|| plan::directory(&candidate, scale));

    let job = Job {
        field: &field,
        scale,
        directory: &directory,
        command: &command,
        memory: flags.memory.budget(),
        times: 1,
        engines: engines_of,
    };
    let (failures, results) = if is_of_host {
        (0, BTreeMap::new())
    } else {
        let mut studies = library.studies(&criteria, &job)?;
        let failures = reproduce::complete(&mut studies, run::threads(flags.threads), flags.quiet)?;
        (failures, results(&studies)?)
    };
    let rows = match is_of_host {
        true => {
            judge::unmeasured(&criteria, "The simulator does not have the algorithm; see the spot checks.")
        }
        false => judge::judge(&criteria, &field, &results).map_err(Failure::broken)?,
    };
    let mut ledger = ledger(flags, &field, scale, rows, job.command.to_owned());
    if flags.engine == EngineKind::Kernel {
        let studies = spot::studies(&library, &criteria, &job)?;
        let given = spot::Given { criteria: &criteria, field: &field, studies, results: &results };
        ledger.spot_checks = spot::check(&given, &directory, flags.quiet)?;
    }

    let part = part(flags);
    // A criterion without studies has made none.
    output_file::create_directory(&directory).map_err(|error| {
        Failure::bad_input(format!("cannot create the directory `{}`: {error}", directory.display()))
    })?;
    let file = directory.join(format!("ledger{part}.json"));
    let json =
        serde_json::to_string_pretty(&ledger).map_err(|error| Failure::broken(error.to_string()))? + "\n";
    write(&file, &json)?;
    let page = write_page(&ledger, &results, &directory, &part, engines_of)?;
    Ok(Evaluation { ledger, json, page, file, failures })
}

/// Fails if the user has asked for it.
fn judged(flags: &Flags, ledger: &Ledger, changes: &[Change]) -> Result<(), Failure> {
    let (count, what) = match flags.fail_on {
        None => return Ok(()),
        Some(FailOn::Worse) => (ledger.count(Verdict::Worse), "sections are worse than the reference"),
        Some(FailOn::Regression) => {
            (changes.iter().filter(|change| change.is_regression()).count(), "verdicts have become worse")
        }
    };
    if count == 0 { Ok(()) } else { Err(Failure::broken(format!("--fail-on: {count} {what}"))) }
}

/// Returns what the algorithm is compared with, the reference first.
fn against(flags: &Flags) -> Vec<String> {
    flags.against.0.iter().map(ToString::to_string).collect()
}

/// Returns how much of the studies is run.
fn scale(flags: &Flags) -> RunScale {
    if flags.quick { RunScale::Quick } else { RunScale::Paper }
}

/// Returns what the names of the files have that are of a part, or of other references: they do not take the place of those of the whole.
fn part(flags: &Flags) -> String {
    let others = if super::advise::candidates::list(AGAINST).as_ref() == Ok(&flags.against) {
        String::new()
    } else {
        format!("-against-{}", plan::plain(&against(flags).join(",")))
    };
    let section = flags.section.as_ref().map_or(String::new(), |section| format!("-{section}"));
    others + &section
}

/// Reads the ledger of `--diff`. One of other references, or of another part, has other verdicts of the same algorithm.
fn read(path: &Path, flags: &Flags) -> Result<Ledger, Failure> {
    let wrong = |why: String| Failure::bad_input(format!("--diff: `{}`: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let ledger: Ledger = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if ledger.format != FORMAT {
        return Err(wrong(format!("its format is `{}`, and this program writes `{FORMAT}`", ledger.format)));
    }
    let field = Field::new(&plan::candidate(&flags.algorithm)?, &against(flags));
    let name = |candidate: &str| candidate.split(':').next().unwrap_or_default().to_owned();
    let of = |section: &Option<String>| section.clone().unwrap_or_else(|| "all".to_owned());
    // Another version of the algorithm may have other parameters.
    let same = [
        ("algorithm", name(&ledger.candidate), name(&field.candidate)),
        ("reference", ledger.reference.clone(), field.reference.clone()),
        ("scale", ledger.scale.clone(), scale(flags).to_string()),
        ("section", of(&ledger.section), of(&flags.section)),
    ];
    match same.iter().find(|(_, before, now)| before != now) {
        None => Ok(ledger),
        Some((what, before, now)) => Err(wrong(format!(
            "its {what} is `{before}`, and that of this evaluation `{now}`: verdicts depend on it; `{}` made the ledger",
            ledger.command
        ))),
    }
}

/// Returns what each study gave, by its short name.
fn results(studies: &[Prepared]) -> Result<BTreeMap<String, Results>, Failure> {
    let named = |prepared: &Prepared| Ok((plan::short(&prepared.study.name).to_owned(), prepared.results()?));
    studies.iter().map(named).collect()
}

fn ledger(flags: &Flags, field: &Field, scale: RunScale, rows: Vec<Entry>, command: String) -> Ledger {
    let count: usize = rows.iter().map(|row| row.criteria.len()).sum();
    let commit = option_env!("CWND_COMMIT").map_or(String::new(), |commit| format!(" ({commit})"));
    let method = format!(
        "Better or worse: a t-test of the mean effect over the cells, paired by seed, has a p-value under {:.0} % after Holm's \
         correction for {count} criteria, and the effect is over the criterion's margin. The intervals are of 95 % and not \
         corrected.",
        100.0 * judge::LEVEL
    );
    Ledger {
        format: FORMAT.to_owned(),
        candidate: field.candidate.clone(),
        reference: field.reference.clone(),
        others: field.others.clone(),
        scale: scale.to_string(),
        section: flags.section.clone(),
        made_by: format!("cwnd {}{commit}, engine sim", env!("CARGO_PKG_VERSION")),
        command,
        method,
        rows,
        spot_checks: Vec::new(),
    }
}

/// Writes the page, and the reports of the studies that it links to.
fn write_page(
    ledger: &Ledger,
    results: &BTreeMap<String, Results>,
    directory: &Path,
    part: &str,
    engines_of: EnginesOf<'_>,
) -> Result<PathBuf, Failure> {
    let mut extras = page::Extras::default();
    for (name, results) in results {
        super::report::page(results, &directory.join(name))?;
        extras.reports.insert(name.clone(), format!("{name}/report.html"));
    }
    for row in &ledger.rows {
        if let Some(figure) = worst::figure(row, ledger, results, directory, engines_of)? {
            extras.figures.insert(row.section.clone(), figure);
        }
    }
    let path = directory.join(format!("index{part}.html"));
    write(&path, &page::html(ledger, &extras))?;
    Ok(path)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    output_file::write_text(path, text).map_err(|error| Failure::broken(error.to_string()))
}

/// The command that makes the same ledger: what tells where and how fast is left out.
fn command(flags: &Flags, field: &Field) -> String {
    // A class is found by its file alone.
    let is_class = matches!(python::class(&flags.algorithm), Ok(Some(_)));
    let candidate = if is_class { &flags.algorithm } else { &field.candidate };
    let mut command = format!("cwnd evaluate {}", output::quoted(candidate));
    if let Some(section) = &flags.section {
        command += &format!(" --section {}", output::quoted(section));
    }
    if flags.quick {
        command += " --quick";
    }
    if flags.engine == EngineKind::Kernel {
        command += " --engine kernel";
    }
    if let Some(studies) = &flags.studies {
        command += &format!(" --studies {}", output::quoted(&studies.to_string_lossy()));
    }
    let mut against = vec![field.reference.as_str()];
    against.extend(field.others.iter().map(String::as_str));
    command + &format!(" --against {}", output::quoted(&against.join(",")))
}
