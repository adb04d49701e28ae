//! What commands print.

pub mod comparison;
pub mod json;
mod layout;
pub mod sketch;

#[cfg(target_os = "linux")]
pub use layout::fitted_to;
pub use layout::{fitted, text_width, wrapped, wrapped_to};

use crate::{failure::Failure, terminal::printable};
use std::io::{self, Write};

/// Prints a text on standard output, [printable]. A reader that has gone away is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    written(stdout.write_all(printable(text).as_bytes()).and_then(|()| stdout.flush()))
}

/// Writes bytes to standard output as they are.
pub fn pass_on(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    written(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// Returns the failure of having written to standard output. A reader that has gone away is none.
pub fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::broken(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, text) in
            [("a/b.toml", "a/b.toml"), ("", "''"), ("1 BDP", "'1 BDP'"), ("it's", "'it'\\''s'")]
        {
            assert_eq!(quoted(word), text);
        }
    }
}
