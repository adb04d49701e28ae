//! What made the results, and how to make them again.

use crate::html::definitions;
use crate::made_by;
use cwnd_study::{EngineKind, Results};
use maud::{Markup, html};

/// The section's body.
pub fn section(results: &Results) -> Markup {
    let (study, made) = (&results.study, &results.provenance);
    let seeds = made_by::seeds(study);
    let rows = [
        ("Study", html! { code { (study.name) } }),
        ("Seeds", html! { (seeds.split_once(' ').map_or("", |(_, seeds)| seeds)) }),
        ("Version", html! { "cwnd " (made.version) }),
        ("Commit", html! { @if let Some(commit) = &made.commit { code { (commit) } } @else { "not known" } }),
        ("Engine", html! { (made.engine) }),
    ];
    let same = match study.engines().into_iter().any(EngineKind::is_kernels) {
        false => "The same study, seeds and version give the same numbers, on any machine:",
        true => {
            "The same study, seeds and version give the simulator's numbers again, on any machine; the kernel's are \
             others each time:"
        }
    };
    html! {
        (definitions(&rows.map(|(term, value)| (term.to_owned(), value))))
        @if !made.command.is_empty() {
            p { (same) }
            pre.command { code { (made.command) } }
        }
        @if !study.text.is_empty() {
            details.study { summary { "The study file" } pre { code { (study.text) } } }
        }
    }
}
