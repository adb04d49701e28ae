//! The known misses with their reasons: `data/misses.txt`.

use super::cells::Starts;
use super::rows::Key;
use crate::program;
use std::fmt;

/// A quantity with a bar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Bar {
    Throughput,
    Drops,
    Jain,
}

impl Bar {
    pub const ALL: [Bar; 3] = [Bar::Throughput, Bar::Drops, Bar::Jain];

    fn name(self) -> &'static str {
        match self {
            Bar::Throughput => "throughput",
            Bar::Drops => "drops",
            Bar::Jain => "jain",
        }
    }
}

/// A bar that a cell misses.
#[derive(Debug)]
pub struct Miss {
    pub starts: Starts,
    pub module: String,
    pub buffer: u32,
    pub bar: Bar,
    /// The reason of a known miss; empty for a measured one.
    pub why: String,
}

impl Miss {
    /// Returns whether two misses have the same cell and bar.
    pub fn is_of(&self, other: &Miss) -> bool {
        let cell = |miss: &Miss| (miss.starts, miss.buffer, miss.bar);
        cell(self) == cell(other) && self.module == other.module
    }

    /// Returns whether a run belongs to the cell of the miss.
    pub fn is_in(&self, run: &Key) -> bool {
        (self.starts, self.buffer) == (run.starts, run.buffer) && self.module == run.pair.module
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Miss { starts, module, buffer, bar, .. } = self;
        write!(f, "{} {module} {buffer} {}", starts.name(), bar.name())
    }
}

/// Reads the known misses.
pub fn known() -> Result<Vec<Miss>, String> {
    const FILE: &str = "misses.txt";
    let text = program::read_data(FILE)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            parse(line).ok_or_else(|| {
                format!(
                    "{FILE}:{}: \"{line}\" is not a known miss; write STARTS MODULE BUFFER BAR WHY, for example \
                     `round-trip yeah 100 drops one epoch more or less`",
                    number + 1
                )
            })
        })
        .collect()
}

fn parse(line: &str) -> Option<Miss> {
    let mut words = line.splitn(5, ' ');
    let starts = words.next()?;
    let starts = Starts::ALL.into_iter().find(|known| known.name() == starts)?;
    let module = words.next()?.to_owned();
    let buffer = words.next()?.parse().ok()?;
    let bar = words.next()?;
    let bar = Bar::ALL.into_iter().find(|known| known.name() == bar)?;
    let why = words.next().filter(|why| !why.is_empty())?.to_owned();
    Some(Miss { starts, module, buffer, bar, why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_is_printed_as_in_the_file() {
        let miss = parse("round-trip yeah 100 drops one epoch more or less").unwrap();
        assert_eq!(miss.to_string(), "round-trip yeah 100 drops");
        assert_eq!(miss.why, "one epoch more or less");
        assert!(miss.is_of(&parse("round-trip yeah 100 drops another reason").unwrap()));
        assert!(!miss.is_of(&parse("round-trip yeah 100 jain one epoch more or less").unwrap()));
        for line in
            ["round-trip yeah 100 drops", "round-trip yeah many drops why", "never yeah 100 drops why"]
        {
            assert!(parse(line).is_none(), "{line}");
        }
    }
}
