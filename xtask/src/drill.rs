//! `cargo xtask drill`: the scripts of a packetdrill suite against the simulated endpoint.
//!
//! The suites are licensed under the GPL and are not part of this repository. The chore plays those of a folder, or fetches those of
//! Linux from Debian's package of its source.

use crate::command::{cargo, output, root, run_showing, succeeds};
use crate::options::Options;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Its options, for the list.
pub const OPTIONS: &str = "[--suite FOLDER]";

const SUITE: &str = "--suite";

/// The folders of packetdrill's own suite that test congestion control and recovery.
const FOLDERS: [&str; 7] = [
    "slow_start",
    "cubic",
    "fast_retransmit",
    "fast_recovery",
    "sack",
    "limited_transmit",
    "cwnd_moderation",
];

/// Where Linux's source has its scripts.
const IN_LINUX: &str = "tools/testing/selftests/net/packetdrill";

/// The package of Debian whose Linux is the first with packetdrill scripts.
const PACKAGE: &str = "linux-source-6.12";

/// Play the scripts and print a table. Whether they could be played; a script that fails is a row of the table.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[SUITE], &[])?;
    let suite = match options.text(SUITE) {
        Some(folder) => PathBuf::from(folder),
        None => from_debian()?,
    };
    let mut play = cargo();
    play.args(["run", "--quiet", "--release", "--package", "cwnd-drill", "--example", "suite", "--"]);
    play.args(folders(&suite)?);
    run_showing(&mut play, |_| {})
}

/// Returns the folders to play: those on congestion control where the suite is packetdrill's own, otherwise the suite.
fn folders(suite: &Path) -> Result<Vec<PathBuf>, String> {
    let absolute = suite.canonicalize().map_err(|error| format!("{}: {error}", suite.display()))?;
    for base in [absolute.clone(), absolute.join("gtests/net/tcp"), absolute.join(IN_LINUX)] {
        let folders: Vec<PathBuf> =
            FOLDERS.iter().map(|name| base.join(name)).filter(|path| path.is_dir()).collect();
        if !folders.is_empty() {
            return Ok(folders);
        }
        if base.ends_with(IN_LINUX) && base.is_dir() {
            return Ok(vec![base]);
        }
    }
    Ok(vec![absolute])
}

/// Installs Debian's package of Linux's source and extracts its scripts. Returns their folder.
fn from_debian() -> Result<PathBuf, String> {
    let target = root().join("target/packetdrill");
    let scripts = target.join(PACKAGE).join(IN_LINUX);
    if scripts.is_dir() {
        return Ok(scripts);
    }
    let archive = PathBuf::from(format!("/usr/src/{PACKAGE}.tar.xz"));
    if !archive.is_file() {
        if !succeeds(Command::new("apt-cache").args(["show", PACKAGE])) {
            return Err(format!(
                "apt offers no package {PACKAGE}; name a checkout of google/packetdrill or of Linux: --suite FOLDER"
            ));
        }
        println!("installing {PACKAGE}");
        output(Command::new("apt-get").args(["install", "--yes", "--no-install-recommends", PACKAGE]))?;
    }
    std::fs::create_dir_all(&target).map_err(|error| format!("{}: {error}", target.display()))?;
    println!("extracting {IN_LINUX} of {}", archive.display());
    let mut extract = Command::new("tar");
    extract.arg("--extract").arg("--file").arg(&archive).arg("--directory").arg(&target);
    output(extract.args(["--wildcards", &format!("*/{IN_LINUX}/*")]))?;
    match scripts.is_dir() {
        true => Ok(scripts),
        false => Err(format!("{} has no folder {IN_LINUX}", archive.display())),
    }
}
