//! Coverage-guided fuzzing with libFuzzer: one program, whose target `CWND_FUZZ_TARGET` names.
//!
//! `cargo xtask fuzz` builds and runs it. To run one input again:
//!
//! ```text
//! CWND_FUZZ_TARGET=study target/fuzz/build/…/release/cwnd-fuzz INPUT
//! ```
#![no_main]

mod receiver;
mod run;
mod script;
mod sender;
mod settings;
mod store;
mod study;
mod traces;

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// A target: its name, and what it does with an input.
type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 7] = [
    ("study", study::fuzz),
    ("settings", settings::fuzz),
    ("traces", traces::fuzz),
    ("store", store::fuzz),
    ("script", script::fuzz),
    ("sender", sender::fuzz),
    ("receiver", receiver::fuzz),
];

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("CWND_FUZZ_TARGET").unwrap_or_default();
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    target.unwrap_or_else(|| panic!("CWND_FUZZ_TARGET is `{name}`, which is no target")).1
});

fuzz_target!(|data: &[u8]| TARGET(data));

/// Reads numbers from an input, and zeros after its end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn short(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }
}
