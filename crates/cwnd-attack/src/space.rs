//! The search space: from genes, numbers between 0 and 1, to paths.

use crate::path::{Component, Path};
use std::{fmt, str::FromStr};

const MS: u64 = 1_000_000;

/// What a search may vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Steps of the rate, and outages.
    Rate,
    /// The base round-trip time, and steps of the delay.
    Delay,
    /// The buffer.
    Buffer,
    /// Random losses, bursts of losses, or a train of bursts.
    Loss,
    /// A policer before the bottleneck.
    Policer,
    /// Pulses without congestion control, and a flow of CUBIC.
    Cross,
}

/// All of them, with the names by which commands have them.
pub const FAMILIES: [(&str, Family); 6] = [
    ("rate", Family::Rate),
    ("delay", Family::Delay),
    ("buffer", Family::Buffer),
    ("loss", Family::Loss),
    ("policer", Family::Policer),
    ("cross", Family::Cross),
];

impl FromStr for Family {
    type Err = String;

    fn from_str(text: &str) -> Result<Family, String> {
        let found = FAMILIES.iter().find(|(name, _)| *name == text.trim());
        found.map(|(_, family)| *family).ok_or_else(|| {
            let names: Vec<&str> = FAMILIES.iter().map(|(name, _)| *name).collect();
            format!("`{}` is none of {}", text.trim(), names.join(", "))
        })
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = FAMILIES.iter().find(|(_, family)| family == self);
        f.write_str(found.map_or("", |(name, _)| name))
    }
}

/// What all paths of a search have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// Rate of the bottleneck, bit/s.
    pub rate: u64,
    /// How long runs are, ns.
    pub duration: u64,
    /// Packets of the longest burst of losses, at least 1. They are counted as packets cross the link. After a timeout a sender
    /// sends one packet at a time, so a burst that is longer than a flight lasts as long as the sender backs off.
    pub longest_burst: u64,
}

impl Base {
    /// Packets of the longest burst if nothing else is said: an initial window.
    pub const BURST: u64 = 10;
    /// The base round-trip time of a path on which the delay is not varied, ns.
    pub const RTT: u64 = 40 * MS;
    /// The buffer of one on which the buffer is not varied, hundredths of a BDP.
    pub const BUFFER: u64 = 100;
}

/// The paths that a search may take.
#[derive(Clone, Debug)]
pub struct Space {
    base: Base,
    families: Vec<Family>,
    genes: usize,
}

/// A component is there if its first gene is over this.
const THERE: f64 = 0.6;
/// Bytes of a full packet, about.
const PACKET: f64 = 1_500.0;
/// Bursts of losses.
const BURSTS: usize = 4;
/// The first packet that a burst may take: those before it open the connection.
const FIRST_LOST: f64 = 5.0;
/// Packets from burst to burst of a train.
const LEAST_PERIOD: f64 = 50.0;

impl Space {
    /// Creates the space of paths in which these families vary; all others are as in [`Base`], or not there.
    ///
    /// # Panics
    /// If there is no family.
    pub fn new(base: Base, families: &[Family]) -> Space {
        assert!(!families.is_empty(), "something must vary");
        let mut families = families.to_vec();
        families.sort_unstable();
        families.dedup();
        let mut space = Space { base, families, genes: 0 };
        let mut counter = Genes { values: &[], taken: 0 };
        space.read(&mut counter);
        space.genes = counter.taken;
        space
    }

    /// Returns the number of genes.
    pub fn genes(&self) -> usize {
        self.genes
    }

    /// Returns the path of these genes. Numbers have two significant digits. Genes outside of 0 to 1 count as the nearer end.
    pub fn path(&self, genes: &[f64]) -> Path {
        self.read(&mut Genes { values: genes, taken: 0 })
    }

    fn read(&self, genes: &mut Genes<'_>) -> Path {
        let Base { rate, duration, .. } = self.base;
        let varies = |family| self.families.contains(&family);
        let mut path = Path { rate, duration, rtt: Base::RTT, buffer: Base::BUFFER, components: Vec::new() };
        if varies(Family::Delay) {
            path.rtt = genes.log(10e6, 200e6);
        }
        if varies(Family::Buffer) {
            path.buffer = genes.log(10.0, 400.0);
        }
        let (bits, end) = (rate as f64, duration as f64);
        if varies(Family::Rate) {
            for _ in 0..3 {
                let there = genes.there();
                let (at, rate) = (genes.linear(0.02 * end, 0.95 * end), genes.log(0.05 * bits, 2.0 * bits));
                path.components.extend(there.then_some(Component::Rate { at, rate }));
            }
            let there = genes.there();
            let (at, length) = (genes.linear(0.02 * end, 0.8 * end), genes.log(20e6, 0.2 * end));
            path.components.extend(there.then_some(Component::Outage { at, length }));
        }
        if varies(Family::Delay) {
            for _ in 0..2 {
                let there = genes.there();
                let (at, delay) = (genes.linear(0.02 * end, 0.95 * end), genes.log(3e6, 200e6));
                path.components.extend(there.then_some(Component::Delay { at, delay }));
            }
        }
        if varies(Family::Loss) {
            self.losses(genes, &mut path.components);
        }
        if varies(Family::Policer) {
            let there = genes.there();
            let (rate, burst) = (genes.log(0.2 * bits, 1.2 * bits), genes.log(2.0 * PACKET, 100.0 * PACKET));
            path.components.extend(there.then_some(Component::Policer { rate, burst }));
        }
        if varies(Family::Cross) {
            let there = genes.there();
            let (start, rate) = (genes.linear(0.0, 0.5 * end), genes.log(0.5 * bits, 4.0 * bits));
            let (on, off) = (genes.log(10e6, 500e6), genes.log(50e6, 2e9));
            path.components.extend(there.then_some(Component::Pulses { start, rate, on, off }));
            let there = genes.there();
            let (start, length) = (genes.linear(0.0, 0.5 * end), genes.linear(0.1 * end, 0.5 * end));
            path.components.extend(there.then_some(Component::Flow { start, stop: start + length }));
        }
        path
    }

    /// Losses at random, up to [`BURSTS`] bursts, or a train of bursts from its first to the end.
    fn losses(&self, genes: &mut Genes<'_>, components: &mut Vec<Component>) {
        let packets = (self.base.rate as f64 / 8.0 * self.base.duration as f64 / 1e9 / PACKET).max(20.0);
        let longest = self.base.longest_burst.max(1) as f64;
        let kind = genes.next();
        let millionths = genes.log(100.0, 50_000.0);
        let bursts: Vec<(bool, u64, u64)> = (0..BURSTS)
            .map(|_| (genes.there(), genes.place(FIRST_LOST, 0.9 * packets), genes.log(1.0, longest)))
            .collect();
        let period = genes.log(LEAST_PERIOD, (packets / 2.0).max(2.0 * LEAST_PERIOD));
        let first = genes.place(FIRST_LOST, FIRST_LOST + period as f64);
        let count = genes.linear(1.0, longest.min(LEAST_PERIOD / 2.0));
        if kind > 0.8 {
            components.push(Component::Loss { millionths });
        } else if kind > 0.3 {
            let burst = |&(_, first, count): &(bool, u64, u64)| Component::Burst { first, count };
            components.extend(bursts.iter().filter(|(there, ..)| *there).map(burst));
        } else if kind < 0.25 {
            let times = (packets as u64).saturating_sub(first) / period + 1;
            components.push(Component::Train { first, count, period, times });
        }
    }
}

/// Genes that are taken one after the other. Those that are not there count as one half.
struct Genes<'a> {
    values: &'a [f64],
    taken: usize,
}

impl Genes<'_> {
    fn next(&mut self) -> f64 {
        let value = self.values.get(self.taken).copied().unwrap_or(0.5);
        self.taken += 1;
        value.clamp(0.0, 1.0)
    }

    fn there(&mut self) -> bool {
        self.next() > THERE
    }

    fn linear(&mut self, least: f64, most: f64) -> u64 {
        rounded(least + self.next() * (most - least), 2)
    }

    fn log(&mut self, least: f64, most: f64) -> u64 {
        rounded(least * libm::pow(most / least, self.next()), 2)
    }

    /// The number of a packet, with four digits: what an algorithm does at a moment may last for a few packets. Half of all bursts
    /// begin in the first eighth of a run.
    fn place(&mut self, least: f64, most: f64) -> u64 {
        let gene = self.next();
        rounded(least + gene * gene * gene * (most - least), 4)
    }
}

/// Rounds a value to this number of significant digits.
pub fn rounded(value: f64, digits: u32) -> u64 {
    let mut unit = 1.0;
    while value / unit >= libm::pow(10.0, f64::from(digits)) {
        unit *= 10.0;
    }
    (libm::round(value / unit) * unit) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Base = Base { rate: 10_000_000, duration: 5_000 * MS, longest_burst: Base::BURST };

    #[test]
    fn numbers_are_those_that_a_person_would_write() {
        let all = [(1_234_567.0, 2, 1_200_000), (996.0, 2, 1_000), (7.4, 2, 7), (55.0, 1, 60), (0.3, 1, 0)];
        for (value, digits, expected) in all {
            assert_eq!(rounded(value, digits), expected);
        }
    }

    #[test]
    fn all_genes_have_a_part_in_their_space_alone() {
        let all: Vec<Family> = FAMILIES.iter().map(|(_, family)| *family).collect();
        let space = Space::new(BASE, &all);
        let full = space.path(&vec![0.75; space.genes()]);
        // Three rates, an outage, two delays, four bursts, a policer, pulses and a flow.
        assert_eq!(full.components.len(), 13);
        assert!(space.path(&vec![0.5; space.genes()]).components.is_empty());

        // A train of bursts up to the last of 4,166 packets.
        let losses = Space::new(BASE, &[Family::Loss]);
        let mut genes = vec![0.5; losses.genes()];
        genes[0] = 0.1;
        let train = Component::Train { first: 45, count: 6, period: 320, times: 13 };
        assert_eq!(losses.path(&genes).components, [train]);

        let policers = Space::new(BASE, &[Family::Policer]);
        assert_eq!(policers.genes(), 3);
        let path = policers.path(&[1.0, 0.0, 2.0]);
        assert_eq!((path.rtt, path.buffer), (Base::RTT, Base::BUFFER));
        assert_eq!(path.components, [Component::Policer { rate: 2_000_000, burst: 150_000 }]);
    }

    #[test]
    fn families_are_read_by_their_names() {
        for (name, family) in FAMILIES {
            assert_eq!((name.parse(), family.to_string().as_str()), (Ok(family), name));
        }
        assert!("losses".parse::<Family>().unwrap_err().contains("none of rate, delay, buffer, loss"));
    }
}
