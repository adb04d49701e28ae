//! Records the flows of the first archive again, with Linux in a virtual machine (`cwnd lab vm`), and compares both recordings.
//!
//! The machine's clock is virtual, as that of the recorded kernel was. The path is the one that cwnd's own flows take. A recording is
//! a file of the archive's form in a folder of the target directory; one that is there is not made again.

use super::cases::{
    self, CASES, MODULES, PAIR_FROM, PAIR_OFFSET, PAIR_TIME, PAIRS, SINGLE_FROM, SINGLE_TIME,
};
use super::curves::Curve;
use super::ours::{self, Means};
use super::recordings::{self, Recordings};
use crate::cwnd::Cwnd;
use crate::parallel::parallel;
use crate::program;
use crate::samples::Samples;
use crate::table::{cells, table};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The series of kernels that was recorded.
const KERNEL: &str = "6.1";

/// Ticks a second of Debian's kernels.
const TIMER_HZ: u32 = 250;

/// A run of one or two flows.
struct Run {
    /// The names of the files of its flows.
    files: Vec<String>,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Lossless(&'static str),
    /// With random loss, and the number of the recording, from 1.
    Lossy(&'static str, usize),
    Pair([&'static str; 2]),
}

impl Run {
    /// Returns whether a row names it: by the name of its first flow's file, or by its folder.
    fn is(&self, row: &str) -> bool {
        self.files[0] == row || row.ends_with('/') && self.files[0].starts_with(row)
    }
}

/// Records what is not recorded yet of these rows, and prints the comparison. A row is a name, or a folder as `pairs/`. None are all.
pub fn run(rows: &[String]) -> Result<bool, String> {
    let recordings = recordings::read()?;
    let folder = folder()?;
    let mut runs = all(&recordings);
    runs.retain(|run| rows.is_empty() || rows.iter().any(|row| run.is(row)));
    if runs.is_empty() {
        let names: Vec<String> = all(&recordings).into_iter().map(|run| run.files[0].clone()).collect();
        return Err(format!("--rows: none of these is a row; rows are {}", names.join(", ")));
    }
    let absent: Vec<&Run> =
        runs.iter().filter(|run| run.files.iter().any(|file| !csv(&folder, file).exists())).collect();
    println!("{} of {} runs are to be recorded in {}", absent.len(), runs.len(), folder.display());
    let cwnd = Cwnd::find()?;
    parallel(absent.len(), |number| {
        let run = absent[number];
        let flows = record(&cwnd, run).map_err(|why| format!("{}: {why}", run.files[0]));
        // The others continue meanwhile.
        let flows = flows.inspect_err(|why| eprintln!("{why}"))?;
        for (file, text) in run.files.iter().zip(flows) {
            keep(&csv(&folder, file), &text)?;
        }
        println!("{}", run.files.join(", "));
        Ok(())
    })?;
    print!("{}", compare(&recordings, &folder, &cwnd)?);
    Ok(true)
}

/// Returns the folder of these recordings, two levels above this program.
fn folder() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    let target = own.ancestors().nth(2).ok_or("this program does not lie in a target directory")?;
    Ok(target.join(format!("fidelity/linux-{KERNEL}-vm")))
}

/// All runs of the archive, those without random loss first.
fn all(recordings: &Recordings) -> Vec<Run> {
    let single = |file: String, kind| Run { files: vec![file], kind };
    let lossless = MODULES.iter().map(|module| single(format!("{module}-0"), Kind::Lossless(module)));
    let lossy = MODULES.iter().flat_map(|module| {
        (1..=recordings.lossy[module].len())
            .map(move |seed| single(format!("seeds/{module}-0.1-seed{seed}"), Kind::Lossy(module, seed)))
    });
    let pairs = PAIRS.iter().map(|pair| Run {
        files: [1, 2].map(|flow| format!("pairs/{}-{}-flow{flow}", pair[0], pair[1])).to_vec(),
        kind: Kind::Pair(*pair),
    });
    lossless.chain(pairs).chain(lossy).collect()
}

/// Runs it in a virtual machine. Returns the contents of the files of its flows.
fn record(cwnd: &Cwnd, run: &Run) -> Result<Vec<String>, String> {
    let (modules, mut arguments) = match run.kind {
        Kind::Lossless(module) => (vec![module], ours::recorded(cases::BUFFER, SINGLE_TIME)),
        Kind::Lossy(module, seed) => {
            let mut arguments = ours::recorded(cases::BUFFER, SINGLE_TIME);
            arguments.extend([
                "--per".to_owned(),
                cases::LOSS.to_string(),
                "--seed".to_owned(),
                seed.to_string(),
            ]);
            (vec![module], arguments)
        }
        Kind::Pair(pair) => (pair.to_vec(), ours::recorded(cases::PAIR_BUFFER, PAIR_TIME)),
    };
    let names: Vec<String> = modules.iter().map(|module| host_name(module)).collect();
    match &names[..] {
        [first, second] => arguments.extend([
            "--flow".to_owned(),
            first.clone(),
            "--flow".to_owned(),
            format!("{second}; start={PAIR_OFFSET} s"),
        ]),
        _ => arguments.extend(names),
    }
    if let Some(packets) =
        CASES.iter().find(|case| case.module == modules[0]).and_then(|case| case.marks_beyond)
    {
        arguments.extend(["--ecn-threshold".to_owned(), packets.to_string()]);
    }
    arguments.extend(["--sample", "100 ms", "--trace", "trace.csv"].map(str::to_owned));
    let without_hystart = if modules[0] == "cubic-nohystart" {
        "echo 0 > /sys/module/tcp_cubic/parameters/hystart && "
    } else {
        ""
    };
    let words: String = arguments.iter().map(|word| format!(" '{word}'")).collect();
    let script = format!(
        "{without_hystart}cwnd compare --engine kernel --quiet --json{words} > run.json && echo @trace && cat trace.csv && echo @end"
    );
    let mut command: Command = cwnd.command();
    command.args(["lab", "vm", "--kernel", KERNEL, "--", &script]);
    let text = program::output(&mut command)?;
    // The kernel's last words follow.
    let trace = text.split_once("@trace\n").and_then(|(_, rest)| rest.split_once("@end"));
    let (trace, _) = trace.ok_or_else(|| format!("the machine printed no trace: {text}"))?;
    let samples = Samples::parse(&without_messages(trace));
    (1..=modules.len()).map(|flow| rewrite(&samples, flow as u32)).collect()
}

/// Leaves out what the kernel says on the same line, as `[   12.345678] ...`.
fn without_messages(trace: &str) -> String {
    let lines = trace.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('['));
    lines.map(|line| line.to_owned() + "\n").collect()
}

/// The name of a module of the kernel in the command.
fn host_name(module: &str) -> String {
    format!("{}@host", module.split('-').next().unwrap_or(module))
}

/// Returns the samples of a flow in the form of the recordings. Its times count from its start.
fn rewrite(samples: &Samples, flow: u32) -> Result<String, String> {
    const COLUMNS: [&str; 8] =
        ["time_s", "flow", "cwnd", "ssthresh", "rtt_s", "delivered_bytes", "in_flight", "state"];
    let [time, of, cwnd, ssthresh, rtt, acked, unacked, state] = COLUMNS.map(|name| samples.column(name));
    let (time, of, cwnd, ssthresh) = (time?, of?, cwnd?, ssthresh?);
    let (rtt, acked, unacked, state) = (rtt?, acked?, unacked?, state?);
    let mut text = "time_s,cwnd_pkts,ssthresh,rtt_ms,bytes_acked,unacked,ca_state\n".to_owned();
    let since = if flow == 2 { PAIR_OFFSET } else { 0.0 };
    for sample in samples.iter() {
        let number = sample.number(of).map_err(|why| format!("{why}: {}", sample.line()))?;
        if number != f64::from(flow) || sample.number(time)? < since {
            continue;
        }
        let ca_state = match sample.text(state) {
            "open" => 0,
            "disorder" => 1,
            "cwr" => 2,
            "recovery" => 3,
            "loss" => 4,
            other => return Err(format!("`{other}` is no state of a flow")),
        };
        // An infinite threshold is empty in a trace, and the greatest number in the recordings.
        let ssthresh = Some(sample.text(ssthresh)).filter(|text| !text.is_empty()).unwrap_or("2147483647");
        // Before the first sample there is none.
        let rtt = sample.number(rtt).map_or(String::new(), |rtt| format!("{:.3}", 1e3 * rtt));
        writeln!(
            text,
            "{:.6},{},{ssthresh},{rtt},{},{},{ca_state}",
            sample.number(time)? - since,
            sample.text(cwnd),
            sample.text(acked),
            sample.text(unacked)
        )
        .map_err(|error| error.to_string())?;
    }
    Ok(text)
}

/// Returns the file of a recording. Names have dots.
fn csv(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.csv"))
}

fn keep(file: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    fs::create_dir_all(file.parent().unwrap_or(file)).map_err(failed)?;
    fs::write(file, text).map_err(failed)
}

/// Reads a recording of the folder; none if it has not been made.
fn read(folder: &Path, file: &str) -> Result<Option<Curve>, String> {
    let file = csv(folder, file);
    match file.exists() {
        true => Ok(Some(recordings::recording(&file)?.curve)),
        false => Ok(None),
    }
}

/// Compares what is in the folder with the archive.
fn compare(archive: &Recordings, folder: &Path, cwnd: &Cwnd) -> Result<String, String> {
    let both = |theirs: f64, ours: f64| {
        [format!("{theirs:.2}"), format!("{ours:.2}"), format!("{:+.1} %", 100.0 * (ours / theirs - 1.0))]
    };
    let mut lossless = Vec::new();
    for module in MODULES {
        let Some(ours) = read(folder, &format!("{module}-0"))? else { continue };
        let (theirs, _) = &archive.lossless[module];
        let mut row = vec![module.to_owned()];
        row.extend(both(theirs.goodput(0.0, SINGLE_TIME), ours.goodput(0.0, SINGLE_TIME)));
        row.extend(both(
            theirs.mean_cwnd(SINGLE_FROM, SINGLE_TIME),
            ours.mean_cwnd(SINGLE_FROM, SINGLE_TIME),
        ));
        let first = |curve: &Curve| curve.first_loss().map_or("–".to_owned(), |(_, by)| format!("{by:.1}"));
        row.extend([first(theirs), first(&ours), format!("{:.3}", theirs.distance(&ours))]);
        lossless.push(row);
    }
    let mut pairs = Vec::new();
    for (pair, theirs) in PAIRS.iter().zip(&archive.pairs) {
        for flow in [1, 2] {
            let name = format!("{}-{}-flow{flow}", pair[0], pair[1]);
            let Some(ours) = read(folder, &format!("pairs/{name}"))? else { continue };
            let since = if flow == 2 { PAIR_OFFSET } else { 0.0 };
            let goodput = |curve: &Curve| curve.goodput(PAIR_FROM - since, PAIR_TIME - since);
            let mut row = vec![name];
            row.extend(both(goodput(&theirs[flow - 1]), goodput(&ours)));
            pairs.push(row);
        }
    }
    let lossy = lossy(archive, folder, cwnd)?;
    let quantity = ["archive", "machine", ""];
    let of = |words: &[&str]| cells(words);
    let mut text = String::new();
    let mut section = |title: &str, head: [Vec<String>; 2], rows: &[Vec<String>]| {
        if !rows.is_empty() {
            text += &format!("\n{title}\n\n{}", table(&[0], &head, rows));
        }
    };
    section(
        "Without random loss, 30 s",
        [
            of(&["", "Mbit/s", "", "", "mean cwnd", "", "", "first loss by, s", "", "distance"]),
            [of(&[""]), of(&quantity), of(&quantity), of(&["archive", "machine", ""])].concat(),
        ],
        &lossless,
    );
    section(
        "Pairs, Mbit/s from 20 to 60 s",
        [of(&["", "Mbit/s"]), [of(&[""]), of(&quantity)].concat()],
        &pairs,
    );
    // Of cwnd from the machine: of the means, and the greatest of a seed.
    let quantity = ["archive", "machine", "cwnd", "apart", "at most"];
    section(
        "With random loss of 0.1 %, from 5 to 30 s; cwnd loses the same packets as the machine",
        [
            [of(&["", "runs", ""]), of(&["Mbit/s", "", "", "", ""]), of(&["mean cwnd", "", "", "", ""])]
                .concat(),
            [of(&["", "archive", "machine"]), of(&quantity), of(&quantity)].concat(),
        ],
        &lossy,
    );
    Ok(text)
}

/// Returns the rows of flows with random loss. The emulator draws losses as the simulator does, so that with the same seed the n-th packet
/// of both is lost or not.
fn lossy(archive: &Recordings, folder: &Path, cwnd: &Cwnd) -> Result<Vec<Vec<String>>, String> {
    let mut rows = Vec::new();
    for module in MODULES {
        let theirs = &archive.lossy[module];
        let mut machine = Vec::new();
        for seed in 1..=theirs.len() {
            let curve = read(folder, &format!("seeds/{module}-0.1-seed{seed}"))?;
            machine.extend(curve.map(|curve| (seed, curve)));
        }
        if machine.is_empty() {
            continue;
        }
        let case = CASES.iter().find(|case| case.module == module);
        let simulated = case.map(|case| ours::lossy(cwnd, case, theirs.len(), TIMER_HZ)).transpose()?;
        let mut row = vec![module.to_owned(), theirs.len().to_string(), machine.len().to_string()];
        for (recorded, simulated_mean) in [
            (Curve::goodput as fn(&Curve, f64, f64) -> f64, (|means| means.goodput) as fn(&Means) -> f64),
            (Curve::mean_cwnd, |means| means.cwnd),
        ] {
            let of = |curve: &Curve| recorded(curve, SINGLE_FROM, SINGLE_TIME);
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            let archived: Vec<f64> = theirs.iter().map(of).collect();
            let real: Vec<f64> = machine.iter().map(|(_, curve)| of(curve)).collect();
            row.extend([format!("{:.2}", mean(&archived)), format!("{:.2}", mean(&real))]);
            let Some(simulated) = &simulated else {
                row.extend(["–"; 3].map(str::to_owned));
                continue;
            };
            let same: Vec<f64> =
                machine.iter().map(|(seed, _)| simulated_mean(&simulated[seed - 1])).collect();
            let apart = real.iter().zip(&same).map(|(real, same)| (same / real - 1.0).abs());
            row.push(format!("{:.2}", mean(&same)));
            row.push(format!("{:+.1} %", 100.0 * (mean(&same) / mean(&real) - 1.0)));
            row.push(format!("{:.1} %", 100.0 * apart.fold(0.0, f64::max)));
        }
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_trace_becomes_a_recording() {
        let trace = "algorithm,seed,time_s,flow,cwnd,ssthresh,rtt_s,delivered_bytes,in_flight,state\n\
                     mix,1,0,1,10,,,0,10,open\nmix,1,10.1,1,20,30,0.0402,2896,20,recovery\n[   11.5] a message\n\
                     mix,1,0,2,10,,,0,0,open\nmix,1,10,2,10,,,0,10,open\nmix,1,10.1,2,40,,0.04,1448,40,cwr\n";
        let samples = Samples::parse(&without_messages(trace));
        let head = "time_s,cwnd_pkts,ssthresh,rtt_ms,bytes_acked,unacked,ca_state\n";
        let first = rewrite(&samples, 1).unwrap();
        assert_eq!(
            first,
            format!("{head}0.000000,10,2147483647,,0,10,0\n10.100000,20,30,40.200,2896,20,3\n")
        );
        let second = rewrite(&samples, 2).unwrap();
        assert_eq!(
            second,
            format!("{head}0.000000,10,2147483647,,0,10,0\n0.100000,40,2147483647,40.000,1448,40,2\n")
        );
    }

    #[test]
    fn rows_are_names_or_folders() {
        let run = Run { files: vec!["seeds/reno-0.1-seed2".to_owned()], kind: Kind::Lossy("reno", 2) };
        assert!(run.is("seeds/") && run.is("seeds/reno-0.1-seed2") && !run.is("reno-0") && !run.is("seeds"));
    }

    #[test]
    fn each_recording_has_a_file_of_its_own() {
        let runs = all(&recordings::read().unwrap());
        let names: Vec<&String> = runs.iter().flat_map(|run| &run.files).collect();
        let files: BTreeSet<PathBuf> = names.iter().map(|name| csv(Path::new("folder"), name)).collect();
        assert_eq!(files.len(), names.len());
        assert!(files.contains(Path::new("folder/seeds/reno-0.1-seed2.csv")));
    }

    #[test]
    fn modules_have_the_names_of_the_kernel() {
        assert_eq!(
            ["reno", "cubic-nohystart", "dctcp-ecn50"].map(host_name),
            ["reno@host", "cubic@host", "dctcp@host"]
        );
    }
}
