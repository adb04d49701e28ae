//! What identifies a verdict: the claim's rule and the runs that it is measured from.

use crate::{Claim, ClaimTest, Engines, RunKey, Study};
use cwnd_metrics::SAMPLED_VERSION;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Returns 16 hexadecimal digits that are the same as long as a claim has the same rule and is measured from the same runs: the
/// same scenarios, seeds, and versions of all that takes part, the metrics that are computed from samples included. A stored
/// verdict with another fingerprint is out of date.
pub fn fingerprint(study: &Study, claim: &Claim, engines: &Engines) -> String {
    let mut hash = Sha256::new();
    match &claim.test {
        ClaimTest::NotTestable(_) => hash.update(b"not testable"),
        ClaimTest::Measured { kind, expect } => {
            let derived = study.derived(kind.metric());
            hash.update(format!("{kind:?} {expect:?} {} {SAMPLED_VERSION} {derived:?}", study.repeats));
            let references = derived.map(|derived| study.references(derived));
            let reference = |cell: usize| references.as_ref().and_then(|references| references[cell]);
            for cell in study.select(kind.select()).flat_map(|cell| [Some(cell), reference(cell)]).flatten() {
                // Repeats differ from the first in their seeds alone.
                let engine = engines.of(study.cells[cell].engine);
                hash.update(RunKey::of(&**engine, &study.scenario(cell, 0)).0);
            }
        }
    }
    let bytes = hash.finalize();
    bytes.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
