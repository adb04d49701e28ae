//! Checks whether a scenario can run, and estimates its cost.

use crate::cost;
use crate::factory::Factory;
use cwnd_scenario::{
    Cost, DelayedAck, FlowSpec, LinkSpec, Loss, MAX_SAMPLES, Network, Problem, Rate, Scenario, Stack, Time,
    Traffic,
};
use std::collections::BTreeMap;
use std::fmt::Display;

/// The longest time of the engine's clock, ns: about 39 hours.
const LONGEST: u64 = 1 << 47;
/// Wire bytes of the largest packet.
const LARGEST_PACKET: u32 = 65_535;
/// Largest number of flows.
const MOST_FLOWS: usize = 100_000;
/// The rates of a link, bit/s.
const RATES: std::ops::RangeInclusive<u64> = 1_000..=10_000_000_000_000;

fn problem(place: impl Into<String>, message: impl Into<String>) -> Problem {
    Problem { place: place.into(), message: message.into() }
}

/// Checks a scenario and estimates its cost.
///
/// # Errors
/// All problems of the scenario.
pub fn check_with(scenario: &Scenario, factory: Factory<'_>) -> Result<Cost, Vec<Problem>> {
    let keeps_records = find_problems(scenario, factory)?;
    Ok(cost::cost(scenario, keeps_records))
}

/// Checks a scenario. Returns whether an algorithm requires records of segments.
///
/// # Errors
/// See [`check_with`].
pub(crate) fn find_problems(scenario: &Scenario, factory: Factory<'_>) -> Result<bool, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut keeps_records = false;
    check_times(scenario, &mut problems);
    check_stack(&scenario.stack, &mut problems);
    check_network(&scenario.network, &mut problems);
    if scenario.flows.is_empty() || scenario.flows.len() > MOST_FLOWS {
        problems.push(problem(
            "flows",
            format!("there are {}; a run needs 1 to {MOST_FLOWS}", scenario.flows.len()),
        ));
    } else {
        // Many flows share an algorithm, so create each kind once.
        let mut kinds = BTreeMap::new();
        for (i, flow) in scenario.flows.iter().enumerate() {
            check_flow(scenario, flow, &format_args!("flows[{i}]"), &mut problems);
            if i == 0 || flow.algorithm != scenario.flows[i - 1].algorithm {
                kinds.entry(flow.algorithm.to_string()).or_insert((i, &flow.algorithm));
            }
        }
        for (i, algorithm) in kinds.into_values() {
            match factory(algorithm) {
                Ok(algorithm) => {
                    let needs = algorithm.needs();
                    keeps_records |= needs.rate_samples || needs.lost_packets;
                }
                Err(why) => problems.push(problem(format!("flows[{i}].algorithm"), why)),
            }
        }
    }
    if problems.is_empty() { Ok(keeps_records) } else { Err(problems) }
}

fn check_times(scenario: &Scenario, problems: &mut Vec<Problem>) {
    let hours = "at most 2^47 ns, about 39 hours";
    if scenario.duration.0 == 0 || scenario.duration.0 > LONGEST {
        problems.push(problem("duration", format!("must be more than nothing and {hours}")));
    }
    let (warm_up, duration) = (scenario.warm_up, scenario.duration);
    if warm_up.0 > 0 && warm_up >= duration {
        problems.push(problem(
            "warm_up",
            format!("is {warm_up}; it must end before the run does, at {duration}"),
        ));
    }
    for (place, time) in
        [("start_jitter", scenario.start_jitter.0), ("send_overhead", scenario.send_overhead.0)]
    {
        if time > LONGEST {
            problems.push(problem(place, format!("must be {hours}")));
        }
    }
    match scenario.sample {
        Some(Time(0)) => problems.push(problem("sample", "is 0 s; samples need a time between them")),
        Some(sample) if duration.0 / sample.0 > MAX_SAMPLES => problems.push(problem(
            "sample",
            format!(
                "one every {sample} makes {} samples of {duration}; {MAX_SAMPLES} are the most",
                duration.0 / sample.0
            ),
        )),
        _ => {}
    }
}

fn check_stack(stack: &Stack, problems: &mut Vec<Problem>) {
    let mut range = |place: &str, value: u64, least: u64, most: u64| {
        if !(least..=most).contains(&value) {
            problems
                .push(problem(format!("stack.{place}"), format!("is {value}; it must be {least} to {most}")));
        }
    };
    range("payload", u64::from(stack.payload), 1, 65_000);
    range("first_packet", u64::from(stack.first_packet.unwrap_or(1)), 1, u64::from(LARGEST_PACKET));
    range("ack_size", u64::from(stack.ack_size), 1, 65_000);
    range("initial_window", u64::from(stack.initial_window), 1, 1 << 20);
    range("receive_window", u64::from(stack.receive_window), 1, Stack::LARGEST_WINDOW.into());
    range("min_rto", stack.min_rto.0, 1_000_000, 60_000_000_000);
    range("initial_rto", stack.initial_rto.0, 1_000_000, 60_000_000_000);
    range("timer_hz", u64::from(stack.timer_hz), 0, 1_000_000);
    range("max_rto", stack.max_rto.0, stack.initial_rto.0.max(stack.min_rto.0), LONGEST);
    if let DelayedAck::After(time) = stack.delayed_ack {
        range("delayed_ack", time.0, 1, 1_000_000_000);
    }
    let sack = stack.sack_block_base + 4 * stack.sack_block_each;
    let largest = stack.payload.saturating_add(stack.data_overhead).max(stack.ack_size.saturating_add(sack));
    range("payload and headers", u64::from(largest), 1, u64::from(LARGEST_PACKET));
}

fn check_network(network: &Network, problems: &mut Vec<Problem>) {
    if network.bottleneck >= network.links.len() {
        problems.push(problem("network.bottleneck", format!("there is no link {}", network.bottleneck)));
    }
    for (i, link) in network.links.iter().enumerate() {
        let name = &link.name;
        if link.from >= network.nodes.len() || link.to >= network.nodes.len() || link.from == link.to {
            let place = format!("links[{i}] ({name})");
            problems.push(problem(place, "must join two different nodes of the network"));
        }
        if let Err(wrong) = check_link(link, &format_args!("links[{i}] ({name})")) {
            problems.push(wrong);
        }
    }
}

/// Checks the rate, the delay and the loss of a link.
///
/// # Errors
/// One of them is impossible.
pub fn check_link(link: &LinkSpec, place: &dyn Display) -> Result<(), Problem> {
    if link.rate != Rate::UNLIMITED && !RATES.contains(&link.rate.0) {
        return Err(problem(place.to_string(), "its rate must be 1 kbit/s to 10 Tbit/s, or unlimited"));
    }
    if link.delay.0 > LONGEST {
        return Err(problem(place.to_string(), "its delay must be at most 2^47 ns, about 39 hours"));
    }
    if let Loss::Bernoulli(p) = link.loss
        && !(0.0..=1.0).contains(&p)
    {
        return Err(problem(place.to_string(), format!("its loss is {p}; a probability is 0 to 1")));
    }
    Ok(())
}

fn check_flow(scenario: &Scenario, flow: &FlowSpec, place: &dyn Display, problems: &mut Vec<Problem>) {
    let links = &scenario.network.links;
    let mut ends = [(0, 0); 2];
    for (end, (name, route)) in ends.iter_mut().zip([("route", &flow.route), ("ack_route", &flow.ack_route)])
    {
        let place = || format!("{place}.{name}");
        if route.is_empty() || route.iter().any(|&link| link >= links.len()) {
            problems.push(problem(place(), "must name at least one link, and links that there are"));
            return;
        }
        if route.windows(2).any(|pair| links[pair[0]].to != links[pair[1]].from) {
            problems.push(problem(place(), "has a link that does not begin where the one before it ends"));
        }
        if has_repeats(route) {
            problems.push(problem(place(), "crosses a link twice"));
        }
        *end = (links[route[0]].from, links[route[route.len() - 1]].to);
    }
    if (ends[0].0, ends[0].1) != (ends[1].1, ends[1].0) {
        problems
            .push(problem(format!("{place}.ack_route"), "must lead back from the receiver to the sender"));
    }
    if flow.start.0 > LONGEST || flow.stop.is_some_and(|stop| stop.0 > LONGEST) {
        problems.push(problem(place.to_string(), "starts or stops later than 2^47 ns, about 39 hours"));
    }
    if flow.bytes == Some(0) {
        problems.push(problem(format!("{place}.bytes"), "is nothing; a transfer has at least one byte"));
    }
    if !flow.transport.is_tcp() {
        problems.push(problem(
            format!("{place}.transport"),
            format!(
                "is {}: this engine runs TCP only, and a build without the feature `quic` has no other",
                flow.transport
            ),
        ));
    }
    if let Some(wrong) = flow.traffic.problem() {
        problems.push(problem(format!("{place}.traffic"), wrong));
    }
    if flow.short && (flow.bytes.is_none() || flow.traffic != Traffic::Bulk) {
        problems.push(problem(
            place.to_string(),
            "is a short flow, which sends a number of bytes and nothing else",
        ));
    }
}

/// Returns whether a route crosses a link twice.
fn has_repeats(route: &[usize]) -> bool {
    /// Up to this length comparing all pairs is faster than sorting a copy.
    const SHORT: usize = 16;
    if route.len() <= SHORT {
        return route.iter().enumerate().any(|(i, link)| route[..i].contains(link));
    }
    let mut sorted = route.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}
