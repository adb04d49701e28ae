//! The bars that are known to be missed, and why: `xtask/fidelity/misses.txt`.

use super::cells::Starts;
use super::rows::Key;
use crate::command;
use std::fmt;

/// What is held against ns-2.
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
    /// What is written down about it.
    pub why: String,
}

impl Miss {
    pub fn is_of(&self, other: &Miss) -> bool {
        let cell = |miss: &Miss| (miss.starts, miss.buffer, miss.bar);
        cell(self) == cell(other) && self.module == other.module
    }

    /// Whether it is a bar of the cell to which a run belongs.
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

/// What is written down.
pub fn written() -> Result<Vec<Miss>, String> {
    let path = command::root().join("xtask/fidelity/misses.txt");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(at, line)| {
            parse(line).ok_or_else(|| {
                format!(
                    "{}:{}: \"{line}\" is no miss; say STARTS MODULE BUFFER BAR WHY, such as `round-trip yeah 100 \
                     drops one epoch more or less`",
                    path.display(),
                    at + 1
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
    fn a_miss_is_written_as_it_is_printed() {
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
