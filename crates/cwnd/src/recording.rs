//! Recordings of single runs for other tools: packet captures and qlog.
//!
//! A run of the simulator is run once more for its recording, which changes nothing of it. Over a real kernel no two runs are the
//! same: there the packets are captured while it runs.

#[cfg(target_os = "linux")]
mod emulated;

use crate::{
    failure::Failure,
    simulator::{Simulator, log_connection},
};
use clap::Args;
use cwnd_capture::{capture, default_points, log, point};
use cwnd_scenario::{Engine, Scenario};
use cwnd_sim::watch::Point;
use cwnd_study::{EngineKind, output_file};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

/// About the bytes of a captured packet in a file.
const CAPTURED_BYTES: f64 = 110.0;
/// The same over real kernels: each packet is captured at two devices.
const EMULATED_BYTES: f64 = 270.0;
/// The most bytes of packets in a virtual machine. It has 1 GiB of memory, and holds them twice at the end.
const MOST_OF_VM: f64 = 2.5e8;
/// About the bytes of what a file says of an ACK at its sender.
const LOGGED_BYTES: f64 = 250.0;

/// What is recorded.
#[derive(Args)]
pub struct RecordingFlags {
    /// Write the packets at the bottleneck as `.pcapng`, for Wireshark: what enters it, and what comes back over the link
    /// against it. Over real kernels: what crosses the devices of both ends.
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub pcap: Option<PathBuf>,

    /// Which packets `--pcap` writes instead: those that come to the queue of this link, or, with `LINK:leave`, those that
    /// come out of its line. May be given again; each is an interface of the file.
    #[arg(long, value_name = "LINK", requires = "pcap", help_heading = HEADING)]
    pub pcap_link: Vec<String>,

    /// Write what happens to the senders (windows, round-trip times, states, losses) as qlog, `.sqlog`, for qvis. Of a QUIC flow:
    /// what its implementation writes; with several, a file for each.
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub qlog: Option<PathBuf>,
}

const HEADING: &str = "Recordings";

#[cfg(target_os = "linux")]
pub use emulated::{Capture, Capturing};

/// Runs of real kernels whose packets are captured, each with its file.
pub type Captures = BTreeMap<EngineKind, Vec<(Scenario, PathBuf)>>;

/// A run that may be recorded.
pub struct Recorded<'a> {
    /// Its name among those that are recorded.
    pub name: &'a str,
    /// What is run.
    pub scenario: &'a Scenario,
    /// What runs it.
    pub engine: EngineKind,
}

/// A file to be written.
struct Job<'a> {
    scenario: &'a Scenario,
    engine: EngineKind,
    path: PathBuf,
    content: Content,
}

enum Content {
    /// The packets at these points.
    Packets(Vec<Point>),
    /// What happens to senders.
    Senders,
    /// What the QUIC implementation of this flow's sender writes.
    Connection(usize),
}

impl Content {
    /// The flag that asks for it, what the file is, and the extensions that it may have.
    fn kind(&self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Content::Packets(_) => ("--pcap", "a capture", &["pcapng"]),
            Content::Senders | Content::Connection(_) => ("--qlog", "a qlog file", &["sqlog"]),
        }
    }
}

impl RecordingFlags {
    /// Whether anything is.
    pub fn is_asked(&self) -> bool {
        self.pcap.is_some() || self.qlog.is_some()
    }

    /// Find out before the runs whether they can be recorded. Returns what is worth a note.
    ///
    /// # Errors
    /// What is wrong with a flag.
    pub fn check(&self, runs: &[Recorded<'_>]) -> Result<Vec<String>, Failure> {
        const LARGE: f64 = 1e9;
        let flows = || runs.iter().flat_map(|run| &run.scenario.flows).filter(|_| self.is_asked());
        let simulated = !runs.iter().any(|run| run.engine.is_kernels());
        if let Some(flow) = flows().find(|flow| simulated && flow.algorithm.name.ends_with("@kernel")) {
            let rust = flow.algorithm.name.trim_end_matches("@kernel");
            return Err(Failure::bad_input(format!(
                "--pcap, --qlog: what `{}` does is not recorded; `{rust}`, which is the same in Rust, can be",
                flow.algorithm.name
            )));
        }
        if let Some(flow) = flows().find(|flow| self.pcap.is_some() && simulated && !flow.transport.is_tcp())
        {
            return Err(Failure::bad_input(format!(
                "--pcap: packets of runs with flows of {} are not captured; --qlog has what it writes itself",
                flow.transport
            )));
        }
        if flows().any(|flow| simulated && flow.algorithm.name == cwnd_gym::policy::NAME) {
            return Err(Failure::bad_input("--pcap, --qlog: what a trained policy does is not recorded"));
        }
        let emulated = runs.iter().any(|run| run.engine.is_kernels());
        let only_simulated = [("--qlog", self.qlog.is_some()), ("--pcap-link", !self.pcap_link.is_empty())];
        if let Some((flag, _)) = only_simulated.iter().find(|(_, asked)| *asked && emulated) {
            return Err(Failure::bad_input(format!(
                "{flag}: that is recorded of the simulator's runs alone; --pcap has what crosses both ends' devices of a real \
                 kernel's"
            )));
        }
        for Job { path, content, .. } in self.jobs(runs)? {
            let (flag, kind, extensions) = content.kind();
            let checked = output_file::check_writable(&path, kind, extensions);
            checked.map_err(|error| Failure::bad_input(format!("{flag}: {error}")))?;
        }
        // Of the packets of a run half are ACKs, and each of those makes an event at its sender.
        let packets =
            |run: &Recorded<'_>| Simulator::default().check(run.scenario).map_or(0.0, |cost| cost.packets);
        let captured = |run: &Recorded<'_>| {
            packets(run) * if run.engine.is_kernels() { EMULATED_BYTES } else { CAPTURED_BYTES }
        };
        let vm = runs.iter().filter(|run| self.pcap.is_some() && run.engine.is_vm());
        if let Some(bytes) = vm.map(captured).find(|bytes| *bytes > MOST_OF_VM) {
            return Err(Failure::bad_input(format!(
                "--pcap: a virtual machine keeps its packets in memory, up to {:.2} GB, and this run may have {:.2} GB of them; a \
                 shorter duration has less",
                MOST_OF_VM / 1e9,
                bytes / 1e9
            )));
        }
        let large = [
            ("--pcap", &self.pcap, runs.iter().map(captured).sum::<f64>()),
            ("--qlog", &self.qlog, runs.iter().map(packets).sum::<f64>() / 2.0 * LOGGED_BYTES),
        ];
        let large = large.into_iter().filter(|(_, path, bytes)| path.is_some() && *bytes > LARGE);
        let note = |(flag, _, bytes): (&str, _, f64)| {
            format!("{flag} may write up to {:.0} GB; a shorter duration makes less", bytes / 1e9)
        };
        Ok(large.map(note).collect())
    }

    /// The files into which packets are captured while real kernels run, by the engine that runs them.
    ///
    /// # Errors
    /// What is wrong with a flag.
    pub fn captures(&self, runs: &[Recorded<'_>]) -> Result<Captures, Failure> {
        let mut captures = Captures::new();
        for job in self.jobs(runs)?.into_iter().filter(|job| job.engine.is_kernels()) {
            captures.entry(job.engine).or_default().push((job.scenario.clone(), job.path));
        }
        Ok(captures)
    }

    /// Run them, and write the files; what real kernels ran has been captured then. Returns which.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn write(&self, runs: &[Recorded<'_>]) -> Result<Vec<PathBuf>, Failure> {
        let mut written = Vec::new();
        for Job { scenario, path, content, engine } in self.jobs(runs)? {
            if engine.is_kernels() {
                written.push(path);
                continue;
            }
            let flag = content.kind().0;
            let write = |file: &mut BufWriter<File>| match &content {
                Content::Packets(points) => capture(scenario, points, file).map(drop),
                Content::Senders => log(scenario, file).map(drop),
                Content::Connection(flow) => log_connection(scenario, *flow, file).map_err(io::Error::other),
            };
            let done = output_file::write_with(&path, write);
            done.map_err(|error| Failure::broken(format!("{flag}: {error}")))?;
            written.push(path);
        }
        Ok(written)
    }

    fn jobs<'a>(&self, runs: &[Recorded<'a>]) -> Result<Vec<Job<'a>>, Failure> {
        let names: Vec<&str> = runs.iter().map(|run| run.name).collect();
        let files = |path: &Option<PathBuf>| {
            path.as_ref().map_or_else(Vec::new, |path| runs.iter().zip(paths(path, &names)).collect())
        };
        let mut jobs = Vec::new();
        for (run, path) in files(&self.pcap) {
            let content = Content::Packets(self.points(run)?);
            jobs.push(Job { scenario: run.scenario, engine: run.engine, path, content });
        }
        for (run, path) in files(&self.qlog) {
            let flows = run.scenario.flows.iter().enumerate();
            let quic: Vec<usize> =
                flows.filter(|(_, flow)| !flow.transport.is_tcp() && !flow.short).map(|(i, _)| i).collect();
            let contents = match quic.as_slice() {
                [] => vec![(path, Content::Senders)],
                [flow] => vec![(path, Content::Connection(*flow))],
                // Each implementation writes of one connection; two cannot be in one file.
                several => {
                    let names: Vec<String> = several.iter().map(|flow| format!("flow{}", flow + 1)).collect();
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    let contents = several.iter().map(|flow| Content::Connection(*flow));
                    paths(&path, &names).into_iter().zip(contents).collect()
                }
            };
            let job = |(path, content)| Job { scenario: run.scenario, engine: run.engine, path, content };
            jobs.extend(contents.into_iter().map(job));
        }
        Ok(jobs)
    }

    fn points(&self, run: &Recorded<'_>) -> Result<Vec<Point>, Failure> {
        let bad = |why: String| Failure::bad_input(format!("--pcap-link: {why}"));
        let mut points: Vec<Point> = Vec::new();
        for text in &self.pcap_link {
            let point = point(&run.scenario.network, text).map_err(bad)?;
            if points.contains(&point) {
                return Err(bad(format!("`{text}` is there twice")));
            }
            points.push(point);
        }
        Ok(if points.is_empty() { default_points(run.scenario) } else { points })
    }
}

/// For each of some runs its file: the one that was named, if there is one run alone; else each has its name in it.
fn paths(path: &Path, names: &[&str]) -> Vec<PathBuf> {
    if names.len() == 1 {
        return vec![path.to_owned()];
    }
    let mut used = BTreeSet::new();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map_or(String::new(), |text| format!(".{}", text.to_string_lossy()));
    let plain = |c: char| if c.is_alphanumeric() || "-_.=".contains(c) { c } else { '-' };
    let unique = |name: &&str| {
        let name: String = name.chars().map(plain).collect();
        let more = (2..).map(|n| format!("{name}-{n}"));
        let free = [name.clone()].into_iter().chain(more).find(|name| used.insert(name.clone()));
        path.with_file_name(format!("{stem}-{}{extension}", free.unwrap_or(name)))
    };
    names.iter().map(unique).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_several_runs_have_their_names() {
        let of = |names: &[&str]| {
            let paths = paths(Path::new("a/run.pcapng"), names);
            paths.iter().map(|path| path.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of(&["cubic"]), ["a/run.pcapng"]);
        assert_eq!(
            of(&["cubic", "agile-sd:lambda_max=4*2, x", "cubic"]),
            ["a/run-cubic.pcapng", "a/run-agile-sd-lambda_max=4-2--x.pcapng", "a/run-cubic-2.pcapng"]
        );
    }
}
