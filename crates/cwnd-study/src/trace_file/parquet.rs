//! Traces as Parquet.

use std::io::{self, Write};

use cwnd_scenario::Sample;

use super::Columns;
use crate::TracedRun;
use crate::parquet::{Column, Kind, Value, Writer};

/// Writes a row for each sample.
pub(super) fn write(
    out: &mut (impl Write + Send),
    runs: &[TracedRun<'_>],
    columns: &Columns<'_>,
) -> io::Result<()> {
    let mut writer = Writer::new(out, schema(columns))?;
    for run in runs {
        let (places, states) = (columns.places(run), columns.states(run));
        for sample in &run.trace.samples {
            let lengths = &run.trace.queue_lengths[sample.time_index];
            let queues = places.iter().map(|place| Value::count(place.map(|i| lengths[i])));
            let states = columns.values(&states, sample).map(Value::double);
            writer.row(values(run, sample).into_iter().chain(queues).chain(states))?;
        }
    }
    writer.finish()?;
    Ok(())
}

fn schema(differing: &Columns<'_>) -> Vec<Column> {
    let column = |name: &str, kind, optional| Column { name: name.into(), kind, optional };
    let mut columns = vec![
        column("algorithm", Kind::Text, false),
        column("seed", Kind::Unsigned, false),
        column("time_s", Kind::Double, false),
        column("flow", Kind::Int, false),
        column("cwnd", Kind::Double, false),
        column("ssthresh", Kind::Double, true),
        column("rtt_s", Kind::Double, true),
        column("delivered_bytes", Kind::Int, false),
        column("in_flight", Kind::Int, false),
        column("state", Kind::Text, false),
    ];
    let kind = |is_state| if is_state { Kind::Double } else { Kind::Int };
    columns.extend(differing.names().map(|(name, is_state)| column(&name, kind(is_state), true)));
    columns
}

/// The values of a sample, in the order of [`schema`], up to the queues.
fn values<'a>(run: &TracedRun<'a>, sample: &Sample) -> [Value<'a>; 10] {
    [
        Value::Text(run.algorithm_of(sample.flow)),
        Value::Unsigned(run.seed),
        Value::Double(run.trace.times[sample.time_index].as_secs_f64()),
        Value::Int(sample.flow as i64 + 1),
        Value::Double(sample.cwnd),
        Value::double(Some(sample.ssthresh).filter(|s| s.is_finite())),
        Value::double(sample.rtt.map(|rtt| rtt.as_secs_f64())),
        Value::Int(sample.delivered_bytes as i64),
        Value::Int(sample.in_flight as i64),
        Value::Text(sample.state.name()),
    ]
}
