//! The same work in ns-2 and ns-3, if they are installed.

use super::measure::{self, Usage};
use super::rows::{PEER_ROWS, PeerRow};
use crate::command::{output, root, succeeds};
use crate::statistics::{ends, median};
use crate::table::{cells, table};
use std::path::{Path, PathBuf};
use std::process::Command;

const NS2: &str = "crates/cwnd-fidelity/data/dumbbell.tcl";
const NS3: &str = "crates/cwnd-fidelity/data/dumbbell.cc";

/// Simulated seconds. ns-3 has a fifth of them, since it takes longest.
const SECONDS: u32 = 100;
const SECONDS_OF_NS3: u32 = SECONDS / 5;

/// Runs each row in each program, and returns the table of packets a second.
///
/// # Errors
/// A program that is installed fails.
pub fn speeds(cwnd: &Path, runs: usize) -> Result<String, String> {
    let ns2 = find_ns2();
    let ns3 = build_ns3();
    let mut lines = Vec::new();
    for row in PEER_ROWS {
        let ours = of_runs(runs, &|| cwnd_speed(cwnd, row))?;
        lines.push(line(row, "cwnd", &ours, &ours));
        if ns2.is_ok() {
            lines.push(line(row, "ns-2.35", &of_runs(runs, &|| ns2_speed(row))?, &ours));
        }
        if let Ok(program) = &ns3 {
            let theirs = of_runs(runs, &|| ns3_speed(program, row))?;
            lines.push(line(row, "ns-3", &theirs, &ours));
        }
    }
    let head = [
        cells(&["", "program", "packets a second", "", "cwnd against it", "peak memory"]),
        cells(&["", "", "thousand", "range", "times as fast", "MiB"]),
    ];
    let mut text = format!(
        "CUBIC over 100 Mbit/s, RTT 100 ms, a buffer of 1,000 packets of 1,000 B, {SECONDS} s simulated ({SECONDS_OF_NS3} s by \
         ns-3); median of {runs} runs\n\n"
    );
    text += &table(&[0, 1], &head, &lines);
    text += "\n  Data packets that come to the bottleneck's queue, for each second of CPU time of the whole process.\n";
    for why in [ns2.err(), ns3.err()].into_iter().flatten() {
        text += &format!("  Skipped: {why}\n");
    }
    Ok(text)
}

/// What one run of a program shows.
struct Speed {
    packets_per_s: f64,
    peak_mib: f64,
}

fn of_runs(runs: usize, one: &dyn Fn() -> Result<Speed, String>) -> Result<Vec<Speed>, String> {
    (0..runs).map(|_| one()).collect()
}

fn line(row: &PeerRow, program: &str, all: &[Speed], ours: &[Speed]) -> Vec<String> {
    let values = |all: &[Speed]| all.iter().map(|speed| speed.packets_per_s / 1e3).collect::<Vec<f64>>();
    let (speed, (least, greatest)) = (median(&values(all)), ends(&values(all)));
    let times = median(&values(ours)) / speed;
    let peak = median(&all.iter().map(|speed| speed.peak_mib).collect::<Vec<f64>>());
    vec![
        row.name.to_owned(),
        program.to_owned(),
        format!("{speed:.0}"),
        format!("{least:.0} to {greatest:.0}"),
        if program == "cwnd" { String::new() } else { format!("{times:.0}") },
        format!("{peak:.1}"),
    ]
}

fn cwnd_speed(cwnd: &Path, row: &PeerRow) -> Result<Speed, String> {
    let run = measure::run(cwnd, &row.ours, SECONDS)?;
    let packets = run.cpu_s * 1e9 / run.ns_per_packet;
    Ok(Speed { packets_per_s: packets / run.process_cpu_s, peak_mib: run.peak_mib })
}

fn ns2_speed(row: &PeerRow) -> Result<Speed, String> {
    let mut ns = Command::new("ns");
    ns.arg(root().join(NS2)).arg(format!("flows={}", row.flows)).arg(format!("duration={SECONDS}"));
    ns.args(["module=cubic", "rate=100Mb", "access_rate=1Gb", "payload=1000"]);
    ns.args(["buffer=1000", "access_buffer=1000", "delay=0.048", "access_delay=0.001"]);
    let (text, usage) = measure::output_and_usage(&mut ns)?;
    let packets = number_after(&text, " sent=")? - number_after(&text, " dropped_at_senders=")?;
    Ok(speed(packets, &usage))
}

fn ns3_speed(program: &Path, row: &PeerRow) -> Result<Speed, String> {
    let mut dumbbell = Command::new(program);
    dumbbell.arg(format!("--flows={}", row.flows)).arg(format!("--duration={SECONDS_OF_NS3}"));
    dumbbell.args(["--delay=48", "--buffer=1000", "--segment=1000", "--segments-per-ack=1"]);
    let (text, usage) = measure::output_and_usage(&mut dumbbell)?;
    Ok(speed(number_after(&text, "packets=")?, &usage))
}

fn speed(packets: f64, usage: &Usage) -> Speed {
    Speed { packets_per_s: packets / usage.cpu_s, peak_mib: usage.peak_mib }
}

/// Reads the number that stands after a text.
fn number_after(text: &str, name: &str) -> Result<f64, String> {
    let number = text.split_once(name).and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| format!("there is no number after \"{name}\" in \"{}\"", text.trim_end()))
}

/// Checks that ns-2 is installed.
fn find_ns2() -> Result<(), String> {
    // Without a script it reads its commands from the standard input.
    let found = succeeds(Command::new("ns").arg("/dev/null"));
    if found { Ok(()) } else { Err("there is no ns-2; install it: sudo apt-get install ns2".to_owned()) }
}

/// Builds the dumbbell of ns-3 with this machine's package.
fn build_ns3() -> Result<PathBuf, String> {
    let why = |_| {
        "ns-3 cannot be built against; install it: sudo apt-get install libns3-dev libgsl-dev g++".to_owned()
    };
    let modules = ["ns3-internet", "ns3-point-to-point", "ns3-applications"];
    let flags = output(Command::new("pkg-config").args(["--cflags", "--libs"]).args(modules)).map_err(why)?;
    let program = root().join("target/ns3-dumbbell");
    let mut compiler = Command::new("g++");
    compiler.args(["-O2", "-std=c++17"]).arg(root().join(NS3)).arg("-o").arg(&program);
    output(compiler.args(flags.split_whitespace())).map_err(why)?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::number_after;

    #[test]
    fn numbers_are_found_by_their_names() {
        let text = "result sent=120 retransmitted=3 dropped_at_senders=7\n";
        assert_eq!(
            (number_after(text, " sent="), number_after(text, " dropped_at_senders=")),
            (Ok(120.0), Ok(7.0))
        );
        assert!(number_after(text, "packets=").is_err());
    }
}
