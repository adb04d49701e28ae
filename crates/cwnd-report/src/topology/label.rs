//! What is written at a wire.

use super::fold::Folded;
use cwnd_plot::number::thousands;
use cwnd_scenario::{
    ByteSize, Discipline, LinkId, LinkSpec, Loss, Probability, QueueLimit, Rate, Scenario, Schedule, Time,
};

/// The lines over a wire, and the lines under it: what the links back do otherwise.
pub struct WireLabel {
    /// Whether the first line over it is its name.
    pub named: bool,
    pub forth: Vec<String>,
    pub back: Vec<String>,
}

/// What the links of a wire do. The bottleneck is named, and what lies between routers.
pub fn label(scenario: &Scenario, folded: &Folded, index: usize) -> WireLabel {
    let wire = &folded.wires[index];
    let of = |links: &[LinkId]| -> Vec<String> {
        let links: Vec<&LinkSpec> = links.iter().map(|link| &scenario.network.links[*link]).collect();
        let speed = format!("{}, {}", rates(&links), delays(&links));
        [speed, queues(&links)].into_iter().chain(same(&links, traits)).collect()
    };
    let (mut forth, back) = (of(&wire.forth), of(&wire.back));
    let own: Vec<String> = back.iter().filter(|line| !forth.contains(line)).cloned().collect();
    // Losses and the like of one direction alone are not the other's.
    let lacks = forth.iter().skip(2).any(|line| !back.contains(line));
    let back = match (wire.back.is_empty(), own.is_empty()) {
        (true, _) => vec!["one way".to_owned()],
        (false, true) if lacks => vec!["back: rate, delay and queue alone".to_owned()],
        (false, true) => Vec::new(),
        (false, false) => own
            .iter()
            .enumerate()
            .map(|(i, line)| if i == 0 { format!("back: {line}") } else { line.clone() })
            .collect(),
    };
    let hosts = folded.boxes[wire.ends.0].host || folded.boxes[wire.ends.1].host;
    let named = folded.bottleneck == Some(index) || !hosts;
    if named {
        forth.insert(0, scenario.network.links[wire.forth[0]].name.clone());
    }
    WireLabel { named, forth, back }
}

/// A value that all have, or the least and the greatest.
fn span<T: Copy + Ord>(values: impl Iterator<Item = T>, write: impl Fn(T) -> String) -> String {
    let values: Vec<T> = values.collect();
    match (values.iter().min(), values.iter().max()) {
        (Some(least), Some(most)) if least == most => write(*least),
        (Some(least), Some(most)) => format!("{} to {}", write(*least), write(*most)),
        _ => String::new(),
    }
}

fn rates(links: &[&LinkSpec]) -> String {
    span(links.iter().map(|link| link.rate), |rate: Rate| rate.to_string())
}

fn delays(links: &[&LinkSpec]) -> String {
    span(links.iter().map(|link| link.delay), |delay: Time| delay.to_string())
}

fn queues(links: &[&LinkSpec]) -> String {
    let one = |link: &LinkSpec| {
        let mut text = match link.queue.limit {
            QueueLimit::Packets(1) => "1 packet".to_owned(),
            QueueLimit::Packets(packets) => format!("{} packets", thousands(f64::from(packets), 0)),
            QueueLimit::Bytes(bytes) => ByteSize(bytes).to_string(),
            QueueLimit::Unlimited => "no limit".to_owned(),
        };
        if link.queue.discipline != Discipline::DropTail {
            text += &format!(", {}", link.queue.discipline);
        }
        if let Some(threshold) = link.queue.ecn_threshold {
            text += &format!(", marks over {}", thousands(f64::from(threshold), 0));
        }
        text
    };
    let texts: Vec<String> = links.iter().map(|link| one(link)).collect();
    match texts.iter().all(|text| Some(text) == texts.first()) {
        true => texts.into_iter().next().unwrap_or_default(),
        false => "queues differ".to_owned(),
    }
}

/// What all have, or that they differ.
fn same(links: &[&LinkSpec], of: impl Fn(&LinkSpec) -> Vec<String>) -> Vec<String> {
    let all: Vec<Vec<String>> = links.iter().map(|link| of(link)).collect();
    match all.iter().all(|traits| Some(traits) == all.first()) {
        true => all.into_iter().next().unwrap_or_default(),
        false => vec!["losses or effects differ".to_owned()],
    }
}

fn traits(link: &LinkSpec) -> Vec<String> {
    let mut lines = Vec::new();
    if link.loss != Loss::None {
        lines.push(format!("loses {}", link.loss));
    }
    match &link.schedule {
        Some(Schedule::Trace(trace)) => lines.push(format!("rate by {}", trace.name)),
        Some(Schedule::Steps(steps)) => {
            let every = steps.period.map(|period| format!(" in {period}")).unwrap_or_default();
            lines.push(format!("{} steps{every}", steps.steps.len()));
        }
        None => {}
    }
    let effects = &link.effects;
    lines.extend(effects.policer.map(|policer| format!("policer {policer}")));
    lines.extend(effects.jitter.map(|jitter| format!("jitter {jitter}")));
    lines.extend(effects.slot.map(|slot| format!("slots of {slot}")));
    lines.extend(effects.ack_thinning.map(|acks| format!("ACKs thinned to 1 of {acks}")));
    lines.extend(effects.ecn_remark.map(|remark| format!("ECN field: {}", remark.word())));
    if effects.duplication > 0.0 {
        lines.push(format!("duplicates {}", Probability::nearest(effects.duplication)));
    }
    lines
}
