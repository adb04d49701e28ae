//! The check: cwnd's results for the cells of P2 beside the rows of ns-2.35, and the bars that they miss.

use super::cells::{BUFFERS, PAIRS, Pair, Run, Starts, four_flows};
use super::misses::{Bar, Miss};
use super::rows::{Key, Row};
use crate::cwnd::Cwnd;
use crate::parallel::parallel;
use crate::table::{cells, table};
use cwnd_metrics::statistics::Summary;

/// A row of ns-2, and cwnd's result for the same run.
pub struct Comparison<'a> {
    pub row: &'a Row,
    pub ours: Run,
}

/// Runs cwnd for each row, on all cores.
pub fn run<'a>(cwnd: &Cwnd, rows: &'a [Row]) -> Result<Vec<Comparison<'a>>, String> {
    parallel(rows.len(), |number| {
        let row = &rows[number];
        Ok(Comparison { row, ours: row.key.run_cwnd(cwnd)? })
    })
}

/// A cell: the results that differ only in their seeds.
struct Cell<'a> {
    pair: Pair,
    buffer: u32,
    starts: Starts,
    runs: Vec<&'a Comparison<'a>>,
}

/// A quantity of both simulators, seed by seed.
struct Both {
    theirs: Vec<f64>,
    ours: Vec<f64>,
}

impl Cell<'_> {
    fn both(&self, of: impl Fn(&Run) -> f64) -> Both {
        Both {
            theirs: self.runs.iter().map(|run| of(&run.row.run)).collect(),
            ours: self.runs.iter().map(|run| of(&run.ours)).collect(),
        }
    }

    fn throughput(&self) -> Both {
        let setting = four_flows(self.buffer);
        self.both(|run| run.throughput_mbps(&setting))
    }

    /// Returns the difference of the means, and half of its 95 % interval, in the bar's unit. Both simulators have the same
    /// starts, so the interval is that of the paired differences.
    fn difference(&self, bar: Bar) -> (f64, Option<f64>) {
        let both = match bar {
            Bar::Throughput => self.throughput(),
            Bar::Drops => self.both(Run::drops),
            Bar::Jain => self.both(Run::jain_index),
        };
        let unit = if bar == Bar::Jain { 1.0 } else { mean(&both.theirs) };
        let differences: Vec<f64> = both.ours.iter().zip(&both.theirs).map(|(a, b)| (a - b) / unit).collect();
        (mean(&differences), half_interval(&differences))
    }

    /// Returns the largest difference that a bar accepts.
    fn bound(&self, bar: Bar) -> f64 {
        match bar {
            Bar::Throughput if self.starts == Starts::Together => 0.02,
            Bar::Throughput => 0.05,
            Bar::Drops => 0.15,
            Bar::Jain => 0.05,
        }
    }

    /// Returns the bars of the cell. With a common start, modules whose result depends on ties have none.
    fn bars(&self) -> &'static [Bar] {
        let depends_on_ties = !["reno", "bic", "cubic", "highspeed"].contains(&self.pair.module);
        if self.starts == Starts::Together && depends_on_ties { &[] } else { &Bar::ALL }
    }

    fn misses(&self) -> Vec<Miss> {
        let missed = |&&bar: &&Bar| {
            let (difference, _) = self.difference(bar);
            // The difference is not a number where neither simulator drops a packet.
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
                None => format!("{:.digits$}", mean(&values)),
                Some(half) => format!("{:.digits$} ± {half:.digits$}", mean(&values)),
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
                () if half.is_some_and(|half| difference.abs() - half <= bound) => format!("? {text}"),
                () => format!("! {text}"),
            }
        };
        let mut row = vec![self.pair.to_string(), self.buffer.to_string(), self.runs.len().to_string()];
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

/// Returns the mean; not a number of no values.
pub fn mean(values: &[f64]) -> f64 {
    Summary::of(values).map_or(f64::NAN, |summary| summary.mean)
}

/// Returns half of the 95 % confidence interval of the mean.
fn half_interval(values: &[f64]) -> Option<f64> {
    Summary::of(values)?.ci95
}

fn percent(value: f64) -> String {
    if value.is_nan() { "–".to_owned() } else { format!("{value:.0}") }
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

/// Prints the cells of each kind of starts, and returns the missed bars.
pub fn print(comparisons: &[Comparison]) -> Vec<Miss> {
    let mut misses = Vec::new();
    for starts in Starts::ALL {
        let of = |pair: Pair, buffer: u32| {
            let belongs = |key: &Key| key.pair == pair && key.buffer == buffer && key.starts == starts;
            let runs = comparisons.iter().filter(|comparison| belongs(&comparison.row.key)).collect();
            Cell { pair, buffer, starts, runs }
        };
        let cells_of = |&pair: &Pair| BUFFERS.iter().map(move |&buffer| of(pair, buffer));
        let measured: Vec<Cell> =
            PAIRS.iter().flat_map(cells_of).filter(|cell| !cell.runs.is_empty()).collect();
        if measured.is_empty() {
            continue;
        }
        misses.extend(measured.iter().flat_map(Cell::misses));
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
        print!("{}", table(&[0], &head, &measured.iter().map(Cell::row).collect::<Vec<_>>()));
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
