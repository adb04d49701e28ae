//! The sketch under a comparison's table: windows or throughputs over time.

use super::flags::{Flags, Sketched};
use crate::{
    failure::Failure,
    output::sketch::{self, Line, Panel},
    terminal,
};
use cwnd_plot::number::si;
use cwnd_report::sampled_throughput::{throughput, window};
use cwnd_scenario::{Sample, Trace};
use cwnd_study::{Results, Study};

/// More flows of a run than this are drawn as their mean.
const MOST_FLOWS: usize = 4;
/// Where standard output is no terminal, characters.
const USUAL_COLUMNS: usize = 80;

/// Returns the sketch of what the flags ask for; nothing where they ask for none, or no run was sampled.
///
/// # Errors
/// If a trace cannot be read.
pub fn of(flags: &Flags, results: &Results, labels: &[String]) -> Result<String, Failure> {
    let Some(what) = flags.sketched() else { return Ok(String::new()) };
    let mut panels = Vec::new();
    for run in results.runs.iter().filter(|run| run.repeat == 0) {
        let trace = run.read_trace().map_err(|error| Failure::store(&error))?;
        let lines = trace.map(|trace| lines(&results.study, run.cell, &trace, what)).unwrap_or_default();
        if !lines.is_empty() {
            panels.push(Panel { label: labels[run.cell].clone(), lines });
        }
    }
    let (title, unit): (_, &dyn Fn(f64) -> String) = match what {
        Sketched::Throughput => ("throughput (payload)", &|most| si(most, "bit/s")),
        _ => ("cwnd, packets", &|most| format!("{most:.0}")),
    };
    let many = panels.iter().any(|panel| panel.lines.len() > 1);
    let averaged = results.study.cells.iter().any(|cell| cell.scenario.lasting_flows() > MOST_FLOWS);
    let of = match (averaged, many) {
        (true, _) => format!(" (of more than {MOST_FLOWS} flows the mean)"),
        (false, true) => " of each flow".to_owned(),
        (false, false) => String::new(),
    };
    let end = results.study.cells.iter().map(|cell| cell.scenario.duration).max().unwrap_or_default();
    let text = sketch::text(&panels, end, unit, terminal::columns().unwrap_or(USUAL_COLUMNS));
    Ok(if text.is_empty() { text } else { format!("\n  {title}{of} over time\n\n{text}") })
}

/// Returns the lines of a run: one for each lasting flow, or their mean.
fn lines(study: &Study, cell: usize, trace: &Trace, what: Sketched) -> Vec<Line> {
    let scenario = &study.cells[cell].scenario;
    let flows: Vec<usize> = (0..scenario.flows.len()).filter(|flow| !scenario.flows[*flow].short).collect();
    let window = window(&trace.times);
    let mut lines: Vec<Line> = Vec::new();
    for flow in flows {
        let samples: Vec<&Sample> = trace.samples.iter().filter(|sample| sample.flow == flow).collect();
        let value = |i: usize| match what {
            Sketched::Throughput => throughput(&samples[..=i], &trace.times, window),
            _ => Some(samples[i].cwnd),
        };
        let point = |i: usize| Some((trace.times[samples[i].time_index].as_secs_f64(), value(i)?));
        lines.push((0..samples.len()).filter_map(point).collect());
    }
    if lines.len() > MOST_FLOWS { vec![mean(&lines)] } else { lines }
}

/// Returns the mean of lines at the times that any of them has, over those that have the time.
fn mean(lines: &[Line]) -> Line {
    let mut points: Vec<(f64, f64)> = lines.concat();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let same_time = points.chunk_by(|a, b| a.0 == b.0);
    same_time.map(|at| (at[0].0, at.iter().map(|point| point.1).sum::<f64>() / at.len() as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_over_the_flows_that_are_there() {
        assert_eq!(mean(&[vec![(0.0, 2.0), (1.0, 4.0)], vec![(1.0, 8.0)]]), [(0.0, 2.0), (1.0, 6.0)]);
    }
}
