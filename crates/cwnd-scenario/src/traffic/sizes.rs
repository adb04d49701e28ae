//! Sizes of flows from a table.

use super::Distribution;
use crate::Stream;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};
use std::sync::Arc;

/// Of what the sizes of flows are drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FlowSizes {
    /// A distribution with a name.
    Named(Distribution<u64>),
    /// A table.
    Table(SizeTable),
}

/// An empirical cumulative distribution of sizes: what share of flows is at most so large. Between two points it is linear;
/// the flows of the first point all have its size.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SizeTable {
    /// The file's name, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Bytes, at least 1 and rising, and cumulative probabilities, from 0 to 1 and not falling; the last is 1.
    pub points: Arc<[(u64, f64)]>,
}

/// What is wrong with the text of a table, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeTableError {
    /// The line, from 1; none if it is the whole.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for SizeTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for SizeTableError {}

/// The header of a table.
const HEADER: &str = "size,probability";

impl SizeTable {
    /// The most points of a table.
    pub const MOST: usize = 100_000;

    /// Parses CSV: lines with a size in bytes and the cumulative probability up to it, after a header that may be left out.
    /// Empty lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// The line that is wrong, and what would be right.
    pub fn parse(name: impl Into<String>, text: &str) -> Result<SizeTable, SizeTableError> {
        let mut points: Vec<(u64, f64)> = Vec::new();
        let mut is_first = true;
        for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let at = |message: String| SizeTableError { line: Some(i + 1), message };
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let is_header = is_first && line.chars().next().is_some_and(char::is_alphabetic);
            is_first = false;
            if !is_header {
                points.push(point(line, points.last().copied()).map_err(at)?);
            }
            if points.len() > SizeTable::MOST {
                return Err(at(format!("it has more than {} points; leave some out", SizeTable::MOST)));
            }
        }
        let whole = |message: String| SizeTableError { line: None, message };
        match points.last() {
            None => {
                Err(whole(format!("the table is empty: it needs lines such as `30000,0.5` after `{HEADER}`")))
            }
            Some((_, last)) if *last != 1.0 => {
                Err(whole(format!("the last probability is {last}; it must be 1, at the largest size")))
            }
            Some(_) => Ok(SizeTable { name: name.into(), points: points.into() }),
        }
    }

    /// The text of its file: [`SizeTable::parse`] reads it back.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\n");
        for (size, probability) in self.points.iter() {
            writeln!(text, "{size},{probability}").expect("a String takes everything");
        }
        text
    }

    /// The size, in bytes, that a part `p` of all flows does not exceed, from 0 to 1.
    fn quantile(&self, p: f64) -> f64 {
        let above = self.points.partition_point(|(_, probability)| *probability <= p);
        match (above.checked_sub(1).map(|below| self.points[below]), self.points.get(above).copied()) {
            (None, Some((size, _))) | (Some((size, _)), None) => size as f64,
            (Some((low, from)), Some((high, to))) => {
                low as f64 + (high - low) as f64 * ((p - from) / (to - from))
            }
            (None, None) => f64::NAN,
        }
    }

    /// The mean size, bytes.
    fn mean(&self) -> f64 {
        let first = self.points.first().map_or(0.0, |(size, probability)| *size as f64 * probability);
        let pairs = self.points.windows(2);
        first
            + pairs
                .map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 as f64 + pair[1].0 as f64) / 2.0)
                .sum::<f64>()
    }
}

impl fmt::Debug for SizeTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SizeTable({:?}, {} points)", self.name, self.points.len())
    }
}

/// The point of a line, after another.
fn point(line: &str, before: Option<(u64, f64)>) -> Result<(u64, f64), String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [size, probability] = fields.as_slice() else {
        return Err(format!(
            "it has {} columns: a line is a size in bytes and a cumulative probability, such as `30000,0.5`",
            fields.len()
        ));
    };
    let is_whole = |size: &f64| size.fract() == 0.0 && (1.0..=1e15).contains(size);
    let bytes = size.parse::<f64>().ok().filter(is_whole).map(|size| size as u64);
    let bytes =
        bytes.ok_or_else(|| format!("`{size}` is no size: write whole bytes from 1 on, such as `30000`"))?;
    let share = probability.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    let share = share
        .ok_or_else(|| format!("`{probability}` is no cumulative probability: write a number from 0 to 1"))?;
    match before {
        Some((earlier, _)) if bytes <= earlier => {
            Err(format!("the size {bytes} comes after {earlier}: sizes must rise from line to line"))
        }
        Some((_, earlier)) if share < earlier => Err(format!(
            "the probability {share} comes after {earlier}: probabilities are cumulative and must not fall"
        )),
        _ => Ok((bytes, share)),
    }
}

impl FlowSizes {
    /// The next size, bytes. A table takes one number of the stream a value, as measured distributions do.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        match self {
            FlowSizes::Named(distribution) => distribution.draw(stream),
            FlowSizes::Table(table) => (libm::round(table.quantile(stream.uniform())) as u64).max(1),
        }
    }

    /// The mean of what is drawn, before it is rounded, bytes.
    pub fn mean(&self) -> f64 {
        match self {
            FlowSizes::Named(distribution) => distribution.mean(),
            FlowSizes::Table(table) => table.mean(),
        }
    }

    /// What is wrong with it, and what would be right; none if nothing is.
    pub fn problem(&self) -> Option<String> {
        match self {
            FlowSizes::Named(distribution) => distribution.problem(),
            FlowSizes::Table(_) => None,
        }
    }
}

impl fmt::Display for FlowSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlowSizes::Named(distribution) => distribution.fmt(f),
            FlowSizes::Table(table) => f.write_str(&table.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;

    const TABLE: &str = "# measured\nsize,probability\n1000,0.2\n\n3000,0.6\n13000,1\n";

    #[test]
    fn a_table_is_linear_between_its_points() {
        let table = SizeTable::parse("sizes.csv", TABLE).unwrap();
        // A fifth has 1,000 B; then 0.4 over 2,000 B and 0.4 over 10,000 B.
        for (p, size) in
            [(0.0, 1000.0), (0.1, 1000.0), (0.4, 2000.0), (0.6, 3000.0), (0.7, 5500.0), (1.0, 13_000.0)]
        {
            assert!((table.quantile(p) - size).abs() < 1e-9, "{p}: {}", table.quantile(p));
        }
        // 0.2 x 1,000 + 0.4 x 2,000 + 0.4 x 8,000.
        assert!((table.mean() - 4_200.0).abs() < 1e-9);
        assert_eq!(SizeTable::parse("sizes.csv", &table.to_text()), Ok(table.clone()));
        // The standard error of a mean of 100,000 draws is less than the range / 2 / 316 = 19; six of them are allowed.
        let sizes = FlowSizes::Table(table);
        let mut stream = Stream::new(1, Purpose::ShortFlows, 0);
        let sum: u64 = (0..100_000).map(|_| sizes.draw(&mut stream)).sum();
        assert!((sum as f64 / 1e5 - 4_200.0).abs() < 114.0);
    }

    #[test]
    fn an_error_names_the_line_and_what_is_valid() {
        let refused = |text: &str| SizeTable::parse("s", text).unwrap_err().to_string();
        for (text, message) in [
            (
                "size,probability\n1000\n",
                "line 2: it has 1 columns: a line is a size in bytes and a cumulative",
            ),
            ("1000,0.5\n2 KB,1\n", "line 2: `2 KB` is no size: write whole bytes from 1 on"),
            ("0,0\n", "line 1: `0` is no size"),
            ("1000,50\n", "line 1: `50` is no cumulative probability: write a number from 0 to 1"),
            ("1000,0.5\n\n900,1\n", "line 3: the size 900 comes after 1000: sizes must rise"),
            ("1000,0.5\n2000,0.4\n", "line 2: the probability 0.4 comes after 0.5"),
            ("1000,0.5\n2000,0.9\n", "the last probability is 0.9; it must be 1"),
            ("size,probability\n", "the table is empty: it needs lines such as `30000,0.5`"),
        ] {
            let said = refused(text);
            assert!(said.starts_with(message), "{text}: {said}");
        }
    }
}
