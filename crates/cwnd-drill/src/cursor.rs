//! A position in a text, and the primitives that parsers of this crate share.

use std::fmt;

/// A place in a text, both counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Something in a script that cannot be read or is not supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// Where.
    pub place: Place,
    /// What is wrong, and what would be valid.
    pub message: String,
}

impl ScriptError {
    /// Creates an error.
    pub fn new(place: Place, message: impl Into<String>) -> ScriptError {
        ScriptError { place, message: message.into() }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for ScriptError {}

/// The result of a parser.
pub type Parsed<T> = Result<T, ScriptError>;

/// A text and how far it is read.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    offset: usize,
    place: Place,
}

impl<'a> Cursor<'a> {
    /// Starts to read a text that stands at `place`.
    pub fn new(text: &'a str, place: Place) -> Cursor<'a> {
        Cursor { text, offset: 0, place }
    }

    /// Returns where the next character stands.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Returns how many bytes were read.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns what was read since `offset`.
    pub fn since(&self, offset: usize) -> &'a str {
        &self.text[offset..self.offset]
    }

    /// Returns what is left.
    pub fn rest(&self) -> &'a str {
        &self.text[self.offset..]
    }

    /// Returns whether nothing is left.
    pub fn is_at_end(&self) -> bool {
        self.offset == self.text.len()
    }

    /// Returns the next character.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns whether `token` comes next.
    pub fn looks_at(&self, token: &str) -> bool {
        self.rest().starts_with(token)
    }

    /// Reads one character.
    pub fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.offset += c.len_utf8();
        if c == '\n' {
            self.place = Place { line: self.place.line + 1, column: 1 };
        } else {
            self.place.column += 1;
        }
        Some(c)
    }

    /// Reads `token` if it comes next.
    pub fn take(&mut self, token: &str) -> bool {
        let found = self.looks_at(token);
        if found {
            token.chars().for_each(|_| {
                self.next();
            });
        }
        found
    }

    /// Reads characters while `wanted` holds.
    pub fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let start = self.offset;
        while self.peek().is_some_and(&wanted) {
            self.next();
        }
        self.since(start)
    }

    /// Reads up to `end` and `end` itself. Returns what stands before it.
    pub fn take_until(&mut self, end: &str) -> Option<&'a str> {
        let length = self.rest().find(end)?;
        let start = self.offset;
        while self.offset < start + length {
            self.next();
        }
        let text = self.since(start);
        self.take(end);
        Some(text)
    }

    /// Reads a name: letters, digits and underscores, not beginning with a digit. It is empty if none comes next.
    pub fn name(&mut self) -> &'a str {
        if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return "";
        }
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// Returns an error at this place.
    pub fn error(&self, message: impl Into<String>) -> ScriptError {
        ScriptError::new(self.place, message)
    }

    /// Describes what comes next, for errors.
    pub fn found(&self) -> String {
        match self.peek() {
            None => "the end of the text".to_owned(),
            Some('\n') => "the end of the line".to_owned(),
            Some(_) => {
                let word: String = self.rest().chars().take_while(|c| !c.is_whitespace()).take(24).collect();
                format!("`{word}`")
            }
        }
    }

    /// Reads `token`, or returns an error that names it.
    pub fn expect(&mut self, token: &str, what: &str) -> Parsed<()> {
        match self.take(token) {
            true => Ok(()),
            false => Err(self.error(format!("expected `{token}` {what}, found {}", self.found()))),
        }
    }

    /// Reads a whole number, decimal or with the prefix `0x`.
    pub fn whole(&mut self, what: &str) -> Parsed<u64> {
        let place = self.place;
        let start = self.offset;
        let (digits, base) = match self.take("0x") || self.take("0X") {
            true => (self.take_while(|c| c.is_ascii_hexdigit()), 16),
            false => (self.take_while(|c| c.is_ascii_digit()), 10),
        };
        if digits.is_empty() {
            return Err(ScriptError::new(
                place,
                format!("expected {what}, a whole number, found {}", self.found()),
            ));
        }
        u64::from_str_radix(digits, base)
            .map_err(|_| ScriptError::new(place, format!("{what} {} is too large", self.since(start))))
    }

    /// Reads a whole number of 32 bits.
    pub fn word(&mut self, what: &str) -> Parsed<u32> {
        let place = self.place;
        let number = self.whole(what)?;
        u32::try_from(number).map_err(|_| {
            ScriptError::new(place, format!("{what} {number} is too large; at most {} fits", u32::MAX))
        })
    }

    /// Reads a time in seconds with up to nine decimals. Returns ns.
    pub fn seconds(&mut self) -> Parsed<i64> {
        let place = self.place;
        let whole = self.take_while(|c| c.is_ascii_digit());
        // `...` after a number separates the start and the end of a system call.
        let decimals = if self.looks_at(".") && !self.looks_at("..") {
            self.next();
            self.take_while(|c| c.is_ascii_digit())
        } else {
            ""
        };
        if whole.is_empty() && decimals.is_empty() {
            return Err(ScriptError::new(
                place,
                format!("expected a time in seconds, such as 0.1, found {}", self.found()),
            ));
        }
        let too_large = || ScriptError::new(place, "the time is too large: at most 1,000,000 s");
        let seconds: i64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large())? };
        if seconds > 1_000_000 {
            return Err(too_large());
        }
        if decimals.len() > 9 {
            return Err(ScriptError::new(place, "the time has more than 9 decimals"));
        }
        let fraction: i64 = format!("{decimals:0<9}").parse().unwrap_or(0);
        Ok(seconds * 1_000_000_000 + fraction)
    }
}
