//! `cwnd run`: do the runs of a study that are not stored yet.

mod complete;
mod progress;
mod scale;
mod summary;

pub use complete::{Prepared, possible, refusal, refused, refused_at};
pub use progress::{Announce, duration, running};
pub use scale::Scale;
pub use summary::number;

use super::report;
use crate::{
    catalogue, engines,
    failure::Failure,
    interrupt,
    memory::MemoryFlags,
    output,
    recording::{Recorded, RecordingFlags},
};
use clap::Args;
use cwnd_scenario::Scenario;
use cwnd_study::{EngineKind, RunScale, Study, runner::RunSummary};
use std::{
    path::{Path, PathBuf},
    thread,
};

const EXAMPLES: &str = "\
Examples:
  Run a study; what is done already is not done again:
    cwnd run studies/agile-sd/throughput.toml

  The packets of one cell, for Wireshark, and what its senders do, for qvis:
    cwnd run studies/matrix.toml --recorded-cell 'cubic, alone, LAN' --pcap cubic.pcapng --qlog cubic.sqlog

  The same grid over the TCP of the running kernel, in real time:
    sudo cwnd run studies/sim-vs-kernel.toml --engine kernel

  On a Dask cluster (with the Python package: pip install 'cwnd[dask]'):
    cwnd run studies/matrix.toml --executor dask://scheduler:8786

  With more repeats, elsewhere, on one core:
    cwnd run studies/elastic/cwnd.toml --repeats 30 --out /tmp/elastic --threads 1";

/// Run a study, or what is left of it.
///
/// Each run is stored as soon as it is done, so a study that was stopped or killed continues where it was, and one that is
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

    /// How many threads: each does one run, and those that are left help with large runs [default: one a core].
    #[arg(long, alias = "jobs", value_name = "N", value_parser = crate::numbers::threads, allow_hyphen_values = true)]
    threads: Option<u16>,

    /// Run on the workers of a cluster: `dask://HOST:PORT`, `ray` (or `ray://HOST:PORT`), `mpi`, `processes:N` or `threads:N`. Needs
    /// the `cwnd` of the Python package.
    #[arg(long, value_name = "URL", conflicts_with_all = ["no_fast_path", "threads"])]
    executor: Option<String>,

    /// How much of the study is run: all of it, or what its `[quick]` leaves, or a sample of that.
    #[arg(long, value_name = "SCALE", value_enum, default_value_t = Scale::Paper)]
    scale: Scale,

    /// What answers all cells, instead of what the file says: `sim`, `kernel`, `vm`, or `vm:6.18` for that series of kernels; of a
    /// study with an axis of engines its cells for this one alone.
    #[arg(long, value_name = "ENGINE")]
    engine: Option<EngineKind>,

    /// Repeats of each cell, instead of what the file says.
    #[arg(long, value_name = "N", value_parser = crate::numbers::repeats,
          allow_hyphen_values = true)]
    repeats: Option<u32>,

    /// What is recorded of a cell's first repeat.
    #[command(flatten)]
    recording: RecordingFlags,

    #[command(flatten)]
    memory: MemoryFlags,

    /// The cell of which that is, as reports label it: `cubic, 1 BDP`; needed if there are several.
    #[arg(long, value_name = "CELL", help_heading = "Recordings")]
    recorded_cell: Option<String>,

    /// Write no report; `cwnd report` does it later.
    #[arg(long)]
    no_report: bool,

    /// Open the report with the system's program for it.
    #[arg(long, conflicts_with = "no_report")]
    open: bool,

    /// Simulate every packet on the general path, without shortcuts: slower, and the same outcome to the bit.
    /// `=SHORTCUT` leaves out a single one (see ARCHITECTURE.md).
    #[arg(long, value_name = "SHORTCUT", num_args = 0..=1, require_equals = true, default_missing_value = "all",
          value_parser = cwnd_sim::Shortcuts::without)]
    no_fast_path: Option<cwnd_sim::Shortcuts>,

    /// Show no progress and no notes.
    #[arg(long, short)]
    quiet: bool,
}

/// Do what the flags ask.
pub fn run(flags: Flags) -> Result<(), Failure> {
    if let Some(executor) = &flags.executor {
        return Err(Failure::bad_input(format!(
            "--executor {executor}: this program runs on its own machine; install the Python package (`pip install 'cwnd[dask]'` or \
             `'cwnd[ray]'`), whose `cwnd` has the same commands and executors"
        )));
    }
    let Some(study) = possible(study(&flags)?) else { return Ok(()) };
    let recorded = recorded_cell(&flags, &study)?;
    let recorded: Vec<Recorded<'_>> = recorded
        .iter()
        .map(|(scenario, engine)| Recorded { name: &study.name, scenario, engine: *engine })
        .collect();
    for note in study.whole().notes().into_iter().chain(flags.recording.check(&recorded)?) {
        if !flags.quiet {
            crate::terminal::tell!("note: {note}");
        }
    }
    let directory = directory(&flags, &study);
    let mut prepared = prepared(&flags, study.clone())?;
    // First: who wants the recording alone need not wait for the study.
    record_kernels(&flags, &recorded)?;
    for path in flags.recording.write(&recorded)? {
        output::print(&format!("  wrote {}\n", path.display()))?;
    }
    let (ran, threads) = prepared.run_shown(flags.threads, Announce::of(flags.quiet))?;
    if ran.stopped {
        return Err(prepared.stopped(&ran));
    }

    let results = prepared.results()?;
    let page = if flags.no_report { None } else { Some(report::page(&results, &directory)?) };
    output::print(&summary::text(&results, &prepared.plan, &ran, threads, &directory, page.as_deref()))?;
    if let Some(page) = page.filter(|_| flags.open) {
        report::open(&page)?;
    }
    failed(ran.failures.len(), true)
}

/// The runs that a command with `--executor` asks for.
pub struct Elsewhere {
    /// The value of `--executor`.
    pub executor: String,
    /// Whether no progress is shown.
    pub quiet: bool,
    /// The study in its directory; none if nothing of it can be run here.
    pub prepared: Option<Prepared>,
}

/// Prepares what a command with `--executor` runs elsewhere; none without that flag.
///
/// # Errors
/// As those of [`run`] before the first run.
pub fn elsewhere(flags: &Flags) -> Result<Option<Elsewhere>, Failure> {
    let Some(executor) = flags.executor.clone() else { return Ok(None) };
    let prepared = possible(study(flags)?).map(|study| prepared(flags, study)).transpose()?;
    Ok(Some(Elsewhere { executor, quiet: flags.quiet, prepared }))
}

fn prepared(flags: &Flags, study: Study) -> Result<Prepared, Failure> {
    let engines = engines::of_study_with(&study, flags.no_fast_path);
    let directory = directory(flags, &study);
    Prepared::new(study, engines, Some(directory), command(flags), flags.memory.budget())
}

fn directory(flags: &Flags, study: &Study) -> PathBuf {
    flags.out.clone().unwrap_or_else(|| Path::new("results").join(&study.name))
}

/// Over a real kernel what is recorded is a run of its own, since no two are the same.
fn record_kernels(flags: &Flags, recorded: &[Recorded<'_>]) -> Result<(), Failure> {
    for (kind, files) in flags.recording.captures(recorded)? {
        interrupt::catch().map_err(Failure::broken)?;
        let engine = engines::capturing(kind, files.clone())?;
        for (scenario, _) in files {
            engine.run(&scenario).map_err(|error| Failure::broken(error.to_string()))?;
        }
    }
    Ok(())
}

/// How many runs at once: one a core, unless it is said.
pub fn threads(said: Option<u16>) -> usize {
    said.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from)
}

/// Failed runs are a failure of the whole, at its end. `are_kept`: the results are stored, and the same command tries them again.
pub fn failed(runs: usize, are_kept: bool) -> Result<(), Failure> {
    match (runs, are_kept) {
        (0, _) => Ok(()),
        (failed, true) => {
            Err(Failure::broken(format!("{failed} runs failed; they are tried again next time")))
        }
        (1, false) => Err(Failure::broken("1 run failed")),
        (failed, false) => Err(Failure::broken(format!("{failed} runs failed"))),
    }
}

/// Lists the runs that failed, with the reasons.
pub fn failures(study: &Study, ran: &RunSummary) -> String {
    /// How many are listed.
    const MOST: usize = 10;
    let line = |(cell, repeat, reason): &(usize, u32, String)| {
        let seed = study.seed.wrapping_add((*repeat).into());
        format!("  failed: {} (seed {seed}): {reason}\n", study.cell_label(*cell))
    };
    let mut text: String = ran.failures.iter().take(MOST).map(line).collect();
    if ran.failures.len() > MOST {
        text += &format!("  … and {} more\n", ran.failures.len() - MOST);
    }
    text
}

/// The study as it is to be run.
fn study(flags: &Flags) -> Result<Study, Failure> {
    let mut study = Study::load(&flags.study, &catalogue::check)
        .map_err(|error| Failure::bad_input(error.to_string()))?
        .at_scale(flags.scale.into());
    study = on_engine(study, flags.engine)?;
    study.repeats = flags.repeats.unwrap_or(study.repeats);
    if study.seed.checked_add(u64::from(study.repeats) - 1).is_none() {
        return Err(Failure::bad_input(format!(
            "--repeats: {} repeats from seed {} on run out of seeds: take fewer",
            study.repeats, study.seed
        )));
    }
    Ok(study)
}

/// The study with the engine that the command names, if it names one.
pub fn on_engine(study: Study, engine: Option<EngineKind>) -> Result<Study, Failure> {
    match engine {
        None => Ok(study),
        Some(engine) => study.on_engine(engine).map_err(|why| Failure::bad_input(format!("--engine: {why}"))),
    }
}

/// What is run in the cell that is recorded, if any is.
fn recorded_cell(flags: &Flags, study: &Study) -> Result<Option<(Scenario, EngineKind)>, Failure> {
    const SHOWN: usize = 12;
    let labels: Vec<String> = (0..study.cells.len()).map(|cell| study.cell_label(cell)).collect();
    let mut known: Vec<String> = labels.iter().take(SHOWN).map(|label| format!("\n  {label}")).collect();
    known.extend((labels.len() > SHOWN).then(|| format!("\n  and {} more", labels.len() - SHOWN)));
    let known = known.concat();
    let cell = match (&flags.recorded_cell, flags.recording.is_asked()) {
        (None, false) => return Ok(None),
        (Some(_), false) => {
            return Err(Failure::bad_input("--recorded-cell: of what? Say --pcap or --qlog as well"));
        }
        (None, true) if labels.len() == 1 => 0,
        (None, true) => {
            return Err(Failure::bad_input(format!(
                "--recorded-cell: the study has {} cells; say of which one a recording is to be made: {known}",
                labels.len()
            )));
        }
        (Some(said), true) => labels.iter().position(|label| label == said.trim()).ok_or_else(|| {
            Failure::bad_input(format!("--recorded-cell: there is no cell `{said}`; there are {known}"))
        })?,
    };
    let cell = &study.cells[cell];
    Ok(Some((cell.scenario.with_seed(study.seed), cell.engine)))
}

/// The command that makes the same results: what tells where and how fast is left out.
fn command(flags: &Flags) -> String {
    let repeats = flags.repeats.map_or(String::new(), |repeats| format!(" --repeats {repeats}"));
    let scale = match flags.scale {
        Scale::Paper => String::new(),
        scale => format!(" --scale {}", RunScale::from(scale)),
    };
    let engine = flags.engine.map_or(String::new(), |engine| format!(" --engine {engine}"));
    format!("cwnd run {}{scale}{engine}{repeats}", output::quoted(&flags.study.to_string_lossy()))
}
