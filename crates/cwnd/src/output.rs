//! What commands print.

pub mod comparison;
pub mod json;
pub mod units_row;

use crate::failure::Failure;
use std::io::{self, Write};

/// Print a text on standard output. A reader that has gone away is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::broken(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}
