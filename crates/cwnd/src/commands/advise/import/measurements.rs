//! A CSV of measurements: `time,rate,rtt,loss`, in any order, of which some may be left out.
//!
//! A value has its unit in the cell (`94 Mbit/s`) or in the header (`rate (Mbit/s)`, or `rate [Mbit/s]`). Both are read by
//! the parser of the flags.

use super::{Finding, Import, buffer, decimals};
use cwnd_metrics::statistics::percentile;
use cwnd_scenario::{Probability, Rate, Time};

const COLUMNS: [&str; 4] = ["time", "rate", "rtt", "loss"];

/// Returns whether this is the header of the file.
pub fn is_header(line: &str) -> bool {
    line.split(',').any(|cell| COLUMNS[1..].contains(&split_unit(cell).0.as_str()))
}

/// The values of each column, in base units.
#[derive(Default)]
struct Columns {
    values: [Vec<f64>; 4],
    rows: usize,
    ignored: Vec<String>,
}

pub fn parse(text: &str) -> Result<Import, String> {
    let columns = read(text)?;
    let [time, rate, rtt, loss] = &columns.values;
    let found = |values: &[f64], name: &str, of: fn(&[f64]) -> Option<f64>, how: String| match of(values) {
        Some(value) => Finding::found(value, how),
        None => Finding::missing(format!("the file has no column `{name}` with values")),
    };
    let median = |values: &[f64]| percentile(values, 50.0);
    let least = |values: &[f64]| percentile(values, 0.0);
    let mean =
        |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let span = match (least(rate), percentile(rate, 100.0)) {
        (Some(least), Some(most)) => format!(
            "median of {} values from {} to {} Mbit/s; one constant rate is simulated",
            rate.len(),
            decimals(least / 1e6),
            decimals(most / 1e6)
        ),
        _ => String::new(),
    };
    let base = least(rtt);
    let rate = match found(rate, "rate", median, span) {
        Finding::Found { value, .. } if value < Rate::LEAST.0 as f64 => Finding::missing(format!(
            "the median of its {} rates is {value:.0} bit/s, as of a path that is mostly down; {} is the least",
            rate.len(),
            Rate::LEAST
        )),
        found => found,
    };
    let buffer = match (percentile(rtt, 100.0), base, rate.value()) {
        (Some(longest), Some(base), Some(rate)) => buffer(longest, base, rate, "greatest rtt of"),
        _ => Finding::missing("it takes both the columns `rate` and `rtt`"),
    };
    let over = match (least(time), percentile(time, 100.0)) {
        (Some(first), Some(last)) => format!(" over {} s", decimals(last - first)),
        _ => String::new(),
    };
    let ignored = match columns.ignored.as_slice() {
        [] => String::new(),
        ignored => format!("; ignored: {}", ignored.join(", ")),
    };
    Ok(Import {
        source: format!("CSV of {} rows{over}{ignored}", columns.rows),
        rate,
        rtt: found(rtt, "rtt", least, format!("least of {} values", rtt.len())),
        loss: found(loss, "loss", mean, format!("mean of {} values", loss.len())),
        buffer,
        trace: None,
    })
}

fn read(text: &str) -> Result<Columns, String> {
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut columns = Columns::default();
    let mut places: Vec<Option<(usize, String)>> = Vec::new();
    for header in &headers {
        let (name, unit) = split_unit(header);
        let place = COLUMNS.iter().position(|known| *known == name);
        if place.is_some_and(|place| places.iter().flatten().any(|(other, _)| *other == place)) {
            return Err(format!("line 1: the column `{name}` is there twice"));
        }
        if place.is_none() {
            columns.ignored.push(format!("`{header}`"));
        }
        places.push(place.map(|place| (place, unit)));
    }
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        columns.rows += 1;
        for (cell, place) in record.iter().zip(&places) {
            let Some((place, unit)) = place.as_ref().filter(|_| !cell.is_empty()) else { continue };
            let value = value(*place, cell, unit)
                .map_err(|why| format!("line {line}, column `{}`: `{cell}`: {why}", COLUMNS[*place]))?;
            columns.values[*place].push(value);
        }
    }
    match columns.rows {
        0 => Err("it has a header and no rows".to_owned()),
        _ => Ok(columns),
    }
}

/// Splits `rate (Mbit/s)` into its name and its unit, which may be empty.
fn split_unit(header: &str) -> (String, String) {
    let header = header.trim();
    let (name, unit) = header.split_once(['(', '[']).unwrap_or((header, ""));
    (name.trim().to_lowercase(), unit.trim_end_matches([')', ']']).trim().to_owned())
}

/// Reads a cell with the parser of the flags; a bare number has the unit of its header.
fn value(place: usize, cell: &str, unit: &str) -> Result<f64, String> {
    let text = match cell.parse::<f64>() {
        Ok(_) => format!("{cell} {unit}"),
        Err(_) => cell.to_owned(),
    };
    let text = text.trim();
    let parsed = match COLUMNS[place] {
        // In an outage, or before its end, less is delivered than the least rate of a link.
        "rate" => Rate::of_measurement(text).map(|rate| rate.0 as f64),
        "loss" => text.parse::<Probability>().map(Probability::value),
        // A Unix time is later than any time of a simulation, and needs no unit.
        "time" => match (unit, cell.parse::<f64>()) {
            ("" | "s", Ok(seconds)) if seconds.is_finite() => return Ok(seconds),
            _ => text.parse::<Time>().map(Time::as_secs_f64),
        },
        _ => text.parse::<Time>().map(Time::as_secs_f64),
    };
    parsed.map_err(|error| error.message)
}
