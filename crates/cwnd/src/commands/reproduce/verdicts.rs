//! The verdicts on the claims of papers as rows: written for other programs, and stored in the program at the paper's scale.

use super::library::{Book, short};
use crate::engines;
use crate::failure::Failure;
use cwnd_metrics::statistics::Summary;
use cwnd_report::explanation;
use cwnd_report::report::{PaperResults, PaperStudy, StoredVerdict};
use cwnd_study::claims::{self, Judgement};
use cwnd_study::{Claim, ClaimTest, Expectation, Reason, RunScale, Study};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

include!(concat!(env!("OUT_DIR"), "/verdicts.rs"));

/// A claim of a paper with what came of it. Values are in the metrics' own units, or in that of the printed number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The paper's name.
    pub paper: String,
    /// The study that checks it.
    pub study: String,
    /// How much of the study was run.
    pub scale: String,
    /// Its number in the study, from 1.
    pub claim: usize,
    /// Whether the paper claims it; else it is a claim of our own models and readings.
    pub of_paper: bool,
    /// What is claimed.
    pub text: String,
    /// What the paper states.
    pub stated: Option<String>,
    /// What was measured.
    pub measured: Option<f64>,
    /// The ends of its 95 % interval.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Over how many repeats.
    pub repeats: Option<usize>,
    /// The verdict.
    #[serde(serialize_with = "write_judgement", deserialize_with = "read_judgement")]
    pub verdict: Judgement,
    /// Whether the result differs, and no mechanism is known.
    pub unexplained: bool,
    /// Why the verdict is as it is.
    pub why: String,
    /// The commit of the program that made it, if known.
    pub commit: Option<String>,
    /// What identifies its rule and its runs: [`claims::fingerprint`].
    pub fingerprint: String,
}

fn write_judgement<S: Serializer>(judgement: &Judgement, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(judgement.name())
}

fn read_judgement<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Judgement, D::Error> {
    let name = String::deserialize(deserializer)?;
    Judgement::find(&name).ok_or_else(|| D::Error::custom(format!("there is no verdict `{name}`")))
}

/// Returns the verdicts on all claims of a paper.
pub fn rows(of: &PaperResults) -> Vec<Row> {
    of.studies.iter().flat_map(|study| study_rows(of, study)).collect()
}

fn study_rows(of: &PaperResults, study: &PaperStudy) -> Vec<Row> {
    let results = &study.results;
    let engines = engines::of_study(&results.study);
    let row = |verdict: claims::Verdict| {
        let claim = &results.study.claims[verdict.claim];
        let factor = factor(claim);
        let interval = verdict.measured.and_then(|measured| measured.interval());
        Row {
            paper: of.paper.name.clone(),
            study: study.name.clone(),
            scale: of.scale.name().to_owned(),
            claim: verdict.claim + 1,
            of_paper: claim.is_of_publication(),
            text: claim.text.clone(),
            stated: claim.stated.clone(),
            measured: verdict.measured.map(|measured| measured.mean * factor),
            low: interval.map(|(low, _)| low * factor),
            high: interval.map(|(_, high)| high * factor),
            repeats: verdict.measured.map(|measured| measured.count),
            verdict: verdict.judgement,
            unexplained: explanation::is_unexplained(claim, verdict.judgement),
            why: explanation::why(results, claim, &verdict, &|name| of.results(name)),
            commit: results.provenance.commit.clone(),
            fingerprint: claims::fingerprint(&results.study, claim, &engines),
        }
    };
    claims::evaluate(results).into_iter().map(row).collect()
}

/// What measures are multiplied by to be in the unit of a printed number.
fn factor(claim: &Claim) -> f64 {
    match &claim.test {
        ClaimTest::Measured { expect: Expectation::Printed { scale, .. }, .. } => *scale,
        _ => 1.0,
    }
}

/// Writes rows as CSV (RFC 4180, with line feeds).
///
/// # Errors
/// If a row cannot be written, which does not happen.
pub fn csv(rows: &[Row]) -> Result<String, Failure> {
    let wrong = |error: &dyn std::fmt::Display| Failure::broken(format!("verdicts as CSV: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).map_err(|error| wrong(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| wrong(&error))?;
    String::from_utf8(bytes).map_err(|error| wrong(&error))
}

/// Returns the verdicts at the paper's scale that are stored in the program.
///
/// # Errors
/// If the stored file is wrong, which a test of the program detects.
pub fn stored() -> Result<Vec<Row>, Failure> {
    let mut reader = csv::Reader::from_reader(STORED.as_bytes());
    let rows: Result<Vec<Row>, csv::Error> = reader.deserialize().collect();
    rows.map_err(|error| Failure::broken(format!("studies/verdicts.csv: {error}")))
}

/// Returns how the stored verdicts on a paper's claims stand to its present studies, in a line: their tally, the commit that
/// made them, and how many claims have no stored verdict of their present rule and runs.
pub fn stored_line(book: &Book, stored: &[Row]) -> String {
    let of_book: Vec<Row> = stored.iter().filter(|row| row.paper == book.paper.name).cloned().collect();
    let Some(first) = of_book.first() else {
        return "no verdicts at the paper's scale are stored".to_owned();
    };
    let unexplained = of_book.iter().filter(|row| row.of_paper && row.unexplained).count();
    let mut line = format!("at the paper's scale: {}", tally(&of_book));
    if unexplained > 0 {
        line += &format!("; {unexplained} unexplained");
    }
    if let Some(commit) = &first.commit {
        line += &format!(" (commit {commit})");
    }
    let outdated = outdated(book, &of_book);
    if outdated > 0 {
        line += &format!("; {outdated} claims have changed since, or what they are measured from");
    }
    line
}

/// Returns how many claims of a paper have no stored verdict of their present rule and runs.
pub fn outdated(book: &Book, stored: &[Row]) -> usize {
    let claims: usize = book.studies.iter().map(|study| study.claims.len()).sum();
    claims - current(book, stored).len()
}

/// Returns the stored verdicts on claims of a paper that have the same rule and runs today.
pub fn current(book: &Book, stored: &[Row]) -> Vec<StoredVerdict> {
    let of_study = |study: &Study| {
        let study = study.at_scale(RunScale::Paper);
        let engines = engines::of_study(&study);
        let name = short(&study).to_owned();
        let of_claim = |claim: &Claim| {
            let is_same =
                |row: &&Row| row.paper == book.paper.name && row.study == name && row.text == claim.text;
            let row = stored.iter().find(is_same)?;
            let is_current = row.fingerprint == claims::fingerprint(&study, claim, &engines);
            is_current.then(|| stored_verdict(claim, row))
        };
        study.claims.iter().filter_map(of_claim).collect::<Vec<StoredVerdict>>()
    };
    book.studies.iter().flat_map(of_study).collect()
}

fn stored_verdict(claim: &Claim, row: &Row) -> StoredVerdict {
    let factor = factor(claim);
    let summary = |measured: f64| Summary {
        count: row.repeats.unwrap_or(1),
        mean: measured / factor,
        standard_deviation: None,
        standard_error: None,
        ci95: row.low.zip(row.high).map(|(low, high)| (high - low) / 2.0 / factor),
    };
    StoredVerdict {
        study: row.study.clone(),
        claim: row.text.clone(),
        judgement: row.verdict,
        measured: row.measured.map(summary),
    }
}

/// Returns what is wrong with the reasons of claims, given verdicts at the paper's scale: a reason of a claim that is
/// reproduced, and a claim that differs without a reason.
pub fn wrong_reasons(book: &Book, rows: &[Row]) -> Vec<String> {
    let mut wrong = Vec::new();
    for study in &book.studies {
        let name = short(study);
        for claim in &study.claims {
            let same =
                |row: &&Row| row.paper == book.paper.name && row.study == name && row.text == claim.text;
            let Some(row) = rows.iter().find(same) else { continue };
            let place = format!("{}/{name}, claim {} ({})", row.paper, row.claim, claim.text);
            let word = match &claim.reason {
                Some(Reason::Because(_)) => Some("because"),
                Some(Reason::Unexplained(_)) => Some("unexplained"),
                None => None,
            };
            match (word, row.verdict) {
                (Some(word), Judgement::Reproduced) => {
                    wrong.push(format!("{place}: it is reproduced, and has `{word}`"));
                }
                (None, Judgement::DirectionOnly | Judgement::NotReproduced) => {
                    wrong.push(format!(
                        "{place}: it is {}, and has neither `because` nor `unexplained`",
                        row.verdict.name()
                    ));
                }
                _ => {}
            }
        }
    }
    wrong
}

/// Counts the verdicts on the claims of papers: `7 reproduced, 2 not reproduced`; claims of our own are counted apart.
pub fn tally(rows: &[Row]) -> String {
    let count = |of_paper: bool| {
        let part = |judgement: Judgement| {
            let count =
                rows.iter().filter(|row| row.of_paper == of_paper && row.verdict == judgement).count();
            (count > 0).then(|| format!("{count} {}", judgement.name()))
        };
        Judgement::ALL.into_iter().filter_map(part).collect::<Vec<String>>().join(", ")
    };
    match (count(true), count(false)) {
        (none, own) if none.is_empty() && own.is_empty() => "nothing is claimed".to_owned(),
        (of_papers, own) if own.is_empty() => of_papers,
        (none, own) if none.is_empty() => format!("our own: {own}"),
        (of_papers, own) => format!("{of_papers}; our own: {own}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_verdicts_are_of_claims_that_exist_and_have_fitting_reasons() {
        let (Ok(stored), Ok(library)) = (stored(), super::super::library::load()) else {
            panic!("a file is wrong: `cwnd reproduce` says which")
        };
        assert!(stored.iter().all(|row| row.scale == "paper"));
        let exists = |row: &Row| {
            let book = library.iter().find(|book| book.paper.name == row.paper);
            let studies = book.into_iter().flat_map(|book| &book.studies);
            let study = studies.into_iter().find(|study| short(study) == row.study);
            study.is_some_and(|study| study.claims.iter().any(|claim| claim.text == row.text))
        };
        let gone: Vec<&Row> = stored.iter().filter(|row| !exists(row)).collect();
        assert!(gone.is_empty(), "{gone:#?}");
        let wrong: Vec<String> = library.iter().flat_map(|book| wrong_reasons(book, &stored)).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert_eq!(tally(&[]), "nothing is claimed");
    }
}
