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

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
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

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("CWND_FUZZ_TARGET").unwrap_or_default();
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    *target.unwrap_or_else(|| panic!("CWND_FUZZ_TARGET is `{name}`, which is no target"))
});

fuzz_target!(|data: &[u8]| (TARGET.1)(data));

// Half of the changes of a script are made of the words of its language. All others are libFuzzer's.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let changed =
        (TARGET.0 == "script" && seed % 2 == 0).then(|| script::mutate(&data[..size], seed / 2)).flatten();
    match changed {
        Some(changed) if !changed.is_empty() && changed.len() <= max_size => {
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
});

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
