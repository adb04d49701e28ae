//! The page around the sections: head, contents and style.

use super::digest::csp_hash;
use super::theme;
use crate::html::{escape, inline};
use crate::{made_by, validity_warnings};
use cwnd_study::{FigureKind, Results, RunState};

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
    /// What stands below the title, as HTML.
    pub below: String,
    /// Whether anything on the page can be zoomed.
    pub zooms: bool,
}

/// A page that is being made.
pub struct Page {
    head: Head,
    contents: String,
    body: String,
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
        Page { head, contents: String::new(), body: String::new() }
    }

    /// Adds a section. The body is HTML.
    pub fn section(&mut self, id: &str, title: &str, body: &str) {
        self.section_with(id, title, body, Vec::new());
    }

    /// Adds a section with entries of its own in the contents.
    pub fn section_with(&mut self, id: &str, title: &str, body: &str, entries: Vec<Entry>) {
        let (id, title) = (escape(id), escape(title));
        self.body += &format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n{body}</section>\n"
        );
        self.contents += &format!("<li><a href=\"#{id}\">{title}</a>");
        if !entries.is_empty() {
            let entry = |e: &Entry| {
                format!(
                    "<li><a href=\"#{}\"><span>{}</span> {}</a></li>\n",
                    escape(&e.id),
                    escape(&e.number),
                    escape(&e.title)
                )
            };
            self.contents += &format!("\n<ol>\n{}</ol>", entries.iter().map(entry).collect::<String>());
        }
        self.contents += "</li>\n";
    }

    /// The whole page.
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
        let policy = format!(
            "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
            csp_hash(&style),
            csp_hash(&script)
        );
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"generator\" content=\"{generator}\">\n<link rel=\"icon\" href=\"data:,\">\n\
             <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#top\">Skip to the report</a>\n\
             <nav aria-label=\"Contents\"><div class=\"inner\">\n<p class=\"top\"><a href=\"#top\">{name}</a></p>\n\
             <ol>\n{contents}</ol>\n</div></nav>\n\
             <main id=\"top\">\n<header>\n<p class=\"eyebrow\">{kind} <span>{name}</span></p>\n<h1>{heading}</h1>\n{below}</header>\n\
             {body}</main>\n<script>{script}</script>\n</body>\n</html>\n",
            generator = escape(&generator),
            name = escape(&name),
            heading = inline(&title),
            title = escape(&title),
            contents = self.contents,
            body = self.body,
        )
    }
}

/// What else changes in the dark.
const NIGHT: &str = "--paper:#16181b;--sheet:#1d2024;--ink:#e6e5e1;--soft:#a9abad;--rule:#34383d;--accent:#7fb8e6;\
                     --good:#4cc79a;--half:#d9b44a;--bad:#f58b3c;--open:#b9bbbd;--warm:#2b2618;color-scheme:dark;";

/// How much of the study there is, and what made it.
fn status(results: &Results) -> String {
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
    let part = match &study.reduced {
        None => String::new(),
        Some(reduced) => format!(
            " A part of the study, at the {} scale: of {} scenarios with {} repeats each.",
            reduced.scale,
            reduced.whole.cells.len(),
            reduced.whole.repeats
        ),
    };
    let out = format!(
        "<p class=\"status\">{cells}, {repeats}: {}.{part} {}</p>\n",
        if all == 1 {
            "1 run".to_owned()
        } else {
            format!("{} runs", cwnd_plot::number::thousands(all as f64, 0))
        },
        escape(&format!("{}.", made_by::version(results)))
    );
    out + &incomplete(results, done, failed) + &doubtful(results)
}

/// How many runs are not to be believed, and why, if any are.
pub fn doubtful(results: &Results) -> String {
    let doubted = validity_warnings::runs(results);
    if doubted.is_empty() {
        return String::new();
    }
    let emulated = results.runs.iter().filter(|run| run.emulation.is_some()).count();
    let are = if doubted.len() == 1 { "is" } else { "are" };
    let head = format!(
        "<strong>Not all of it is to be believed.</strong> Of {emulated} runs by the kernel {} {are} not, because the \
         emulated network did not keep its times. What rests on them is marked {}.",
        doubted.len(),
        validity_warnings::MARK
    );
    let items: Vec<String> = (validity_warnings::reasons(doubted).into_iter().take(REASONS))
        .map(|(why, runs)| {
            let places = runs.iter().map(|run| validity_warnings::place(results, run)).collect();
            reason(why, places)
        })
        .collect();
    format!(
        "<div class=\"incomplete doubtful\" role=\"note\"><p>{head}</p>\n<ul>\n{}</ul>\n</div>\n",
        items.concat()
    )
}

/// The most validity warnings that the page lists.
const REASONS: usize = 20;

/// What is missing of the runs of a study, if anything is.
fn incomplete(results: &Results, done: usize, failed: usize) -> String {
    let (mut out, all) = (String::new(), results.runs.len());
    if done < all {
        let missing = all - done - failed;
        let runs = |n: usize| if n == 1 { "run".to_owned() } else { "runs".to_owned() };
        let mut parts = Vec::new();
        if missing > 0 {
            parts.push(format!("{missing} {} not done yet", if missing == 1 { "is" } else { "are" }));
        }
        if failed > 0 {
            parts.push(format!("{failed} failed"));
        }
        out += &format!(
            "<div class=\"incomplete\" role=\"note\"><p><strong>This report is not complete.</strong> Of {all} {}, {}.</p>\n{}</div>\n",
            runs(all),
            parts.join(" and "),
            failures(results)
        );
    }
    out
}

/// Each reason of a failure once, with the first cells that it befell.
fn failures(results: &Results) -> String {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for run in &results.runs {
        let RunState::Failed(why) = &run.state else { continue };
        let place = format!("{}, seed {}", results.study.cell_label(run.cell), run.seed);
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, places)) => places.push(place),
            None => reasons.push((why, vec![place])),
        }
    }
    if reasons.is_empty() {
        return String::new();
    }
    let items = reasons.into_iter().map(|(why, places)| reason(why, places));
    format!("<ul>\n{}</ul>\n", items.collect::<String>())
}

/// A reason, and the first places at which it holds.
fn reason(why: &str, places: Vec<String>) -> String {
    const NAMED: usize = 5;
    let named = places.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    let more = places.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("<li>{} <span class=\"where\">({}{more})</span></li>\n", inline(why), escape(&named))
}
