//! A run over this host's kernel, sampled while it is on.

use crate::{
    native_run,
    refusal::Refusal,
    run_stream::{self, Ended, RunStream},
    tickets::Ticket,
};
use axum::body::Body;
use cwnd_lab::{Lab, LiveFlow, LiveFlows, doctor};
use cwnd_scenario::{Engine, EngineError, Outcome, Scenario};
use cwnd_wasm::{LineProblem, OF_FLOW, OF_LINK, describe};
use serde_json::json;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// The longest run, by the scenario's time.
const LONGEST: Duration = Duration::from_secs(600);
/// Time that a run may take beyond that: building the network, and waiting for another run of this host.
const SPARE: Duration = Duration::from_secs(60);
/// The time between samples. The emulator publishes its counts as often.
const EVERY: Duration = Duration::from_millis(50);

/// Says why this host cannot run scenarios over its kernel; none if it can.
pub fn why_not() -> Option<String> {
    let missing = doctor::missing();
    (!missing.is_empty()).then(|| missing.join("; "))
}

/// Starts a run in a thread of its own, and returns the body with its samples.
///
/// # Errors
/// If the host cannot, or the setting is wrong or not for the kernel.
pub fn start(text: &str, ticket: Ticket) -> Result<Body, Refusal> {
    if let Some(why) = why_not() {
        return Err(Refusal::unavailable(&format!("this machine cannot run over its kernel: {why}")));
    }
    let (setting, scenario) = native_run::read(text)?;
    let refuse = |key: &str, message: String| {
        Err(Refusal::setting(&[LineProblem { line: 0, key: key.to_owned(), message }]))
    };
    if !setting.changes.is_empty() {
        return refuse("@", "a run over the kernel has no changes during the run: use `schedule`".to_owned());
    }
    if scenario.duration.as_secs_f64() > LONGEST.as_secs_f64() {
        let message = format!("a run over the kernel takes real time, here at most {} s", LONGEST.as_secs());
        return refuse("duration", message);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let lab = Lab::new(Arc::clone(&stop));
    lab.check(&scenario).map_err(|problems| {
        let problems: Vec<LineProblem> = problems.iter().map(LineProblem::anywhere).collect();
        Refusal::setting(&problems)
    })?;
    let (stream, body) = run_stream::open(LONGEST + SPARE);
    thread::Builder::new()
        .name("kernel run".to_owned())
        .spawn(move || {
            let _ticket = ticket;
            run(&lab, &scenario, stream, &stop);
        })
        .map_err(|error| Refusal::broken(&format!("no thread can be started: {error}")))?;
    Ok(body)
}

fn run(lab: &Lab, scenario: &Scenario, mut stream: RunStream, stop: &AtomicBool) {
    let live = Arc::new(LiveFlows::default());
    let (outcome, watched) = thread::scope(|scope| {
        let run = scope.spawn(|| lab.run_live(scenario, &live));
        let watched = watch(scenario, &live, &mut stream, &|| run.is_finished());
        if watched.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        (run.join(), watched)
    });
    match (outcome, watched) {
        (_, Err(Ended::NoReader)) => {}
        (_, Err(Ended::TimeLimit)) => stream.problem("the run has taken longer than it may, and was stopped"),
        (Err(_), Ok(())) => {
            stream.problem("the laboratory ended with a panic; the program's standard error has it")
        }
        (Ok(Err(error)), Ok(())) => stream.problem(&why(&error)),
        (Ok(Ok(outcome)), Ok(())) => {
            let end = end(scenario, &outcome, stream.elapsed());
            let packets = outcome.links[scenario.network.bottleneck].data_arrived as f64;
            let _ = stream.end(scenario.duration.as_secs_f64(), packets, &end);
        }
    }
}

/// Sends a sample of the flows and the bottleneck each [`EVERY`] until the run has ended.
fn watch(
    scenario: &Scenario,
    live: &LiveFlows,
    stream: &mut RunStream,
    has_ended: &dyn Fn() -> bool,
) -> Result<(), Ended> {
    let shown = scenario.flows.len().min(native_run::SHOWN_FLOWS);
    let bottleneck = scenario.network.bottleneck;
    stream.describe(&describe(scenario, shown, &|_| Vec::new()))?;
    let mut last = None;
    while !has_ended() {
        thread::sleep(EVERY / 2);
        stream.check()?;
        let Some(network) = live.network().filter(|network| last != Some(network.at)) else { continue };
        let counts = &network.snapshot.counts;
        let Some(link) = counts.links.get(bottleneck).filter(|_| network.at <= scenario.duration) else {
            continue;
        };
        last = Some(network.at);
        let now = network.at.as_secs_f64();
        let waiting = counts.waiting.get(bottleneck).copied().unwrap_or(0);
        let mut row = Vec::with_capacity(OF_LINK + shown * OF_FLOW);
        row.extend([now, f64::from(waiting), link.dropped as f64, link.lost as f64, link.marked as f64]);
        let flows = live.now();
        for flow in 0..shown {
            let sent = counts.flows.get(flow).map_or(0, |flow| flow.packets_sent);
            row.extend(numbers(flows.get(flow).copied().flatten(), sent));
        }
        stream.rows(&row, now, link.arrived as f64)?;
    }
    Ok(())
}

/// Returns the numbers of a flow in a row, in the order of the bench.
fn numbers(flow: Option<LiveFlow>, sent: u64) -> [f64; OF_FLOW] {
    let Some(flow) = flow else { return [0.0, f64::INFINITY, f64::NAN, 0.0, 0.0, sent as f64, 0.0, 0.0] };
    [
        f64::from(flow.cwnd),
        flow.ssthresh,
        if flow.rtt.0 == 0 { f64::NAN } else { flow.rtt.as_secs_f64() },
        flow.acknowledged_bytes as f64,
        flow.in_flight as f64,
        sent as f64,
        f64::from(flow.retransmissions),
        f64::from(flow.state),
    ]
}

/// Says what ran the algorithms, and where the network was not the one that was asked for.
fn end(scenario: &Scenario, outcome: &Outcome, took: Duration) -> String {
    let emulation = outcome.emulation.as_ref();
    let implementations = emulation.into_iter().flat_map(|emulation| &emulation.implementations);
    let by: Vec<String> = implementations.map(|one| format!("{}: {}", one.algorithm, one.by)).collect();
    let warnings = emulation.map(|emulation| emulation.validity_warnings.clone()).unwrap_or_default();
    let (took, flows) = (took.as_secs_f64(), scenario.flows.len());
    json!({ "took": took, "flows": flows, "warnings": warnings, "implementations": by }).to_string()
}

fn why(error: &EngineError) -> String {
    match error {
        EngineError::Refused(problems) => {
            problems.iter().map(ToString::to_string).collect::<Vec<String>>().join("; ")
        }
        EngineError::Failed(why) => why.clone(),
    }
}
