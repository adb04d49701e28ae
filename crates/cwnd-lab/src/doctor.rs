//! What the laboratory needs of a host, and what is missing here.

use crate::namespace::Namespace;
use crate::testbed::Testbed;
use crate::{algorithms, host, probe};
use cwnd_scenario::{
    AlgorithmSpec, FlowSpec, LinkSpec, Network, Rate, ReceiverBehaviour, Scenario, Stack, Ties, Time,
    Traffic, Transport,
};
use std::fs;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// A thing that the laboratory looks for on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub what: &'static str,
    /// What was found, or what is wrong and what would be right.
    pub found: String,
    /// Whether it is there. What is not is a hindrance, unless `optional`.
    pub good: bool,
    /// The laboratory works without it, if less well.
    pub optional: bool,
}

/// Everything that it looks for.
pub fn findings() -> Vec<Finding> {
    vec![
        root(),
        tun(),
        namespaces(),
        ip(),
        network(),
        real_time(),
        awake(),
        cpus(),
        memory(),
        congestion_control(),
        loading(),
    ]
}

/// What keeps the laboratory from working here, a sentence each; nothing if it can.
pub fn missing() -> Vec<String> {
    let missing = findings().into_iter().filter(|finding| !finding.good && !finding.optional);
    missing.map(|finding| format!("{}: {}", finding.what, finding.found)).collect()
}

fn finding(what: &'static str, found: Result<String, String>, optional: bool) -> Finding {
    let good = found.is_ok();
    Finding { what, found: found.unwrap_or_else(|why| why), good, optional }
}

fn root() -> Finding {
    // SAFETY: it has no arguments and cannot fail.
    let root = unsafe { libc::geteuid() } == 0;
    let found = if root {
        Ok("yes".to_owned())
    } else {
        Err("no; run it with sudo, or after `unshare -Urn`".to_owned())
    };
    finding("root", found, false)
}

fn tun() -> Finding {
    let opened = fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    let found = opened.map(|_| "/dev/net/tun".to_owned()).map_err(|error| {
        format!("/dev/net/tun: {error}; the kernel needs CONFIG_TUN (`modprobe tun`), a container --device /dev/net/tun")
    });
    finding("TUN devices", found, false)
}

fn namespaces() -> Finding {
    let found = match Namespace::new() {
        Ok(_) => Ok("can be made".to_owned()),
        Err(error) => Err(format!("none can be made: {error}; that takes CAP_SYS_ADMIN and CONFIG_NET_NS")),
    };
    finding("network namespaces", found, false)
}

fn ip() -> Finding {
    let said = Command::new("ip").arg("-Version").stderr(Stdio::null()).output();
    let found = match said {
        Ok(done) if done.status.success() => Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned()),
        Ok(_) => Err("`ip -Version` fails; apt-get install iproute2".to_owned()),
        Err(error) => Err(format!("`ip`: {error}; apt-get install iproute2")),
    };
    finding("iproute2", found, false)
}

/// Does what every run does before its packets: the two ends, their devices and settings, and an emulator between them that
/// carries packets. Once a process, since each scenario asks.
fn network() -> Finding {
    static TRIED: OnceLock<Result<String, String>> = OnceLock::new();
    finding("an emulated network", TRIED.get_or_init(try_network).clone(), false)
}

fn try_network() -> Result<String, String> {
    const PACKETS: u64 = 3;
    let testbed = Testbed::new(&smallest(), None).map_err(|error| format!("cannot be made: {error}"))?;
    let held = testbed.device_queue();
    let came = probe::echo(&testbed, PACKETS, Duration::from_millis(1));
    let ended = testbed.end();
    let came = came.map_err(|error| format!("is there, and its sockets do not work: {error}"))?;
    ended.map_err(|error| format!("is there, and its emulator ended: {error}"))?;
    if came.len() as u64 != PACKETS {
        return Err(format!("is there, and {} of {PACKETS} packets came back", came.len()));
    }
    Ok(format!("carries packets; its devices hold {held}"))
}

/// Returns a scenario with a link each way and one flow.
pub fn smallest() -> Scenario {
    let link = |name, from, to| LinkSpec::new(name, from, to, Rate(100_000_000), Time::from_millis(1));
    Scenario {
        network: Network {
            nodes: vec!["sender".into(), "receiver".into()],
            links: vec![link("there", 0, 1), link("back", 1, 0)],
            bottleneck: 0,
        }
        .into(),
        flows: vec![FlowSpec {
            algorithm: AlgorithmSpec { name: "newreno".into(), ..AlgorithmSpec::default() },
            route: vec![0],
            ack_route: vec![1],
            start: Time::ZERO,
            stop: None,
            bytes: None,
            traffic: Traffic::Bulk,
            deadline: None,
            group: None,
            short: false,
            reverse: false,
            receiver: ReceiverBehaviour::Honest,
            transport: Transport::Tcp,
        }]
        .into(),
        arrivals: None,
        stack: Stack::linux(1500, true, 100),
        duration: Time::from_secs(1),
        warm_up: Time::ZERO,
        seed: 1,
        start_jitter: Time::ZERO,
        send_overhead: Time::ZERO,
        ties: Ties::ByNumber,
        sample: None,
    }
}

fn real_time() -> Finding {
    let tried = std::thread::spawn(|| crate::real_time().map_err(|error| error.to_string()));
    let found = match tried.join() {
        Ok(Ok(())) => Ok("the emulator runs before all else".to_owned()),
        Ok(Err(error)) => Err(format!("{error}; without it other programs make the emulator late")),
        Err(_) => Err("could not be tried".to_owned()),
    };
    finding("real-time scheduling", found, true)
}

fn awake() -> Finding {
    let found = match crate::keep_awake() {
        Ok(_) => Ok("while a network is up".to_owned()),
        Err(error) => {
            Err(format!("/dev/cpu_dma_latency: {error}; without it CPUs that sleep make packets late"))
        }
    };
    finding("CPUs kept awake", found, true)
}

fn cpus() -> Finding {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let found = if count >= 2 {
        Ok(format!("{count}"))
    } else {
        Err("1; the emulator and TCP share it, so that less than the rates of `cwnd lab bench` is held"
            .into())
    };
    finding("CPUs", found, true)
}

fn memory() -> Finding {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib: u64 = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0);
    let gib = kib as f64 / f64::from(1 << 20);
    let found = if gib >= 1.0 {
        Ok(format!("{gib:.1} GiB free"))
    } else {
        Err(format!("{gib:.1} GiB free; long paths need 2 kB for each packet under way, and buffers"))
    };
    finding("memory", found, true)
}

fn congestion_control() -> Finding {
    let available = host::available();
    let found = if available.is_empty() {
        Err("/proc/sys/net/ipv4/tcp_available_congestion_control cannot be read".to_owned())
    } else {
        Ok(available.join(", "))
    };
    finding("the kernel's congestion controls", found, false)
}

fn loading() -> Finding {
    finding("loading others as BPF", algorithms::can_load(), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_is_explained() {
        let findings = findings();
        assert!(findings.iter().all(|finding| !finding.found.is_empty()), "{findings:?}");
    }
}
