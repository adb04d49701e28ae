//! Pauses in the running kernel: it reports when sending begins again, and CUBIC does not count the time between.
//!
//! These tests are ignored by default: they need root, a kernel with BPF congestion control, `ip` and `tc`.
//! `cargo test -p cwnd-kernel --features load --test pauses -- --ignored --nocapture`
#![cfg(feature = "load")]

mod lab;

use cwnd_kernel::load::{self, Loaded};
use lab::Lab;
use std::{fs, time::Duration};

/// Returns a network in which the window does not fall because of a pause alone.
fn network() -> Lab {
    let missing = load::missing();
    assert!(missing.is_empty(), "{}", missing.join("; "));
    let lab = Lab::new("1gbit", "250k", 0).unwrap();
    lab.set_sender("ipv4/tcp_slow_start_after_idle", "0").unwrap();
    lab
}

/// The kernel's count of calls, while this lives.
struct Statistics(String);

impl Statistics {
    const SETTING: &'static str = "/proc/sys/kernel/bpf_stats_enabled";

    fn on() -> Statistics {
        let before = fs::read_to_string(Statistics::SETTING).unwrap();
        fs::write(Statistics::SETTING, "1").unwrap();
        Statistics(before)
    }
}

impl Drop for Statistics {
    fn drop(&mut self) {
        let _ = fs::write(Statistics::SETTING, self.0.trim());
    }
}

/// How often the kernel has called the hooks by which it reports the start of sending.
fn starts(loaded: &Loaded) -> u64 {
    let told = loaded.programs().into_iter().filter(|program| program.hook.starts_with("cwnd_event"));
    told.map(|program| program.calls).sum()
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip and tc"]
fn the_kernel_reports_each_start_of_sending() {
    let lab = network();
    let _statistics = Statistics::on();
    for name in ["cubic-linux", "invs", "bbr3", "cubic"] {
        let loaded = load::load_private(cwnd_kernel::find(name).unwrap(), &[]).unwrap();
        // A packet at a time: nothing is lost, and nothing else is reported.
        let pauses = [(Duration::from_millis(20), 1000); 40];
        lab.bursts(loaded.kernel_name(), &pauses).unwrap();
        let starts = starts(&loaded);
        println!("{name}: {starts} calls for 40 bursts");
        assert!((40..=45).contains(&starts), "{name}: {starts} calls for 40 bursts");
    }
}

/// After a loss at W, CUBIC comes back to W after K = cbrt(0.3 W/0.4) seconds of sending, 5 s for W = 170. A pause of 7 s is
/// none of them; if it were, the next windows would grow by half a round trip.
#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip and tc"]
fn a_pause_does_not_count_for_cubics_curve() {
    let lab = network();
    let given = [("tcp_friendliness", "false"), ("fast_convergence", "false")];
    let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let loaded = load::load_private(cwnd_kernel::find("cubic-linux").unwrap(), &given).unwrap();
    // So much that the queue of 165 packets overflows; then little, with which the window is full.
    let plan = [(0, 30_000_000), (0, 1_000_000), (7, 1_000_000)];
    let samples = lab
        .bursts(loaded.kernel_name(), &plan.map(|(pause, bytes)| (Duration::from_secs(pause), bytes)))
        .unwrap();
    let [loss, before, after] = samples[..] else { panic!("three bursts") };
    println!("{loss:?}\n{before:?}\n{after:?}");
    assert!(loss.ssthresh < 1000 && before.ssthresh == loss.ssthresh, "there was a loss, and no second one");
    // A window that grows ends in another loss.
    assert!(
        after.ssthresh == before.ssthresh && after.cwnd <= before.cwnd + before.cwnd / 10,
        "the window was {} before the pause and is {} after it",
        before.cwnd,
        after.cwnd
    );
}
