//! What was asked, and what was found of it.

use super::claims::{self, Told};
use crate::html::{inline, paragraphs};
use cwnd_study::{Results, Study};

/// The question and where it comes from.
pub fn question(study: &Study) -> String {
    let mut out = format!("<div class=\"question\">\n{}</div>\n", paragraphs(&study.question));
    if let Some(source) = &study.source {
        out += &format!("<p class=\"source\">Source: {}</p>\n", inline(source));
    }
    out
}

/// The claims with their verdicts.
pub fn section(results: &Results) -> String {
    let told = Told::of(results);
    if told.is_empty() {
        return "<p>The study claims nothing: what it found is in the figures and tables below.</p>\n".into();
    }
    let judgements: Vec<_> = told.iter().map(|told| told.verdict.judgement).collect();
    let rows: String = told.iter().map(|told| claims::row(told, "")).collect();
    format!("<p class=\"tally\">{}</p>\n{}", claims::tally(&judgements), claims::table(&rows))
}
