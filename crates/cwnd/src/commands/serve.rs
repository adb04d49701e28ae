//! `cwnd serve`: the web page with what a browser cannot do alone.

use crate::{
    catalogue,
    commands::{report, run},
    engines,
    failure::Failure,
    interrupt,
    memory::MemoryFlags,
    output,
};
use clap::Args;
use cwnd_serve::{Assets, Server, StudyOrder, Token, Workbench, find_stores};
use cwnd_study::{
    Study,
    memory::MemoryBudget,
    runner::{Progress, RunSummary},
};
use std::{
    net::IpAddr,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

const EXAMPLES: &str = "\
Examples:
  All results below `results`, and a browser:
    cwnd serve --open

  One directory of results, and a study that was not run yet:
    cwnd serve out/agile-sd studies/matrix.toml

  With the kernel: runs over it, and what is loaded:
    sudo cwnd serve";

/// Open a web page of this machine: its results, studies that start and stop, runs at native speed, and its kernel.
///
/// Prints an address with a random token; whoever has it may use the server. It listens on this machine alone unless --host says
/// otherwise. Ctrl-C ends it; a study that is running is stopped, and continues when it is started again.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// Directories of results, or directories that contain some, and study files [default: results].
    #[arg(value_name = "DIR|STUDY")]
    places: Vec<PathBuf>,

    /// The port; 0 for any free one.
    #[arg(long, value_name = "N", default_value_t = 8000)]
    port: u16,

    /// The address to listen on. Others than this machine can then reach it: the token is all that keeps them out, and the connection
    /// is not encrypted.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1", value_parser = address)]
    host: IpAddr,

    /// The directory of the page, as `cargo xtask web` writes it [default: the page in the program, or web/dist of the checkout].
    #[arg(long, value_name = "DIST")]
    web: Option<PathBuf>,

    /// A file that keeps the token, so that pages stay connected after a restart; created if it does not exist.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    #[command(flatten)]
    memory: MemoryFlags,

    /// Open the page with the system's browser.
    #[arg(long)]
    open: bool,
}

/// Parses the value of `--host`.
fn address(text: &str) -> Result<IpAddr, String> {
    let text = if text == "localhost" { "127.0.0.1" } else { text };
    text.parse()
        .map_err(|_| "it must be an IP address of this machine, such as `127.0.0.1` or `::1`".to_owned())
}

/// Does what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let workbench: Arc<dyn Workbench> = Arc::new(CommandLine { memory: flags.memory.budget() });
    let places = find_stores(&flags.places, &*workbench).map_err(Failure::bad_input)?;
    let assets = Assets::find(flags.web.as_deref()).map_err(Failure::bad_input)?;
    let token =
        flags.token_file.as_deref().map_or_else(Token::random, Token::of_file).map_err(Failure::bad_input)?;
    let stop = interrupt::catch().map_err(Failure::broken)?;
    let count = places.len();
    let server =
        Server::new(flags.host, flags.port, token, assets, places, workbench).map_err(Failure::bad_input)?;
    if !flags.host.is_loopback() {
        crate::terminal::tell!(
            "note: --host {}: others on the network can reach this server. The token is all that keeps them out, and the connection is \
             not encrypted",
            flags.host
        );
    }
    let stores = match count {
        0 => "no results yet: name a directory of results or a study file to list it".to_owned(),
        1 => "1 store of results".to_owned(),
        count => format!("{count} stores of results"),
    };
    output::print(&format!("\n  {stores}\n  {}\n\n  Ctrl-C ends the server.\n\n", server.url()))?;
    if flags.open {
        report::open(Path::new(&server.url()))?;
    }
    server.run(&stop).map_err(Failure::broken)
}

/// What the server does is what the commands do.
struct CommandLine {
    memory: MemoryBudget,
}

impl Workbench for CommandLine {
    fn load_study(&self, file: &Path) -> Result<Study, String> {
        Study::load(file, &catalogue::check).map_err(|error| error.to_string())
    }

    fn run_study(
        &self,
        order: StudyOrder,
        progress: &mut dyn Progress,
        stop: &Arc<AtomicBool>,
    ) -> Result<RunSummary, String> {
        let text = |failure: Failure| failure.message().to_owned();
        let StudyOrder { study, directory, command } = order;
        let engines = engines::of_study_until(&study, stop);
        let prepared = run::Prepared::new(study, engines, Some(directory.clone()), command, self.memory);
        let mut prepared = prepared.map_err(text)?;
        let ran = prepared.run_until(run::threads(None), progress, stop).map_err(text)?;
        if !ran.stopped {
            report::page(&prepared.results().map_err(text)?, &directory).map_err(text)?;
        }
        Ok(ran)
    }

    #[cfg(feature = "kernel")]
    fn kernel(&self) -> Result<serde_json::Value, String> {
        super::kernel::document().map_err(|failure| failure.message().to_owned())
    }

    #[cfg(not(feature = "kernel"))]
    fn kernel(&self) -> Result<serde_json::Value, String> {
        Err("this program cannot load algorithms into the kernel: build it with `--features kernel` (Linux, with clang)".to_owned())
    }

    fn check_memory(&self, bytes: f64) -> Result<(), String> {
        self.memory.check(bytes).map_err(|error| error.to_string())
    }
}
