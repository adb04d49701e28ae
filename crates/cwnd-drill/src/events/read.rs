//! The lines of a file of events.

use crate::cursor::{Place, ScriptError};
use cwnd_cc::Nanos;

/// The longest time in a file, ns: a million seconds.
const MAX_TIME: f64 = 1e15;

/// A line: a word and its values.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub place: Place,
    pub word: String,
    /// Words without `=`.
    pub names: Vec<String>,
    pub values: Vec<(String, String)>,
    pub comment: String,
}

impl Line {
    /// Reads a line; `None` if it is blank.
    pub fn read(text: &str, number: u32) -> Result<Option<Line>, ScriptError> {
        let (text, comment) = text.split_once('#').unwrap_or((text, ""));
        let column = text.chars().take_while(|c| c.is_whitespace()).count() as u32 + 1;
        let place = Place { line: number, column };
        let mut words = text.split_whitespace();
        let Some(word) = words.next() else { return Ok(None) };
        let mut line = Line {
            place,
            word: word.to_owned(),
            names: Vec::new(),
            values: Vec::new(),
            comment: comment.trim().to_owned(),
        };
        for word in words {
            match word.split_once('=') {
                None => line.names.push(word.to_owned()),
                Some((key, value)) => {
                    if line.text(key).is_some() {
                        return Err(line.error(format!("`{key}` stands twice")));
                    }
                    line.values.push((key.to_owned(), value.to_owned()));
                }
            }
        }
        Ok(Some(line))
    }

    pub fn error(&self, message: impl Into<String>) -> ScriptError {
        ScriptError::new(self.place, message)
    }

    /// Returns an error if a key is none of these.
    pub fn allow(&self, keys: &[&str]) -> Result<(), ScriptError> {
        if let Some(name) = self.names.first() {
            return Err(self.error(format!("`{name}` is not of the form key=value")));
        }
        match self.values.iter().find(|(key, _)| !keys.contains(&key.as_str())) {
            None => Ok(()),
            Some((key, _)) => Err(self.error(format!(
                "`{}` has no key `{key}`; its keys are {}",
                self.word,
                keys.join(", ")
            ))),
        }
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Returns a real number; `inf` is infinite.
    pub fn number(&self, key: &str) -> Result<Option<f64>, ScriptError> {
        let Some(text) = self.text(key) else { return Ok(None) };
        let number = text.parse::<f64>().ok().filter(|number| !number.is_nan() && *number >= 0.0);
        number.map(Some).ok_or_else(|| self.error(format!("{key}={text}: write a number, or inf")))
    }

    /// Returns a count.
    pub fn count(&self, key: &str) -> Result<Option<u32>, ScriptError> {
        let Some(text) = self.text(key) else { return Ok(None) };
        let count = text.parse().ok().filter(|&count: &u32| count <= 1 << 30);
        count
            .map(Some)
            .ok_or_else(|| self.error(format!("{key}={text}: write a whole number up to {}", 1 << 30)))
    }

    /// Returns a time with its unit.
    pub fn time(&self, key: &str) -> Result<Option<Nanos>, ScriptError> {
        let Some(text) = self.text(key) else { return Ok(None) };
        let wrong = || {
            self.error(format!("{key}={text}: write a time with its unit, such as 100ms, 1.5s, 20us or 7ns"))
        };
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let scale = match &text[digits.len()..] {
            "ns" => 1.0,
            "us" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            _ => return Err(wrong()),
        };
        let nanos = digits.parse::<f64>().ok().map(|number| number * scale);
        let nanos = nanos.filter(|nanos| (0.0..=MAX_TIME).contains(nanos)).ok_or_else(wrong)?;
        Ok(Some(Nanos(nanos.round() as u64)))
    }

    /// Returns a time above zero.
    pub fn positive_time(&self, key: &str) -> Result<Option<Nanos>, ScriptError> {
        match self.time(key)? {
            Some(Nanos(0)) => Err(self.error(format!("`{key}` must be more than zero"))),
            time => Ok(time),
        }
    }

    /// Returns whether a key is `yes`.
    pub fn switch(&self, key: &str, default: bool) -> Result<bool, ScriptError> {
        match self.text(key) {
            None => Ok(default),
            Some("yes") => Ok(true),
            Some("no") => Ok(false),
            Some(other) => Err(self.error(format!("{key}={other}: write yes or no"))),
        }
    }
}
