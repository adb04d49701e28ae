//! The program `cwnd`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Many flows are many small allocations. It places them closer together than the system's allocator, and in huge pages: without these
/// much of the time is spent on looking up addresses (docs/speed.md has the measurement).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(cwnd::command_line(std::env::args_os().collect()))
}
