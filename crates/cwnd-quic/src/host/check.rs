//! Checks of scenarios with QUIC flows.

use crate::{noq, quinn};
use cwnd_scenario::{
    AlgorithmSpec, Cost, FlowSpec, Problem, Scenario, Stack, StackProfile, Traffic, Transport,
};
use cwnd_sim::Factory;

/// Algorithms that seed their random numbers from the operating system, and let no caller seed them.
const UNSEEDED: [&str; 2] = ["bbr3@noq", "bbr@quinn"];

/// The least UDP payload of a QUIC datagram (RFC 9000 section 14), bytes.
const LEAST_PAYLOAD: u32 = 1200;
/// The memory of a connection, bytes: both ends with their buffers and TLS. 200 connections took 98 MB.
const CONNECTION_MEMORY: f64 = 500_000.0;
/// The memory of packets, as a multiple of TCP's: they have their payload, and records at three places.
const MEMORY: f64 = 20.0;
/// What a data packet costs in QUIC, as a multiple of one of TCP: encryption, and events instead of closed forms.
const COST: f64 = 60.0;

/// Returns whether some flow of a scenario, or an algorithm that a flow names, needs a QUIC implementation.
pub fn has_quic(scenario: &Scenario) -> bool {
    let needs =
        |flow: &FlowSpec| !flow.transport.is_tcp() || Transport::owner_of(&flow.algorithm.name).is_some();
    scenario.flows.iter().any(needs)
}

/// Returns whether an algorithm draws random numbers that no seed decides, so that its runs differ.
pub fn is_unseeded(algorithm: &AlgorithmSpec) -> bool {
    UNSEEDED.contains(&algorithm.name.as_str())
}

/// Checks a scenario and estimates its cost. TCP flows have the algorithms of `factory`, QUIC flows too, or their implementation's own.
///
/// # Errors
/// All problems of the scenario.
pub fn check_with(scenario: &Scenario, factory: Factory<'_>) -> Result<Cost, Vec<Problem>> {
    let mut problems = Vec::new();
    let cost = cwnd_sim::check_with(&as_tcp(scenario), factory).map_err(|found| problems.extend(found)).ok();
    check_stack(scenario, &mut problems);
    let mut checked: Option<&FlowSpec> = None;
    for (i, flow) in scenario.flows.iter().enumerate() {
        // Many flows are alike.
        let alike = checked.is_some_and(|checked| {
            (&checked.algorithm, checked.transport, checked.traffic, checked.receiver)
                == (&flow.algorithm, flow.transport, flow.traffic, flow.receiver)
        });
        if !alike {
            check_flow(flow, i, factory, &mut problems);
            checked = Some(flow);
        }
    }
    let connections = scenario.flows.iter().filter(|flow| !flow.transport.is_tcp()).count() as f64;
    let cost = cost.map(|cost| Cost {
        cpu_s: COST * cost.cpu_s,
        wall_s: COST * cost.wall_s,
        memory: MEMORY * cost.memory + CONNECTION_MEMORY * connections,
        ..cost
    });
    match cost {
        Some(cost) if problems.is_empty() => Ok(cost),
        _ => Err(problems),
    }
}

/// Returns the same scenario with TCP in place of QUIC, for everything that does not depend on the transport.
pub fn as_tcp(scenario: &Scenario) -> Scenario {
    let mut tcp = scenario.clone();
    for flow in &mut tcp.flows {
        if !flow.transport.is_tcp() || Transport::owner_of(&flow.algorithm.name).is_some() {
            flow.transport = Transport::Tcp;
            flow.algorithm = AlgorithmSpec { name: "newreno".to_owned(), ..AlgorithmSpec::default() };
        }
    }
    tcp
}

fn check_stack(scenario: &Scenario, problems: &mut Vec<Problem>) {
    if scenario.flows.iter().all(|flow| flow.transport.is_tcp()) {
        return;
    }
    let mut problem =
        |place: &str, message: String| problems.push(Problem { place: place.to_owned(), message });
    match scenario.stack.mtu() {
        None => problem(
            "stack",
            format!(
                "QUIC flows need packets with IP headers, and `{}` has none: run the others on `linux`",
                StackProfile::Ns2.name()
            ),
        ),
        Some(mtu) if mtu < LEAST_PAYLOAD + Stack::IP_AND_UDP => problem(
            "mtu",
            format!("is {mtu} bytes; QUIC flows need at least {}", LEAST_PAYLOAD + Stack::IP_AND_UDP),
        ),
        Some(_) => {}
    }
}

fn check_flow(flow: &FlowSpec, number: usize, factory: Factory<'_>, problems: &mut Vec<Problem>) {
    let mut problem = |field: &str, message: String| {
        problems.push(Problem { place: format!("flows[{number}].{field}"), message })
    };
    let (name, transport) = (&flow.algorithm.name, flow.transport);
    if let Some(owner) = Transport::owner_of(name).filter(|owner| *owner != transport) {
        let wrong = format!(
            "`{name}` is {owner}'s own algorithm, and the flow's stack is `{transport}`: set `stack={owner}`"
        );
        return problem("algorithm", wrong);
    }
    if transport.is_tcp() {
        return;
    }
    if let Err(why) = known(&flow.algorithm, factory) {
        problem("algorithm", why);
    }
    if flow.traffic != Traffic::Bulk {
        problem(
            "traffic",
            format!("`{transport}` carries bulk data and transfers of `bytes`; leave `traffic` out"),
        );
    }
    if !flow.receiver.is_honest() {
        problem(
            "receiver",
            format!("`{transport}` has honest receivers only; `{}` is for TCP", flow.receiver),
        );
    }
}

/// Checks whether a QUIC flow can have an algorithm.
///
/// # Errors
/// It cannot, with the reason.
fn known(algorithm: &AlgorithmSpec, factory: Factory<'_>) -> Result<(), String> {
    check_own(algorithm).unwrap_or_else(|| factory(algorithm).map(drop))
}

/// Checks an algorithm that is named as a QUIC implementation's own, such as `cubic@noq`. Returns none for other names.
pub fn check_own(algorithm: &AlgorithmSpec) -> Option<Result<(), String>> {
    let owner = Transport::owner_of(&algorithm.name)?;
    let (own, _) = algorithm.name.rsplit_once('@')?;
    let names: &[&str] = if owner == Transport::Noq { &noq::OWN } else { &quinn::OWN };
    Some(if !names.contains(&own) {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}@{owner}`")).collect();
        Err(format!("{owner} has no `{own}`; there are {}", names.join(", ")))
    } else if algorithm.all_parameters().next().is_some() {
        Err(format!("`{}` takes no parameters", algorithm.name))
    } else {
        Ok(())
    })
}
