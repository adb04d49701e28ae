//! What was asked, and what was found of it.

use super::claims::{self, Told};
use crate::html::{inline, paragraphs};
use cwnd_study::{Results, Study};
use maud::{Markup, html};

/// The question and where it comes from.
pub fn question(study: &Study) -> Markup {
    html! {
        div.question { (paragraphs(&study.question)) }
        @if let Some(source) = &study.source { p.source { "Source: " (inline(source)) } }
    }
}

/// The claims with their verdicts.
pub fn section(results: &Results) -> Markup {
    let told = Told::of(results, &|_| None);
    let judgements: Vec<_> = told.iter().map(|told| told.verdict.judgement).collect();
    html! {
        @if told.is_empty() {
            p { "The study claims nothing: what it found is in the figures and tables below." }
        } @else {
            p.tally { (claims::tally(&judgements)) }
            (claims::table(&html! { @for told in &told { (claims::row(told)) } }))
        }
    }
}
