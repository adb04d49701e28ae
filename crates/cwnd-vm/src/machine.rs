//! A virtual machine that runs one job.

use crate::initramfs::{self, Job};
use crate::kernel::Kernel;
use crate::missing;
use crate::processor::OneProcessor;
use cwnd_lab::VIRTUAL_TIME;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The clock of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// A nanosecond for each instruction, and idle time is skipped.
    #[default]
    Instructions,
    /// The host's.
    Host,
}

/// A machine with a kernel and a program.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The kernel.
    pub kernel: Kernel,
    /// The program that is `cwnd` in the machine: usually this one.
    pub program: PathBuf,
    /// Its clock.
    pub clock: Clock,
    /// Its memory, MiB.
    pub memory: u32,
    /// A job that takes longer than this by the host's clock is ended.
    pub at_most: Duration,
}

/// What a job has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code.
    pub code: i32,
    /// What it wrote into the file `result`, in its folder.
    pub result: Vec<u8>,
}

/// What a machine prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed<'a> {
    /// Some of the job's standard output, if the job has [`Job::streams`].
    Output(&'a [u8]),
    /// A line of anything else: the kernel's messages, standard error, and standard output without streams.
    Line(&'a str),
}

/// How often it is looked whether a job is to be stopped.
const TICK: Duration = Duration::from_millis(20);

/// The processor. Without ERMS and FSRM the kernel copies and clears words instead of bytes. QEMU counts each of them as an
/// instruction, so that bytes would take eight times as long.
const PROCESSOR: &str = "max,rdrand=off,rdseed=off,erms=off,fsrm=off";

/// Arguments of the kernel. It gathers its random numbers from its own timing alone, and places its code as it was linked. It does nothing
/// that takes milliseconds of virtual time in which no packet moves: it has no huge pages, which it would clear, and keeps few free pages
/// for its processor, since it may give 2,000 of them back at once when sockets' packets are freed. Nor does it test its ciphers, ask
/// security modules, audit, choose how deeply to idle, measure pressure, charge memory to groups, look for preemption, clear memory before
/// it is used, check copies for overflows or move its stacks, all of which takes instructions. Nor does it, at its start, test the source of
/// jitter and a derivation of keys, read certificates, or make events of its probes.
const KERNEL_ARGUMENTS: &str = "console=ttyS0 quiet panic=-1 nokaslr norandmaps random.trust_cpu=off random.trust_bootloader=off \
                                tsc=reliable mitigations=off transparent_hugepage=never \
                                sysctl.vm.percpu_pagelist_high_fraction=1000000 cryptomgr.notests lsm= audit=0 cpuidle.off=1 \
                                psi=0 cgroup_disable=memory preempt=none init_on_alloc=0 hardened_usercopy=off \
                                randomize_kstack_offset=off \
                                initcall_blacklist=jent_mod_init,init_kprobe_trace,load_system_certificate_list,crypto_kdf108_init";

/// QEMU's arguments for [`Clock::Instructions`]. One of its threads interprets the processor, another one moves the clock when the processor
/// idles. Without a recording they may race for the clock, and about one run in ten differed in the last digits. While
/// QEMU records what happens, the two exclude each other. The recording itself is not kept.
const INSTRUCTIONS: [&str; 4] =
    ["-icount", "shift=0,sleep=off,rr=record,rrfile=/dev/null", "-rtc", "base=2026-01-01,clock=vm"];

/// The kernel's arguments for [`Clock::Instructions`], besides [`cwnd_lab::VIRTUAL_TIME`]: the HPET is its timer. To calibrate the
/// processor's own takes 200 million instructions in which the clock is read: four seconds of the host.
const INSTRUCTIONS_TIMER: &str = "nolapic_timer";

impl Machine {
    /// Creates a machine with the kernel, this program, [`Clock::Instructions`] and 1 GiB.
    ///
    /// # Errors
    /// If it is not known where this program is.
    pub fn new(kernel: Kernel) -> Result<Machine, String> {
        let program = std::env::current_exe().map_err(|error| format!("this program's file: {error}"))?;
        let at_most = Duration::from_secs(3600);
        Ok(Machine { kernel, program, clock: Clock::default(), memory: 1024, at_most })
    }

    /// Boots, runs a job, and returns what it left. What it prints goes to `printed`. Ends the machine when `stop` is true.
    ///
    /// # Errors
    /// If something is missing, the machine ends before the job does, or it takes too long.
    pub fn run(
        &self,
        job: &Job,
        stop: &AtomicBool,
        mut printed: impl FnMut(Printed<'_>),
    ) -> Result<Ended, String> {
        if let [first, ..] = &missing()[..] {
            return Err(first.clone());
        }
        let folder = Folder::new()?;
        let (archive, result) = (folder.path.join("initramfs"), folder.path.join("result"));
        initramfs::write(&self.kernel, &self.program, job, &archive)?;
        let output = job.streams.then(|| folder.path.join("output"));
        let errors = folder.path.join("errors");
        let to_errors =
            fs::File::create(&errors).map_err(|error| format!("{}: {error}", errors.display()))?;
        let mut qemu = Qemu(
            self.command(&archive, &result, output.as_deref())
                .stderr(to_errors)
                .spawn()
                .map_err(|error| format!("`qemu-system-x86_64`: {error}"))?,
        );
        let mut processor = (self.clock == Clock::Instructions).then(|| OneProcessor::new(qemu.0.id()));
        let (sender, lines) = mpsc::channel();
        let lines_of = qemu.0.stdout.take().ok_or("the machine has no serial line")?;
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(lines_of).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line);
                if sender.send(line.trim_end_matches('\r').to_owned()).is_err() {
                    return;
                }
            }
        });
        let mut output = output.map(Growing::new);
        let mut pass_on = |printed: &mut dyn FnMut(Printed<'_>)| {
            if let Some(new) = output.as_mut().map(Growing::new_bytes).filter(|new| !new.is_empty()) {
                printed(Printed::Output(&new));
            }
        };
        let begin = Instant::now();
        loop {
            let ended = match lines.recv_timeout(TICK) {
                Ok(said) => {
                    printed(Printed::Line(&said));
                    false
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => true,
                Err(mpsc::RecvTimeoutError::Timeout) => false,
            };
            pass_on(&mut printed);
            if ended {
                break;
            }
            if let Some(processor) = &mut processor {
                processor.renew();
            }
            if stop.load(Ordering::Relaxed) {
                return Err("it was stopped".to_owned());
            }
            if begin.elapsed() > self.at_most {
                return Err(format!("the machine had not ended after {} s", self.at_most.as_secs()));
            }
        }
        let _ = reader.join();
        let status = qemu.0.wait().map_err(|error| format!("`qemu-system-x86_64`: {error}"))?;
        pass_on(&mut printed);
        let ended = fs::read(&result).ok().as_deref().and_then(ended);
        ended.ok_or_else(|| {
            let said = fs::read_to_string(&errors).unwrap_or_default();
            let said = if said.is_empty() { "its kernel did not come so far".to_owned() } else { said };
            format!("the machine ended before its job did ({status}): {}", said.trim())
        })
    }

    fn command(&self, archive: &Path, result: &Path, output: Option<&Path>) -> Command {
        let mut qemu = Command::new("qemu-system-x86_64");
        qemu.args(["-accel", "tcg", "-cpu", PROCESSOR, "-smp", "1", "-seed", "1"])
            .args(["-m", &self.memory.to_string()])
            .args(["-nodefaults", "-display", "none", "-no-reboot"])
            .args(["-serial", "stdio", "-serial", &format!("file:{}", result.display())])
            .arg("-kernel")
            .arg(&self.kernel.image)
            .arg("-initrd")
            .arg(archive);
        if let Some(output) = output {
            qemu.args(["-serial", &format!("file:{}", output.display())]);
        }
        let mut arguments = KERNEL_ARGUMENTS.to_owned();
        if self.clock == Clock::Instructions {
            qemu.args(INSTRUCTIONS);
            arguments += &format!(" {INSTRUCTIONS_TIMER} {VIRTUAL_TIME}");
        }
        qemu.args(["-append", &arguments]);
        // What a terminal sends to cwnd is not for it.
        qemu.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
        cwnd_lab::end_with_this_thread(&mut qemu);
        qemu
    }
}

/// Reads what the second serial line has: `ended CODE LENGTH`, and that many bytes.
fn ended(written: &[u8]) -> Option<Ended> {
    let end = written.iter().position(|byte| *byte == b'\n')?;
    let (head, result) = (std::str::from_utf8(&written[..end]).ok()?, &written[end + 1..]);
    let mut words = head.split_whitespace();
    let (Some("ended"), Some(code), Some(length)) = (words.next(), words.next(), words.next()) else {
        return None;
    };
    let length: usize = length.parse().ok()?;
    (result.len() == length).then_some(())?;
    Some(Ended { code: code.parse().ok()?, result: result.to_vec() })
}

/// A file that another process appends to.
struct Growing {
    path: PathBuf,
    file: Option<fs::File>,
}

impl Growing {
    fn new(path: PathBuf) -> Growing {
        Growing { path, file: None }
    }

    /// Returns what was appended since the last time. A file that is not there yet is empty.
    fn new_bytes(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.file.is_none() {
            self.file = fs::File::open(&self.path).ok();
        }
        if let Some(file) = &mut self.file {
            let _ = file.read_to_end(&mut bytes);
        }
        bytes
    }
}

/// A running QEMU, which ends when this is dropped.
struct Qemu(Child);

impl Drop for Qemu {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder for the files of a machine, which is removed when this is dropped. If the process is killed, the next machine removes it.
struct Folder {
    path: PathBuf,
    /// A process that is killed loses it, while another may get the process's number.
    _lock: fs::File,
}

/// What the names of folders begin with, before the numbers of the process and of its machine.
const FOLDER: &str = "cwnd-vm";

impl Folder {
    fn new() -> Result<Folder, String> {
        Folder::within(&std::env::temp_dir())
    }

    fn within(parent: &Path) -> Result<Folder, String> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        remove_left(parent);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{FOLDER}-{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                // Before it is locked, another process may remove it as one that was left.
                Ok(()) => {
                    if let Some(lock) = lock(&path) {
                        return Ok(Folder { path, _lock: lock });
                    }
                }
                // One that was left, and cannot be removed.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("{}: {error}", path.display())),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes this user's folders of processes that were killed.
fn remove_left(parent: &Path) {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let numbers = name.to_str().and_then(|name| name.strip_prefix(FOLDER)?.strip_prefix('-'));
        let is_of_machine = numbers
            .and_then(|numbers| numbers.split_once('-'))
            .is_some_and(|(process, machine)| is_number(process) && is_number(machine));
        // Links are not followed.
        let is_own = || entry.metadata().is_ok_and(|about| about.is_dir() && about.uid() == user);
        if is_of_machine
            && is_own()
            && let Some(_lock) = lock(&entry.path())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Locks a folder, unless another process has the lock or has removed the folder.
fn lock(path: &Path) -> Option<fs::File> {
    let folder = fs::File::open(path).ok()?;
    rustix::fs::flock(&folder, rustix::fs::FlockOperation::NonBlockingLockExclusive).ok()?;
    let is_there = fs::metadata(path).ok()?.ino() == folder.metadata().ok()?.ino();
    is_there.then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_is_read_once() {
        let folder = Folder::new().unwrap();
        let path = folder.path.join("output");
        let mut growing = Growing::new(path.clone());
        assert!(growing.new_bytes().is_empty());
        let mut file = fs::File::create(&path).unwrap();
        for part in [&b"ab\r\n"[..], b"\xff"] {
            std::io::Write::write_all(&mut file, part).unwrap();
            assert_eq!(growing.new_bytes(), part);
        }
        assert!(growing.new_bytes().is_empty());
    }

    #[test]
    fn folders_of_killed_processes_are_removed() {
        let parent = Folder::new().unwrap();
        let own = Folder::within(&parent.path).unwrap();
        // Process 1 is there, and has not made this one.
        let left = parent.path.join("cwnd-vm-1-0");
        let others = ["cwnd-vm-lock-1", "cwnd-vm-1", "cwnd-vm--0", "cwnd-vm-1-0-1"];
        for name in others.iter().map(|name| parent.path.join(name)).chain([left.clone()]) {
            fs::create_dir(&name).unwrap();
            fs::write(name.join("initramfs"), "x").unwrap();
        }
        let second = Folder::within(&parent.path).unwrap();
        assert!(!left.exists());
        assert!(own.path.exists() && second.path.exists());
        assert!(others.iter().all(|name| parent.path.join(name).exists()));
    }

    #[test]
    fn a_result_is_whole_or_none() {
        let whole = Some(Ended { code: 3, result: b"a\nb".to_vec() });
        assert_eq!(ended(b"ended 3 3\na\nb"), whole);
        assert_eq!(ended(b"ended 0 0\n"), Some(Ended { code: 0, result: Vec::new() }));
        for broken in [&b"ended 3 4\na\nb"[..], b"", b"ended 3 3", b"panic 3 3\nabc", b"ended x 1\na"] {
            assert_eq!(ended(broken), None);
        }
    }
}
