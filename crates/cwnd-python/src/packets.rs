//! The packets of a run at its bottleneck as a table.

use crate::engine::Classes;
use crate::errors;
use crate::raised::{STEP, caught};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray, UInt64Array};
use cwnd_capture::default_points;
use cwnd_scenario::{Scenario, Time};
use cwnd_sim::{
    Options, Simulation,
    watch::{End, PacketEvent, PacketObserver, Point},
};
use pyo3::prelude::*;
use std::sync::Arc;

/// Runs a scenario once more, and returns what passed the two ends of its bottleneck and of the link against it.
///
/// # Errors
/// If it cannot be run, or Ctrl-C was pressed.
pub fn columns(scenario: &Scenario, classes: &Classes) -> PyResult<Vec<(String, ArrayRef)>> {
    let links = default_points(scenario).into_iter().map(|point| point.link);
    let ends = |link| [Point { link, end: End::Enter }, Point { link, end: End::Leave }];
    let points: Vec<Point> = links.flat_map(ends).collect();
    let options = Options { points: points.clone(), ..Options::default() };
    let mut recorded = Recorded { points, rows: Vec::new() };
    let mut interrupted = None;
    caught(|| {
        let mut simulation = Simulation::with_options(scenario, &|spec| classes.build(spec), &options)?;
        // In steps, so that Ctrl-C is seen.
        while simulation.now() < scenario.duration {
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                interrupted = Some(error);
                return Ok(());
            }
            let next = Time(simulation.now().0.saturating_add(STEP.0));
            simulation.run_observed(next.min(scenario.duration), &mut recorded);
        }
        simulation.end_observation(&mut recorded);
        simulation.failure().map_or(Ok(()), Err)
    })
    .and_then(|done| done)
    .map_err(errors::engine)?;
    if let Some(error) = interrupted {
        return Err(error);
    }
    let rows = &recorded.rows;
    let link = |row: &Row| Some(scenario.network.links[recorded.points[row.point].link].name.clone());
    let end = |row: &Row| match recorded.points[row.point].end {
        End::Enter => Some("enter"),
        End::Leave => Some("leave"),
    };
    let count = |value: fn(&Row) -> u64| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(value(row))).collect::<UInt64Array>())
    };
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("time_s", Arc::new(rows.iter().map(|row| Some(row.at as f64 / 1e9)).collect::<Float64Array>())),
        ("link", Arc::new(rows.iter().map(link).collect::<StringArray>())),
        ("end", Arc::new(rows.iter().map(end).collect::<StringArray>())),
        ("flow", count(|row| u64::from(row.channel / 2) + 1)),
        ("is_ack", Arc::new(rows.iter().map(|row| Some(row.channel % 2 == 1)).collect::<BooleanArray>())),
        ("segment", count(|row| u64::from(row.segment))),
        ("size_bytes", count(|row| u64::from(row.size))),
        ("marked", Arc::new(rows.iter().map(|row| Some(row.marked)).collect::<BooleanArray>())),
        ("dropped", Arc::new(rows.iter().map(|row| Some(row.dropped)).collect::<BooleanArray>())),
    ];
    Ok(columns.into_iter().map(|(name, values)| (name.to_owned(), values)).collect())
}

struct Row {
    point: usize,
    at: i64,
    channel: u32,
    segment: u32,
    size: u16,
    marked: bool,
    dropped: bool,
}

struct Recorded {
    points: Vec<Point>,
    rows: Vec<Row>,
}

impl PacketObserver for Recorded {
    fn on_packet(&mut self, event: &PacketEvent<'_>) {
        let packet = event.packet;
        self.rows.push(Row {
            point: event.point,
            at: event.at,
            channel: packet.channel,
            segment: packet.seq,
            size: packet.size,
            marked: packet.flags & cwnd_tcp::packet::CE != 0,
            dropped: event.dropped,
        });
    }
}
