//! What was asked.

use crate::html::{inline, paragraphs};
use cwnd_study::Study;
use maud::{Markup, html};

/// The question and where it comes from.
pub fn section(study: &Study) -> Markup {
    html! {
        div.question { (paragraphs(&study.question)) }
        @if let Some(source) = &study.source { p.source { "Source: " (inline(source)) } }
    }
}
