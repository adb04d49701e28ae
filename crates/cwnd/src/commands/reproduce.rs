//! `cwnd reproduce`: papers, run again.

mod do_all;
mod library;
mod list;
mod markdown;
mod pages;
mod progress;
mod verdicts;

pub(super) use do_all::complete;
pub use library::text;

use super::run::Scale;
use crate::{failure::Failure, memory::MemoryFlags, output};
use clap::Args;
use library::Book;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  What there is, what it costs and what has been run:
    cwnd reproduce

  One paper, in minutes:
    cwnd reproduce agile-sd

  All of them, as they were published:
    cwnd reproduce all --scale paper --out /data/reproduced";

/// Run papers again: every study of a paper, and one report with the verdicts on what it states.
///
/// Without a name it lists the papers and their studies. The studies are in the program, so it runs them anywhere. Runs are
/// stored as they are done, and what one scale has run the others need not run again: who is interrupted continues with the
/// same command.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// Papers by name or key (`agile-sd`, `P1`), or `all`.
    #[arg(value_name = "PAPER")]
    papers: Vec<String>,

    /// How much of each study is run.
    #[arg(long, value_name = "SCALE", value_enum, default_value_t = Scale::Quick)]
    scale: Scale,

    /// Where runs and reports are kept.
    #[arg(long, value_name = "DIR", default_value = "results/reproduce")]
    out: PathBuf,

    /// How many threads: each does one run, and those that are left help with large runs [default: one a core].
    #[arg(long, alias = "jobs", value_name = "N", value_parser = crate::numbers::threads, allow_hyphen_values = true)]
    threads: Option<u16>,

    #[command(flatten)]
    memory: MemoryFlags,

    /// Print the stored verdicts at the papers' own scale as a page: `docs/verdicts.md`.
    #[arg(long, conflicts_with_all = ["papers", "scale", "threads"])]
    markdown: bool,

    /// Show no progress and no notes.
    #[arg(long, short)]
    quiet: bool,
}

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let library = library::load()?;
    if flags.markdown {
        return output::print(&markdown::page(&library, &verdicts::stored()?));
    }
    if flags.papers.is_empty() {
        return list::print(&library, &flags.out);
    }
    let books = chosen(library, &flags.papers)?;
    do_all::run(&books, flags)
}

/// The papers that are named, in the library's order.
fn chosen(library: Vec<Book>, names: &[String]) -> Result<Vec<Book>, Failure> {
    let is_all = |name: &String| name == "all";
    for name in names.iter().filter(|name| !is_all(name)) {
        library::find(&library, name)?;
    }
    let is_named = |book: &Book| names.iter().any(|name| is_all(name) || book.is_called(name));
    Ok(library.into_iter().filter(is_named).collect())
}

#[cfg(test)]
mod tests;
