//! What made a result: program, commit, command, engines.

use crate::EngineKind;
use std::path::Path;

/// What made the results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// Version of cwnd.
    pub version: String,
    /// Commit it was built from, if known.
    pub commit: Option<String>,
    /// The command that makes the results again.
    pub command: String,
    /// The engines, such as `sim`, or `sim, kernel`: [`Provenance::engines`] writes them.
    pub engine: String,
}

impl Provenance {
    /// Engines as [`Provenance::engine`] has them.
    pub fn engines(kinds: &[EngineKind]) -> String {
        kinds.iter().map(EngineKind::to_string).collect::<Vec<_>>().join(", ")
    }

    /// Returns the command that makes results again in their directory. [`Provenance::command`] does not name it, so that
    /// equal results are equal wherever they are.
    pub(crate) fn command_in(command: &str, directory: &Path) -> String {
        match () {
            () if command.starts_with("cwnd run ") => format!("{command} --out {}", directory.display()),
            () if command.starts_with("cwnd compare ") => format!("{command} --save {}", directory.display()),
            () => command.to_owned(),
        }
    }
}
