//! The worst cell of a section over time: a run of the candidate and one of the reference, with samples.

use super::{EnginesOf, plan};
use crate::{failure::Failure, output};
use cwnd_evaluate::{
    Ledger,
    candidate::AXIS,
    ledger::Entry,
    page::{Figure, deciding},
};
use cwnd_report::trace_figure;
use cwnd_scenario::{Outcome, Scenario, Time};
use cwnd_study::{EngineKind, Results, Study, TracedRun};
use std::{collections::BTreeMap, path::Path};

/// Samples of a run.
const SAMPLES: u64 = 300;

/// Draws the worst cell of the criterion that decides a row; none where nothing was measured.
///
/// # Errors
/// The engine does not run a cell that it has run before.
pub fn figure(
    row: &Entry,
    ledger: &Ledger,
    results: &BTreeMap<String, Results>,
    directory: &Path,
    engines_of: EnginesOf<'_>,
) -> Result<Option<Figure>, Failure> {
    let Some(entry) = deciding(row, &ledger.candidate) else { return Ok(None) };
    let (Some(worst), Some(results)) = (&entry.worst, results.get(&entry.study)) else { return Ok(None) };
    let study = &results.study;
    let Some((own, reference)) = cells(study, &worst.label, &ledger.reference) else { return Ok(None) };

    let own_run = Run::new(study, own, engines_of)?;
    let reference_run = Run::new(study, reference, engines_of)?;
    let names = [&ledger.candidate, &ledger.reference];
    let flows = [own_run.flows(names, 0, &own_run), reference_run.flows(names, 1, &own_run)];
    let runs = [&own_run, &reference_run];
    // Where the candidate is the reference, one run is both.
    let count = if own == reference { 1 } else { 2 };
    let names_of: Vec<Vec<&str>> =
        flows.iter().map(|flows| flows.iter().map(String::as_str).collect()).collect();
    let traced: Vec<TracedRun<'_>> = (0..count)
        .filter_map(|i| {
            let bottleneck = &runs[i].scenario.network.links[runs[i].scenario.network.bottleneck].name;
            Some(TracedRun {
                algorithm: names[i],
                flow_algorithms: &names_of[i],
                seed: runs[i].scenario.seed,
                trace: runs[i].outcome.trace.as_ref()?,
                bottleneck,
            })
        })
        .collect();
    let title = format!("{} {}: {}", row.section, row.title, worst.cell);
    let file = directory.join(&entry.study).join("study.toml");
    let command = match ledger.candidate.split_once("@python") {
        // The class is known to a program in Python alone.
        Some((class, _)) => {
            format!("cwnd.Study.load({:?}, classes=[{class}]).run()", file.to_string_lossy())
        }
        None => format!(
            "cwnd run {} --out {} --recorded-cell {} --qlog worst.sqlog",
            output::quoted(&file.to_string_lossy()),
            output::quoted(&directory.join(&entry.study).to_string_lossy()),
            output::quoted(&worst.label)
        ),
    };
    Ok(Some(Figure { svg: trace_figure::over_time(&traced, &title), command }))
}

/// Returns the time between samples: a whole number of 10 ms, unless the run is shorter than that.
fn every(duration: Time) -> Time {
    const STEP: u64 = 10_000_000;
    let every = duration.0 / SAMPLES;
    Time(if every > STEP { every / STEP * STEP } else { every.max(1) })
}

/// Returns the candidate's cell of this label, and the reference's in the same place.
fn cells(study: &Study, label: &str, reference: &str) -> Option<(usize, usize)> {
    let own = (0..study.cells.len()).find(|cell| study.cell_label(*cell) == label)?;
    let axis = study.axis(AXIS)?;
    let point = study.axes[axis].points.iter().position(|point| point.label == reference)?;
    let mut coordinates = study.cells[own].coordinates.clone();
    coordinates[axis] = point;
    let reference = study.cells.iter().position(|cell| cell.coordinates == coordinates)?;
    Some((own, reference))
}

/// A run with samples.
struct Run {
    scenario: Scenario,
    outcome: Outcome,
}

impl Run {
    fn new(study: &Study, cell: usize, engines_of: EnginesOf<'_>) -> Result<Run, Failure> {
        let mut scenario = study.scenario(cell, 0);
        scenario.sample = Some(every(scenario.duration));
        let engines = engines_of(study);
        let outcome = engines.of(EngineKind::Sim).run(&scenario).map_err(|error| {
            Failure::broken(format!("{}: {}: {error}", plan::short(&study.name), study.cell_label(cell)))
        })?;
        Ok(Run { scenario, outcome })
    }

    /// Names the flows of the run of `names[which]`: in the place of the candidate, or alongside it.
    fn flows(&self, names: [&String; 2], which: usize, candidate: &Run) -> Vec<String> {
        let is_own = |flow: usize| {
            let other = candidate.scenario.flows.get(flow);
            other.is_none_or(|other| other.algorithm.to_string() == *names[0] && !other.short)
        };
        let name = |flow: usize| {
            let algorithm = self.scenario.flows[flow].algorithm.to_string();
            if is_own(flow) {
                names[which].clone()
            } else {
                format!("{algorithm} alongside {}", names[which])
            }
        };
        (0..self.scenario.flows.len()).map(name).collect()
    }
}
