//! The section that lays the answers of two engines side by side.

use super::tables::{doubt, missing, unit};
use crate::engines::{CurveDeviation, Deviation, Pair};
use crate::figures::traces::Traces;
use crate::made_by;
use crate::measure::{Measure, Shown, decimals, half_text, number};
use crate::spread;
use crate::validity_warnings::{self, MARK};
use cwnd_study::Results;
use maud::{Markup, html};

/// What is meant by the numbers.
const RULE: &str = "Deviation: (simulator − kernel) / kernel, of the means over the repeats that both have, paired by \
                    seed, with its 95 % interval; bold where that does not have 0 in it.";
const CURVES: &str = "Of the mean window of the forward flows over time, in the first repeat that was recorded: how far the \
                      simulator's mean is from the kernel's, and the root of the mean square of the distance between the \
                      two curves, both over the kernel's mean.";

/// The section's body.
pub fn section(results: &Results, traces: &Traces, pairs: &[Pair]) -> Markup {
    let doubted = pairs.iter().filter(|pair| validity_warnings::of_cell(results, pair.kernel) > 0).count();
    html! {
        @if doubted > 0 {
            p {
                (doubted) " of " (pairs.len()) " pairs rest on runs of the kernel that are not valid, marked "
                (MARK) ": where the emulated network did not keep its times, a deviation tells nothing of the simulator."
            }
        }
        (metrics(results, pairs))
        (curves(results, traces, pairs))
    }
}

/// The table of the metrics that the study names.
fn metrics(results: &Results, pairs: &[Pair]) -> Markup {
    let names = results.study.metrics.iter();
    let columns: Vec<(Measure, Vec<Option<Deviation>>)> = names
        .map(|name| {
            let of = pairs.iter().map(|pair| Deviation::of(results, pair, name)).collect();
            (Measure::of_study(&results.study, name), of)
        })
        .filter(|(_, of): &(_, Vec<Option<Deviation>>)| of.iter().any(Option::is_some))
        .collect();
    if columns.is_empty() {
        return html! { p { "No pair of cells has been run by both engines yet." } };
    }
    let units: Vec<Shown> = columns
        .iter()
        .map(|(measure, of)| Shown::of(measure, of.iter().flatten().flat_map(|d| [d.sim, d.kernel])))
        .collect();
    let heads = html! {
        tr {
            th scope="col" data-sort rowspan="2" { "cell" }
            @for ((measure, _), shown) in columns.iter().zip(&units) {
                th.group scope="colgroup" colspan="3" { (measure.heading()) (unit(&shown.unit)) }
            }
        }
        tr {
            @for head in columns.iter().flat_map(|_| ["simulator", "kernel", "deviation"]) {
                th.number scope="col" data-sort { (head) }
            }
        }
    };
    let body = html! {
        @for (row, pair) in pairs.iter().enumerate() {
            tr {
                (label(results, pair))
                @for ((_, of), shown) in columns.iter().zip(&units) { (deviation(of[row].as_ref(), shown)) }
            }
        }
    };
    let wide = if columns.len() > 2 { " wide" } else { "" };
    let long = if pairs.len() > 40 { " long" } else { "" };
    let class = format!("table{long}{wide}");
    table(results, &class, "engines-metrics", "What both engines measured.", RULE, &heads, &body)
}

fn deviation(found: Option<&Deviation>, shown: &Shown) -> Markup {
    let Some(found) = found else { return html! { @for _ in 0..3 { (missing()) } } };
    let text = match found.relative {
        None if found.sim == found.kernel => "0 %".to_owned(),
        None => "\u{2013}".to_owned(),
        Some(relative) => percent(relative, found.half),
    };
    html! {
        @for value in [found.sim, found.kernel] {
            @let scaled = value * shown.factor;
            td.number data-v=(value) { (number(scaled, decimals(scaled, None))) }
        }
        td.number.best[found.is_significant()] data-v=[found.relative] { span.mean { (text) } }
    }
}

/// `+3.2 ± 1.1 %`
fn percent(relative: f64, half: Option<f64>) -> String {
    let (value, half) = (100.0 * relative, half.map(|half| 100.0 * half));
    // A tenth of a percent is the finest that means something here.
    let digits = decimals(value, half).min(1);
    let sign = if value > 0.0 { "+" } else { "" };
    match half {
        Some(half) => format!("{sign}{} ± {} %", number(value, digits), half_text(half, digits)),
        None => format!("{sign}{} %", number(value, digits)),
    }
}

/// The table of the curves, if any pair has been recorded.
fn curves(results: &Results, traces: &Traces, pairs: &[Pair]) -> Markup {
    let found = pairs.iter().filter_map(|pair| Some((pair, of_curves(results, traces, pair)?)));
    let found: Vec<(&Pair, CurveDeviation)> = found.collect();
    if found.is_empty() {
        return Markup::default();
    }
    let heads = html! {
        tr {
            th scope="col" data-sort { "cell" }
            @for head in ["mean deviation", "RMS distance", "times"] { th.number scope="col" data-sort { (head) } }
        }
    };
    let body = html! {
        @for (pair, found) in &found {
            tr {
                (label(results, pair))
                td.number data-v=(found.mean) { (percent(found.mean, None)) }
                td.number data-v=(found.rms) { (number(100.0 * found.rms, 1)) " %" }
                td.number data-v=(found.times) { (found.times) }
            }
        }
    };
    let title = "How far the windows are apart over time.";
    table(results, "table", "engines-curves", title, CURVES, &heads, &body)
}

/// How far the window curves of a pair are apart, if both were recorded.
pub fn of_curves(results: &Results, traces: &Traces, pair: &Pair) -> Option<CurveDeviation> {
    let (_, sim) = traces.of_cell(results, pair.sim).ok()?;
    let (_, kernel) = traces.of_cell(results, pair.kernel).ok()?;
    CurveDeviation::of_windows(&results.study.cells[pair.sim].scenario, sim, kernel)
}

fn label(results: &Results, pair: &Pair) -> Markup {
    let name = if pair.label.is_empty() { results.study.name.as_str() } else { &pair.label };
    html! {
        th scope="row" { (name) @if !spread::is_mean_valid(results, pair.kernel) { (doubt()) } }
    }
}

fn table(
    results: &Results,
    class: &str,
    id: &str,
    title: &str,
    rule: &str,
    heads: &Markup,
    body: &Markup,
) -> Markup {
    html! {
        figure class=(class) id=(id) {
            figcaption { p { span.title { (title) } " " (rule) } }
            div.scroll tabindex="0" role="group" aria-label=(title) {
                table { thead { (heads) } tbody { (body) } }
            }
            p.made { (made_by::line(results)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_a_sign_and_a_tenth_at_most() {
        assert_eq!(percent(0.0321, Some(0.0108)), "+3.2 ± 1.1 %");
        assert_eq!(percent(-0.5, None), "\u{2212}50 %");
        assert_eq!(percent(0.123_456, None), "+12.3 %");
        assert_eq!(percent(0.0, Some(0.0)), "0 ± 0 %");
        assert_eq!(percent(1.5, Some(12.7)), "+150 ± 1,270 %");
    }
}
