//! A release for Linux on x86-64: a stripped binary that runs with glibc 2.17 or later, as an archive and as a Python wheel, with an
//! SBOM and checksums.
//!
//! Zig links against the symbols of an old glibc on any machine. It and `cargo zigbuild`, which calls it, come from PyPI into a
//! virtual environment in `target/tools`.

mod sbom;

use crate::command::{cargo, output, root, succeeds};
use crate::json;
use crate::options::Options;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of the chore.
pub const OPTIONS: &str = "";

/// What cargo calls the target.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// The oldest glibc: that of 2012, which the tag `manylinux_2_17` of a wheel names.
const GLIBC: (u32, u32) = (2, 17);
/// The packages of PyPI that link.
const LINKER: [&str; 2] = ["ziglang==0.15.1", "cargo-zigbuild==0.24.0"];
/// Makes a wheel; Python's standard library writes the archive.
const WHEEL: &str = include_str!("dist/wheel.py");

/// Builds everything in `target/dist`.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    Options::new(arguments, &[], &[])?;
    let version = version()?;
    let program = build()?;
    let newest = newest_glibc(&program)?;
    println!("{} needs glibc {}.{} or later", program.display(), newest.0, newest.1);
    if newest > GLIBC {
        return Err(format!(
            "the binary needs glibc {}.{}; {}.{} is promised",
            newest.0, newest.1, GLIBC.0, GLIBC.1
        ));
    }
    let dist = root().join("target/dist");
    let name = format!("cwnd-{version}-{TARGET}");
    let folder = dist.join(&name);
    if dist.exists() {
        fs::remove_dir_all(&dist).map_err(|error| format!("{}: {error}", dist.display()))?;
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    copy(&program, &folder.join("cwnd"))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "CITATION.cff"] {
        copy(&root().join(file), &folder.join(file))?;
    }
    helpers(&program, &folder)?;
    let sbom = sbom::describe(&version, TARGET)?;
    for path in [folder.join("cwnd.cdx.json"), dist.join(format!("{name}.cdx.json"))] {
        fs::write(&path, &sbom).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let archive = format!("{name}.tar.gz");
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "-czf", &archive, &name])
        .current_dir(&dist);
    output(&mut tar)?;
    let mut wheel = Command::new("python3");
    wheel.args(["-c", WHEEL, &version, &format!("manylinux_{}_{}_x86_64", GLIBC.0, GLIBC.1)]);
    output(wheel.arg(&program).arg(root()).arg(&dist))?;
    fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    checksums(&dist)?;
    Ok(true)
}

/// Returns the version of the package `cwnd`.
fn version() -> Result<String, String> {
    let metadata = json::metadata()?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let cwnd = packages.into_iter().find(|package| package["name"] == "cwnd");
    let version = cwnd.and_then(|package| package["version"].as_str());
    version.map(str::to_owned).ok_or_else(|| "the workspace has no package `cwnd`".to_owned())
}

/// Builds the program, and returns its path.
fn build() -> Result<PathBuf, String> {
    let tools = tools()?;
    let path = std::env::var("PATH").unwrap_or_default();
    let mut build = cargo();
    build.args(["zigbuild", "--release", "--locked", "--package", "cwnd", "--target"]);
    build.arg(format!("{TARGET}.{}.{}", GLIBC.0, GLIBC.1));
    build.env("PATH", format!("{}:{path}", tools.display()));
    build.env("CARGO_PROFILE_RELEASE_STRIP", "symbols").env("CARGO_PROFILE_RELEASE_DEBUG", "false");
    println!("{} (takes minutes)", crate::command::shown(&build));
    output(&mut build)?;
    Ok(root().join("target").join(TARGET).join("release/cwnd"))
}

/// Returns the folder of Zig's and cargo-zigbuild's programs. Installs them if they are not there.
fn tools() -> Result<PathBuf, String> {
    let environment = root().join("target/tools/zig");
    let programs = environment.join("bin");
    let python = programs.join("python3");
    if !succeeds(Command::new(programs.join("cargo-zigbuild")).arg("--version")) {
        println!("python3 -m venv target/tools/zig; pip install {}", LINKER.join(" "));
        output(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        output(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(LINKER))?;
    }
    Ok(programs)
}

/// Returns the newest version of glibc of which a program uses symbols.
fn newest_glibc(program: &Path) -> Result<(u32, u32), String> {
    let symbols = output(Command::new("objdump").arg("-T").arg(program))?;
    Ok(newest_version(&symbols))
}

fn newest_version(symbols: &str) -> (u32, u32) {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|text| {
        let version = text.split([')', ' ', '\n']).next()?;
        let mut parts = version.split('.').map(str::parse);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    });
    versions.max().unwrap_or_default()
}

/// Writes completions and manual pages, as the program prints them.
fn helpers(program: &Path, folder: &Path) -> Result<(), String> {
    let completions = folder.join("completions");
    fs::create_dir_all(&completions).map_err(|error| format!("{}: {error}", completions.display()))?;
    for (shell, file) in [("bash", "cwnd.bash"), ("zsh", "_cwnd"), ("fish", "cwnd.fish")] {
        let script = output(Command::new(program).args(["completions", shell]))?;
        fs::write(completions.join(file), script).map_err(|error| format!("{file}: {error}"))?;
    }
    output(Command::new(program).args(["man", "--out"]).arg(folder.join("man/man1"))).map(drop)
}

/// Writes `SHA256SUMS` of all files in the folder, and prints it.
fn checksums(dist: &Path) -> Result<(), String> {
    let entries = fs::read_dir(dist).map_err(|error| format!("{}: {error}", dist.display()))?;
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    let sums = output(Command::new("sha256sum").args(&names).current_dir(dist))?;
    print!("{sums}");
    fs::write(dist.join("SHA256SUMS"), sums).map_err(|error| format!("SHA256SUMS: {error}"))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(|_| ()).map_err(|error| format!("{}: {error}", from.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_newest_version_by_number() {
        let symbols = "0 DF *UND* 0 (GLIBC_2.2.5) malloc\n0 DF *UND* 0 (GLIBC_2.17) clock_gettime\n0 (GLIBC_2.9) pipe2\n";
        assert_eq!(newest_version(symbols), (2, 17));
        assert_eq!(newest_version("nothing"), (0, 0));
    }
}
