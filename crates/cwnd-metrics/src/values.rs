//! Metrics of a run by name.
//!
//! | name | of what |
//! |---|---|
//! | `throughput_bps` | all forward flows; what speaks of flows one by one (Jain's index, windows) is of those that are not short |
//! | `flow2.throughput_bps` | the second flow of the scenario, forward or reverse; in runs of up to [`MAX_FLOWS`] flows |
//! | `elastic.throughput_bps` | the forward flows of an algorithm (named with its parameters), where several algorithms share |
//! | `background.throughput_bps` | the forward flows of a group that has this name; with cross flows there are `own` and `cross` |
//! | `short.slowdown_p99` | the short flows that started while it was counted; `short-small` are those of less than 100 KB, `short-large` those of more than 1 MB, and between them [`SIZE_CLASSES`] |
//! | `bottleneck.mean_packets` | a link and its queue, by the link's name: the bottleneck, links that several forward flows share, and with up to four flows those that forward flows' data enters first |

use super::registry::{Metric, Scope, all};
use super::view::{View, named_groups};
use cwnd_scenario::{Outcome, Scenario};
use std::collections::{BTreeMap, BTreeSet};

/// Runs of more flows have no values of single flows.
pub const MAX_FLOWS: usize = 64;
/// Runs of more algorithms have no values of algorithms.
const MAX_ALGORITHMS: usize = 16;
/// Runs of more flows have no values of the links that each flow's data enters first.
const MAX_FLOWS_WITH_QUEUES: usize = 4;
/// So many of the links that several flows share have values, the first ones.
const MAX_SHARED_LINKS: usize = 16;

/// What a name is of, and the metric's own name: `flow2.throughput_bps` is `throughput_bps` of `flow2`.
pub fn split(name: &str) -> (Option<&str>, &str) {
    // An algorithm's parameters may have points (`agile-sd:beta2=0.9`); no metric's own name has one.
    name.rsplit_once('.').map_or((None, name), |(of, metric)| (Some(of), metric))
}

/// The metric that a name speaks of; none if there is none, or it cannot be measured of that.
pub fn find(name: &str) -> Option<&'static Metric> {
    let (of, own) = split(name);
    all().find(|metric| {
        metric.name == own
            && match of {
                None => metric.is_of(Scope::Run),
                Some("") => false,
                Some(of) if flow_number(of).is_some() => metric.is_of(Scope::Flow),
                Some(of) if short_class(of).is_some() => metric.is_of(Scope::Short),
                Some(_) => metric.is_of(Scope::Algorithm) || metric.is_of(Scope::Queue),
            }
    })
}

/// Whether runs of a scenario can have a metric of this name.
pub fn has(scenario: &Scenario, name: &str) -> bool {
    let (Some(metric), (of, _)) = (find(name), split(name)) else { return false };
    let Some(of) = of else { return true };
    match flow_number(of) {
        Some(number) => number <= scenario.lasting_flows() && scenario.lasting_flows() <= MAX_FLOWS,
        None if short_class(of).is_some() => scenario.lasting_flows() < scenario.flows.len(),
        None if metric.is_of(Scope::Queue) => {
            queues(scenario).iter().any(|link| scenario.network.links[*link].name == of)
        }
        None => {
            algorithms(scenario).is_some_and(|algorithms| algorithms.contains_key(of))
                || groups(scenario).contains_key(of)
        }
    }
}

/// All metrics of a run that can be measured, by name; what needs samples is there if the outcome has them.
pub fn values(scenario: &Scenario, outcome: &Outcome) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    visit(scenario, outcome, &mut |of, metric, value| {
        values.insert(full_name(of, metric), value);
    });
    values
}

/// Returns the name of a metric that [`visit`] passes.
pub fn full_name(of: &str, metric: &Metric) -> String {
    if of.is_empty() { metric.name.to_owned() } else { format!("{of}.{}", metric.name) }
}

/// Passes to `each` what [`values`] returns, without making the names: what it is of (`flow2`; empty for the run), the metric
/// and the value. Where two have the same name, the later counts. Runs of the same scenario pass the same metrics in the same
/// order, apart from those that cannot be measured.
pub fn visit(scenario: &Scenario, outcome: &Outcome, each: &mut dyn FnMut(&str, &'static Metric, f64)) {
    let view = View::new(scenario, outcome);
    of_flows(&view, &view.forward(), Scope::Run, "", each);
    if scenario.lasting_flows() <= MAX_FLOWS {
        for flow in view.all().filter(|flow| !scenario.flows[*flow].short) {
            of_flows(&view, &[flow], Scope::Flow, &format!("flow{}", flow + 1), each);
        }
    }
    for (name, flows) in algorithms(scenario).into_iter().flatten().chain(groups(scenario)) {
        let flows: Vec<usize> = flows.into_iter().filter(|flow| view.all().contains(flow)).collect();
        of_flows(&view, &flows, Scope::Algorithm, &name, each);
    }
    let short = view.short();
    for (class, belongs) in SHORT_CLASSES.iter().filter(|_| !short.is_empty()) {
        let of_class = |flow: &usize| scenario.flows[*flow].bytes.is_some_and(belongs);
        let flows: Vec<usize> = short.iter().copied().filter(of_class).collect();
        if !flows.is_empty() {
            of_flows(&view, &flows, Scope::Short, class, each);
        }
    }
    for link in queues(scenario).into_iter().filter(|link| *link < outcome.links.len()) {
        let name = &outcome.links[link].name;
        for metric in all() {
            if let Some(value) = metric.of_link(&view, link) {
                each(name, metric, value);
            }
        }
    }
}

/// Returns the flows that a metric of single flows speaks of, each with its value: none where it cannot be measured.
/// `completion_time_s` is of all forward flows, short ones included, `short.completion_time_s` of the short ones, and
/// `elastic.throughput_bps` of those of an algorithm or a group. `sampled` has the metrics of the run that need samples, by
/// name, since a stored outcome has no samples.
pub fn of_each_flow(
    scenario: &Scenario,
    outcome: &Outcome,
    sampled: &BTreeMap<String, f64>,
    name: &str,
) -> Vec<(usize, Option<f64>)> {
    let (of, own) = split(name);
    let Some(metric) = find_of_flows(name) else { return Vec::new() };
    let view = View::new(scenario, outcome);
    let flows = match of {
        None => view.forward(),
        Some(of) => match short_class(of) {
            Some(belongs) => {
                let of_class = |flow: &usize| scenario.flows[*flow].bytes.is_some_and(belongs);
                view.short().into_iter().filter(of_class).collect()
            }
            None => {
                let named = algorithms(scenario).into_iter().flatten().chain(groups(scenario));
                let own = named.into_iter().find(|(name, _)| name == of).map(|(_, flows)| flows);
                own.unwrap_or_default().into_iter().filter(|flow| view.all().contains(flow)).collect()
            }
        },
    };
    let value = |flow: usize| {
        let counted = if metric.needs_samples() { None } else { metric.of_flows(&view, &[flow]) };
        counted.or_else(|| sampled.get(&format!("flow{}.{own}", flow + 1)).copied())
    };
    flows.into_iter().map(|flow| (flow, value(flow))).collect()
}

/// Returns the metric of single flows that a name speaks of: `completion_time_s`, `short.slowdown`, `elastic.throughput_bps`.
/// None if there is none, or it is not measured of single flows.
pub fn find_of_flows(name: &str) -> Option<&'static Metric> {
    let (of, own) = split(name);
    let is_known = of.is_none_or(|of| !of.is_empty() && flow_number(of).is_none());
    all().find(|metric| metric.name == own && metric.is_of(Scope::Flow)).filter(|_| is_known)
}

type Belongs = fn(u64) -> bool;

/// Short flows by their size in bytes: the bounds are those of pFabric (SIGCOMM 2013) and of most work since, but that its
/// large flows begin at 10 MB.
const SHORT_CLASSES: [(&str, Belongs); 6] = [
    ("short", |_| true),
    ("short-small", |bytes| bytes < 100_000),
    ("short-large", |bytes| bytes > 1_000_000),
    ("short-to-10KB", |bytes| bytes < 10_000),
    ("short-to-100KB", |bytes| (10_000..100_000).contains(&bytes)),
    ("short-to-1MB", |bytes| (100_000..=1_000_000).contains(&bytes)),
];

/// The classes that part short flows by size without overlap, from the smallest: what a metric of each is called by, and the
/// sizes in words.
pub const SIZE_CLASSES: [(&str, &str); 4] = [
    ("short-to-10KB", "under 10 KB"),
    ("short-to-100KB", "10 to 100 KB"),
    ("short-to-1MB", "100 KB to 1 MB"),
    ("short-large", "over 1 MB"),
];

/// Returns the name of the size class of a flow with this number of bytes.
pub fn size_class(bytes: u64) -> &'static str {
    let belongs = |name: &str| short_class(name).is_some_and(|belongs| belongs(bytes));
    SIZE_CLASSES.iter().find(|(name, _)| belongs(name)).map_or("", |(_, words)| words)
}

fn short_class(of: &str) -> Option<Belongs> {
    SHORT_CLASSES.iter().find(|(class, _)| *class == of).map(|(_, belongs)| *belongs)
}

/// The forward flows of each algorithm that are not short, where several share.
fn algorithms(scenario: &Scenario) -> Option<BTreeMap<String, Vec<usize>>> {
    let forward = scenario.flows.iter().enumerate().filter(|(_, flow)| !flow.reverse && !flow.short);
    let mut algorithms = BTreeMap::<String, Vec<usize>>::new();
    for (index, flow) in forward {
        algorithms.entry(flow.algorithm.to_string()).or_default().push(index);
    }
    Some(algorithms).filter(|algorithms| (2..=MAX_ALGORITHMS).contains(&algorithms.len()))
}

/// The forward flows of each named group that are not short.
fn groups(scenario: &Scenario) -> BTreeMap<String, Vec<usize>> {
    let mut groups = BTreeMap::<String, Vec<usize>>::new();
    for (name, flows) in named_groups(scenario) {
        groups.insert(name.to_owned(), flows);
    }
    groups
}

/// The links that have values.
fn queues(scenario: &Scenario) -> BTreeSet<usize> {
    let forward = || scenario.flows.iter().filter(|flow| !flow.reverse && !flow.short);
    let mut crossing = vec![0usize; scenario.network.links.len()];
    for link in forward().flat_map(|flow| &flow.route) {
        if let Some(count) = crossing.get_mut(*link) {
            *count += 1;
        }
    }
    let shared = (0..crossing.len()).filter(|link| crossing[*link] > 1);
    let mut links: BTreeSet<usize> = shared.take(MAX_SHARED_LINKS).collect();
    links.insert(scenario.network.bottleneck);
    if scenario.lasting_flows() <= MAX_FLOWS_WITH_QUEUES {
        links.extend(forward().filter_map(|flow| flow.route.first()));
    }
    links.retain(|link| *link < scenario.network.links.len());
    links
}

fn of_flows(
    view: &View<'_>,
    flows: &[usize],
    scope: Scope,
    of: &str,
    each: &mut dyn FnMut(&str, &'static Metric, f64),
) {
    // Short flows are not sampled.
    let lasting = view.lasting(flows);
    for metric in all().filter(|metric| metric.is_of(scope)) {
        let flows = if metric.needs_samples() { &lasting } else { flows };
        if let Some(value) = metric.of_flows(view, flows) {
            each(of, metric, value);
        }
    }
}

/// 2 for `flow2`.
fn flow_number(of: &str) -> Option<usize> {
    let digits = of.strip_prefix("flow")?;
    let plain =
        !digits.is_empty() && !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_belongs_to_one_class() {
        let vectors = [
            (1, "under 10 KB"),
            (9_999, "under 10 KB"),
            (10_000, "10 to 100 KB"),
            (99_999, "10 to 100 KB"),
            (100_000, "100 KB to 1 MB"),
            (1_000_000, "100 KB to 1 MB"),
            (1_000_001, "over 1 MB"),
        ];
        for (bytes, words) in vectors {
            assert_eq!(size_class(bytes), words);
            let of = SIZE_CLASSES.iter().filter(|(name, _)| short_class(name).unwrap()(bytes));
            assert_eq!(of.count(), 1, "{bytes}");
        }
    }
}
