//! A kind with its parameters: reading and writing.

use super::value::{Value, ValueType};
use crate::{
    NotationError, nearest,
    notation::{Piece, quoted_hint},
};
use std::fmt::{self, Write};

/// A kind of something: CoDel is a kind of queue.
pub(super) struct Kind<S: 'static> {
    /// The word by which it is called.
    pub name: &'static str,
    /// Its full name.
    pub title: &'static str,
    /// What it does, in a sentence or two.
    pub about: &'static str,
    /// The RFC, or the paper.
    pub source: &'static str,
    /// Whether values may stand without their names, in the order of the table; it is then written so.
    pub bare: bool,
    /// Whether something is of this kind.
    pub is: fn(&S) -> bool,
    /// One with its defaults. What is required has a value that is never used.
    pub new: fn() -> S,
    /// Its parameters.
    pub parameters: &'static [Parameter<S>],
    /// What parameters together must be, if anything.
    pub check: fn(&S) -> Result<(), &'static str>,
}

/// A parameter of a kind.
pub(super) struct Parameter<S: 'static> {
    /// Name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Unit, if its values carry none themselves.
    pub unit: &'static str,
    /// Values that it takes.
    pub takes: ValueType,
    /// Whether it must be said: it has no default.
    pub required: bool,
    /// Where the default is from.
    pub source: &'static str,
    /// Its value in something of this kind.
    pub get: fn(&S) -> Value,
    /// Sets it in something of this kind.
    pub set: fn(&mut S, Value),
}

/// Any parameters stand together.
pub(super) fn any<S>(_: &S) -> Result<(), &'static str> {
    Ok(())
}

/// Read `NAME` or `NAME:PARAMETER=VALUE,…` as one of these kinds; `what` they are kinds of, in the plural.
pub(super) fn read<S>(kinds: &'static [Kind<S>], what: &str, text: &str) -> Result<S, NotationError> {
    let whole = Piece::whole(text);
    let (name, arguments) = match whole.cut(':') {
        Some((name, arguments)) => (name.trimmed(), Some(arguments)),
        None => (whole.trimmed(), None),
    };
    let Some(kind) = kinds.iter().find(|kind| kind.name == name.text()) else {
        let names = || kinds.iter().map(|kind| kind.name);
        let hint = quoted_hint(nearest(name.text(), names()));
        let all: Vec<&str> = names().collect();
        return Err(name.error(match name.text() {
            "" => format!("a name is missing here: {what} are {}", all.join(", ")),
            unknown => format!("there is no `{unknown}`{hint}: {what} are {}", all.join(", ")),
        }));
    };
    let mut made = (kind.new)();
    let mut said: Vec<&str> = Vec::new();
    for piece in arguments.into_iter().flat_map(|arguments| arguments.split(',')) {
        kind.argument(&mut made, piece.trimmed(), &mut said)?;
    }
    let missing = kind.parameters.iter().find(|p| p.required && !said.contains(&p.name));
    if let Some(missing) = missing {
        return Err(name.error(format!(
            "`{}` needs `{}`: write it as `{}`",
            kind.name,
            missing.name,
            kind.form()
        )));
    }
    (kind.check)(&made).map_err(|message| name.error(message))?;
    Ok(made)
}

impl<S> Kind<S> {
    /// Take one argument: `name=value`, a switch's name alone, or a value alone.
    fn argument(
        &self,
        made: &mut S,
        piece: Piece<'_>,
        said: &mut Vec<&'static str>,
    ) -> Result<(), NotationError> {
        let named = |key: &str| self.parameters.iter().find(|parameter| parameter.name == key);
        let (parameter, value) = match piece.cut('=') {
            Some((key, value)) => {
                let (key, value) = (key.trimmed(), value.trimmed());
                (named(key.text()).ok_or_else(|| self.unknown(key))?, Some(value))
            }
            None => match named(piece.text()).filter(|parameter| parameter.takes == ValueType::Switch) {
                Some(switch) => (switch, None),
                None => (self.next(piece, said)?, Some(piece)),
            },
        };
        let value = match value {
            None => Value::Switch(true),
            Some(value) if value.text().is_empty() => {
                return Err(value.error(format!("`{}` has no value", parameter.name)));
            }
            Some(value) => parameter.takes.read(value.text()).map_err(|message| {
                let message = match value.text().contains(['=', ';']) {
                    true => "a comma stands between two parameters".to_owned(),
                    false => message,
                };
                value.error(format!("`{}`: {message}", parameter.name))
            })?,
        };
        if !said.contains(&parameter.name) {
            said.push(parameter.name);
            (parameter.set)(made, value);
            return Ok(());
        }
        // Only a list takes several values.
        match ((parameter.get)(made), value) {
            (Value::Counts(mut counts), Value::Counts(more)) => {
                if counts.last() >= more.first() {
                    return Err(piece.error("the numbers must rise"));
                }
                counts.extend(more);
                (parameter.set)(made, Value::Counts(counts));
                Ok(())
            }
            _ => Err(piece.error(format!("`{}` is set twice", parameter.name))),
        }
    }

    /// The parameter that a value without a name is for.
    fn next(&self, piece: Piece<'_>, said: &[&str]) -> Result<&Parameter<S>, NotationError> {
        if piece.text().is_empty() {
            return Err(piece.error("something is missing here, or a `,` or `:` is too much"));
        }
        if !self.bare {
            let hint = match self.parameters.first() {
                Some(first) => {
                    format!("a parameter is written `name=value`, such as `{}`", self.example(first))
                }
                None => format!("`{}` has no parameters", self.name),
            };
            return Err(piece.error(format!("`{}`: {hint}", piece.text())));
        }
        let open = |parameter: &&Parameter<S>| {
            parameter.takes == ValueType::Counts
                || (parameter.takes != ValueType::Switch && !said.contains(&parameter.name))
        };
        self.parameters.iter().find(open).ok_or_else(|| {
            let switches = self.parameters.iter().filter(|parameter| parameter.takes == ValueType::Switch);
            let hint = quoted_hint(nearest(piece.text(), switches.map(|switch| switch.name)));
            let message = format!("`{}` is too much{hint}: write it as `{}`", piece.text(), self.form());
            piece.error(message)
        })
    }

    fn unknown(&self, key: Piece<'_>) -> NotationError {
        let names: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name).collect();
        let hint = quoted_hint(nearest(key.text(), names.iter().copied()));
        let known = if names.is_empty() { "none at all".to_owned() } else { names.join(", ") };
        key.error(format!("`{}` has no parameter `{}`{hint} (it has {known})", self.name, key.text()))
    }

    /// How it is written, with what must be said: `normal:MEAN,DEVIATION`.
    pub fn form(&self) -> String {
        let required = self.parameters.iter().filter(|parameter| parameter.required);
        let arguments: Vec<String> = required
            .map(|parameter| match (self.bare, parameter.takes) {
                (_, ValueType::Counts) => "5,17,100".to_owned(),
                (true, _) => parameter.name.to_uppercase(),
                (false, _) => format!("{}={}", parameter.name, parameter.name.to_uppercase()),
            })
            .collect();
        match arguments.is_empty() {
            true => self.name.to_owned(),
            false => format!("{}:{}", self.name, arguments.join(",")),
        }
    }

    fn example(&self, parameter: &Parameter<S>) -> String {
        format!("{}={}", parameter.name, (parameter.get)(&(self.new)()))
    }
}

/// Write something as it is read: what differs from the defaults, and what must be said.
pub(super) fn write<S>(kinds: &'static [Kind<S>], spec: &S, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some(kind) = kinds.iter().find(|kind| (kind.is)(spec)) else { return Err(fmt::Error) };
    f.write_str(kind.name)?;
    let default = (kind.new)();
    let mut separator = ':';
    for parameter in kind.parameters {
        let value = (parameter.get)(spec);
        if value == (parameter.get)(&default) && !parameter.required {
            continue;
        }
        f.write_char(separator)?;
        separator = ',';
        match (kind.bare, &value) {
            (true, Value::Switch(true)) => f.write_str(parameter.name)?,
            (true, value) if parameter.takes != ValueType::Switch => write!(f, "{value}")?,
            (_, value) => write!(f, "{}={value}", parameter.name)?,
        }
    }
    Ok(())
}
