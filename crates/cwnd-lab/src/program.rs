//! A program in the foreground of a network, which gets the signals that are sent to this process.

use std::ffi::c_int;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};

/// The signals that users, terminals and service managers send to end a program.
const RELAYED: [c_int; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// The process that signals are passed on to; 0 while there is none.
static PROGRAM: AtomicI32 = AtomicI32::new(0);

/// The last signal that came while there was no program; 0 if none came.
static PENDING: AtomicI32 = AtomicI32::new(0);

/// From now on, signals that would end this process wait for a program, or go to it ([`Program`]). Signals that are ignored stay
/// ignored.
///
/// # Errors
/// If the kernel refuses a handler.
pub fn relay_signals() -> io::Result<()> {
    for signal in RELAYED {
        // SAFETY: zeros are a valid `sigaction`; both structures live as long as the calls, and the handler makes only calls
        // that are async-signal-safe.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let asked = libc::sigaction(signal, std::ptr::null(), &raw mut action);
            if asked == 0 && action.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            action.sa_sigaction = relay as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            if libc::sigaction(signal, &raw const action, std::ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    Ok(())
}

/// Passes a signal on. What a terminal sends comes from the kernel and goes to all processes of its foreground group, so that the
/// program has it already.
extern "C" fn relay(signal: c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    /// `asm-generic/siginfo.h`
    const SI_KERNEL: c_int = 0x80;
    let program = PROGRAM.load(Ordering::SeqCst);
    if program == 0 {
        PENDING.store(signal, Ordering::SeqCst);
        return;
    }
    // SAFETY: the kernel passes a valid structure; `kill` is async-signal-safe and the number is that of a child that has not
    // been waited for. The interrupted code finds its `errno` as it was.
    unsafe {
        if (*info).si_code != SI_KERNEL {
            let errno = *libc::__errno_location();
            libc::kill(program, signal);
            *libc::__errno_location() = errno;
        }
    }
}

/// A program that has been started. There is one at a time in a process.
pub struct Program(Child);

impl Program {
    /// Starts it, and passes on a signal that came before ([`relay_signals`]).
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(mut command: Command) -> io::Result<Program> {
        let child = command.spawn()?;
        let id = child.id().cast_signed();
        PROGRAM.store(id, Ordering::SeqCst);
        let pending = PENDING.swap(0, Ordering::SeqCst);
        if pending != 0 {
            // SAFETY: a call with plain numbers; the child has not been waited for.
            unsafe { libc::kill(id, pending) };
        }
        Ok(Program(child))
    }

    /// Returns how it ended; nothing if it has not.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        if code_of_ended(&self.0)?.is_none() {
            return Ok(None);
        }
        PROGRAM.store(0, Ordering::SeqCst);
        self.0.wait().map(Some)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        PROGRAM.store(0, Ordering::SeqCst);
    }
}

/// Returns the exit code of a child that has ended, as shells have it; nothing if it has not. It stays a child until it is waited for: no
/// signal may go to another process that gets its number.
pub(crate) fn code_of_ended(child: &Child) -> io::Result<Option<i32>> {
    // SAFETY: zeros are a valid `siginfo_t`, which the call fills, with that of a child's end.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        if libc::waitid(libc::P_PID, child.id(), &raw mut info, options) != 0 {
            return Err(io::Error::last_os_error());
        }
        let killed = info.si_code != libc::CLD_EXITED;
        Ok((info.si_pid() != 0).then(|| info.si_status() + if killed { 128 } else { 0 }))
    }
}

/// Returns the exit code of a program that ended in this way, as shells have it: 128 more than the signal that killed it.
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    fn code_of(line: &str) -> u8 {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        let mut program = Program::start(command).unwrap();
        loop {
            if let Some(status) = program.ended().unwrap() {
                return exit_code(status);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn exit_codes_are_those_of_shells() {
        assert_eq!(code_of("exit 0"), 0);
        assert_eq!(code_of("exit 7"), 7);
        assert_eq!(code_of("kill -TERM $$"), 143);
    }
}
