//! The native half of the Python package `cwnd`: the module `cwnd._cwnd`.
//!
//! The other half, in `python/cwnd`, is what users import: it turns Python objects into the words of the command line and of study
//! files, and results into pictures. This half runs studies ([`study`]), hands out tables without copying them ([`arrow`]), lets an
//! algorithm be a Python class ([`algorithm`], [`engine`]), has runs done by other processes ([`sweep`]), keeps simulations that
//! can be halted ([`simulation`]), and has learning environments ([`gym`]).

mod algorithm;
mod arrow;
mod engine;
mod errors;
mod events;
mod gym;
mod packets;
mod raised;
mod results;
mod samples;
mod simulation;
mod study;
mod sweep;

use cwnd_experiment::settings::SettingKind;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what a panic leaves consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymodule]
mod _cwnd {
    #[pymodule_export]
    use crate::algorithm::AlgorithmClass;
    #[pymodule_export]
    use crate::arrow::Table;
    #[pymodule_export]
    use crate::errors::{CwndError, InputError, RunError};
    #[pymodule_export]
    use crate::events::{PyAck, PyCongestion, PyDupAck, PyInit, PyLostPacket, PyRateSample, PyWindow};
    #[pymodule_export]
    use crate::gym::{GymConfig, GymEnv, GymPolicy, GymVector, gym_algorithm, gym_preset, gym_time};
    #[pymodule_export]
    use crate::results::Results;
    #[pymodule_export]
    use crate::simulation::{Flow, Simulation};
    #[pymodule_export]
    use crate::study::{Study, class_of_file, evaluate_class, evaluation};
    #[pymodule_export]
    use crate::sweep::{Sweep, elsewhere, run_batch};
    #[pymodule_export]
    use crate::{algorithms, command_line, comparison, half_width, metrics, settings};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}

/// Runs the command line with these arguments, of which the first is the program's name. Returns the exit code.
#[pyfunction]
fn command_line(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| cwnd::command_line(arguments))
}

/// Returns the text of the study that `cwnd compare` makes of its arguments.
#[pyfunction]
fn comparison(arguments: Vec<String>) -> PyResult<String> {
    cwnd::embedding::comparison(&arguments).map_err(errors::failure)
}

/// Returns the registered algorithms: name, title, year, signals, reference, summary, and their parameters with defaults and units.
#[pyfunction]
fn algorithms() -> Vec<AlgorithmRow> {
    let row = |info: &cwnd_cc::AlgorithmInfo| {
        let signals = info.signals.iter().map(|signal| format!("{signal:?}").to_lowercase()).collect();
        let parameters = info.parameters.iter().map(|one| one.name.to_owned()).collect();
        let texts = [info.name, info.title, info.reference, info.summary].map(str::to_owned);
        (texts, info.year.into(), signals, parameters)
    };
    cwnd_cc::all().iter().map(row).collect()
}

type AlgorithmRow = ([String; 4], u32, Vec<String>, Vec<String>);

/// Returns the metrics: name, title, unit, formula and what it tells.
#[pyfunction]
fn metrics() -> Vec<[&'static str; 5]> {
    cwnd_metrics::all()
        .map(|metric| [metric.name, metric.title, metric.unit, metric.formula, metric.about])
        .collect()
}

/// Returns the settings of scenarios: key, what values it takes ("switch", "count", "text" or the unit of a quantity), its default
/// and what it is.
#[pyfunction]
fn settings() -> Vec<[&'static str; 4]> {
    let kind = |setting: &cwnd_experiment::settings::Setting| match setting.kind {
        SettingKind::Switch => "switch",
        SettingKind::Count => "count",
        SettingKind::Form { .. } => "form",
        _ => (setting.measure)(setting.example).map_or("text", |(_, unit)| unit),
    };
    cwnd_study::keys::all()
        .map(|setting| [setting.key, kind(setting), setting.default, setting.about])
        .collect()
}

/// Returns half the width of the 95 % interval of the mean of some values (Student's t); None for fewer than two.
#[pyfunction]
fn half_width(values: Vec<f64>) -> Option<f64> {
    cwnd_metrics::statistics::Summary::of(&values)?.ci95
}
