//! The unit after a number.

use super::{
    UnitError,
    decimal::{Decimal, NotInteger},
};

/// A unit and what it stands for.
pub(super) struct Suffix {
    /// How it is written.
    pub name: &'static str,
    /// Other spellings that are understood.
    pub also: &'static [&'static str],
    /// Spellings that are answered with "did you mean".
    pub mistaken: &'static [&'static str],
    /// How many of the base unit it is.
    pub scale: u64,
}

/// A family of units.
pub(super) struct Family {
    /// What is measured, with its article: `a time`.
    pub kind: &'static str,
    /// All units, smallest first.
    pub suffixes: &'static [Suffix],
    /// Whether upper and lower case mean the same in a unit.
    pub ignores_case: bool,
    /// The unit that an error proposes.
    pub usual: &'static str,
    /// Greatest value, in base units.
    pub max: u64,
    /// How the greatest value is written.
    pub max_text: &'static str,
}

/// What a number with a unit, or without one, comes to.
pub(super) enum Measured {
    /// So many base units.
    Units(u64),
    /// A number without a unit.
    Bare(Decimal),
}

impl Family {
    /// Read a number with one of the family's units.
    pub fn parse(&self, text: &str) -> Result<Measured, UnitError> {
        let (number, unit) = Decimal::split_unit(text)?;
        if unit.is_empty() {
            return Ok(Measured::Bare(number));
        }
        let suffix = self.find(unit)?;
        self.scale(number, suffix.scale).map(Measured::Units)
    }

    /// `number` times `scale` base units.
    pub fn scale(&self, number: Decimal, scale: u64) -> Result<u64, UnitError> {
        match number.to_integer(scale) {
            Ok(value) if value <= u128::from(self.max) => Ok(value as u64),
            Ok(_) | Err(NotInteger::Overflow) => {
                Err(UnitError::new(format!("it is too large: {} is the most", self.max_text)))
            }
            Err(NotInteger::Vanishes) => {
                Err(UnitError::new(format!("it is too small: less than half of 1 {}", self.suffixes[0].name)))
            }
        }
    }

    /// The error for a number without a unit.
    pub fn no_unit(&self, number: Decimal) -> UnitError {
        // Who writes a number as large as this means a small unit.
        const LARGE: f64 = 1e5;
        let unit = if number.to_f64() < LARGE { self.usual } else { self.suffixes[0].name };
        UnitError::new(format!("{} needs a unit: write `{number} {unit}`, for example", self.kind))
    }

    /// Write `value` in the largest unit that leaves no leading zero.
    pub fn display(&self, value: u64, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fits = |suffix: &&Suffix| {
            suffix.scale <= value.max(1) && suffix.scale.to_string().trim_end_matches('0') == "1"
        };
        let suffix = self.suffixes.iter().rfind(fits);
        let suffix = suffix.unwrap_or(&self.suffixes[0]);
        write!(f, "{} {}", Decimal::ratio(value, suffix.scale), suffix.name)
    }

    fn find(&self, unit: &str) -> Result<&Suffix, UnitError> {
        let is = |name: &str| name == unit || self.ignores_case && name.eq_ignore_ascii_case(unit);
        let named = |s: &&Suffix| is(s.name) || s.also.iter().any(|name| is(name));
        if let Some(suffix) = self.suffixes.iter().find(named) {
            return Ok(suffix);
        }
        let lower = unit.to_lowercase();
        let meant = self
            .suffixes
            .iter()
            .find(|s| s.name.to_lowercase() == lower || s.mistaken.contains(&lower.as_str()))
            .or_else(|| {
                let near = |s: &&Suffix| strsim::damerau_levenshtein(s.name, unit) <= 1;
                let mut near = self.suffixes.iter().filter(near);
                near.next().filter(|_| near.next().is_none())
            });
        let names: Vec<&str> = self.suffixes.iter().map(|s| s.name).collect();
        let hint = meant.map(|s| format!(" (did you mean `{}`?)", s.name)).unwrap_or_default();
        let known = format!("{} takes {}", self.kind, or_list(&names));
        Err(UnitError::new(format!("unknown unit `{unit}`{hint}: {known}")))
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn or_list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [all @ .., last] => format!("{} or {last}", all.join(", ")),
    }
}
