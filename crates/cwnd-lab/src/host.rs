//! This host: its kernel, its name, and where its CPU time went.

use std::fs;

/// The time in which this host's kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostTime {
    /// It passes meanwhile, and the emulator saves CPU time.
    Real,
    /// It stands still while nothing is computed, so that the emulator may wake up exactly as often as packets come.
    Virtual,
}

/// The argument of a kernel whose time is virtual. The kernel itself ignores it.
pub const VIRTUAL_TIME: &str = "cwnd.time=virtual";

impl HostTime {
    /// Returns that of this host.
    pub fn of_this_host() -> HostTime {
        let arguments = fs::read_to_string("/proc/cmdline").unwrap_or_default();
        let is_virtual = arguments.split_whitespace().any(|argument| argument == VIRTUAL_TIME);
        if is_virtual { HostTime::Virtual } else { HostTime::Real }
    }
}

/// The kernel's release and architecture, as `6.18.44 x86_64`.
pub fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {}", release.trim(), std::env::consts::ARCH)
}

/// The host's name.
pub fn name() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

/// The congestion controls that the kernel has.
pub fn available() -> Vec<String> {
    let list = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    list.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

/// CPU time that the machine's hypervisor gave to others, and all CPU time, in ticks since it was started.
pub fn stolen() -> (u64, u64) {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = stat.lines().next().unwrap_or_default();
    let ticks: Vec<u64> = line.split_whitespace().skip(1).filter_map(|ticks| ticks.parse().ok()).collect();
    // The ninth and tenth are time of guests, which is in the first two.
    (ticks.get(7).copied().unwrap_or(0), ticks.iter().take(8).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_of_this_host() {
        assert!(kernel().contains('.') && kernel().ends_with(std::env::consts::ARCH), "{}", kernel());
        assert!(available().iter().any(|name| name == "reno"));
        let (stolen, all) = stolen();
        assert!(all > 0 && stolen <= all);
    }
}
