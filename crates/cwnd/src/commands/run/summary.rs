//! What came of a study, in some lines.

use super::progress::duration;
use crate::output;
use cwnd_report::{
    spread::{MOST_DEVIATION, Spread},
    table::{Align, Sacrifice, Table},
    validity_warnings,
};
use cwnd_study::{
    ClaimTest, Expectation, Results,
    claims::{self, Judgement, Verdict},
    runner::{Plan, RunSummary},
};
use std::path::Path;

/// How many failed runs are notified of.
const MOST_FAILURES: usize = 10;
/// How much of a claim's text stands in a table.
const WIDEST_CLAIM: usize = 72;

/// What the table of verdicts gives up on a narrow terminal.
const SACRIFICES: [Sacrifice; 2] = [Sacrifice::Shorten("claim", 24), Sacrifice::Drop("expected")];

/// What was run, what failed, the verdicts on the study's claims, and where the results are.
pub fn text(
    results: &Results,
    plan: &Plan,
    ran: &RunSummary,
    threads: usize,
    directory: &Path,
    page: Option<&Path>,
) -> String {
    let mut text = format!("\n  {}\n\n", what_was_run(plan, ran, threads));
    for (cell, repeat, reason) in ran.failures.iter().take(MOST_FAILURES) {
        let seed = results.study.seed.wrapping_add((*repeat).into());
        text += &format!("  failed: {} (seed {seed}): {reason}\n", results.study.cell_label(*cell));
    }
    if ran.failures.len() > MOST_FAILURES {
        text += &format!("  … and {} more\n", ran.failures.len() - MOST_FAILURES);
    }
    if !ran.failures.is_empty() {
        text.push('\n');
    }
    text += &ran_by(results);
    text += &doubted(results);
    text += &too_wide(results);
    if !results.study.claims.is_empty() {
        text += &format!("{}\n", output::fitted(verdicts(results), &SACRIFICES));
        text += &not_measured(results);
    }
    if let Some(page) = page {
        text += &format!("  report in {}\n", page.display());
    }
    text + &format!("  results in {}\n\n", directory.display())
}

/// What ran the algorithms of an emulated network.
fn ran_by(results: &Results) -> String {
    let ran =
        validity_warnings::implementations(results.runs.iter().filter_map(validity_warnings::emulation));
    if ran.is_empty() {
        return String::new();
    }
    let lines: String = ran.iter().map(|ran| format!("      {ran}\n")).collect();
    format!("  Over the kernel ran\n{lines}\n")
}

/// How many runs are not valid, and why, if any are.
fn doubted(results: &Results) -> String {
    let emulated = results.runs.iter().filter(|run| run.emulation.is_some()).count();
    let doubted = validity_warnings::runs(results);
    if doubted.is_empty() {
        return String::new();
    }
    let are = if doubted.len() == 1 { "is" } else { "are" };
    let mut text = format!("  (!) {} of {emulated} runs by the kernel {are} not valid:\n", doubted.len());
    let reasons = validity_warnings::reasons(doubted);
    for (why, places) in reasons.iter().take(MOST_FAILURES) {
        let more = if places.len() > 1 { format!(" and {} more", places.len() - 1) } else { String::new() };
        text += &format!("      {}{more}: {why}\n", validity_warnings::place(results, places[0]));
    }
    if reasons.len() > MOST_FAILURES {
        text += &format!("      … and {} more reasons\n", reasons.len() - MOST_FAILURES);
    }
    text + "\n"
}

/// Which cells have repeats over the kernel that differ too much, if any have.
fn too_wide(results: &Results) -> String {
    let cells = 0..results.study.cells.len();
    let spread = |cell| Some((cell, Spread::of_cell(results, cell)?));
    let spreads: Vec<(usize, Spread)> = cells.filter_map(spread).collect();
    let too_wide: Vec<_> = spreads.iter().filter(|(_, spread)| spread.is_too_wide()).collect();
    if too_wide.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "  (!) {} of {} means of the kernel's repeats are not valid: the throughput's standard deviation is more than {:.0} % of them\n",
        too_wide.len(),
        spreads.len(),
        MOST_DEVIATION * 100.0
    );
    for (cell, spread) in too_wide.iter().take(MOST_FAILURES) {
        text += &format!("      {}: {spread}\n", results.study.cell_label(*cell));
    }
    if too_wide.len() > MOST_FAILURES {
        text += &format!("      … and {} more\n", too_wide.len() - MOST_FAILURES);
    }
    text + "\n"
}

fn what_was_run(plan: &Plan, ran: &RunSummary, threads: usize) -> String {
    let threads = if threads > 1 { format!(" on {threads} threads") } else { String::new() };
    let mut parts = Vec::new();
    if ran.done > 0 {
        parts.push(format!(
            "{} {} done in {}{threads} ({:.1} s of CPU)",
            ran.done,
            if ran.done == 1 { "run" } else { "runs" },
            duration(ran.elapsed),
            ran.cpu_s
        ));
    }
    if ran.by_others > 0 {
        parts.push(format!("{} done by another process meanwhile", ran.by_others));
    }
    if plan.present > 0 {
        parts.push(match parts.is_empty() {
            true => format!("all {} runs were stored already", plan.present),
            false => format!("{} were stored already", plan.present),
        });
    }
    parts.join(", ")
}

fn verdicts(results: &Results) -> Table {
    let mut table = Table::new([
        ("claim", Align::Left),
        ("expected", Align::Right),
        ("measured", Align::Right),
        ("verdict", Align::Left),
    ])
    .indent(2);
    for verdict in claims::evaluate(results) {
        let claim = &results.study.claims[verdict.claim];
        let expected = match &claim.test {
            ClaimTest::NotTestable(_) => "\u{2013}".to_owned(),
            ClaimTest::Measured { expect, .. } => expected(expect),
        };
        let measured = measured(&verdict, &claim.test);
        table.row([shortened(&claim.text), expected, measured, verdict.judgement.name().to_owned()]);
    }
    table
}

/// Why claims could not be measured, if any could not: there is no value that could show it.
fn not_measured(results: &Results) -> String {
    let open = claims::evaluate(results).into_iter();
    let open = open.filter(|verdict| verdict.judgement == Judgement::NotMeasured);
    let lines: String = open
        .map(|verdict| {
            let claim = shortened(&results.study.claims[verdict.claim].text);
            format!("  not measured: {claim}\n      {}\n", verdict.ground)
        })
        .collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

fn expected(expect: &Expectation) -> String {
    match expect {
        Expectation::Within(range) => match (range.at_least, range.at_most) {
            (Some(least), Some(most)) => format!("{} to {}", number(least), number(most)),
            (Some(least), None) => format!("{} {}", if range.is_open { ">" } else { "≥" }, number(least)),
            (None, Some(most)) => format!("{} {}", if range.is_open { "<" } else { "≤" }, number(most)),
            (None, None) => String::new(),
        },
        Expectation::Gain(gain) => format!("gain {}", number(*gain)),
        Expectation::Printed { value, .. } => format!("printed {}", number(*value)),
    }
}

/// In the unit of what it is held against.
fn measured(verdict: &Verdict, test: &ClaimTest) -> String {
    let scale = match test {
        ClaimTest::Measured { expect: Expectation::Printed { scale, .. }, .. } => *scale,
        _ => 1.0,
    };
    match verdict.measured {
        None => "–".to_owned(),
        Some(summary) => match summary.ci95 {
            Some(half) => format!("{} ± {}", number(summary.mean * scale), number(half * scale)),
            None => number(summary.mean * scale),
        },
    }
}

/// Four significant digits at most.
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..7.0).contains(&magnitude) {
        return format!("{value:.2e}");
    }
    let decimals = (3.0 - magnitude).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= WIDEST_CLAIM {
        return line;
    }
    line.chars().take(WIDEST_CLAIM - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_scenario::{Emulation, Implementation, Time};
    use cwnd_study::{MetricValues, Provenance, RunResult, RunState, Study};

    #[test]
    fn numbers() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.123_456, "0.1235"),
            (-0.000_123_4, "-0.0001234"),
            (1.2e-7, "1.20e-7"),
            (941_234.0, "941234"),
            (9.412_34e8, "9.41e8"),
            (12.5, "12.5"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn invalid_runs_are_reported() {
        let text = "title = \"A\"\nquestion = \"B\"\n[scenario]\nstack = \"linux\"\n[run]\nengine = \"kernel\"\n\
                    [[axes]]\nname = \"v\"\nkey = \"algorithm\"\nvalues = [\"newreno\", \"cubic-linux\"]";
        let study = Study::parse("a", "a.toml", text, &|_| Ok(())).unwrap_or_else(|error| panic!("{error}"));
        let run = |cell: usize, validity_warnings: &[&str]| RunResult {
            cell,
            repeat: 0,
            seed: 1,
            state: RunState::Done(MetricValues::default()),
            trace: None,
            flows: Default::default(),
            emulation: Some(Box::new(Emulation {
                late_p50: Time::ZERO,
                late_p99: Time::ZERO,
                late_max: Time::ZERO,
                rate_error: None,
                steal: 0.0,
                validity_warnings: validity_warnings.iter().map(|doubt| (*doubt).to_owned()).collect(),
                host: String::new(),
                implementations: vec![Implementation { algorithm: "newreno".into(), by: "built-in".into() }],
            })),
        };
        let results =
            |runs: Vec<RunResult>| Results { study: study.clone(), runs, provenance: Provenance::default() };
        assert_eq!(doubted(&results(vec![run(0, &[]), run(1, &[])])), "");
        let ran = ran_by(&results(vec![run(0, &[]), run(1, &[])]));
        assert_eq!(ran, "  Over the kernel ran\n      newreno: built-in\n\n");
        assert_eq!(ran_by(&results(Vec::new())), "");
        assert_eq!(
            doubted(&results(vec![run(0, &[]), run(1, &["it was late"])])),
            "  (!) 1 of 2 runs by the kernel is not valid:\n      cubic-linux (seed 1): it was late\n\n"
        );
        assert_eq!(
            doubted(&results(vec![run(0, &["it was late", "it was slow"]), run(1, &["it was late"])])),
            "  (!) 2 of 2 runs by the kernel are not valid:\n      \
             newreno (seed 1) and 1 more: it was late\n      newreno (seed 1): it was slow\n\n"
        );
    }

    #[test]
    fn the_reason_of_a_claim_without_a_measure_is_shown() {
        let text = "title = \"A\"\nquestion = \"B\"\n[run]\nrepeats = 1\n[[axes]]\nname = \"v\"\nkey = \"algorithm\"\n\
                    values = [\"newreno\", \"cubic\"]\n\
                    [[claims]]\ntext = \"NewReno times out more.\"\nmeasure = \"gain\"\nmetric = \"timeouts\"\naxis = \"v\"\n\
                    of = \"newreno\"\nover = \"cubic\"\nexpect = \">= 0.1\"";
        let study = Study::parse("a", "a.toml", text, &|_| Ok(())).unwrap_or_else(|error| panic!("{error}"));
        let run = |cell: usize, timeouts: f64| RunResult {
            cell,
            repeat: 0,
            seed: 1,
            state: RunState::Done(MetricValues::from([("timeouts".to_owned(), timeouts)])),
            trace: None,
            flows: Default::default(),
            emulation: None,
        };
        let with = |timeouts: f64| {
            let runs = vec![run(0, 2.0), run(1, timeouts)];
            not_measured(&Results { study: study.clone(), runs, provenance: Provenance::default() })
        };
        assert_eq!(
            with(0.0),
            "  not measured: NewReno times out more.\n      the value to compare with is 0\n\n"
        );
        assert_eq!(with(1.0), "");
    }

    #[test]
    fn long_claims_are_cut() {
        assert_eq!(shortened("a\n  b"), "a b");
        assert_eq!(shortened(&"x".repeat(80)).chars().count(), WIDEST_CLAIM);
    }
}
