//! What programs in a network leave running ends with the network.

use crate::{namespace::Namespace, program::code_of_ended};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Waits for the end of its input, then kills the processes in the given network namespaces until there are none: those that a
/// program started have parents of their own, or none, so that neither the death of cwnd nor of that program reaches them. It is in
/// none of the namespaces itself.
const SCRIPT: &str = r#"
cat > /dev/null
for round in 1 2 3 4 5 6 7 8 9 10; do
    found=
    for process in /proc/[0-9]*; do
        namespace=$(readlink "$process/ns/net")
        case " $* " in
            *" ${namespace:-none} "*) kill -9 "${process#/proc/}" && found=1 ;;
        esac
    done
    test "$found" || exit 0
done
"#;

/// Ends all programs in some network namespaces when it is dropped, or when the process that has it ends in whatever way.
pub struct Guard(Child);

impl Guard {
    /// Guards these namespaces.
    ///
    /// # Errors
    /// If there is no shell.
    pub fn new<'a>(namespaces: impl IntoIterator<Item = &'a Namespace>) -> io::Result<Guard> {
        let link =
            |namespace: &Namespace| fs::read_link(format!("/proc/self/fd/{}", namespace.as_fd().as_raw_fd()));
        let links: Vec<_> = namespaces.into_iter().map(link).collect::<io::Result<_>>()?;
        let child = Command::new("sh")
            .args(["-c", SCRIPT, "sh"])
            .args(links)
            // Its end is that of the last process that has the other side, and no program is given that.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What a terminal sends to cwnd is not for it.
            .process_group(0)
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("`sh`: {error}")))?;
        Ok(Guard(child))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// A command for a shell, in a process group of its own. All of the group is killed when this is dropped.
pub struct Server(Child);

impl Server {
    /// Starts it in a namespace. It has no input, and prints on standard error.
    ///
    /// # Errors
    /// If there is no shell.
    pub fn start(line: &str, namespace: &Namespace) -> io::Result<Server> {
        let mut command = namespace.command("sh")?;
        // What a terminal sends to the program that it serves is not for it.
        command.arg("-c").arg(line).process_group(0);
        // Standard input and output are the program's.
        command.stdin(Stdio::null()).stdout(io::stderr()).spawn().map(Server)
    }

    /// Returns its exit code if it has failed: it has ended, and not with zero.
    pub fn failed(&self) -> Option<i32> {
        code_of_ended(&self.0).ok().flatten().filter(|code| *code != 0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SAFETY: a call with plain numbers. The number is still the group's, since nobody has waited for its first process.
        unsafe { libc::killpg(self.0.id().cast_signed(), libc::SIGKILL) };
        let _ = self.0.wait();
    }
}
