//! Kernels among Debian's packages.
//!
//! Packages are fetched with `apt-get` and a list of sources of its own, so that the host's sources stay as they are and nothing is
//! installed. Root is not needed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The suites that have kernels: the releases, and what was backported to them.
const SUITES: [&str; 4] = ["bookworm", "bookworm-backports", "trixie", "trixie-backports"];
const ARCHIVE: &str = "http://deb.debian.org/debian";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A list of Debian's packages in a folder.
pub struct Packages {
    folder: PathBuf,
}

impl Packages {
    /// Fetches the list into a folder; one that is there is brought up to date.
    ///
    /// # Errors
    /// If there is no `apt-get`, or the archive cannot be reached.
    pub fn fetch(folder: &Path) -> Result<Packages, String> {
        // apt takes relative folders for its own.
        let folder =
            &std::path::absolute(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for part in ["lists/partial", "cache/archives/partial"] {
            let part = folder.join(part);
            fs::create_dir_all(&part).map_err(|error| format!("{}: {error}", part.display()))?;
        }
        let sources: String =
            SUITES.map(|suite| format!("deb [signed-by={KEYRING}] {ARCHIVE} {suite} main\n")).concat();
        write(&folder.join("sources.list"), sources.as_bytes())?;
        write(&folder.join("status"), b"")?;
        let packages = Packages { folder: folder.to_owned() };
        output(packages.command("apt-get").arg("update")).map_err(|why| {
            format!(
                "the list of Debian's packages cannot be fetched ({KEYRING} is needed, and apt-get): {why}"
            )
        })?;
        Ok(packages)
    }

    /// Returns the packages of kernels for virtual machines, newest version last.
    ///
    /// # Errors
    /// If the list cannot be read.
    pub fn kernels(&self) -> Result<Vec<String>, String> {
        let pattern = r"^linux-image-[0-9].*-cloud-amd64(-unsigned)?$";
        let found = output(self.command("apt-cache").args(["search", "--names-only", pattern]))?;
        let names = found.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
        let mut names: Vec<String> =
            names.filter(|name| release_of(name).is_some_and(|release| release.contains('.'))).collect();
        // Of equal versions the signed one is last.
        names.sort_by_key(|name| (numbers(name), !name.ends_with("-unsigned")));
        // Packages that only refer to the newest of a series have no third number.
        names.retain(|name| numbers(name).len() >= 3);
        let depends = output(self.command("apt-cache").arg("depends").args(&names))?;
        names.retain(|name| parts(&depends, name).all(|part| !is_absent(part)));
        Ok(names)
    }

    /// Fetches a package of a kernel and the packages that its parts are in, and unpacks them into `target`.
    ///
    /// # Errors
    /// If one cannot be fetched or unpacked.
    pub fn unpack(&self, package: &str, target: &Path) -> Result<(), String> {
        let depends = output(self.command("apt-cache").args(["depends", package]))?;
        let names: Vec<&str> = std::iter::once(package).chain(parts(&depends, package)).collect();
        let downloads = self.folder.join("downloads");
        let _ = fs::remove_dir_all(&downloads);
        fs::create_dir_all(&downloads).map_err(|error| format!("{}: {error}", downloads.display()))?;
        output(self.command("apt-get").arg("download").args(&names).current_dir(&downloads))?;
        let files = fs::read_dir(&downloads).map_err(|error| format!("{}: {error}", downloads.display()))?;
        for file in files.flatten() {
            output(Command::new("dpkg-deb").arg("--extract").arg(file.path()).arg(target))?;
        }
        let _ = fs::remove_dir_all(&downloads);
        Ok(())
    }

    fn command(&self, program: &str) -> Command {
        let option = |name: &str, value: &Path| format!("{name}={}", value.display());
        let mut command = Command::new(program);
        for option in [
            option("Dir::Etc::sourcelist", &self.folder.join("sources.list")),
            "Dir::Etc::sourceparts=-".to_owned(),
            option("Dir::State::Lists", &self.folder.join("lists")),
            option("Dir::State::status", &self.folder.join("status")),
            option("Dir::Cache", &self.folder.join("cache")),
            "APT::Sandbox::User=root".to_owned(),
            "Acquire::Retries=3".to_owned(),
        ] {
            command.args(["-o", &option]);
        }
        command
    }
}

/// Returns the packages that have the image and the modules of a kernel, from what `apt-cache depends` prints of some packages. From
/// 6.19 on these are packages of their own.
fn parts<'a>(depends: &'a str, package: &str) -> impl Iterator<Item = &'a str> {
    let of_package = depends.lines().skip_while(move |line| *line != package).skip(1);
    let of_package = of_package.take_while(|line| line.starts_with([' ', '|']));
    let names = of_package.filter_map(|line| line.trim().strip_prefix("Depends: "));
    names.filter(|name| {
        let name = name.trim_start_matches('<');
        name.starts_with("linux-binary-") || name.starts_with("linux-modules-")
    })
}

/// Returns whether a package that another one needs is not in the archive: old versions of the parts go before those that need them.
fn is_absent(part: &str) -> bool {
    part.starts_with('<')
}

/// Runs a command and returns what it prints.
///
/// # Errors
/// If it cannot be run or fails, with what it says.
pub fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let done = command
        .stdin(Stdio::null())
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| format!("`{program}`: {error}"))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(format!("`{program}` failed ({}): {}", done.status, said.trim()));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn write(file: &Path, content: &[u8]) -> Result<(), String> {
    fs::write(file, content).map_err(|error| format!("{}: {error}", file.display()))
}

/// Returns the release in the name of a kernel's package, as `6.12.95+deb12-cloud-amd64`.
pub fn release_of(package: &str) -> Option<&str> {
    package.strip_prefix("linux-image-").map(|release| release.trim_end_matches("-unsigned"))
}

/// Returns the leading numbers of a release or a package's name, by which versions are ordered: 6, 12, 95, 12 of `6.12.95+deb12`.
pub fn numbers(name: &str) -> Vec<u32> {
    let release = release_of(name).unwrap_or(name);
    let version = release.split("-cloud").next().unwrap_or(release);
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        let package = "linux-image-6.12.95+deb12-cloud-amd64-unsigned";
        assert_eq!(release_of(package), Some("6.12.95+deb12-cloud-amd64"));
        assert_eq!(numbers(package), [6, 12, 95, 12]);
        assert_eq!(numbers("6.1.0-50-cloud-amd64"), [6, 1, 0, 50]);
        assert!(numbers("linux-image-6.12.9+deb12-cloud-amd64") < numbers("6.12.10+deb12-cloud-amd64"));
        assert_eq!(numbers("linux-image-6.12-cloud-amd64").len(), 2);
    }

    #[test]
    fn a_kernel_is_in_several_packages_which_may_be_gone() {
        let depends = "linux-image-6.12.1-cloud-amd64\n  Depends: kmod\n |Depends: dracut\n\
                       linux-image-6.19.1-cloud-amd64\n  Depends: kmod\n  Depends: linux-binary-6.19.1-cloud-amd64\n  \
                       Depends: <linux-modules-6.19.1-cloud-amd64>\n\
                       linux-image-7.3.4-cloud-amd64\n  Depends: linux-binary-7.3.4-cloud-amd64\n  \
                       Depends: linux-modules-7.3.4-cloud-amd64\n";
        let of = |release: &str| {
            let package = format!("linux-image-{release}-cloud-amd64");
            parts(depends, &package).map(is_absent).collect::<Vec<_>>()
        };
        assert_eq!(
            (of("6.12.1"), of("6.19.1"), of("7.3.4")),
            (vec![], vec![false, true], vec![false, false])
        );
    }
}
