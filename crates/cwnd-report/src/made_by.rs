//! What made a result, in a line.

use cwnd_study::{Results, Study};

/// The study, the seeds, the version and the command, in a line.
pub fn line(results: &Results) -> String {
    let mut parts = vec![results.study.name.clone(), seeds(&results.study), version(results)];
    if !results.provenance.command.is_empty() {
        parts.push(results.provenance.command.clone());
    }
    parts.join(" · ")
}

/// `seeds 1 to 5`.
pub fn seeds(study: &Study) -> String {
    match u64::from(study.repeats.max(1)) - 1 {
        0 => format!("seed {}", study.seed),
        more => format!("seeds {} to {}", study.seed, study.seed.saturating_add(more)),
    }
}

/// `cwnd 0.1.0 (1a2b3c4), engine sim`.
pub fn version(results: &Results) -> String {
    let made = &results.provenance;
    let commit = made.commit.as_ref().map(|c| format!(" ({})", c.chars().take(12).collect::<String>()));
    let engine = if made.engine.is_empty() { String::new() } else { format!(", engine {}", made.engine) };
    format!("cwnd {}{}{engine}", made.version, commit.unwrap_or_default())
}
