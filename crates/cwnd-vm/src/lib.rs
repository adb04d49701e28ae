//! Other Linux kernels than the host's, in virtual machines with virtual time.
//!
//! ```text
//!  this host                                    virtual machine (QEMU, instructions are its clock)
//!  Kernel ── vmlinuz, modules ─────────────────▶ boots
//!  Machine ─ program, libraries, the job ──────▶ initramfs: BusyBox runs the job
//!          ◀─ first serial line: what it prints
//!          ◀─ second serial line: its exit code and its result
//! ```
//!
//! A machine has one processor, which QEMU interprets. With [`Clock::Instructions`] its time advances with the instructions that
//! it executes, one nanosecond each, and jumps over idle time. The host's load therefore does not change what happens in it.
//!
//! [`VirtualKernel`] is an [`Engine`](cwnd_scenario::Engine): the laboratory of `cwnd-lab`, in this machine.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod archive;
mod engine;
mod image;
mod initramfs;
mod kernel;
mod machine;
mod packages;
mod processor;
mod systemd;

pub use engine::{DEFAULT_KERNEL, VERSION, VirtualKernel, answer};
pub use initramfs::{Init, Job};
pub use kernel::{Kernel, default_folder};
pub use machine::{Clock, Ended, Machine, Printed};
pub use systemd::missing as systemd_missing;

use std::path::Path;

/// Programs of this host that a virtual machine is made with, and the Debian packages that have them.
const PROGRAMS: [(&str, &str); 4] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("busybox", "busybox-static"),
    ("ip", "iproute2"),
    ("ldd", "libc-bin"),
];

/// Returns why this host cannot run virtual machines: what is missing, each with the command that installs it.
pub fn missing() -> Vec<String> {
    if std::env::consts::ARCH != "x86_64" {
        return vec![format!("virtual machines are for x86_64, and this is {}", std::env::consts::ARCH)];
    }
    let absent = PROGRAMS.iter().filter(|(program, _)| which(program).is_none());
    absent.map(|(program, package)| format!("there is no `{program}`: apt-get install {package}")).collect()
}

/// Returns where a program is, by `PATH` and the folders of system programs.
fn which(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(Into::into));
    folders.map(|folder| folder.join(program)).find(|file| Path::is_file(file))
}
