//! Whether a scenario can be run, and what it would cost.

use crate::factory::Factory;
use cwnd_link::SerialTime;
use cwnd_scenario::{
    Cost, DelayedAck, FlowSpec, LinkSpec, Loss, Network, Problem, QueueLimit, Rate, Scenario, Stack, Traffic,
};
use std::collections::{BTreeMap, BTreeSet};

/// The engine's clock holds this: about 39 hours of simulated time.
const LONGEST: u64 = 1 << 47;
/// Wire bytes of the largest packet.
const LARGEST_PACKET: u32 = 65_535;
/// More flows than this are refused.
const MOST_FLOWS: usize = 100_000;
/// Slowest and fastest link, bit/s.
const RATES: std::ops::RangeInclusive<u64> = 1_000..=10_000_000_000_000;
/// CPU seconds a packet (data or ACK), for the estimate.
const CPU_PER_PACKET: f64 = 25e-9;

fn problem(place: impl Into<String>, message: impl Into<String>) -> Problem {
    Problem { place: place.into(), message: message.into() }
}

/// Everything that is wrong with a scenario, or what it would cost.
pub fn check_with(scenario: &Scenario, factory: Factory<'_>) -> Result<Cost, Vec<Problem>> {
    let mut problems = Vec::new();
    check_times(scenario, &mut problems);
    check_stack(&scenario.stack, &mut problems);
    check_network(&scenario.network, &mut problems);
    if scenario.flows.is_empty() || scenario.flows.len() > MOST_FLOWS {
        problems.push(problem(
            "flows",
            format!("there are {}; a run needs 1 to {MOST_FLOWS}", scenario.flows.len()),
        ));
    } else {
        // Many flows share an algorithm: build each kind once.
        let mut kinds = BTreeMap::new();
        for (i, flow) in scenario.flows.iter().enumerate() {
            check_flow(scenario, flow, &format!("flows[{i}]"), &mut problems);
            kinds.entry(flow.algorithm.to_string()).or_insert((i, &flow.algorithm));
        }
        for (i, algorithm) in kinds.into_values() {
            if let Err(why) = factory(algorithm) {
                problems.push(problem(format!("flows[{i}].algorithm"), why));
            }
        }
    }
    if problems.is_empty() { Ok(cost(scenario)) } else { Err(problems) }
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
    if let Some(sample) = scenario.sample {
        let samples = scenario.duration.0 / sample.0.max(1);
        if sample.0 == 0 || samples > 10_000_000 {
            problems.push(problem("sample", "must give between one and ten million samples"));
        }
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
    range("receive_window", u64::from(stack.receive_window), 1, 1 << 30);
    range("min_rto", stack.min_rto.0, 1_000_000, 60_000_000_000);
    range("initial_rto", stack.initial_rto.0, 1_000_000, 60_000_000_000);
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
        let place = format!("links[{i}] ({})", link.name);
        if link.from >= network.nodes.len() || link.to >= network.nodes.len() || link.from == link.to {
            problems.push(problem(&place, "must join two different nodes of the network"));
        }
        if let Err(wrong) = check_link(link, &place) {
            problems.push(wrong);
        }
    }
}

/// Whether a link by itself is possible.
pub fn check_link(link: &LinkSpec, place: &str) -> Result<(), Problem> {
    if link.rate != Rate::UNLIMITED && !RATES.contains(&link.rate.0) {
        return Err(problem(place, "its rate must be 1 kbit/s to 10 Tbit/s, or unlimited"));
    }
    if link.delay.0 > LONGEST {
        return Err(problem(place, "its delay must be at most 2^47 ns, about 39 hours"));
    }
    if let Loss::Bernoulli(p) = link.loss
        && !(0.0..=1.0).contains(&p)
    {
        return Err(problem(place, format!("its loss is {p}; a probability is 0 to 1")));
    }
    Ok(())
}

fn check_flow(scenario: &Scenario, flow: &FlowSpec, place: &str, problems: &mut Vec<Problem>) {
    let links = &scenario.network.links;
    let mut ends = Vec::new();
    for (name, route) in [("route", &flow.route), ("ack_route", &flow.ack_route)] {
        let place = format!("{place}.{name}");
        if route.is_empty() || route.iter().any(|&link| link >= links.len()) {
            problems.push(problem(place, "must name at least one link, and links that there are"));
            return;
        }
        if route.windows(2).any(|pair| links[pair[0]].to != links[pair[1]].from) {
            problems.push(problem(&place, "has a link that does not begin where the one before it ends"));
        }
        let mut once = route.clone();
        once.sort_unstable();
        once.dedup();
        if once.len() < route.len() {
            problems.push(problem(&place, "crosses a link twice"));
        }
        ends.push((links[route[0]].from, links[route[route.len() - 1]].to));
    }
    if (ends[0].0, ends[0].1) != (ends[1].1, ends[1].0) {
        problems
            .push(problem(format!("{place}.ack_route"), "must lead back from the receiver to the sender"));
    }
    if flow.start.0 > LONGEST || flow.stop.is_some_and(|stop| stop.0 > LONGEST) {
        problems.push(problem(place, "starts or stops later than 2^47 ns, about 39 hours"));
    }
    if flow.bytes == Some(0) {
        problems.push(problem(format!("{place}.bytes"), "is nothing; a transfer has at least one byte"));
    }
    if let Some(wrong) = flow.traffic.problem() {
        problems.push(problem(format!("{place}.traffic"), wrong));
    }
    if flow.short && (flow.bytes.is_none() || flow.traffic != Traffic::Bulk) {
        problems.push(problem(place, "is a short flow, which sends a number of bytes and nothing else"));
    }
}

/// How many full packets a link holds at most, in its queue and on its line.
fn capacity(scenario: &Scenario, link: usize, size: f64) -> f64 {
    let link = &scenario.network.links[link];
    let queue = match link.queue.limit {
        QueueLimit::Packets(n) => f64::from(n),
        QueueLimit::Bytes(bytes) => bytes as f64 / size,
        QueueLimit::Unlimited => f64::INFINITY,
    };
    match link.rate {
        Rate::UNLIMITED => f64::INFINITY,
        rate => queue + rate.0 as f64 * link.delay.as_secs_f64() / 8.0 / size + 1.0,
    }
}

/// An upper estimate: every bottleneck full, and every queue.
fn cost(scenario: &Scenario) -> Cost {
    let stack = &scenario.stack;
    let size = f64::from(stack.full_packet());
    let seconds = scenario.duration.as_secs_f64();
    // Flows are held by the narrowest link that they cross; a link is full at most.
    let mut demand = BTreeMap::<usize, f64>::new();
    let (mut wanted, mut used) = (0.0, BTreeSet::new());
    for flow in &scenario.flows {
        let links = flow.route.iter().map(|&link| (scenario.network.links[link].rate, link));
        let (rate, narrowest) = links.min().unwrap_or((Rate::UNLIMITED, 0));
        let delay: f64 = flow
            .route
            .iter()
            .chain(&flow.ack_route)
            .map(|&link| scenario.network.links[link].delay.as_secs_f64())
            .sum();
        let window = f64::from(stack.receive_window);
        // A full window a round trip is the most that an unlimited rate can carry.
        let shortest = (delay + 2.0 * SerialTime::new(rate).of(stack.full_packet()) as f64 * 1e-9).max(1e-7);
        let by_window = window / shortest * seconds;
        let by_bytes =
            flow.bytes.map_or(f64::INFINITY, |bytes| bytes as f64 / f64::from(stack.payload) * 2.0);
        let by_rate =
            if rate == Rate::UNLIMITED { f64::INFINITY } else { rate.0 as f64 * seconds / 8.0 / size };
        *demand.entry(narrowest).or_default() += by_window.min(by_bytes).min(by_rate);
        // A window at most doubles in a round trip.
        let doublings = seconds / delay.max(1e-7);
        let grown = f64::from(stack.initial_window) * libm::exp2(doublings.min(64.0));
        let held: f64 = flow.route.iter().map(|&link| capacity(scenario, link, size)).sum();
        wanted += window.min(by_bytes).min(grown).min(held);
        used.extend(&flow.route);
    }
    // What all flows together have outstanding fits into their windows, and into the links.
    let held: f64 = used.iter().map(|&link| capacity(scenario, link, size)).sum();
    let standing = wanted.min(held);
    let packets: f64 = demand
        .iter()
        .map(|(&link, &wanted)| match scenario.network.links[link].rate {
            Rate::UNLIMITED => wanted,
            rate => wanted.min(rate.0 as f64 * seconds / 8.0 / size * 1.1),
        })
        .sum();
    let samples = scenario.sample.map_or(0.0, |every| seconds / every.as_secs_f64().max(1e-9));
    let sampled = scenario.lasting_flows();
    let columns = (4 * sampled).min(200) as f64;
    let cpu_s = 2.0 * packets * CPU_PER_PACKET;
    Cost {
        packets: 2.0 * packets,
        cpu_s,
        wall_s: cpu_s,
        // A packet stands in a ring (which doubles) and in a queue's departures; a flow has its state.
        memory: standing * 128.0
            + scenario.flows.len() as f64 * 16_384.0
            + samples * (64.0 * sampled as f64 + 4.0 * columns),
    }
}
