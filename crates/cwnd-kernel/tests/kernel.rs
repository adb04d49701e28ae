//! Every algorithm in the running kernel: it is loaded, carries 200 MB between two network namespaces, gives up what
//! its equations say at each loss, and leaves nothing behind.
//!
//! Algorithms are loaded under names of their own, so that it does not matter what else the host has loaded.
//!
//! These tests are ignored by default: they need root, a kernel with BPF congestion control, `ip`, `tc` and `nft`.
//! `cargo test -p cwnd-kernel --features load --test kernel -- --ignored --nocapture`. With `CWND_ALGORITHM=bbr3` in the environment,
//! the first test loads that algorithm alone. It then passes even if too few reductions were seen to judge them, and prints so.
#![cfg(feature = "load")]

mod lab;

use cwnd_kernel::{
    KernelAlgorithm,
    load::{self, Change, Instance, Options},
};
use lab::{Lab, Sample, Transfer};
use std::{fs, net::TcpListener, path::PathBuf, time::Duration};

const BYTES: u64 = 200_000_000;
/// Between looks at the window.
const EVERY: Duration = Duration::from_micros(500);
/// The same for Copa, whose window can change by half within 500 us without a loss.
const EVERY_FOR_COPA: Duration = Duration::from_micros(50);
/// The greatest share of Copa's window that is acknowledged around a loss that is judged. With more, the delay alone could halve the
/// window.
const COPA_ACKNOWLEDGED: f64 = 1.0 / 3.0;
/// Looks further apart than that, on a busy machine, say nothing of the window that was reduced.
const AT_MOST: Duration = Duration::from_millis(3);
/// Reductions that are looked for, the least that are judged, and the most transfers to see them in. When to stop does not depend on
/// whether they follow the rule. On a busy machine the window moves between two looks, so that few of them may mislead.
const WANTED: usize = 10;
const ENOUGH: usize = 4;
const TRANSFERS: usize = 10;
/// No algorithm chooses a window or a threshold of more segments than a transfer has. Some kernels of virtual machines do not call BPF
/// programs while process 1 runs, even when an interrupt brings a packet, and use what is on the stack as the hook's return value.
/// Transfers in which that was seen do not count.
const SEGMENTS_MOST: u32 = (BYTES / 1_000) as u32;
/// What TCP_INFO has where there is no threshold yet.
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// States of a recovery: after a mark, and after a loss.
const CWR: u8 = 2;
const RECOVERY: u8 = 3;

/// The shares of the window that a loss or a mark may leave, least and most, by the algorithm's equations of what was
/// looked at before it.
fn kept(name: &str, reduction: &Reduction) -> Vec<(f64, f64)> {
    let Reduction { before, after, .. } = reduction;
    let cwnd = f64::from(before.cwnd);
    // What stood in queues: W (1 - RTTmin/RTT).
    let queued = 1.0 - f64::from(before.min_rtt_us) / f64::from(before.rtt_us.max(1));
    let exactly = |share: f64| vec![(share, share)];
    // The bandwidth of each is an average, of which the kernel's own sample says about half to twice.
    let pipe = before.delivery_rate * f64::from(before.min_rtt_us) * 1e-6;
    let pipe = (0.5 * pipe.max(2.0) / cwnd, 2.0 * pipe.max(2.0) / cwnd);
    match name {
        // H-TCP: where RTTmin is not over 10 ms. Compound: the delay window becomes what both are a half with.
        "elastic" | "newreno" | "hybla" | "vegas" | "compound" | "htcp" | "fast" | "ledbat-pp" => {
            exactly(0.5)
        }
        // A loss alone reduces nothing.
        "bbr3" => exactly(1.0),
        // Nor here. The delay moves the window by one segment at most for each acknowledged one.
        "copa" => vec![(1.0 - reduction.acknowledged(), 1.0 + reduction.acknowledged())],
        "agile-sd" => vec![(0.9, 0.95)],
        "scalable" | "multcp" => exactly(0.875),
        "cubic-linux" => exactly(0.7),
        // RFC 9438's reduces FlightSize, which is less than the window where many segments are acknowledged at once, as on a busy
        // machine. It was between that of the two looks, or near it.
        "cubic" => {
            let [least, most] =
                [before.flight_size.min(after.flight_size), before.flight_size.max(after.flight_size)];
            let share = |flight_size: u32| 0.7 * f64::from(flight_size).min(cwnd) / cwnd;
            vec![(share(least), share(most))]
        }
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
        "dctcp" | "d2tcp" | "prague" if after.state == RECOVERY => exactly(0.5),
        // By the delay of the last round trip beside the greatest, which is not among what can be looked at.
        "illinois" => vec![(0.5, 0.875)],
        // N = 1 gives a half, and many Renos all but nothing. Neither N nor alpha can be looked at, nor Adaptive Reno's RTTcong.
        "cltcp" | "tcp-fit" | "dctcp" | "d2tcp" | "prague" | "areno" => vec![(0.5, 1.0)],
        other => panic!("what does {other} keep?"),
    }
}

/// b(w) of RFC 3649, section 5.
fn highspeed_b(cwnd: f64) -> f64 {
    0.5 - 0.4 * ((cwnd / 38.0).ln() / (83_000.0_f64 / 38.0).ln()).max(0.0)
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip, tc and nft"]
fn every_algorithm_carries_a_transfer_in_this_kernel() {
    require_kernel();
    let lab = Lab::new("1gbit", "250k", 0).unwrap();
    let marking = Lab::new("1gbit", "250k", 250).unwrap();
    let named = std::env::var("CWND_ALGORITHM").ok();
    let asked = |algorithm: &&KernelAlgorithm| named.as_ref().is_none_or(|name| name == algorithm.name);
    let all: Vec<&KernelAlgorithm> = cwnd_kernel::all().iter().filter(asked).collect();
    assert!(
        !all.is_empty(),
        "CWND_ALGORITHM={} is no algorithm of the kernel",
        named.as_deref().unwrap_or_default()
    );
    let judged = all.iter().filter(|algorithm| {
        let ecn = matches!(algorithm.name, "dctcp" | "d2tcp" | "prague" | "cltcp");
        carry(algorithm, if ecn { &marking } else { &lab }, ecn)
    });
    let judged = judged.count();
    // One algorithm alone may lose too little.
    assert!(
        named.is_some() || 2 * judged > all.len(),
        "of {} algorithms {judged} were seen to lose what can be judged",
        all.len()
    );
}

/// Whether enough of its reductions were seen to judge them.
fn carry(algorithm: &'static KernelAlgorithm, lab: &Lab, marked: bool) -> bool {
    let loaded = load::load_private(algorithm, &[]).unwrap_or_else(|error| panic!("{error}"));
    let name = loaded.kernel_name().to_owned();
    assert!(registered().contains(&name));
    let every = if algorithm.name == "copa" { EVERY_FOR_COPA } else { EVERY };
    let mut seen = Vec::new();
    for _ in 0..TRANSFERS {
        let transfer = lab.transfer(&name, BYTES, every).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(transfer.algorithm, name);
        if marked {
            assert!(transfer.delivered_ce > 0, "{name}: no mark was echoed");
        }
        if let Some(look) = transfer.samples.iter().find(|look| !could_be_chosen(look)) {
            println!("{:15} does not count: the kernel did not call the algorithm: {look:?}", algorithm.name);
            continue;
        }
        print!(
            "{:15} {:5.2} s, {:5} retransmissions, {:4} marks",
            algorithm.name, transfer.seconds, transfer.retransmissions, transfer.delivered_ce
        );
        seen.extend(
            reductions(&transfer).into_iter().filter(|reduction| reduction.can_judge(algorithm.name)),
        );
        if seen.len() >= WANTED {
            break;
        }
        println!("; {} reductions so far", seen.len());
    }
    drop(loaded);
    assert!(!registered().contains(&name), "{name} is still there");
    let name = algorithm.name;
    if seen.len() < ENOUGH {
        println!("{name:15} NOT JUDGED: a busy machine, or one that loses too little");
        return false;
    }
    let by_the_rule = seen.iter().filter(|reduction| reduction.follows(algorithm.name)).count();
    let mut shares: Vec<f64> = seen.iter().map(Reduction::kept).collect();
    shares.sort_by(f64::total_cmp);
    let median = shares[shares.len() / 2];
    println!("; {by_the_rule:3} of {:3} reductions by the rule, kept {median:.3}", seen.len());
    let others =
        seen.iter().filter(|reduction| !reduction.follows(algorithm.name)).take(3).collect::<Vec<_>>();
    assert!(
        2 * by_the_rule > seen.len(),
        "{name} kept {shares:.3?}; against the rule, for example {others:#?}"
    );
    true
}

fn could_be_chosen(look: &Sample) -> bool {
    look.cwnd <= SEGMENTS_MOST && (look.ssthresh <= SEGMENTS_MOST || look.ssthresh == NO_THRESHOLD)
}

/// What was seen of an episode of congestion: the last look before it and the first one in it.
#[derive(Debug)]
struct Reduction {
    before: Sample,
    after: Sample,
    /// Segments that were delivered from the look before these two to the last of them. The kernel reads the window before it locks
    /// the socket, and the counts after that, so that the window of a look may be as old as the previous look.
    delivered: u32,
}

impl Reduction {
    fn kept(&self) -> f64 {
        f64::from(self.after.ssthresh) / f64::from(self.before.cwnd)
    }

    /// Returns the share of the window that was delivered between the looks.
    fn acknowledged(&self) -> f64 {
        f64::from(self.delivered) / f64::from(self.before.cwnd)
    }

    /// Returns whether the rule for this algorithm would notice a window that was halved.
    fn can_judge(&self, name: &str) -> bool {
        name != "copa" || self.acknowledged() <= COPA_ACKNOWLEDGED
    }

    /// The window is looked at each half millisecond, or later on a busy machine, and moves meanwhile. Copa's rule includes
    /// that movement.
    fn follows(&self, name: &str) -> bool {
        let apart = if name == "copa" { 0.0 } else { 0.15 };
        // Thresholds are whole, and two at least.
        let whole = 1.0 / f64::from(self.before.cwnd);
        let share = self.kept();
        kept(name, self).iter().any(|(least, most)| {
            ((1.0 - apart) * least - whole..=(1.0 + apart) * most + whole).contains(&share)
        })
    }
}

/// The episodes of a loss or a mark whose window is known: in slow start it doubles between a few looks at it.
fn reductions(transfer: &Transfer) -> Vec<Reduction> {
    let looks = transfer.samples.windows(3).map(|looks| Reduction {
        before: looks[1],
        after: looks[2],
        delivered: looks[2].delivered - looks[0].delivered,
    });
    looks
        .filter(|Reduction { before, after, .. }| {
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

/// Panics with what is missing to load algorithms here.
fn require_kernel() {
    let missing = load::missing();
    assert!(missing.is_empty(), "{}", missing.join("; "));
}

/// Loads an algorithm under a name of this process's own, and pins it.
fn pinned(name: &str, letter: char) -> (String, PathBuf) {
    require_kernel();
    let kernel_name = format!("cwnd_t{}_{letter}", std::process::id());
    let loaded = load::load_as(cwnd_kernel::find(name).unwrap(), &[], &kernel_name).unwrap();
    let path = loaded.pin().unwrap().stay();
    assert!(path.exists() && registered().contains(&kernel_name));
    (kernel_name, path)
}

/// How many objects of that name the kernel has.
fn objects(kernel_name: &str) -> usize {
    load::loaded().unwrap().iter().filter(|object| object.kernel_name == kernel_name).count()
}

fn inside(namespace: &lab::Namespace, what: impl FnOnce() + Send) {
    namespace
        .within(|| {
            what();
            Ok(())
        })
        .unwrap();
}

fn default() -> String {
    fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap().trim().to_owned()
}

/// Returns the algorithm of a socket that does not choose one, and the socket.
fn of_new_sockets() -> (String, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    (lab::congestion_control(&listener).unwrap(), listener)
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip, tc and nft"]
fn a_pinned_algorithm_stays_until_it_is_unloaded() {
    let (name, path) = pinned("newreno", 'a');
    let namespace = lab::Namespace::new("pinned").unwrap();
    inside(&namespace, || {
        // A socket that has it keeps it from being unloaded.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        lab::choose(&listener, &name).unwrap();
        let refused = load::unload(&name, false).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("1 socket uses {name}")), "{refused}");
    });
    load::unload(&name, false).unwrap();
    assert!(!path.exists() && !registered().contains(&name));
    let gone = load::unload(&name, false).unwrap_err().to_string();
    assert!(gone.contains("not loaded"), "{gone}");
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip, tc and nft"]
fn an_application_declares_a_deadline_to_d2tcp_and_to_no_other() {
    require_kernel();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    for (name, asks) in [("d2tcp", true), ("dctcp", false)] {
        let loaded = load::load_private(cwnd_kernel::find(name).unwrap(), &[]).unwrap();
        assert_eq!(loaded.hint(&listener, 1_000_000, Duration::from_secs(9)).is_ok(), asks, "{name}");
    }
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip, tc and nft"]
fn the_same_algorithm_is_loaded_under_many_names_at_once() {
    require_kernel();
    let elastic = cwnd_kernel::find("elastic").unwrap();
    let with = |beta: &str| [("beta".to_owned(), beta.to_owned())];
    let [one, other] = ["0.6", "0.8"].map(|beta| load::load_private(elastic, &with(beta)).unwrap());
    let names = [one.kernel_name().to_owned(), other.kernel_name().to_owned()];
    assert_ne!(names[0], names[1]);
    assert!(names.iter().all(|name| name.len() == 15 && registered().contains(name)), "{names:?}");
    let found = load::loaded().unwrap();
    let of = |name: &str| found.iter().find(|object| object.kernel_name == name).unwrap();
    for (name, beta) in names.iter().zip(["0.6", "0.8"]) {
        assert!(of(name).is(elastic, &elastic.values(&with(beta)).unwrap()), "{:?}", of(name));
        assert!(matches!(&of(name).keeper, load::Keeper::Process(id, _) if *id == std::process::id()));
        let held = load::unload(name, true).unwrap_err().to_string();
        assert!(held.contains(&format!("process {}", std::process::id())), "{held}");
    }
    // A name that is taken says by what.
    let taken = load::load_as(elastic, &[], &names[0]).unwrap_err().to_string();
    assert!(taken.contains("is loaded already") && taken.contains("beta=0.6"), "{taken}");
    drop((one, other));
    assert!(names.iter().all(|name| !registered().contains(name)), "{names:?}");
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip, tc and nft"]
fn installing_twice_is_the_same_as_once() {
    require_kernel();
    // These names are the host's: take algorithms that nobody has loaded.
    let free = cwnd_kernel::all().iter().rev().filter(|algorithm| objects(&algorithm.kernel_name()) == 0);
    let two: Vec<&KernelAlgorithm> = free.take(2).collect();
    let [one, _] = two[..] else {
        panic!("all algorithms are loaded on this host; unload some: cwnd kernel unload NAME")
    };
    let names: Vec<String> = two.iter().map(|algorithm| algorithm.kernel_name()).collect();
    let install = |algorithms: &[&'static KernelAlgorithm]| -> Vec<bool> {
        let instances: Vec<Instance> =
            algorithms.iter().map(|one| Instance::new(one, &[]).unwrap()).collect();
        let installed = load::install(&instances, Options::default()).unwrap();
        installed.iter().map(|one| one.change == Change::Already).collect()
    };
    assert_eq!(install(&two[..1]), [false]);
    assert_eq!(install(&two), [true, false]);
    assert_eq!(install(&two), [true, true]);
    assert_eq!(names.iter().map(|name| objects(name)).collect::<Vec<_>>(), [1, 1]);
    load::unload(&names[1], false).unwrap();
    // One that cannot be loaded takes away what was loaded with it, and nothing else: a name that is loaded otherwise.
    let taken = load::load_private(cwnd_kernel::find("elastic").unwrap(), &[]).unwrap();
    let again = Instance::named(two[0], taken.kernel_name(), &[]).unwrap();
    assert!(load::install(&[Instance::new(two[1], &[]).unwrap(), again], Options::default()).is_err());
    drop(taken);
    assert_eq!(names.iter().map(|name| objects(name)).collect::<Vec<_>>(), [1, 0]);
    load::unload(&one.kernel_name(), false).unwrap();
}

/// In a network namespace of its own, so that the host's default stays what it is.
#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip, tc and nft"]
fn a_default_is_put_back_and_who_has_an_algorithm_keeps_it() {
    let (name, path) = pinned("scalable", 'b');
    let namespace = lab::Namespace::new("default").unwrap();
    let allowed = Allowed::also(&name);
    inside(&namespace, || {
        let before = default();
        load::make_default(&name).unwrap();
        assert_eq!(default(), name);
        let (taken, listener) = of_new_sockets();
        assert_eq!(taken, name);
        let refused = load::unload(&name, false).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("1 socket uses {name}")), "{refused}");
        assert_eq!(default(), name);
        load::unload(&name, true).unwrap();
        // Who has it keeps it; who comes now takes what was there before, and cannot ask for it.
        assert_eq!(lab::congestion_control(&listener).unwrap(), name);
        let (taken, other) = of_new_sockets();
        assert_eq!((taken, default()), (before.clone(), before));
        assert!(lab::choose(&other, &name).is_err());
    });
    drop(allowed);
    assert!(!path.exists() && !registered().contains(&name));
    gone(&name);
}

/// The kernel frees what the last socket had a moment after it is closed.
fn gone(name: &str) {
    let there = (0..100).all(|_| {
        std::thread::sleep(Duration::from_millis(20));
        objects(name) > 0
    });
    assert!(!there, "{name} is still in the kernel");
}

/// A kernel that refuses a default keeps a reference to it for ever, so it must not be asked.
#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip, tc and nft"]
fn a_default_that_is_refused_leaves_nothing_in_the_kernel() {
    let (name, _) = pinned("veno", 'c');
    let namespace = lab::Namespace::new("refused").unwrap();
    inside(&namespace, || {
        let before = default();
        let refused = load::make_default(&name).unwrap_err().to_string();
        assert!(refused.contains("net.ipv4.tcp_allowed_congestion_control"), "{refused}");
        assert_eq!((default(), of_new_sockets().0), (before.clone(), before));
        // What is to be the default and cannot be is not even loaded.
        let veno = cwnd_kernel::find("veno").unwrap();
        let there = objects(&veno.kernel_name());
        let options = Options { default: true, ..Options::default() };
        let refused = load::install(&[Instance::new(veno, &[]).unwrap()], options).unwrap_err().to_string();
        assert!(refused.contains("net.ipv4.tcp_allowed_congestion_control"), "{refused}");
        assert_eq!(objects(&veno.kernel_name()), there);
    });
    load::unload(&name, false).unwrap();
    gone(&name);
}

#[test]
#[ignore = "needs root, a kernel with BPF congestion control, clang, ip, tc and nft"]
fn a_default_without_its_file_is_found_and_unloaded() {
    let (name, path) = pinned("htcp", 'd');
    let namespace = lab::Namespace::new("lost").unwrap();
    let allowed = Allowed::also(&name);
    let mut before = String::new();
    inside(&namespace, || {
        before = default();
        load::make_default(&name).unwrap();
        fs::remove_file(&path).unwrap();
        while registered().contains(&name) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(of_new_sockets().0, name, "new sockets still take it");
    });
    let found = load::loaded().unwrap().into_iter().find(|object| object.kernel_name == name).unwrap();
    assert_eq!((found.algorithm.name, found.keeper), ("htcp", load::Keeper::Nothing));
    assert_eq!(load::default_of(&name).len(), 1);
    drop(allowed);
    // From another network namespace, too.
    load::unload(&name, false).unwrap();
    inside(&namespace, || assert_eq!((default(), of_new_sockets().0), (before.clone(), before.clone())));
    assert_eq!(objects(&name), 0);
}

/// What every user may take, with one name more while this lives.
struct Allowed {
    name: String,
}

impl Allowed {
    const SETTING: &'static str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

    fn also(name: &str) -> Allowed {
        let before = fs::read_to_string(Allowed::SETTING).unwrap();
        fs::write(Allowed::SETTING, format!("{} {name}", before.trim())).unwrap();
        Allowed { name: name.to_owned() }
    }
}

impl Drop for Allowed {
    fn drop(&mut self) {
        let now = fs::read_to_string(Allowed::SETTING).unwrap_or_default();
        let others: Vec<&str> = now.split_whitespace().filter(|name| *name != self.name).collect();
        let _ = fs::write(Allowed::SETTING, others.join(" "));
    }
}
