//! Writes the documents that the program generates, and adds new algorithms to the recorded outcomes.

use crate::command::{cargo, output, root, run_showing};
use crate::options::Options;

/// Options of the chore.
pub const OPTIONS: &str = "";

/// Each document, and the arguments of `cwnd` that print it.
const DOCUMENTS: &[(&str, &[&str])] = &[
    ("docs/algorithms.md", &["algorithms", "--markdown"]),
    ("docs/metrics.md", &["metrics", "--markdown"]),
    ("docs/networks.md", &["networks", "--markdown"]),
    ("docs/reference/study-file.md", &["schema", "--markdown"]),
    ("docs/verdicts.md", &["reproduce", "--markdown"]),
];

/// Writes every generated document, and prints which of them have changed. Returns whether what must not change is the same.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    Options::new(arguments, &[], &[])?;
    for (path, arguments) in DOCUMENTS {
        let mut cwnd = cargo();
        cwnd.args(["run", "--quiet", "--package", "cwnd", "--"]).args(*arguments);
        let text = output(&mut cwnd)?;
        let file = root().join(path);
        let is_current = std::fs::read_to_string(&file).is_ok_and(|committed| committed == text);
        if !is_current {
            std::fs::write(&file, text).map_err(|error| format!("{path}: {error}"))?;
        }
        println!("{path} {}", if is_current { "is current" } else { "was renewed" });
    }
    // The definitions of the flags are inside of the program; its own test writes their page. A test of the simulator adds the
    // digests of new algorithms, and fails if the digest of another has changed.
    let mut all = true;
    for words in ["--package cwnd --lib cli_page", "--package cwnd-sim --test snapshot outcomes_to_the_bit"] {
        let mut test = cargo();
        test.args(["test", "--quiet"]).args(words.split(' ')).env("CWND_RENEW", "1");
        all &= run_showing(&mut test, |_| {})?;
    }
    Ok(all)
}
