//! The figures on the page: pictures in the text, with their samples where they can be zoomed.

use super::claim_list::Claims;
use super::page::Entry;
use super::{overview, samples};
use crate::figures::{self, Drawn, traces::Traces};
use crate::html::{inline, stop};
use crate::made_by;
use crate::series::SeriesStyles;
use cwnd_study::{Figure, FigureKind, Results};
use maud::{Markup, PreEscaped, html};

/// The section's body and its entries in the contents.
pub fn section(
    results: &Results,
    looks: &SeriesStyles,
    traces: &Traces,
    claims: &Claims<'_>,
    is_live: bool,
) -> (Markup, Vec<Entry>) {
    let figures = results.study.figures.iter().enumerate();
    let one = |(i, figure): (usize, &Figure)| {
        let (number, title) = (i + 1, figure.title.clone());
        let label = format!("Figure {number}");
        let id = format!("figure-{number}");
        let html = html! {
            (numbered(results, looks, traces, (&label, number), figure, is_live))
            (overview::of_figure(&claims.of(&id)))
        };
        (html, Entry { id, number: label, title })
    };
    let (figures, entries): (Vec<Markup>, Vec<Entry>) = figures.map(one).unzip();
    (html! { @for figure in figures { (figure) } }, entries)
}

/// A figure under a label, with a number that no other of the page has.
pub fn one(
    results: &Results,
    looks: &SeriesStyles,
    traces: &Traces,
    label: &str,
    number: usize,
    figure: &Figure,
) -> Markup {
    numbered(results, looks, traces, (label, number), figure, false)
}

fn numbered(
    results: &Results,
    looks: &SeriesStyles,
    traces: &Traces,
    (label, number): (&str, usize),
    figure: &Figure,
    is_live: bool,
) -> Markup {
    let drawn = figures::draw(results, figure, looks, traces);
    let made = match figure.kind {
        FigureKind::Model { .. } => "from a model; no run has a part in it".to_owned(),
        _ => made_by::line(results),
    };
    let svg = if is_live { drawn.grid.to_linked_svg() } else { drawn.grid.to_inline_svg() };
    captioned(drawn, &svg, (label, number), &figure.title, figure.caption.as_deref(), &made)
}

/// A picture with its caption.
pub fn with_caption(
    drawn: Drawn,
    label: &str,
    number: usize,
    title: &str,
    caption: Option<&str>,
    made: &str,
) -> Markup {
    let svg = drawn.grid.to_inline_svg();
    captioned(drawn, &svg, (label, number), title, caption, made)
}

fn captioned(
    drawn: Drawn,
    svg: &str,
    (label, number): (&str, usize),
    title: &str,
    caption: Option<&str>,
    made: &str,
) -> Markup {
    let samples = drawn.samples.as_ref().filter(|samples| samples::has_any(samples));
    html! {
        figure id={ "figure-" (number) } {
            div.picture tabindex="0" role="group" aria-label=(label) { (PreEscaped(svg)) }
            @if let Some(samples) = samples { (samples::embed(samples, number)) }
            figcaption {
                p {
                    b { (label) "." } " "
                    span.title { (inline(title)) (stop(title)) }
                    @if let Some(caption) = caption { " " (inline(caption)) (stop(caption)) }
                    @for note in &drawn.notes { " " (note) }
                }
                p.made { (made) }
            }
        }
    }
}
