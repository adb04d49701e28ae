//! Completion times of short flows by their size.

use crate::estimate::Estimate;
use crate::made_by;
use crate::measure::{decimals, number};
use cwnd_metrics::SIZE_CLASSES;
use cwnd_study::Results;
use maud::{Markup, html};

const TITLE: &str = "Completion times of short flows by their size.";

/// The columns: the head, the metric that each is of, and what it is multiplied by.
const COLUMNS: [(&str, &str, f64); 5] = [
    ("completed (%)", "completion_ratio", 100.0),
    ("mean (ms)", "completion_time_s", 1e3),
    ("median (ms)", "completion_p50_s", 1e3),
    ("95th percentile (ms)", "completion_p95_s", 1e3),
    ("99th percentile (ms)", "completion_p99_s", 1e3),
];

/// A row: the label of a cell, a size in words, and a value for each column.
type Row = (String, &'static str, Vec<Option<f64>>);

/// The table; none if no run has short flows that completed.
pub fn section(results: &Results) -> Option<Markup> {
    let rows = rows(results);
    (!rows.is_empty()).then(|| {
        let long = if rows.len() > 40 { "table long" } else { "table" };
        html! {
            figure class=(long) id="completion-times" {
                figcaption { p {
                    span.title { (TITLE) } " "
                    "Milliseconds from the start of a short flow until its last byte was acknowledged. Each value is the mean over the "
                    "repeats; percentiles are of the flows of one run. Flows that were not completed have no time, so that where some were not, \
                    the times are those of the faster ones."
                } }
                div.scroll tabindex="0" role="group" aria-label=(TITLE) {
                table {
                    thead { tr {
                        th scope="col" data-sort { "cell" }
                        th scope="col" { "size" }
                        @for (head, ..) in COLUMNS { th.number scope="col" data-sort { (head) } }
                    } }
                    tbody {
                        @for (cell, size, values) in &rows {
                            tr {
                                th scope="row" { (cell) }
                                td { (size) }
                                @for value in values { (entry(*value)) }
                            }
                        }
                    }
                }
                }
                p.made { (made_by::line(results)) }
            }
        }
    })
}

fn entry(value: Option<f64>) -> Markup {
    match value {
        None => html! { td.number { "\u{2013}" } },
        Some(value) => html! { td.number data-v=(value) { (number(value, decimals(value, None).min(1))) } },
    }
}

fn rows(results: &Results) -> Vec<Row> {
    let study = &results.study;
    let mut rows = Vec::new();
    for cell in 0..study.cells.len() {
        for (class, words) in SIZE_CLASSES {
            let value = |metric: &str, scale: f64| {
                Some(scale * Estimate::of(results, &[cell], &format!("{class}.{metric}"))?.mean)
            };
            let values: Vec<Option<f64>> =
                COLUMNS.iter().map(|(_, metric, scale)| value(metric, *scale)).collect();
            if values.iter().any(Option::is_some) {
                rows.push((study.cell_label(cell), words, values));
            }
        }
    }
    rows
}
