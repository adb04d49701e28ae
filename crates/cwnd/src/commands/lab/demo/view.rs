//! What `cwnd lab demo` shows.

use crate::output::{
    self,
    sketch::{self, Line, Panel},
};
use cwnd_lab::LiveFlow;
use cwnd_plot::number::si;
use cwnd_report::table::{Align, Sacrifice, Table};
use cwnd_scenario::Time;
use std::time::Instant;

/// Where standard output is no terminal, characters.
const USUAL_COLUMNS: usize = 80;

/// The flows of a run so far.
pub struct View {
    duration: Time,
    flows: Vec<Flow>,
    /// When the first flow was seen.
    begin: Option<Instant>,
    /// Seconds from then to the last look.
    now: f64,
}

/// A flow so far.
struct Flow {
    name: String,
    /// Bytes that were acknowledged when it was first seen.
    first_bytes: u64,
    last: Option<LiveFlow>,
    /// Seconds and bit/s between looks.
    throughputs: Line,
    /// Seconds and segments at looks.
    windows: Line,
}

impl View {
    /// Creates the view of flows by their names.
    pub fn new(names: Vec<String>, duration: Time) -> View {
        let flow =
            |name| Flow { name, first_bytes: 0, last: None, throughputs: Line::new(), windows: Line::new() };
        View { duration, flows: names.into_iter().map(flow).collect(), begin: None, now: 0.0 }
    }

    /// Whether a flow has been seen.
    pub fn has_begun(&self) -> bool {
        self.begin.is_some()
    }

    /// Keeps what the flows' sockets told at a time.
    pub fn look(&mut self, at: Instant, flows: &[Option<LiveFlow>]) {
        if flows.iter().all(Option::is_none) {
            return;
        }
        let begin = *self.begin.get_or_insert(at);
        self.keep((at - begin).as_secs_f64(), flows);
    }

    fn keep(&mut self, now: f64, flows: &[Option<LiveFlow>]) {
        let passed = now - self.now;
        for (flow, told) in self.flows.iter_mut().zip(flows) {
            let Some(told) = told else { continue };
            if let Some(last) = flow.last.filter(|_| passed > 0.0) {
                let bytes = told.acknowledged_bytes.saturating_sub(last.acknowledged_bytes);
                flow.throughputs.push((now, 8.0 * bytes as f64 / passed));
            }
            if flow.last.is_none() {
                flow.first_bytes = told.acknowledged_bytes;
            }
            flow.windows.push((now, told.cwnd.into()));
            flow.last = Some(*told);
        }
        self.now = now;
    }

    /// Returns a table of what is, and sketches of what was.
    pub fn text(&self, columns: Option<usize>) -> String {
        let columns = columns.unwrap_or(USUAL_COLUMNS);
        let right = ["throughput", "RTT", "cwnd", "resent"].map(|name| (name, Align::Right));
        let mut table = Table::new([("flow", Align::Left)].into_iter().chain(right))
            .units(["", "Mbit/s", "ms", "packets", ""])
            .indent(2);
        for (flow, number) in self.flows.iter().zip(1..) {
            let throughput = flow.throughputs.last().map(|point| format!("{:.2}", point.1 * 1e-6));
            let of = |value: fn(&LiveFlow) -> String| flow.last.as_ref().map(value).unwrap_or_default();
            table.row([
                format!("{number} {}", flow.name),
                throughput.unwrap_or_default(),
                of(|last| format!("{:.1}", last.rtt.as_secs_f64() * 1e3)),
                of(|last| last.cwnd.to_string()),
                of(|last| last.retransmissions.to_string()),
            ]);
        }
        let sacrifices =
            [Sacrifice::Shorten("flow", 12), Sacrifice::Drop("resent"), Sacrifice::Shorten("flow", 6)];
        table.fit(columns, &sacrifices);
        let sketch = |lines: fn(&Flow) -> &Line, number: &dyn Fn(f64) -> String| {
            let panel = |flow: &Flow| Panel { label: flow.name.clone(), lines: vec![lines(flow).clone()] };
            let panels: Vec<Panel> = self.flows.iter().map(panel).collect();
            sketch::text(&panels, self.duration, number, columns)
        };
        let throughputs = sketch(|flow| &flow.throughputs, &|most| si(most, "bit/s"));
        let windows = sketch(|flow| &flow.windows, &|most| format!("{most:.0}"));
        format!(
            "{table}\n  {:.0} of {}; throughput (payload)\n{throughputs}\n  cwnd, packets\n{windows}\n",
            self.now, self.duration
        )
    }

    /// Returns a line on the whole: the mean throughput of each flow, and how evenly they shared.
    pub fn summary(&self) -> String {
        let rate = |flow: &Flow| {
            let bytes = flow.last.map_or(0, |last| last.acknowledged_bytes - flow.first_bytes);
            if self.now > 0.0 { 8.0 * bytes as f64 / self.now } else { 0.0 }
        };
        let rates: Vec<f64> = self.flows.iter().map(rate).collect();
        let means: Vec<String> = (self.flows.iter().zip(&rates))
            .map(|(flow, rate)| format!("{} {:.2} Mbit/s", flow.name, rate * 1e-6))
            .collect();
        let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
        let jain = rates.iter().sum::<f64>().powi(2) / (rates.len() as f64 * squares);
        let fairness = match rates.len() > 1 && jain.is_finite() {
            true => format!("; Jain's index {jain:.3}"),
            false => String::new(),
        };
        output::wrapped(&format!("In {:.1} s: {}{fairness}", self.now, means.join(", ")), 2) + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throughputs_are_differences_and_shares_are_told() {
        let mut view = View::new(vec!["cubic-linux".into(), "bbr".into()], Time::from_secs(10));
        let told = |acknowledged_bytes, cwnd| {
            Some(LiveFlow {
                cwnd,
                rtt: Time::from_millis(40),
                acknowledged_bytes,
                retransmissions: 3,
                ..LiveFlow::default()
            })
        };
        view.keep(0.0, &[told(500, 10), None]);
        view.keep(1.0, &[told(1_000_500, 20), told(0, 10)]);
        view.keep(2.0, &[told(3_000_500, 40), told(1_000_000, 80)]);
        // 2 MB and 1 MB in the last second.
        let text = view.text(Some(80));
        let rows: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(rows[3], "1 cubic-linux 16.00 40.0 40 3", "{text}");
        assert_eq!(rows[4], "2 bbr 8.00 40.0 80 3", "{text}");
        assert!(
            text.contains("  2 of 10 s; throughput (payload)\n") && text.contains("16.0 Mbit/s │"),
            "{text}"
        );
        for columns in [50, 80, 100] {
            let text = view.text(Some(columns));
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}: {text}");
        }
        // 12 and 4 Mbit/s: 16^2 / (2 (144 + 16)) = 0.8.
        let summary = "  In 2.0 s: cubic-linux 12.00 Mbit/s, bbr 4.00 Mbit/s; Jain's index 0.800\n\n";
        assert_eq!(view.summary(), summary);
    }
}
