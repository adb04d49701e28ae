//! Whether a scenario can be run over this host's kernel, and what it takes.

use crate::ends::ETHERNET;
use crate::testbed::{packets_a_second, packets_held};
use crate::{address, algorithms, doctor};
use cwnd_scenario::{Cost, Ecn, Problem, Rate, Recovery, Scenario, Time, Traffic};

/// Flows that two threads can serve.
const MOST_FLOWS: usize = 1_000;

/// Bytes of the smallest packet that IPv4 hosts must take (RFC 791), and of the largest that a device has here.
const MTU: std::ops::RangeInclusive<u32> = 576..=65_000;

/// Bytes that a packet takes in the emulator.
const PACKET_MEMORY: f64 = 128.0;

/// Everything that is wrong with a scenario, or what it costs.
///
/// # Errors
/// All problems.
pub fn check(scenario: &Scenario) -> Result<Cost, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut problem = |place: &str, message: String| problems.push(Problem { place: place.into(), message });
    for why in doctor::missing() {
        problem("host", format!("this machine cannot do it, {why} (`cwnd lab doctor` tells all)"));
    }
    for (i, why) in algorithms::problems(scenario) {
        problem(&format!("flows[{i}].algorithm"), why);
    }
    match check_elsewhere(scenario) {
        Ok(cost) if problems.is_empty() => Ok(cost),
        Ok(_) => Err(problems),
        Err(more) => {
            problems.extend(more);
            Err(problems)
        }
    }
}

/// Everything that is wrong with a scenario whatever the machine and its kernel are, or what it costs.
///
/// # Errors
/// All problems.
pub fn check_elsewhere(scenario: &Scenario) -> Result<Cost, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut problem = |place: &str, message: String| problems.push(Problem { place: place.into(), message });
    check_stack(scenario, &mut problem);
    check_flows(scenario, &mut problem);
    for (i, flow) in scenario.flows.iter().enumerate().filter(|(_, flow)| !flow.transport.is_tcp()) {
        let why = format!(
            "is {}: this engine runs the kernel's TCP, so leave `stack={}` out",
            flow.transport, flow.transport
        );
        problem(&format!("flows[{i}].transport"), why);
    }
    if scenario.duration == Time::ZERO || scenario.duration > Time::from_secs(24 * 3600) {
        problem(
            "duration",
            format!("is {}; it takes that long in real time, at most a day", scenario.duration),
        );
    }
    if scenario.warm_up >= scenario.duration {
        let (warm_up, duration) = (scenario.warm_up, scenario.duration);
        problem("warm_up", format!("is {warm_up}; it must end before the run does, at {duration}"));
    }
    if scenario.sample.is_some_and(|sample| sample < Time::from_millis(1)) {
        problem("sample", "must be a millisecond at least: sockets are asked in real time".to_owned());
    }
    for (i, link) in scenario.network.links.iter().enumerate() {
        if link.rate == Rate(0) {
            problem(&format!("links[{i}] ({})", link.name), "has no rate".to_owned());
        }
    }
    if problems.is_empty() { Ok(cost(scenario)) } else { Err(problems) }
}

fn check_stack(scenario: &Scenario, problem: &mut impl FnMut(&str, String)) {
    let stack = &scenario.stack;
    if stack.recovery != Recovery::Linux {
        problem(
            "stack",
            "is not Linux's: this engine runs the kernel's own TCP, so ask for the `linux` stack, and for its own \
             recovery"
                .to_owned(),
        );
        return;
    }
    let mtu = stack.full_packet().saturating_sub(ETHERNET);
    if !MTU.contains(&mtu) {
        problem(
            "stack.payload",
            format!("makes packets of {mtu} bytes; a device takes {} to {}", MTU.start(), MTU.end()),
        );
    }
    if matches!(stack.ecn, Ecn::Accurate(_)) {
        problem("stack.ecn", "is accurate ECN, which this engine does not ask the kernel for".to_owned());
    }
    if stack.initial_ssthresh.is_some() {
        problem("stack.initial_ssthresh", "cannot be set: the kernel begins with none".to_owned());
    }
    for (place, is, kernels) in [
        ("stack.initial_rto", stack.initial_rto, Time::from_secs(1)),
        ("stack.max_rto", stack.max_rto, Time::from_secs(120)),
    ] {
        if is != kernels {
            problem(place, format!("is {is}; the kernel's is {kernels} and cannot be set"));
        }
    }
    if !stack.detect_lost_retransmissions || !stack.limited_transmit {
        problem(
            "stack",
            "leaves out limited transmit or what finds lost retransmissions: the kernel has both".into(),
        );
    }
}

fn check_flows(scenario: &Scenario, problem: &mut impl FnMut(&str, String)) {
    const { assert!(MOST_FLOWS <= address::MOST_FLOWS) };
    let count = scenario.flows.len();
    if count == 0 || count > MOST_FLOWS {
        problem("flows", format!("there are {count}; this engine runs 1 to {MOST_FLOWS}"));
        return;
    }
    for (i, flow) in scenario.flows.iter().enumerate() {
        let place = format!("flows[{i}]");
        if flow.traffic != Traffic::Bulk {
            problem(
                &place,
                "has an application that sends by turns: this engine sends in bulk, or so many bytes".into(),
            );
        }
        if !flow.receiver.is_honest() {
            problem(&place, "has a receiver that misbehaves, which a kernel's does not".into());
        }
        if flow.bytes == Some(0) {
            problem(&place, "has nothing to send".to_owned());
        }
        if flow.route.is_empty() || flow.ack_route.is_empty() {
            problem(&place, "crosses no link".to_owned());
        }
        let links = flow.route.iter().chain(&flow.ack_route);
        if links.clone().any(|&link| link >= scenario.network.links.len()) {
            problem(&place, "crosses a link that is not there".to_owned());
        }
    }
}

/// Real time is what it costs: it is one run at a time.
fn cost(scenario: &Scenario) -> Cost {
    let seconds = scenario.duration.as_secs_f64();
    let size = f64::from(scenario.stack.full_packet());
    Cost {
        packets: 2.0 * packets_a_second(scenario) * seconds,
        cpu_s: seconds,
        wall_s: seconds,
        memory: packets_held(scenario) * (size + PACKET_MEMORY) + 64e6,
    }
}
