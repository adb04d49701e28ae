//! `cwnd report`: what a study found, as a page and as figures.

use crate::{failure::Failure, output::print};
use clap::{Args, builder::PossibleValuesParser};
use cwnd_plot::number::si;
use cwnd_report::{figure_file, figures, figures::traces::Traces, report, series::SeriesStyles};
use cwnd_study::{Results, StoreError, StoreErrorKind, input_file, output_file};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const EXAMPLES: &str = "\
Examples:
  The page, as `out/agile-sd/report.html`:
    cwnd report out/agile-sd

  The page elsewhere, and every figure as PDF for a paper:
    cwnd report out/agile-sd --out agile-sd.html --figures paper/figures --figure-format pdf";

/// The largest script of a live page, bytes.
const MAX_SCRIPT: u64 = 50_000_000;

/// The page's name in a directory of results.
const PAGE: &str = "report.html";

/// Show what a study found: one HTML page that opens without a network, and figures for a paper.
///
/// Reads what `cwnd run` has kept. A study that is not complete is shown as far as it is, and the page says what is
/// missing.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// The directory of a study's results, as `cwnd run` made it.
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Where the page is written, as `.html` [default: report.html in DIR].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Write every figure as `NAME.svg` into this directory too, which is made if it is not there.
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,

    /// Formats of the figures, separated by commas: svg, png, pdf.
    #[arg(long, value_name = "FORMAT", requires = "figures", value_delimiter = ',', default_value = "svg",
          value_parser = PossibleValuesParser::new(figure_file::EXTENSIONS))]
    figure_format: Vec<String>,
    /// Add the simulator to the page: a click on a point of a line figure simulates its run and shows it over time. SCRIPT is
    /// `web/dist/live-report.js`, which `cargo xtask web` makes. The page grows by its size.
    #[arg(long, value_name = "SCRIPT")]
    live: Option<PathBuf>,
    /// Open the page with the system's program for it.
    #[arg(long)]
    open: bool,

    /// Do not say what was written.
    #[arg(long, short)]
    quiet: bool,
}

/// Does it.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let results = Results::load(&flags.directory).map_err(|error| failure(&error))?;
    let out = flags.out.clone().unwrap_or_else(|| flags.directory.join(PAGE));
    let bad = |flag: &str, error: &dyn std::fmt::Display| Failure::bad_input(format!("{flag}{error}"));
    let flag = if flags.out.is_some() { "--out: " } else { "" };
    output_file::check_writable(&out, "a report", &["html"]).map_err(|error| bad(flag, &error))?;
    if let Some(directory) = &flags.figures {
        fs::create_dir_all(directory).map_err(|error| {
            bad("--figures: ", &format!("cannot make `{}`: {error}", directory.display()))
        })?;
    }

    if let Some(directory) = &flags.figures {
        for path in figure_paths(flags, directory, "figure") {
            figure_file::check_writable(&path).map_err(|error| bad("--figure-format: ", &error))?;
        }
    }

    let traces = Traces::of(&results);
    let html = match &flags.live {
        None => report::html_with(&results, &traces),
        Some(path) => {
            let script = input_file::read_text(path, MAX_SCRIPT).map_err(|error| bad("--live: ", &error))?;
            report::live(&results, &traces, &script).map_err(|error| bad("--live: ", &error))?
        }
    };
    let mut written = vec![write(&out, &html)?];
    if let Some(directory) = &flags.figures {
        let looks = SeriesStyles::new(&results.study);
        let mut missing = BTreeSet::new();
        for figure in &results.study.figures {
            let svg = figures::file(&results, figure, &looks, &traces);
            for path in figure_paths(flags, directory, &figures::file_name(figure)) {
                let written_without = figure_file::write_figure(&svg, &path);
                missing.append(&mut written_without.map_err(|error| Failure::broken(error.to_string()))?);
                written.push(line(&path, fs::metadata(&path).map_or(0, |file| file.len())));
            }
        }
        note_missing_characters(&missing);
        if results.study.figures.is_empty() {
            crate::terminal::tell!("note: --figures: the study has no figures, and none was written");
        }
    }
    if !flags.quiet {
        print(&written.concat())?;
    }
    if flags.open { open(&out) } else { Ok(()) }
}

/// Prints a note on standard error, if figures lack characters.
pub fn note_missing_characters(missing: &BTreeSet<char>) {
    if let Some(note) = figure_file::missing_characters_note(missing) {
        crate::terminal::tell!("note: {note}");
    }
}

/// Opens a page with the system's program for it, and does not wait for that.
///
/// # Errors
/// If there is no such program.
pub fn open(page: &Path) -> Result<(), Failure> {
    open::that_detached(page).map_err(|error| {
        let page = page.display();
        Failure::broken(format!("--open: nothing opens `{page}` here ({error}); open it in a browser"))
    })
}

/// Writes the page of a study that has just been run into its directory.
///
/// # Errors
/// If it cannot be written.
pub fn page(results: &Results, directory: &Path) -> Result<PathBuf, Failure> {
    let path = directory.join(PAGE);
    write(&path, &report::html_with(results, &Traces::of(results)))?;
    Ok(path)
}

/// Writes the page of results into their directory, and prints where both are unless `quiet`.
///
/// # Errors
/// If it cannot be written.
pub fn save(results: &Results, directory: &Path, quiet: bool) -> Result<PathBuf, Failure> {
    let page = page(results, directory)?;
    if !quiet {
        print(&format!("  report in {}\n  results in {}\n\n", page.display(), directory.display()))?;
    }
    Ok(page)
}

/// Writes a file, whole or not at all, and tells in a line what it is.
fn write(path: &Path, text: &str) -> Result<String, Failure> {
    output_file::write_text(path, text).map_err(|error| Failure::broken(error.to_string()))?;
    Ok(line(path, text.len() as u64))
}

/// The files of a figure, one for each format.
fn figure_paths(flags: &Flags, directory: &Path, name: &str) -> Vec<PathBuf> {
    flags.figure_format.iter().map(|extension| directory.join(format!("{name}.{extension}"))).collect()
}

fn line(path: &Path, bytes: u64) -> String {
    format!("{}  {}\n", path.display(), si(bytes as f64, "B"))
}

/// What is wrong with the directory is for whoever named it to put right; the rest is not.
fn failure(error: &StoreError) -> Failure {
    match error.kind {
        StoreErrorKind::Missing | StoreErrorKind::Foreign => Failure::bad_input(error.to_string()),
        _ => Failure::broken(error.to_string()),
    }
}
