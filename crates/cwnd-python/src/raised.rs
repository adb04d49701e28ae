//! How an exception of a Python class, or Ctrl-C, ends its run.

use cwnd_scenario::{EngineError, Time};
use std::panic::{self, AssertUnwindSafe};

/// How far a simulation runs before Ctrl-C is looked for.
pub const STEP: Time = Time::from_millis(1_000);

/// What a class in Python raised, as a text: the payload of the panic that ends its run.
pub struct Raised(pub String);

/// Runs what may call Python.
///
/// # Errors
/// What a class raised. Any other panic goes on.
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, EngineError> {
    panic::catch_unwind(AssertUnwindSafe(run)).map_err(|payload| match payload.downcast::<Raised>() {
        Ok(raised) => EngineError::Failed(raised.0),
        Err(payload) => panic::resume_unwind(payload),
    })
}
