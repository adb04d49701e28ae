//! Spot checks: a tenth of the cells over this host's kernel, next to the simulator's values.
//!
//! The choice depends on the seed and the names of the cells alone. Each check is kept in a file when it is done, so that an
//! interrupted command continues.

use super::plan;
use crate::{engines, failure::Failure, interrupt, terminal};
use cwnd_evaluate::{
    Criteria, Field,
    candidate::AXIS,
    ledger::{SpotCheck, SpotValue},
};
use cwnd_scenario::Scenario;
use cwnd_study::{EngineKind, Results, RunKey, SharedEngine, Study, output_file};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

/// One cell of this number is checked.
const ONE_OF: usize = 10;

/// The studies with the algorithms in their place, and what the simulator gave; nothing for an algorithm of the host's kernel.
pub struct Given<'a> {
    pub criteria: &'a Criteria,
    pub field: &'a Field,
    pub studies: Vec<(String, Study)>,
    pub results: &'a BTreeMap<String, Results>,
}

/// Checks the candidate and the reference in a tenth of the cells.
///
/// # Errors
/// This machine cannot run its kernel, a run fails, or the user interrupts it.
pub fn check(given: &Given<'_>, directory: &Path, quiet: bool) -> Result<Vec<SpotCheck>, Failure> {
    let engine = engines::engine(EngineKind::Kernel)?;
    let mut kept = Kept::open(directory.join("kernel.json"));
    let places = places(given);
    let mut checks = Vec::new();
    for (i, (study, label, cells)) in places.iter().enumerate() {
        let (name, study) = &given.studies[*study];
        for (algorithm, cell) in cells {
            if !quiet {
                let count = places.len();
                terminal::tell!("spot check {} of {count}: {name}, {label}, {algorithm}", i + 1);
            }
            let scenario = study.scenario(*cell, 0);
            let of_kernel = kept.get_or_run(&engine, &scenario)?;
            let simulated = given.results.get(name).and_then(|results| results.runs_of(*cell).first());
            let values = metrics(given.criteria, study, name, *cell).into_iter().map(|metric| SpotValue {
                sim: simulated.and_then(|run| run.metric(metric)).filter(|value| value.is_finite()),
                kernel: of_kernel.values.get(metric).copied(),
                metric: metric.to_owned(),
            });
            checks.push(SpotCheck {
                study: name.clone(),
                cell: label.clone(),
                algorithm: algorithm.clone(),
                seed: scenario.seed,
                values: values.collect(),
                not_possible: of_kernel.problems.clone(),
                warnings: of_kernel.warnings.clone(),
            });
        }
    }
    Ok(checks)
}

/// A cell of a study: the study's place, what the cell is called without the algorithm, and for the candidate and the reference
/// the cell.
type Place = (usize, String, Vec<(String, usize)>);

/// Chooses the cells.
fn places(given: &Given<'_>) -> Vec<Place> {
    let mut all: Vec<(u64, Place)> = Vec::new();
    for (at, (name, study)) in given.studies.iter().enumerate() {
        let Some(axis) = study.axis(AXIS) else { continue };
        let mut of_study: BTreeMap<Vec<usize>, Vec<(String, usize)>> = BTreeMap::new();
        for cell in 0..study.cells.len() {
            let mut coordinates = study.cells[cell].coordinates.clone();
            let algorithm = study.axes[axis].points[coordinates[axis]].label.clone();
            let asked = algorithm == given.field.candidate || algorithm == given.field.reference;
            if asked && !metrics(given.criteria, study, name, cell).is_empty() {
                coordinates.remove(axis);
                of_study.entry(coordinates).or_default().push((algorithm, cell));
            }
        }
        for (_, cells) in of_study {
            let label = label(study, axis, cells[0].1);
            all.push((hash(&format!("{}/{name}/{label}", study.seed)), (at, label, cells)));
        }
    }
    let count = all.len().div_ceil(ONE_OF);
    all.sort_by_key(|(hash, _)| *hash);
    let mut chosen: Vec<Place> = all.into_iter().take(count).map(|(_, place)| place).collect();
    chosen.sort();
    chosen
}

/// Returns what a cell is called without the algorithm.
fn label(study: &Study, axis: usize, cell: usize) -> String {
    let others = study.axes.iter().zip(&study.cells[cell].coordinates).enumerate();
    let others = others.filter(|(i, _)| *i != axis);
    let parts: Vec<&str> = others.map(|(_, (axis, point))| axis.points[*point].label.as_str()).collect();
    parts.join(", ")
}

/// Returns the metrics of the criteria that look at a cell.
fn metrics<'a>(criteria: &'a Criteria, study: &Study, name: &str, cell: usize) -> BTreeSet<&'a str> {
    let of_study = criteria.rows.iter().flat_map(|row| &row.criteria).filter(|one| one.study == name);
    let looks = of_study.filter(|one| one.select().contains(study, cell));
    looks.map(|one| one.metric.as_str()).collect()
}

/// Returns the 64-bit FNV-1a hash of a text.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// What a run over the kernel gave.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct OfKernel {
    values: BTreeMap<String, f64>,
    /// Why the kernel engine cannot express the cell.
    problems: Vec<String>,
    /// Why the result is not valid.
    warnings: Vec<String>,
}

/// The runs that are done, in a file.
struct Kept {
    path: PathBuf,
    runs: BTreeMap<String, OfKernel>,
}

impl Kept {
    /// Reads the file; one that is damaged counts as none.
    fn open(path: PathBuf) -> Kept {
        let text = fs::read_to_string(&path).unwrap_or_default();
        Kept { path, runs: serde_json::from_str(&text).unwrap_or_default() }
    }

    fn get_or_run(&mut self, engine: &SharedEngine, scenario: &Scenario) -> Result<OfKernel, Failure> {
        let broken = |error: &dyn std::fmt::Display| Failure::broken(error.to_string());
        if let Err(problems) = engine.check(scenario) {
            let problems = problems.iter().map(|problem| format!("{} {}", problem.place, problem.message));
            return Ok(OfKernel { problems: problems.collect(), ..OfKernel::default() });
        }
        let key = RunKey::of(&**engine, scenario).to_string();
        if let Some(run) = self.runs.get(&key) {
            return Ok(run.clone());
        }
        let outcome = engine.run(scenario).map_err(|error| broken(&error))?;
        if interrupt::flag().load(Ordering::Relaxed) {
            return Err(Failure::broken("interrupted; the same command continues".to_owned()));
        }
        let warnings = outcome.emulation.as_ref().map(|emulation| emulation.validity_warnings.clone());
        let run = OfKernel {
            values: cwnd_metrics::values(scenario, &outcome)
                .into_iter()
                .filter(|(_, v)| v.is_finite())
                .collect(),
            problems: Vec::new(),
            warnings: warnings.unwrap_or_default(),
        };
        self.runs.insert(key, run.clone());
        let json = serde_json::to_string(&self.runs).map_err(|error| broken(&error))?;
        output_file::write_text(&self.path, &json).map_err(|error| broken(&error))?;
        Ok(run)
    }
}

/// Returns the studies that the criteria name, at their scale.
///
/// # Errors
/// One is wrong.
pub fn studies(
    library: &plan::Library<'_>,
    criteria: &Criteria,
    job: &plan::Job<'_>,
) -> Result<Vec<(String, Study)>, Failure> {
    let study = |name: &str| Ok((name.to_owned(), library.study(name, job.field)?.at_scale(job.scale)));
    criteria.studies().into_iter().map(study).collect()
}
