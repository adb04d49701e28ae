//! The machine on which something is measured.

use std::fs::read_to_string;

/// Its processor and the number of cores.
pub fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, name)| name);
    format!("{model}, {cores} core{}", if cores == 1 { "" } else { "s" })
}

/// The load average over the last minute.
pub fn load() -> String {
    let averages = read_to_string("/proc/loadavg").unwrap_or_default();
    averages.split(' ').next().filter(|text| !text.is_empty()).unwrap_or("unknown").to_owned()
}
