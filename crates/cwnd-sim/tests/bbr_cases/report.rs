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

/// A fraction in percent, rounded up to a tenth, for the table.
pub fn percent(fraction: f64) -> String {
    format!("{:.1} %", (1000.0 * fraction.abs()).ceil() / 10.0)
}

/// Numbers, for the table.
pub fn list(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// Between these lines of the document stands the table.
const BEGIN: &str = "<!-- CWND_RENEW=1 cargo test -p cwnd-sim --test bbr_cases -->\n";
const END: &str = "<!-- end -->\n";

/// Holds the table in `docs/bbr.md` against what the cases find, or with `CWND_RENEW` writes it again.
pub fn check_document(cases: &[Case], found: &dyn Fn(usize) -> &'static Found) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/bbr.md");
    let text = std::fs::read_to_string(path).expect("docs/bbr.md is there");
    let (before, rest) = text.split_once(BEGIN).expect("the table begins");
    let (table, after) = rest.split_once(END).expect("the table ends");
    let row = |case: &Case| {
        let Found { bbr3, bbr } = found(case.number);
        format!("| {} | {} | {bbr3} | {} |\n", case.number, case.title, bbr.as_deref().unwrap_or("–"))
    };
    let head = "\n| | case | `bbr3` | `bbr` |\n|---|---|---|---|\n";
    let renewed = format!("{head}{}\n", cases.iter().map(row).collect::<String>());
    if std::env::var_os("CWND_RENEW").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{renewed}{END}{after}")).expect("it can be written");
        return;
    }
    let same = renewed == table;
    assert!(same, "docs/bbr.md is old: CWND_RENEW=1 cargo test -p cwnd-sim --test bbr_cases\n{renewed}");
}
