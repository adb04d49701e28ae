//! Whether two answers are the same: every field, and floating-point numbers by their bits.

mod coverage;

pub use coverage::Coverage;

use cwnd_scenario::{FlowOutcome, LinkOutcome, MessageOutcome, Outcome, Time};
use cwnd_sim::FlowState;
use std::fmt::{Debug, Write};

/// A value as a text that is the same for the same value alone.
trait Exact {
    fn exact(&self) -> String;
}

impl Exact for f64 {
    fn exact(&self) -> String {
        format!("{self:?} (bits {:016x})", self.to_bits())
    }
}

macro_rules! exact_by_debug {
    ($($type:ty),*) => {
        $(impl Exact for $type {
            fn exact(&self) -> String {
                format!("{self:?}")
            }
        })*
    };
}

exact_by_debug!(
    u64,
    String,
    Time,
    Option<Time>,
    (u64, u64),
    cwnd_scenario::SampleState,
    Vec<MessageOutcome>,
    Vec<u64>
);

/// Name each field and give its value. All must be named, or it does not compile.
macro_rules! fields {
    ($place:expr, $type:ident { $($field:ident),* $(,)? } = $value:expr) => {{
        let $type { $($field),* } = $value;
        vec![$((format!("{}.{}", $place, stringify!($field)), $field.exact())),*]
    }};
}

fn flow_fields(place: &str, flow: &FlowOutcome) -> Vec<(String, String)> {
    fields!(
        place,
        FlowOutcome {
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
        } = flow
    )
}

fn link_fields(place: &str, link: &LinkOutcome) -> Vec<(String, String)> {
    fields!(
        place,
        LinkOutcome {
            name,
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
        } = link
    )
}

fn state_fields(place: &str, state: &FlowState) -> Vec<(String, String)> {
    fields!(
        place,
        FlowState { cwnd, ssthresh, pacing_rate, srtt, in_flight, delivered_bytes, state, sent } = state
    )
}

fn outcome_fields(outcome: &Outcome) -> Vec<(String, String)> {
    let Outcome { begin: _, end, flows, links, trace, emulation: _ } = outcome;
    let mut fields = vec![("end".to_owned(), end.exact()), ("trace".to_owned(), format!("{trace:?}"))];
    for (i, flow) in flows.iter().enumerate() {
        fields.extend(flow_fields(&format!("flows[{i}]"), flow));
    }
    for (i, link) in links.iter().enumerate() {
        fields.extend(link_fields(&format!("links[{i}] ({})", link.name), link));
    }
    fields
}

/// The first few fields that differ, one a line; nothing if all are the same.
fn differences(expected: Vec<(String, String)>, found: Vec<(String, String)>) -> Result<(), String> {
    const SHOWN: usize = 12;
    let different = expected.iter().zip(&found).filter(|(expected, found)| expected != found);
    let mut text = String::new();
    for ((field, expected), (_, found)) in different.clone().take(SHOWN) {
        let _ = write!(text, "\n  {field}: {found} instead of {expected}");
    }
    if different.clone().count() > SHOWN {
        let _ = write!(text, "\n  and {} more", different.count() - SHOWN);
    }
    if expected.len() != found.len() {
        let _ = write!(text, "\n  {} fields instead of {}", found.len(), expected.len());
    }
    if text.is_empty() { Ok(()) } else { Err(text) }
}

/// Whether an outcome is the expected one.
pub fn same_outcome(expected: &Outcome, found: &Outcome) -> Result<(), String> {
    differences(outcome_fields(expected), outcome_fields(found))
}

/// Whether flows, looked at from outside, are as expected.
pub fn same_states(expected: &[FlowState], found: &[FlowState]) -> Result<(), String> {
    let fields = |states: &[FlowState]| {
        let states = states.iter().enumerate();
        states.flat_map(|(i, state)| state_fields(&format!("flow({i})"), state)).collect()
    };
    differences(fields(expected), fields(found))
}

/// Whether two of anything else are the same.
pub fn same<T: Debug + PartialEq>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("\n  {what}: {found:?} instead of {expected:?}")) }
}
