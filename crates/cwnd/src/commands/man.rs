//! `cwnd man`: manual pages.

use crate::{failure::Failure, output};
use clap::{Args, Command};
use clap_mangen::Man;
use std::{fs, io, path::PathBuf};

const EXAMPLES: &str = "\
Examples:
  Read the page of the program:
    cwnd man | man -l -

  Write the pages of all commands where `man` finds them:
    cwnd man --out ~/.local/share/man/man1";

/// Print the manual page of the program, or write those of all commands.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// Write `cwnd.1` and a page for each command (`cwnd-run.1`) into this directory, which is made if it is not there.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Does it, for the whole command line.
pub fn run(flags: &Flags, cli: Command) -> Result<(), Failure> {
    let Some(directory) = &flags.out else {
        let mut page = Vec::new();
        let failed = |error: io::Error| Failure::broken(format!("the manual page: {error}"));
        Man::new(cli).render(&mut page).map_err(failed)?;
        return output::print(&String::from_utf8_lossy(&page));
    };
    let shown = directory.display();
    fs::create_dir_all(directory)
        .map_err(|error| Failure::bad_input(format!("--out: cannot make `{shown}`: {error}")))?;
    clap_mangen::generate_to(cli, directory)
        .map_err(|error| Failure::broken(format!("--out: cannot write into `{shown}`: {error}")))?;
    output::print(&format!("manual pages in {shown}\n"))
}
