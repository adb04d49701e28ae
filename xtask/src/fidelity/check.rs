//! The check: P2's cells by cwnd beside the rows of ns-2.35, and which bars are met.

use super::cells::{BUFFERS, PAIRS, Pair, Run, Starts, four_flows};
use super::misses::{Bar, Miss};
use super::rows::{Key, Row};
use crate::statistics::{half_interval, mean};
use crate::table::{cells, table};
use std::path::Path;

/// A row, and what cwnd answers to the same.
pub struct Answer<'a> {
    pub row: &'a Row,
    pub ours: Run,
}

/// Ask cwnd for each row, on all cores.
pub fn ask<'a>(cwnd: &Path, rows: &'a [Row]) -> Result<Vec<Answer<'a>>, String> {
    let asked = super::parallel(rows.len(), |at| {
        let row = &rows[at];
        Ok(Answer { row, ours: row.key.ask_cwnd(cwnd)? })
    });
    asked.into_iter().collect()
}

/// The rows that ns-2 is asked for again, since they are quick.
pub fn asked_again(key: &Key) -> bool {
    let cell = (key.pair.module, key.buffer, key.starts, key.seed);
    matches!(cell, ("reno", 100, Starts::Together, 1) | ("htcp", 100, Starts::RoundTrip, 1))
}

/// A cell: the answers that differ in their seeds alone.
struct Cell<'a> {
    pair: Pair,
    buffer: u32,
    starts: Starts,
    answers: Vec<&'a Answer<'a>>,
}

/// A quantity by both, seed by seed.
struct Both {
    theirs: Vec<f64>,
    ours: Vec<f64>,
}

impl Cell<'_> {
    fn both(&self, of: impl Fn(&Run) -> f64) -> Both {
        Both {
            theirs: self.answers.iter().map(|answer| of(&answer.row.run)).collect(),
            ours: self.answers.iter().map(|answer| of(&answer.ours)).collect(),
        }
    }

    fn throughput(&self) -> Both {
        let setting = four_flows(self.buffer);
        self.both(|run| run.throughput_mbps(&setting))
    }

    /// How far apart the means are, and half the 95 % interval of that, in the bar's unit. Pairs have the same
    /// starts, so that the interval is that of the paired differences.
    fn difference(&self, bar: Bar) -> (f64, f64) {
        let both = match bar {
            Bar::Throughput => self.throughput(),
            Bar::Drops => self.both(Run::drops),
            Bar::Jain => self.both(Run::jain_index),
        };
        let unit = if bar == Bar::Jain { 1.0 } else { mean(&both.theirs) };
        let differences: Vec<f64> = both.ours.iter().zip(&both.theirs).map(|(a, b)| (a - b) / unit).collect();
        (mean(&differences), half_interval(&differences))
    }

    /// How far apart they may be.
    fn bound(&self, bar: Bar) -> f64 {
        match bar {
            Bar::Throughput if self.starts == Starts::Together => 0.02,
            Bar::Throughput => 0.05,
            Bar::Drops => 0.15,
            Bar::Jain => 0.05,
        }
    }

    /// Bars that are held against the cell. Started together, only what depends on no tie is held against ns-2.
    fn bars(&self) -> &'static [Bar] {
        let hangs_on_ties = !["reno", "bic", "cubic", "highspeed"].contains(&self.pair.module);
        if self.starts == Starts::Together && hangs_on_ties { &[] } else { &Bar::ALL }
    }

    fn misses(&self) -> Vec<Miss> {
        let missed = |&&bar: &&Bar| {
            let (difference, _) = self.difference(bar);
            // Not a number where neither drops anything.
            difference.abs() > self.bound(bar)
        };
        let miss = |&bar: &Bar| Miss {
            starts: self.starts,
            module: self.pair.module.to_owned(),
            buffer: self.buffer,
            bar,
            why: String::new(),
        };
        self.bars().iter().filter(missed).map(miss).collect()
    }

    fn row(&self) -> Vec<String> {
        let spread = |both: Both, digits: usize| {
            [both.theirs, both.ours].map(|values| match half_interval(&values) {
                half if half.is_nan() => format!("{:.digits$}", mean(&values)),
                half => format!("{:.digits$} ± {half:.digits$}", mean(&values)),
            })
        };
        let away = |bar: Bar| {
            let (difference, half) = self.difference(bar);
            let text = match bar {
                Bar::Jain => format!("{difference:+.3}"),
                _ => format!("{:+.1} %", difference * 100.0),
            };
            let held = self.bars().contains(&bar);
            let bound = self.bound(bar);
            match () {
                () if !held || difference.abs() <= bound || difference.is_nan() => text,
                // The 95 % interval of the difference reaches into the bar.
                () if difference.abs() - half <= bound => format!("? {text}"),
                () => format!("! {text}"),
            }
        };
        let mut row = vec![self.pair.to_string(), self.buffer.to_string(), self.answers.len().to_string()];
        row.extend(spread(self.throughput(), 1));
        row.push(away(Bar::Throughput));
        row.extend(spread(self.both(Run::drops), 0));
        row.push(away(Bar::Drops));
        row.extend(self.means(|run| 100.0 * run.dropped_at_senders as f64 / run.drops()).map(percent));
        row.extend(self.means(|run| run.retransmitted as f64 - run.drops()).map(whole));
        row.extend(self.means(|run| run.timeouts as f64).map(|mean| format!("{mean:.1}")));
        row.extend(self.means(|run| run.cuts as f64).map(whole));
        row.extend(spread(self.both(Run::jain_index), 3));
        row.push(away(Bar::Jain));
        row
    }

    fn means(&self, of: impl Fn(&Run) -> f64) -> [f64; 2] {
        let both = self.both(of);
        [mean(&both.theirs), mean(&both.ours)]
    }
}

fn percent(value: f64) -> String {
    if value.is_nan() { "–".to_owned() } else { format!("{value:.0}") }
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

/// Print the cells of each kind of starts, and give what is missed.
pub fn print(answers: &[Answer]) -> Vec<Miss> {
    let mut misses = Vec::new();
    for starts in Starts::ALL {
        let of = |pair: Pair, buffer: u32| {
            let asked = |key: &Key| key.pair == pair && key.buffer == buffer && key.starts == starts;
            let answers = answers.iter().filter(|answer| asked(&answer.row.key)).collect();
            Cell { pair, buffer, starts, answers }
        };
        let cells_of = |&pair: &Pair| BUFFERS.iter().map(move |&buffer| of(pair, buffer));
        let there: Vec<Cell> =
            PAIRS.iter().flat_map(cells_of).filter(|cell| !cell.answers.is_empty()).collect();
        if there.is_empty() {
            continue;
        }
        misses.extend(there.iter().flat_map(Cell::misses));
        println!("\n{}\n", title(starts));
        let head = [
            cells(&[
                "",
                "",
                "",
                "throughput",
                "Mbit/s",
                "",
                "drops",
                "",
                "",
                "at senders",
                "%",
                "resent",
                "- drops",
                "timeouts",
                "",
                "cuts",
                "",
                "Jain",
                "",
                "",
            ]),
            [
                cells(&[
                    "algorithm (module)",
                    "buffer",
                    "starts",
                    "ns-2.35",
                    "cwnd",
                    "",
                    "ns-2.35",
                    "cwnd",
                    "",
                ]),
                cells(&["ns-2.35", "cwnd"].repeat(5)),
                cells(&[""]),
            ]
            .concat(),
        ];
        print!("{}", table(&[0], &head, &there.iter().map(Cell::row).collect::<Vec<_>>()));
    }
    misses
}

fn title(starts: Starts) -> &'static str {
    match starts {
        Starts::Together => {
            "All start at 0, and nothing is random: throughput within 2 % where nothing hangs on ties"
        }
        Starts::Packet => "Starts within the time of four packets (33.6 us)",
        Starts::RoundTrip => "Starts within a round trip (204 ms)",
    }
}
