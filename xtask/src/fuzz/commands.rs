//! Random command lines and study files for a `cwnd` that is built with checks.
//!
//! Each is run twice. It must end in time, by itself and without a panic; both times must write the same bytes; the numbers
//! of a comparison must be finite and must not contradict each other.

use crate::command::{cargo, root, shown};
use fastrand::Rng;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// No command that is drawn takes longer.
const LIMIT: Duration = Duration::from_secs(120);

const ALGORITHMS: &[&str] = &[
    "cubic",
    "newreno",
    "bbr",
    "bbr3",
    "elastic",
    "agile-sd",
    "copa",
    "vegas",
    "westwood",
    "htcp",
    "yeah",
    "illinois",
    "dctcp",
    "prague",
    "ledbat++",
    "cdg",
    "scalable",
    "bic",
    "hybla",
    "compound",
    "invs",
    "cltcp",
    "scream",
    "reno",
    "cubic:beta=0.5",
    "elastic:beta=0.7",
    "no-such-algorithm",
    "cubic:beta=2",
];

/// Flags of `cwnd compare` with values, some of them wrong.
const FLAGS: &[(&str, &[&str])] = &[
    ("--flows", &["1", "2", "7", "0", "x"]),
    ("--beside", &["newreno", "bbr3"]),
    ("--reverse-flows", &["0", "1"]),
    ("--bytes", &["1 B", "30 kB", "1 MB", "0"]),
    ("--traffic", &["bulk", "on-off:0.1 s,0.2 s", "live:1 Mbit/s", "pulses:1 Mbit/s,0.1 s,0.1 s", "nothing"]),
    ("--stagger", &["0 s", "0.2 s"]),
    ("--topology", &["dumbbell", "path", "parking-lot", "satellite", "incast"]),
    ("--rate", &["300 kbit/s", "5 Mbit/s", "10 Mbit/s", "1 bit/s", "-3 Mbit/s"]),
    ("--rtt", &["5 ms", "40 ms", "300 ms", "0 ms", "1 h"]),
    ("--buffer", &["1", "20", "0.5 BDP", "2 BDP", "0", "max(1 BDP, 10)"]),
    ("--queue", &["drop-tail", "red", "codel", "fq-codel", "pie", "dual-pi2", "sfq"]),
    ("--per", &["0", "0.01", "0.5", "1", "2"]),
    ("--duplication", &["0", "0.05"]),
    (
        "--schedule",
        &[
            "0.5 s: 1 Mbit/s",
            "0.2 s: 30 ms; 0.4 s: 2 Mbit/s",
            "0.2 s: down; 0.3 s: up; every 0.5 s",
            "now: 3",
        ],
    ),
    ("--stack", &["linux", "ns2", "other"]),
    ("--recovery", &["prr", "ns2", "rack", "linux"]),
    ("--sack", &["true", "false", "on", "off"]),
    ("--timestamps", &["on", "off"]),
    ("--delayed-ack", &["on", "off"]),
    ("--ecn", &["off", "on", "accurate"]),
    ("--packet-size", &["100", "1448", "9000", "1"]),
    ("--warm-up", &["0 s", "0.4 s", "100 s"]),
    ("--send-overhead", &["0 s", "10 us"]),
    ("--ties", &["by-number", "by-turn", "by-chance"]),
    ("--repeats", &["1", "2"]),
    ("--threads", &["1", "2"]),
    ("--no-fast-path", &[""]),
];

/// Keys of a study's scenario, for axes.
const AXES: &[(&str, &str)] = &[
    ("buffer", "[5, \"1 BDP\"]"),
    ("rtt", "[\"10 ms\", \"60 ms\"]"),
    ("algorithm", "[\"cubic\", \"bbr3\"]"),
    ("per", "[0, 0.01]"),
    ("queue", "[\"drop-tail\", \"codel\"]"),
    ("stack", "[\"linux\", \"ns2\"]"),
    ("buffer", "[]"),
    ("unknown", "[1]"),
];

/// How many of each kind ran, and how many were refused as wrong.
#[derive(Default)]
struct Tally {
    comparisons: usize,
    /// Comparisons with a warm-up.
    warm_ups: usize,
    studies: usize,
    others: usize,
    refused: usize,
}

/// Draws command lines from `seed` on until the time is over. Returns whether all held.
pub fn run(seed: u64, time: Duration) -> Result<bool, String> {
    let program = build()?;
    let folder = root().join("target/fuzz/commands");
    let begin = Instant::now();
    let mut tally = Tally::default();
    let mut last = seed;
    while begin.elapsed() < time {
        let mut random = Rng::with_seed(last);
        let held = match random.usize(..8) {
            0 | 1 => study(&program, &folder, &mut random, &mut tally),
            2 => other(&program, &mut random, &mut tally),
            _ => comparison(&program, &mut random, &mut tally),
        };
        if let Err(why) = held {
            println!("command line {last} fails: {why}\nagain: cargo xtask fuzz --minutes 1 --seed {last}");
            return Ok(false);
        }
        last += 1;
    }
    let Tally { comparisons, warm_ups, studies, others, refused } = tally;
    println!(
        "{} command lines, seeds {seed} to {}: {comparisons} comparisons ({warm_ups} with a warm-up), {studies} studies, {others} others; {refused} of \
         them were refused as wrong",
        last - seed,
        last - 1
    );
    Ok(comparisons > refused / 2)
}

/// Builds the program as tests have it: with checks of overflow and debug assertions, and the features of the whole workspace.
fn build() -> Result<PathBuf, String> {
    let mut build = cargo();
    // Its tests need the program with the features of all tests: a build that `cargo test` has made already.
    build.args(["test", "--quiet", "--workspace", "--test", "command", "--no-run"]);
    println!("{}", shown(&build));
    if !crate::command::run(&mut build)? {
        return Err("the program does not compile".to_owned());
    }
    let metadata = crate::json::metadata()?;
    let target = metadata["target_directory"].as_str().ok_or("cargo metadata names no target directory")?;
    Ok(Path::new(target).join("debug/cwnd"))
}

/// Runs a command. Returns its output if it ended by itself, in time and without a panic.
fn end(command: &mut Command) -> Result<Output, String> {
    let failed = |why: String, command: &Command| format!("{}\n{why}", shown(command));
    // Pipes hold less than a comparison prints, so that files take the output.
    let files = [tempfile("stdout")?, tempfile("stderr")?];
    let open = |path: &PathBuf| std::fs::File::create(path).map_err(|error| error.to_string());
    command.stdin(Stdio::null()).stdout(open(&files[0])?).stderr(open(&files[1])?).env("NO_COLOR", "1");
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if begin.elapsed() > LIMIT => {
                let _ = child.kill().and_then(|()| child.wait());
                return Err(failed(format!("it has not ended after {} s", LIMIT.as_secs()), command));
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let read = |path: &PathBuf| std::fs::read(path).map_err(|error| error.to_string());
    let output = Output { status, stdout: read(&files[0])?, stderr: read(&files[1])? };
    let stderr = String::from_utf8_lossy(&output.stderr);
    match status.code() {
        Some(0..=2) if !stderr.contains("panicked at") => Ok(output),
        _ => Err(failed(format!("{status}\n{stderr}"), command)),
    }
}

fn tempfile(name: &str) -> Result<PathBuf, String> {
    let folder = root().join("target/fuzz/commands");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    Ok(folder.join(name))
}

fn comparison(program: &Path, random: &mut Rng, tally: &mut Tally) -> Result<(), String> {
    let mut arguments = vec!["compare".to_owned()];
    for _ in 0..1 + random.usize(..2) {
        // A wrong name now and then.
        let known = ALGORITHMS.len() - if one_in(random, 30) { 0 } else { 2 };
        arguments.push(pick(random, &ALGORITHMS[..known]).to_owned());
    }
    arguments.push("--json".to_owned());
    // Without these a run is long.
    let duration = pick(random, &["0.3 s", "1 s", "1.7 s"]);
    arguments.extend(["--duration", duration, "--seed"].map(str::to_owned));
    arguments.push(random.usize(..1000).to_string());
    let mut flags: Vec<usize> = FLAGS.iter().position(|(name, _)| *name == "--rate").into_iter().collect();
    for _ in 0..random.usize(..7) {
        let flag = random.usize(..FLAGS.len());
        if !flags.contains(&flag) {
            flags.push(flag);
        }
    }
    for flag in &flags {
        let (name, values) = FLAGS[*flag];
        let right = values.len().min(3);
        let among = if one_in(random, 8) { values.len() } else { right };
        let value = values[random.usize(..among)];
        arguments.push(name.to_owned());
        if !value.is_empty() {
            arguments.push(value.to_owned());
        }
    }
    let run = || end(Command::new(program).args(&arguments).current_dir(root()));
    let (first, second) = (run()?, run()?);
    tally.comparisons += 1;
    tally.refused += usize::from(!first.status.success());
    let shown = || shown(Command::new(program).args(&arguments));
    if !first.status.success() {
        let same = first.status == second.status && first.stderr == second.stderr && !first.stderr.is_empty();
        return if same {
            Ok(())
        } else {
            Err(format!("{}: it is refused in two ways, or without a word", shown()))
        };
    }
    let parse = |output: &Output| {
        serde_json::from_slice::<Value>(&output.stdout).map_err(|e| format!("{}: {e}", shown()))
    };
    let (mut first, mut second) = (parse(&first)?, parse(&second)?);
    for value in [&mut first, &mut second] {
        without_times(value);
    }
    if first != second {
        return Err(format!("{}: two runs differ", shown()));
    }
    // Links may make copies.
    let more = arguments.iter().any(|word| word == "--duplication");
    let check = |value: &Value, more: bool| {
        let runs = value["runs"].as_array().ok_or("no runs")?;
        runs.iter().try_for_each(|run| consistent(run, more)).map_err(|why| format!("{}: {why}", shown()))
    };
    match warm_up(&arguments) {
        None => check(&first, more),
        Some(time) => {
            // What was under way when the counting began arrives without having been counted as sent.
            check(&first, true)?;
            tally.warm_ups += 1;
            let parse = |arguments: &[String]| {
                let output = end(Command::new(program).args(arguments).current_dir(root()))?;
                parse(&output)
            };
            let (whole, before) = (parse(&time.whole)?, parse(&time.before)?);
            check(&whole, more)?;
            check(&before, more)?;
            let sums = [&before, &first, &whole].map(counts);
            let [before, after, whole] = &sums;
            let wrong = whole.iter().find(|(name, value)| {
                let of = |counts: &BTreeMap<String, f64>| counts.get(*name).copied().unwrap_or(f64::NAN);
                of(before) + of(after) != **value
            });
            match wrong {
                None => Ok(()),
                Some((name, value)) => Err(format!(
                    "{}: {name} is {value} in the whole run, {:?} in the warm-up and {:?} after it",
                    shown(),
                    before.get(name),
                    after.get(name)
                )),
            }
        }
    }
}

/// Two command lines whose counts are related to those of one with a warm-up.
struct WarmUp {
    /// The same without a warm-up.
    whole: Vec<String>,
    /// The warm-up alone.
    before: Vec<String>,
}

/// Returns them, if these arguments have a warm-up.
fn warm_up(arguments: &[String]) -> Option<WarmUp> {
    let at = arguments.iter().position(|word| word == "--warm-up")?;
    let time = arguments[at + 1].clone();
    if time == "0 s" {
        return None;
    }
    let mut whole = arguments.to_vec();
    whole.drain(at..at + 2);
    let mut before = whole.clone();
    let duration = before.iter().position(|word| word == "--duration")?;
    before[duration + 1] = time;
    Some(WarmUp { whole, before })
}

/// Returns the counts of packets and events of all runs, by their places.
fn counts(value: &Value) -> BTreeMap<String, f64> {
    const FLOWS: [&str; 8] = [
        "packets_sent",
        "packets_received",
        "packets_duplicated",
        "packets_dropped",
        "packets_lost_to_errors",
        "retransmissions",
        "timeouts",
        "congestion_events",
    ];
    const QUEUES: [&str; 4] = ["arrived", "dropped", "marked", "lost_to_errors"];
    let mut counts = BTreeMap::new();
    let mut add = |place: String, of: &Value, names: &[&str]| {
        for name in names {
            counts.insert(format!("{place}.{name}"), of[name].as_f64().unwrap_or(f64::NAN));
        }
    };
    for (i, run) in value["runs"].as_array().into_iter().flatten().enumerate() {
        add(format!("runs[{i}]"), run, &FLOWS);
        for (kind, names) in [("flows", &FLOWS[..]), ("queues", &QUEUES[..])] {
            for (j, of) in run[kind].as_array().into_iter().flatten().enumerate() {
                add(format!("runs[{i}].{kind}[{j}]"), of, names);
            }
        }
    }
    counts
}

/// Removes what a run's time decides.
fn without_times(value: &mut Value) {
    for run in value["runs"].as_array_mut().into_iter().flatten() {
        if let Some(run) = run.as_object_mut() {
            run.remove("timing");
        }
    }
}

/// Checks the numbers of a run. With `more`, more packets may arrive than are sent.
fn consistent(run: &Value, more: bool) -> Result<(), String> {
    let number = |of: &Value, name: &str| of[name].as_f64().unwrap_or(0.0);
    let flows = run["flows"].as_array().ok_or("no flows")?;
    for of in flows.iter().chain([run]) {
        for (name, value) in of.as_object().ok_or("no object")? {
            let Some(value) = value.as_f64() else { continue };
            let is_share = name.ends_with("_ratio") || name.starts_with("jain_index");
            if value < 0.0 || !value.is_finite() || (is_share && value > 1.0 + 1e-9) {
                return Err(format!("{name} is {value}"));
            }
        }
        let gone = number(of, "packets_dropped") + number(of, "packets_lost_to_errors");
        let accounted = number(of, "packets_received") + number(of, "packets_duplicated") + gone;
        if accounted > number(of, "packets_sent") && !more {
            return Err(format!("{accounted} packets are accounted for, and fewer were sent: {of}"));
        }
    }
    for queue in run["queues"].as_array().ok_or("no queues")? {
        if number(queue, "dropped") + number(queue, "lost_to_errors") > number(queue, "arrived") && !more {
            return Err(format!("more packets are gone than have arrived: {queue}"));
        }
        if number(queue, "mean_packets") > number(queue, "max_packets") {
            return Err(format!("the mean of a queue is more than its greatest length: {queue}"));
        }
    }
    Ok(())
}

/// Writes a study, runs it into two directories, and compares their results.
fn study(program: &Path, folder: &Path, random: &mut Rng, tally: &mut Tally) -> Result<(), String> {
    let io = |error: std::io::Error| error.to_string();
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).map_err(io)?;
    let file = folder.join("study.toml");
    std::fs::write(&file, study_text(random)).map_err(io)?;
    let mut tables = Vec::new();
    for name in ["a", "b"] {
        let out = folder.join(name);
        let mut run = Command::new(program);
        run.arg("run")
            .arg(&file)
            .arg("--out")
            .arg(&out)
            .args(["--threads", if name == "a" { "1" } else { "2" }]);
        if !one_in(random, 4) {
            run.arg("--no-report");
        }
        let done = end(&mut run)?;
        if !done.status.success() {
            tally.studies += 1;
            tally.refused += 1;
            let empty = done.stderr.is_empty();
            return if empty { Err("a study is refused without a word".to_owned()) } else { Ok(()) };
        }
        let table =
            end(Command::new(program).arg("export").arg(&out).args(["--canonical", "--format", "csv"]))?;
        if !table.status.success() {
            return Err(format!("export fails: {}", String::from_utf8_lossy(&table.stderr)));
        }
        tables.push(table.stdout);
    }
    tally.studies += 1;
    if tables[0] != tables[1] || tables[0].is_empty() {
        return Err(format!("two runs of {} differ, with one thread and with two", file.display()));
    }
    Ok(())
}

fn study_text(random: &mut Rng) -> String {
    let mut text =
        "title = \"Drawn\"\nquestion = \"Does it hold?\"\n[scenario]\nduration = \"0.5 s\"\n".to_owned();
    text += &format!("rate = \"{} Mbit/s\"\n", 1 + random.usize(..5));
    text += &format!("algorithm = \"{}\"\n", pick(random, &ALGORITHMS[..ALGORITHMS.len() - 2]));
    if one_in(random, 2) {
        text += &format!("flows = {}\n", 1 + random.usize(..3));
    }
    text += &format!(
        "[run]\nrepeats = {}\nmetrics = [\"throughput_bps\", \"utilisation\"]\n",
        1 + random.usize(..3)
    );
    let right = AXES.len() - if one_in(random, 10) { 0 } else { 2 };
    for i in 0..random.usize(..3) {
        let (key, values) = AXES[random.usize(..right)];
        text += &format!("[[axes]]\nname = \"axis {i}\"\nkey = \"{key}\"\nvalues = {values}\n");
    }
    if one_in(random, 3) {
        text += "[trace]\nsample = \"50 ms\"\n";
    }
    if one_in(random, 3) {
        let bound = pick(random, &[">= 0.5", "< 1", "between 2 and 1", ">= 0"]);
        text += &format!(
            "[[claims]]\ntext = \"It holds.\"\nmeasure = \"least\"\nmetric = \"utilisation\"\nexpect = \"{bound}\"\n"
        );
    }
    text
}

fn one_in(random: &mut Rng, n: usize) -> bool {
    random.usize(..n) == 0
}

fn pick<T: Copy>(random: &mut Rng, from: &[T]) -> T {
    from[random.usize(..from.len())]
}

/// Commands that only print, and arguments that are none.
fn other(program: &Path, random: &mut Rng, tally: &mut Tally) -> Result<(), String> {
    let lines: &[&[&str]] = &[
        &["algorithms"],
        &["algorithms", "cubic"],
        &["algorithms", "--json"],
        &["algorithms", "cubik"],
        &["metrics"],
        &["metrics", "jain_index"],
        &["metrics", "no such"],
        &["networks"],
        &["networks", "codel"],
        &["schema"],
        &["schema", "--markdown"],
        &["completions", "bash"],
        &["man"],
        &["check", "studies/today.toml"],
        &["check", "README.md"],
        &["check", "/nonexistent"],
        &["report", "studies"],
        &["export", "/dev/null"],
        &["diff", "README.md", "README.md"],
        &["drill", "crates/cwnd-drill/tests/scripts/fast-retransmit.pkt"],
        &["drill", "README.md"],
        &["\u{1b}[31m"],
        &["compare", "--", "--json"],
        &[""],
    ];
    let line = pick(random, lines);
    let run = || end(Command::new(program).args(line).current_dir(root()));
    let (first, second) = (run()?, run()?);
    tally.others += 1;
    tally.refused += usize::from(!first.status.success());
    match first == second {
        true => Ok(()),
        false => Err(format!("`{}` differs from one time to the next", line.join(" "))),
    }
}
