//! The figures on the page: pictures in the text, with their samples where they can be zoomed.

use super::page::Entry;
use super::samples;
use crate::figures::{self, Drawn, traces::Traces};
use crate::html::{escape, inline};
use crate::made_by;
use crate::series::SeriesStyles;
use cwnd_study::{Figure, FigureKind, Results};

/// The section's body and its entries in the contents.
pub fn section(results: &Results, looks: &SeriesStyles, traces: &Traces) -> (String, Vec<Entry>) {
    let figures = results.study.figures.iter().enumerate();
    let one = |(i, figure): (usize, &Figure)| {
        let (number, title) = (i + 1, figure.title.clone());
        let label = format!("Figure {number}");
        let html = one(results, looks, traces, &label, number, figure);
        (html, Entry { id: format!("figure-{number}"), number: label, title })
    };
    figures.map(one).unzip()
}

/// A figure under a label, with a number that no other of the page has.
pub fn one(
    results: &Results,
    looks: &SeriesStyles,
    traces: &Traces,
    label: &str,
    number: usize,
    figure: &Figure,
) -> String {
    let drawn = figures::draw(results, figure, looks, traces);
    let made = match figure.kind {
        FigureKind::Model { .. } => "from a model; no run has a part in it".to_owned(),
        _ => made_by::line(results),
    };
    with_caption(drawn, label, number, &figure.title, figure.caption.as_deref(), &made)
}

/// A picture with its caption.
pub fn with_caption(
    drawn: Drawn,
    label: &str,
    number: usize,
    title: &str,
    caption: Option<&str>,
    made: &str,
) -> String {
    let sentence = |text: &str| if text.ends_with(['.', '!', '?']) { "" } else { "." };
    let caption = caption.iter().map(|text| format!(" {}{}", inline(text), sentence(text)));
    let notes = drawn.notes.iter().map(|note| format!(" {}", escape(note)));
    let notes: String = caption.chain(notes).collect();
    let embedded =
        drawn.samples.as_ref().filter(|s| samples::has_any(s)).map(|samples| samples::embed(samples, number));
    let label = escape(label);
    format!(
        "<figure id=\"figure-{number}\">\n<div class=\"picture\" tabindex=\"0\" role=\"group\" aria-label=\"{label}\">\n{}</div>\n{}\
         <figcaption><p><b>{label}.</b> <span class=\"title\">{}{}</span>{notes}</p>\n\
         <p class=\"made\">{}</p></figcaption>\n</figure>\n",
        drawn.grid.to_inline_svg(),
        embedded.unwrap_or_default(),
        inline(title),
        sentence(title),
        escape(made),
    )
}
