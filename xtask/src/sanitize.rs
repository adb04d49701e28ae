//! `cargo xtask sanitize`: the tests of crates with unsafe code, under AddressSanitizer, and under Miri where it is installed.

use crate::command::{cargo, output, root, run, shown, succeeds};
use crate::options::Options;
use std::process::Command;

pub const OPTIONS: &str = "[--package cwnd-lab] [--miri]";

const PACKAGE: &str = "--package";
const MIRI: &str = "--miri";

/// The crates with unsafe code, and the tests of each that need neither root nor devices.
const CRATES: [(&str, &[&str]); 5] = [
    ("cwnd-tcp", &["--lib", "--test", "endpoint", "--test", "independent"]),
    (
        "cwnd-sim",
        &["--lib", "--test", "differential", "--test", "threads", "--test", "run_until", "--test", "traffic"],
    ),
    ("cwnd-kernel", &["--lib", "--test", "rust_c_equivalence"]),
    ("cwnd-lab", &["--lib"]),
    // It hands out pointers and follows none: its tests are those of what the pointers are made of.
    ("cwnd-wasm", &["--lib", "--test", "identity", "--test", "scripted"]),
];

/// Crates without I/O or foreign code, which Miri can interpret.
const INTERPRETED: [&str; 2] = ["cwnd-tcp", "cwnd-sim"];

/// Runs the tests of all crates, or of one. With `--miri` under Miri. Returns whether all passed.
pub fn run_chore(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[PACKAGE], &[MIRI])?;
    let package = options.text(PACKAGE);
    let known: Vec<&str> = match options.has(MIRI) {
        true => INTERPRETED.to_vec(),
        false => CRATES.iter().map(|(known, _)| *known).collect(),
    };
    if let Some(name) = package.filter(|name| !known.contains(name)) {
        return Err(format!("{PACKAGE} \"{name}\": say one of {}", known.join(", ")));
    }
    let is_wanted = |name: &str| package.is_none_or(|package| package == name);
    if options.has(MIRI) { miri(is_wanted) } else { address(is_wanted) }
}

/// Freed, foreign and uninitialised memory that the tests touch, and memory that they lose.
fn address(is_wanted: impl Fn(&str) -> bool) -> Result<bool, String> {
    let version =
        output(Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let mut good = true;
    for (package, tests) in CRATES.into_iter().filter(|(package, _)| is_wanted(package)) {
        let mut test = cargo();
        // The option is unstable; this lets the stable compiler take it. With a target named, build scripts and macros are
        // built without it.
        test.args(["test", "--package", package, "--target", host, "--no-fail-fast"])
            .args(tests)
            .arg("--target-dir")
            .arg(root().join("target/sanitize"))
            .env("RUSTFLAGS", "-Zsanitizer=address")
            .env("RUSTC_BOOTSTRAP", "1")
            // Some of the differential test's 2,000 scenarios are enough: this build is slow.
            .env("CWND_SEEDS", "300");
        println!("{}", shown(&test));
        good &= run(&mut test)?;
    }
    Ok(good)
}

/// What AddressSanitizer cannot see: aliasing, alignment, invalid values.
fn miri(is_wanted: impl Fn(&str) -> bool) -> Result<bool, String> {
    if !succeeds(cargo().args(["+nightly", "miri", "--version"])) {
        return Err(
            "Miri is not installed: rustup toolchain install nightly --component miri,rust-src".to_owned()
        );
    }
    let mut good = true;
    for package in INTERPRETED.into_iter().filter(|package| is_wanted(package)) {
        let mut test = Command::new("cargo");
        test.args(["+nightly", "miri", "test", "--package", package, "--lib", "--target-dir", "target/miri"]);
        test.current_dir(root());
        println!("{}", shown(&test));
        good &= run(&mut test)?;
    }
    Ok(good)
}
