//! systemd as the first process of a machine: the files of this host's package, and what runs the job when the machine is up.

use crate::archive::Archive;
use crate::packages::output;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the program is: since Debian 13 in the first place, before in the second.
const PROGRAMS: [&str; 2] = ["/usr/lib/systemd/systemd", "/lib/systemd/systemd"];

/// What systemd needs of its packages, by the beginning of the path.
const PLACES: [&str; 7] = [
    "/lib/systemd/",
    "/usr/lib/systemd/",
    "/usr/lib/sysctl.d/",
    "/usr/lib/tmpfiles.d/",
    "/etc/systemd/",
    "/bin/",
    "/usr/bin/",
];

/// Units that a machine without udev, D-Bus and terminals cannot start.
const MASKED: [&str; 2] = ["getty.target", "systemd-logind.service"];

/// The service of the unit of the job.
const JOB: &str = "[Service]
Type=oneshot
Environment=PATH=/bin:/usr/bin HOME=/root LANG=C.UTF-8
ExecStart=/bin/sh /run-job
StandardOutput=file:/dev/ttyS0
StandardError=file:/dev/ttyS0
";

/// Returns why no machine can be booted with systemd.
pub fn missing() -> Option<String> {
    let is_there = PROGRAMS.iter().any(|program| Path::new(program).is_file());
    (!is_there).then(|| "there is no systemd: apt-get install systemd".to_owned())
}

/// Adds what systemd needs to an archive, and the unit of the job, which is started after all others of the boot and these units.
///
/// # Errors
/// systemd is not installed as a package, or a file cannot be read.
pub fn add(archive: &mut Archive<impl Write>, enabled: &[String]) -> Result<(), String> {
    if let Some(missing) = missing() {
        return Err(missing);
    }
    // The library became a package of its own in Debian 12.
    let listed = output(Command::new("dpkg-query").args(["--listfiles", "systemd", "libsystemd-shared"]))?;
    let wanted = |path: &&str| PLACES.iter().any(|place| path.starts_with(place));
    let paths = listed.lines().filter(wanted).map(PathBuf::from);
    for path in paths.filter(|path| path.is_symlink() || path.is_file()) {
        archive.mirror(&path)?;
    }
    let units = "etc/systemd/system";
    for unit in MASKED {
        archive.add(&format!("{units}/{unit}"), b"/dev/null", 0o120_777)?;
    }
    // No target waits for a unit without the default dependencies.
    let after = enabled.join(" ");
    let job = format!(
        "[Unit]\nDescription=The job of this virtual machine\nAfter=multi-user.target {after}\n\n{JOB}"
    );
    archive.add(&format!("{units}/cwnd-job.service"), job.as_bytes(), 0o100_644)?;
    archive.add(
        &format!("{units}/multi-user.target.wants/cwnd-job.service"),
        b"../cwnd-job.service",
        0o120_777,
    )?;
    // With an identity, this is no first boot, at which systemd would enable all units.
    archive.add("etc/machine-id", b"00000000000000000000000000000001\n", 0o100_644)?;
    archive.add("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n", 0o100_644)?;
    archive.add("etc/group", b"root:x:0:\n", 0o100_644)
}

/// Returns what the first process does when devices are there and modules are loaded: it enables units and becomes systemd.
pub fn first_process(enabled: &[String]) -> String {
    let enable = match enabled {
        [] => String::new(),
        units => format!("systemctl --root=/ enable {}\n", units.join(" ")),
    };
    let become_systemd: String =
        PROGRAMS.map(|program| format!("test -x {program} && exec {program}\n")).concat();
    enable + &become_systemd
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_enabled_before_systemd_starts() {
        let units = ["cwnd.service".to_owned(), "b.service".to_owned()];
        let lines = first_process(&units);
        assert!(
            lines.starts_with("systemctl --root=/ enable cwnd.service b.service\ntest -x /usr/lib"),
            "{lines}"
        );
        assert!(first_process(&[]).starts_with("test -x"));
    }
}
