//! Creates the links and endpoints of a scenario.

use crate::factory::Factory;
use crate::graph::Graph;
use crate::host::Endpoint;
use crate::link::{ClosedForm, Link, QueuedLink, Steps};
use crate::unresponsive::Unresponsive;
use cwnd_cc::{Arithmetic, CongestionControl, EcnMode, FlowHints, Nanos, WindowConfig};
use cwnd_link::{Purpose, SerialTime, Stream};
use cwnd_scenario::{
    AccurateEcn, DelayedAck, Ecn, EcnPeer, Effects, EngineError, FlowSpec, Jitter, JitterShape, LinkSpec,
    Loss, Problem, ReceiverBehaviour, Scenario, Stack, StackProfile, Traffic,
};
use cwnd_tcp::accurate_ecn::Capability;
use cwnd_tcp::{
    Application, GrowingWindow, NEVER, Receiver, ReceiverConfig, Sender, SenderConfig, TimerWheel,
};

/// Least time between two steps of a link, on average, for which the closed form is used: with four flows over 1 Gbit/s a step
/// costs as much as the closed form saves in 50 ms. A simulation of more flows stops at a step for longer.
const NANOS_BETWEEN_STEPS: u64 = 100_000_000;
const NANOS_BETWEEN_STEPS_PER_FLOW: u64 = 20_000;
/// The most steps in tests, which use the closed form wherever they can.
const MOST_STEPS_IF_EAGER: u64 = 10_000;

/// More segments than a flow can send.
const UNBOUNDED: u64 = 1 << 62;

/// Creates the links of a scenario, idle. `eager`: in closed form wherever that is possible, also where it gains nothing.
pub fn links(scenario: &Scenario, eager: bool) -> Vec<Link> {
    let origin = origin(scenario);
    let (full_packet, seed) = (scenario.stack.full_packet(), scenario.seed);
    let apart = NANOS_BETWEEN_STEPS + NANOS_BETWEEN_STEPS_PER_FLOW * scenario.flows.len() as u64;
    let most_steps = if eager { MOST_STEPS_IF_EAGER } else { scenario.duration.0 / apart };
    let links = scenario.network.links.iter().enumerate();
    links
        .map(|(i, link)| {
            let steps = Steps::of(link, origin, scenario.duration.0, most_steps);
            let jitter = jitter_alone(link);
            if !link.is_plain() && steps.is_none() && jitter.is_none() {
                return Link::Queued(Box::new(QueuedLink::new(link, full_packet, origin, seed, i as u64)));
            }
            let stream = |purpose| Stream::new(seed, purpose, i as u64);
            let mut state = ClosedForm::new(SerialTime::new(link.rate), link.delay.0, &link.queue);
            if !matches!(link.loss, Loss::None | Loss::Bernoulli(0.0)) {
                state.begin_losses(&link.loss, stream(Purpose::Loss));
            }
            if let Some(shape) = jitter {
                state.begin_jitter(shape, stream(Purpose::Jitter));
            }
            state.set_usual_sizes([full_packet, scenario.stack.ack_size]);
            if let Some(steps) = steps {
                state.set_steps(steps);
            }
            Link::ClosedForm(state)
        })
        .collect()
}

/// Returns the jitter of a link that would be plain without it, if no packet overtakes another. A jitter without consequences does not
/// count: whoever names it wants to change the link's effects later. Nor does one behind a queue that marks, because such a queue
/// counts its marks when packets leave it.
fn jitter_alone(link: &LinkSpec) -> Option<JitterShape> {
    let Jitter { shape, reorders } = link.effects.jitter?;
    let effects = Effects { jitter: None, ..link.effects };
    let plain = LinkSpec { effects, ..link.clone() }.is_plain() && link.queue.ecn_threshold.is_none();
    let without_consequences = matches!(shape, JitterShape::Sometimes(0.0, _));
    (plain && !reorders && !without_consequences).then_some(shape)
}

/// Returns the wire bytes of the smallest possible packet.
pub fn smallest_packet(scenario: &Scenario) -> u32 {
    let Stack { ack_size, data_overhead, first_packet, .. } = scenario.stack;
    first_packet.map_or(ack_size, |first| first.min(ack_size)).min(data_overhead + 1)
}

/// Returns the segments of a transfer and the payload of the last one.
pub fn segments(bytes: u64, payload: u32) -> (u64, u32) {
    let segments = bytes.div_ceil(u64::from(payload)).max(1);
    (segments, (bytes - (segments - 1) * u64::from(payload)) as u32)
}

/// Creates the sender and the receiver of each flow. Also returns the engine's clock at the scenario's time zero.
///
/// # Errors
/// The factory cannot create an algorithm.
pub fn endpoints(
    scenario: &Scenario,
    factory: Factory<'_>,
) -> Result<(Vec<[Endpoint; 2]>, u64), EngineError> {
    let origin = origin(scenario);
    let marked = scenario.network.links.iter().any(|link| link.queue.marks());
    let mut endpoints = Vec::with_capacity(scenario.flows.len());
    for (i, flow) in scenario.flows.iter().enumerate() {
        let connected = scenario.start_of(i).0 + origin;
        let (algorithm, behaviour): (Box<dyn CongestionControl>, _) = match flow.traffic {
            Traffic::Pulses { rate, .. } => {
                (Box::new(Unresponsive::new(rate)), ReceiverBehaviour::ConcealLosses)
            }
            _ => (factory(&flow.algorithm).map_err(EngineError::Failed)?, flow.receiver),
        };
        let stack = &scenario.stack;
        let Ends { ecn, accurate, capability, option } = ecn_of(stack, marked, algorithm.needs().ecn);
        let (segments, last_payload) =
            flow.bytes.map_or((u64::MAX, stack.payload), |bytes| segments(bytes, stack.payload));
        let sender = SenderConfig {
            channel: 2 * i as u32,
            packet_size: stack.full_packet(),
            first_packet_size: stack.first_packet.unwrap_or(stack.full_packet()),
            last_packet_size: last_payload + stack.data_overhead,
            segments,
            ack_size: stack.ack_size,
            window: window(stack),
            // In ns-2 it limits the congestion window, and nothing limits the outstanding data.
            receive_window: match stack.profile {
                StackProfile::Ns2 => UNBOUNDED,
                StackProfile::Linux => u64::from(stack.receive_window),
            },
            growing_window: (stack.recovery.is_by_time() && stack.profile == StackProfile::Linux)
                .then(|| GrowingWindow::new(u64::from(stack.receive_window), stack.payload)),
            recovery: stack.recovery,
            sack: stack.sack,
            timestamps: stack.timestamps,
            limited_transmit: stack.limited_transmit,
            detect_lost_retransmissions: stack.detect_lost_retransmissions,
            validate_cwnd: stack.profile == StackProfile::Linux,
            ecn,
            accurate_ecn: accurate,
            l4s: stack.l4s,
            handshake: stack.handshake,
            rto: (stack.initial_rto.0, stack.min_rto.0, stack.max_rto.0),
            timer: timer(stack),
            linux_version: stack.linux_version,
            start: connected - handshake_time(scenario, flow),
            stop: flow.stop.map_or(NEVER, |stop| stop.0.saturating_add(origin)),
            send_overhead: scenario.send_overhead.0,
            overhead_stream: Stream::new(scenario.seed, Purpose::SendOverhead, i as u64),
            algorithm_seed: Stream::new(scenario.seed, Purpose::Algorithm, i as u64).next_u64(),
            hints: FlowHints { bytes: flow.bytes, deadline: deadline(flow, connected) },
            application: Application::new(
                &flow.traffic,
                Stream::new(scenario.seed, Purpose::Traffic, i as u64),
                stack.payload,
            ),
            restart_after_idle: stack.profile == StackProfile::Linux
                && !matches!(flow.traffic, Traffic::Pulses { .. }),
        };
        let receiver = ReceiverConfig {
            channel: 2 * i as u32 + 1,
            packet_size: stack.full_packet(),
            ack_size: stack.ack_size,
            sack_sizes: (stack.sack_block_base, stack.sack_block_each),
            sack_blocks: match (stack.sack, stack.timestamps) {
                (false, _) => 0,
                (true, false) if stack.profile == StackProfile::Linux => 4,
                (true, _) => 3,
            },
            // ns-2's sink remembers as many ranges as it reports.
            sack_memory: if stack.profile == StackProfile::Ns2 { 3 } else { 8 },
            delayed_ack: match stack.delayed_ack {
                _ if matches!(flow.traffic, Traffic::Media { .. }) => None,
                DelayedAck::Off => None,
                DelayedAck::After(time) => Some(time.0),
            },
            ecn,
            timer: timer(stack),
            paws: stack.recovery.is_by_time() && stack.timestamps,
            accurate_ecn: accurate,
            ecn_capability: capability,
            ecn_option: option,
            data_overhead: stack.data_overhead,
            linux: stack.recovery.is_by_time(),
            growing_window: growing_window(stack),
            behaviour,
        };
        let mut sender = Sender::new(sender, algorithm);
        if behaviour.ahead() > 0 {
            // The fast path trusts that no ACK is of data that was not sent.
            sender.disable_fast_paths();
        }
        endpoints.push([
            Endpoint::Sender(Box::new(sender)),
            Endpoint::Receiver(Box::new(Receiver::new(receiver))),
        ]);
    }
    Ok((endpoints, origin))
}

/// Returns the engine's clock at the scenario's time zero. Handshakes may precede it.
pub fn origin(scenario: &Scenario) -> u64 {
    let before = scenario.flows.iter().enumerate();
    let before =
        before.map(|(i, flow)| handshake_time(scenario, flow).saturating_sub(scenario.start_of(i).0));
    // One more than needed: a link that has never sent was free before the first event.
    before.max().unwrap_or(0) + 1
}

/// The ECN of a flow's ends before a handshake.
struct Ends {
    ecn: EcnMode,
    accurate: bool,
    capability: Capability,
    option: bool,
}

/// Returns the ECN of a flow's ends. Accurate feedback is asked for in the handshake; without one, the outcome is known.
fn ecn_of(stack: &Stack, marked: bool, needed: Option<EcnMode>) -> Ends {
    let Ecn::Accurate(AccurateEcn { peer, option }) = stack.ecn else {
        let ecn = negotiated(stack.ecn, marked, needed);
        return Ends { ecn, accurate: false, capability: Capability::None, option: false };
    };
    let ecn = needed.unwrap_or(EcnMode::Classic);
    let capability = match peer {
        EcnPeer::Accurate => Capability::Accurate,
        EcnPeer::Classic => Capability::Classic,
        EcnPeer::Off => Capability::None,
    };
    match capability {
        _ if stack.handshake => Ends { ecn, accurate: true, capability, option },
        Capability::Accurate => Ends { ecn, accurate: true, capability, option },
        Capability::Classic => Ends { ecn: EcnMode::Classic, accurate: false, capability, option },
        Capability::None => Ends { ecn: EcnMode::Off, accurate: false, capability, option },
    }
}

/// Returns the ECN mode that a flow negotiates: the one its algorithm needs if some queue marks, otherwise the stack's.
fn negotiated(stack: Ecn, marked: bool, needed: Option<EcnMode>) -> EcnMode {
    needed.filter(|_| marked).unwrap_or(match stack {
        Ecn::Off => EcnMode::Off,
        Ecn::Classic => EcnMode::Classic,
        Ecn::Exact | Ecn::Accurate(_) => EcnMode::Exact,
    })
}

/// Returns how many packets enlarge the advertised window, by two segments each.
fn growing_window(stack: &Stack) -> u64 {
    GrowingWindow::new(u64::from(stack.receive_window), stack.payload).segments()
}

/// Returns the granularity of timers.
fn timer(stack: &Stack) -> TimerWheel {
    TimerWheel::new(if stack.recovery.is_by_time() { stack.timer_hz } else { 0 })
}

/// Returns the deadline of a flow that starts at `start`, on the engine's clock.
fn deadline(flow: &FlowSpec, start: u64) -> Option<Nanos> {
    flow.deadline.map(|deadline| Nanos(start.saturating_add(deadline.0)))
}

/// Returns the duration of a flow's handshake on an idle network, SYN and SYN-ACK, ns.
pub fn handshake_time(scenario: &Scenario, flow: &FlowSpec) -> u64 {
    if !scenario.stack.handshake {
        return 0;
    }
    let size = scenario.stack.ack_size + u32::from(cwnd_tcp::SYN_OPTIONS);
    let links = flow.route.iter().chain(&flow.ack_route).map(|&link| &scenario.network.links[link]);
    links.map(|link| SerialTime::new(link.rate).of(size) + link.delay.0).sum()
}

fn window(stack: &Stack) -> WindowConfig {
    let ns2 = stack.profile == StackProfile::Ns2;
    WindowConfig {
        initial_cwnd: f64::from(stack.initial_window),
        initial_ssthresh: stack.initial_ssthresh.map_or(f64::INFINITY, f64::from),
        clamp: f64::from(stack.receive_window),
        mss: stack.payload,
        arithmetic: if ns2 { Arithmetic::Linux26 } else { Arithmetic::Linux },
        slow_start_at_ssthresh: ns2,
    }
}

/// Returns the error for a network in which packets could return in zero time.
pub fn instant_cycle_problem(scenario: &Scenario, graph: &Graph, cycle: &[usize]) -> Problem {
    let name = |&stage: &usize| match stage.checked_sub(graph.hosts.len()) {
        None => format!("host {}", scenario.network.nodes[graph.hosts[stage]]),
        Some(stage) => match stage.checked_sub(graph.links.len()) {
            None => format!("link {}", scenario.network.links[graph.links[stage]].name),
            Some(tap) => format!("observed point {tap}"),
        },
    };
    let names: Vec<String> = cycle.iter().map(name).collect();
    Problem {
        place: "network".into(),
        message: format!(
            "packets would go round {} in no time at all; give one of the links a delay or a rate",
            names.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_algorithm_needs_is_negotiated_where_queues_mark() {
        let exact = Some(EcnMode::Exact);
        for stack in [Ecn::Off, Ecn::Classic, Ecn::Exact] {
            assert_eq!(negotiated(stack, true, exact), EcnMode::Exact);
            assert_eq!(negotiated(stack, false, exact), negotiated(stack, true, None));
        }
        assert_eq!(negotiated(Ecn::Off, false, exact), EcnMode::Off);
        assert_eq!(negotiated(Ecn::Classic, true, None), EcnMode::Classic);
    }
}
