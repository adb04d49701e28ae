//! What identifies a verdict: the claim's rule and the runs that it is measured from.

use crate::{Claim, ClaimTest, Engines, RunKey, Study};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Returns 16 hexadecimal digits that are the same as long as a claim has the same rule and is measured from the same runs: the
/// same scenarios, seeds, and versions of all that takes part. A stored verdict with another fingerprint is out of date.
pub fn fingerprint(study: &Study, claim: &Claim, engines: &Engines) -> String {
    let mut hash = Sha256::new();
    match &claim.test {
        ClaimTest::NotTestable(_) => hash.update(b"not testable"),
        ClaimTest::Measured { kind, expect } => {
            hash.update(format!("{kind:?} {expect:?} {}", study.repeats));
            for cell in study.select(kind.select()) {
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
