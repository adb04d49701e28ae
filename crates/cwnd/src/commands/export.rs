//! `cwnd export`: results as a table for other tools.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use cwnd_study::{
    Results, Store, StoreError,
    export::{self, ExportError, Format},
    output_file,
};
use std::{
    io::{self, BufWriter, ErrorKind},
    path::{Path, PathBuf},
};

const EXAMPLES: &str = "\
Examples:
  A table for a spreadsheet or pandas:
    cwnd export results/agile-sd/throughput --out throughput.csv

  Whether two machines computed the same:
    cwnd export results/agile-sd/throughput --canonical | sha256sum";

/// Write the results of a study as a table: CSV, Parquet or JSON, one row a run.
///
/// A row has the labels of the axes, the seed, what came of the run, and all its metrics. Runs that are missing or failed
/// have rows too.
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
        let mut stdout = BufWriter::new(io::stdout().lock());
        return export::write(&store, study, format, flags.canonical, &mut stdout).or_else(
            |error| match error {
                ExportError::Store(error) => Err(Failure::store(&error)),
                // A reader that has gone away is no failure.
                ExportError::Write(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
                ExportError::Write(error) => {
                    Err(Failure::broken(format!("cannot write to standard output: {error}")))
                }
            },
        );
    };
    let mut unreadable = None;
    let written = output_file::write_with(path, |file| {
        export::write(&store, study, format, flags.canonical, file).map_err(|error| match error {
            ExportError::Write(error) => error,
            ExportError::Store(error) => {
                unreadable = Some(error);
                io::Error::other("the results cannot be read")
            }
        })
    });
    match (unreadable, written) {
        (Some(error), _) => Err(Failure::store(&error)),
        (None, Err(error)) => Err(Failure::broken(format!("--out: {error}"))),
        (None, Ok(())) => Ok(()),
    }
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
