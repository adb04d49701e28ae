//! The samples of a run, read back from Parquet.

use super::STATE;
use crate::input_file;
use crate::parquet::{self, ColumnValues, ReadColumn};
use crate::{StoreError, StoreErrorKind};
use cwnd_scenario::{Observed, Sample, SampleState, Time, Trace};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// The longest file that is read, bytes: a file is held in memory as a whole.
const MAX_LENGTH: u64 = 4_000_000_000;

/// Reads the Parquet file that [`write()`](super::write()) made of one run, if its SHA-256 is `sha256`: the decoder may
/// panic on damaged bytes. Sample times at which no flow had started have no row in the file, and so are not there; nor is a
/// value of an algorithm's state that was never known.
///
/// # Errors
/// If the file cannot be read, is longer than 4 GB, has another hash, or is not a samples file.
pub fn read(path: &Path, sha256: &[u8; 32]) -> Result<Trace, StoreError> {
    let bytes = input_file::read(path, MAX_LENGTH).map_err(|error| {
        let kind = if error.is_of_system { StoreErrorKind::Other } else { StoreErrorKind::Missing };
        StoreError::new(path, kind, format!("it cannot be read: {}", error.reason))
    })?;
    let damaged = |reason: &str| StoreError::new(path, StoreErrorKind::Damaged, reason);
    if Sha256::digest(&bytes)[..] != sha256[..] {
        return Err(damaged("it is torn, or was changed"));
    }
    from_bytes(bytes).map_err(|reason| damaged(&reason))
}

/// SHA-256 of the samples that a file of them has: what "the same trace" means, whatever version wrote it. The state of
/// algorithms is not part of it: traces of older versions lack it, and it follows from the scenario as the samples do.
pub fn digest(trace: &Trace) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut text = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    trace.queues.iter().for_each(|queue| text(queue));
    let mut last = None;
    for sample in &trace.samples {
        let Sample { time_index, flow, cwnd, ssthresh, rtt, delivered_bytes, in_flight, sent: _, state } =
            sample;
        if last != Some(*time_index) {
            last = Some(*time_index);
            hash.update(trace.times[*time_index].0.to_le_bytes());
            for length in &trace.queue_lengths[*time_index] {
                hash.update(length.to_le_bytes());
            }
        }
        for word in [
            *flow as u64,
            cwnd.to_bits(),
            ssthresh.to_bits(),
            rtt.map_or(u64::MAX, |rtt| rtt.0),
            *delivered_bytes,
            *in_flight,
        ] {
            hash.update(word.to_le_bytes());
        }
        hash.update(state.name());
    }
    hash.finalize().into()
}

/// Reads the bytes of a file of one run, as [`read`] does.
///
/// # Errors
/// If it is not a samples file.
pub(crate) fn from_bytes(bytes: Vec<u8>) -> Result<Trace, String> {
    let columns = parquet::read(bytes)?;
    let column = |name: &str| {
        let found = columns.iter().find(|column| column.name == name);
        found.map(|column| &column.values).ok_or_else(|| format!("it has no column `{name}`"))
    };
    let seeds = unsigned(column("seed")?)?;
    if seeds.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err("it holds several runs".to_owned());
    }
    let (times, flows) = (doubles(column("time_s")?)?, ints(column("flow")?)?);
    let (cwnd, ssthresh, rtt) =
        (doubles(column("cwnd")?)?, doubles(column("ssthresh")?)?, doubles(column("rtt_s")?)?);
    let (delivered, in_flight) = (ints(column("delivered_bytes")?)?, ints(column("in_flight")?)?);
    let states = texts(column("state")?)?;
    let queues: Vec<(&str, &[Option<i64>])> = columns.iter().filter_map(queue).collect();

    let observables: Vec<(&str, &[Option<f64>])> = columns.iter().filter_map(state_column).collect();

    let mut trace =
        Trace { queues: queues.iter().map(|(name, _)| (*name).to_owned()).collect(), ..Trace::default() };
    for row in 0..times.len() {
        let sample = || -> Option<(Time, Sample)> {
            let time = time((*times.get(row)?)?);
            let sample = Sample {
                time_index: 0,
                flow: usize::try_from((*flows.get(row)?)?).ok()?.checked_sub(1)?,
                cwnd: (*cwnd.get(row)?)?,
                ssthresh: ssthresh.get(row)?.unwrap_or(f64::INFINITY),
                rtt: rtt.get(row)?.map(self::time),
                delivered_bytes: (*delivered.get(row)?)? as u64,
                in_flight: (*in_flight.get(row)?)? as u64,
                sent: None,
                state: state(states.get(row)?.as_deref()?)?,
            };
            Some((time, sample))
        };
        let lengths = || -> Option<Vec<u32>> {
            queues.iter().map(|(_, values)| u32::try_from((*values.get(row)?)?).ok()).collect()
        };
        let wrong = || format!("its row {} is none that cwnd writes", row + 1);
        let (time, mut sample) = sample().ok_or_else(wrong)?;
        if trace.times.last() != Some(&time) {
            trace.times.push(time);
            trace.queue_lengths.push(lengths().ok_or_else(wrong)?);
        }
        sample.time_index = trace.times.len() - 1;
        trace.samples.push(sample);
    }
    trace.observed = observed(&trace, &observables);
    Ok(trace)
}

/// Returns the columns of states as a series for each flow that has one, by flow and name. Their rows are those of the samples.
fn observed(trace: &Trace, states: &[(&str, &[Option<f64>])]) -> Vec<Observed> {
    let mut series: BTreeMap<(usize, &str), Vec<f64>> = BTreeMap::new();
    for (name, column) in states {
        for (sample, value) in trace.samples.iter().zip(*column) {
            if let Some(value) = value {
                let series = series.entry((sample.flow, name));
                series.or_insert_with(|| vec![f64::NAN; trace.times.len()])[sample.time_index] = *value;
            }
        }
    }
    let named = |((flow, name), values): ((usize, &str), _)| Observed { flow, name: name.to_owned(), values };
    series.into_iter().map(named).collect()
}

fn state_column(column: &ReadColumn) -> Option<(&str, &[Option<f64>])> {
    let name = column.name.strip_prefix(STATE)?;
    Some((name, doubles(&column.values).ok()?))
}

fn queue(column: &ReadColumn) -> Option<(&str, &[Option<i64>])> {
    let name = column.name.strip_prefix("queue_")?;
    Some((name, ints(&column.values).ok()?))
}

/// Seconds are written as the nearest number to whole nanoseconds, which are fewer than 2^53: so this is exact.
fn time(seconds: f64) -> Time {
    Time((seconds * 1e9).round() as u64)
}

fn state(name: &str) -> Option<SampleState> {
    use SampleState::{Cwr, Disorder, Loss, Open, Recovery};
    [Open, Disorder, Cwr, Recovery, Loss].into_iter().find(|state| state.name() == name)
}

const OTHER_KIND: &str = "a column has another kind than cwnd writes";

fn doubles(values: &ColumnValues) -> Result<&[Option<f64>], String> {
    if let ColumnValues::Double(values) = values { Ok(values) } else { Err(OTHER_KIND.to_owned()) }
}

fn ints(values: &ColumnValues) -> Result<&[Option<i64>], String> {
    if let ColumnValues::Int(values) = values { Ok(values) } else { Err(OTHER_KIND.to_owned()) }
}

fn unsigned(values: &ColumnValues) -> Result<&[Option<u64>], String> {
    if let ColumnValues::Unsigned(values) = values { Ok(values) } else { Err(OTHER_KIND.to_owned()) }
}

fn texts(values: &ColumnValues) -> Result<&[Option<String>], String> {
    if let ColumnValues::Text(values) = values { Ok(values) } else { Err(OTHER_KIND.to_owned()) }
}

#[cfg(test)]
mod tests;
