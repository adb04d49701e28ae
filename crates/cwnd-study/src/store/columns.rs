//! What columns of the database hold: JSON, compressed in zlib's format.

use crate::key::json_with_capacity;
use cwnd_metrics::SAMPLED_VERSION;
use cwnd_scenario::{Outcome, Scenario};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use serde::{Deserialize, Serialize};
use std::{cell::RefCell, collections::BTreeMap};

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

/// Checks that counts are those of a scenario, and finite: JSON has no text for other numbers, and they would be shown as
/// results.
///
/// # Errors
/// If the outcome has not one flow and one link for each of the scenario's, or a count is not finite.
pub(super) fn check_counts(scenario: &Scenario, outcome: &Outcome) -> Result<(), String> {
    let found = (outcome.flows.len(), outcome.links.len());
    let expected = (scenario.flows.len(), scenario.network.links.len());
    if found != expected {
        return Err(format!(
            "the engine answered with {} flows and {} links where the scenario has {} and {}",
            found.0, found.1, expected.0, expected.1
        ));
    }
    let flows = outcome.flows.iter().enumerate().flat_map(|(i, flow)| {
        // There may be no threshold.
        let ssthresh = if flow.ssthresh == f64::INFINITY { 0.0 } else { flow.ssthresh };
        [flow.rtt_sum_s, flow.cwnd_integral, flow.cwnd, ssthresh].map(|count| ("flow", i + 1, count))
    });
    let links = outcome.links.iter().enumerate().map(|(i, link)| ("link", i + 1, link.waiting_integral));
    let emulation = outcome.emulation.iter().flat_map(|emulation| {
        [emulation.steal, emulation.rate_error.unwrap_or_default()].map(|count| ("emulation", 1, count))
    });
    match flows.chain(links).chain(emulation).find(|(.., count)| !count.is_finite()) {
        Some((what, number, count)) => {
            Err(format!("the engine's counts cannot be stored: one of {what} {number} is {count}"))
        }
        None => Ok(()),
    }
}

/// Writes the counts of a scenario's outcome, without its samples.
///
/// # Errors
/// If the outcome has not one flow and one link for each of the scenario's, or a count is not finite.
pub(super) fn write_counts(scenario: &Scenario, outcome: &Outcome) -> Result<Vec<u8>, String> {
    check_counts(scenario, outcome)?;
    let bytes = 768 * outcome.flows.len() + 192 * outcome.links.len();
    let text = json_with_capacity(bytes, &Counts { format: COUNTS_FORMAT, counts: outcome });
    let text = text.map_err(|error| format!("the engine's counts cannot be stored: {error}"))?;
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
    let read = serde_json::from_str::<Counts<Outcome>>(&text);
    let counts = match read {
        Ok(Counts { format: COUNTS_FORMAT, counts }) => counts,
        read => {
            let Format { format } = serde_json::from_str(&text).map_err(|error| cannot(&error))?;
            if format != COUNTS_FORMAT {
                return Err(format!(
                    "its counts have format {format}, and this version reads {COUNTS_FORMAT}"
                ));
            }
            read.map_err(|error| cannot(&error))?.counts
        }
    };
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
    let compressor = if text.len() < LARGE_BYTES { &COMPRESSOR } else { &FAST_COMPRESSOR };
    compressor.with_borrow_mut(|compressor| {
        compressor.reset();
        let mut bytes = Vec::with_capacity(FIRST_BYTES);
        loop {
            let rest = &text.as_bytes()[compressor.total_in() as usize..];
            match compressor.compress_vec(rest, &mut bytes, FlushCompress::Finish) {
                Ok(Status::StreamEnd) => return bytes,
                Ok(Status::Ok | Status::BufError) => bytes.reserve(bytes.capacity()),
                Err(error) => unreachable!("any bytes can be compressed: {error}"),
            }
        }
    })
}

/// Returns none if the bytes are not what [`compress`] makes of a text, or of too long a one.
pub(super) fn decompress(bytes: &[u8]) -> Option<String> {
    DECOMPRESSOR.with_borrow_mut(|decompressor| {
        decompressor.reset(true);
        let mut text = Vec::with_capacity(FIRST_BYTES);
        loop {
            let done = (decompressor.total_in(), decompressor.total_out());
            let rest = &bytes[done.0 as usize..];
            match decompressor.decompress_vec(rest, &mut text, FlushDecompress::None).ok()? {
                Status::StreamEnd => return String::from_utf8(text).ok(),
                // The text is longer than the memory for it, or the bytes end before it does.
                _ if text.len() == text.capacity() && decompressor.total_out() < MOST_BYTES => {
                    text.reserve(rest_of(bytes.len(), decompressor).max(text.capacity()));
                }
                _ if (decompressor.total_in(), decompressor.total_out()) == done => return None,
                _ => {}
            }
        }
    })
}

/// Estimates how many bytes of text are left in a column of `bytes` compressed bytes, from the ratio of the part that is
/// decompressed.
fn rest_of(bytes: usize, decompressor: &Decompress) -> usize {
    let (read, written) = (decompressor.total_in().max(1) as f64, decompressor.total_out() as f64);
    let rest = 1.05 * written * (bytes as f64 - read) / read;
    rest.min(MOST_BYTES as f64) as usize
}

/// The memory that a text or its compressed bytes have at first. It is at least doubled as long as it is too small.
const FIRST_BYTES: usize = 4 << 10;

/// Texts of this size and more are those of thousands of flows. Their entries hardly differ, so that a fast search finds what a slow one
/// does.
const LARGE_BYTES: usize = 1 << 20;

// All have tables of many kilobytes, which take longer to make than to use for a run of one flow.
thread_local! {
    static COMPRESSOR: RefCell<Compress> = RefCell::new(Compress::new(Compression::default(), true));
    static FAST_COMPRESSOR: RefCell<Compress> = RefCell::new(Compress::new(Compression::fast(), true));
    static DECOMPRESSOR: RefCell<Decompress> = RefCell::new(Decompress::new(true));
}
