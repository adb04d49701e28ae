//! The page around the sections: head, contents and style.

use super::digest::csp_hash;
use super::live::Live;
use super::theme;
use crate::html::{inline, without_controls};
use crate::spread::{MOST_DEVIATION, Spread};
use crate::{made_by, validity_warnings};
use cwnd_study::{FigureKind, Results, RunState};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");
const PLOT_STYLE: &str = include_str!("../../assets/uPlot.min.css");
const PLOT_SCRIPT: &str = include_str!("../../assets/uPlot.iife.min.js");

/// What stands at the head of a page.
pub struct Head {
    /// What the page is about, such as `Study`.
    pub kind: &'static str,
    /// Its short name, such as `agile-sd/throughput`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What made it: version and engine.
    pub generator: String,
    /// What stands below the title.
    pub below: Markup,
    /// Whether anything on the page can be zoomed.
    pub zooms: bool,
}

/// A page that is being made.
pub struct Page {
    head: Head,
    /// What the page needs to simulate runs itself, if it can.
    pub live: Option<Live>,
    contents: Vec<Markup>,
    sections: Vec<Markup>,
}

/// An entry of the contents below a section's.
pub struct Entry {
    /// The place in the page.
    pub id: String,
    /// Its number, such as `Figure 1`.
    pub number: String,
    /// Its title.
    pub title: String,
}

impl Head {
    /// The head of a study's page.
    pub fn of_study(results: &Results) -> Head {
        let study = &results.study;
        let title = if study.title.is_empty() { &study.name } else { &study.title };
        Head {
            kind: "Study",
            name: study.name.clone(),
            title: title.clone(),
            generator: made_by::version(results),
            below: status(results),
            zooms: zooms(results),
        }
    }
}

/// Whether any figure of a study shows something over time, which can be zoomed.
pub fn zooms(results: &Results) -> bool {
    results.study.figures.iter().any(|figure| matches!(figure.kind, FigureKind::Trace { .. }))
}

impl Page {
    pub fn new(head: Head) -> Page {
        Page { head, live: None, contents: Vec::new(), sections: Vec::new() }
    }

    /// Adds a section.
    pub fn section(&mut self, id: &str, title: &str, body: &Markup) {
        self.section_with(id, title, body, &[]);
    }

    /// Adds a section with entries of its own in the contents.
    pub fn section_with(&mut self, id: &str, title: &str, body: &Markup, entries: &[Entry]) {
        self.sections.push(html! {
            section id=(id) aria-labelledby={ (id) "-title" } {
                h2 id={ (id) "-title" } { (title) }
                (body)
            }
        });
        self.contents.push(html! {
            li {
                a href={ "#" (id) } { (title) }
                @if !entries.is_empty() { ol { @for Entry { id, number, title } in entries {
                    li { a href={ "#" (id) } { span { (number) } " " (title) } }
                } } }
            }
        });
    }

    /// Returns the whole page.
    pub fn finish(self) -> String {
        let Head { kind, name, title, generator, below, zooms } = self.head;
        let dark = theme::dark();
        let style = format!(
            "{}:root{{{}}}\n@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}{NIGHT}}}}}\n\
             @media screen{{:root[data-theme=dark]{{{dark}{NIGHT}}}}}\n{STYLE}{}",
            if zooms { PLOT_STYLE } else { "" },
            theme::light(),
            theme::rules()
        );
        let script = format!("{}\n{SCRIPT}", if zooms { PLOT_SCRIPT } else { "" });
        let live_policy = self.live.as_ref().map_or_else(String::new, |live| {
            // The script compiles the simulator's WebAssembly.
            format!(" '{}' 'wasm-unsafe-eval'", csp_hash(&live.script))
        });
        let policy = format!(
            "default-src 'none'; style-src '{}'; script-src '{}'{live_policy}; img-src data:; base-uri 'none'; form-action 'none'",
            csp_hash(&style),
            csp_hash(&script)
        );
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="generator" content=(generator);
                    link rel="icon" href="data:,";
                    title { (title) }
                    style { (PreEscaped(style)) }
                }
                body {
                    a.skip href="#top" { "Skip to the report" }
                    nav aria-label="Contents" { div.inner {
                        p.top { a href="#top" { (name) } }
                        ol { @for entry in self.contents { (entry) } }
                    } }
                    main #top {
                        header {
                            p.eyebrow { (kind) " " span { (name) } }
                            h1 { (inline(&title)) }
                            (below)
                        }
                        @for section in self.sections { (section) }
                    }
                    script { (PreEscaped(script)) }
                    @if let Some(live) = self.live {
                        script type="application/json" id="live-study" { (PreEscaped(live.study)) }
                        script { (PreEscaped(live.script)) }
                    }
                }
            }
        };
        without_controls(page.into_string())
    }
}

/// What else changes in the dark.
const NIGHT: &str = "--paper:#16181b;--sheet:#1d2024;--ink:#e6e5e1;--soft:#a9abad;--rule:#34383d;--accent:#7fb8e6;\
                     --good:#4cc79a;--half:#d9b44a;--bad:#f58b3c;--open:#b9bbbd;--warm:#2b2618;color-scheme:dark;";

/// How much of the study there is, and what made it.
fn status(results: &Results) -> Markup {
    let study = &results.study;
    let all = results.runs.len();
    let count = |wanted: fn(&RunState) -> bool| results.runs.iter().filter(|run| wanted(&run.state)).count();
    let done = count(|state| matches!(state, RunState::Done(_)));
    let failed = count(|state| matches!(state, RunState::Failed(_)));
    let cells = match study.cells.len() {
        1 => "1 scenario".to_owned(),
        n => format!("{n} scenarios"),
    };
    let repeats = match study.repeats {
        0 | 1 => "1 run each".to_owned(),
        n => format!("{n} repeats each ({})", made_by::seeds(study)),
    };
    let runs = match all {
        1 => "1 run".to_owned(),
        _ => format!("{} runs", cwnd_plot::number::thousands(all as f64, 0)),
    };
    html! {
        p.status {
            (cells) ", " (repeats) ": " (runs) "."
            @if let Some(reduced) = &study.reduced {
                " A part of the study, at the " (reduced.scale.to_string()) " scale: of " (reduced.whole.cells.len())
                " scenarios with " (reduced.whole.repeats) " repeats each."
            }
            " " (made_by::version(results)) "."
        }
        (incomplete(results, done, failed))
        (doubtful(results))
        (too_wide(results))
    }
}

/// How many runs are not valid, and why, if any are.
pub fn doubtful(results: &Results) -> Markup {
    let doubted = validity_warnings::runs(results);
    if doubted.is_empty() {
        return Markup::default();
    }
    let emulated = results.runs.iter().filter(|run| run.emulation.is_some()).count();
    html! {
        div.incomplete.doubtful role="note" {
            p {
                strong { "Not all runs are valid." }
                " Of " (emulated) " runs by the kernel " (doubted.len()) @if doubted.len() == 1 { " is" } @else { " are" }
                " not, because the emulated network did not keep its times. What rests on them is marked "
                (validity_warnings::MARK) "."
            }
            ul {
                @for (why, runs) in validity_warnings::reasons(doubted).into_iter().take(REASONS) {
                    (reason(why, runs.iter().map(|run| validity_warnings::place(results, run)).collect()))
                }
            }
        }
    }
}

/// Which means rest on repeats that differ too much, if any do.
pub fn too_wide(results: &Results) -> Markup {
    let spread = |cell| Some((cell, Spread::of_cell(results, cell).filter(Spread::is_too_wide)?));
    let cells: Vec<(usize, Spread)> = (0..results.study.cells.len()).filter_map(spread).collect();
    if cells.is_empty() {
        return Markup::default();
    }
    html! {
        div.incomplete.doubtful role="note" {
            p {
                strong { "Not all means are valid." }
                " Repeats over the kernel differ by more than a standard deviation of "
                (MOST_DEVIATION * 100.0) " % of their mean throughput here:"
            }
            ul {
                @for (cell, spread) in cells.iter().take(REASONS) {
                    li { (results.study.cell_label(*cell)) ": " (spread.to_string()) }
                }
                @if cells.len() > REASONS { li { "and " (cells.len() - REASONS) " more" } }
            }
        }
    }
}

/// The most validity warnings that the page lists.
const REASONS: usize = 20;

/// What is missing of the runs of a study, if anything is.
fn incomplete(results: &Results, done: usize, failed: usize) -> Markup {
    let all = results.runs.len();
    if done >= all {
        return Markup::default();
    }
    let missing = all - done - failed;
    let mut parts = Vec::new();
    if missing > 0 {
        parts.push(format!("{missing} {} not done yet", if missing == 1 { "is" } else { "are" }));
    }
    if failed > 0 {
        parts.push(format!("{failed} failed"));
    }
    html! {
        div.incomplete role="note" {
            p {
                strong { "This report is not complete." }
                " Of " (all) @if all == 1 { " run, " } @else { " runs, " } (parts.join(" and ")) "."
            }
            (failures(results))
        }
    }
}

/// Each reason of a failure once, with the first cells that it befell.
fn failures(results: &Results) -> Markup {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for run in &results.runs {
        let RunState::Failed(why) = &run.state else { continue };
        let place = format!("{}, seed {}", results.study.cell_label(run.cell), run.seed);
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, places)) => places.push(place),
            None => reasons.push((why, vec![place])),
        }
    }
    html! {
        @if !reasons.is_empty() {
            ul { @for (why, places) in reasons { (reason(why, places)) } }
        }
    }
}

/// A reason, and the first places at which it holds.
fn reason(why: &str, places: Vec<String>) -> Markup {
    const NAMED: usize = 5;
    let named = &places[..places.len().min(NAMED)];
    let more = places.len() - named.len();
    html! {
        li {
            (inline(why)) " "
            span.where { "(" (named.join("; ")) @if more > 0 { " and " (more) " more" } ")" }
        }
    }
}
