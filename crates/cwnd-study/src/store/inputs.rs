//! The files that a study names, kept with its results, so that a report does not need the originals.

use super::Store;
use crate::input_file::{self, MAX_INPUT};
use crate::{StoreError, Study, output_file};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

impl Store {
    /// Keep the delivery traces and the tables of flow sizes that a study names.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn keep_inputs(&mut self, study: &Study) -> Result<(), StoreError> {
        let Some(directory) = self.directory() else { return Ok(()) };
        let traces = study.traces.iter().map(|trace| (&trace.name, trace.to_text()));
        let sizes = study.sizes.iter().map(|table| (&table.name, table.to_text()));
        for (name, text) in traces.chain(sizes) {
            let path = place(directory, name);
            if input_file::read_text(&path, MAX_INPUT).is_ok_and(|kept| kept == text) {
                continue;
            }
            let folder = directory.join(FOLDER);
            output_file::create_directory(&folder)
                .map_err(|error| StoreError::io(&folder, "the directory cannot be made", &error))?;
            output_file::write_text(&path, &text)?;
        }
        Ok(())
    }
}

const FOLDER: &str = "inputs";

/// The text of a kept file, by the path that its study calls it by.
pub(crate) fn read(directory: &Path, path: &str) -> Result<String, String> {
    let place = place(directory, path);
    input_file::read_text(&place, MAX_INPUT).map_err(|error| {
        format!("cannot read `{}`, which was kept of `{path}`: {}", place.display(), error.reason)
    })
}

/// Files of the same name in different folders are different: a digest of the path tells them apart.
fn place(directory: &Path, path: &str) -> PathBuf {
    let digest = Sha256::digest(path.as_bytes());
    let digest: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let name =
        Path::new(path).file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    directory.join(FOLDER).join(format!("{digest}-{name}"))
}
