//! `cwnd run`: do the runs of a study that are not stored yet.

mod progress;
mod summary;

pub use summary::number;

use super::report;
use crate::{catalogue, failure::Failure, output};
use clap::Args;
use cwnd_scenario::Problem;
use cwnd_sim::Simulator;
use cwnd_study::{
    KeptStudy, MAX_REPEATS, Provenance, Results, Store, Study,
    runner::{self, Limits, Plan, RunError},
};
use progress::Shown;
use std::{
    path::{Path, PathBuf},
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

const EXAMPLES: &str = "\
Examples:
  Run a study; what is done already is not done again:
    cwnd run studies/agile-sd/throughput.toml

  With more repeats, elsewhere, on one core:
    cwnd run studies/elastic/cwnd.toml --repeats 30 --out /tmp/elastic --jobs 1";

/// Run a study, or what is left of it.
///
/// Each run is stored as soon as it is done, so a study that was stopped or killed goes on where it was, and one that is
/// complete costs nothing. At the end a page, `report.html`, says what was found. A changed file, algorithm or version runs only what it changes. Ctrl-C stops at once and keeps
/// what is done.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// The study file.
    #[arg(value_name = "STUDY")]
    study: PathBuf,

    /// Directory of the results [default: results/NAME, by the study's name].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// How many runs at once [default: one a core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), allow_hyphen_values = true)]
    jobs: Option<u16>,

    /// Repeats of each cell, instead of what the file says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_REPEATS as i64),
          allow_hyphen_values = true)]
    repeats: Option<u32>,

    /// Write no report; `cwnd report` does it later.
    #[arg(long)]
    no_report: bool,

    /// Show no progress and no notes.
    #[arg(long, short)]
    quiet: bool,
}

/// The most memory that runs may need together, bytes.
const MOST_MEMORY: f64 = 8e9;

/// Do what the flags ask.
pub fn run(flags: Flags) -> Result<(), Failure> {
    let study = study(&flags)?;
    let refused = |error: &RunError| refused(&study, error);
    // Before anything is written.
    runner::check(&Simulator, &study, MOST_MEMORY).map_err(|error| refused(&error))?;

    let directory = flags.out.clone().unwrap_or_else(|| Path::new("results").join(&study.name));
    let mut store = Store::create(&directory).map_err(|error| Failure::store(&error))?;
    if let Some(other) =
        store.study().map_err(|error| Failure::store(&error))?.filter(|s| s.name != study.name)
    {
        return Err(Failure::bad_input(format!(
            "`{}` has the results of another study, `{}`; choose another directory with --out",
            directory.display(),
            other.name
        )));
    }
    let plan = runner::plan(&Simulator, &study, &store).map_err(|error| refused(&error))?;
    store.keep_inputs(&study).map_err(|error| Failure::store(&error))?;
    store.keep_study(&kept(&flags, &study, &plan)).map_err(|error| Failure::store(&error))?;

    let cores = thread::available_parallelism().map_or(1, usize::from);
    let jobs = flags.jobs.map_or(cores, usize::from).min(plan.missing().max(1));
    let mut shown = Shown::new(&study, &plan, jobs, flags.quiet);
    let limits = Limits { jobs, memory: MOST_MEMORY };
    let ran = runner::run(&Arc::new(Simulator), &plan, &mut store, limits, &mut shown, stop()?);
    shown.clear();
    let ran = ran.map_err(|error| refused(&error))?;
    if ran.stopped {
        return Err(Failure::stopped(format!(
            "stopped: {} of {} runs are stored in {}; the same command goes on from there",
            plan.present + ran.done + ran.by_others - ran.failures.len(),
            plan.present + plan.missing(),
            directory.display()
        )));
    }

    let results = Results::of(study, &store).map_err(|error| Failure::store(&error))?;
    let page = if flags.no_report { None } else { Some(report::page(&results, &directory)?) };
    output::print(&summary::text(&results, &plan, &ran, jobs, &directory, page.as_deref()))?;
    match ran.failures.len() {
        0 => Ok(()),
        failed => Err(Failure::broken(format!("{failed} runs failed; they are tried again next time"))),
    }
}

/// The study as it is to be run.
fn study(flags: &Flags) -> Result<Study, Failure> {
    let mut study = Study::load(&flags.study, &catalogue::check)
        .map_err(|error| Failure::bad_input(error.to_string()))?;
    study.repeats = flags.repeats.unwrap_or(study.repeats);
    if study.seed.checked_add(u64::from(study.repeats) - 1).is_none() {
        return Err(Failure::bad_input(format!(
            "--repeats: {} repeats from seed {} on run out of seeds: take fewer",
            study.repeats, study.seed
        )));
    }
    Ok(study)
}

/// The command that makes the same results: what tells where and how fast is left out.
fn command(flags: &Flags) -> String {
    let repeats = flags.repeats.map_or(String::new(), |repeats| format!(" --repeats {repeats}"));
    format!("cwnd run {}{repeats}", output::quoted(&flags.study.to_string_lossy()))
}

fn kept(flags: &Flags, study: &Study, plan: &Plan) -> KeptStudy {
    KeptStudy {
        name: study.name.clone(),
        text: study.text.clone(),
        scale: study.scale(),
        repeats: study.repeats,
        keys: plan.keys.clone(),
        provenance: Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("CWND_COMMIT").map(str::to_owned),
            command: command(flags),
            engine: "sim".to_owned(),
        },
    }
}

/// What the engine or the store did not take.
fn refused(study: &Study, error: &RunError) -> Failure {
    let cell = |cell: usize| match study.axes.is_empty() {
        true => study.name.clone(),
        false => format!("{}: {}", study.name, study.cell_label(cell)),
    };
    match error {
        RunError::Refused { cell: place, problems } => {
            let problems: Vec<Problem> = problems
                .iter()
                .map(|p| Problem { place: format!("{}: {}", cell(*place), p.place), ..p.clone() })
                .collect();
            Failure::problems(&problems)
        }
        RunError::TooLarge { cell: place, memory } => Failure::bad_input(format!(
            "{}: a run may need about {:.1} GB of memory, and {:.0} GB are the most: take fewer flows, a lower rate or \
             delay, smaller buffers, or a longer time between samples",
            cell(*place),
            memory / 1e9,
            MOST_MEMORY / 1e9
        )),
        RunError::Store(error) => Failure::store(error),
    }
}

/// True once the user wants to stop; who wants it twice is out at once.
fn stop() -> Result<&'static AtomicBool, Failure> {
    static STOP: AtomicBool = AtomicBool::new(false);
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            process::exit(130);
        }
    })
    .map_err(|error| Failure::broken(format!("Ctrl-C cannot be caught: {error}")))?;
    Ok(&STOP)
}
