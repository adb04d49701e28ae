//! The section that lays the answers of two engines side by side.

use crate::engines::{CurveDeviation, Deviation, Pair};
use crate::figures::traces::Traces;
use crate::html::escape;
use crate::made_by;
use crate::measure::{Measure, Shown, decimals, half_text, number};
use crate::validity_warnings::{self, MARK};
use cwnd_study::Results;

/// What is meant by the numbers.
const RULE: &str = "Deviation: (simulator − kernel) / kernel, of the means over the repeats that both have, paired by \
                    seed, with its 95 % interval; bold where that does not have 0 in it.";
const CURVES: &str = "Of the mean window of the forward flows over time, in the first repeat that was recorded: how far the \
                      simulator's mean is from the kernel's, and the root of the mean square of the distance between the \
                      two curves, both over the kernel's mean.";

/// The section's body.
pub fn section(results: &Results, traces: &Traces, pairs: &[Pair]) -> String {
    let intro = match pairs.iter().filter(|pair| validity_warnings::of_cell(results, pair.kernel) > 0).count()
    {
        0 => String::new(),
        doubted => format!(
            "<p>{doubted} of {} pairs rest on runs of the kernel that are not to be believed, marked {MARK}: where the \
             emulated network did not keep its times, a deviation tells nothing of the simulator.</p>\n",
            pairs.len()
        ),
    };
    let made = format!("<p class=\"made\">{}</p>\n", escape(&made_by::line(results)));
    let mut out = intro + &metrics(results, pairs, &made);
    out += &curves(results, traces, pairs, &made);
    out
}

/// The table of the metrics that the study names.
fn metrics(results: &Results, pairs: &[Pair], made: &str) -> String {
    let names = results.study.metrics.iter();
    let columns: Vec<(&str, Measure, Vec<Option<Deviation>>)> = names
        .map(|name| {
            let of = pairs.iter().map(|pair| Deviation::of(results, pair, name)).collect();
            (name.as_str(), Measure::of_study(&results.study, name), of)
        })
        .filter(|(_, _, of): &(_, _, Vec<Option<Deviation>>)| of.iter().any(Option::is_some))
        .collect();
    if columns.is_empty() {
        return "<p>No pair of cells has been run by both engines yet.</p>\n".to_owned();
    }
    let units: Vec<Shown> = columns
        .iter()
        .map(|(_, measure, of)| Shown::of(measure, of.iter().flatten().flat_map(|d| [d.sim, d.kernel])))
        .collect();
    let (mut groups, mut heads) = (String::new(), String::new());
    for ((_, measure, _), shown) in columns.iter().zip(&units) {
        let unit = match shown.unit.as_str() {
            "" => String::new(),
            unit => format!(" <span class=\"unit\">{}</span>", escape(unit)),
        };
        groups += &format!(
            "<th scope=\"colgroup\" class=\"group\" colspan=\"3\">{}{unit}</th>",
            escape(&measure.heading())
        );
        for head in ["simulator", "kernel", "deviation"] {
            heads += &format!("<th scope=\"col\" class=\"number\" data-sort>{head}</th>");
        }
    }
    let mut body = String::new();
    for (row, pair) in pairs.iter().enumerate() {
        let mut cells = label(results, pair);
        for ((_, _, of), shown) in columns.iter().zip(&units) {
            cells += &deviation(of[row].as_ref(), shown);
        }
        body += &format!("<tr>{cells}</tr>\n");
    }
    let wide = if columns.len() > 2 { " wide" } else { "" };
    let long = if pairs.len() > 40 { " long" } else { "" };
    table(
        &format!("table{long}{wide}"),
        "engines-metrics",
        "What both engines measured.",
        RULE,
        &format!("<tr><th scope=\"col\" data-sort rowspan=\"2\">cell</th>{groups}</tr>\n<tr>{heads}</tr>\n"),
        &body,
        made,
    )
}

fn deviation(found: Option<&Deviation>, shown: &Shown) -> String {
    let Some(found) = found else {
        return "<td class=\"number missing\" title=\"missing\">\u{2013}</td>".repeat(3);
    };
    let value = |value: f64| {
        let scaled = value * shown.factor;
        format!("<td class=\"number\" data-v=\"{value}\">{}</td>", number(scaled, decimals(scaled, None)))
    };
    let text = match found.relative {
        None if found.sim == found.kernel => "0 %".to_owned(),
        None => "\u{2013}".to_owned(),
        Some(relative) => percent(relative, found.half),
    };
    let best = if found.is_significant() { " best" } else { "" };
    let sort = found.relative.map(|relative| format!(" data-v=\"{relative}\"")).unwrap_or_default();
    format!(
        "{}{}<td class=\"number{best}\"{sort}><span class=\"mean\">{text}</span></td>",
        value(found.sim),
        value(found.kernel)
    )
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
fn curves(results: &Results, traces: &Traces, pairs: &[Pair], made: &str) -> String {
    let mut body = String::new();
    for pair in pairs {
        let Some(found) = of_curves(results, traces, pair) else { continue };
        let cell = |value: f64, text: String| format!("<td class=\"number\" data-v=\"{value}\">{text}</td>");
        body += &format!(
            "<tr>{}{}{}{}</tr>\n",
            label(results, pair),
            cell(found.mean, percent(found.mean, None)),
            cell(found.rms, format!("{} %", number(100.0 * found.rms, 1))),
            cell(found.times as f64, found.times.to_string()),
        );
    }
    if body.is_empty() {
        return String::new();
    }
    let head = |text: &str| format!("<th scope=\"col\" class=\"number\" data-sort>{text}</th>");
    table(
        "table",
        "engines-curves",
        "How far the windows are apart over time.",
        CURVES,
        &format!(
            "<tr><th scope=\"col\" data-sort>cell</th>{}{}{}</tr>\n",
            head("mean deviation"),
            head("RMS distance"),
            head("times")
        ),
        &body,
        made,
    )
}

/// How far the window curves of a pair are apart, if both were recorded.
pub fn of_curves(results: &Results, traces: &Traces, pair: &Pair) -> Option<CurveDeviation> {
    let (_, sim) = traces.of_cell(results, pair.sim).ok()?;
    let (_, kernel) = traces.of_cell(results, pair.kernel).ok()?;
    CurveDeviation::of_windows(&results.study.cells[pair.sim].scenario, sim, kernel)
}

fn label(results: &Results, pair: &Pair) -> String {
    let mark = match validity_warnings::of_cell(results, pair.kernel) {
        0 => String::new(),
        _ => format!(" <span class=\"doubt\" title=\"not to be believed\">{MARK}</span>"),
    };
    let name = if pair.label.is_empty() { results.study.name.as_str() } else { &pair.label };
    format!("<th scope=\"row\">{}{mark}</th>", escape(name))
}

fn table(class: &str, id: &str, title: &str, rule: &str, heads: &str, body: &str, made: &str) -> String {
    format!(
        "<figure class=\"{class}\" id=\"{id}\">\n<figcaption><p><span class=\"title\">{}</span> {}</p></figcaption>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">\n<table>\n<thead>\n{heads}</thead>\n\
         <tbody>\n{body}</tbody>\n</table></div>\n{made}</figure>\n",
        escape(title),
        escape(rule),
        escape(title)
    )
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
