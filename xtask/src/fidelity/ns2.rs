//! ns-2.35 as a program.

use super::cells::{ACCESS_DELAY_MS, Run, Setting};
use crate::command;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where `ns` is; installs it if need be and it may.
pub fn find() -> Result<PathBuf, String> {
    let ns = PathBuf::from("ns");
    // `ns` reads a script from its standard input, which is empty here.
    let is_there = || command::succeeds(&mut Command::new("ns"));
    if !is_there() {
        command::install("ns2").map_err(|why| format!("there is no ns-2.35 (the program `ns`); {why}"))?;
    }
    if is_there() { Ok(ns) } else { Err("ns2 is installed, but `ns` does not run".to_owned()) }
}

/// Run a setting with a module of TCP-Linux. The flows start at these times, in nanoseconds.
pub fn run(ns: &Path, setting: &Setting, module: &str, starts: &[u64]) -> Result<Run, String> {
    let script = command::root().join("xtask/fidelity/dumbbell.tcl");
    let seconds = |ms: u32| f64::from(ms) / 1e3;
    let mut command = Command::new(ns);
    command.arg(script).args([
        format!("module={module}"),
        format!("flows={}", setting.flows),
        format!("rate={}Mb", setting.rate),
        format!("delay={}", seconds(setting.delay_ms)),
        format!("access_delay={}", seconds(ACCESS_DELAY_MS)),
        format!("buffer={}", setting.buffer),
        format!("access_buffer={}", setting.access_buffer),
        format!("duration={}", setting.duration),
        format!("sample={}", setting.sample),
        format!("starts={}", seconds_of(starts)),
    ]);
    ask(&mut command)
}

/// Run cwnd's endpoints with ns-2's clock (`crates/cwnd-sim/examples/ns2_clock.rs`), which speaks as the script does.
pub fn run_clock(program: &Path, setting: &Setting, algorithm: &str, starts: &[u64]) -> Result<Run, String> {
    let mut command = Command::new(program);
    command.args([
        format!("algorithm={algorithm}"),
        format!("rate={}Mb", setting.rate),
        format!("delay={}", f64::from(setting.delay_ms) / 1e3),
        format!("buffer={}", setting.buffer),
        format!("access_buffer={}", setting.access_buffer),
        format!("duration={}", setting.duration),
        format!("starts={}", seconds_of(starts)),
    ]);
    ask(&mut command)
}

fn seconds_of(starts: &[u64]) -> String {
    let starts: Vec<String> = starts.iter().map(|&ns| format!("{:.9}", ns as f64 / 1e9)).collect();
    starts.join(",")
}

fn ask(command: &mut Command) -> Result<Run, String> {
    let said = command::output(command)?;
    answer(&said).ok_or_else(|| format!("{}: {said}", command::shown(command)))
}

/// Read what the script prints.
fn answer(said: &str) -> Option<Run> {
    let result = said.lines().find_map(|line| line.strip_prefix("result "))?;
    let value =
        |key: &str| result.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let number = |key: &str| value(key)?.parse::<u64>().ok();
    let received: Option<Vec<u64>> = value("flows")?.split(',').map(|text| text.parse().ok()).collect();
    let windows = said.lines().filter_map(|line| line.strip_prefix("cwnd ")?.split_once(' '));
    Some(Run {
        sent: number("sent")?,
        retransmitted: number("retransmitted")?,
        dropped: number("dropped")?,
        dropped_at_senders: number("dropped_at_senders")?,
        timeouts: number("timeouts")?,
        cuts: number("cuts")?,
        received: received?,
        windows: windows.filter_map(|(_, window)| window.parse().ok()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_script_prints() {
        let said = "cwnd 0.100000 4\ncwnd 0.200000 8\n\
                    result sent=1000 retransmitted=3 timeouts=0 cuts=2 dropped=1 dropped_at_senders=2 \
                    flows=495,490\n";
        let run = answer(said).unwrap();
        assert_eq!((run.sent, run.retransmitted, run.timeouts, run.cuts), (1000, 3, 0, 2));
        assert_eq!((run.dropped, run.dropped_at_senders), (1, 2));
        assert_eq!((run.received, run.windows), (vec![495, 490], vec![4.0, 8.0]));
        assert_eq!(answer("no result"), None);
    }
}
