//! What crosses a network, while it does, and the part of the terminal that shows it.

use crate::{failure::Failure, output};
use cwnd_lab::Snapshot;
use cwnd_report::table::{Align, Sacrifice, Table};
use cwnd_scenario::{Rate, Scenario, Time};
use std::io::{self, IsTerminal, Write};

/// A text on standard output that is written over again and again on a terminal, and line after line elsewhere.
#[derive(Default)]
pub struct Screen {
    lines: usize,
}

impl Screen {
    /// Shows a text in the place of the last one. Its lines must not be wider than the terminal.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn show(&mut self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout();
        if stdout.is_terminal() && self.lines > 0 {
            // Over what was written before. `print` handles a closed pipe.
            let _ = write!(stdout, "\x1b[{}A\x1b[J", self.lines);
        }
        self.lines = text.lines().count();
        output::print(text)
    }
}

/// The counters of a network's links, and what they were when they were last shown.
pub struct Live<'a> {
    scenario: &'a Scenario,
    before: Snapshot,
}

impl<'a> Live<'a> {
    /// For the network of a scenario.
    pub fn new(scenario: &'a Scenario) -> Live<'a> {
        Live { scenario, before: Snapshot::default() }
    }

    /// A table of the links, a line each, and how late packets are: rates are those since the last time. It is at most this
    /// number of columns wide if there is a limit.
    pub fn text(&mut self, now: Snapshot, columns: Option<usize>) -> String {
        let right =
            ["rate", "packets", "waiting", "dropped", "lost", "marked"].map(|name| (name, Align::Right));
        let mut table = Table::new([("link", Align::Left)].into_iter().chain(right)).indent(2);
        let seconds = (now.counts.at.saturating_sub(self.before.counts.at)) as f64 * 1e-9;
        for (i, (link, counts)) in self.scenario.network.links.iter().zip(&now.counts.links).enumerate() {
            let before = self.before.counts.links.get(i).map_or(0, |before| before.sent_bytes);
            let bits = (counts.sent_bytes - before) as f64 * 8.0;
            let rate = if seconds > 0.0 { Rate((bits / seconds) as u64) } else { Rate(0) };
            let waiting = now.counts.waiting.get(i).copied().unwrap_or(0);
            table.row([
                link.name.clone(),
                rate_text(rate),
                counts.arrived.to_string(),
                waiting.to_string(),
                counts.dropped.to_string(),
                counts.lost.to_string(),
                counts.marked.to_string(),
            ]);
        }
        let [median, most, longest] = now.late.map(|late| Time(late).to_string());
        let [marked, lost, packets] = ["marked", "lost", "packets"].map(Sacrifice::Drop);
        let table =
            output::fitted_to(columns, table, &[marked, lost, Sacrifice::Shorten("link", 16), packets]);
        let text = format!("{table}  late by {median}, 1 in 100 by {most}, at most {longest}\n");
        self.before = now;
        text
    }
}

/// In Mbit/s, so that a column can be read.
fn rate_text(rate: Rate) -> String {
    format!("{:.2} Mbit/s", rate.0 as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_experiment::{ExperimentSpec, FlowGroup};
    use cwnd_lab::LinkCounts;
    use cwnd_scenario::AlgorithmSpec;

    #[test]
    fn the_links_fit_the_columns() {
        let cubic = AlgorithmSpec { name: "cubic".to_owned(), ..AlgorithmSpec::default() };
        let mut scenario = ExperimentSpec::default().scenario(&[FlowGroup::new(cubic, 2)], 1).unwrap();
        scenario.network.links[0].name = "a link with a name that nobody would type in a hurry".to_owned();
        let mut now = Snapshot { late: [1_000, 20_000_000, 3_000_000_000], ..Snapshot::default() };
        now.counts.at = 1_000_000_000;
        let counts = LinkCounts { arrived: 123_456_789, sent_bytes: 5_000_000_000, ..LinkCounts::default() };
        now.counts.links = vec![counts; scenario.network.links.len()];
        for columns in [80, 100, 160] {
            let text = Live::new(&scenario).text(now.clone(), Some(columns));
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}: {text}");
            assert!(text.contains("40000.00 Mbit/s"), "{text}");
            assert_eq!(text.contains("left out"), columns < 160, "{columns}: {text}");
        }
    }
}
