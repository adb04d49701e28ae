//! The results of a comparison, for a person to read.

mod elsewhere;
mod network;

pub use network::link;

use super::layout::{fitted_to, wrapped_to};
use crate::measured::{COMPLETION, FAIRNESS, Measured, QUEUE, QUEUE_DELAYS, TableRow, UTILISATION};
use cwnd_experiment::{FlowGroup, Place};
use cwnd_metrics::statistics::Summary;
use cwnd_metrics::{MessageMetrics, RunMetrics, ShortFlowMetrics};
use cwnd_plot::number::thousands;
use cwnd_report::{
    spread::{MOST_DEVIATION, Spread},
    table::{Align, Sacrifice, Table},
    validity_warnings,
};
use cwnd_scenario::{ByteSize, DelayedAck, Discipline, Ecn, Emulation, FlowSpec, QueueLimit, Scenario, Time};
use std::time::Duration;

/// What is compared.
pub struct Entry<'a> {
    /// Its name in the table.
    pub name: &'a str,
    /// Its flows.
    pub groups: &'a [FlowGroup],
    /// Its scenario (of any repeat).
    pub scenario: &'a Scenario,
}

/// Returns the table and the description of the runs, at most this number of columns wide if there is a limit.
pub fn table(entries: &[Entry<'_>], results: &[Vec<Measured>], columns: Option<usize>) -> String {
    let metrics: Vec<Vec<&RunMetrics>> =
        results.iter().map(|runs| runs.iter().map(|run| &run.metrics).collect()).collect();
    let unit = rate_unit(metrics.iter().flatten().map(|run| run.throughput_bps).fold(0.0, f64::max));
    let shown = Shown {
        rate: unit.1,
        fairness: entries.iter().any(|entry| entry.scenario.lasting_flows() > 1),
        completion: entries.iter().any(|entry| lasting(entry.scenario).any(|flow| flow.bytes.is_some())),
        queue_delays: {
            let mut rows = results.iter().flatten().flat_map(|run| &run.rows);
            rows.any(|row| QUEUE_DELAYS.iter().any(|name| row.contains_key(name)))
        },
    };
    let mut rows = Vec::new();
    for (entry, runs) in entries.iter().zip(results) {
        let too_wide = spreads(entry, runs).iter().any(|(_, spread)| spread.is_too_wide());
        let mark = if doubted(runs).is_empty() && !too_wide { "" } else { DOUBT };
        let groups = entry.groups.iter().filter(|_| entry.groups.len() > 1).map(label);
        for (row, name) in std::iter::once(shortened(entry.name) + mark).chain(groups).enumerate() {
            let values: Vec<&TableRow> = runs.iter().filter_map(|run| run.rows.get(row)).collect();
            rows.push(cells(&name, &values, &shown));
        }
    }
    let headings = shown.columns().map(|column| (column.heading, Align::Right));
    let units = shown.columns().map(|column| match column.unit {
        Unit::Rate => unit.0,
        Unit::Scaled(name, _) => name,
        Unit::Count => "",
    });
    let headings = std::iter::once(("algorithm", Align::Left)).chain(headings);
    let mut table = Table::new(headings).units(std::iter::once("").chain(units)).indent(2);
    rows.into_iter().for_each(|row| table.row(row));
    let mut about = about(entries, &metrics, results.iter().flatten().any(|run| run.emulation.is_some()));
    if let Some(every) = entries[0].scenario.sample.filter(|_| shown.queue_delays) {
        about += &format!(
            "  queue p95, p99: what packets wait in the bottleneck's queue, sampled every {every}\n"
        );
    }
    about += &emulations(entries, results);
    let about: String = match columns {
        None => about,
        Some(columns) => about.lines().map(|line| hanging(line, columns)).collect(),
    };
    format!("\n{}\n{about}", fitted_to(columns, table, &SACRIFICES))
}

/// Returns a line as lines of at most this number of characters, those after the first with a larger margin.
fn hanging(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return format!("{line}\n");
    }
    let margin = line.chars().take_while(|c| *c == ' ').count();
    let lines = wrapped_to(columns, line, margin + 2);
    format!("{:margin$}{}", "", lines.trim_start())
}

/// What the table gives up on a narrow terminal.
const SACRIFICES: [Sacrifice; 12] = [
    Sacrifice::Drop("timeouts"),
    Sacrifice::Drop("resent"),
    Sacrifice::Drop("goodput"),
    Sacrifice::Drop("queue"),
    Sacrifice::Drop("queue p95"),
    Sacrifice::Shorten("algorithm", 20),
    Sacrifice::Drop("used"),
    Sacrifice::Drop("queue p99"),
    Sacrifice::Drop("Jain"),
    Sacrifice::Drop("loss"),
    Sacrifice::Drop("done"),
    Sacrifice::Shorten("algorithm", 10),
];

/// Stands behind the name of what is not valid.
const DOUBT: &str = " (!)";

/// The runs over an emulated network that did not keep its times.
fn doubted(runs: &[Measured]) -> Vec<(&Emulation, u64)> {
    runs.iter()
        .filter_map(|run| Some((run.emulation.as_deref().filter(|e| !e.is_valid())?, run.seed)))
        .collect()
}

/// Returns the spread of the throughput of repeats over an emulated network, by the name of the row: of all flows, and of each group.
pub fn spreads(entry: &Entry<'_>, runs: &[Measured]) -> Vec<(String, Spread)> {
    let groups = entry.groups.iter().filter(|_| entry.groups.len() > 1);
    let groups = groups.map(|group| format!("{} in {}", label(group).trim(), shortened(entry.name)));
    let rows = std::iter::once(shortened(entry.name)).chain(groups).enumerate();
    let spread = |(row, name): (usize, String)| {
        let emulated = runs.iter().filter(|run| run.emulation.is_some());
        let values: Vec<f64> =
            emulated.filter_map(|run| run.rows.get(row)?.get("throughput_bps").copied()).collect();
        Some((name, Spread::of(&values)?))
    };
    rows.filter_map(spread).collect()
}

/// What repeats over an emulated network differ by, and which of them too much.
fn spread_lines(entries: &[Entry<'_>], results: &[Vec<Measured>]) -> String {
    if results.iter().all(|runs| runs.len() < 2) {
        return "  one repeat: how much runs differ is not known; `--repeats 5` measures it\n".to_owned();
    }
    let spreads: Vec<_> =
        entries.iter().zip(results).flat_map(|(entry, runs)| spreads(entry, runs)).collect();
    let mut text: String =
        spreads.iter().map(|(name, spread)| format!("  throughput of {name}: {spread}\n")).collect();
    for (name, _) in spreads.iter().filter(|(_, spread)| spread.is_too_wide()) {
        text += &format!(
            "\n {DOUBT} the mean of {name} is not valid: the repeats' standard deviation is more than {:.0} % of it\n",
            MOST_DEVIATION * 100.0
        );
    }
    text
}

/// What ran, and what of it is not valid and why, if the network was an emulated one.
fn emulations(entries: &[Entry<'_>], results: &[Vec<Measured>]) -> String {
    let all = || results.iter().flatten().filter_map(|run| run.emulation.as_deref());
    let Some(first) = all().next() else { return String::new() };
    let late = all().map(|emulation| emulation.late_p99).max().unwrap_or_default();
    // To the microsecond above, as the percentile.
    let latest = all().map(|emulation| emulation.late_max.0.div_ceil(1000)).max().unwrap_or_default();
    let latest = Time(1000 * latest);
    let mut text =
        format!("  run by {}; of 100 packets 99 were at most {late} late, the latest {latest}\n", first.host);
    text +=
        &validity_warnings::implementations(all()).iter().map(|ran| format!("  {ran}\n")).collect::<String>();
    text += &spread_lines(entries, results);
    for (entry, runs) in entries.iter().zip(results) {
        let doubted = doubted(runs);
        if doubted.is_empty() {
            continue;
        }
        let are = if doubted.len() == 1 { "is" } else { "are" };
        let (count, all, name) = (doubted.len(), runs.len(), shortened(entry.name));
        text += &format!("\n {DOUBT} {count} of {all} runs of {name} {are} not valid:\n");
        for (why, seeds) in validity_warnings::reasons(doubted) {
            let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
            let word = if seeds.len() == 1 { "seed" } else { "seeds" };
            text += &format!("      {why} ({word} {})\n", seeds.join(", "));
        }
    }
    text
}

/// A column of the table, which shows a metric of the registry.
struct TableColumn {
    heading: &'static str,
    metric: &'static str,
    unit: Unit,
    decimals: usize,
    /// Whether a confidence interval is shown.
    interval: bool,
}

/// The unit of a column.
#[derive(Clone, Copy)]
enum Unit {
    /// The unit that rates have in the table at hand.
    Rate,
    /// A name, and how many of it are one of the metric's unit.
    Scaled(&'static str, f64),
    /// A number of events.
    Count,
}

const fn column(
    heading: &'static str,
    metric: &'static str,
    unit: Unit,
    decimals: usize,
    interval: bool,
) -> TableColumn {
    TableColumn { heading, metric, unit, decimals, interval }
}

static COLUMNS: [TableColumn; 12] = [
    column("throughput", "throughput_bps", Unit::Rate, 2, true),
    column("goodput", "goodput_bps", Unit::Rate, 2, false),
    column("used", UTILISATION, Unit::Scaled("%", 100.0), 1, false),
    column("done", COMPLETION, Unit::Scaled("s", 1.0), 2, true),
    column("loss", "loss_ratio", Unit::Scaled("%", 100.0), 3, true),
    column("Jain", FAIRNESS, Unit::Scaled("", 1.0), 3, true),
    column("RTT", "rtt_mean_s", Unit::Scaled("ms", 1e3), 2, false),
    column("queue", QUEUE, Unit::Scaled("packets", 1.0), 1, false),
    column("queue p95", QUEUE_DELAYS[0], Unit::Scaled("ms", 1e3), 2, false),
    column("queue p99", QUEUE_DELAYS[1], Unit::Scaled("ms", 1e3), 2, false),
    column("resent", "retransmissions", Unit::Count, 0, false),
    column("timeouts", "timeouts", Unit::Count, 1, false),
];

/// What the table shows.
struct Shown {
    /// How many bit/s are one of the unit.
    rate: f64,
    /// Jain's index, where there are several flows.
    fairness: bool,
    /// The completion time, where there are transfers.
    completion: bool,
    /// Percentiles of the queue delay, where runs were sampled.
    queue_delays: bool,
}

impl Shown {
    fn columns(&self) -> impl Iterator<Item = &'static TableColumn> {
        COLUMNS.iter().filter(|column| match column.metric {
            FAIRNESS => self.fairness,
            COMPLETION => self.completion,
            name if QUEUE_DELAYS.contains(&name) => self.queue_delays,
            _ => true,
        })
    }
}

/// A line on what the runs cost.
pub fn cost<'a>(runs: impl Iterator<Item = &'a Measured>, took: Duration, threads: usize) -> String {
    let (mut cpu, mut packets) = (None, 0);
    for run in runs {
        if let Some(cpu_s) = run.timing.cpu_s {
            *cpu.get_or_insert(0.0) += cpu_s;
            packets += run.timing.packets;
        }
    }
    let of = |cpu: f64| match packets {
        0 => format!(": {cpu:.2} s of CPU"),
        packets => format!(": {cpu:.2} s of CPU, {:.0} ns a packet", cpu * 1e9 / packets as f64),
    };
    let each = cpu.map(of).unwrap_or_default();
    let on = if threads > 1 { format!(" on {threads} threads") } else { String::new() };
    format!("  took {:.2} s{on}{each}\n", took.as_secs_f64())
}

/// A title for figures of this scenario.
pub fn title(scenario: &Scenario) -> String {
    let bottleneck = &scenario.network.links[scenario.network.bottleneck];
    format!("{}, base RTT {}, buffer {}", bottleneck.rate, base_rtts(scenario), limit(bottleneck.queue.limit))
}

/// The flows that are not short.
fn lasting(scenario: &Scenario) -> impl Iterator<Item = &FlowSpec> {
    scenario.flows.iter().filter(|flow| !flow.short)
}

/// Returns the cells of a row: means over the runs that have the value, with an interval where it matters most, since it
/// makes a column wide, and only with repeats that differ.
fn cells(name: &str, runs: &[&TableRow], shown: &Shown) -> Vec<String> {
    let cell = |column: &TableColumn| {
        let (scale, decimals) = match column.unit {
            Unit::Rate => (1.0 / shown.rate, column.decimals),
            Unit::Scaled(_, scale) => (scale, column.decimals),
            // A mean of counts over several runs has a fraction.
            Unit::Count => (1.0, if runs.len() > 1 { column.decimals } else { 0 }),
        };
        let values: Vec<f64> =
            runs.iter().filter_map(|run| run.get(column.metric)).map(|value| value * scale).collect();
        let Some(summary) = Summary::of(&values) else { return "–".to_owned() };
        let mean = number(summary.mean, decimals);
        match summary.ci95.filter(|half| column.interval && *half > 0.0) {
            Some(half) => format!("{mean} ± {}", number(half, decimals)),
            None => mean,
        }
    };
    std::iter::once(name.to_owned()).chain(shown.columns().map(cell)).collect()
}

/// A number that is not nothing is not written as nothing.
fn number(value: f64, decimals: usize) -> String {
    let least = 0.5 / 10f64.powi(decimals as i32);
    if value > 0.0 && value < least && decimals > 0 {
        return format!("<{}", thousands(2.0 * least, decimals));
    }
    thousands(value, decimals)
}

/// The unit for rates of which this is the largest: Mbit/s, since papers speak in it, wherever it can be read.
fn rate_unit(most: f64) -> (&'static str, f64) {
    match most {
        10e9.. => ("Gbit/s", 1e9),
        1e6.. => ("Mbit/s", 1e6),
        _ => ("kbit/s", 1e3),
    }
}

fn shortened(name: &str) -> String {
    const MOST: usize = 36;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    name.chars().take(MOST - 1).collect::<String>() + "…"
}

fn label(group: &FlowGroup) -> String {
    let count = if group.count == 1 { String::new() } else { format!(" × {}", group.count) };
    let rtt = group.rtt.map(|rtt| format!(", {rtt}")).unwrap_or_default();
    let reverse = if group.reverse { ", reverse" } else { "" };
    let place = match &group.place {
        Place::Usual => String::new(),
        Place::Side(side) => format!(", {side}"),
        Place::Hop(hop) => format!(", hop {hop}"),
        Place::Path(nodes) => format!(", {}", nodes.join(" -> ")),
    };
    format!("  {}{count}{rtt}{place}{reverse}", shortened(&group.algorithm.to_string()))
}

/// The lines that say what ran.
fn about(entries: &[Entry<'_>], metrics: &[Vec<&RunMetrics>], emulated: bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut networks: Vec<(String, Vec<String>)> = Vec::new();
    for entry in entries {
        let (text, name) = (network::about(entry.scenario), shortened(entry.name));
        match networks.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(name),
            None => networks.push((text, vec![name])),
        }
    }
    let many = networks.len() > 1;
    for (text, names) in networks {
        lines.push(if many { format!("{}: {text}", names.join(", ")) } else { text });
    }
    let mut noted: Vec<(String, Vec<String>)> = Vec::new();
    for (entry, runs) in entries.iter().zip(metrics) {
        let name = if entries.len() > 1 { format!(" with {}", shortened(entry.name)) } else { String::new() };
        lines.extend(short_flows(runs).map(|text| format!("short flows{name}: {text}")));
        let name = if entries.len() > 1 { format!(" of {}", shortened(entry.name)) } else { String::new() };
        lines.extend(messages(runs).map(|text| format!("messages{name}: {text}")));
        if let Some(text) = elsewhere::note(entry.scenario, runs) {
            match noted.iter_mut().find(|(known, _)| *known == text) {
                Some((_, names)) => names.push(shortened(entry.name)),
                None => noted.push((text, vec![shortened(entry.name)])),
            }
        }
    }
    for (text, names) in noted {
        let of =
            if names.len() < entries.len() { format!(" of {}", names.join(", ")) } else { String::new() };
        lines.push(format!("note{of}: {text}"));
    }
    // A mean over time that a transfer does not fill says little of it.
    if entries.iter().any(|entry| lasting(entry.scenario).any(|flow| flow.bytes.is_some())) {
        lines.push(
            "throughput, goodput, used and queue are means over all the time, `done` is when a transfer was complete"
                .to_owned(),
        );
    }
    let scenario = entries[0].scenario;
    let stack = &scenario.stack;
    if stack.l4s && has_dual_queue(scenario) && emulated {
        lines.push(
            "note: packets of a kernel's TCP carry ECT(0), so that DualPI2 has put all of them into its classic queue; the simulator \
             does the same with `--l4s off`"
                .to_owned(),
        );
    }
    let profile = scenario.stack_names();
    let repeats = metrics.iter().map(Vec::len).max().unwrap_or(1);
    let seeds = match repeats {
        0 => "no seed, for no run is done".to_owned(),
        1 => format!("seed {}", scenario.seed),
        many => format!("seeds {} to {}", scenario.seed, scenario.seed + many as u64 - 1),
    };
    let has_tcp = scenario.has_tcp();
    let payload = match stack.udp_payload().filter(|_| !has_tcp) {
        Some(datagram) => format!("UDP datagrams of {}", bytes(datagram)),
        None => format!("{} of payload", bytes(stack.payload)),
    };
    let size = format!("{payload} in packets of {}", bytes(stack.full_packet()));
    let choices = [
        (has_tcp && !stack.sack, "no SACK"),
        (has_tcp && !stack.timestamps, "no timestamps"),
        (has_tcp && stack.delayed_ack != DelayedAck::Off, "delayed ACKs"),
        (stack.ecn != Ecn::Off, "ECN"),
    ];
    let choices: String =
        choices.iter().filter(|(holds, _)| *holds).map(|(_, choice)| format!(", {choice}")).collect();
    let counted = match scenario.warm_up {
        Time::ZERO => String::new(),
        warm_up => format!(" (counted from {warm_up} on)"),
    };
    lines.push(format!("{profile} stack, {size}{choices}; {}{counted} from {seeds}", scenario.duration));
    if repeats > 0 && metrics.iter().flatten().all(|run| run.packets_sent == 0) {
        let flows = || metrics.iter().flatten().flat_map(|run| &run.flows);
        // A handshake gives a round-trip time sample. Counts are those after the warm-up.
        let were_established =
            flows().any(|flow| flow.rtt_min_s.is_some() || flow.completion_time_s.is_some());
        let note = match scenario.warm_up {
            Time::ZERO if !were_established => {
                "note: no data packet was sent, for no handshake was completed"
            }
            Time::ZERO => "note: no data packet was sent",
            _ => "note: no data packet was sent in the counted time",
        };
        lines.push(note.to_owned());
    }
    if repeats > 1 {
        lines.push(if all_equal(metrics) {
            "all repeats are equal, since nothing here is random: there is no interval".to_owned()
        } else {
            format!("means of {repeats} repeats ± half a 95 % confidence interval (Student's t)")
        });
    }
    lines.iter().map(|line| format!("  {line}\n")).collect()
}

fn has_dual_queue(scenario: &Scenario) -> bool {
    scenario.network.links.iter().any(|link| matches!(link.queue.discipline, Discipline::DualPi2(_)))
}

/// The mean over the runs that have the value.
fn mean(runs: &[&RunMetrics], value: impl Fn(&RunMetrics) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = runs.iter().filter_map(|run| value(run)).collect();
    Summary::of(&values).map(|summary| summary.mean)
}

/// What became of short flows.
fn short_flows(runs: &[&RunMetrics]) -> Option<String> {
    let of = |value: fn(&ShortFlowMetrics) -> Option<f64>| mean(runs, |run| value(run.short_flows.as_ref()?));
    let (all, completed) = (of(|short| Some(short.flows as f64))?, of(|short| Some(short.completed as f64))?);
    let mut text = format!("{} of {} completed", thousands(completed, 0), thousands(all, 0));
    let slowdowns =
        [of(|short| short.slowdown), of(|short| short.slowdown_p50), of(|short| short.slowdown_p99)];
    if let [Some(mean), Some(median), Some(high)] = slowdowns {
        text += &format!(", slowdown {mean:.2} in the mean, {median:.2} in the median, {high:.2} at 99 %");
    }
    if let Some(missed) = of(|short| short.missed_deadline_ratio) {
        text += &format!(", {} % of deadlines missed", number(missed * 100.0, 1));
    }
    Some(text)
}

/// What became of the messages of all flows.
fn messages(runs: &[&RunMetrics]) -> Option<String> {
    let of_flows = |run: &RunMetrics, value: fn(&MessageMetrics) -> Option<f64>| {
        let values: Vec<f64> =
            run.flows.iter().filter_map(|flow| flow.messages.as_ref()).filter_map(value).collect();
        (!values.is_empty()).then_some(values)
    };
    let completed = mean(runs, |run| Some(of_flows(run, |m| Some(m.completed))?.iter().sum()))?;
    let mut text = format!("{} completed", thousands(completed, 0));
    let of = |value: fn(&MessageMetrics) -> Option<f64>| {
        mean(runs, |run| Some(Summary::of(&of_flows(run, value)?)?.mean))
    };
    if let (Some(time), Some(slowdown)) = (of(|m| m.time_s), of(|m| m.slowdown)) {
        text += &format!(", {} ms in the mean, slowdown {slowdown:.2}", number(time * 1e3, 1));
    }
    Some(text)
}

fn all_equal(metrics: &[Vec<&RunMetrics>]) -> bool {
    metrics.iter().all(|runs| runs.iter().all(|run| run.flows == runs[0].flows))
}

fn base_rtts(scenario: &Scenario) -> String {
    let rtts = || (0..scenario.flows.len()).map(|flow| scenario.base_rtt(flow));
    match (rtts().min(), rtts().max()) {
        (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
        (Some(rtt), _) => rtt.to_string(),
        _ => "–".to_owned(),
    }
}

fn limit(limit: QueueLimit) -> String {
    match limit {
        QueueLimit::Packets(1) => "1 packet".to_owned(),
        QueueLimit::Packets(packets) => format!("{} packets", thousands(f64::from(packets), 0)),
        QueueLimit::Bytes(bytes) => ByteSize(bytes).to_string(),
        QueueLimit::Unlimited => "unlimited".to_owned(),
    }
}

fn bytes(count: u32) -> String {
    format!("{} B", thousands(f64::from(count), 0))
}

#[cfg(test)]
mod tests;
