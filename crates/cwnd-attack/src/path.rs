//! A path: a bottleneck, what happens on it over time, and the settings of studies that say the same.

use crate::goal::{CROSS, OWN};
use cwnd_scenario::{ByteSize, Rate, Time};
use std::collections::BTreeMap;

/// A path on which an algorithm is attacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Rate of the bottleneck, bit/s.
    pub rate: u64,
    /// How long a run is, ns.
    pub duration: u64,
    /// Base round-trip time, ns.
    pub rtt: u64,
    /// The bottleneck's buffer in hundredths of a BDP.
    pub buffer: u64,
    /// What else happens. Each can be removed.
    pub components: Vec<Component>,
}

/// One thing that happens on a path. Rates are in bit/s, times in ns, sizes in bytes.
#[allow(missing_docs)] // The fields are what the variants' descriptions name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Component {
    /// The bottleneck's rate from a time on.
    Rate { at: u64, rate: u64 },
    /// Nothing leaves the bottleneck for a time.
    Outage { at: u64, length: u64 },
    /// The bottleneck's delay, one way, from a time on.
    Delay { at: u64, delay: u64 },
    /// Packets are lost at random, each with this probability in millionths.
    Loss { millionths: u64 },
    /// `count` packets in a row are lost, the first of which is number `first` of those that cross the bottleneck. A path with
    /// bursts has no [`Component::Loss`].
    Burst { first: u64, count: u64 },
    /// `times` bursts of `count` packets each, whose first packets are `period` packets apart. A path with a train has no
    /// [`Component::Loss`].
    Train { first: u64, count: u64, period: u64, times: u64 },
    /// A token bucket of these bytes before the bottleneck.
    Policer { rate: u64, burst: u64 },
    /// Bursts of cross traffic without congestion control.
    Pulses { start: u64, rate: u64, on: u64, off: u64 },
    /// A flow of CUBIC alongside.
    Flow { start: u64, stop: u64 },
}

impl Path {
    /// Returns the settings of the path, as studies write them; the flow under test is called `candidate`. A list has several
    /// texts.
    pub fn settings(&self) -> Vec<(&'static str, Vec<String>)> {
        let one = |text: String| vec![text];
        let mut settings = vec![
            ("rate", one(Rate(self.rate).to_string())),
            ("rtt", one(Time(self.rtt).to_string())),
            ("buffer", one(format!("{} BDP", hundredths(self.buffer)))),
            ("duration", one(Time(self.duration).to_string())),
        ];
        let lost: Vec<String> = self.lost().iter().map(u64::to_string).collect();
        if !lost.is_empty() {
            settings.push(("loss", one(format!("nth:{}", lost.join(",")))));
        }
        let mut flows = vec![format!("candidate; group={OWN}")];
        for component in &self.components {
            match component {
                Component::Loss { millionths } => {
                    settings.push(("loss", one(format!("{}", *millionths as f64 / 1e6))));
                }
                Component::Policer { rate, burst } => {
                    settings.push(("policer", one(format!("{}, {}", Rate(*rate), ByteSize(*burst)))));
                }
                Component::Pulses { start, rate, on, off } => {
                    let (rate, on, off) = (Rate(*rate), Time(*on), Time(*off));
                    let start = Time(*start);
                    flows.push(format!(
                        "newreno; traffic=pulses:{rate},{on},{off}; start={start}; group={CROSS}"
                    ));
                }
                Component::Flow { start, stop } => {
                    flows.push(format!("cubic; start={}; stop={}; group={CROSS}", Time(*start), Time(*stop)));
                }
                _ => {}
            }
        }
        let steps = self.steps();
        if !steps.is_empty() {
            settings.push(("schedule", steps));
        }
        settings.push(("flow", flows));
        settings
    }

    /// Returns what the bursts lose, in sentences for a reader of the list.
    pub fn notes(&self) -> Vec<String> {
        let note = |component: &Component| match component {
            Component::Burst { first, count: 1 } => Some(format!("packet {first} is lost")),
            Component::Burst { first, count } => {
                Some(format!("packets {first} to {} are lost", first + count - 1))
            }
            Component::Train { first, count, period, times } => Some(format!(
                "packets {first} to {} are lost, and so every {period} packets, {times} times in all",
                first + count - 1
            )),
            _ => None,
        };
        self.components.iter().filter_map(note).collect()
    }

    /// Returns every number that may be rounded, in a fixed order. The rate and the duration stay.
    pub fn numbers(&mut self) -> Vec<&mut u64> {
        let mut numbers = vec![&mut self.rtt, &mut self.buffer];
        for component in &mut self.components {
            numbers.extend(match component {
                Component::Rate { at, rate } => vec![at, rate],
                Component::Outage { at, length } => vec![at, length],
                Component::Delay { at, delay } => vec![at, delay],
                Component::Loss { millionths } => vec![millionths],
                Component::Burst { first, count } => vec![first, count],
                Component::Train { first, count, period, times: _ } => vec![first, count, period],
                Component::Policer { rate, burst } => vec![rate, burst],
                Component::Pulses { start, rate, on, off } => vec![start, rate, on, off],
                Component::Flow { start, stop } => vec![start, stop],
            });
        }
        numbers
    }

    /// Returns the numbers of the packets that bursts lose, in rising order.
    fn lost(&self) -> Vec<u64> {
        let of = |component: &Component| {
            let (first, count, period, times) = match *component {
                Component::Burst { first, count } => (first, count, 0, 1),
                Component::Train { first, count, period, times } => (first, count, period, times),
                _ => (0, 0, 0, 0),
            };
            (0..times).flat_map(move |time| {
                let first = first + time * period;
                first..first + count
            })
        };
        let mut lost: Vec<u64> = self.components.iter().flat_map(of).collect();
        lost.sort_unstable();
        lost.dedup();
        lost
    }

    /// Returns the steps of the schedule. Of two changes of the same thing at the same time the later component holds.
    fn steps(&self) -> Vec<String> {
        let mut steps: BTreeMap<u64, (Option<String>, Option<String>)> = BTreeMap::new();
        for component in &self.components {
            match component {
                Component::Rate { at, rate } => {
                    steps.entry(*at).or_default().0 = Some(Rate(*rate).to_string());
                }
                Component::Outage { at, length } => {
                    steps.entry(*at).or_default().0 = Some("down".to_owned());
                    steps.entry(at + length).or_default().0.get_or_insert_with(|| "up".to_owned());
                }
                Component::Delay { at, delay } => {
                    steps.entry(*at).or_default().1 = Some(Time(*delay).to_string());
                }
                _ => {}
            }
        }
        let step = |(at, (rate, delay)): (u64, (Option<String>, Option<String>))| {
            let changes: Vec<String> = [rate, delay].into_iter().flatten().collect();
            format!("{}: {}", Time(at), changes.join(", "))
        };
        steps.into_iter().map(step).collect()
    }
}

/// 1.5 for 150.
fn hundredths(value: u64) -> String {
    format!("{}", value as f64 / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn settings_are_written_as_in_studies() {
        let path = Path {
            rate: 10_000_000,
            duration: 5_000 * MS,
            rtt: 40 * MS,
            buffer: 50,
            components: vec![
                Component::Rate { at: 1_000 * MS, rate: 2_000_000 },
                Component::Delay { at: 1_000 * MS, delay: 30 * MS },
                Component::Outage { at: 2_000 * MS, length: 500 * MS },
                Component::Burst { first: 9, count: 3 },
                Component::Burst { first: 11, count: 2 },
                Component::Pulses { start: 0, rate: 20_000_000, on: 50 * MS, off: 450 * MS },
            ],
        };
        let joined: Vec<String> =
            path.settings().iter().map(|(key, texts)| format!("{key} = {}", texts.join(" | "))).collect();
        let expected = [
            "rate = 10 Mbit/s",
            "rtt = 40 ms",
            "buffer = 0.5 BDP",
            "duration = 5 s",
            "loss = nth:9,10,11,12",
            "schedule = 1 s: 2 Mbit/s, 30 ms | 2 s: down | 2.5 s: up",
            "flow = candidate; group=own | newreno; traffic=pulses:20 Mbit/s,50 ms,450 ms; start=0 s; group=cross",
        ];
        assert_eq!(joined, expected);
        assert_eq!(path.notes(), ["packets 9 to 11 are lost", "packets 11 to 12 are lost"]);
    }

    #[test]
    fn a_train_is_a_burst_again_and_again() {
        let train = Component::Train { first: 9, count: 2, period: 100, times: 3 };
        let path = Path { rate: 10_000_000, duration: MS, rtt: MS, buffer: 50, components: vec![train] };
        assert_eq!(path.lost(), [9, 10, 109, 110, 209, 210]);
        assert_eq!(path.notes(), ["packets 9 to 10 are lost, and so every 100 packets, 3 times in all"]);
    }
}
