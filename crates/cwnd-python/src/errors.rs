//! How Python sees failures.

use cwnd::embedding::Failure;
use cwnd_scenario::{EngineError, Problem};
use cwnd_study::{StoreError, StudyError};
use pyo3::{
    create_exception,
    exceptions::{PyException, PyIndexError},
    prelude::*,
};

create_exception!(cwnd, CwndError, PyException, "What cwnd could not do.");
create_exception!(
    cwnd,
    InputError,
    CwndError,
    "What was asked for is wrong; the message says what would be right."
);
create_exception!(cwnd, RunError, CwndError, "Runs failed; the message says which, and why.");

/// What the command line would have said, without its exit code.
pub fn failure(failure: Failure) -> PyErr {
    let message = failure.message().to_owned();
    if failure.is_bad_input() { InputError::new_err(message) } else { CwndError::new_err(message) }
}

/// What is wrong with a study file: all of it, with places.
pub fn study(error: &StudyError) -> PyErr {
    InputError::new_err(error.to_string())
}

/// A store that cannot be used.
pub fn store(error: &StoreError) -> PyErr {
    failure(Failure::store(error))
}

/// A scenario that no simulation takes, or a run that broke down.
pub fn engine(error: EngineError) -> PyErr {
    match error {
        EngineError::Refused(_) => InputError::new_err(error.to_string()),
        EngineError::Failed(_) => RunError::new_err(error.to_string()),
    }
}

/// A change that a simulation does not take.
pub fn problem(problem: &Problem) -> PyErr {
    InputError::new_err(problem.to_string())
}

/// Reads an index of one of `count` things that `whole` has.
///
/// # Errors
/// It is no index (`TypeError`), or there is no such thing (`IndexError`).
pub fn index(value: &Bound<'_, PyAny>, what: &str, count: usize, whole: &str) -> PyResult<usize> {
    match value.extract::<usize>() {
        Ok(index) if index < count => Ok(index),
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyTypeError>(value.py()) => Err(error),
        _ => Err(PyIndexError::new_err(format!("{what} {value}: {whole} has {count}, counted from 0"))),
    }
}
