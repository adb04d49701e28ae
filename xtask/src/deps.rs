//! `cargo xtask deps`: what the dependencies may be, and whether the oldest of them and the oldest compiler suffice.

mod licence;

use crate::command::{self, cargo, output, root, run, shown, succeeds};
use crate::options::Options;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

pub const OPTIONS: &str = "[--check | --update]";

const CHECK: &str = "--check";
const UPDATE: &str = "--update";

/// The workspaces, each with a lock file.
const WORKSPACES: [&str; 3] = ["Cargo.toml", "crates/cwnd-quic-s2n/Cargo.toml", "fuzz/Cargo.toml"];

/// The oldest compiler of a workspace that has one of its own.
const OWN_COMPILER: (&str, &str) = ("crates/cwnd-quic-s2n/Cargo.toml", "1.95");

/// Checks the dependencies. With `--check` only what the lock files and the packages say, in seconds. With `--update` takes the
/// newest versions instead. Returns whether everything holds.
pub fn run_chore(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[], &[CHECK, UPDATE])?;
    if options.has(UPDATE) {
        return update();
    }
    let mut good = check()?;
    if options.has(CHECK) {
        return Ok(good);
    }
    for (name, step) in [
        ("cargo deny", deny as fn() -> Result<Option<bool>, String>),
        ("the oldest compiler", oldest_compiler),
        ("the oldest dependencies", oldest_dependencies),
    ] {
        let verdict = match step()? {
            Some(true) => "passed",
            Some(false) => "FAILED",
            None => "SKIPPED",
        };
        println!("── {name}: {verdict}");
        good &= verdict != "FAILED";
    }
    Ok(good)
}

/// Updates the lock files to the newest versions that the manifests and the oldest compiler allow.
fn update() -> Result<bool, String> {
    let mut good = true;
    for manifest in WORKSPACES {
        let mut update = cargo();
        update.args(["update", "--manifest-path", manifest]);
        println!("{}", shown(&update));
        good &= run(&mut update)?;
    }
    println!("then: cargo xtask deps && cargo xtask test");
    Ok(good)
}

/// Checks each package's licence, source and compiler by what it says of itself.
fn check() -> Result<bool, String> {
    let allowed = allowed_licences()?;
    let (mut wrong, mut count) = (BTreeSet::new(), BTreeSet::new());
    for manifest in WORKSPACES {
        let mut metadata = cargo();
        metadata.args(["metadata", "--locked", "--format-version", "1", "--manifest-path", manifest]);
        let metadata: Value =
            serde_json::from_str(&output(&mut metadata)?).map_err(|error| error.to_string())?;
        let compiler = oldest_of(manifest, &metadata)?;
        for package in metadata["packages"].as_array().ok_or("cargo metadata lists no packages")? {
            let text = |name: &str| package[name].as_str().unwrap_or_default();
            let name = format!("{} {}", text("name"), text("version"));
            if !licence::is_met(text("license"), &allowed) {
                wrong.insert(format!(
                    "{name}: the licence `{}` is not among those of deny.toml",
                    text("license")
                ));
            }
            let source = text("source");
            if !source.is_empty() && source != "registry+https://github.com/rust-lang/crates.io-index" {
                wrong.insert(format!("{name}: it is from {source}, not from crates.io"));
            }
            if version(text("rust_version")) > compiler {
                wrong.insert(format!(
                    "{name}: it needs Rust {}, and {manifest} promises {}.{}",
                    text("rust_version"),
                    compiler.0,
                    compiler.1
                ));
            }
            count.insert(name);
        }
    }
    wrong.iter().for_each(|line| println!("{line}"));
    println!(
        "licences, sources and compilers of {} packages in {} lock files: {}",
        count.len(),
        WORKSPACES.len(),
        if wrong.is_empty() {
            "as deny.toml and Cargo.toml say".to_owned()
        } else {
            format!("{} are wrong", wrong.len())
        }
    );
    Ok(wrong.is_empty())
}

/// Reads the list `allow` of `[licenses]` in deny.toml.
fn allowed_licences() -> Result<Vec<String>, String> {
    let text =
        std::fs::read_to_string(root().join("deny.toml")).map_err(|error| format!("deny.toml: {error}"))?;
    let list = text.split_once("\nallow = [").and_then(|(_, rest)| rest.split_once(']'));
    let (list, _) = list.ok_or("deny.toml has no list `allow`")?;
    Ok(list.split('"').skip(1).step_by(2).map(str::to_owned).collect())
}

/// Returns the oldest compiler that a workspace promises.
fn oldest_of(manifest: &str, metadata: &Value) -> Result<(u32, u32), String> {
    if manifest == OWN_COMPILER.0 {
        return Ok(version(OWN_COMPILER.1));
    }
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let own = packages.iter().filter(|package| package["source"].is_null());
    let versions = own.filter_map(|package| package["rust_version"].as_str().map(version));
    versions.min().ok_or_else(|| format!("{manifest} has no rust-version"))
}

/// Reads `1.88` or `1.88.0`; zero if there is none.
fn version(text: &str) -> (u32, u32) {
    let mut numbers = text.split('.').map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Runs cargo-deny on every workspace. Advisories need their database, which is in a repository on the network.
fn deny() -> Result<Option<bool>, String> {
    if !succeeds(cargo().args(["deny", "--version"])) {
        println!("cargo-deny is not installed: cargo install cargo-deny --locked");
        return Ok(None);
    }
    let has_advisories = succeeds(cargo().args(["deny", "fetch", "db"]));
    let mut good = true;
    for manifest in WORKSPACES {
        let mut deny = cargo();
        deny.args(["deny", "--manifest-path", manifest, "check", "--allow", "license-not-encountered"]);
        deny.args(["licenses", "bans", "sources"]).args(has_advisories.then_some("advisories"));
        println!("{}", shown(&deny));
        good &= run(&mut deny)?;
    }
    if !has_advisories {
        println!("the database of advisories cannot be fetched: advisories are NOT checked");
    }
    Ok((has_advisories || !good).then_some(good))
}

/// Compiles with the oldest compiler that Cargo.toml promises.
fn oldest_compiler() -> Result<Option<bool>, String> {
    let text = std::fs::read_to_string(root().join("Cargo.toml")).map_err(|error| error.to_string())?;
    let wanted = text.split_once("rust-version = \"").and_then(|(_, rest)| rest.split_once('"'));
    let (wanted, _) = wanted.ok_or("Cargo.toml has no rust-version")?;
    let rustc = output(Command::new("rustup").args(["which", "rustc", "--toolchain", wanted]));
    let Ok(rustc) = rustc else {
        println!(
            "Rust {wanted} is not installed: rustup toolchain install {wanted}. Clippy's lint `incompatible_msrv` checks that the \
             standard library's functions are as old"
        );
        return Ok(None);
    };
    let mut check = cargo();
    check
        .args(["check", "--workspace", "--locked", "--target-dir", "target/oldest-compiler"])
        .env("RUSTC", rustc.trim());
    println!("{}", shown(&check));
    run(&mut check).map(Some)
}

/// Compiles a copy with the oldest versions of direct dependencies that the manifests allow.
fn oldest_dependencies() -> Result<Option<bool>, String> {
    let copy = root().join("target/oldest-dependencies");
    let io = |error: std::io::Error| format!("{}: {error}", copy.display());
    let files = output(Command::new("git").args(["ls-files"]).current_dir(root()))?;
    for file in files.lines().filter(|file| !file.starts_with("web/")) {
        let (from, to) = (root().join(file), copy.join(file));
        std::fs::create_dir_all(to.parent().unwrap_or(Path::new("."))).map_err(io)?;
        // A file that git knows may have been removed.
        if from.is_file() {
            std::fs::copy(from, to).map_err(io)?;
        }
    }
    // The option is unstable; this lets the stable cargo take it.
    let mut resolve = cargo();
    resolve.current_dir(&copy).args(["-Zdirect-minimal-versions", "update"]).env("RUSTC_BOOTSTRAP", "1");
    println!("{}", shown(&resolve));
    if !command::run(&mut resolve)? {
        return Ok(Some(false));
    }
    let mut check = cargo();
    check.current_dir(&copy).args(["check", "--workspace", "--locked", "--target-dir", "target"]);
    println!("{}", shown(&check));
    run(&mut check).map(Some)
}
