//! Coverage-guided fuzzing of the workspace `fuzz/` with libFuzzer.
//!
//! The instrumentation is an option of LLVM that the stable compiler passes on, so that no nightly toolchain is needed.

use crate::command::{cargo, output, root, shown, succeeds};
use crate::table::{cells, table};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The targets, with their shares of the time.
const TARGETS: [(&str, u32); 7] = [
    ("study", 2),
    ("settings", 2),
    ("traces", 1),
    ("store", 1),
    ("script", 1),
    ("sender", 2),
    ("receiver", 1),
];

/// The scripts that are played as tests begin the target `script`, too.
const SCRIPTS: &str = "crates/cwnd-drill/tests/scripts";

/// What libFuzzer needs of the code: a counter for each edge, a table of their addresses, and the operands of comparisons.
const INSTRUMENTATION: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Returns why libFuzzer cannot be built.
pub fn obstacle() -> Option<String> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let is_there = succeeds(Command::new(&compiler).arg("--version"));
    (!is_there).then(|| {
        format!("libFuzzer needs a C++ compiler, and there is no {compiler}: install build-essential")
    })
}

/// What came of a target.
struct Done {
    name: &'static str,
    executions: u64,
    edges: u64,
    seconds: u64,
    failure: Option<String>,
}

/// Runs all targets for `seconds` together. Returns whether none failed.
pub fn run(seed: usize, seconds: f64) -> Result<bool, String> {
    let program = build()?;
    let shares: u32 = TARGETS.iter().map(|(_, share)| share).sum();
    let mut done = Vec::new();
    for (name, share) in TARGETS {
        let seconds = (seconds * f64::from(share) / f64::from(shares)).ceil() as u64;
        done.push(fuzz(&program, name, seed, seconds)?);
    }
    let rows: Vec<Vec<String>> = done
        .iter()
        .map(|done| {
            let verdict = done.failure.clone().unwrap_or_else(|| "held".to_owned());
            vec![
                done.name.to_owned(),
                done.executions.to_string(),
                done.edges.to_string(),
                format!("{} s", done.seconds),
                verdict,
            ]
        })
        .collect();
    print!("\n{}", table(&[0, 4], &[cells(&["target", "executions", "edges", "time", ""])], &rows));
    let executions: u64 = done.iter().map(|done| done.executions).sum();
    println!("{executions} executions of {} targets, seed {seed}", done.len());
    // A target that executes nothing has tested nothing.
    let all_ran = done.iter().all(|done| done.executions > 100);
    Ok(all_ran && done.iter().all(|done| done.failure.is_none()))
}

/// Builds the program with instrumentation and checks. Returns its path.
fn build() -> Result<PathBuf, String> {
    let version =
        output(Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let target = root().join("target/fuzz/build");
    let mut build = cargo();
    // With a target named, build scripts and macros are built without the instrumentation.
    build
        .args(["build", "--release", "--locked", "--manifest-path", "fuzz/Cargo.toml", "--target", host])
        .arg("--target-dir")
        .arg(&target)
        .env("RUSTFLAGS", INSTRUMENTATION);
    println!("{}", shown(&build));
    if !crate::command::run(&mut build)? {
        return Err("the fuzzers do not compile".to_owned());
    }
    Ok(target.join(host).join("release/cwnd-fuzz"))
}

fn fuzz(program: &PathBuf, name: &'static str, seed: usize, seconds: u64) -> Result<Done, String> {
    let folder = root().join("target/fuzz");
    // New inputs are kept from one run to the next; those in the repository begin.
    let (found, failures) = (folder.join("work").join(name), folder.join("failures").join(name));
    for folder in [&found, &failures] {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut fuzz = Command::new(program);
    fuzz.arg(&found).arg(root().join("fuzz/corpus").join(name));
    if name == "script" {
        fuzz.arg(root().join(SCRIPTS));
    }
    fuzz.arg(format!("-max_total_time={seconds}"))
        .arg(format!("-seed={seed}"))
        .args(["-timeout=20", "-rss_limit_mb=2048", "-max_len=4096", "-print_final_stats=1"])
        .arg(format!("-artifact_prefix={}/", failures.display()))
        .env("CWND_FUZZ_TARGET", name)
        .current_dir(root())
        .stdin(Stdio::null());
    let result = fuzz.output().map_err(|error| format!("{}: {error}", shown(&fuzz)))?;
    let text = String::from_utf8_lossy(&result.stderr);
    let number =
        |line: Option<&str>| line.and_then(|text| text.split_whitespace().next()?.parse().ok()).unwrap_or(0);
    let executions =
        number(text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:")));
    let edges = number(text.lines().rev().find_map(|line| Some(line.split_once(" cov: ")?.1)));
    let failure = (!result.status.success()).then(|| {
        text.lines().rev().take(60).collect::<Vec<_>>().into_iter().rev().for_each(|line| println!("{line}"));
        let input = text.lines().find_map(|line| Some(line.split_once("Test unit written to ")?.1));
        let input = input.unwrap_or("INPUT");
        println!("again: CWND_FUZZ_TARGET={name} {} {input}", program.display());
        "FAILED".to_owned()
    });
    println!("{name}: {executions} executions, {edges} edges, {seconds} s");
    Ok(Done { name, executions, edges, seconds, failure })
}
