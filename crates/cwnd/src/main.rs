//! The program `cwnd`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Many flows are many small allocations. It places them closer together than the system's allocator, and in huge pages, which cause
/// fewer page faults and TLB misses (docs/speed.md has the measurement).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(cwnd::command_line(std::env::args_os().collect()))
}
