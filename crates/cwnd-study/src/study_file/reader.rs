//! Reading tables with the places of what they say.

use super::diagnostic::{Sink, Span};
use super::keys::{Key, Section, Settings};
use cwnd_scenario::nearest;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// Something with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct At<T> {
    pub value: T,
    pub span: Span,
}

/// A table of the file, of which its section says what it may hold.
#[derive(Clone)]
pub(super) struct Fields<'a> {
    pub table: &'a DeTable<'a>,
    pub span: Span,
    pub section: &'static Section,
    pub sink: &'a Sink<'a>,
}

impl<'a> Fields<'a> {
    /// A table, with an error for every key that its section does not have and for every one that is missing.
    pub fn new(
        table: &'a DeTable<'a>,
        span: Span,
        section: &'static Section,
        sink: &'a Sink<'a>,
    ) -> Fields<'a> {
        let fields = Fields { table, span, section, sink };
        for (key, _) in fields.entries() {
            if !fields.knows(key.value) {
                fields.unknown(&key);
            }
        }
        for key in section.keys.iter().filter(|key| key.required && !table.contains_key(key.name)) {
            sink.error_with(
                &fields.span,
                format!("{} needs `{}`", section.header, key.name),
                sentence(key.about),
            );
        }
        fields
    }

    /// All keys and values, in the order of the file.
    pub fn entries(&self) -> Vec<(At<&'a str>, &'a Spanned<DeValue<'a>>)> {
        let mut entries: Vec<_> = self
            .table
            .iter()
            .map(|(key, value)| (At { value: key.get_ref().as_ref(), span: key.span() }, value))
            .collect();
        entries.sort_by_key(|(key, _)| key.span.start);
        entries
    }

    pub fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    /// The place of a value, or of the table if there is none.
    pub fn span_of(&self, key: &str) -> Span {
        self.get(key).map_or(self.span.clone(), Spanned::span)
    }

    /// A text.
    pub fn text(&self, key: &str) -> Option<At<String>> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::String(text) if text.trim().is_empty() => {
                self.sink.error(&value.span(), format!("`{key}` says nothing"));
                None
            }
            DeValue::String(text) => Some(At { value: text.trim().to_owned(), span: value.span() }),
            _ => self.wrong_kind(key, value, "a text in quotes"),
        }
    }

    /// Texts: one, or a list. Numbers and switches are taken as they are written.
    pub fn texts(&self, key: &str) -> Option<Vec<At<String>>> {
        let value = self.get(key)?;
        let texts = match value.get_ref() {
            DeValue::Array(items) => items.iter().map(scalar).collect(),
            _ => scalar(value).map(|text| vec![text]),
        };
        texts.or_else(|| self.wrong_kind(key, value, "a text, or a list of texts"))
    }

    /// One text, not a list. Numbers and switches are taken as they are written.
    pub fn one_text(&self, key: &str) -> Option<At<String>> {
        let texts = self.texts(key)?;
        match <[At<String>; 1]>::try_from(texts) {
            Ok([text]) => Some(text),
            Err(_) => {
                self.sink.error(&self.span_of(key), format!("`{key}` is one label"));
                None
            }
        }
    }

    /// A number.
    pub fn number(&self, key: &str) -> Option<At<f64>> {
        let value = self.get(key)?;
        match number(value) {
            Some(number) => Some(number),
            None => self.wrong_kind(key, value, "a number"),
        }
    }

    /// A whole number from `least` on.
    pub fn count(&self, key: &str, least: u64) -> Option<At<u64>> {
        let value = self.get(key)?;
        let number = match value.get_ref() {
            DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        let Some(number) = number else { return self.wrong_kind(key, value, "a whole number") };
        match u64::try_from(number).ok().filter(|number| *number >= least) {
            Some(number) => Some(At { value: number, span: value.span() }),
            None => {
                let message = if number < i128::from(least) {
                    format!("it must be at least {least}")
                } else {
                    "it is far too large".to_owned()
                };
                self.sink.error(&value.span(), format!("`{key}`: {message}"));
                None
            }
        }
    }

    /// A switch.
    pub fn switch(&self, key: &str) -> Option<bool> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Boolean(on) => Some(*on),
            DeValue::String(text) if text == "on" || text == "true" => Some(true),
            DeValue::String(text) if text == "off" || text == "false" => Some(false),
            _ => self.wrong_kind(key, value, "`on` or `off` (or `true`, `false`)"),
        }
    }

    /// One of some words.
    pub fn word(&self, key: &str, words: &[&'static str]) -> Option<At<&'static str>> {
        let text = self.text(key)?;
        self.one_of(key, &text, words)
    }

    /// A word among some.
    pub fn one_of(&self, key: &str, text: &At<String>, words: &[&'static str]) -> Option<At<&'static str>> {
        if let Some(word) = words.iter().find(|word| **word == text.value) {
            return Some(At { value: word, span: text.span.clone() });
        }
        let message = format!("`{key}` is none of {}: `{}`", words.join(", "), text.value);
        let meant = nearest(&text.value, words.iter().copied());
        let help = meant.map(|meant| format!("did you mean `{meant}`?")).unwrap_or_default();
        self.sink.error_with(&text.span, message, help);
        None
    }

    /// A table inside this one, as `[run]` or in braces.
    pub fn table(&self, key: &str, section: &'static Section) -> Option<Fields<'a>> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(Fields::new(table, self.header(key, value), section, self.sink)),
            _ => self.wrong_kind(key, value, &format!("a table: {}", section.header)),
        }
    }

    /// Tables inside this one, as `[[axes]]` or a list of braces.
    pub fn tables(&self, key: &str, section: &'static Section) -> Vec<Fields<'a>> {
        let Some(value) = self.get(key) else { return Vec::new() };
        let wanted = format!("a list of tables, each with the header {}", section.header);
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong_kind::<()>(key, value, &wanted);
            return Vec::new();
        };
        let table = |item: &'a Spanned<DeValue<'a>>| match item.get_ref() {
            DeValue::Table(table) => Some(Fields::new(table, item.span(), section, self.sink)),
            _ => self.wrong_kind(key, item, &wanted),
        };
        items.iter().filter_map(table).collect()
    }

    pub fn wrong_kind<T>(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str) -> Option<T> {
        let found = match value.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "a switch",
            DeValue::Datetime(_) => "a date or time of day",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.sink.error(&value.span(), format!("`{key}` is {found}, and {wanted} is wanted"));
        None
    }

    /// Say that there is no such key here, and which there are.
    pub fn unknown(&self, key: &At<&str>) {
        let known = self.known();
        let hint = match nearest(key.value, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if self.section.settings == Settings::All => {
                "the keys are those of `cwnd compare --help`, without the dashes before them".to_owned()
            }
            None => format!("it has {}", known.join(", ")),
        };
        let message = match elsewhere(key.value, self.section) {
            Some(header) => {
                let message = format!(
                    "`{}` is not a key of {}: it belongs into {header}",
                    key.value, self.section.header
                );
                return self.sink.error(&key.span, message);
            }
            None => format!("{} has no key `{}`", self.section.header, key.value),
        };
        self.sink.error_with(&key.span, message, hint);
    }

    fn knows(&self, key: &str) -> bool {
        let own = self.section.keys.iter().any(|known| known.name == key);
        self.section.keys.is_empty() || own || self.section.settings.has(key)
    }

    fn known(&self) -> Vec<&'static str> {
        self.section.keys.iter().map(|key: &Key| key.name).chain(self.section.settings.keys()).collect()
    }

    /// Where a table begins: its header, not all that it holds.
    fn header(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Span {
        let key = self.table.keys().find(|known| known.get_ref() == key);
        key.map_or(value.span(), |key| key.span())
    }
}

/// A number that is finite.
pub(super) fn number(value: &Spanned<DeValue<'_>>) -> Option<At<f64>> {
    let written = match value.get_ref() {
        DeValue::Float(_) | DeValue::Integer(_) => scalar(value)?,
        _ => return None,
    };
    let number = written.value.replace('_', "").parse::<f64>().ok().filter(|number| number.is_finite())?;
    Some(At { value: number, span: written.span })
}

/// A scalar as the text that a person would write for it.
pub(super) fn scalar(value: &Spanned<DeValue<'_>>) -> Option<At<String>> {
    let text = match value.get_ref() {
        DeValue::String(text) => text.trim().to_owned(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
        DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix()).ok()?.to_string(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(on) => on.to_string(),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => return None,
    };
    Some(At { value: text, span: value.span() })
}

/// `did you mean `x`?`, or the list if none is near.
pub(super) fn did_you_mean<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 24;
    let candidates: Vec<&str> = candidates.collect();
    match nearest(text, candidates.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if candidates.is_empty() => String::new(),
        None if candidates.len() <= MOST => format!("there are {}", candidates.join(", ")),
        None => format!("there are {}, …", candidates[..MOST].join(", ")),
    }
}

/// `1 value`, `2 values`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The section that has a key which stands in the wrong one.
fn elsewhere(key: &str, here: &Section) -> Option<&'static str> {
    use super::keys::{FILE, QUICK, RUN, SCENARIO, TRACE};
    let plain = [&FILE, &SCENARIO, &RUN, &QUICK, &TRACE].iter().any(|section| section.header == here.header);
    let has =
        |section: &Section| section.settings.has(key) || section.keys.iter().any(|known| known.name == key);
    let other =
        [&SCENARIO, &RUN, &TRACE].into_iter().find(|section| section.header != here.header && has(section));
    other.map(|section| section.header).filter(|_| plain)
}

/// A sentence as help, without its full stop.
fn sentence(about: &str) -> String {
    about.trim_end_matches('.').to_owned()
}
