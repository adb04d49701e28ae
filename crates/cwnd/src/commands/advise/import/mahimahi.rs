//! Mahimahi's delivery traces: the rate over time, and nothing else.

use super::{Finding, Import};
use cwnd_scenario::DeliveryTrace;

pub fn parse(text: &str) -> Result<Import, String> {
    let trace = DeliveryTrace::parse("trace", text).map_err(|error| error.to_string())?;
    let seconds = f64::from(trace.times_ms.last().copied().unwrap_or(0)) / 1e3;
    let missing = |what: &str| Finding::missing(format!("a Mahimahi trace has no {what}"));
    Ok(Import {
        source: format!("Mahimahi trace of {seconds} s, {} opportunities", trace.times_ms.len()),
        rate: Finding::found(
            trace.mean_rate().0 as f64,
            "mean of the trace; the simulation follows the trace itself, and begins it again at its end",
        ),
        rtt: missing("round-trip times"),
        loss: missing("losses"),
        buffer: missing("queue"),
        trace: Some(trace),
    })
}
