//! `cargo xtask test`: everything that a change must pass.
//!
//! Steps run even if an earlier one failed. Some run in the background of the others, with what these leave of the processors, and those
//! that measure time run alone after them. A step that cannot run on this machine is skipped, with the reason and what
//! would change it; with `CWND_REQUIRE=all` in the environment it fails instead. Tests that need more than a Rust toolchain
//! are marked `#[ignore]`, so that `cargo test` counts them as ignored; the steps here run them where they can run.

use crate::command::{cargo, forget_package, install, output, root, run_timed, succeeds};
use crate::options::Options;
use crate::table::{cells, table};
use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

pub const OPTIONS: &str = "[--quick]";

/// The steps, in their order.
struct Steps {
    /// They run one after the other.
    foreground: Vec<Step>,
    /// They run one after the other next to those, at a low priority. They compile into other directories, since cargo lets
    /// only one command at a time write to each, and do not depend on how long anything takes.
    background: Vec<Step>,
    /// They run one after the other when all those have ended: they depend on time.
    alone: Vec<Step>,
}

struct Step {
    name: &'static str,
    /// What cargo is asked.
    words: &'static str,
    /// Variables of its environment.
    environment: &'static [(&'static str, &'static str)],
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

/// Runs all steps, or with `--quick` those of a few minutes. Returns whether none failed.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[], &["--quick"])?;
    let require_all = requires_all()?;
    let begin = Instant::now();
    let Steps { foreground, background, alone } = steps(options.has("--quick"));
    let runner = Runner { require_all, xtask: std::env::current_exe().map_err(|error| error.to_string())? };
    let mut done = thread::scope(|scope| {
        let background = scope.spawn(|| runner.run_all(background, true));
        let mut done = runner.run_all(foreground, false);
        done.extend(background.join().expect("it does not panic"));
        done
    });
    done.extend(runner.run_all(alone, false));
    for step in done.iter().filter(|step| !step.end.is_empty()) {
        println!("\n── {} FAILED; the end of what it printed:", step.name);
        step.end.iter().for_each(|line| println!("{line}"));
    }
    print!("\n{}", summary(&done, begin.elapsed()));
    let count = |wanted: fn(&Verdict) -> bool| done.iter().filter(|step| wanted(&step.verdict)).count();
    let failed = count(|verdict| matches!(verdict, Verdict::Failed));
    let passed = count(|verdict| matches!(verdict, Verdict::Passed));
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

/// Returns the steps. What they need is installed where permitted, but not for those that `quick` leaves out.
fn steps(quick: bool) -> Steps {
    let step = |name, words, obstacle| Step { name, words, environment: &[], obstacle };
    let mut foreground = vec![
        step("format", "fmt --all --check", component("fmt", "rustfmt")),
        step("lints", "clippy --workspace --all-targets -- -D warnings", component("clippy", "clippy")),
        // Examples hold no tests; the lints compile them.
        step("tests", "test --workspace --lib --bins --tests --no-fail-fast", None),
        step("crate graph is current", "xtask graph --check", None),
        step("the field's words", "xtask words --check", None),
        step("licences and sources of dependencies", "xtask deps --check", None),
        step("links of documents", "xtask book --links", None),
    ];
    if quick {
        return Steps { foreground, background: Vec::new(), alone: Vec::new() };
    }
    // The page becomes a part of `cwnd serve`: before the tests, or everything that links it would be compiled again after them.
    let place = foreground.iter().position(|step| step.name == "tests").unwrap_or_default();
    let page = step("the web page", "xtask web --test", crate::web::obstacle().or_else(browser));
    foreground.insert(place, page);
    let documentation = step("documentation", "doc --workspace --no-deps", None);
    foreground.extend([
        step("the Python package", "xtask python", crate::python::obstacle()),
        step("examples in the documentation", "test --workspace --doc --no-fail-fast", None),
        step("report in a browser", "test --workspace --test browser -- --ignored", browser()),
        step("captures in tshark", "test --workspace --test tshark -- --ignored", tshark()),
        step("seeded faults", "test --workspace --features cwnd-sim/faults --test faults", None),
        Step { environment: &[("RUSTDOCFLAGS", "-D warnings")], ..documentation },
        step("the book", "xtask book", crate::book::obstacle()),
        step(
            "lints of the kernel's loader",
            "clippy --workspace --features cwnd/kernel --all-targets -- -D warnings",
            clang(),
        ),
        step(
            "studies and tables with the kernel's C",
            "test --workspace --features cwnd/kernel --test study --test command -- kernel everything_fits_the_columns",
            clang(),
        ),
    ]);
    let background = vec![
        // What is compiled into directories of its own comes first: the page is there by the time `cwnd` is compiled.
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
        step("same bits when optimised", "test --release --package cwnd-sim --test snapshot", None),
        step("the independent endpoint", "test --release --package cwnd-tcp --test independent", None),
        step("a sample of the papers", "xtask papers", None),
        step("instructions a packet", "xtask bench --instructions", crate::bench::obstacle()),
        step("a kernel in a virtual machine", "xtask vm --kernel 6.12", crate::vm::obstacle()),
    ];
    let alone = vec![
        // It runs the program of the tests, which others in the foreground compile again with other features.
        step("a minute of fuzzing", "xtask fuzz --minutes 1", crate::fuzz::obstacle()),
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
    ];
    Steps { foreground, background, alone }
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

/// Runs steps.
struct Runner {
    /// Whether a step that cannot run fails.
    require_all: bool,
    /// This program. Through cargo, a chore would wait for every command that compiles.
    xtask: PathBuf,
}

impl Runner {
    fn run_all(&self, steps: Vec<Step>, in_background: bool) -> Vec<Done> {
        steps.into_iter().map(|step| self.run(step, in_background)).collect()
    }

    /// Runs a step. What one in the background prints is shown when it ends.
    fn run(&self, step: Step, in_background: bool) -> Done {
        let Step { name, words, .. } = step;
        if let Some(obstacle) = step.obstacle {
            let verdict = match self.require_all {
                true => {
                    println!("\n── {name}: FAILED, since CWND_REQUIRE is `all`: {obstacle}");
                    Verdict::Failed
                }
                false => {
                    println!("\n── {name}: SKIPPED: {obstacle}");
                    Verdict::Skipped(obstacle)
                }
            };
            let (took, cpu) = (Duration::ZERO, Duration::ZERO);
            return Done { name, verdict, took, cpu, tests: Counts::default(), end: VecDeque::new() };
        }
        let begins = match in_background {
            true => " (in the background; what it prints follows when it ends)",
            false => "",
        };
        println!("\n── {name}: cargo {words}{begins}");
        let begin = Instant::now();
        let mut printed = String::new();
        let mut tests = Counts::default();
        let mut end = VecDeque::with_capacity(REPEATED + 1);
        let mut command = self.command(words, in_background);
        command.envs(step.environment.iter().copied());
        let result = run_timed(&mut command, |line| {
            match in_background {
                true => printed += &format!("{line}\n"),
                false => println!("{line}"),
            }
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
                printed += &format!("it cannot be run: {why}\n");
                (Verdict::Failed, Duration::ZERO)
            }
        };
        let word = if matches!(verdict, Verdict::Passed) {
            end.clear();
            "passed"
        } else {
            "FAILED"
        };
        if in_background {
            printed.insert_str(0, &format!("\n── {name}, in the background:\n"));
        }
        println!("{printed}── {name}: {word} in {}", seconds(took));
        Done { name, verdict, took, cpu, tests, end }
    }

    /// Returns what runs `cargo` with these words.
    fn command(&self, words: &str, in_background: bool) -> Command {
        let mut words = words.split(' ').peekable();
        let program = match words.next_if_eq(&"xtask") {
            Some(_) => self.xtask.clone().into_os_string(),
            None => cargo().get_program().to_owned(),
        };
        let mut command = Command::new(if in_background { "nice".into() } else { program.clone() });
        if in_background {
            command.args(["-n", "10"]).arg(program);
        }
        command.args(words).current_dir(root());
        forget_package(&mut command);
        command
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

/// Returns how many cores a step kept busy on average.
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
