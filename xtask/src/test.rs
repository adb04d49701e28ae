//! `cargo xtask test`: what a change must pass. With `--quick` the part of it for each commit, with `--long` also what a release must
//! pass: steps that compile the workspace in yet another way, or search further than the tests do.
//!
//! Steps run even if an earlier one failed. A step that cannot run on this machine is skipped, with the reason and what
//! would change it; with `CWND_REQUIRE=all` in the environment it fails instead. Tests that need more than a Rust toolchain
//! are marked `#[ignore]`, so that `cargo test` counts them as ignored; the steps here run them where they can run.

use crate::command::{cargo, install, output, run_timed, shown, succeeds};
use crate::options::Options;
use crate::table::{cells, table};
use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::time::{Duration, Instant};

pub const OPTIONS: &str = "[--quick | --long]";

const QUICK: &str = "--quick";
const LONG: &str = "--long";

/// Which steps are run. Each extent has the steps of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    Quick,
    Usual,
    Long,
}

struct Step {
    name: &'static str,
    command: Command,
    /// Why it cannot run, and what would change that.
    obstacle: Option<String>,
}

enum Verdict {
    Passed,
    Failed,
    Skipped(String),
}

struct Done {
    name: &'static str,
    verdict: Verdict,
    took: Duration,
    /// The CPU time of all its processes.
    cpu: Duration,
    tests: Counts,
    /// The last [`REPEATED`] lines that it printed, if it failed.
    end: VecDeque<String>,
}

/// How many lines of a failed step are printed again before the table, where they are found without a search.
const REPEATED: usize = 40;

/// How many tests a step ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// Runs the steps of an extent. Returns whether none failed.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[], &[QUICK, LONG])?;
    let extent = match (options.has(QUICK), options.has(LONG)) {
        (false, false) => Extent::Usual,
        (true, false) => Extent::Quick,
        (false, true) => Extent::Long,
        (true, true) => return Err(format!("{QUICK} and {LONG} exclude each other: give one of them")),
    };
    let require_all = requires_all()?;
    let begin = Instant::now();
    let done: Vec<Done> = steps(extent).into_iter().map(|step| step.run(require_all)).collect();
    for step in done.iter().filter(|step| !step.end.is_empty()) {
        println!("\n── {} FAILED; the end of what it printed:", step.name);
        step.end.iter().for_each(|line| println!("{line}"));
    }
    print!("\n{}", summary(&done, begin.elapsed()));
    let count = |wanted: fn(&Verdict) -> bool| done.iter().filter(|step| wanted(&step.verdict)).count();
    let failed = count(|verdict| matches!(verdict, Verdict::Failed));
    let passed = count(|verdict| matches!(verdict, Verdict::Passed));
    if extent < Extent::Long {
        println!("steps that take longer were left out: cargo xtask test {LONG} has them, too");
    }
    println!("{passed} passed, {failed} failed, {} skipped", done.len() - passed - failed);
    Ok(failed == 0)
}

/// Returns whether what cannot run on this machine fails.
pub fn requires_all() -> Result<bool, String> {
    match std::env::var("CWND_REQUIRE").as_deref() {
        Err(_) | Ok("") => Ok(false),
        Ok("all") => Ok(true),
        Ok(other) => Err(format!("CWND_REQUIRE is `{other}`; it can be `all`")),
    }
}

/// Returns the steps of an extent in their order. What they need is installed where permitted, but nothing for other steps.
fn steps(extent: Extent) -> Vec<Step> {
    let mut steps = quick_steps();
    if extent >= Extent::Usual {
        // The page becomes a part of `cwnd serve`: before the tests, or everything that links it would be compiled again after them.
        let place = steps.iter().position(|step| step.name == TESTS).unwrap_or_default();
        steps
            .insert(place, step("the web page", "xtask web --test", crate::web::obstacle().or_else(browser)));
        steps.extend(usual_steps());
    }
    if extent >= Extent::Long {
        steps.extend(long_steps());
    }
    steps
}

/// The step of the tests that need only a Rust toolchain.
const TESTS: &str = "tests";

fn step(name: &'static str, words: &str, obstacle: Option<String>) -> Step {
    let mut command = cargo();
    command.args(words.split(' '));
    Step { name, command, obstacle }
}

/// For each commit.
fn quick_steps() -> Vec<Step> {
    vec![
        step("format", "fmt --all --check", component("fmt", "rustfmt")),
        step("lints", "clippy --workspace --all-targets -- -D warnings", component("clippy", "clippy")),
        // Examples hold no tests; the lints compile them.
        step(TESTS, "test --workspace --lib --bins --tests --no-fail-fast", None),
        step("crate graph is current", "xtask graph --check", None),
        step("the field's words", "xtask words --check", None),
        step("licences and sources of dependencies", "xtask deps --check", None),
        step("links of documents", "xtask book --links", None),
    ]
}

/// For each change, after the quick ones: the same crates with what other programs, root and the kernel make of them.
fn usual_steps() -> Vec<Step> {
    let mut documentation = step("documentation", "doc --workspace --no-deps", None);
    documentation.command.env("RUSTDOCFLAGS", "-D warnings");
    vec![
        step("the Python package", "xtask python", crate::python::obstacle()),
        step("examples in the documentation", "test --workspace --doc --no-fail-fast", None),
        step("report in a browser", "test --workspace --test browser -- --ignored", browser()),
        step("captures in tshark", "test --workspace --test tshark -- --ignored", tshark()),
        step("same bits when optimised", "test --release --package cwnd-sim --test snapshot", None),
        // An example of the same package, so that the crates that it needs are compiled.
        step("instructions a packet", "xtask bench --instructions", crate::bench::obstacle()),
        step(
            "disks and emulated networks",
            "test --workspace --test command --test study --test lab --test serve -- --ignored",
            emulation().or_else(ping_and_nft),
        ),
        step(
            "algorithms in this kernel",
            // The whole workspace, as above and below, so that libraries get the same features and are compiled once.
            "test --workspace --features cwnd/kernel --lib --test kernel --test pauses --test operate -- --ignored",
            kernel(),
        ),
        step(
            "emulated networks with BPF",
            "test --workspace --features cwnd/kernel --test lab -- --ignored what_the_kernel_lacks",
            emulation().or_else(kernel),
        ),
        step("algorithms in another kernel", "xtask vm --sample", crate::vm::obstacle()),
        step(
            "studies and tables with the kernel's C",
            "test --workspace --features cwnd/kernel --test study --test command -- kernel everything_fits_the_columns",
            clang(),
        ),
        step(
            "lints of the kernel's loader",
            "clippy --workspace --features cwnd/kernel --all-targets -- -D warnings",
            clang(),
        ),
        documentation,
    ]
}

/// For each release: other builds of the workspace, and searches.
fn long_steps() -> Vec<Step> {
    vec![
        step("a sample of the papers", "xtask papers", None),
        step("a kernel in a virtual machine", "xtask vm --kernel 6.12", crate::vm::obstacle()),
        step(
            "algorithms in s2n-quic",
            "test --manifest-path crates/cwnd-quic-s2n/Cargo.toml --target-dir target/s2n --locked",
            toolchain(S2N_RUST),
        ),
        step(
            "lints of the crate for s2n-quic",
            "clippy --manifest-path crates/cwnd-quic-s2n/Cargo.toml --target-dir target/s2n --locked --all-targets -- -D warnings",
            toolchain(S2N_RUST).or_else(|| component("clippy", "clippy")),
        ),
        step("the independent endpoint", "test --release --package cwnd-tcp --test independent", None),
        step("a minute of fuzzing", "xtask fuzz --minutes 1", crate::fuzz::obstacle()),
        step("seeded faults", "test --workspace --features cwnd-sim/faults --test faults", None),
        step("the book", "xtask book", crate::book::obstacle()),
    ]
}

/// The oldest compiler that s2n-quic takes: `rust-version` in crates/cwnd-quic-s2n/Cargo.toml.
const S2N_RUST: (u32, u32) = (1, 95);

/// Returns why this compiler does not build a crate that needs at least `wanted`.
fn toolchain(wanted: (u32, u32)) -> Option<String> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = output(Command::new(compiler).arg("--version")).unwrap_or_default();
    let (major, minor) = wanted;
    match rust_version(&version) {
        Some(there) if there >= wanted => None,
        Some((a, b)) => {
            Some(format!("s2n-quic needs Rust {major}.{minor}, and this is {a}.{b}: rustup update"))
        }
        None => Some(format!("s2n-quic needs Rust {major}.{minor}, and rustc does not report its version")),
    }
}

/// Reads `1.95` from what `rustc --version` prints.
fn rust_version(printed: &str) -> Option<(u32, u32)> {
    let mut numbers = printed.strip_prefix("rustc ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// What is missing for a cargo command that comes with a component of the toolchain.
fn component(command: &str, component: &str) -> Option<String> {
    let is_there = succeeds(cargo().args([command, "--version"]));
    (!is_there).then(|| format!("{component} is not installed: rustup component add {component}"))
}

/// What keeps the report from being opened in a browser. Chromium is installed if that can be done.
fn browser() -> Option<String> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome-headless-shell"];
    let is_there = names.iter().any(|name| succeeds(Command::new(name).arg("--version")));
    if is_there { None } else { install("chromium").err() }
}

/// What keeps captures from being read by tshark, which is installed if that can be done.
fn tshark() -> Option<String> {
    lacks("tshark", "--version", "tshark")
}

/// What keeps the algorithms from being compiled to BPF. What is needed is installed if that can be done.
pub fn clang() -> Option<String> {
    if has_clang() {
        None
    } else {
        ["clang", "libelf-dev", "zlib1g-dev", "pkg-config"].iter().find_map(|name| install(name).err())
    }
}

/// Returns whether the algorithms can be compiled to BPF.
pub fn has_clang() -> bool {
    succeeds(Command::new("clang").arg("--version")) && succeeds(Command::new("pkg-config").arg("libelf"))
}

/// Returns why networks cannot be emulated and disks cannot be mounted. Installs what is missing where permitted.
pub fn emulation() -> Option<String> {
    if !is_root() {
        return Some("only root may make network devices and mount disks: run it as root".to_owned());
    }
    if !std::path::Path::new("/dev/net/tun").exists() {
        return Some("the kernel has no TUN devices (no /dev/net/tun)".to_owned());
    }
    lacks("ip", "-Version", "iproute2")
}

/// What keeps programs and ways to the outside from being tried over emulated networks, besides [`emulation`].
fn ping_and_nft() -> Option<String> {
    lacks("ping", "-V", "iputils-ping").or_else(|| lacks("nft", "--version", "nftables"))
}

/// Returns why a program of a Debian package is not there. The program is called with this flag, and installed if that can be
/// done.
fn lacks(program: &str, flag: &str, package: &str) -> Option<String> {
    if succeeds(Command::new(program).arg(flag)) { None } else { install(package).err() }
}

/// Returns why algorithms cannot be loaded into this machine's kernel. Installs what is missing where permitted.
fn kernel() -> Option<String> {
    if !is_root() {
        return Some("only root may load congestion control into the kernel: run it as root".to_owned());
    }
    if !std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Some("the kernel shows no types (no /sys/kernel/btf/vmlinux)".to_owned());
    }
    // For ECN marks.
    lacks("nft", "--version", "nftables").or_else(clang)
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0)
}

impl Step {
    fn run(mut self, require_all: bool) -> Done {
        println!("\n── {}: {}", self.name, shown(&self.command));
        if let Some(obstacle) = self.obstacle {
            let verdict = match require_all {
                true => {
                    println!("FAILED, since CWND_REQUIRE is `all`: {obstacle}");
                    Verdict::Failed
                }
                false => {
                    println!("SKIPPED: {obstacle}");
                    Verdict::Skipped(obstacle)
                }
            };
            return Done {
                name: self.name,
                verdict,
                took: Duration::ZERO,
                cpu: Duration::ZERO,
                tests: Counts::default(),
                end: VecDeque::new(),
            };
        }
        let begin = Instant::now();
        let mut tests = Counts::default();
        let mut end = VecDeque::with_capacity(REPEATED + 1);
        let result = run_timed(&mut self.command, |line| {
            end.push_back(line.to_owned());
            if end.len() > REPEATED {
                end.pop_front();
            }
            if let Some(more) = counts(line) {
                tests.passed += more.passed;
                tests.failed += more.failed;
                tests.ignored += more.ignored;
            }
        });
        let took = begin.elapsed();
        let (verdict, cpu) = match result {
            Ok((true, cpu)) => (Verdict::Passed, cpu),
            Ok((false, cpu)) => (Verdict::Failed, cpu),
            Err(why) => {
                println!("it cannot be run: {why}");
                (Verdict::Failed, Duration::ZERO)
            }
        };
        let word = if matches!(verdict, Verdict::Passed) {
            end.clear();
            "passed"
        } else {
            "FAILED"
        };
        println!("── {}: {word} in {}", self.name, seconds(took));
        Done { name: self.name, verdict, took, cpu, tests, end }
    }
}

/// Reads the numbers of tests from the line that ends a test program's report.
fn counts(line: &str) -> Option<Counts> {
    let rest = line.strip_prefix("test result: ")?;
    let count = |what: &str| {
        let words: Vec<&str> = rest.split([' ', ';', '.']).filter(|word| !word.is_empty()).collect();
        let at = words.iter().position(|word| *word == what)?;
        words.get(at.checked_sub(1)?)?.parse().ok()
    };
    Some(Counts { passed: count("passed")?, failed: count("failed")?, ignored: count("ignored")? })
}

fn summary(done: &[Done], took: Duration) -> String {
    let mut rows: Vec<Vec<String>> = done
        .iter()
        .map(|step| {
            let (verdict, note) = match &step.verdict {
                Verdict::Passed => ("passed", String::new()),
                Verdict::Failed => ("FAILED", String::new()),
                Verdict::Skipped(why) => ("SKIPPED", why.clone()),
            };
            let note = match step.tests {
                Counts { passed: 0, failed: 0, .. } => note,
                Counts { passed: 1, failed: 0, .. } => "1 test".to_owned(),
                Counts { passed, failed: 0, .. } => format!("{passed} tests"),
                Counts { passed, failed, .. } => format!("{failed} of {} tests failed", passed + failed),
            };
            let note = match step.tests.ignored {
                0 => note,
                ignored => format!("{note}, {ignored} left to other steps"),
            };
            vec![step.name.to_owned(), verdict.to_owned(), seconds(step.took), busy_cores(step), note]
        })
        .collect();
    rows.push(vec!["all".to_owned(), String::new(), seconds(took), String::new(), String::new()]);
    table(&[0, 1, 4], &[cells(&["step", "result", "time", "cores", ""])], &rows)
}

/// Returns how many cores a step kept busy on average: it shows which steps could share the machine with others.
fn busy_cores(step: &Done) -> String {
    if step.took.is_zero() {
        return String::new();
    }
    format!("{:.1}", step.cpu.as_secs_f64() / step.took.as_secs_f64())
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_tests() {
        let line =
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        assert_eq!(counts(line), Some(Counts { passed: 12, failed: 0, ignored: 1 }));
        assert_eq!(
            counts("test result: FAILED. 3 passed; 2 failed; 0 ignored"),
            Some(Counts { passed: 3, failed: 2, ignored: 0 })
        );
        assert_eq!(counts("test time ... ok"), None);
    }

    #[test]
    fn reads_the_version_of_the_compiler() {
        assert_eq!(rust_version("rustc 1.95.0 (59807616e 2026-04-14)\n"), Some((1, 95)));
        assert_eq!(rust_version("rustc 1.100.0-nightly"), Some((1, 100)));
        assert_eq!(rust_version("cargo"), None);
    }
}
