//! What is wrong with a study file, shown at its place.

use cwnd_scenario::Problem;
use std::{cell::RefCell, fmt, ops::Range};

/// A range of bytes of the file.
pub(super) type Span = Range<usize>;

/// Everything that is wrong with a study file.
///
/// It is written as compilers write it: what is wrong, where, the line itself, and what would be right. The first
/// message has no `error: ` before it, so that a command can put its own there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyError {
    /// Every problem, in the order of the file; at least one.
    pub diagnostics: Vec<Diagnostic>,
    /// How many more there are than are kept.
    pub more: usize,
}

/// One thing that is wrong with a study file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong.
    pub message: String,
    /// Where, if it has a place.
    pub place: Option<Place>,
    /// What would be right, if that can be told.
    pub help: Option<String>,
    /// The problem of an experiment that the message describes, if it does; its place is a setting's key with `_`, or
    /// `flows[1].rtt`.
    pub problem: Option<Problem>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// How many characters of the line are meant, at least 1.
    pub width: usize,
    /// The line, or the part of a long one around the place.
    pub excerpt: String,
    /// The place's column in the excerpt, from 0.
    pub offset: usize,
}

/// Files with more problems than this are notified of the first ones.
const MOST: usize = 20;
/// The number of characters of a line that are shown.
const WIDEST: usize = 110;

impl std::error::Error for StudyError {}

impl fmt::Display for StudyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.diagnostics.iter().enumerate() {
            write!(f, "{}{diagnostic}", if i == 0 { "" } else { "\n\nerror: " })?;
        }
        if self.more > 0 { write!(f, "\n\n… and {} more", self.more) } else { Ok(()) }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let gutter = self.place.as_ref().map_or(0, |place| place.line.to_string().len());
        let margin = " ".repeat(gutter);
        if let Some(Place { file, line, column, width, excerpt, offset }) = &self.place {
            write!(f, "\n{margin}--> {file}:{line}:{column}")?;
            write!(f, "\n{margin} |\n{line} | {excerpt}")?;
            write!(f, "\n{margin} | {}{}", " ".repeat(*offset), "^".repeat(*width))?;
        }
        match &self.help {
            Some(help) => write!(f, "\n{margin} = help: {help}"),
            None => Ok(()),
        }
    }
}

/// A problem whose place has not been looked up: that takes a walk through the file, and only the first ones are shown.
#[derive(PartialEq)]
struct Found {
    span: Span,
    message: String,
    help: Option<String>,
    problem: Option<Problem>,
}

/// Collects what is wrong while a file is read.
pub(super) struct Sink<'a> {
    file: &'a str,
    text: &'a str,
    found: RefCell<Vec<Found>>,
}

impl<'a> Sink<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Sink<'a> {
        Sink { file, text, found: RefCell::new(Vec::new()) }
    }

    /// Note what is wrong at a place.
    pub fn error(&self, span: &Span, message: impl Into<String>) {
        self.note(span, message.into(), None);
    }

    /// Note what is wrong at a place, and what would be right.
    pub fn error_with(&self, span: &Span, message: impl Into<String>, help: impl Into<String>) {
        self.note(span, message.into(), Some(help.into()).filter(|help| !help.is_empty()));
    }

    /// Note a problem of an experiment at the place of its cause.
    pub fn problem(&self, span: &Span, message: String, help: String, problem: Problem) {
        let help = Some(help).filter(|help| !help.is_empty());
        let found = Found { span: span.clone(), message, help, problem: Some(problem) };
        self.found.borrow_mut().push(found);
    }

    /// Whether nothing is wrong so far.
    pub fn is_clean(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// How many problems there are so far.
    pub fn count(&self) -> usize {
        self.found.borrow().len()
    }

    /// Everything that was noted, in the order of the file.
    pub fn into_error(self) -> Option<StudyError> {
        let mut found = self.found.into_inner();
        // A stable sort: what was found first stands first.
        found.sort_by_key(|found| found.span.start);
        found.dedup();
        let more = found.len().saturating_sub(MOST);
        found.truncate(MOST);
        let show = |Found { span, message, help, problem }| Diagnostic {
            message,
            place: Some(place(self.file, self.text, &span)),
            help,
            problem,
        };
        let diagnostics: Vec<Diagnostic> = found.into_iter().map(show).collect();
        (!diagnostics.is_empty()).then_some(StudyError { diagnostics, more })
    }

    fn note(&self, span: &Span, message: String, help: Option<String>) {
        self.found.borrow_mut().push(Found { span: span.clone(), message, help, problem: None });
    }
}

impl StudyError {
    /// One problem without a place in the file.
    pub(super) fn whole(message: String) -> StudyError {
        let diagnostic = Diagnostic { message, place: None, help: None, problem: None };
        StudyError { diagnostics: vec![diagnostic], more: 0 }
    }
}

fn place(file: &str, text: &str, span: &Span) -> Place {
    let start = floor(text, span.start);
    let end = floor(text, span.end).max(start);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let line: Vec<char> = text[line_start..line_end].trim_end_matches('\r').chars().collect();
    let column = text[line_start..start].chars().count().min(line.len());
    let width = text[start..end.min(line_end)].trim_end().chars().count();
    // A long line is cut to what stands around the place.
    let cut = if line.len() > WIDEST { column.saturating_sub(WIDEST / 3) } else { 0 };
    let shown: String =
        line[cut..].iter().take(WIDEST).map(|c| if c.is_control() { ' ' } else { *c }).collect();
    let offset = column - cut;
    Place {
        file: file.to_owned(),
        line: text[..start].bytes().filter(|byte| *byte == b'\n').count() + 1,
        column: column + 1,
        width: width.clamp(1, WIDEST.saturating_sub(offset).max(1)),
        excerpt: shown.trim_end().to_owned(),
        offset,
    }
}

/// The start of the character in which this byte lies.
fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, span: Span) -> String {
        let sink = Sink::new("a.toml", text);
        sink.error_with(&span, "it is wrong", "write it right");
        sink.into_error().expect("noted").to_string()
    }

    #[test]
    fn a_place_is_shown_with_its_line() {
        let text = "title = \"ä\"\nrepeats = 0 # none\n";
        let expected = "it is wrong\n --> a.toml:2:11\n  |\n2 | repeats = 0 # none\n  |           ^\n  = help: write it right";
        assert_eq!(shown(text, 23..24), expected);
        // Characters count, not bytes; what is meant ends with the line, and past the end is the end.
        assert!(shown(text, 8..30).contains(":1:9\n  |\n1 | title = \"ä\"\n  |         ^^^\n"));
        assert!(shown(text, 9999..99999).contains(":3:1\n"));
        assert!(shown("", 0..0).contains(":1:1\n"));
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("x = [{}wrong]", "1, ".repeat(200));
        let at = text.len() - 6;
        let shown = shown(&text, at..at + 5);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= WIDEST + 8), "{shown}");
        let caret = lines[4].find('^').expect("a caret");
        assert_eq!(&lines[3][caret..caret + 5], "wrong");
    }
}
