//! The recommendation as one JSON document.

use super::{
    criterion::Quantity,
    path::PathQuantity,
    ranking::{Neighbour, Row},
    text::Recommendation,
};
use crate::output::json;
use cwnd_metrics::{Better, statistics::Summary};
use serde_json::{Map, Value, json};

/// Returns the document, with a newline. All values are in base units: bit/s, seconds, bytes, shares of 1.
pub fn document(recommendation: &Recommendation<'_>, command: &str) -> String {
    let Recommendation { path, study, criterion, ranking, steps, .. } = recommendation;
    let stated = |all: &[PathQuantity]| -> Map<String, Value> {
        let value = |one: &PathQuantity| json!({ "value": one.text, "source": one.source });
        all.iter().map(|one| (one.key.to_owned(), value(one))).collect()
    };
    let choice = ranking.choice();
    json::pretty(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "command": command,
        "path": {
            "from": path.source,
            "quantities": stated(&path.quantities),
            "settings": stated(&path.settings),
            "rate_bps": path.rate().0,
            "base_rtt_s": path.rtt().as_secs_f64(),
            "bdp_bytes": path.bdp(),
            "buffer_bytes": path.buffer(),
        },
        "short_flows": study.short_flows,
        "duration_s": study.duration.as_secs_f64(),
        "warm_up_s": study.warm_up.as_secs_f64(),
        "repeats": recommendation.repeats,
        "criterion": {
            "for": criterion.to_string(),
            "about": criterion.about(),
            "better": if criterion.better() == Better::Less { "less" } else { "more" },
        },
        "ranking": ranking.rows.iter().enumerate().map(|(place, row)| of_row(place, row)).collect::<Vec<_>>(),
        "cubic_beside_cubic": of_neighbour(&ranking.reference),
        "recommended": choice.as_ref().ok().map(|(row, _)| row.spec.to_string()),
        "because": choice.as_ref().map_or_else(|why| why, |(_, why)| why),
        "steps": steps
            .iter()
            .map(|step| json!({ "command": step.command, "why": step.why, "done": step.done }))
            .collect::<Vec<_>>(),
    }))
}

fn of_row(place: usize, row: &Row) -> Value {
    let mut value = json!({
        "place": place + 1,
        "algorithm": row.spec.to_string(),
        "as_good_as_first": row.as_good_as_first,
        "on_host": row.on_host.word(),
        "value": interval(row.value),
        "difference_from_first": interval(row.difference),
        "loss_ratio": interval(row.loss),
        "cubic_beside": of_neighbour(&row.neighbour),
    });
    for (quantity, summary) in Quantity::ALL.into_iter().zip(&row.quantities) {
        let name = quantity.metric().rsplit('.').next().unwrap_or_default();
        value[name] = interval(*summary);
    }
    value
}

fn of_neighbour(neighbour: &Neighbour) -> Value {
    json!({
        "throughput_bps": interval(neighbour.throughput),
        "throughput_harm": interval(neighbour.throughput_harm),
        "throughput_harm_than_cubic": neighbour.verdicts[0].word(),
        "rtt_mean_s": interval(neighbour.rtt),
        "rtt_harm": interval(neighbour.rtt_harm),
        "rtt_harm_than_cubic": neighbour.verdicts[1].word(),
    })
}

fn interval(summary: Option<Summary>) -> Value {
    summary.map_or(
        Value::Null,
        |summary| json!({ "mean": summary.mean, "ci95": summary.ci95, "runs": summary.count }),
    )
}
