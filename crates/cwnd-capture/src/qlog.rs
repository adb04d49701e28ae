//! qlog of TCP's senders: version 0.3 in its streaming form, JSON text sequences (`.sqlog`), which qvis and QUIC stacks read and
//! write (draft-ietf-quic-qlog-main-schema-02 and draft-marx-qlog-event-definitions-quic-h3 of the same time).
//!
//! All flows are in one file; an event's `group_id` says whose it is. Times are milliseconds after the scenario's time zero,
//! exact to the nanosecond, and events stand at the very times at which they happened.
//!
//! | event | when | what |
//! |---|---|---|
//! | `recovery:metrics_updated` | an ACK has come or a timer has run out, and something is another than before | what has changed of the fields below |
//! | `recovery:congestion_state_updated` | the state is another | `old` and `new`: `slow_start`, `congestion_avoidance`, `application_limited` or `recovery`; `trigger` `ECN` where a mark was the reason |
//! | `recovery:packet_lost` | a segment is found to be lost, also its retransmission | `header` with the segment's number from 0, and `trigger` |
//!
//! | field | TCP's |
//! |---|---|
//! | `congestion_window`, `ssthresh` | segments x payload, rounded to bytes; `ssthresh` not while it is infinite |
//! | `bytes_in_flight`, `packets_in_flight` | segments in flight (x payload) |
//! | `smoothed_rtt`, `rtt_variance`, `min_rtt`, `latest_rtt` | SRTT, RTTVAR and the samples, ms |
//! | `pacing_rate` | payload, bit/s; not while packets are not paced |
//! | `pto_count` | retransmission timeouts since new data was acknowledged |
//! | `cwnd:NAME` | a value of the algorithm's own state in the unit that `cwnd algorithms` names, a mode by its name; `null` where it is not known any more |
//!
//! `recovery` is Linux's CWR, Recovery and Loss. A segment is lost by `reordering_threshold` where SACKs or duplicate ACKs say
//! so, by `time_threshold` with RACK, and by `pto_expired` when a timer runs out.

use crate::EPOCH_S;
use cwnd_scenario::{Recovery, Scenario};
use cwnd_sim::watch::{Observable, PacketObserver, SenderEvent, State};
use cwnd_sim::{Factory, Options, Simulation};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Begins the names of fields that qlog does not define.
const STATE: &str = "cwnd:";

/// Begins each text of a sequence (RFC 7464).
const RECORD: &[u8] = b"\x1e";

/// Writes what happens to senders.
pub struct Qlog<W: Write> {
    out: W,
    flows: Vec<Flow>,
    payload: f64,
    recovery: Recovery,
    failed: Option<io::Error>,
}

/// What was last said of a flow.
#[derive(Default)]
struct Flow {
    group: String,
    metrics: Map<String, Value>,
    state: Option<&'static str>,
}

impl<W: Write> Qlog<W> {
    /// Begins the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(scenario: &Scenario, out: W) -> io::Result<Self> {
        let flows = scenario.flows.iter().enumerate().map(|(i, flow)| Flow {
            group: format!("flow {} ({})", i + 1, flow.algorithm),
            ..Flow::default()
        });
        let stack = &scenario.stack;
        let recovery = if stack.sack { stack.recovery } else { Recovery::Prr };
        let (payload, flows) = (f64::from(stack.payload), flows.collect());
        let mut qlog = Qlog { out, flows, payload, recovery, failed: None };
        qlog.write(&json!({
            "qlog_version": "0.3",
            "qlog_format": "JSON-SEQ",
            "title": format!("cwnd {}", env!("CARGO_PKG_VERSION")),
            "description": "Senders of a simulated TCP, in the words of QUIC",
            "trace": {
                "vantage_point": { "name": "senders", "type": "server" },
                "common_fields": {
                    "time_format": "relative",
                    "reference_time": EPOCH_S * 1000,
                    "protocol_type": ["TCP"],
                },
            },
        }));
        match qlog.failed.take() {
            Some(error) => Err(error),
            None => Ok(qlog),
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The first reason for which it could not be written.
    pub fn finish(mut self) -> io::Result<W> {
        match self.failed {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.out),
        }
    }

    fn write(&mut self, value: &Value) {
        if self.failed.is_none() {
            let out = &mut self.out;
            let written = out.write_all(RECORD).and_then(|()| writeln!(out, "{value}"));
            self.failed = written.err();
        }
    }

    fn event(&mut self, flow: usize, at: i64, name: &str, data: Value) {
        let time = at as f64 / 1e6;
        let group = &self.flows[flow].group;
        self.write(&json!({ "time": time, "name": name, "group_id": group, "data": data }));
    }

    /// Returns the metrics of an event, in bytes and milliseconds.
    fn metrics(&self, event: &SenderEvent) -> Map<String, Value> {
        let bytes = |segments: f64| json!(whole(segments * self.payload));
        let mut metrics = Map::new();
        let mut put = |name: &str, value: Value| drop(metrics.insert(name.to_owned(), value));
        put("congestion_window", bytes(event.cwnd));
        put("bytes_in_flight", bytes(f64::from(event.in_flight)));
        put("packets_in_flight", json!(event.in_flight));
        put("pto_count", json!(event.timeouts.min(u32::from(u16::MAX))));
        if event.ssthresh.is_finite() {
            put("ssthresh", bytes(event.ssthresh));
        }
        if event.pacing_rate.is_finite() {
            put("pacing_rate", json!(whole(event.pacing_rate * 8.0)));
        }
        if let Some(rtt) = &event.rtt {
            let ms = |ns: u64| json!(ns as f64 / 1e6);
            put("smoothed_rtt", ms(rtt.smoothed));
            put("rtt_variance", ms(rtt.variation));
            put("min_rtt", ms(rtt.least));
            put("latest_rtt", ms(rtt.latest));
        }
        for (observable, value) in event.observables.iter().zip(&event.observed) {
            put(&format!("{STATE}{}", observable.name), state_value(observable, *value));
        }
        metrics
    }

    fn lost_by(&self, event: &SenderEvent) -> &'static str {
        match self.recovery {
            _ if event.timer && event.timeouts > 0 => "pto_expired",
            Recovery::Linux | Recovery::Rack => "time_threshold",
            Recovery::Ns2 | Recovery::Prr => "reordering_threshold",
        }
    }
}

impl<W: Write> PacketObserver for Qlog<W> {
    fn on_sender_event(&mut self, flow: usize, at: i64, event: &SenderEvent) {
        for segment in &event.lost {
            // Tools ask for the type of packets that QUIC's data has.
            let header = json!({ "packet_type": "1RTT", "packet_number": segment });
            let lost = json!({ "header": header, "trigger": self.lost_by(event) });
            self.event(flow, at, "recovery:packet_lost", lost);
        }
        let (old, new) = (self.flows[flow].state, state(event));
        if old != Some(new) {
            let mut data = json!({ "new": new });
            if let Some(old) = old {
                data["old"] = json!(old);
            }
            if event.state == State::Cwr {
                data["trigger"] = json!("ECN");
            }
            self.flows[flow].state = Some(new);
            self.event(flow, at, "recovery:congestion_state_updated", data);
        }
        let metrics = self.metrics(event);
        let known = &self.flows[flow].metrics;
        let changed: Map<String, Value> = metrics
            .iter()
            .filter(|(name, value)| known.get(*name).unwrap_or(&Value::Null) != *value)
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if !changed.is_empty() {
            self.flows[flow].metrics = metrics;
            self.event(flow, at, "recovery:metrics_updated", Value::Object(changed));
        }
    }
}

/// A value of an algorithm's state; null for one that is not known.
fn state_value(observable: &Observable, value: f64) -> Value {
    match observable.modes.get(value as usize) {
        Some(mode) if !value.is_nan() => json!(mode),
        // JSON has no number for NaN, and serde_json writes null.
        _ => json!(value),
    }
}

/// The state in the words of RFC 9002.
fn state(event: &SenderEvent) -> &'static str {
    match event.state {
        State::Cwr | State::Recovery | State::Loss => "recovery",
        State::Open | State::Disorder if event.app_limited => "application_limited",
        State::Open | State::Disorder if event.slow_start => "slow_start",
        State::Open | State::Disorder => "congestion_avoidance",
    }
}

/// The nearest whole number.
fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// Runs a scenario to its end with the registered algorithms, and writes what happens to its senders. Returns what it wrote to.
///
/// # Errors
/// As those of [`log_with`].
pub fn log<W: Write>(scenario: &Scenario, out: W) -> io::Result<W> {
    log_with(scenario, &cwnd_sim::registered, out)
}

/// Does what [`log`] does with algorithms of this factory.
///
/// # Errors
/// If the scenario cannot be run, an algorithm sets a value that no [window](cwnd_sim::run_with) may have, or the log cannot be written.
pub fn log_with<W: Write>(scenario: &Scenario, factory: Factory<'_>, out: W) -> io::Result<W> {
    let simulation = Simulation::with_options(scenario, factory, &Options::default());
    let mut simulation = simulation.map_err(io::Error::other)?;
    simulation.watch_senders();
    let mut qlog = Qlog::new(scenario, out)?;
    simulation.run_observed(scenario.duration, &mut qlog);
    simulation.failure().map_or(Ok(()), |error| Err(io::Error::other(error)))?;
    qlog.finish()
}
