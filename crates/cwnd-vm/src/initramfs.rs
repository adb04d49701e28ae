//! The file system that a machine boots from: programs and their libraries, modules, the job, and the first process.

use crate::archive::Archive;
use crate::kernel::Kernel;
use crate::{systemd, which};
use std::path::Path;

/// What is run in a machine.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Lines for a shell, in the folder `/job`. `cwnd` and `ip` are in its path.
    pub script: String,
    /// Files: names in that folder or absolute paths, and contents. All can be executed.
    pub files: Vec<(String, Vec<u8>)>,
    /// The first process.
    pub init: Init,
    /// Whether standard output is passed on apart from standard error and the kernel's messages ([`Printed`](crate::Printed)). Standard
    /// input is empty then.
    pub streams: bool,
}

/// The first process of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Init {
    /// A script of BusyBox, which runs the job at once.
    #[default]
    BusyBox,
    /// This host's systemd. It runs the job when everything that it starts at boot has been started.
    Systemd {
        /// Names of units that are enabled before it starts, as `cwnd.service`. Their files are in `/etc/systemd/system`.
        enabled: Vec<String>,
    },
}

/// Commands that BusyBox is, in `/bin`.
const COMMANDS: [&str; 22] = [
    "sh", "mount", "mkdir", "cat", "echo", "uname", "insmod", "lsmod", "poweroff", "ls", "sleep", "dmesg",
    "grep", "wc", "stty", "readlink", "kill", "test", "ps", "rm", "head", "time",
];

/// How every first process begins.
const BEGIN: &str = r#"#!/bin/sh
export PATH=/bin:/usr/bin HOME=/root LANG=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in /modules/*.ko; do insmod "$module" 2> /dev/null; done
"#;

/// What BusyBox does then.
const BUSYBOX: &str = "mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
exec sh /run-job
";

/// Runs the job, which prints on the first serial line. Its exit code and the length and bytes of its result go to the second one.
const RUN_JOB: &str = r#"stty -F /dev/ttyS1 raw -echo
cd /job
RUN
code=$?
test -f result || : > result
{ echo "ended $code $(wc -c < result)"; cat result; } > /dev/ttyS1
poweroff -f
"#;

/// How the job is run.
const RUN: &str = "sh /job/script";
/// The same with standard output on the third serial line.
const RUN_WITH_STREAMS: &str = "stty -F /dev/ttyS2 raw -echo
sh /job/script < /dev/null > /dev/ttyS2";

/// Folders that are there before anything is mounted.
const FOLDERS: [&str; 14] = [
    "bin", "dev", "etc", "job", "lib", "lib64", "modules", "proc", "root", "run", "sys", "tmp", "var",
    "var/tmp",
];

/// Writes the archive (`newc`, as Linux's documentation of initramfs has it).
///
/// # Errors
/// If a program or library cannot be read, or the archive cannot be written.
pub fn write(kernel: &Kernel, program: &Path, job: &Job, file: &Path) -> Result<(), String> {
    let mut archive = Archive::create(file)?;
    FOLDERS.iter().try_for_each(|folder| archive.folder(folder))?;
    let then = match &job.init {
        Init::BusyBox => BUSYBOX.to_owned(),
        Init::Systemd { enabled } => {
            systemd::add(&mut archive, enabled)?;
            systemd::first_process(enabled)
        }
    };
    archive.add("init", format!("{BEGIN}{then}").as_bytes(), 0o100_755)?;
    let run_job = RUN_JOB.replace("RUN", if job.streams { RUN_WITH_STREAMS } else { RUN });
    archive.add("run-job", run_job.as_bytes(), 0o100_755)?;
    let busybox = which("busybox").ok_or("there is no `busybox`")?;
    archive.copy("bin/busybox", &busybox)?;
    for command in COMMANDS {
        archive.add(&format!("bin/{command}"), b"busybox", 0o120_777)?;
    }
    let ip = which("ip").ok_or("there is no `ip`")?;
    archive.copy("bin/ip", &ip)?;
    archive.program("bin/cwnd", program)?;
    // Where the unit of docs/kernel.md has it.
    archive.add("usr/local/bin/cwnd", b"/bin/cwnd", 0o120_777)?;
    [ip.as_path(), program, busybox.as_path()]
        .into_iter()
        .try_for_each(|program| archive.libraries_of(program))?;
    for module in &kernel.modules {
        let name = module.file_name().unwrap_or_default().to_string_lossy();
        archive.module(&format!("modules/{name}"), module)?;
    }
    archive.add("job/script", job.script.as_bytes(), 0o100_755)?;
    for (name, content) in &job.files {
        let name = name.strip_prefix('/').map_or_else(|| format!("job/{name}"), str::to_owned);
        archive.add(&name, content, 0o100_755)?;
    }
    archive.finish()
}
