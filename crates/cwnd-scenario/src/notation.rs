//! Reading one line of text: parts that know their column, errors that name it, and the nearest valid word.

use crate::units::UnitError;
use std::{fmt, str::FromStr};

/// An error in a text: where it is, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotationError {
    /// Where in the text: the first character is 1.
    pub column: usize,
    /// What was wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

impl std::error::Error for NotationError {}

/// Returns a text as a basic string of TOML.
pub fn toml_string(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

/// Returns the candidate that is most similar to `text`, if any is similar enough for "did you mean".
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let text = text.to_lowercase();
    let score = |candidate: &str| {
        let within = |part: &str, whole: &str| part.len() >= 3 && whole.contains(part);
        let part = within(&text, candidate) || within(candidate, &text);
        strsim::jaro_winkler(&text, candidate).max(if part { 0.8 } else { 0.0 })
    };
    let scored = candidates.into_iter().map(|candidate| (score(candidate), candidate));
    // Of equals the first, which a list would name first.
    let best = scored.fold((0.75, None), |best, (score, candidate)| match score > best.0 {
        true => (score, Some(candidate)),
        false => best,
    });
    best.1
}

/// Returns `; did you mean `x`?`, or nothing if there is no candidate.
pub fn quoted_hint(meant: Option<&str>) -> String {
    meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default()
}

/// A part of a text that knows its column.
#[derive(Clone, Copy)]
pub struct Piece<'a> {
    source: &'a str,
    start: usize,
    end: usize,
}

impl<'a> Piece<'a> {
    /// Returns the whole text as one piece.
    pub fn whole(source: &'a str) -> Piece<'a> {
        Piece { source, start: 0, end: source.len() }
    }

    /// Returns the text of the piece.
    pub fn text(self) -> &'a str {
        &self.source[self.start..self.end]
    }

    /// Creates an error at the beginning of the piece.
    pub fn error(self, message: impl Into<String>) -> NotationError {
        NotationError { column: self.source[..self.start].chars().count() + 1, message: message.into() }
    }

    /// Returns the piece without white space at either end.
    pub fn trimmed(self) -> Piece<'a> {
        let text = self.text();
        let start = self.start + (text.len() - text.trim_start().len());
        Piece { source: self.source, start, end: start + text.trim().len() }
    }

    /// Returns the piece from this byte on.
    pub fn from(self, offset: usize) -> Piece<'a> {
        Piece { start: self.start + offset, ..self }
    }

    /// Returns the piece up to this byte.
    pub fn until(self, offset: usize) -> Piece<'a> {
        Piece { end: self.start + offset, ..self }
    }

    /// Returns the piece extended to the end of a later one of the same text.
    pub fn through(self, later: Piece<'a>) -> Piece<'a> {
        Piece { end: later.end, ..self }
    }

    /// Splits the piece at every separator.
    pub fn split(self, separator: char) -> impl Iterator<Item = Piece<'a>> {
        let mut start = self.start;
        self.text().split(separator).map(move |part| {
            let piece = Piece { source: self.source, start, end: start + part.len() };
            start = piece.end + separator.len_utf8();
            piece
        })
    }

    /// Returns the end of the piece, given the text of that end.
    pub fn tail(self, rest: &str) -> Piece<'a> {
        Piece { start: self.end - rest.len(), ..self }
    }

    /// Returns the parts before and after the first separator.
    pub fn cut(self, separator: char) -> Option<(Piece<'a>, Piece<'a>)> {
        let at = self.start + self.text().find(separator)?;
        let after = at + separator.len_utf8();
        Some((Piece { end: at, ..self }, Piece { start: after, ..self }))
    }

    /// Returns the first word and the rest.
    pub fn first_word(self) -> (Piece<'a>, Piece<'a>) {
        let end = self.text().find(char::is_whitespace).map_or(self.end, |at| self.start + at);
        (Piece { end, ..self }, Piece { start: end, ..self }.trimmed())
    }

    /// Returns the parts before and after a word between spaces.
    pub fn cut_at_word(self, word: &str) -> Option<(Piece<'a>, Piece<'a>)> {
        let spaced = format!(" {word} ");
        let at = self.start + self.text().find(&spaced)?;
        Some((Piece { end: at, ..self }.trimmed(), Piece { start: at + spaced.len(), ..self }.trimmed()))
    }

    /// Parses a finite number.
    pub fn number(self) -> Result<f64, NotationError> {
        let number = self.text().parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| self.error(format!("`{}` is not a number: write 1.2, for example", self.text())))
    }

    /// Checks that the piece is a name: letters, digits and `-`, `_`, `.`, `+`.
    pub fn check_word(self, what: &str) -> Result<(), NotationError> {
        if self.text().is_empty() {
            return Err(self.error(format!("{what} is missing here")));
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
        // `elastic@kernel` is the algorithm in C for the kernel, `cdg@host` the one that the host's kernel calls `cdg`, and
        // `Aimd@python` a class of a Python program; `cubic@noq` belongs to the QUIC implementation noq.
        let suffixes = ["@kernel", "@host", "@python", "@noq", "@quinn"];
        let word = suffixes.iter().find_map(|suffix| self.text().strip_suffix(suffix));
        let word = word.unwrap_or(self.text());
        let Some(at) = word.find(|c| !allowed(c)) else { return Ok(()) };
        let stray = self.from(at);
        let character = stray.text().chars().next().unwrap_or(' ');
        if self.text().contains('=') {
            let colon = "a parameter follows an algorithm's name and a colon, as in `name:a=1,b=2`";
            return Err(stray.error(format!("`{}`: {colon}", self.text())));
        }
        let message = format!("{what} has letters, digits, `-`, `_`, `.` and `+`: `{character}` is none");
        Err(stray.error(message))
    }

    /// Parses a quantity with a unit.
    pub fn quantity<T: FromStr<Err = UnitError>>(self) -> Result<T, NotationError> {
        self.text()
            .parse()
            .map_err(|error: UnitError| self.error(format!("`{}`: {}", self.text(), error.message)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        let names = ["newreno", "cubic-2008", "cubic", "elastic"];
        assert_eq!(nearest("cubik", names), Some("cubic"));
        assert_eq!(nearest("CUBIC", names), Some("cubic"));
        assert_eq!(nearest("reno", names), Some("newreno"));
        assert_eq!(nearest("cubic2008", names), Some("cubic-2008"));
        assert_eq!(nearest("zzz", names), None);
        assert_eq!(nearest("", names), None);
    }
}
