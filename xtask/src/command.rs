//! Running other programs.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;
use wait4::Wait4;

/// The cargo that runs this program.
pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    forget_package(cargo.current_dir(root()));
    cargo
}

/// Removes what cargo says of this package from the environment of a command that compiles. The build scripts of some libraries
/// depend on it, so that they and all that needs them would be compiled again after a chore, and again after what is no chore.
pub fn forget_package(command: &mut Command) {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
        command.env_remove(name);
    }
}

/// The repository.
pub fn root() -> std::path::PathBuf {
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_owned()
}

/// A command as a person would write it.
pub fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let program = program.file_name().unwrap_or(command.get_program()).to_string_lossy();
    let quoted = command.get_args().map(|word| {
        let word = word.to_string_lossy();
        if word.is_empty() || word.contains([' ', '"', ';', '*']) { format!("'{word}'") } else { word.into() }
    });
    std::iter::once(program.into_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

/// What a command writes to its standard output. It must succeed; else what it wrote to its standard error
/// says why.
pub fn output(command: &mut Command) -> Result<String, String> {
    let failed = |why: &dyn std::fmt::Display, command: &Command| format!("{}: {why}", shown(command));
    let done = command.stdin(Stdio::null()).output().map_err(|error| failed(&error, command))?;
    if !done.status.success() {
        let why = String::from_utf8_lossy(&done.stderr);
        return Err(failed(&format!("{}\n{}", done.status, why.trim_end()), command));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Whether a command can be run and succeeds; what it says is not shown.
pub fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Runs a command that prints to this terminal. Returns whether it succeeds.
pub fn run(command: &mut Command) -> Result<bool, String> {
    command.stdin(Stdio::null()).status().map(|status| status.success()).map_err(|error| error.to_string())
}

/// Runs a command, prints its standard output and standard error, and passes each of their lines to `each` as well.
/// Returns whether it succeeds.
pub fn run_showing(command: &mut Command, each: impl FnMut(&str)) -> Result<bool, String> {
    run_timed(command, each).map(|(succeeds, _)| succeeds)
}

/// As [`run_showing`]. Returns the CPU time of the command and of all that it waited for, too.
pub fn run_timed(command: &mut Command, mut each: impl FnMut(&str)) -> Result<(bool, Duration), String> {
    let failed = |error: std::io::Error| error.to_string();
    let (pipe, writer) = std::io::pipe().map_err(failed)?;
    command.stdin(Stdio::null()).stdout(writer.try_clone().map_err(failed)?).stderr(writer);
    let mut child = command.spawn().map_err(failed)?;
    // The command holds the ends that are written to. The pipe ends when the last of them is closed.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut stdout = std::io::stdout().lock();
    for line in BufReader::new(pipe).split(b'\n') {
        let line = line.map_err(failed)?;
        let line = String::from_utf8_lossy(&line);
        each(&line);
        writeln!(stdout, "{line}").map_err(failed)?;
    }
    let ended = child.wait4().map_err(failed)?;
    Ok((ended.status.success(), ended.rusage.utime + ended.rusage.stime))
}

/// Install a Debian package if that can be done without asking anyone: as root, with apt. Says what it does.
/// The answer says why not, and what to do.
pub fn install(package: &str) -> Result<(), String> {
    let by_hand = format!("install it: sudo apt-get install {package}");
    let is_root = output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !is_root || !succeeds(Command::new("apt-get").arg("--version")) {
        return Err(by_hand);
    }
    println!("apt-get install --yes --no-install-recommends {package}");
    let install = || {
        let mut apt = Command::new("apt-get");
        apt.args(["install", "--yes", "--no-install-recommends", package])
            .env("DEBIAN_FRONTEND", "noninteractive");
        succeeds(&mut apt)
    };
    // A fresh machine does not know yet what packages there are.
    if install() || succeeds(Command::new("apt-get").arg("update")) && install() {
        return Ok(());
    }
    Err(format!("apt-get cannot install {package}; {by_hand}"))
}
