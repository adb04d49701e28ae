//! ns-2.35 as a program.

use super::cells::{ACCESS_DELAY_MS, Chance, Run, Setting, WIRE};
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

/// Run a setting with a module of TCP-Linux.
pub fn run(ns: &Path, setting: &Setting, module: &str, chance: Chance) -> Result<Run, String> {
    let script = command::root().join("xtask/fidelity/dumbbell.tcl");
    let seconds = |ms: u32| f64::from(ms) / 1e3;
    let (seed, jitter, overhead) = chance.bounds(setting);
    let mut command = Command::new(ns);
    command.arg(script).args([
        format!("module={module}"),
        format!("flows={}", setting.flows),
        format!("delay={}", seconds(setting.delay_ms)),
        format!("access_delay={}", seconds(ACCESS_DELAY_MS)),
        format!("buffer={}", setting.buffer),
        format!("access_buffer={}", setting.access_buffer),
        format!("duration={}", setting.duration),
        format!("sample={}", setting.sample),
        format!("seed={seed}"),
        format!("jitter={jitter}"),
        format!("overhead={overhead}"),
    ]);
    let said = command::output(&mut command)?;
    answer(&said, setting).ok_or_else(|| format!("{}: {said}", command::shown(&command)))
}

/// Read what the script prints.
fn answer(said: &str, setting: &Setting) -> Option<Run> {
    let result = said.lines().find_map(|line| line.strip_prefix("result "))?;
    let value =
        |key: &str| result.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let number = |key: &str| value(key)?.parse::<u64>().ok();
    let (sent, resent) = (number("sent")?, number("retransmitted")?);
    let flows: Option<Vec<f64>> = value("flows")?.split(',').map(|text| text.parse().ok()).collect();
    let windows = said.lines().filter_map(|line| line.strip_prefix("cwnd ")?.split_once(' '));
    Some(Run {
        throughput_mbps: number("received")? as f64 * WIRE * 8.0 / f64::from(setting.duration) / 1e6,
        jain: super::ours::jain_index(&flows?),
        resent: resent as f64 / sent as f64,
        cuts: number("cuts")?,
        windows: windows.filter_map(|(_, window)| window.parse().ok()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::cells::CELLS;
    use super::*;

    #[test]
    fn reads_what_the_script_prints() {
        let said = "cwnd 0.100000 4\ncwnd 0.200000 8\n\
                    result sent=1000 retransmitted=3 timeouts=0 cuts=2 received=990 flows=495,495\n";
        let run = answer(said, &CELLS[0].setting).unwrap();
        // 990 packets of 8,400 bit in 150 s.
        assert!((run.throughput_mbps - 0.05544).abs() < 1e-9);
        assert_eq!((run.jain, run.resent, run.cuts), (1.0, 0.003, 2));
        assert_eq!(run.windows, [4.0, 8.0]);
        assert_eq!(answer("no result", &CELLS[0].setting), None);
    }
}
