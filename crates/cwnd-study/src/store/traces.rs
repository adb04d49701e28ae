//! The files of samples beside the database.

use super::{Store, StoreError};
use crate::{RunKey, TracedRun, input_file, trace_file};
use cwnd_scenario::{Scenario, Trace};
use sha2::{Digest, Sha256};
use std::{
    fs,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    time::Duration,
};

/// A file of samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTrace {
    /// Where it is.
    pub path: PathBuf,
    /// SHA-256 of the file, which tells whether it is whole.
    pub file: [u8; 32],
    /// SHA-256 of the samples, whatever file they are in: [`trace_file::digest`].
    pub samples: [u8; 32],
}

impl StoredTrace {
    /// Writes the samples of a run beside the store: whole or not at all, and on the disk when this returns.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(
        directory: &Path,
        key: RunKey,
        scenario: &Scenario,
        trace: &Trace,
    ) -> Result<StoredTrace, StoreError> {
        let path = place(directory, key);
        if let Some(traces) = path.parent() {
            fs::create_dir_all(traces)
                .map_err(|error| StoreError::io(traces, "the directory cannot be made", &error))?;
        }
        let names: Vec<String> = scenario.flows.iter().map(|flow| flow.algorithm.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let links = &scenario.network.links;
        let run = TracedRun {
            algorithm: names.first().copied().unwrap_or_default(),
            flow_algorithms: &names,
            seed: scenario.seed,
            trace,
            bottleneck: links.get(scenario.network.bottleneck).map_or("", |link| &link.name),
        };
        trace_file::write(&path, &[run]).map_err(|error| {
            let reason = format!("{}. What was stored is safe", error.reason);
            StoreError { reason, ..StoreError::from(error) }
        })?;
        let file = digest(&path).map_err(|error| StoreError::io(&path, "it cannot be read back", &error))?;
        Ok(StoredTrace { file, samples: trace_file::digest(trace), path })
    }

    /// Reads the samples.
    ///
    /// # Errors
    /// If the file cannot be read any more, or was changed since.
    pub fn read(&self) -> Result<Trace, StoreError> {
        trace_file::read(&self.path, &self.file)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        [self.file, self.samples].concat()
    }
}

impl Store {
    /// The trace of a row, if its file is there and whole.
    pub(super) fn find_trace(&self, key: RunKey, bytes: &[u8]) -> Result<StoredTrace, String> {
        let path = place(&self.directory, key);
        let (Some((file, samples)), 64) = (bytes.split_first_chunk::<32>(), bytes.len()) else {
            return Err("its row in the store is damaged".to_owned());
        };
        match digest(&path) {
            Ok(digest) if digest == *file => Ok(StoredTrace {
                path,
                file: *file,
                samples: samples.try_into().expect("the other 32 bytes"),
            }),
            Ok(_) => Err(format!("its trace `{}` is torn, or was changed", path.display())),
            Err(error) => Err(format!("its trace `{}` cannot be read ({error})", path.display())),
        }
    }

    /// Removes what killed processes left behind in writing traces.
    pub(crate) fn sweep_traces(&self) {
        // No trace takes that long to write, so nobody is writing it any more.
        const ABANDONED: Duration = Duration::from_secs(3600);
        let Ok(entries) = fs::read_dir(self.directory.join(TRACES)) else { return };
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
