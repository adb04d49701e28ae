//! Which algorithms are compared, and how each is made the congestion control of a Linux host.

use crate::catalogue;
use cwnd_scenario::AlgorithmSpec;
use std::{fs, path::Path};

/// Algorithms that Linux ships, and their names there. Its CUBIC is `cubic-linux`, its BBR version 1.
const LINUX: [(&str, &str); 14] = [
    ("cubic-linux", "cubic"),
    ("newreno", "reno"),
    ("bbr", "bbr"),
    ("bic", "bic"),
    ("westwood", "westwood"),
    ("htcp", "htcp"),
    ("hybla", "hybla"),
    ("vegas", "vegas"),
    ("veno", "veno"),
    ("scalable", "scalable"),
    ("yeah", "yeah"),
    ("illinois", "illinois"),
    ("highspeed", "highspeed"),
    ("dctcp", "dctcp"),
];

/// Algorithms that `cwnd kernel load` loads, next to those of [`LINUX`]; a test holds both to its catalogue.
const LOADED: [&str; 17] = [
    "elastic",
    "agile-sd",
    "cltcp",
    "invs",
    "compound",
    "africa",
    "tcp-fit",
    "fusion",
    "bbr3",
    "copa",
    "ledbat-pp",
    "fast",
    "d2tcp",
    "multcp",
    "areno",
    "prague",
    "cubic",
];

/// Those that respond to congestion marks and are not made for queues without.
const NEED_MARKS: [&str; 3] = ["dctcp", "cltcp", "prague"];

/// Those that serve a purpose which the user must have: background traffic, a deadline, the share of several flows, or a number of
/// queued segments that is set by hand.
const FOR_A_PURPOSE: [&str; 4] = ["ledbat-pp", "d2tcp", "multcp", "fast"];

/// The algorithm of the flow next to each candidate: what Linux hosts run.
pub const NEIGHBOUR: &str = "cubic-linux";

/// Candidates that a user lists.
#[derive(Clone, Debug, PartialEq)]
pub struct List(pub Vec<AlgorithmSpec>);

/// Parses `cubic-linux,agile-sd:lambda_max=4,beta2=0.9`: a piece with `=` and without `:` is a parameter of the algorithm
/// before it.
///
/// # Errors
/// A name or parameter that does not exist, or an algorithm named twice.
pub fn list(text: &str) -> Result<List, String> {
    let mut items: Vec<String> = Vec::new();
    for piece in text.split(',').map(str::trim) {
        match items.last_mut().filter(|_| piece.contains('=') && !piece.contains(':')) {
            Some(item) => *item += &format!(",{piece}"),
            None => items.push(piece.to_owned()),
        }
    }
    let mut specs: Vec<AlgorithmSpec> = Vec::new();
    for item in items {
        let spec: AlgorithmSpec = item.parse().map_err(|error| format!("`{item}`: {error}"))?;
        catalogue::algorithm(&spec)?;
        if spec.name.ends_with("@host") {
            return Err(format!(
                "`{spec}` is this host's own, which is not simulated: name an algorithm of `cwnd algorithms`"
            ));
        }
        if specs.contains(&spec) {
            return Err(format!("`{spec}` is named twice"));
        }
        specs.push(spec);
    }
    Ok(List(specs))
}

/// Returns the candidates if the user lists none: all that a Linux host can be given, without those for a purpose, and without
/// those that need marks unless a queue of the path marks.
pub fn usual(marks: bool) -> Vec<AlgorithmSpec> {
    let names = LINUX.iter().map(|(name, _)| *name).chain(LOADED);
    let names = names.filter(|name| !FOR_A_PURPOSE.contains(name));
    let chosen = names.filter(|name| marks || !NEED_MARKS.contains(name));
    chosen.map(|name| AlgorithmSpec { name: name.to_owned(), ..AlgorithmSpec::default() }).collect()
}

/// What of a host decides how an algorithm gets onto it.
pub struct Modules {
    /// The congestion controls that the kernel lists.
    pub available: Vec<String>,
    /// The modules of congestion controls that are installed for this kernel: `tcp_htcp`.
    pub installed: Vec<String>,
}

impl Modules {
    /// Reads this host's.
    pub fn of_this_host() -> Modules {
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let dependencies = Path::new("/lib/modules").join(release.trim()).join("modules.dep");
        let text = fs::read_to_string(dependencies).unwrap_or_default();
        Modules { available: catalogue::of_host(), installed: installed(&text) }
    }
}

/// Returns the names of the modules that begin with `tcp_` in a `modules.dep`: lines as `kernel/net/ipv4/tcp_bbr.ko.xz: …`.
fn installed(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let file = line.split(':').next()?.rsplit('/').next()?;
        let name = file.split(".ko").next()?;
        name.starts_with("tcp_").then(|| name.to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// How an algorithm gets onto a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnHost {
    /// The kernel has it, by this name.
    Available(&'static str),
    /// A module of it is installed, by this name.
    Module(&'static str),
    /// `cwnd kernel load` with these arguments.
    Load(String),
    /// Nothing implements it for a kernel here.
    Nowhere,
}

impl OnHost {
    /// Finds out how an algorithm gets onto a host.
    pub fn of(spec: &AlgorithmSpec, modules: &Modules) -> OnHost {
        let name = spec.name.trim_end_matches("@kernel");
        let linux = LINUX.iter().find(|(known, _)| *known == name).map(|(_, linux)| *linux);
        // The kernel's own have one setting for the whole host, and not those of this algorithm here.
        if let Some(linux) = linux.filter(|_| spec.parameters.is_empty() && !spec.name.ends_with("@kernel")) {
            if modules.available.iter().any(|known| known == linux) {
                return OnHost::Available(linux);
            }
            if modules.installed.iter().any(|known| known.strip_prefix("tcp_") == Some(linux)) {
                return OnHost::Module(linux);
            }
        }
        if linux.is_none() && !LOADED.contains(&name) {
            return OnHost::Nowhere;
        }
        let parameters = spec.parameters.iter().map(|(name, value)| format!(" --param {name}={value}"));
        OnHost::Load(format!("{name}{}", parameters.collect::<String>()))
    }

    /// Returns a word for the table.
    pub fn word(&self) -> &'static str {
        match self {
            OnHost::Available(_) => "yes",
            OnHost::Module(_) => "modprobe",
            OnHost::Load(_) => "cwnd kernel load",
            OnHost::Nowhere => "no",
        }
    }

    /// Returns the commands that make it the default of this host's new sockets, and what has to be known of them.
    pub fn commands(&self) -> (Vec<String>, Option<String>) {
        let set = |name: &str| format!("sysctl -w net.ipv4.tcp_congestion_control={name}");
        match self {
            OnHost::Available(name) => (vec![set(name)], None),
            OnHost::Module(name) => (vec![format!("modprobe tcp_{name}"), set(name)], None),
            OnHost::Load(arguments) => {
                let note = (!cfg!(feature = "kernel")).then(|| {
                    "this cwnd was built without `cwnd kernel`: `cargo build --release --features kernel` (docs/kernel.md)"
                        .to_owned()
                });
                (vec![format!("cwnd kernel load {arguments} --default")], note)
            }
            OnHost::Nowhere => {
                (Vec::new(), Some("no implementation for the Linux kernel is known to cwnd".to_owned()))
            }
        }
    }
}

/// Returns whether an algorithm sets a pacing rate.
pub fn is_paced(spec: &AlgorithmSpec) -> bool {
    cwnd_sim::registered(spec).is_ok_and(|algorithm| algorithm.needs().pacing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> AlgorithmSpec {
        text.parse().unwrap()
    }

    #[test]
    fn every_usual_candidate_exists() {
        for spec in usual(true) {
            assert_eq!(catalogue::algorithm(&spec), Ok(()));
        }
        let all = LINUX.len() + LOADED.len() - FOR_A_PURPOSE.len();
        assert_eq!((usual(true).len(), usual(false).len()), (all, all - NEED_MARKS.len()));
    }

    #[test]
    #[cfg(feature = "kernel")]
    fn what_is_loaded_is_in_the_catalogue() {
        let mut known: Vec<&str> = cwnd_kernel::all().iter().map(|algorithm| algorithm.name).collect();
        // The kernel's own BBR has no C here.
        let mut here: Vec<&str> =
            LINUX.iter().map(|(name, _)| *name).filter(|name| *name != "bbr").chain(LOADED).collect();
        known.sort_unstable();
        here.sort_unstable();
        assert_eq!(known, here);
    }

    #[test]
    fn hosts_differ_in_what_has_to_be_done() {
        let dependencies = "kernel/net/ipv4/tcp_htcp.ko.xz:\nkernel/drivers/net/tun.ko.xz:\nkernel/net/ipv4/tcp_bbr.ko: a.ko\n";
        assert_eq!(installed(dependencies), ["tcp_htcp", "tcp_bbr"]);
        let modules =
            Modules { available: vec!["reno".into(), "cubic".into()], installed: installed(dependencies) };
        let of = |text: &str| OnHost::of(&spec(text), &modules);
        assert_eq!(of("newreno"), OnHost::Available("reno"));
        assert_eq!(of("htcp"), OnHost::Module("htcp"));
        assert_eq!(of("bic"), OnHost::Load("bic".into()));
        assert_eq!(of("elastic:beta=0.8"), OnHost::Load("elastic --param beta=0.8".into()));
        assert_eq!(of("cubic-linux:beta=0.5"), OnHost::Load("cubic-linux --param beta=0.5".into()));
        assert_eq!(of("copa"), OnHost::Load("copa".into()));
        assert_eq!(of("cdg"), OnHost::Nowhere);
        assert_eq!(
            of("htcp").commands().0,
            ["modprobe tcp_htcp", "sysctl -w net.ipv4.tcp_congestion_control=htcp"]
        );
        assert_eq!(of("elastic").commands().0, ["cwnd kernel load elastic --default"]);
    }

    #[test]
    fn lists_are_parted_by_commas_with_parameters() {
        let names =
            |text: &str| list(text).map(|list| list.0.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            names("cubic-linux, agile-sd:lambda_max=4,beta2=0.9 ,bbr").unwrap(),
            ["cubic-linux", "agile-sd:beta2=0.9,lambda_max=4", "bbr"]
        );
        assert_eq!(names("bbr,bbr").unwrap_err(), "`bbr` is named twice");
        assert!(names("renoo").unwrap_err().contains("did you mean `areno`?"));
        assert!(names("cubic@host").unwrap_err().contains("is not simulated"));
        assert!(names("bbr,").unwrap_err().contains("an algorithm's name is missing here"));
    }

    #[test]
    fn paced_algorithms_are_known() {
        assert!(is_paced(&spec("bbr")) && is_paced(&spec("bbr3")));
        assert!(!is_paced(&spec("cubic-linux")) && !is_paced(&spec("newreno")));
    }
}
