//! Every algorithm in the running kernel: it is loaded, carries 200 MB between two network namespaces, gives up what
//! its equations say at each loss, and leaves nothing behind.
//!
//! Needs root, a kernel with BPF congestion control, `ip` and `tc`; where one is missing it says so and passes.
//! `cargo test -p cwnd-kernel --features load --test kernel -- --nocapture`
#![cfg(feature = "load")]

mod lab;

use cwnd_kernel::{KernelAlgorithm, load};
use lab::{Lab, Transfer};
use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    time::Duration,
};

const BYTES: u64 = 200_000_000;
/// Between looks at the window.
const EVERY: Duration = Duration::from_micros(500);

/// The fraction of the window that a loss or a mark leaves, least and most.
fn kept(name: &str) -> (f64, f64) {
    match name {
        "elastic" | "newreno" | "hybla" => (0.5, 0.5),
        "agile-sd" => (0.9, 0.95),
        "scalable" => (0.875, 0.875),
        "cubic" => (0.7, 0.7),
        "bic" => (0.8, 0.8),
        // N = 1 gives a half, and many Renos all but nothing.
        "cltcp" | "tcp-fit" => (0.5, 1.0),
        // The threshold also follows a window that gives way to delay.
        "vegas" | "compound" => (0.5, 1.0),
        "fusion" | "veno" | "illinois" | "yeah" | "highspeed" | "africa" | "htcp" | "dctcp" => (0.5, 1.0),
        // To the measured bandwidth-delay product, whatever that is of the window.
        "westwood" | "invs" => (0.0, 1.0),
        other => panic!("what does {other} keep?"),
    }
}

#[test]
fn every_algorithm_carries_a_transfer_in_this_kernel() {
    let missing = load::missing();
    if !missing.is_empty() {
        println!("SKIPPED, nothing was loaded into a kernel: missing is {}", missing.join("; "));
        return;
    }
    let lab = match Lab::new("1gbit", "250k", 0) {
        Ok(lab) => lab,
        Err(why) => {
            println!("SKIPPED, nothing was loaded into a kernel: the namespaces cannot be made: {why}");
            return;
        }
    };
    let marking = Lab::new("1gbit", "250k", 2);
    if let Err(why) = &marking {
        println!("SKIPPED: marks for dctcp and cltcp: {why}");
    }
    for algorithm in cwnd_kernel::all() {
        let ecn = matches!(algorithm.name, "dctcp" | "cltcp");
        let lab = if let (true, Ok(marking)) = (ecn, &marking) { marking } else { &lab };
        carry(algorithm, lab, ecn && marking.is_ok());
    }
    assert!(!Path::new(load::PINS).exists() || !load::pinned().is_empty(), "an empty folder is left");
}

fn carry(algorithm: &'static KernelAlgorithm, lab: &Lab, marked: bool) {
    let name = algorithm.kernel_name();
    let loaded = load::load(algorithm, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert!(registered().contains(&name));
    let again = load::load(algorithm, &[]).unwrap_err().to_string();
    assert!(again.contains("is loaded already"), "{again}");
    let transfer = lab.transfer(&name, BYTES, EVERY).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(transfer.algorithm, name);
    let kept_each = reductions(&transfer);
    let middle = kept_each.get(kept_each.len() / 2).copied();
    println!(
        "{name:15} {:5.2} s, {:3} losses, {:4} retransmissions, {:4} marks, kept {}",
        transfer.seconds,
        kept_each.len(),
        transfer.retransmissions,
        transfer.delivered_ce,
        middle.map_or("-".to_owned(), |kept| format!("{kept:.3}")),
    );
    // The window is looked at each half millisecond, or later on a busy machine, and grows meanwhile.
    if let Some(middle) = middle {
        let (least, most) = kept(algorithm.name);
        assert!((0.85 * least..=1.15 * most).contains(&middle), "{name} kept {kept_each:?}");
    } else {
        // Slow start, or a machine that was too busy to fill the bottleneck.
        assert!(transfer.retransmissions < 100, "{name}: no reduction was seen, and there were losses");
    }
    if marked {
        assert!(transfer.delivered_ce > 0, "{name}: no mark was echoed");
    }
    drop(loaded);
    assert!(!registered().contains(&name), "{name} is still there");
}

/// Of each reduction of the threshold the share of the window that it left, sorted. The first is left out where there
/// are others: in slow start the window doubles between a few looks at it.
fn reductions(transfer: &Transfer) -> Vec<f64> {
    let mut kept = Vec::new();
    for pair in transfer.samples.windows(2) {
        let [before, after] = pair else { unreachable!("windows of two") };
        if after.ssthresh != before.ssthresh && after.ssthresh < 1_000_000 && before.cwnd >= 20 {
            let share = f64::from(after.ssthresh) / f64::from(before.cwnd);
            // A threshold over the window is one that an undone reduction has restored.
            if share <= 1.02 {
                kept.push(share);
            }
        }
    }
    if kept.len() > 1 {
        kept.remove(0);
    }
    kept.sort_by(f64::total_cmp);
    kept
}

fn registered() -> Vec<String> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Load an algorithm and pin it; nothing where that cannot be, which is told.
fn pinned(name: &str) -> Option<(&'static KernelAlgorithm, PathBuf)> {
    let missing = load::missing();
    if !missing.is_empty() {
        println!("SKIPPED: missing is {}", missing.join("; "));
        return None;
    }
    let algorithm = cwnd_kernel::find(name).unwrap();
    if load::pinned().iter().any(|other| other.name == algorithm.name) {
        println!("SKIPPED: {} is loaded on this host already", algorithm.kernel_name());
        return None;
    }
    // The test of them all loads it too: wait for it.
    let loaded = (0..600).find_map(|_| {
        load::load(algorithm, &[]).map_err(|_| std::thread::sleep(Duration::from_millis(100))).ok()
    });
    let path = loaded.expect("it can be loaded").pin().unwrap();
    assert!(path.exists() && registered().contains(&algorithm.kernel_name()));
    Some((algorithm, path))
}

#[test]
fn a_pinned_algorithm_stays_until_it_is_unloaded() {
    let Some((newreno, path)) = pinned("newreno") else { return };
    // A socket that has it keeps it from being unloaded.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    lab::choose(&listener, &newreno.kernel_name()).unwrap();
    let refused = load::unload(newreno, false).unwrap_err().to_string();
    assert!(refused.starts_with("1 socket uses cwnd_newreno"), "{refused}");
    drop(listener);
    load::unload(newreno, false).unwrap();
    assert!(!path.exists() && !registered().contains(&newreno.kernel_name()));
    let gone = load::unload(newreno, false).unwrap_err().to_string();
    assert!(gone.contains("not loaded"), "{gone}");
}

/// In a network namespace of its own, so that the host's default stays what it is.
#[test]
fn a_default_is_put_back_and_who_has_an_algorithm_keeps_it() {
    let Some((scalable, path)) = pinned("scalable") else { return };
    let name = scalable.kernel_name();
    let namespace = match lab::Namespace::new("default") {
        Ok(namespace) => namespace,
        Err(why) => {
            println!("SKIPPED: no network namespace can be made: {why}");
            return load::unload(scalable, false).unwrap();
        }
    };
    let inside = |what: &(dyn Fn() + Sync)| namespace.within(|| Ok(what())).unwrap();
    let default =
        || fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap().trim().to_owned();
    let of_new_sockets = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        (lab::congestion_control(&listener).unwrap(), listener)
    };
    inside(&|| {
        let before = default();
        // The kernel lets a namespace that is not the host's own take only what every user may.
        let refused = load::make_default(&name).unwrap_err().to_string();
        assert!(refused.contains("net.ipv4.tcp_allowed_congestion_control"), "{refused}");
        assert_eq!((default(), of_new_sockets().0), (before.clone(), before));
    });
    let allowed = Allowed::also(&name);
    inside(&|| {
        let before = default();
        load::make_default(&name).unwrap();
        assert_eq!(default(), name);
        let (taken, listener) = of_new_sockets();
        assert_eq!(taken, name);
        let refused = load::unload(scalable, false).unwrap_err().to_string();
        assert!(refused.starts_with("1 socket uses cwnd_scalable"), "{refused}");
        assert_eq!(default(), name);
        load::unload(scalable, true).unwrap();
        // Who has it keeps it; who comes now takes what was there before, and cannot ask for it.
        assert_eq!(lab::congestion_control(&listener).unwrap(), name);
        let (taken, other) = of_new_sockets();
        assert_eq!((taken, default()), (before.clone(), before));
        assert!(lab::choose(&other, &name).is_err());
    });
    drop(allowed);
    assert!(!path.exists() && !registered().contains(&name));
    assert!(!Path::new("/run/cwnd").exists(), "the memory of a default is left");
}

/// What every user may take, with one name more while this lives.
struct Allowed {
    before: String,
}

impl Allowed {
    const SETTING: &'static str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

    fn also(name: &str) -> Allowed {
        let before = fs::read_to_string(Allowed::SETTING).unwrap();
        fs::write(Allowed::SETTING, format!("{} {name}", before.trim())).unwrap();
        Allowed { before }
    }
}

impl Drop for Allowed {
    fn drop(&mut self) {
        let _ = fs::write(Allowed::SETTING, self.before.trim());
    }
}
