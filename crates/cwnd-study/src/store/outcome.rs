//! The raw counts of a run as few bytes, with nothing rounded.
//!
//! Most counts follow nearly from others, or from the scenario: all that was sent was received, dropped, lost or is
//! still on its way; a link carries the packets of the flows that cross it. So each is written as the distance from
//! what is expected of it, which is mostly nothing or takes a byte, and numbers by all their bits. Whatever the counts are, they
//! are read back as they were; the expectations only make them short. Samples are not part of it. What an emulated network
//! says of itself stands at the end, if there was one; without it the bytes are those that they were before there was any.
//!
//! A change to what is written or expected counts [`FORMAT`] up; a row in another format is run again.

use super::bytes::{In, Out, RecordIn, RecordOut};
use cwnd_scenario::{
    Emulation, FlowOutcome, FlowSpec, Implementation, LinkOutcome, MessageOutcome, Outcome, Scenario, Time,
};

/// The first byte.
const FORMAT: u8 = 3;

/// Writes the outcome of a scenario.
///
/// # Errors
/// If it has not one flow and one link for each of the scenario's.
pub(super) fn encode(scenario: &Scenario, outcome: &Outcome) -> Result<Vec<u8>, String> {
    // Every field is named here, so that a new one cannot be forgotten.
    let Outcome { begin, end, flows, links, trace: _, emulation } = outcome;
    let expected = (scenario.flows.len(), scenario.network.links.len());
    if (flows.len(), links.len()) != expected {
        return Err(format!(
            "the engine answered with {} flows and {} links where the scenario has {} and {}",
            flows.len(),
            links.len(),
            expected.0,
            expected.1
        ));
    }
    let mut out = Out::default();
    out.byte(FORMAT);
    out.near(begin.0, scenario.warm_up.0);
    out.near(end.0, scenario.duration.0);
    for (spec, flow) in scenario.flows.iter().zip(flows) {
        write_flow(&mut out, scenario, spec, flow);
    }
    let loads = loads(scenario, flows);
    for ((spec, load), link) in scenario.network.links.iter().zip(loads).zip(links) {
        write_link(&mut out, &spec.name, load, link);
    }
    if let Some(emulation) = emulation {
        write_emulation(&mut out, emulation);
    }
    Ok(out.0)
}

/// Reads what [`encode`] wrote for the same scenario; none if it did not write that.
pub(super) fn decode(scenario: &Scenario, bytes: &[u8]) -> Option<Outcome> {
    let mut from = In(bytes);
    if from.byte()? != FORMAT {
        return None;
    }
    let begin = Time(from.near(scenario.warm_up.0)?);
    let end = Time(from.near(scenario.duration.0)?);
    let flows: Option<Vec<FlowOutcome>> =
        scenario.flows.iter().map(|spec| read_flow(&mut from, scenario, spec)).collect();
    let flows = flows?;
    let loads = loads(scenario, &flows);
    let links: Option<Vec<LinkOutcome>> = (scenario.network.links.iter().zip(loads))
        .map(|(spec, load)| read_link(&mut from, &spec.name, load))
        .collect();
    let links = links?;
    let emulation = if from.is_empty() { None } else { Some(read_emulation(&mut from)?) };
    from.is_empty().then_some(Outcome { begin, end, flows, links, trace: None, emulation })
}

// Which values follow, one bit each.
const STOPPED: u64 = 1;
const STOPPED_AS_SPECIFIED: u64 = 2;
const COMPLETED: u64 = 4;
const RTT_MIN: u64 = 8;
const RTT_MAX: u64 = 16;
const SSTHRESH: u64 = 32;

fn write_flow(out: &mut Out, scenario: &Scenario, spec: &FlowSpec, flow: &FlowOutcome) {
    let FlowOutcome {
        start,
        stop,
        completed,
        packets_sent,
        retransmissions,
        packets_received,
        duplicates,
        wire_bytes_received,
        bytes_in_order,
        bytes_left,
        packets_dropped,
        packets_lost,
        packets_copied,
        packets_in_flight,
        timeouts,
        congestion_events,
        acks_received,
        packets_marked,
        rtt_samples,
        rtt_sum_s,
        rtt_min,
        rtt_max,
        cwnd_integral,
        cwnd,
        ssthresh,
        messages,
    } = flow;
    let as_specified = stop.is_some() && *stop == spec.stop;
    let infinite = ssthresh.to_bits() == f64::INFINITY.to_bits();
    let flags = [
        (stop.is_some() && !as_specified, STOPPED),
        (as_specified, STOPPED_AS_SPECIFIED),
        (completed.is_some(), COMPLETED),
        (rtt_min.is_some(), RTT_MIN),
        (rtt_max.is_some(), RTT_MAX),
        (!infinite, SSTHRESH),
    ];
    let flags = flags.iter().filter(|(set, _)| *set).fold(0, |all, (_, flag)| all | flag);
    let mut record = RecordOut::default();
    record.count(flags);
    record.near(start.0, spec.start.0);
    record.count(if as_specified { 0 } else { stop.map_or(0, |time| time.0) });
    record.count(completed.map_or(0, |time| time.0));
    let places =
        [packets_received, duplicates, packets_dropped, packets_lost, packets_copied, packets_in_flight];
    for count in places {
        record.count(*count);
    }
    let expected = Expected::new(scenario, flow);
    record.near(*packets_sent, expected.packets_sent);
    record.near(*retransmissions, expected.retransmissions);
    record.near(*wire_bytes_received, expected.wire_bytes_received);
    record.near(*bytes_in_order, expected.bytes_in_order);
    for count in [timeouts, congestion_events, packets_marked] {
        record.count(*count);
    }
    record.near(*acks_received, expected.acks_received);
    record.near(*rtt_samples, *acks_received);
    let least = rtt_min.map_or(0, |time| time.0);
    record.count(least);
    record.near(rtt_max.map_or(least, |time| time.0), least);
    for number in [rtt_sum_s, cwnd_integral, cwnd] {
        record.number(*number);
    }
    record.number(if infinite { 0.0 } else { *ssthresh });
    record.count(messages.len() as u64);
    record.count(bytes_left.len() as u64);
    record.finish(out);
    bytes_left.iter().for_each(|bytes| out.near(*bytes, *wire_bytes_received));
    // One begins after the other, and ends after it began.
    let mut before = 0;
    for MessageOutcome { bytes, start, end } in messages {
        out.count(*bytes);
        out.near(start.0, before);
        out.byte(u8::from(end.is_some()));
        out.near(end.map_or(start.0, |end| end.0), start.0);
        before = start.0;
    }
}

fn read_flow(input: &mut In<'_>, scenario: &Scenario, spec: &FlowSpec) -> Option<FlowOutcome> {
    let mut from = RecordIn::new(input)?;
    let flags = from.count()?;
    let given = |flag: u64, nanoseconds: u64| (flags & flag != 0).then_some(Time(nanoseconds));
    let mut flow = FlowOutcome { start: Time(from.near(spec.start.0)?), ..FlowOutcome::default() };
    flow.stop = given(STOPPED, from.count()?);
    if flags & STOPPED_AS_SPECIFIED != 0 {
        flow.stop = spec.stop;
    }
    flow.completed = given(COMPLETED, from.count()?);
    flow.packets_received = from.count()?;
    flow.duplicates = from.count()?;
    flow.packets_dropped = from.count()?;
    flow.packets_lost = from.count()?;
    flow.packets_copied = from.count()?;
    flow.packets_in_flight = from.count()?;
    let expected = Expected::new(scenario, &flow);
    flow.packets_sent = from.near(expected.packets_sent)?;
    flow.retransmissions = from.near(expected.retransmissions)?;
    flow.wire_bytes_received = from.near(expected.wire_bytes_received)?;
    flow.bytes_in_order = from.near(expected.bytes_in_order)?;
    flow.timeouts = from.count()?;
    flow.congestion_events = from.count()?;
    flow.packets_marked = from.count()?;
    flow.acks_received = from.near(expected.acks_received)?;
    flow.rtt_samples = from.near(flow.acks_received)?;
    let least = from.count()?;
    flow.rtt_min = given(RTT_MIN, least);
    flow.rtt_max = given(RTT_MAX, from.near(least)?);
    flow.rtt_sum_s = from.number()?;
    flow.cwnd_integral = from.number()?;
    flow.cwnd = from.number()?;
    let ssthresh = from.number()?;
    flow.ssthresh = if flags & SSTHRESH != 0 { ssthresh } else { f64::INFINITY };
    let (messages, links) = (from.count()?, from.count()?);
    for _ in 0..links {
        flow.bytes_left.push(input.near(flow.wire_bytes_received)?);
    }
    let mut before = 0;
    for _ in 0..messages {
        let (bytes, start) = (input.count()?, input.near(before)?);
        let (ended, end) = (input.byte()? != 0, Time(input.near(start)?));
        flow.messages.push(MessageOutcome { bytes, start: Time(start), end: ended.then_some(end) });
        before = start;
    }
    Some(flow)
}

/// What is expected of a flow's counts, given where its packets went.
struct Expected {
    packets_sent: u64,
    retransmissions: u64,
    wire_bytes_received: u64,
    bytes_in_order: u64,
    acks_received: u64,
}

impl Expected {
    fn new(scenario: &Scenario, flow: &FlowOutcome) -> Expected {
        let arrived = flow.packets_received.wrapping_add(flow.duplicates);
        let vanished = flow.packets_dropped.wrapping_add(flow.packets_lost);
        let size = |bytes: u32| flow.packets_received.wrapping_mul(u64::from(bytes));
        let stack = &scenario.stack;
        Expected {
            packets_sent: arrived
                .wrapping_add(vanished)
                .wrapping_add(flow.packets_in_flight)
                .wrapping_sub(flow.packets_copied),
            retransmissions: vanished,
            wire_bytes_received: size(stack.payload.wrapping_add(stack.data_overhead)),
            bytes_in_order: size(stack.payload),
            acks_received: arrived,
        }
    }
}

/// About how many packets came to a link: data packets, and ACKs.
#[derive(Clone, Copy, Default)]
struct Load {
    data: u64,
    acks: u64,
}

fn loads(scenario: &Scenario, flows: &[FlowOutcome]) -> Vec<Load> {
    let mut loads = vec![Load::default(); scenario.network.links.len()];
    for (spec, flow) in scenario.flows.iter().zip(flows) {
        for (i, &link) in spec.route.iter().enumerate() {
            let packets = if i == 0 { flow.packets_sent } else { flow.packets_received };
            if let Some(load) = loads.get_mut(link) {
                load.data = load.data.wrapping_add(packets);
            }
        }
        for &link in &spec.ack_route {
            if let Some(load) = loads.get_mut(link) {
                load.acks = load.acks.wrapping_add(flow.acks_received);
            }
        }
    }
    loads
}

fn write_link(out: &mut Out, name: &str, load: Load, link: &LinkOutcome) {
    let LinkOutcome {
        name: own,
        arrived,
        data_arrived,
        dropped,
        lost,
        marked,
        copied,
        delivered,
        in_flight,
        waiting_integral,
        max_waiting,
    } = link;
    let mut record = RecordOut::default();
    // A name of its own is told apart from none by the count before it.
    record.count(u64::from(own != name));
    record.text(if own == name { "" } else { own });
    record.near(*data_arrived, load.data);
    record.near(*arrived, data_arrived.wrapping_add(load.acks));
    for count in [dropped, lost, marked, copied, in_flight] {
        record.count(*count);
    }
    let gone = dropped.wrapping_add(*lost).wrapping_add(*in_flight);
    record.near(*delivered, arrived.wrapping_add(*copied).wrapping_sub(gone));
    record.number(*waiting_integral);
    record.count(*max_waiting);
    record.finish(out);
}

fn read_link(from: &mut In<'_>, name: &str, load: Load) -> Option<LinkOutcome> {
    let mut from = RecordIn::new(from)?;
    let (renamed, own) = (from.count()?, from.text()?);
    let name = if renamed == 0 { name.to_owned() } else { own };
    let data_arrived = from.near(load.data)?;
    let arrived = from.near(data_arrived.wrapping_add(load.acks))?;
    let (dropped, lost, marked) = (from.count()?, from.count()?, from.count()?);
    let (copied, in_flight) = (from.count()?, from.count()?);
    let gone = dropped.wrapping_add(lost).wrapping_add(in_flight);
    let delivered = from.near(arrived.wrapping_add(copied).wrapping_sub(gone))?;
    Some(LinkOutcome {
        name,
        arrived,
        data_arrived,
        dropped,
        lost,
        marked,
        copied,
        delivered,
        in_flight,
        waiting_integral: from.number()?,
        max_waiting: from.count()?,
    })
}

/// Goes before an emulation, so that what else might stand there is not taken for one.
const EMULATION: u8 = 2;
/// Went before an emulation that does not say what ran the algorithms.
const EMULATION_ALONE: u8 = 1;

fn write_emulation(out: &mut Out, emulation: &Emulation) {
    let Emulation { late_p50, late_p99, late_max, rate_error, steal, doubts, host, implementations } =
        emulation;
    out.byte(EMULATION);
    for time in [late_p50, late_p99, late_max] {
        out.count(time.0);
    }
    out.byte(u8::from(rate_error.is_some()));
    out.number(rate_error.unwrap_or(0.0));
    out.number(*steal);
    out.text(host);
    out.count(doubts.len() as u64);
    doubts.iter().for_each(|doubt| out.text(doubt));
    out.count(implementations.len() as u64);
    for Implementation { algorithm, by } in implementations {
        out.text(algorithm);
        out.text(by);
    }
}

fn read_emulation(from: &mut In<'_>) -> Option<Emulation> {
    let kind = from.byte()?;
    if ![EMULATION, EMULATION_ALONE].contains(&kind) {
        return None;
    }
    let (late_p50, late_p99, late_max) = (Time(from.count()?), Time(from.count()?), Time(from.count()?));
    let (has_rate_error, rate_error) = (from.byte()? != 0, from.number()?);
    let (steal, host) = (from.number()?, from.text()?);
    let mut doubts = Vec::new();
    for _ in 0..from.count()? {
        doubts.push(from.text()?);
    }
    let mut implementations = Vec::new();
    for _ in 0..if kind == EMULATION { from.count()? } else { 0 } {
        implementations.push(Implementation { algorithm: from.text()?, by: from.text()? });
    }
    let rate_error = has_rate_error.then_some(rate_error);
    Some(Emulation { late_p50, late_p99, late_max, rate_error, steal, doubts, host, implementations })
}

#[cfg(test)]
mod tests;
