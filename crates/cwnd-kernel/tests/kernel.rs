//! Every algorithm in the running kernel: it is loaded, carries 200 MB between two network namespaces, gives up what
//! its equations say at each loss, and leaves nothing behind.
//!
//! Needs root, a kernel with BPF congestion control, `ip` and `tc`; where one is missing it says so and passes.
//! `cargo test -p cwnd-kernel --features load --test kernel -- --nocapture`
#![cfg(feature = "load")]

mod lab;

use cwnd_kernel::{KernelAlgorithm, load};
use lab::{Lab, Sample, Transfer};
use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    time::Duration,
};

const BYTES: u64 = 200_000_000;
/// Between looks at the window.
const EVERY: Duration = Duration::from_micros(500);
/// Looks further apart than that, on a busy machine, say nothing of the window that was reduced.
const AT_MOST: Duration = Duration::from_millis(3);
/// So many reductions are judged of each algorithm, from so many transfers at most.
const ENOUGH: usize = 4;
const TRANSFERS: usize = 5;

/// States of a recovery: after a mark, and after a loss.
const CWR: u8 = 2;
const RECOVERY: u8 = 3;

/// The shares of the window that a loss or a mark may leave, least and most, by the algorithm's equations of what was
/// looked at before it.
fn kept(name: &str, Reduction { before, after }: &Reduction) -> Vec<(f64, f64)> {
    let cwnd = f64::from(before.cwnd);
    // What stood in queues: W (1 - RTTmin/RTT).
    let queued = 1.0 - f64::from(before.min_rtt_us) / f64::from(before.rtt_us.max(1));
    let exactly = |share: f64| vec![(share, share)];
    // The bandwidth of each is an average, of which the kernel's own sample says about half to twice.
    let pipe = before.delivery_rate * f64::from(before.min_rtt_us) * 1e-6;
    let pipe = (0.5 * pipe.max(2.0) / cwnd, 2.0 * pipe.max(2.0) / cwnd);
    match name {
        // H-TCP: where RTTmin is not over 10 ms. Compound: the delay window becomes what both are a half with.
        "elastic" | "newreno" | "hybla" | "vegas" | "compound" | "htcp" => exactly(0.5),
        "agile-sd" => vec![(0.9, 0.95)],
        "scalable" => exactly(0.875),
        "cubic" => exactly(0.7),
        "bic" => exactly(0.8),
        "fusion" => exactly((1.0 - queued).max(0.5)),
        "yeah" => exactly(1.0 - queued.clamp(0.125, 0.5)),
        "highspeed" => exactly(1.0 - highspeed_b(cwnd)),
        // Twice what they tell the two kinds of loss by, or either.
        "veno" if cwnd * queued >= 2.0 * 3.0 => exactly(0.5),
        "veno" => vec![(0.5, 0.8)],
        "africa" if cwnd * queued >= 2.0 * 1.641 => exactly(0.5),
        "africa" => vec![(0.5, 1.0 - highspeed_b(cwnd))],
        "westwood" => vec![pipe],
        "invs" => vec![(0.8, 0.8), pipe],
        // A loss; a mark by alpha.
        "dctcp" if after.state == RECOVERY => exactly(0.5),
        // By the delay of the last round trip beside the greatest, which is not among what can be looked at.
        "illinois" => vec![(0.5, 0.875)],
        // N = 1 gives a half, and many Renos all but nothing. Neither N nor alpha can be looked at.
        "cltcp" | "tcp-fit" | "dctcp" => vec![(0.5, 1.0)],
        other => panic!("what does {other} keep?"),
    }
}

/// b(w) of RFC 3649, section 5.
fn highspeed_b(cwnd: f64) -> f64 {
    0.5 - 0.4 * ((cwnd / 38.0).ln() / (83_000.0_f64 / 38.0).ln()).max(0.0)
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
    let all: Vec<&KernelAlgorithm> = cwnd_kernel::all().iter().collect();
    let judged = all.iter().filter(|algorithm| {
        let ecn = matches!(algorithm.name, "dctcp" | "cltcp");
        let lab = if let (true, Ok(marking)) = (ecn, &marking) { marking } else { &lab };
        carry(algorithm, lab, ecn && marking.is_ok())
    });
    let judged = judged.count();
    assert!(
        2 * judged > all.len(),
        "of {} algorithms {judged} were seen to lose what can be judged",
        all.len()
    );
    assert!(!Path::new(load::PINS).exists() || !load::pinned().is_empty(), "an empty folder is left");
}

/// Whether enough of its reductions were seen to judge them.
fn carry(algorithm: &'static KernelAlgorithm, lab: &Lab, marked: bool) -> bool {
    let name = algorithm.kernel_name();
    let loaded = load::load(algorithm, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert!(registered().contains(&name));
    let again = load::load(algorithm, &[]).unwrap_err().to_string();
    assert!(again.contains("is loaded already"), "{again}");
    let mut seen = Vec::new();
    for _ in 0..TRANSFERS {
        let transfer = lab.transfer(&name, BYTES, EVERY).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(transfer.algorithm, name);
        if marked {
            assert!(transfer.delivered_ce > 0, "{name}: no mark was echoed");
        }
        print!(
            "{name:15} {:5.2} s, {:5} retransmissions, {:4} marks",
            transfer.seconds, transfer.retransmissions, transfer.delivered_ce
        );
        seen.extend(reductions(&transfer));
        if seen.len() >= ENOUGH {
            break;
        }
        println!("; {} reductions so far", seen.len());
    }
    drop(loaded);
    assert!(!registered().contains(&name), "{name} is still there");
    if seen.len() < ENOUGH {
        println!("{name:15} NOT JUDGED: a busy machine, or one that loses too little");
        return false;
    }
    let by_the_rule = seen.iter().filter(|reduction| reduction.follows(algorithm.name)).count();
    let mut shares: Vec<f64> = seen.iter().map(Reduction::kept).collect();
    shares.sort_by(f64::total_cmp);
    let median = shares[shares.len() / 2];
    println!("; {by_the_rule:3} of {:3} reductions by the rule, kept {median:.3}", seen.len());
    assert!(2 * by_the_rule > seen.len(), "{name} kept {shares:?} of {seen:?}");
    true
}

/// What was seen of an episode of congestion: the last look before it and the first one in it.
#[derive(Debug)]
struct Reduction {
    before: Sample,
    after: Sample,
}

impl Reduction {
    fn kept(&self) -> f64 {
        f64::from(self.after.ssthresh) / f64::from(self.before.cwnd)
    }

    /// The window is looked at each half millisecond, or later on a busy machine, and moves meanwhile.
    fn follows(&self, name: &str) -> bool {
        const APART: f64 = 0.15;
        // Thresholds are whole, and two at least.
        let whole = 1.0 / f64::from(self.before.cwnd);
        let share = self.kept();
        kept(name, self).iter().any(|(least, most)| {
            ((1.0 - APART) * least - whole..=(1.0 + APART) * most + whole).contains(&share)
        })
    }
}

/// The episodes of a loss or a mark whose window is known: in slow start it doubles between a few looks at it.
fn reductions(transfer: &Transfer) -> Vec<Reduction> {
    let pairs = transfer.samples.windows(2).map(|pair| Reduction { before: pair[0], after: pair[1] });
    pairs
        .filter(|Reduction { before, after }| {
            before.state < CWR
                && matches!(after.state, CWR | RECOVERY)
                && (20.max(before.ssthresh)..).contains(&before.cwnd)
                && after.at - before.at <= AT_MOST
        })
        .collect()
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
    let inside = |what: &(dyn Fn() + Sync)| {
        namespace
            .within(|| {
                what();
                Ok(())
            })
            .unwrap();
    };
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
