//! `cwnd completions`: what shells complete.

use crate::{failure::Failure, output};
use clap::{Args, Command};
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  cwnd completions bash > ~/.local/share/bash-completion/completions/cwnd
  cwnd completions zsh > \"${fpath[1]}/_cwnd\"
  cwnd completions fish > ~/.config/fish/completions/cwnd.fish";

/// Print a script that completes commands and flags in a shell.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Does it, for the whole command line.
pub fn run(flags: &Flags, mut cli: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut cli, "cwnd", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}
