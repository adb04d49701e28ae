//! Runs that another process does, on this machine or elsewhere.
//!
//! A batch holds all that its runs need: whole scenarios, seeds, and for each run the key that its result must have. A worker
//! needs no file, no store and no study. [`run`] does a batch and returns its results in the same self-contained way, with the
//! bytes of trace files. [`Sweep`](super::Sweep) makes batches and takes results.
//!
//! Results are those of the versions that the batch names or there are none: a worker of another version of cwnd, or whose
//! engine would give a run another key, refuses the whole batch.
//!
//! A batch is JSON. Results are the length of a header (8 bytes, little-endian), the header as JSON, and then the counts and
//! trace files one after the other, with the lengths that the header states.

use super::{Given, panics, plan::Task, simulate};
use crate::{
    RunKey, RunSpec, VERSION,
    store::{Counts, CountsForm, NewContent, NewRun, encode_trace},
    trace_file,
};
use cwnd_scenario::{Engine, Identity, Scenario};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// Version of both formats.
const FORMAT: u32 = 1;

/// Why a batch or its results cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchError(String);

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BatchError {}

/// What stands before everything else in both formats.
#[derive(Serialize, Deserialize)]
struct Versions {
    format: u32,
    /// The version of cwnd that wrote it.
    version: String,
}

impl Versions {
    fn here() -> Versions {
        Versions { format: FORMAT, version: VERSION.to_owned() }
    }

    fn check(&self, what: &str) -> Result<(), BatchError> {
        if self.version != VERSION || self.format != FORMAT {
            return Err(BatchError(format!(
                "{what} of cwnd {} came to cwnd {VERSION}: install the same version of cwnd on the driver and on all workers",
                self.version
            )));
        }
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct Batch {
    #[serde(flatten)]
    versions: Versions,
    cells: Vec<Cell>,
    runs: Vec<Order>,
}

/// What several runs share.
#[derive(Serialize, Deserialize)]
struct Cell {
    /// What the runs are, but for their seeds and the short flows that these draw.
    scenario: Scenario,
    /// The versions that the driver expects.
    identity: Identity,
}

/// A run that is to be done.
#[derive(Serialize, Deserialize)]
struct Order {
    /// Index into the cells of the batch.
    cell: usize,
    seed: u64,
    key: String,
    /// Whether its trace is kept.
    traced: bool,
}

/// Writes a batch of these tasks, which an engine like this one is to do.
pub(super) fn write(engine: &dyn Engine, tasks: &[Task]) -> Vec<u8> {
    let mut batch = Batch { versions: Versions::here(), cells: Vec::new(), runs: Vec::new() };
    let mut bases: Vec<&Arc<Scenario>> = Vec::new();
    for task in tasks {
        // Runs of a cell follow each other.
        if bases.last().is_none_or(|last| !Arc::ptr_eq(last, &task.base)) {
            bases.push(&task.base);
            let scenario = Scenario::clone(&task.base);
            batch.cells.push(Cell { identity: engine.identity(&scenario), scenario });
        }
        let (cell, key) = (bases.len() - 1, task.key.to_string());
        batch.runs.push(Order { cell, seed: task.seed, key, traced: task.traced });
    }
    serde_json::to_vec(&batch).expect("its maps have text for keys, and its floats are written as they are")
}

/// Does the runs of a batch one after the other, and returns their results. A run that fails is a result too.
///
/// # Errors
/// If these bytes are no batch, the batch is of another version of cwnd, or this engine is not the one that it expects.
pub fn run(engine: &dyn Engine, batch: &[u8]) -> Result<Vec<u8>, BatchError> {
    panics::install();
    let damaged = |error: serde_json::Error| BatchError(format!("this is no batch of runs: {error}"));
    // The versions first: what another version writes may not be readable at all.
    serde_json::from_slice::<Versions>(batch).map_err(damaged)?.check("a batch")?;
    let batch: Batch = serde_json::from_slice(batch).map_err(damaged)?;
    for cell in &batch.cells {
        check_identity(&cell.identity, &engine.identity(&cell.scenario))?;
    }
    let mut header = Header { versions: Versions::here(), results: Vec::new() };
    let mut blobs = Vec::new();
    for order in batch.runs {
        let cell =
            batch.cells.get(order.cell).ok_or_else(|| BatchError("this is no batch of runs".to_owned()))?;
        let scenario = Arc::new(cell.scenario.with_seed(order.seed));
        let spec = RunSpec::new(engine, &scenario);
        if spec.key().to_string() != order.key {
            return Err(BatchError(format!(
                "this worker would make another run of what the driver asked for (seed {}): install the same build of cwnd on \
                 both",
                order.seed
            )));
        }
        let given = Given::default();
        let (content, trace, cpu_s) = simulate(engine, &scenario, CountsForm::Encoded, order.traced, &given);
        let state = match content {
            NewContent::Failed(reason) => State::Failed(reason),
            NewContent::Done { counts, sampled, .. } => {
                let file = trace.as_ref().map(|trace| encode_trace(&scenario, trace)).transpose();
                let bits =
                    |values: BTreeMap<String, f64>| values.into_iter().map(|(name, x)| (name, x.to_bits()));
                match (counts.encoded(), file) {
                    (Err(reason), _) => State::Failed(reason),
                    (_, Err(error)) => State::Failed(format!("its trace cannot be written: {error}")),
                    (Ok(counts), Ok(file)) => {
                        let length = counts.len();
                        blobs.extend(&*counts);
                        let file = file.zip(trace).map(|(file, trace)| {
                            blobs.extend(&file);
                            TraceFile {
                                length: file.len(),
                                digest: RunKey(trace_file::digest(&trace)).to_string(),
                            }
                        });
                        State::Done {
                            counts: length,
                            sampled: sampled.map(|all| bits(all).collect()),
                            trace: file,
                        }
                    }
                }
            }
        };
        header.results.push(Entry { key: order.key, cpu_s, state });
    }
    let header = serde_json::to_vec(&header).expect("its maps have text for keys, and CPU times are finite");
    Ok([&(header.len() as u64).to_le_bytes()[..], &header, &blobs].concat())
}

/// Names the first version that differs.
fn check_identity(expected: &Identity, here: &Identity) -> Result<(), BatchError> {
    if expected == here {
        return Ok(());
    }
    let names = expected.versions.keys().chain(here.versions.keys());
    let of =
        |identity: &Identity, name: &str| identity.versions.get(name).map_or("none", |text| text).to_owned();
    let mut differing = names.filter(|name| of(expected, name) != of(here, name)).map(|name| {
        format!(
            "of `{name}` the driver has version {} and this worker {}",
            of(expected, name),
            of(here, name)
        )
    });
    let why = differing.next().unwrap_or_else(|| {
        format!("the driver's engine is `{}`, and this worker's is `{}`", expected.engine, here.engine)
    });
    Err(BatchError(format!("{why}: install the same version on both")))
}

#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(flatten)]
    versions: Versions,
    results: Vec<Entry>,
}

/// What came of a run.
#[derive(Serialize, Deserialize)]
struct Entry {
    key: String,
    cpu_s: f64,
    state: State,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Done {
        /// Bytes of its counts.
        counts: usize,
        /// Metrics that were made from samples, as the bits of the numbers.
        sampled: Option<BTreeMap<String, u64>>,
        trace: Option<TraceFile>,
    },
    Failed(String),
}

#[derive(Serialize, Deserialize)]
struct TraceFile {
    /// Bytes.
    length: usize,
    /// [`trace_file::digest`] of the samples, in hexadecimal digits.
    digest: String,
}

/// What came of a run elsewhere.
pub(super) struct Returned {
    pub key: RunKey,
    pub cpu_s: f64,
    /// Still without the trace.
    pub content: NewContent,
    /// The trace's file and the digest of its samples.
    pub trace: Option<(Vec<u8>, [u8; 32])>,
}

impl Returned {
    /// Adds what the driver knows of the run.
    pub fn into_run(self, spec: RunSpec) -> NewRun {
        NewRun { key: self.key, spec, content: self.content, cpu_s: self.cpu_s }
    }
}

/// Reads what [`run`] returned.
///
/// # Errors
/// If these bytes are no results, or those of another version of cwnd.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Returned>, BatchError> {
    let damaged = || BatchError("these are no results of a batch, or only a part of them".to_owned());
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(damaged)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged())?;
    let (header, mut blobs) = rest.split_at_checked(length).ok_or_else(damaged)?;
    let json = |error: serde_json::Error| BatchError(format!("these are no results of a batch: {error}"));
    serde_json::from_slice::<Versions>(header).map_err(json)?.check("results")?;
    let header: Header = serde_json::from_slice(header).map_err(json)?;
    let mut take = |length: usize| {
        let (blob, rest) = blobs.split_at_checked(length).ok_or_else(damaged)?;
        blobs = rest;
        Ok::<_, BatchError>(blob.to_vec())
    };
    let read = |entry: Entry| {
        let key = RunKey::parse(&entry.key).ok_or_else(damaged)?;
        let (content, trace) = match entry.state {
            State::Failed(reason) => (NewContent::Failed(reason), None),
            State::Done { counts, sampled, trace } => {
                let counts = Counts::Encoded(take(counts)?);
                let numbers = |all: BTreeMap<String, u64>| {
                    all.into_iter().map(|(name, bits)| (name, f64::from_bits(bits))).collect()
                };
                let file = |trace: TraceFile| {
                    let digest = RunKey::parse(&trace.digest).ok_or_else(damaged)?;
                    Ok::<_, BatchError>((take(trace.length)?, digest.0))
                };
                let content = NewContent::Done { counts, sampled: sampled.map(numbers), trace: None };
                (content, trace.map(file).transpose()?)
            }
        };
        Ok(Returned { key, cpu_s: entry.cpu_s, content, trace })
    };
    header.results.into_iter().map(read).collect()
}
