//! The figures on the page: pictures in the text, with their samples where they can be zoomed.

use super::html::{escape, inline};
use super::page::Entry;
use super::samples;
use crate::figures::{self, traces::Traces};
use crate::made_by;
use crate::series::Looks;
use cwnd_study::{Figure, Results};

/// The section's body and its entries in the contents.
pub fn section(results: &Results, looks: &Looks, traces: &Traces) -> (String, Vec<Entry>) {
    let figures = results.study.figures.iter().enumerate();
    figures.map(|(i, figure)| one(results, looks, traces, i + 1, figure)).unzip()
}

fn one(results: &Results, looks: &Looks, traces: &Traces, number: usize, figure: &Figure) -> (String, Entry) {
    let drawn = figures::draw(results, figure, looks, traces);
    let entry = Entry {
        id: format!("figure-{number}"),
        number: format!("Figure {number}"),
        title: figure.title.clone(),
    };
    let sentence = |text: &str| if text.ends_with(['.', '!', '?']) { "" } else { "." };
    let caption = figure.caption.iter().map(|text| format!(" {}{}", inline(text), sentence(text)));
    let notes = drawn.notes.iter().map(|note| format!(" {}", escape(note)));
    let notes: String = caption.chain(notes).collect();
    let embedded =
        drawn.samples.as_ref().filter(|s| samples::has_any(s)).map(|samples| samples::embed(samples, number));
    let html = format!(
        "<figure id=\"figure-{number}\">\n<div class=\"picture\" tabindex=\"0\" role=\"group\" aria-label=\"Figure {number}\">\n{}</div>\n{}\
         <figcaption><p><b>Figure {number}.</b> <span class=\"title\">{}{}</span>{notes}</p>\n\
         <p class=\"made\">{}</p></figcaption>\n</figure>\n",
        drawn.grid.to_inline_svg(),
        embedded.unwrap_or_default(),
        inline(&figure.title),
        sentence(&figure.title),
        escape(&made_by::line(results)),
    );
    (html, entry)
}
