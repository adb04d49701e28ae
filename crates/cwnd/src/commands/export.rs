//! `cwnd export`: results as a table for other tools.

use crate::{failure::Failure, output};
use clap::{Args, ValueEnum};
use cwnd_study::{
    Results, Store, StoreError,
    export::{self, ExportError, Format, UnusableRun},
    output_file,
};
use std::{
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

const EXAMPLES: &str = "\
Examples:
  A table for a spreadsheet or pandas:
    cwnd export results/agile-sd/throughput --out throughput.csv

  Every flow of every run, with its size and completion time:
    cwnd export results/networks/short-flows --flows --out flows.parquet

  Whether two machines computed the same:
    cwnd export results/agile-sd/throughput --canonical | sha256sum";

/// Write the results of a study as a table: CSV, Parquet or JSON, one row a run.
///
/// A row has the labels of the axes, the seed, the state of the run, all its metrics, and every setting with its value in effect,
/// so that tables of several studies can be joined. An axis is a column of its name. The axis `buffer` of the setting `buffer` is one
/// column with the setting's, `buffer`, as long as its labels are the setting's values. With other labels they are in `axis_buffer`, as
/// those of every axis whose name another column has. Runs that are missing or failed
/// have rows too. In CSV a text that a spreadsheet would take for a formula gets an apostrophe before it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// Directory of the results.
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Format [default: that of --out's extension, else csv].
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,

    /// Write to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// What "the same results" means: sorted by key, without times, dates and versions, so that equal results give
    /// equal bytes.
    #[arg(long)]
    canonical: bool,

    /// Write one row for each flow, short flows included, instead of one for each run: run, flow, algorithm, size, start and
    /// completion time.
    #[arg(long, conflicts_with = "canonical")]
    flows: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum FormatName {
    Csv,
    Parquet,
    Json,
}

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let format = format(flags)?;
    if flags.canonical && format == Format::Parquet {
        return Err(Failure::bad_input(
            "--canonical: a Parquet file tells which version wrote it; take `--format csv` or `--format json`",
        ));
    }
    let load = || -> Result<_, StoreError> {
        let store = Store::open(&flags.directory)?;
        let study = Results::study(&store)?;
        Ok((store, study))
    };
    let (store, study) = load().map_err(|error| Failure::store(&error))?;
    let Some(path) = &flags.out else {
        let mut stdout = BufWriter::new(io::stdout());
        let written = match flags.flows {
            true => export::write_flows(&store, study, format, &mut stdout).map(|_| Vec::new()),
            false => export::write(&store, study, format, flags.canonical, &mut stdout),
        };
        return match written {
            Ok(unusable) => complete(&unusable),
            Err(ExportError::Store(error)) => Err(Failure::store(&error)),
            Err(ExportError::Write(error)) => output::written(Err(error)),
        };
    };
    let (mut unreadable, mut unusable) = (None, Vec::new());
    let written = output_file::write_with(path, |file| {
        let written = match flags.flows {
            true => export::write_flows(&store, study, format, file).map(|_| Vec::new()),
            false => export::write_file(&store, study, format, flags.canonical, file),
        };
        match written {
            Ok(found) => {
                unusable = found;
                Ok(())
            }
            Err(ExportError::Write(error)) => Err(error),
            Err(ExportError::Store(error)) => {
                unreadable = Some(error);
                Err(io::Error::other("the results cannot be read"))
            }
        }
    });
    match (unreadable, written) {
        (Some(error), _) => Err(Failure::store(&error)),
        (None, Err(error)) => Err(Failure::broken(format!("--out: {error}"))),
        (None, Ok(())) => complete(&unusable),
    }
}

/// Refuses to call a table complete in which rows stand for runs that cannot be used.
fn complete(unusable: &[UnusableRun]) -> Result<(), Failure> {
    const SHOWN: usize = 20;
    if unusable.is_empty() {
        return Ok(());
    }
    let line = |run: &UnusableRun| format!("\n  {} (seed {}): {}", run.cell, run.seed, run.reason);
    let lines: String = unusable.iter().take(SHOWN).map(line).collect();
    let more = match unusable.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("\n  … and {more} more"),
    };
    let runs = if unusable.len() == 1 { "1 run".to_owned() } else { format!("{} runs", unusable.len()) };
    Err(Failure::broken(format!(
        "the table is incomplete: the store has {runs} that cannot be used{lines}{more}"
    )))
}

fn format(flags: &Flags) -> Result<Format, Failure> {
    if let Some(format) = flags.format {
        if format == FormatName::Parquet && flags.out.is_none() {
            return Err(Failure::bad_input(
                "--format: Parquet is no text; say where with --out FILE.parquet",
            ));
        }
        return Ok(match format {
            FormatName::Csv => Format::Csv,
            FormatName::Parquet => Format::Parquet,
            FormatName::Json => Format::Json,
        });
    }
    let Some(path) = &flags.out else { return Ok(Format::Csv) };
    let extension = output_file::extension(path);
    let known = Format::ALL.iter().find(|(name, _)| *name == extension);
    known.map(|(_, format)| *format).ok_or_else(|| unknown_extension(path))
}

fn unknown_extension(path: &Path) -> Failure {
    Failure::bad_input(format!(
        "--out: the name of `{}` does not tell the format: end it in .csv, .parquet or .json, or say --format",
        path.display()
    ))
}
