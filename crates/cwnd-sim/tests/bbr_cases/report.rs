//! What a case found, for the table in `docs/bbr.md`.

/// A case of the draft's appendix.
pub struct Case {
    /// Its place there.
    pub number: usize,
    /// What it is about, in short.
    pub title: &'static str,
    /// Runs it: asserts all of its steps, and says what was measured.
    pub run: fn() -> Found,
}

/// What was measured.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// With `bbr3`.
    pub bbr3: String,
    /// With `bbr`, if it has what the case is about.
    pub bbr: Option<String>,
}

impl Found {
    /// Of `bbr3` alone: version 1 has nothing of that kind.
    pub fn bbr3(text: String) -> Found {
        Found { bbr3: text, bbr: None }
    }

    /// Of both.
    pub fn both(bbr3: String, bbr: String) -> Found {
        Found { bbr3, bbr: Some(bbr) }
    }
}

/// How far a measured value lies from the expected, as a fraction of that.
pub fn off(measured: f64, expected: f64) -> f64 {
    (measured - expected) / expected
}

/// The greatest distance of several, in percent, for the table.
pub fn percent(fraction: f64) -> String {
    let text = format!("{:.1}", 100.0 * fraction.abs());
    format!("{text} %")
}
