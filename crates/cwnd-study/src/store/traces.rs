//! The samples of runs: in files next to the database, or in memory.

use super::Store;
use crate::{RunKey, Samples, StoreError, StoreErrorKind, TracedRun, input_file, output_file, trace_file};
use cwnd_scenario::{Scenario, Trace};
use sha2::{Digest, Sha256};
use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// The samples of a run in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTrace {
    /// Where they are.
    pub samples: Samples,
    /// SHA-256 of the samples, wherever they are: [`trace_file::digest`].
    pub digest: [u8; 32],
    /// Whether the state of algorithms was recorded with them. Older versions did not.
    pub has_states: bool,
}

/// Where a store keeps samples. Any thread may write there.
#[derive(Clone, Debug)]
pub enum TraceStore {
    /// In files in the store's directory.
    Directory(PathBuf),
    /// In memory, with the run.
    Memory,
}

impl TraceStore {
    /// Keeps the samples of a run. A file is written whole or not at all, and is on the disk when this returns.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, key: RunKey, scenario: &Scenario, trace: Trace) -> Result<StoredTrace, StoreError> {
        match self {
            TraceStore::Directory(directory) => StoredTrace::write(directory, key, scenario, &trace),
            TraceStore::Memory => {
                let digest = trace_file::digest(&trace);
                Ok(StoredTrace { samples: Samples::Memory(Arc::new(trace)), digest, has_states: true })
            }
        }
    }
}

impl TraceStore {
    /// Keeps the samples of a run that was done elsewhere, as [`encode`] wrote them, with their [`trace_file::digest`].
    ///
    /// # Errors
    /// If the file cannot be written, or is none.
    pub(crate) fn write_encoded(
        &self,
        key: RunKey,
        bytes: &[u8],
        digest: [u8; 32],
    ) -> Result<StoredTrace, StoreError> {
        let samples = match self {
            TraceStore::Directory(directory) => {
                let path = made_place(directory, key)?;
                output_file::write_with(&path, |file| file.write_all(bytes)).map_err(unwritten)?;
                Samples::File { path, sha256: Sha256::digest(bytes).into() }
            }
            TraceStore::Memory => {
                let trace = trace_file::from_bytes(bytes.to_vec()).map_err(|reason| {
                    StoreError::new(Path::new("a trace"), StoreErrorKind::Damaged, reason)
                })?;
                Samples::Memory(Arc::new(trace))
            }
        };
        Ok(StoredTrace { samples, digest, has_states: true })
    }
}

/// Returns the bytes of the file that holds the samples of a run.
///
/// # Errors
/// If Parquet cannot hold them.
pub(crate) fn encode(scenario: &Scenario, trace: &Trace) -> io::Result<Vec<u8>> {
    with_names(scenario, trace, |run| trace_file::to_parquet(&[run]))
}

impl StoredTrace {
    fn write(
        directory: &Path,
        key: RunKey,
        scenario: &Scenario,
        trace: &Trace,
    ) -> Result<StoredTrace, StoreError> {
        let path = made_place(directory, key)?;
        with_names(scenario, trace, |run| trace_file::write(&path, &[run])).map_err(unwritten)?;
        let sha256 =
            digest(&path).map_err(|error| StoreError::io(&path, "it cannot be read back", &error))?;
        let samples = Samples::File { path, sha256 };
        Ok(StoredTrace { digest: trace_file::digest(trace), samples, has_states: true })
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let file = match self.samples {
            Samples::File { sha256, .. } => sha256,
            Samples::Memory(_) => [0; 32],
        };
        let mut bytes = [file, self.digest].concat();
        bytes.extend(self.has_states.then_some(HAS_STATES));
        bytes
    }
}

/// Returns the file of a run's samples, in a directory that exists now.
fn made_place(directory: &Path, key: RunKey) -> Result<PathBuf, StoreError> {
    let path = place(directory, key);
    if let Some(traces) = path.parent() {
        output_file::create_directory(traces)
            .map_err(|error| StoreError::io(traces, "the directory cannot be made", &error))?;
    }
    Ok(path)
}

fn unwritten(error: output_file::OutputFileError) -> StoreError {
    let reason = format!("{}. What was stored is safe", error.reason);
    StoreError { reason, ..StoreError::from(error) }
}

/// Passes on a run's samples with the names of its algorithms.
fn with_names<T>(scenario: &Scenario, trace: &Trace, work: impl FnOnce(TracedRun<'_>) -> T) -> T {
    let names: Vec<String> = scenario.flows.iter().map(|flow| flow.algorithm.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let links = &scenario.network.links;
    work(TracedRun {
        algorithm: names.first().copied().unwrap_or_default(),
        flow_algorithms: &names,
        seed: scenario.seed,
        trace,
        bottleneck: links.get(scenario.network.bottleneck).map_or("", |link| &link.name),
    })
}

/// Returns the samples of a row of a directory's database, if they exist and are whole.
pub(super) fn find(directory: &Path, key: RunKey, bytes: &[u8]) -> Result<StoredTrace, String> {
    let damaged = || "its row in the store is damaged".to_owned();
    let (file, rest) = bytes.split_first_chunk::<32>().ok_or_else(damaged)?;
    let (digest, rest) = rest.split_first_chunk::<32>().ok_or_else(damaged)?;
    let has_states = match rest {
        [] => false,
        [HAS_STATES] => true,
        _ => return Err(damaged()),
    };
    let path = place(directory, key);
    match self::digest(&path) {
        Ok(found) if found == *file => {
            Ok(StoredTrace { samples: Samples::File { path, sha256: *file }, digest: *digest, has_states })
        }
        Ok(_) => Err(format!("its trace `{}` is torn, or was changed", path.display())),
        Err(error) => Err(format!("its trace `{}` cannot be read ({error})", path.display())),
    }
}

impl Store {
    /// Removes what killed processes left behind in writing traces.
    pub(crate) fn sweep_traces(&self) {
        // No trace takes that long to write, so nobody is writing it any more.
        const ABANDONED: Duration = Duration::from_secs(3600);
        let Some(directory) = self.directory() else { return };
        let Ok(entries) = fs::read_dir(directory.join(TRACES)) else { return };
        for entry in entries.flatten() {
            let age = entry.metadata().and_then(|data| data.modified()).map(|time| time.elapsed());
            let old = matches!(age, Ok(Ok(age)) if age > ABANDONED);
            if old && entry.file_name().to_string_lossy().ends_with(".tmp") {
                // Sweeping is a courtesy; what cannot be removed is in nobody's way.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

const TRACES: &str = "traces";

/// Ends the description of a trace that has the state of algorithms.
const HAS_STATES: u8 = 1;

/// Computes the SHA-256 of a file, which need not fit into memory.
fn digest(path: &Path) -> io::Result<[u8; 32]> {
    let (file, length) = input_file::open(path).map_err(|error| io::Error::other(error.reason))?;
    let mut file = BufReader::with_capacity(1 << 16, file.take(length));
    let mut hash = Sha256::new();
    loop {
        let read = file.fill_buf()?.len();
        if read == 0 {
            return Ok(hash.finalize().into());
        }
        hash.update(file.buffer());
        file.consume(read);
    }
}

fn place(directory: &Path, key: RunKey) -> PathBuf {
    directory.join(TRACES).join(format!("{key}.parquet"))
}
