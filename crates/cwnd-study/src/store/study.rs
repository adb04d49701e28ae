//! The row of the study whose results a store holds.

use super::{Contents, KeptStudy, Store, rows::Rows};
use crate::{Provenance, RunKey, RunScale, StoreError, StoreErrorKind, output_file};
use rusqlite::{OptionalExtension, Row, params};
use sha2::{Digest, Sha256};

impl Store {
    /// Returns the study whose results these are, if one was ever run here.
    ///
    /// # Errors
    /// If the store cannot be read, or the row was written over.
    pub fn study(&self) -> Result<Option<KeptStudy>, StoreError> {
        match &self.contents {
            Contents::Rows(rows) => rows.study(),
            Contents::Values(values) => Ok(values.study.clone()),
        }
    }

    /// Keeps the study that is about to be run, instead of what was there.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn keep_study(&mut self, study: &KeptStudy) -> Result<(), StoreError> {
        if self.study().is_ok_and(|kept| kept.as_ref() == Some(study)) {
            return Ok(());
        }
        if let Some(directory) = self.directory() {
            output_file::write_text(&directory.join("study.toml"), &study.text)?;
        }
        match &mut self.contents {
            Contents::Rows(rows) => rows.keep_study(study),
            Contents::Values(values) => {
                values.study = Some(study.clone());
                Ok(())
            }
        }
    }
}

impl Rows {
    fn study(&self) -> Result<Option<KeptStudy>, StoreError> {
        let sql =
            "SELECT name, text, repeats, keys, version, source_commit, command, engine, scale FROM study";
        let read = |row: &Row<'_>| {
            let bytes: Vec<u8> = row.get(3)?;
            let (keys, checksum) = bytes.as_chunks::<32>();
            let study = KeptStudy {
                name: row.get(0)?,
                text: row.get(1)?,
                scale: RunScale::find(&row.get::<_, String>(8)?).unwrap_or_default(),
                repeats: row.get(2)?,
                keys: keys.iter().copied().map(RunKey).collect(),
                provenance: Provenance {
                    version: row.get(4)?,
                    commit: row.get(5)?,
                    command: row.get(6)?,
                    engine: row.get(7)?,
                },
            };
            // Stores of earlier versions have no checksum.
            let is_whole = checksum.is_empty() || checksum == self::checksum(&study);
            Ok(is_whole.then_some(study))
        };
        match self.connection.query_row(sql, [], read).optional().map_err(|error| self.failed(&error))? {
            None => Ok(None),
            Some(Some(study)) => Ok(Some(study)),
            Some(None) => {
                let reason = "the row of its study is damaged; run the study again with the same directory: runs \
                              that are whole are not repeated";
                Err(StoreError::new(&self.directory, StoreErrorKind::Damaged, reason))
            }
        }
    }

    fn keep_study(&self, study: &KeptStudy) -> Result<(), StoreError> {
        let KeptStudy { name, text, scale, repeats, keys, provenance } = study;
        let keys: Vec<u8> = keys.iter().flat_map(|key| key.0).chain(checksum(study)).collect();
        let Provenance { version, commit, command, engine } = provenance;
        let sql = "INSERT OR REPLACE INTO study (id, name, text, repeats, keys, version, source_commit, command, \
                   engine, scale) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        self.connection
            .execute(sql, params![name, text, repeats, keys, version, commit, command, engine, scale.name()])
            .map_err(|error| self.failed(&error))?;
        Ok(())
    }
}

/// Computes the first eight bytes of a hash over the row. They follow the keys in their column, where versions of cwnd that
/// do not know of them pass over what is shorter than a key.
fn checksum(study: &KeptStudy) -> [u8; 8] {
    let KeptStudy { name, text, scale, repeats, keys, provenance } = study;
    let Provenance { version, commit, command, engine } = provenance;
    let mut hash = Sha256::new();
    let commit = commit.as_deref().unwrap_or("\0");
    for part in [name, text, scale.name(), &repeats.to_string(), version, commit, command, engine] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    keys.iter().for_each(|key| hash.update(key.0));
    let hash: [u8; 32] = hash.finalize().into();
    let (first, _) = hash.split_first_chunk().expect("32 bytes");
    *first
}
