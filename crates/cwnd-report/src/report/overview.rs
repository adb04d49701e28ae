//! What was found, at a glance: a mark for each claim by the figure of the publication that it is of, and three lines.

use super::claim_list::{Claims, Group, Listed};
use super::claims::{self, Told, class, sign, tally};
use crate::explanation;
use crate::html::inline;
use cwnd_study::claims::Judgement;
use maud::{Markup, html};

/// The section's body; a sentence where nothing is claimed.
pub fn section(claims: &Claims<'_>) -> Markup {
    if claims.listed.is_empty() {
        return html! { p { "Nothing is claimed: what was found is in the figures and tables below." } };
    }
    let of_paper = judgements(claims, true);
    let own = judgements(claims, false);
    html! {
        (strips(claims))
        ul.found {
            li {
                @if !of_paper.is_empty() { span.tally { (tally(&of_paper)) } }
                @if !own.is_empty() {
                    @if !of_paper.is_empty() { " Claims of our own models and readings, counted apart: " }
                    span.tally.own { (tally(&own)) }
                }
            }
            li { (ends(claims)) }
            li { (unexplained(claims)) }
        }
    }
}

/// The judgements on the claims of publications, or on our own. Where a study has no claim of a publication they are not
/// told apart.
fn judgements(claims: &Claims<'_>, is_of_paper: bool) -> Vec<Judgement> {
    let of = claims.listed.iter().filter(|one| one.told.claim.is_of_publication() == is_of_paper);
    of.map(|one| one.told.verdict.judgement).collect()
}

/// A row for each group: its marks.
fn strips(claims: &Claims<'_>) -> Markup {
    let given = Judgement::ALL.into_iter();
    let given = given.filter(|of| claims.listed.iter().any(|one| one.told.verdict.judgement == *of));
    let of_group = |group: &Group| -> (usize, Vec<&Listed<'_>>) {
        let listed: Vec<&Listed<'_>> = group.claims.iter().map(|place| &claims.listed[*place]).collect();
        let good = listed.iter().filter(|one| class(one.told.verdict.judgement) == "good").count();
        (good, listed)
    };
    html! {
        figure.overview {
            dl {
                @for group in &claims.groups {
                    @let (good, listed) = of_group(group);
                    div {
                        dt { a href={ "#" (group.id) } { (inline(&group.title)) } }
                        dd { (marks(&listed)) " " span.count { (good) " of " (listed.len()) } }
                    }
                }
            }
            figcaption { p {
                "A mark for each claim, by where the claim is from; it leads to the claim. "
                @for judgement in given {
                    span class={ "key " (class(judgement)) } { span.mark aria-hidden="true" { (sign(judgement)) } " " (judgement.name()) } " "
                }
            } }
        }
    }
}

/// A mark for each claim, which leads to it.
pub fn marks(listed: &[&Listed<'_>]) -> Markup {
    html! {
        span.marks {
            @for one in listed {
                @let judgement = one.told.verdict.judgement;
                @let label = format!("{}: {}", judgement.name(), one.told.claim.text);
                a class={ "mark " (class(judgement)) } href={ "#" (one.id) } title=(label) aria-label=(label) { (sign(judgement)) }
            }
        }
    }
}

/// The claim whose number is closest to what is stated, and the one whose number is farthest from it.
fn ends(claims: &Claims<'_>) -> Markup {
    let of_paper: Vec<&Listed<'_>> =
        claims.listed.iter().filter(|one| one.told.claim.is_of_publication()).collect();
    let considered = if of_paper.is_empty() { claims.listed.iter().collect() } else { of_paper };
    // A claim that has no verdict yet is neither.
    let of = |good: bool, ratio: fn(&Told<'_>) -> Option<f64>| {
        let of_verdict = considered.iter().filter(move |one| {
            let judgement = one.told.verdict.judgement;
            has_verdict(judgement) && (class(judgement) == "good") == good
        });
        let distance = |ratio: f64| if ratio > 0.0 { ratio.ln().abs() } else { f64::INFINITY };
        of_verdict.filter_map(move |one| Some((*one, distance(ratio(&one.told)?))))
    };
    // The first of several that are alike.
    let closest = of(true, |told| told.ratio()).reduce(|best, one| if one.1 < best.1 { one } else { best });
    let farthest = |ratio: fn(&Told<'_>) -> Option<f64>| {
        of(false, ratio).reduce(|worst, one| if one.1 > worst.1 { one } else { worst })
    };
    // A number says more than a bound, which stands for words.
    let farthest = farthest(|told| told.ratio()).or_else(|| farthest(|told| told.ratio_to_bound()));
    html! {
        @if let Some((one, _)) = closest { "Closest to what is stated: " (told(one)) " " }
        @if let Some((one, _)) = farthest {
            "Farthest from " (if closest.is_some() { "it" } else { "what is stated" }) ": " (told(one))
        }
        @if closest.is_none() && farthest.is_none() { "No claim with a verdict states a number." }
    }
}

/// Whether a claim was judged by its measurement.
fn has_verdict(judgement: Judgement) -> bool {
    !matches!(judgement, Judgement::TooFewRepeats | Judgement::NotTestable | Judgement::NotMeasured)
}

/// A claim in a line, with what is stated and what was measured.
fn told(one: &Listed<'_>) -> Markup {
    let text = &one.told.claim.text;
    let text = text.trim_end_matches('.');
    html! {
        a href={ "#" (one.id) } { (inline(text)) }
        " (stated " (inline(&one.told.stated()))
        @if let Some(ours) = one.told.ours() { ", measured " (ours) }
        ")."
    }
}

/// How many claims differ, and how many of these are unexplained.
fn unexplained(claims: &Claims<'_>) -> Markup {
    let judgement = |one: &Listed<'_>| one.told.verdict.judgement;
    let open: Vec<&Listed<'_>> = claims.listed.iter().filter(|one| judgement(one).differs()).collect();
    let is_unexplained = |one: &&Listed<'_>| explanation::is_unexplained(one.told.claim, judgement(one));
    let without: Vec<&Listed<'_>> = open.iter().copied().filter(is_unexplained).collect();
    let of_those = |all: &str, is: &str| match open.len() {
        1 => "The claim that differs from what is stated ".to_owned() + is,
        count => format!("Of {count} claims that differ from what is stated{all}"),
    };
    html! {
        @if !claims.listed.iter().any(|one| has_verdict(one.told.verdict.judgement)) {
            "No claim has a verdict yet."
        } @else if open.is_empty() {
            "No claim with a verdict differs from what is stated."
        } @else if without.is_empty() {
            (of_those(" all have", "has")) " a reason that runs show."
        } @else {
            (of_those(&format!(", {} {}", without.len(), if without.len() == 1 { "is" } else { "are" }), "is"))
            " unexplained: "
            (marks(&without)) "."
        }
    }
}

/// The line below a figure with the claims that are of it; nothing if there are none.
pub fn of_figure(listed: &[&Listed<'_>]) -> Markup {
    html! {
        @if !listed.is_empty() {
            p.of-figure {
                (match listed.len() { 1 => "Its claim: ".to_owned(), count => format!("Its {count} claims: ") })
                (marks(listed))
            }
        }
    }
}

/// The rules in a paragraph.
pub fn rules() -> Markup {
    html! {
        p.of-study {
            "A stated gain is reproduced when ours reaches 80 % of it and is surely over 0 (95 %, paired by seed; \
             Holm-corrected where the greatest of several is meant), in direction only when it is but surely over 0; a \
             printed number when ours lies within 5 % of it or our interval has it; a range when ours lies in it."
        }
    }
}

/// The claims in one table, under what they are of.
pub fn list(claims: &Claims<'_>) -> Markup {
    let rows = html! {
        @for group in &claims.groups {
            tr.group id=(group.id) {
                th scope="rowgroup" colspan="4" {
                    (inline(&group.title))
                    @for (id, label) in &group.shown_in { " " a.back href={ "#" (id) } { "\u{2191} " (inline(label)) } }
                }
            }
            @for place in &group.claims { (claims::row(&claims.listed[*place])) }
        }
    };
    claims::table(&rows)
}
