//! The file system that a machine boots from: programs and their libraries, modules, the job, and the first process.

use crate::kernel::Kernel;
use crate::packages::output;
use crate::which;
use cpio::newc::{Builder, trailer};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is run in a machine.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Lines for a shell, in the folder `/job`. `cwnd` and `ip` are in its path.
    pub script: String,
    /// Files in that folder: names and contents.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Commands that BusyBox is, in `/bin`.
const COMMANDS: [&str; 22] = [
    "sh", "mount", "mkdir", "cat", "echo", "uname", "insmod", "lsmod", "poweroff", "ls", "sleep", "dmesg",
    "grep", "wc", "stty", "readlink", "kill", "test", "ps", "rm", "head", "time",
];

/// The first process. It prints on the first serial line, and the job's exit code and the length and bytes of its result on the
/// second.
const INIT: &str = r#"#!/bin/sh
export PATH=/bin HOME=/root LANG=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup2 /sys/fs/cgroup
for module in /modules/*.ko; do insmod "$module" 2> /dev/null; done
ip link set lo up
stty -F /dev/ttyS1 raw -echo
cd /job
sh /job/script
code=$?
test -f result || : > result
{ echo "ended $code $(wc -c < result)"; cat result; } > /dev/ttyS1
poweroff -f
"#;

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
    let target = fs::File::create(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut archive = Archive { out: std::io::BufWriter::new(target), inode: 0, folders: BTreeSet::new() };
    FOLDERS.iter().try_for_each(|folder| archive.folder(folder))?;
    archive.add("init", INIT.as_bytes(), 0o100_755)?;
    let busybox = which("busybox").ok_or("there is no `busybox`")?;
    archive.copy("bin/busybox", &busybox)?;
    for command in COMMANDS {
        archive.add(&format!("bin/{command}"), b"busybox", 0o120_777)?;
    }
    let ip = which("ip").ok_or("there is no `ip`")?;
    archive.copy("bin/ip", &ip)?;
    archive.copy("bin/cwnd", program)?;
    let libraries: BTreeSet<PathBuf> = [ip.as_path(), program, busybox.as_path()]
        .into_iter()
        .map(libraries)
        .collect::<Result<Vec<_>, _>>()?
        .concat()
        .into_iter()
        .collect();
    for library in libraries {
        let name = library.to_string_lossy().trim_start_matches('/').to_owned();
        archive.copy(&name, &library)?;
    }
    for module in &kernel.modules {
        let name = module.file_name().unwrap_or_default().to_string_lossy();
        archive.copy(&format!("modules/{name}"), module)?;
    }
    archive.add("job/script", job.script.as_bytes(), 0o100_755)?;
    for (name, content) in &job.files {
        archive.add(&format!("job/{name}"), content, 0o100_644)?;
    }
    let mut out = trailer(archive.out).map_err(failed)?;
    out.flush().map_err(failed)
}

/// Returns the libraries of a program, its loader among them.
fn libraries(program: &Path) -> Result<Vec<PathBuf>, String> {
    let listed = match output(Command::new("ldd").arg(program)) {
        Ok(listed) => listed,
        Err(why) if why.contains("not a dynamic executable") => String::new(),
        Err(why) => return Err(why),
    };
    let paths = listed.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')));
    Ok(paths.map(PathBuf::from).collect())
}

fn failed(error: std::io::Error) -> String {
    format!("the file system of the machine cannot be written: {error}")
}

struct Archive<W: Write> {
    out: W,
    inode: u32,
    folders: BTreeSet<String>,
}

impl<W: Write> Archive<W> {
    fn folder(&mut self, name: &str) -> Result<(), String> {
        if let Some((parent, _)) = name.rsplit_once('/') {
            self.folder(parent)?;
        }
        if self.folders.insert(name.to_owned()) { self.entry(name, b"", 0o040_755) } else { Ok(()) }
    }

    fn copy(&mut self, name: &str, file: &Path) -> Result<(), String> {
        let content = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        self.add(name, &content, 0o100_755)
    }

    fn add(&mut self, name: &str, content: &[u8], mode: u32) -> Result<(), String> {
        if let Some((folder, _)) = name.rsplit_once('/') {
            self.folder(folder)?;
        }
        self.entry(name, content, mode)
    }

    fn entry(&mut self, name: &str, content: &[u8], mode: u32) -> Result<(), String> {
        self.inode += 1;
        let entry = Builder::new(name).ino(self.inode).mode(mode).nlink(1);
        let size = u32::try_from(content.len()).map_err(|_| format!("{name} has more than 4 GiB"))?;
        let mut writer = entry.write(&mut self.out, size);
        writer.write_all(content).and_then(|()| writer.finish().map(drop)).map_err(failed)
    }
}
