//! The recommendation as tables.

use super::{
    criterion::{Criterion, Quantity},
    host::Step,
    path::Path,
    ranking::{Ranking, Row},
    study::AdviseStudy,
};
use crate::output;
use cwnd_metrics::statistics::Summary;
use cwnd_plot::number::thousands;
use cwnd_report::table::{Align, Table};
use cwnd_scenario::Time;

/// Returns a table whose columns have a heading, a unit and an alignment.
fn table(columns: &[(&str, &str, Align)], rows: Vec<Vec<String>>) -> Table {
    let mut table = Table::new(columns.iter().map(|(heading, _, align)| (*heading, *align)));
    table = table.units(columns.iter().map(|(_, unit, _)| *unit)).indent(2);
    rows.into_iter().for_each(|row| table.row(row));
    table
}

/// What a recommendation consists of.
pub struct Recommendation<'a> {
    pub path: &'a Path,
    pub study: &'a AdviseStudy,
    pub criterion: &'a Criterion,
    pub flows: &'a str,
    pub repeats: u32,
    pub ranking: &'a Ranking,
    /// What is to be set for the one that is recommended.
    pub steps: &'a [Step],
}

impl Recommendation<'_> {
    /// Returns the text of all of it.
    pub fn text(&self) -> String {
        let parts = [self.about_path(), self.ranked(), self.harm(), self.recommended()];
        format!("\n{}\n", parts.join("\n"))
    }

    fn about_path(&self) -> String {
        let mut text = String::new();
        if let Some(source) = &self.path.source {
            text += &format!("  Read: {source}\n\n");
        }
        let mut table =
            Table::new([("path", Align::Left), ("", Align::Left), ("source", Align::Left)]).indent(2);
        for quantity in self.path.stated() {
            table.row([quantity.title, &quantity.text, &quantity.source]);
        }
        text += &table.to_string();
        let short = match &self.study.short_flows {
            Some(short) => format!(" and short flows ({short})"),
            None => String::new(),
        };
        let flows =
            if self.flows == "1" { "1 long flow".to_owned() } else { format!("{} long flows", self.flows) };
        let warm_up = match self.study.warm_up {
            Time::ZERO => String::new(),
            warm_up => format!(", of which {warm_up} is a warm-up that is not counted,"),
        };
        let about = format!(
            "1 BDP = {} B. {flows}{short} of each algorithm, with Linux's TCP, for {}{warm_up} from each of {} seeds; means ± half a \
             95 % confidence interval (Student's t).",
            thousands(self.path.bdp(), 0),
            self.study.duration,
            self.repeats
        );
        format!("{text}\n{}", output::wrapped(&about, 2))
    }

    fn ranked(&self) -> String {
        let short = self.study.short_flows.is_some();
        let score = self.criterion.single().is_none();
        let mut columns = vec![
            ("", "", Align::Right),
            ("algorithm", "", Align::Left),
            ("throughput", "Mbit/s", Align::Right),
            ("RTT, 95 %", "ms", Align::Right),
        ];
        columns.extend(short.then_some(("short flows, 95 %", "ms", Align::Right)));
        columns.extend(score.then_some(("score", "", Align::Right)));
        columns.extend([
            ("loss", "%", Align::Right),
            ("against the first", "%", Align::Right),
            ("on this host", "", Align::Left),
        ]);
        let row = |(place, row): (usize, &Row)| {
            let mut cells = vec![(place + 1).to_string(), row.spec.to_string()];
            for (quantity, value) in Quantity::ALL.into_iter().zip(&row.quantities) {
                if quantity != Quantity::Completion || short {
                    cells.push(interval(*value, quantity.unit().1));
                }
            }
            cells.extend(score.then(|| interval(row.value, 1.0)));
            cells.push(interval(row.loss, 100.0));
            cells.push(match (place, row.as_good_as_first) {
                _ if self.ranking.is_without_throughput() => "–".to_owned(),
                (0, true) => "first".to_owned(),
                (_, true) => "as good".to_owned(),
                _ => interval(row.difference, 100.0),
            });
            cells.push(row.on_host.word().to_owned());
            cells
        };
        let rows: Vec<Vec<String>> = self.ranking.rows.iter().enumerate().map(row).collect();
        let good = self.ranking.rows.iter().filter(|row| row.as_good_as_first).count();
        let equal = match good {
            0 => "No algorithm has a value to be ranked by.".to_owned(),
            _ if self.ranking.is_without_throughput() => {
                "Nothing is better: every throughput is 0.".to_owned()
            }
            1 if self.ranking.rows.len() == 1 => "It is the only candidate.".to_owned(),
            1 if self.ranking.measured() == 1 => {
                "It is the only one with a value to be ranked by.".to_owned()
            }
            1 => "The interval of the first overlaps with no other.".to_owned(),
            all if all == self.ranking.rows.len() => {
                "All are equally good: their intervals overlap.".to_owned()
            }
            several => format!("{several} are equally good: their intervals overlap with that of the first."),
        };
        let others = match good == 0 || good == self.ranking.rows.len() {
            true => "",
            false => " For the others the difference from the first is shown, paired by seed.",
        };
        format!(
            "  Ranked by {} (--for {})\n\n{}\n{}",
            self.criterion.about(),
            self.criterion,
            table(&columns, rows),
            output::wrapped(&format!("{equal}{others}"), 2)
        )
    }

    fn harm(&self) -> String {
        let columns = [
            ("next to", "", Align::Left),
            ("throughput", "Mbit/s", Align::Right),
            ("harm", "%", Align::Right),
            ("than a CUBIC's", "", Align::Left),
            ("mean RTT", "ms", Align::Right),
            ("harm", "%", Align::Right),
            ("than a CUBIC's", "", Align::Left),
        ];
        let cells = |name: String, neighbour: &super::ranking::Neighbour, words: [&str; 2]| {
            vec![
                name,
                interval(neighbour.throughput, 1e-6),
                interval(neighbour.throughput_harm, 100.0),
                words[0].to_owned(),
                interval(neighbour.rtt, 1e3),
                interval(neighbour.rtt_harm, 100.0),
                words[1].to_owned(),
            ]
        };
        let mut rows = vec![cells("another CUBIC".to_owned(), &self.ranking.reference, ["", ""])];
        for row in self.ranking.rows.iter().filter(|row| row.spec.to_string() != super::candidates::NEIGHBOUR)
        {
            let words = row.neighbour.verdicts.map(super::ranking::Verdict::word);
            rows.push(cells(row.spec.to_string(), &row.neighbour, words));
        }
        format!(
            "  What a flow of CUBIC has next to one flow of each

{}
{}",
            table(&columns, rows),
            output::wrapped(
                "Harm (Ware and others, HotNets 2019) is (alone - beside) / alone of its throughput, and (beside - alone) / \
                 beside of its RTT. It is more or less than that of another CUBIC by a t-test at 5 %, paired by seed and \
                 corrected for the number of algorithms (Holm); \"same\" means that no difference was found.",
                2
            )
        )
    }

    fn recommended(&self) -> String {
        let (row, why) = match self.ranking.choice() {
            Ok(choice) => choice,
            Err(why) => return output::wrapped(&format!("Nothing is recommended: {why}."), 2),
        };
        let mut text = output::wrapped(&format!("Use {}: {why}.", row.spec), 2);
        let todo: Vec<&Step> = self.steps.iter().filter(|step| !step.done).collect();
        let done = self.steps.iter().filter(|step| step.done);
        text += match todo.is_empty() {
            true => "\n  This host has all that it needs:\n\n",
            false => "\n  To apply it, as root (lines that begin with # hold here already):\n\n",
        };
        for step in todo {
            text += &format!("  {}   # {}\n", step.command, step.why);
        }
        for step in done {
            text += &format!("  # {}   # {}\n", step.command, step.why);
        }
        text
    }
}

/// Writes a mean and half its interval with the same decimals: a number of that the mean has three digits or more.
fn interval(summary: Option<Summary>, scale: f64) -> String {
    let Some(summary) = summary else { return "–".to_owned() };
    let mean = summary.mean * scale;
    let decimals = match mean.abs() {
        100.0.. => 1,
        1.0.. => 2,
        0.0 => 0,
        _ => 4,
    };
    match summary.ci95.map(|half| half * scale).filter(|half| *half > 0.0) {
        Some(half) => format!("{} ± {}", thousands(mean, decimals), thousands(half, decimals)),
        None => thousands(mean, decimals),
    }
}
