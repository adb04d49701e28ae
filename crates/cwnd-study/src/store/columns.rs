//! What columns of the database hold: JSON, compressed in zlib's format.

use cwnd_metrics::SAMPLED_VERSION;
use cwnd_scenario::{Outcome, Scenario};
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    io::{Read, Write},
};

/// Version of the counts. A change of [`Outcome`] that this version's text does not fit counts it up.
const COUNTS_FORMAT: u32 = 1;

/// No column is longer than this, uncompressed: a damaged one could otherwise claim any length.
const MOST_BYTES: u64 = 1 << 30;

/// The counts of a run and the version of their format.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts<T> {
    format: u32,
    counts: T,
}

/// Metrics that were made from samples, by name, and the version of their definitions.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sampled<T> {
    version: u32,
    values: T,
}

/// Writes the counts of a scenario's outcome, without its samples.
///
/// # Errors
/// If the outcome has not one flow and one link for each of the scenario's, or a count is not finite.
pub(super) fn write_counts(scenario: &Scenario, outcome: &Outcome) -> Result<Vec<u8>, String> {
    let found = (outcome.flows.len(), outcome.links.len());
    let expected = (scenario.flows.len(), scenario.network.links.len());
    if found != expected {
        return Err(format!(
            "the engine answered with {} flows and {} links where the scenario has {} and {}",
            found.0, found.1, expected.0, expected.1
        ));
    }
    let text = serde_json::to_string(&Counts { format: COUNTS_FORMAT, counts: outcome });
    let text = text.map_err(|error| format!("the engine's counts cannot be stored: {error}"))?;
    // JSON has no text for a number that is not finite, and what cannot be read back must not be stored.
    serde_json::from_str::<Counts<Outcome>>(&text)
        .map_err(|error| format!("the engine's counts cannot be stored, one is not finite: {error}"))?;
    Ok(compress(&text))
}

/// Reads what [`write_counts`] wrote.
///
/// # Errors
/// If the counts are of another format, or not those of this scenario.
pub(super) fn read_counts(scenario: &Scenario, bytes: &[u8]) -> Result<Outcome, String> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let cannot = |why: &dyn std::fmt::Display| format!("its counts cannot be read ({why})");
    let text = decompress(bytes).ok_or_else(|| cannot(&"they are not compressed text"))?;
    let Format { format } = serde_json::from_str(&text).map_err(|error| cannot(&error))?;
    if format != COUNTS_FORMAT {
        return Err(format!("its counts have format {format}, and this version reads {COUNTS_FORMAT}"));
    }
    let Counts { counts, .. }: Counts<Outcome> =
        serde_json::from_str(&text).map_err(|error| cannot(&error))?;
    if (counts.flows.len(), counts.links.len()) != (scenario.flows.len(), scenario.network.links.len()) {
        return Err(cannot(&"they are of other flows and links"));
    }
    Ok(counts)
}

/// Writes metrics that were made from samples.
pub(super) fn write_sampled(values: &BTreeMap<String, f64>) -> Vec<u8> {
    let text = serde_json::to_string(&Sampled { version: SAMPLED_VERSION, values });
    compress(&text.expect("names are text"))
}

/// Reads what [`write_sampled`] wrote; none if another [`SAMPLED_VERSION`] defined them.
pub(super) fn read_sampled(bytes: &[u8]) -> Option<BTreeMap<String, f64>> {
    let sampled: Sampled<BTreeMap<String, f64>> = serde_json::from_str(&decompress(bytes)?).ok()?;
    (sampled.version == SAMPLED_VERSION).then_some(sampled.values)
}

pub(super) fn compress(text: &str) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    written.expect("a vector takes whatever is written")
}

/// Returns none if the bytes are not what [`compress`] makes of a text, or of too long a one.
pub(super) fn decompress(bytes: &[u8]) -> Option<String> {
    let mut text = String::new();
    let length = ZlibDecoder::new(bytes).take(MOST_BYTES).read_to_string(&mut text).ok()?;
    ((length as u64) < MOST_BYTES).then_some(text)
}
