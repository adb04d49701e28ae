//! What commands print.

pub mod comparison;
pub mod json;
pub mod units_row;

use crate::failure::Failure;
use std::{
    borrow::Cow,
    io::{self, Write},
    ops::RangeInclusive,
};

/// Prints a text on standard output, [printable]. A reader that has gone away is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    written(stdout.write_all(printable(text).as_bytes()).and_then(|()| stdout.flush()))
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

/// Prints a line on standard error, [printable]. If nobody reads it, it is lost.
pub fn write_error_line(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(line));
}

/// Prints a line on standard error, as `eprintln!` does, with [`write_error_line`].
macro_rules! tell {
    ($($argument:tt)*) => { $crate::output::write_error_line(&format!($($argument)*)) };
}
pub(crate) use tell;

/// Returns a text with escapes instead of characters that act on a terminal: texts from files and arguments could clear it
/// or reorder what it shows. Newlines and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(acts_on_terminals) {
        return text.into();
    }
    let escaped = |c: char| match acts_on_terminals(c) {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    text.chars().map(escaped).collect::<String>().into()
}

/// Whether it is a control character (C0 or C1) other than newline and tab, or one of Unicode's bidirectional marks.
pub fn acts_on_terminals(c: char) -> bool {
    const BIDIRECTIONAL: [RangeInclusive<char>; 4] =
        ['\u{061C}'..='\u{061C}', '\u{200E}'..='\u{200F}', '\u{202A}'..='\u{202E}', '\u{2066}'..='\u{2069}'];
    c.is_control() && !matches!(c, '\n' | '\t') || BIDIRECTIONAL.iter().any(|range| range.contains(&c))
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Words in lines of at most 100 characters, each line indented.
pub fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && indent + line + 1 + word.chars().count() > 100 {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

#[cfg(test)]
mod tests {
    use super::{printable, quoted};

    #[test]
    fn what_acts_on_a_terminal_is_escaped() {
        assert_eq!(printable("a\tb\nä→"), "a\tb\nä→");
        assert_eq!(printable("\u{1b}[2J\r\u{9b}1m\u{7f}"), "\\u{1b}[2J\\u{d}\\u{9b}1m\\u{7f}");
        for mark in ['\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}'] {
            assert_eq!(printable(&format!("a{mark}b")), format!("a{}b", mark.escape_unicode()));
        }
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, text) in
            [("a/b.toml", "a/b.toml"), ("", "''"), ("1 BDP", "'1 BDP'"), ("it's", "'it'\\''s'")]
        {
            assert_eq!(quoted(word), text);
        }
    }
}
