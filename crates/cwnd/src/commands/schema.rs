//! `cwnd schema`: the JSON Schema of study files.

use crate::{
    failure::Failure,
    output::{self, json},
};
use clap::Args;

/// Print the JSON Schema of study files, for editors that complete and check while one writes.
///
/// With the extension Even Better TOML, or any other that uses Taplo, write `#:schema PATH` into a study's first line.
#[derive(Args)]
pub struct Flags {
    /// Print the page of the documentation that describes every key.
    #[arg(long)]
    pub markdown: bool,
}

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    if flags.markdown {
        return output::print(&cwnd_study::study_file_markdown());
    }
    let algorithms: Vec<&str> = cwnd_cc::all().iter().map(|algorithm| algorithm.name).collect();
    output::print(&json::pretty(&cwnd_study::schema(&algorithms)))
}
