//! Network namespaces without a name: they, and all that is in them, go away with the last that holds them, be it that the
//! process was killed.

use crate::system;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;

/// A network namespace.
pub struct Namespace(OwnedFd);

impl Namespace {
    /// A new one, with nothing but a loopback device that is down.
    ///
    /// # Errors
    /// Without the right to (CAP_SYS_ADMIN).
    pub fn new() -> io::Result<Namespace> {
        let made = thread::spawn(|| {
            // SAFETY: a call with a plain number; it concerns this thread alone, which ends here.
            if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
                return Err(io::Error::last_os_error());
            }
            File::open("/proc/thread-self/ns/net").map(|file| Namespace(file.into()))
        });
        made.join().expect("it does not panic")
    }

    /// Do something inside, on a thread of its own: what it opens there stays there.
    ///
    /// # Errors
    /// Those of what is done, or that of the entering.
    pub fn within<T: Send>(&self, what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        thread::scope(|scope| {
            let inside = scope.spawn(|| {
                self.enter()?;
                what()
            });
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Take the calling thread into it.
    ///
    /// # Errors
    /// Without the right to.
    pub fn enter(&self) -> io::Result<()> {
        // SAFETY: a call with plain numbers.
        match unsafe { libc::setns(self.0.as_raw_fd(), libc::CLONE_NEWNET) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// A program that will run inside. It is killed when the thread that starts it ends, be it that the process was killed.
    ///
    /// # Errors
    /// If no further descriptor can be had.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> io::Result<Command> {
        let mut command = Command::new(program);
        let fd = self.0.try_clone()?;
        end_with_this_thread(&mut command);
        // SAFETY: this call may be made between fork and exec; nothing is allocated or locked.
        unsafe {
            command.pre_exec(move || match libc::setns(fd.as_raw_fd(), libc::CLONE_NEWNET) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            });
        }
        Ok(command)
    }

    /// Have `ip` do something inside: commands as its `-batch` takes them, a line each.
    ///
    /// # Errors
    /// What `ip` says, with the commands.
    pub fn ip(&self, commands: &[String]) -> io::Result<()> {
        let done = system::run(self.command("ip")?.args(["-batch", "-"]), &(commands.join("\n") + "\n"));
        done.map_err(|error| {
            io::Error::new(error.kind(), format!("{error} (it was to do: {})", commands.join("; ")))
        })
    }

    /// Where other processes find it, for as long as this process has it.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// A handle of the same namespace.
    ///
    /// # Errors
    /// If no further descriptor can be had.
    pub fn try_clone(&self) -> io::Result<Namespace> {
        self.0.try_clone().map(Namespace)
    }
}

/// Has a program killed when the thread that starts it ends, also if the process is killed.
pub fn end_with_this_thread(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: these calls may be made between fork and exec; nothing is allocated or locked.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            // A parent that was killed before that is not waited for.
            if libc::getppid().cast_unsigned() != parent {
                libc::_exit(1);
            }
            Ok(())
        });
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
