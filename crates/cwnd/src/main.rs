//! The program `cwnd`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(cwnd::command_line(std::env::args_os().collect()))
}
