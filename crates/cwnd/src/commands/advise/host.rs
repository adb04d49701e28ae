//! What a host must set for a path, and the commands that set it.

use super::{
    candidates::{self, OnHost},
    path::Path,
};
use cwnd_scenario::AlgorithmSpec;
use std::fs;

/// What a host has set.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// `net.ipv4.tcp_rmem`: least, default and greatest bytes of a receive buffer.
    pub rmem: Option<[u64; 3]>,
    /// `net.ipv4.tcp_wmem`: the same of a send buffer.
    pub wmem: Option<[u64; 3]>,
    /// `net.core.default_qdisc`.
    pub qdisc: Option<String>,
    /// `net.ipv4.tcp_congestion_control`.
    pub congestion_control: Option<String>,
    /// The device of the default route.
    pub device: Option<String>,
}

/// Something to set on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The command, for a shell of the superuser.
    pub command: String,
    /// What for, and what is set now.
    pub why: String,
    /// Whether this host has it already.
    pub done: bool,
}

impl Host {
    /// Reads this host's settings; those that cannot be read are none.
    pub fn of_this_host() -> Host {
        let read = |name: &str| {
            fs::read_to_string(format!("/proc/sys/net/{name}")).ok().map(|text| text.trim().to_owned())
        };
        let three = |name: &str| {
            let numbers: Vec<u64> =
                read(name)?.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            <[u64; 3]>::try_from(numbers).ok()
        };
        Host {
            rmem: three("ipv4/tcp_rmem"),
            wmem: three("ipv4/tcp_wmem"),
            qdisc: read("core/default_qdisc"),
            congestion_control: read("ipv4/tcp_congestion_control"),
            device: default_device(&fs::read_to_string("/proc/net/route").unwrap_or_default()),
        }
    }

    /// Returns what is to be set for an algorithm over a path, in order.
    pub fn steps(&self, spec: &AlgorithmSpec, on_host: &OnHost, path: &Path) -> Vec<Step> {
        let paced = candidates::is_paced(spec);
        let memory = memory(path.greatest_bdp(), path.buffer(), paced);
        let mut steps = vec![
            buffer("tcp_rmem", "receiver", self.rmem, memory),
            buffer("tcp_wmem", "sender", self.wmem, memory),
        ];
        if paced {
            let fq = self.qdisc.as_deref() == Some("fq");
            let now = self.qdisc.as_deref().map(|qdisc| format!("; now {qdisc}")).unwrap_or_default();
            steps.push(Step {
                command: "sysctl -w net.core.default_qdisc=fq".to_owned(),
                why: format!(
                    "sender: {spec} paces; without fq the kernel paces with a timer for each socket{now}"
                ),
                done: fq,
            });
            steps.push(Step {
                command: format!(
                    "tc qdisc replace dev {} root fq",
                    self.device.as_deref().unwrap_or("DEVICE")
                ),
                why: "sender: the same for a device that is up already".to_owned(),
                done: false,
            });
        }
        let (commands, note) = on_host.commands();
        let now = self.congestion_control.as_deref();
        let done = matches!(on_host, OnHost::Available(name) if now == Some(name));
        let now = now.map(|now| format!("; now {now}")).unwrap_or_default();
        let note = note.map(|note| format!("; {note}")).unwrap_or_default();
        for command in commands {
            steps.push(Step { command, why: format!("sender: {spec}{now}{note}"), done });
        }
        steps
    }
}

/// Returns the device of the default route in the text of `/proc/net/route`.
fn default_device(routes: &str) -> Option<String> {
    let mut lines = routes.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find(|words| words.get(1) == Some(&"00000000")).and_then(|words| Some((*words.first()?).to_owned()))
}

/// Returns the bytes of socket memory that a full window needs, in whole pages, at most what the kernel takes. The window is
/// the BDP and what the queue holds, where the path is fastest; an algorithm that paces by a measured rate keeps up to 2 BDP in flight. Half of a socket's
/// memory is for the overhead of packet buffers (`tcp_adv_win_scale` = 1).
fn memory(bdp: f64, buffer: Option<f64>, paced: bool) -> u64 {
    const PAGE: u64 = 4096;
    /// The settings are signed 32-bit integers.
    const MOST: u64 = (1 << 31) - PAGE;
    let least = if paced || buffer.is_none() { 2.0 * bdp } else { bdp };
    let window = (bdp + buffer.unwrap_or(0.0)).max(least);
    ((2.0 * window) as u64).div_ceil(PAGE).saturating_mul(PAGE).min(MOST)
}

fn buffer(name: &str, end: &str, now: Option<[u64; 3]>, needed: u64) -> Step {
    let [least, default, most] = now.unwrap_or([4096, if name == "tcp_rmem" { 131_072 } else { 16_384 }, 0]);
    let greatest = most.max(needed);
    let shown = if now.is_some() { format!("; now {most} bytes") } else { String::new() };
    Step {
        command: format!("sysctl -w net.ipv4.{name}='{least} {default} {greatest}'"),
        why: format!("{end}: at least {needed} bytes for a full window{shown}"),
        done: most >= needed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 50 MB and 0.2 BDP are a window of 60 MB, and 120 MB of memory, which are 29,297 pages of 4,096 bytes.
    #[test]
    fn memory_holds_a_full_window_twice() {
        assert_eq!(memory(50e6, Some(10e6), false), 29_297 * 4096);
        // 2 BDP of a sender that paces.
        assert_eq!(memory(50e6, Some(10e6), true), 48_829 * 4096);
        assert_eq!(memory(1e12, Some(0.0), false), (1 << 31) - 4096);
    }

    #[test]
    fn the_device_of_the_default_route_is_found() {
        let routes = "Iface\tDestination\tGateway\neth1\t0000A8C0\t00000000\neth0\t00000000\t0101A8C0\n";
        assert_eq!(default_device(routes).as_deref(), Some("eth0"));
        assert_eq!(default_device(""), None);
    }

    #[test]
    fn what_is_enough_stays() {
        let enough = buffer("tcp_rmem", "receiver", Some([4096, 131_072, 6_291_456]), 4096);
        assert!(enough.done);
        assert_eq!(enough.command, "sysctl -w net.ipv4.tcp_rmem='4096 131072 6291456'");
        let little = buffer("tcp_wmem", "sender", Some([4096, 16_384, 4_194_304]), 8_192_000);
        assert_eq!(
            (little.done, little.command.as_str()),
            (false, "sysctl -w net.ipv4.tcp_wmem='4096 16384 8192000'")
        );
        assert_eq!(little.why, "sender: at least 8192000 bytes for a full window; now 4194304 bytes");
    }
}
