//! The results of a comparison, for a person to read.

mod network;

use super::units_row::{self, Column};
use crate::measured::Measured;
use cwnd_experiment::{FlowGroup, Place};
use cwnd_metrics::statistics::Summary;
use cwnd_metrics::{FlowMetrics, MessageMetrics, RunMetrics, ShortFlowMetrics, jain_index};
use cwnd_plot::number::thousands;
use cwnd_report::{table::Align, validity_warnings};
use cwnd_scenario::{
    ByteSize, DelayedAck, Ecn, Emulation, FlowSpec, QueueLimit, Rate, Scenario, StackProfile,
};
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

/// The table, and what ran under it.
pub fn table(entries: &[Entry<'_>], results: &[Vec<Measured>]) -> String {
    let metrics: Vec<Vec<&RunMetrics>> =
        results.iter().map(|runs| runs.iter().map(|run| &run.metrics).collect()).collect();
    let unit = rate_unit(metrics.iter().flatten().map(|run| run.throughput_bps).fold(0.0, f64::max));
    let shown = Shown {
        rate: unit.1,
        fairness: entries.iter().any(|entry| entry.scenario.lasting_flows() > 1),
        completion: entries.iter().any(|entry| lasting(entry.scenario).any(|flow| flow.bytes.is_some())),
    };
    let mut rows = Vec::new();
    for ((entry, runs), done) in entries.iter().zip(&metrics).zip(results) {
        let mark = if doubted(done).is_empty() { "" } else { DOUBT };
        rows.push(row(&(shortened(entry.name) + mark), &figures(runs, entry), &shown));
        if entry.groups.len() > 1 {
            let mut first = 0;
            for group in entry.groups {
                let flows = first..first + group.count as usize;
                first = flows.end;
                rows.push(row(&label(group), &group_figures(runs, entry, flows), &shown));
            }
        }
    }
    let columns: Vec<Column<'_>> = COLUMNS
        .iter()
        .filter(|column| shown.has(column.0))
        .map(|(name, of, align)| (*name, if *of == RATE { unit.0 } else { *of }, *align))
        .collect();
    let about = about(entries, &metrics) + &emulations(entries, results);
    format!("\n{}\n{about}", units_row::table(&columns, &rows, 2))
}

/// Stands behind the name of what is not to be believed.
const DOUBT: &str = " (!)";

/// The runs over an emulated network that did not keep its times.
fn doubted(runs: &[Measured]) -> Vec<(&Emulation, u64)> {
    runs.iter()
        .filter_map(|run| Some((run.emulation.as_deref().filter(|e| !e.is_valid())?, run.seed)))
        .collect()
}

/// What ran, and what of it is not to be believed and why, if the network was an emulated one.
fn emulations(entries: &[Entry<'_>], results: &[Vec<Measured>]) -> String {
    let all = || results.iter().flatten().filter_map(|run| run.emulation.as_deref());
    let Some(first) = all().next() else { return String::new() };
    let late = all().map(|emulation| emulation.late_p99).max().unwrap_or_default();
    let mut text = format!("  run by {}; of 100 packets 99 were at most {late} late\n", first.host);
    text +=
        &validity_warnings::implementations(all()).iter().map(|ran| format!("  {ran}\n")).collect::<String>();
    for (entry, runs) in entries.iter().zip(results) {
        let doubted = doubted(runs);
        if doubted.is_empty() {
            continue;
        }
        let are = if doubted.len() == 1 { "is" } else { "are" };
        let (count, all, name) = (doubted.len(), runs.len(), shortened(entry.name));
        text += &format!("\n {DOUBT} {count} of {all} runs of {name} {are} not to be believed:\n");
        for (why, seeds) in validity_warnings::reasons(doubted) {
            let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
            let word = if seeds.len() == 1 { "seed" } else { "seeds" };
            text += &format!("      {why} ({word} {})\n", seeds.join(", "));
        }
    }
    text
}

/// Stands for the unit that rates have in the table at hand.
const RATE: &str = "rate";
const FAIRNESS: &str = "Jain";
const COMPLETION: &str = "done";
const COLUMNS: [Column<'_>; 11] = [
    ("algorithm", "", Align::Left),
    ("throughput", RATE, Align::Right),
    ("goodput", RATE, Align::Right),
    ("used", "%", Align::Right),
    (COMPLETION, "s", Align::Right),
    ("loss", "%", Align::Right),
    (FAIRNESS, "", Align::Right),
    ("RTT", "ms", Align::Right),
    ("queue", "packets", Align::Right),
    ("resent", "", Align::Right),
    ("timeouts", "", Align::Right),
];

/// What the table shows.
struct Shown {
    /// How many bit/s are one of the unit.
    rate: f64,
    /// Jain's index, where there are several flows.
    fairness: bool,
    /// The completion time, where there are transfers.
    completion: bool,
}

impl Shown {
    fn has(&self, column: &str) -> bool {
        match column {
            FAIRNESS => self.fairness,
            COMPLETION => self.completion,
            _ => true,
        }
    }
}

/// A line on what the runs cost.
pub fn cost<'a>(runs: impl Iterator<Item = &'a Measured>, took: Duration, threads: usize) -> String {
    let (mut cpu, mut packets) = (0.0, 0);
    for run in runs {
        cpu += run.timing.cpu_s;
        packets += run.timing.packets;
    }
    let each =
        if packets > 0 { format!(", {:.0} ns a packet", cpu * 1e9 / packets as f64) } else { String::new() };
    let on = if threads > 1 { format!(" on {threads} threads") } else { String::new() };
    format!("  took {:.2} s{on}: {cpu:.2} s of CPU{each}\n", took.as_secs_f64())
}

/// A title for figures of this scenario.
pub fn title(scenario: &Scenario) -> String {
    let bottleneck = &scenario.network.links[scenario.network.bottleneck];
    format!("{}, base RTT {}, buffer {}", bottleneck.rate, base_rtts(scenario), limit(bottleneck.queue.limit))
}

/// What a row of the table says of one run, in base units.
struct Figures {
    throughput: f64,
    goodput: f64,
    used: Option<f64>,
    /// Mean over the transfers that were completed.
    completion: Option<f64>,
    loss: f64,
    jain: Option<f64>,
    rtt: Option<f64>,
    queue: Option<f64>,
    resent: f64,
    timeouts: f64,
}

fn figures(runs: &[&RunMetrics], entry: &Entry<'_>) -> Vec<Figures> {
    let bottleneck = entry.scenario.network.bottleneck;
    let forward = lasting(entry.scenario).filter(|flow| !flow.reverse).count();
    let figures = |run: &&RunMetrics| Figures {
        throughput: run.throughput_bps,
        goodput: run.goodput_bps,
        used: run.utilisation,
        completion: completion(&run.flows),
        loss: run.loss_ratio,
        jain: (forward > 1).then_some(run.jain_index),
        rtt: run.rtt_mean_s,
        queue: run.queues.get(bottleneck).map(|queue| queue.mean_packets),
        resent: run.retransmissions as f64,
        timeouts: run.timeouts as f64,
    };
    runs.iter().map(figures).collect()
}

fn group_figures(runs: &[&RunMetrics], entry: &Entry<'_>, flows: std::ops::Range<usize>) -> Vec<Figures> {
    let network = &entry.scenario.network;
    let rate = network.links[network.bottleneck].rate;
    let figures = |run: &&RunMetrics| {
        let flows: &[FlowMetrics] = run.flows.get(flows.clone()).unwrap_or_default();
        let sum = |value: fn(&FlowMetrics) -> f64| flows.iter().map(value).sum::<f64>();
        let throughputs: Vec<f64> = flows.iter().map(|flow| flow.throughput_bps).collect();
        let rtts: Vec<f64> = flows.iter().filter_map(|flow| flow.rtt_mean_s).collect();
        let sent = sum(|flow| flow.packets_sent as f64);
        let lost = sum(|flow| (flow.packets_dropped + flow.packets_lost_to_errors) as f64);
        let throughput = sum(|flow| flow.throughput_bps);
        let across = rate != Rate::UNLIMITED && flows.iter().all(|flow| !flow.reverse);
        Figures {
            throughput,
            goodput: sum(|flow| flow.goodput_bps),
            used: across.then(|| throughput / rate.0 as f64),
            completion: completion(flows),
            loss: if sent > 0.0 { lost / sent } else { 0.0 },
            jain: (flows.len() > 1).then(|| jain_index(&throughputs)),
            rtt: (!rtts.is_empty()).then(|| rtts.iter().sum::<f64>() / rtts.len() as f64),
            queue: None,
            resent: sum(|flow| flow.retransmissions as f64),
            timeouts: sum(|flow| flow.timeouts as f64),
        }
    };
    runs.iter().map(figures).collect()
}

/// The flows that are not short.
fn lasting(scenario: &Scenario) -> impl Iterator<Item = &FlowSpec> {
    scenario.flows.iter().filter(|flow| !flow.short)
}

fn completion(flows: &[FlowMetrics]) -> Option<f64> {
    let times: Vec<f64> = flows.iter().filter_map(|flow| flow.completion_time_s).collect();
    Summary::of(&times).map(|summary| summary.mean)
}

fn row(name: &str, runs: &[Figures], shown: &Shown) -> Vec<String> {
    // A mean over the runs that have the value; the interval only with repeats that differ, and where it matters
    // most, since it makes a column wide.
    let cell = |scale: f64, decimals: usize, interval: bool, value: &dyn Fn(&Figures) -> Option<f64>| {
        let values: Vec<f64> = runs.iter().filter_map(value).map(|value| value * scale).collect();
        let Some(summary) = Summary::of(&values) else { return "–".to_owned() };
        let mean = number(summary.mean, decimals);
        match summary.ci95.filter(|half| interval && *half > 0.0) {
            Some(half) => format!("{mean} ± {}", number(half, decimals)),
            None => mean,
        }
    };
    let cells = [
        name.to_owned(),
        cell(1.0 / shown.rate, 2, true, &|run| Some(run.throughput)),
        cell(1.0 / shown.rate, 2, false, &|run| Some(run.goodput)),
        cell(100.0, 1, false, &|run| run.used),
        cell(1.0, 2, true, &|run| run.completion),
        cell(100.0, 3, true, &|run| Some(run.loss)),
        cell(1.0, 3, true, &|run| run.jain),
        cell(1e3, 2, false, &|run| run.rtt),
        cell(1.0, 1, false, &|run| run.queue),
        cell(1.0, 0, false, &|run| Some(run.resent)),
        cell(1.0, if runs.len() > 1 { 1 } else { 0 }, false, &|run| Some(run.timeouts)),
    ];
    COLUMNS.iter().zip(cells).filter(|(column, _)| shown.has(column.0)).map(|(_, cell)| cell).collect()
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
fn about(entries: &[Entry<'_>], metrics: &[Vec<&RunMetrics>]) -> String {
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
    for (entry, runs) in entries.iter().zip(metrics) {
        let name =
            if entries.len() > 1 { format!(" beside {}", shortened(entry.name)) } else { String::new() };
        lines.extend(short_flows(runs).map(|text| format!("short flows{name}: {text}")));
        let name = if entries.len() > 1 { format!(" of {}", shortened(entry.name)) } else { String::new() };
        lines.extend(messages(runs).map(|text| format!("messages{name}: {text}")));
    }
    let scenario = entries[0].scenario;
    let stack = &scenario.stack;
    let profile = match stack.profile {
        StackProfile::Ns2 => "ns2",
        StackProfile::Linux => "linux",
    };
    let repeats = metrics.iter().map(Vec::len).max().unwrap_or(1);
    let seeds = match repeats {
        1 => format!("seed {}", scenario.seed),
        many => format!("seeds {} to {}", scenario.seed, scenario.seed + many as u64 - 1),
    };
    let size = format!("{} of payload in packets of {}", bytes(stack.payload), bytes(stack.full_packet()));
    let choices = [
        (!stack.sack, "no SACK"),
        (!stack.timestamps, "no timestamps"),
        (stack.delayed_ack != DelayedAck::Off, "delayed ACKs"),
        (stack.ecn != Ecn::Off, "ECN"),
    ];
    let choices: String =
        choices.iter().filter(|(holds, _)| *holds).map(|(_, choice)| format!(", {choice}")).collect();
    lines.push(format!("{profile} stack, {size}{choices}; {} from {seeds}", scenario.duration));
    if repeats > 1 {
        lines.push(if all_equal(metrics) {
            "all repeats are equal, since nothing here is random: there is no interval".to_owned()
        } else {
            format!("means of {repeats} repeats ± half a 95 % confidence interval (Student's t)")
        });
    }
    lines.iter().map(|line| format!("  {line}\n")).collect()
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
