//! The program `ns` (ns-2.35), and cwnd's endpoints with its clock, which have the same options and result.

use super::cells::{ACCESS_DELAY_MS, Run, Setting};
use crate::program;
use std::path::PathBuf;
use std::process::Command;

/// ns-2.35 with its TCP-Linux agents.
pub struct Ns2(());

/// The example `ns2_clock` of cwnd-sim.
pub struct Clock(PathBuf);

impl Ns2 {
    /// Checks that `ns` can be run.
    pub fn find() -> Result<Ns2, String> {
        // `ns` reads a script from its standard input, which is empty here.
        program::output(&mut Command::new("ns")).map_err(|why| {
            format!("ns-2.35 (the program `ns`) cannot be run; sudo apt-get install ns2\n{why}")
        })?;
        Ok(Ns2(()))
    }

    /// Runs a setting with a module of TCP-Linux. The flows start at these times, in nanoseconds.
    pub fn run(&self, setting: &Setting, module: &str, starts: &[u64]) -> Result<Run, String> {
        let mut command = Command::new("ns");
        command.arg(program::data("dumbbell.tcl")).args(network(setting, starts)).args([
            format!("module={module}"),
            format!("flows={}", setting.flows),
            format!("access_delay={}", seconds(ACCESS_DELAY_MS)),
            format!("sample={}", setting.sample),
        ]);
        result_of(&mut command)
    }
}

impl Clock {
    /// Finds the program among the examples beside this one.
    pub fn find() -> Result<Clock, String> {
        program::built("examples/ns2_clock").map(Clock)
    }

    /// Runs a setting with an algorithm. The flows start at these times, in nanoseconds.
    pub fn run(&self, setting: &Setting, algorithm: &str, starts: &[u64]) -> Result<Run, String> {
        let mut command = Command::new(&self.0);
        command.arg(format!("algorithm={algorithm}")).args(network(setting, starts));
        result_of(&mut command)
    }
}

/// Returns the options that both programs have.
fn network(setting: &Setting, starts: &[u64]) -> [String; 6] {
    let starts: Vec<String> = starts.iter().map(|&ns| format!("{:.9}", ns as f64 / 1e9)).collect();
    [
        format!("rate={}Mb", setting.rate),
        format!("delay={}", seconds(setting.delay_ms)),
        format!("buffer={}", setting.buffer),
        format!("access_buffer={}", setting.access_buffer),
        format!("duration={}", setting.duration),
        format!("starts={}", starts.join(",")),
    ]
}

fn seconds(ms: u32) -> f64 {
    f64::from(ms) / 1e3
}

fn result_of(command: &mut Command) -> Result<Run, String> {
    let text = program::output(command)?;
    parse(&text).ok_or_else(|| format!("{command:?} printed no result: {text}"))
}

/// Parses what the script prints.
fn parse(text: &str) -> Option<Run> {
    let result = text.lines().find_map(|line| line.strip_prefix("result "))?;
    let value =
        |key: &str| result.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let number = |key: &str| value(key)?.parse::<u64>().ok();
    let received: Option<Vec<u64>> = value("flows")?.split(',').map(|text| text.parse().ok()).collect();
    let windows = text.lines().filter_map(|line| line.strip_prefix("cwnd ")?.split_once(' '));
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
    fn parses_the_output_of_the_script() {
        let text = "cwnd 0.100000 4\ncwnd 0.200000 8\n\
                    result sent=1000 retransmitted=3 timeouts=0 cuts=2 dropped=1 dropped_at_senders=2 \
                    flows=495,490\n";
        let run = parse(text).unwrap();
        assert_eq!((run.sent, run.retransmitted, run.timeouts, run.cuts), (1000, 3, 0, 2));
        assert_eq!((run.dropped, run.dropped_at_senders), (1, 2));
        assert_eq!((run.received, run.windows), (vec![495, 490], vec![4.0, 8.0]));
        assert_eq!(parse("no result"), None);
    }
}
