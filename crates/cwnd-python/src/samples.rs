//! The samples of all runs as one table.

use crate::errors;
use arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use cwnd_scenario::Trace;
use cwnd_study::Results;
use cwnd_study::STATE;
use cwnd_study::export::axis_column;
use cwnd_study::trace_file::distinct;
use pyo3::prelude::*;
use std::sync::Arc;

/// Returns the columns: those of the axes, then those of a trace file (`cwnd compare --trace`). An axis whose name one of these has gets
/// `axis_` before its own.
///
/// # Errors
/// If a trace cannot be read.
pub fn columns(results: &Results) -> PyResult<Vec<(String, ArrayRef)>> {
    let mut traces: Vec<(usize, Arc<Trace>)> = Vec::new();
    for (place, run) in results.runs.iter().enumerate() {
        let trace = run.read_trace().map_err(|error| errors::store(&error))?;
        traces.extend(trace.map(|trace| (place, trace)));
    }
    let each = || {
        traces
            .iter()
            .flat_map(|(place, trace)| trace.samples.iter().map(move |sample| (*place, trace, sample)))
    };
    let mut axes: Vec<(String, ArrayRef)> = Vec::new();
    let study = &results.study;
    for (index, axis) in study.axes.iter().enumerate() {
        let label = |place: usize| {
            let cell = &study.cells[results.runs[place].cell];
            axis.points[cell.coordinates[index]].label.as_str()
        };
        let texts: StringArray = each().map(|(place, ..)| Some(label(place))).collect();
        axes.push((axis.name.clone(), Arc::new(texts)));
    }
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    let number = |values: Vec<Option<f64>>| -> ArrayRef { Arc::new(Float64Array::from(values)) };
    let count = |values: Vec<u64>| -> ArrayRef { Arc::new(UInt64Array::from(values)) };
    let mut add = |name: &str, values: ArrayRef| columns.push((name.to_owned(), values));
    add("seed", count(each().map(|(place, ..)| results.runs[place].seed).collect()));
    let time = |trace: &Trace, index: usize| Some(trace.times[index].as_secs_f64());
    add("time_s", number(each().map(|(_, trace, sample)| time(trace, sample.time_index)).collect()));
    add("flow", count(each().map(|(.., sample)| sample.flow as u64 + 1).collect()));
    add("cwnd", number(each().map(|(.., sample)| Some(sample.cwnd)).collect()));
    let finite = |value: f64| value.is_finite().then_some(value);
    add("ssthresh", number(each().map(|(.., sample)| finite(sample.ssthresh)).collect()));
    add("rtt_s", number(each().map(|(.., sample)| sample.rtt.map(|rtt| rtt.as_secs_f64())).collect()));
    add("delivered_bytes", count(each().map(|(.., sample)| sample.delivered_bytes).collect()));
    add("in_flight", count(each().map(|(.., sample)| sample.in_flight).collect()));
    let states: StringArray = each().map(|(.., sample)| Some(sample.state.name())).collect();
    add("state", Arc::new(states));
    for name in distinct(traces.iter().flat_map(|(_, trace)| trace.queues.iter().map(String::as_str))) {
        let length = |trace: &Trace, time: usize| {
            let queue = trace.queues.iter().position(|own| own == name)?;
            trace.queue_lengths[time].get(queue).map(|packets| f64::from(*packets))
        };
        let values = each().map(|(_, trace, sample)| length(trace, sample.time_index)).collect();
        add(&format!("queue_{name}"), number(values));
    }
    for name in
        distinct(traces.iter().flat_map(|(_, trace)| trace.observed.iter().map(|one| one.name.as_str())))
    {
        let value = |trace: &Trace, flow: usize, time: usize| {
            let own = trace.observed.iter().find(|one| one.flow == flow && one.name == name)?;
            own.values.get(time).copied().filter(|value| !value.is_nan())
        };
        let values = each().map(|(_, trace, sample)| value(trace, sample.flow, sample.time_index)).collect();
        add(&format!("{STATE}{name}"), number(values));
    }
    for (name, _) in &mut axes {
        *name = axis_column(name, |axis| columns.iter().any(|(column, _)| column == axis));
    }
    axes.append(&mut columns);
    Ok(axes)
}
