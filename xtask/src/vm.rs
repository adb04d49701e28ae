//! `cargo xtask vm`: every algorithm in other kernels than this machine's, in virtual machines.
//!
//! Each kernel boots in `cwnd lab vm`. There the laboratory says what the kernel offers, and each algorithm in C is loaded and
//! carries a transfer over an emulated network. The table of docs/kernel.md is made by `--record`.
//!
//! Where the kernel of `--engine vm` is tried, that engine answers the same question twice, too, with equal results, and once more with
//! its packets captured. The same kernel is booted with systemd and the unit of docs/kernel.md.

mod unit;

use crate::command::{install, output, root, run_showing, succeeds};
use crate::json;
use crate::options::Options;
use crate::table::{cells, table};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

pub const OPTIONS: &str = "[--kernel 6.12] [--record] | --sample | --unit";

const KERNEL: &str = "--kernel";
const RECORD: &str = "--record";
const UNIT: &str = "--unit";
const SAMPLE: &str = "--sample";

/// A sample has every sixth algorithm.
const SAMPLED: usize = 6;

/// The series that are tried, and whether they have what the algorithms need: BPF links of congestion controls, from 6.4 on.
const SERIES: [(&str, bool); 7] = [
    ("6.1", false),
    ("6.12", true),
    ("6.16", true),
    ("6.17", true),
    ("6.18", true),
    ("7.2", true),
    ("newest", true),
];

/// A small file of the archive that the kernels come from.
const RELEASE: &str = "http://deb.debian.org/debian/dists/trixie/InRelease";

/// What is run once: which kernel it is, and whether the laboratory has what it needs.
const FIRST: &str = "echo \"@release $(uname -r)\"; cwnd lab doctor || echo '@doctor failed'";

/// The transfer of each algorithm: rate, round-trip time and duration.
const PATH: [&str; 6] = ["--rate", "20 Mbit/s", "--rtt", "20 ms", "--duration", "2 s"];
/// The least share of the path's rate that a transfer must use. On Linux 6.12 LEDBAT++ used 75 %, the others 88 to 98 %.
const USED: f64 = 0.5;

/// Where the packets of that run are written.
const PACKETS: &str = "target/vm/run.pcapng";

/// How far apart two answers of the virtual machine may be, as a share of the throughput.
const APART: f64 = 0.005;

/// The kernel of `--engine vm`, and what that engine is asked.
const ENGINE_KERNEL: &str = "6.12";
const ENGINE_QUESTION: [&str; 10] =
    ["compare", "elastic", "--engine", "vm", "--rate", "20 Mbit/s", "--rtt", "20 ms", "--duration", "3 s"];

/// The page with the table, and the lines around it.
const PAGE: &str = "docs/kernel.md";
const BEGIN: &str = "<!-- kernels in virtual machines -->";
const END: &str = "<!-- end of kernels in virtual machines -->";

/// What a kernel did.
struct Row {
    release: String,
    loaded: usize,
    carried: usize,
    algorithms: usize,
    /// What failed, or how it was refused.
    said: Vec<String>,
    seconds: f64,
    passed: bool,
}

/// Runs the series that is asked for, or all, or with `--unit` only the systemd unit, or with `--sample` some algorithms in one kernel.
/// Returns whether each did what it should.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = options(arguments)?;
    if let Some(why) = obstacle() {
        return Err(why);
    }
    if options.has(SAMPLE) {
        return try_sample();
    }
    let cwnd = json::build_cwnd_with_kernel()?;
    if options.has(UNIT) {
        return try_unit(&cwnd);
    }
    let series: Vec<(&str, bool)> = match options.text(KERNEL) {
        None => SERIES.to_vec(),
        // Whether it should work is up to its numbers.
        Some(version) => vec![(version, version == "newest" || number(version) >= Some((6, 4)))],
    };
    let mut rows = Vec::new();
    for (version, works) in series {
        println!("── Linux {version}");
        rows.push(try_kernel(&cwnd, version, works, &algorithms(&cwnd)?)?);
    }
    let printed = shown(&rows);
    println!("\n{printed}");
    if options.has(RECORD) {
        record(&printed)?;
    }
    let tried_engine = options.text(KERNEL).is_none_or(|version| version == ENGINE_KERNEL);
    let engine_works = !tried_engine || try_engine(&cwnd)?;
    let unit_works = !tried_engine || try_unit(&cwnd)?;
    Ok(engine_works && unit_works && rows.iter().all(|row| row.passed))
}

/// Reads the options.
///
/// # Errors
/// An option is unknown, or has no effect next to another one.
fn options(arguments: &[String]) -> Result<Options<'_>, String> {
    let options = Options::new(arguments, &[KERNEL], &[RECORD, UNIT, SAMPLE])?;
    for (alone, what) in [(SAMPLE, "a sample"), (UNIT, "the unit")] {
        let others = [KERNEL, RECORD, UNIT, SAMPLE].into_iter();
        if let Some(other) =
            others.filter(|other| *other != alone).find(|other| options.has(other) && options.has(alone))
        {
            return Err(format!(
                "{alone} and {other} exclude each other: {what} is tried in Linux {ENGINE_KERNEL} alone, and nothing of it is recorded"
            ));
        }
    }
    Ok(options)
}

/// Returns what keeps this machine from it. What is missing is installed where permitted.
pub fn obstacle() -> Option<String> {
    programs().or_else(crate::test::clang).or_else(unreachable)
}

/// Returns why no kernel can be fetched.
fn unreachable() -> Option<String> {
    let folder = root().join("target/vm");
    let mut fetch = Command::new("/usr/lib/apt/apt-helper");
    fetch.args(["download-file", RELEASE]).arg(folder.join("InRelease"));
    let is_there = fs::create_dir_all(&folder).is_ok() && succeeds(&mut fetch);
    (!is_there).then(|| format!("Debian's kernels cannot be fetched ({RELEASE}, by apt)"))
}

/// Returns why no virtual machine can be made. What is missing is installed where permitted.
pub fn programs() -> Option<String> {
    let programs =
        [("qemu-system-x86_64", "qemu-system-x86"), ("busybox", "busybox-static"), ("ip", "iproute2")];
    let absent = programs.iter().filter(|(program, _)| !succeeds(Command::new("which").arg(program)));
    absent.filter_map(|(_, package)| install(package).err()).next()
}

/// Returns the first two numbers of a version.
fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// Tries a sample of the algorithms and the engine in the kernel of `--engine vm`, with the program that the tests have built. What is
/// simulated in the machine is little, so that optimisation would gain less than it costs.
fn try_sample() -> Result<bool, String> {
    let cwnd = json::build_unoptimised(&["--workspace", "--features", "cwnd/kernel", "--bin", "cwnd"])?;
    let names: Vec<String> = algorithms(&cwnd)?.into_iter().step_by(SAMPLED).collect();
    println!("── Linux {ENGINE_KERNEL}: {}", names.join(", "));
    let row = try_kernel(&cwnd, ENGINE_KERNEL, true, &names)?;
    let passed = row.passed;
    println!("\n{}", shown(&[row]));
    Ok(passed && try_engine(&cwnd)?)
}

/// Boots a kernel and tries algorithms there, in as many machines at once as there are cores: each has one.
fn try_kernel(cwnd: &Path, version: &str, works: bool, names: &[String]) -> Result<Row, String> {
    let begin = Instant::now();
    // Alone, since it fetches the kernel.
    let (mut lines, mut ended) = boot(cwnd, version, FIRST)?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let parts = names.chunks(names.len().div_ceil(cores));
    let boots: Vec<Result<_, String>> = thread::scope(|scope| {
        let begin = |part| scope.spawn(move || boot(cwnd, version, &script(part)));
        let machines: Vec<_> = parts.map(begin).collect();
        machines.into_iter().map(|machine| machine.join().expect("it does not panic")).collect()
    });
    for boot in boots {
        let (more, well) = boot?;
        lines.extend(more);
        ended &= well;
    }
    let mut row = read(&lines, names.len(), begin.elapsed().as_secs_f64())?;
    if !ended {
        row.said.push("a machine did not end well".to_owned());
    }
    row.passed = ended
        && if works {
            row.loaded == names.len() && row.carried == names.len()
        } else {
            row.loaded == 0 && row.said.iter().any(|why| why.contains("6.4"))
        };
    Ok(row)
}

/// Runs a script of the shell over a kernel. Returns what it printed, and whether the machine ended well.
fn boot(cwnd: &Path, version: &str, script: &str) -> Result<(Vec<String>, bool), String> {
    let mut lab = Command::new(cwnd);
    lab.args(["lab", "vm", "--at-most", "1200", "--kernel", version, "--", script]);
    let mut lines = Vec::new();
    let ended = run_showing(&mut lab, |line| lines.push(line.to_owned()))?;
    Ok((lines, ended))
}

/// Boots the unit of docs/kernel.md. Without systemd it is skipped, unless everything is required.
fn try_unit(cwnd: &Path) -> Result<bool, String> {
    match succeeds(Command::new("dpkg-query").args(["--status", "systemd"])) {
        true => unit::try_unit(cwnd, ENGINE_KERNEL),
        false => {
            let required = crate::test::requires_all()?;
            let word = if required { "FAILED, since CWND_REQUIRE is `all`" } else { "SKIPPED" };
            println!(
                "{word}: the systemd unit is booted with this host's systemd: sudo apt-get install systemd"
            );
            Ok(!required)
        }
    }
}

/// Asks `--engine vm` the same question twice. Returns whether the algorithm ran as BPF, and both throughputs are equal but for
/// [`APART`]. Of eight answers on a busy machine six were equal to the bit.
fn try_engine(cwnd: &Path) -> Result<bool, String> {
    println!("── cwnd {}, twice", ENGINE_QUESTION.join(" "));
    let ask = || -> Result<(Value, f64), String> {
        let begin = Instant::now();
        let text = output(Command::new(cwnd).args(ENGINE_QUESTION).args(["--json", "--quiet"]))?;
        carried(&text)?;
        let mut answer: Value =
            serde_json::from_str(&text).map_err(|error| format!("its answer: {error}"))?;
        for run in answer["runs"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            run.remove("timing");
        }
        Ok((answer, begin.elapsed().as_secs_f64()))
    };
    let (first, second) = thread::scope(|scope| {
        let second = scope.spawn(ask);
        (ask(), second.join().expect("it does not panic"))
    });
    let ((first, seconds), (second, again)) = (first?, second?);
    let throughput = |answer: &Value| answer["runs"][0]["throughput_bps"].as_f64().unwrap_or(f64::NAN);
    let apart = (throughput(&second) / throughput(&first) - 1.0).abs();
    let passed = apart <= APART;
    let said = match first == second {
        true => "equal".to_owned(),
        false if passed => format!("not equal: throughputs {:.3} % apart", 100.0 * apart),
        false => format!("DIFFERENT: throughputs {:.3} % apart", 100.0 * apart),
    };
    println!("{said}; {seconds:.0} and {again:.0} s");
    Ok(passed && try_capture(cwnd, &first)?)
}

/// Runs the same with its packets captured. Returns whether the file has at least two for each packet that the run without a capture
/// delivered: one at the sender's device and one at the receiver's.
fn try_capture(cwnd: &Path, answer: &Value) -> Result<bool, String> {
    output(
        Command::new(cwnd).current_dir(root()).args(ENGINE_QUESTION).args(["--quiet", "--pcap", PACKETS]),
    )?;
    let file = fs::read(root().join(PACKETS)).map_err(|error| format!("{PACKETS}: {error}"))?;
    let received = answer["runs"][0]["packets_received"].as_u64().ok_or("its answer has no packets")?;
    let packets = count_packets(&file) as u64;
    println!(
        "{PACKETS}: {packets} packets; {received} of data were received, each of which is at two devices"
    );
    Ok(packets >= 2 * received)
}

/// Counts the packets of a file of pcapng: its blocks of type 6. Each block begins with its type and its length.
fn count_packets(file: &[u8]) -> usize {
    let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
    let (mut rest, mut packets) = (file, 0);
    while let [_, _, _, _, tail @ ..] = rest {
        packets += usize::from(word(rest) == 6);
        rest = rest.get((word(tail) as usize).max(12)..).unwrap_or_default();
    }
    packets
}

/// The names of the algorithms in C.
fn algorithms(cwnd: &Path) -> Result<Vec<String>, String> {
    let list = output(Command::new(cwnd).args(["kernel", "list"]))?;
    let rows = list.lines().filter(|line| line.contains(" cwnd_"));
    let names: Vec<String> =
        rows.filter_map(|row| row.split_whitespace().next()).map(str::to_owned).collect();
    if names.is_empty() { Err(format!("`cwnd kernel list` lists none: {list}")) } else { Ok(names) }
}

/// What is run in the machine. What a run says stands between lines that begin with `@`.
fn script(names: &[String]) -> String {
    let path = PATH.map(|word| format!("'{word}'")).join(" ");
    format!(
        "for name in {}; do
             cwnd kernel load $name > load 2>&1; code=$?
             echo \"@load $name $code\" $(cat load)
             test $code = 0 || continue
             cwnd kernel unload $name > /dev/null 2>&1 || echo \"@left $name\"
             if cwnd compare $name --engine kernel {path} --json --quiet > answer 2> error; then
                 echo \"@answer $name\"; cat answer; echo; echo '@end'
             else
                 echo \"@failed $name\" $(cat error)
             fi
         done",
        names.join(" ")
    )
}

/// Reads what the machine printed.
fn read(lines: &[String], algorithms: usize, seconds: f64) -> Result<Row, String> {
    let mut row = Row {
        release: String::new(),
        loaded: 0,
        carried: 0,
        algorithms,
        said: Vec::new(),
        seconds,
        passed: false,
    };
    let mut lines = lines.iter();
    while let Some(line) = lines.next() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["@release", release] => release.clone_into(&mut row.release),
            ["@doctor", ..] => row.said.push("the laboratory finds something missing".to_owned()),
            ["@load", _, "0", ..] => row.loaded += 1,
            ["@load", name, _, ref why @ ..] => row.said.push(format!("{name}: {}", why.join(" "))),
            ["@left", name] => row.said.push(format!("{name} cannot be unloaded")),
            ["@failed", name, ref why @ ..] => row.said.push(format!("{name}: {}", why.join(" "))),
            ["@answer", name] => {
                let text: Vec<&str> =
                    lines.by_ref().take_while(|line| *line != "@end").map(String::as_str).collect();
                match carried(&text.concat()) {
                    Ok(()) => row.carried += 1,
                    Err(why) => row.said.push(format!("{name}: {why}")),
                }
            }
            _ => (),
        }
    }
    if row.release.is_empty() {
        return Err("the machine did not boot, or its first lines were lost".to_owned());
    }
    Ok(row)
}

/// Whether the answer of `cwnd compare --json` is of a run by BPF that used enough of the path.
fn carried(text: &str) -> Result<(), String> {
    let answer: Value = serde_json::from_str(text).map_err(|error| format!("its answer: {error}"))?;
    let run = &answer["runs"][0];
    let by = run["emulation"]["implementations"][0]["by"].as_str().unwrap_or_default();
    if !by.contains("BPF") && !by.contains("built-in") {
        return Err(format!("it was run by `{by}`"));
    }
    let used = run["utilisation"].as_f64().ok_or("its answer has no utilisation")?;
    if used >= USED { Ok(()) } else { Err(format!("it used {:.0} % of the path", 100.0 * used)) }
}

fn shown(rows: &[Row]) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let verdict = if row.passed { "as expected" } else { "FAILED" };
            // All of a refused kernel's algorithms say the same.
            let said = row.said.first().cloned().unwrap_or_default();
            let said = if said.chars().count() > 90 {
                said.chars().take(90).collect::<String>() + "…"
            } else {
                said
            };
            vec![
                row.release.clone(),
                format!("{} of {}", row.loaded, row.algorithms),
                row.carried.to_string(),
                format!("{:.0}", row.seconds),
                verdict.to_owned(),
                said,
            ]
        })
        .collect();
    table(&[0, 4, 5], &[cells(&["kernel", "loaded", "carried", "s", "", "said"])], &rows)
}

/// Writes the table into the page.
fn record(printed: &str) -> Result<(), String> {
    let file = root().join(PAGE);
    let text = fs::read_to_string(&file).map_err(|error| format!("{PAGE}: {error}"))?;
    let places = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) =
        places.ok_or_else(|| format!("{PAGE} has no place for the table: {BEGIN} and {END}"))?;
    let date = output(Command::new("date").arg("+%Y-%m-%d"))?;
    let made =
        format!("{BEGIN}\n\n`cargo xtask vm --record`, {}:\n\n```text\n{printed}```\n\n{END}", date.trim());
    fs::write(&file, format!("{before}{made}{after}")).map_err(|error| format!("{PAGE}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_a_machine_printed_is_counted() {
        let answer = |by: &str, used: f64| {
            format!(
                "{{\"runs\": [{{\"emulation\": {{\"implementations\": [{{\"by\": \"{by}\"}}]}},\n\"utilisation\": {used}}}]}}"
            )
        };
        let text = format!(
            "noise\n@release 6.12.95\n@load a 0 loaded\n@answer a\n{}\n@end\n@load b 0 loaded\n@answer b\n{}\n@end\n@load c 1 no BTF\n",
            answer("BPF, source 12", 0.9),
            answer("BPF, source 34", 0.1)
        );
        let row = read(&lines(&text), 3, 1.0).unwrap();
        assert_eq!((row.release.as_str(), row.loaded, row.carried), ("6.12.95", 2, 1));
        assert_eq!(row.said, ["b: it used 10 % of the path", "c: no BTF"]);
        assert!(read(&lines("nothing"), 3, 1.0).is_err());
    }

    #[test]
    fn options_without_effect_are_refused() {
        let read = |text: &str| {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            options(&words).map(drop)
        };
        for text in ["--sample --kernel 6.18", "--record --sample", "--unit --sample", "--unit --kernel 6.1"]
        {
            assert!(read(text).expect_err(text).contains("exclude each other"), "{text}");
        }
        for text in ["", "--sample", "--unit", "--kernel 6.18 --record"] {
            assert_eq!(read(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn packets_of_a_capture_are_counted() {
        let block = |kind: u32, body: &[u8]| {
            let length = (12 + body.len() as u32).to_le_bytes();
            [&kind.to_le_bytes()[..], &length, body, &length].concat()
        };
        let file = [block(0x0a0d_0d0a, &[0; 16]), block(1, &[0; 8]), block(6, &[6; 20]), block(6, &[0; 24])];
        assert_eq!(count_packets(&file.concat()), 2);
        assert_eq!(count_packets(&[6, 0, 0]), 0);
    }

    #[test]
    fn kernels_before_6_4_are_to_be_refused() {
        assert!(
            number("6.1") < Some((6, 4)) && number("6.12") > Some((6, 4)) && number("7.0.4") > Some((6, 4))
        );
    }
}
