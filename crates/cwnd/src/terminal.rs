//! The terminal: its width, text that is safe to show on it, and lines on standard error.

use std::{
    borrow::Cow,
    env,
    io::{self, Write},
    ops::RangeInclusive,
};

/// Prints a line on standard error, [printable]. If nobody reads it, it is lost.
pub fn write_error_line(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(line));
}

/// Prints a line on standard error, as `eprintln!` does, with [`write_error_line`].
macro_rules! tell {
    ($($argument:tt)*) => { $crate::terminal::write_error_line(&format!($($argument)*)) };
}
pub(crate) use tell;

/// Returns the columns that standard output has: what the variable `COLUMNS` says, else what the terminal says; none if
/// standard output is no terminal.
pub fn columns() -> Option<usize> {
    let said = env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let asked = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    said.or_else(asked).filter(|columns| *columns > 0)
}

/// Returns a text with escapes instead of characters that act on a terminal: texts from files and arguments could clear it
/// or reorder what it shows. Newlines and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return text.into();
    }
    let escaped = |c: char| match acts_on_terminals(c) {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    text.chars().map(escaped).collect::<String>().into()
}

/// Returns whether no character of a text [acts on a terminal](acts_on_terminals).
pub fn is_plain(text: &str) -> bool {
    // Documents can have hundreds of megabytes, mostly ASCII. Bytes are faster to check than characters.
    let is_plain_ascii = |byte: u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    text.bytes().fold(true, |all, byte| all & is_plain_ascii(byte)) || !text.contains(acts_on_terminals)
}

/// Whether it is a control character (C0 or C1) other than newline and tab, or one of Unicode's bidirectional marks.
pub fn acts_on_terminals(c: char) -> bool {
    const BIDIRECTIONAL: [RangeInclusive<char>; 4] =
        ['\u{061C}'..='\u{061C}', '\u{200E}'..='\u{200F}', '\u{202A}'..='\u{202E}', '\u{2066}'..='\u{2069}'];
    c.is_control() && !matches!(c, '\n' | '\t') || BIDIRECTIONAL.iter().any(|range| range.contains(&c))
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn what_acts_on_a_terminal_is_escaped() {
        assert_eq!(printable("a\tb\nä→"), "a\tb\nä→");
        assert_eq!(printable("\u{1b}[2J\r\u{9b}1m\u{7f}"), "\\u{1b}[2J\\u{d}\\u{9b}1m\\u{7f}");
        for mark in ['\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}'] {
            assert_eq!(printable(&format!("a{mark}b")), format!("a{}b", mark.escape_unicode()));
        }
    }
}
