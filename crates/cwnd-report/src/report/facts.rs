//! What the scenarios of a study have in common, and in what they differ.

use super::tables::unit;
use crate::html::definitions;
use crate::measure::{Measure, decimals, number};
use crate::validity_warnings;
use cwnd_scenario::{LinkSpec, Loss, Probability, QueueLimit, Rate, Scenario, Traffic};
use cwnd_study::{Axis, Results, Study};
use maud::{Markup, html};

/// The axes and the facts, and what an emulated network says of itself if there was one.
pub fn section(results: &Results) -> Markup {
    let study = &results.study;
    let emulated = emulated(results);
    html! {
        @if !study.axes.is_empty() {
            h3 { "What differs" }
            (definitions(&study.axes.iter().map(axis).collect::<Vec<_>>()))
        }
        @if !study.cells.is_empty() {
            h3 { "What was run" }
            (definitions(&facts(study)))
        }
        @if !emulated.is_empty() {
            h3 { "What the kernel ran over" }
            (definitions(&emulated))
        }
    }
}

/// How well the emulated network kept its times: of each figure the median over runs, and the worst run.
fn emulated(results: &Results) -> Vec<(String, Markup)> {
    let runs: Vec<_> = results.runs.iter().filter(|run| run.emulation.is_some()).collect();
    if runs.is_empty() {
        return Vec::new();
    }
    let mut hosts: Vec<&str> = Vec::new();
    for emulation in runs.iter().filter_map(|run| validity_warnings::emulation(run)) {
        if !hosts.contains(&emulation.host.as_str()) {
            hosts.push(&emulation.host);
        }
    }
    let doubted = runs.iter().filter(|run| !run.is_valid()).count();
    let valid = match doubted {
        0 => format!("all {}", runs.len()),
        doubted => format!("{} of {}", runs.len() - doubted, runs.len()),
    };
    let mut rows =
        vec![("Host".to_owned(), html! { (hosts.join("; ")) }), ("Valid runs".to_owned(), html! { (valid) })];
    let ran =
        validity_warnings::implementations(runs.iter().filter_map(|run| validity_warnings::emulation(run)));
    if !ran.is_empty() {
        let ran = html! { @for (i, ran) in ran.iter().enumerate() { @if i > 0 { br; } (ran.to_string()) } };
        rows.push(("What ran the algorithms".to_owned(), ran));
    }
    let names = [
        "emulation_late_p50_s",
        "emulation_late_p99_s",
        "emulation_late_max_s",
        "emulation_rate_error",
        "cpu_steal",
    ];
    for name in names {
        let mut values: Vec<f64> = runs.iter().filter_map(|run| run.metric(name)).collect();
        values.sort_by(f64::total_cmp);
        let (Some(median), Some(worst)) = (values.get(values.len() / 2), values.last()) else { continue };
        let measure = Measure::of(name);
        let shown = |value: &f64| {
            let shown = measure.shown(*value);
            let scaled = value * shown.factor;
            format!("{} {}", number(scaled, decimals(scaled, None)), shown.unit).trim_end().to_owned()
        };
        let text = format!("{} (median run), {} (worst run)", shown(median), shown(worst));
        rows.push((measure.title.clone(), html! { (text) }));
    }
    rows
}

fn axis(axis: &Axis) -> (String, Markup) {
    let has_unit = axis.points.iter().all(|point| point.label.parse::<f64>().is_ok());
    let title = match axis.title.eq_ignore_ascii_case(&axis.name) {
        true => axis.title.clone(),
        false => format!("{} ({})", axis.title, axis.name),
    };
    let points = html! {
        @for (i, point) in axis.points.iter().enumerate() {
            @if i > 0 { ", " }
            span.point { (point.label) }
        }
        (unit(axis.unit.as_deref().filter(|_| has_unit).unwrap_or_default()))
    };
    (title, points)
}

/// Every fact with its value; where cells differ in it, all of its values.
fn facts(study: &Study) -> Vec<(String, Markup)> {
    const NAMED: usize = 12;
    let mut facts: Vec<(&str, Vec<String>)> = Vec::new();
    for cell in &study.cells {
        let more = cell.unusual_settings().into_iter().filter(|(setting, _)| !TOLD.contains(&setting.key));
        // The number of flows has the title of that setting.
        let more = more
            .map(|(setting, value)| (if setting.key == "flow" { EACH_FLOW } else { setting.title }, value));
        for (name, value) in of_scenario(&cell.scenario).into_iter().chain(more) {
            match facts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) if !values.contains(&value) => values.push(value),
                Some(_) => {}
                None => facts.push((name, vec![value])),
            }
        }
    }
    // Where scenarios differ in their algorithms, what differs names them.
    facts.retain(|(name, values)| *name != ALGORITHM || values.len() == 1);
    let row = |(name, values): (&str, Vec<String>)| {
        let shown = &values[..values.len().min(NAMED)];
        let value = html! {
            (shown.join(", "))
            @if values.len() > NAMED { " and " (values.len() - NAMED) " more" }
            @if values.len() > 1 { " " span.what { "by scenario" } }
        };
        (name.to_owned(), value)
    };
    facts.into_iter().map(row).collect()
}

const ALGORITHM: &str = "Algorithm";
const EACH_FLOW: &str = "Flows in detail";

/// The settings that [`of_scenario`] and the axes report.
const TOLD: [&str; 22] = [
    "engine",
    "algorithm",
    "candidate",
    "flows",
    "beside",
    "mix",
    "reverse-flows",
    "traffic",
    "short-flows",
    "rate",
    "delay",
    "rtt",
    "buffer",
    "ecn-threshold",
    "per",
    "duration",
    "start-jitter",
    "send-overhead",
    "ties",
    "stack",
    "packet-size",
    "mtu",
];

fn of_scenario(scenario: &Scenario) -> Vec<(&'static str, String)> {
    let network = &scenario.network;
    let mut facts = Vec::new();
    let lasting = || scenario.flows.iter().filter(|flow| !flow.short);
    let forward = lasting().filter(|flow| !flow.reverse).count();
    let reverse = scenario.lasting_flows() - forward;
    let against = if reverse > 0 { format!(" and {reverse} against them") } else { String::new() };
    facts.push(("Flows", format!("{forward}{against}")));
    let mut algorithms: Vec<(String, usize)> = Vec::new();
    for name in lasting().map(|flow| flow.algorithm.to_string()) {
        match algorithms.iter_mut().find(|(other, _)| *other == name) {
            Some((_, flows)) => *flows += 1,
            None => algorithms.push((name, 1)),
        }
    }
    let texts: Vec<String> = match &algorithms[..] {
        [(name, _)] => vec![name.clone()],
        several => several.iter().map(|(name, flows)| format!("{flows} of {name}")).collect(),
    };
    if !texts.is_empty() {
        facts.push((ALGORITHM, texts.join(", ")));
    }
    let mut kinds: Vec<String> = Vec::new();
    for kind in lasting().filter(|flow| flow.traffic != Traffic::Bulk).map(|flow| flow.traffic.to_string()) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if !kinds.is_empty() {
        facts.push(("Traffic", kinds.join("; ")));
    }
    if let Some(arrivals) = &scenario.arrivals {
        let (algorithm, size) = (&arrivals.flow.algorithm, &arrivals.size);
        facts.push((
            "Short flows",
            format!("{algorithm}, {:.3} a second in the mean, sizes {size}", arrivals.per_second),
        ));
    }
    if let Some(link) = network.links.get(network.bottleneck) {
        facts.push(("Bottleneck", rate(link)));
        facts.push(("Buffer of the bottleneck", limit(link)));
        facts.push((
            "Packet error rate",
            match &link.loss {
                Loss::None => "0".into(),
                Loss::Bernoulli(probability) => Probability::nearest(*probability).to_string(),
                Loss::GilbertElliott(chain) => format!("in bursts, {:.2e} in the mean", chain.mean()),
                Loss::Nth(numbers) => format!("{} given packets", numbers.len()),
            },
        ));
        if let Some(threshold) = link.queue.ecn_threshold {
            facts.push(("Marks over", format!("{threshold} packets")));
        }
    }
    // A route that names a link that is not there has no round-trip time.
    let is_sound = |flow: &cwnd_scenario::FlowSpec| {
        flow.route.iter().chain(&flow.ack_route).all(|link| *link < network.links.len())
    };
    let mut rtts: Vec<String> = Vec::new();
    for (i, flow) in scenario.flows.iter().enumerate() {
        if is_sound(flow) {
            let rtt = scenario.base_rtt(i).to_string();
            if !rtts.contains(&rtt) {
                rtts.push(rtt);
            }
        }
    }
    facts.push(("Base round-trip time", rtts.join("; ")));
    facts.push(("Duration", scenario.duration.to_string()));
    facts.push(("Start jitter", scenario.start_jitter.to_string()));
    facts.push(("Send overhead", scenario.send_overhead.to_string()));
    facts.push(("Ties", scenario.ties.to_string()));
    let stack = &scenario.stack;
    let profile = scenario.stack_names();
    let sack = if stack.sack { "SACK" } else { "no SACK" };
    facts.push((
        "Stack",
        format!(
            "{profile}, payload {} bytes, {sack}, initial window {}",
            stack.payload, stack.initial_window
        ),
    ));
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

fn rate(link: &LinkSpec) -> String {
    let rate = if link.rate == Rate::UNLIMITED { "unlimited".into() } else { link.rate.to_string() };
    format!("{rate}, {} one way", link.delay)
}

fn limit(link: &LinkSpec) -> String {
    match link.queue.limit {
        QueueLimit::Packets(1) => "1 packet".into(),
        QueueLimit::Packets(packets) => format!("{packets} packets"),
        QueueLimit::Bytes(bytes) => format!("{bytes} bytes"),
        QueueLimit::Unlimited => "unlimited".into(),
    }
}
