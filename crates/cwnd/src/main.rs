//! The program `cwnd`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Many flows are many small allocations, which it places closer together than the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(cwnd::command_line(std::env::args_os().collect()))
}
