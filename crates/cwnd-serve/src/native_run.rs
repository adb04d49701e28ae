//! A run of the simulator at native speed, for the page's charts.

use crate::{
    refusal::Refusal,
    run_stream::{self, Ended, RunStream},
    tickets::Ticket,
    workbench::Workbench,
};
use axum::{body::Body, http::StatusCode};
use cwnd_scenario::{Engine, Scenario};
use cwnd_sim::Simulator;
use cwnd_wasm::{Bench, LineProblem, Setting};
use serde_json::json;
use std::{
    thread,
    time::{Duration, Instant},
};

/// How long a run may take.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);
/// About how often a run checks whether it is still wanted.
const PIECE: Duration = Duration::from_millis(20);
/// Samples of a run.
pub const SAMPLES: u32 = 1_500;
/// Flows whose samples are sent: as many as the charts show.
pub const SHOWN_FLOWS: usize = 8;

/// Reads a setting in the form of the bench: settings of `cwnd compare`, one a line.
///
/// # Errors
/// Everything that is wrong, by line.
pub fn read(text: &str) -> Result<(Setting, Scenario), Refusal> {
    let read =
        Setting::parse(text, None).and_then(|setting| setting.scenario().map(|scenario| (setting, scenario)));
    read.map_err(|problems| Refusal::setting(&problems))
}

/// Starts a run in a thread of its own, and returns the body with its samples.
///
/// # Errors
/// If the setting is wrong, the simulator refuses it, or it needs too much memory.
pub fn start(text: &str, workbench: &dyn Workbench, ticket: Ticket) -> Result<Body, Refusal> {
    let (setting, scenario) = read(text)?;
    setting.check_changes(&scenario).map_err(|problems| Refusal::setting(&problems))?;
    let cost = Simulator.check(&scenario).map_err(|problems| {
        let problems: Vec<LineProblem> = problems.iter().map(LineProblem::anywhere).collect();
        Refusal::setting(&problems)
    })?;
    workbench.check_memory(cost.memory).map_err(|why| {
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, &format!("the run is too large: {why}"))
    })?;
    let (stream, body) = run_stream::open(TIME_LIMIT);
    thread::Builder::new()
        .name("simulation".to_owned())
        .spawn(move || {
            let _ticket = ticket;
            run(setting, &scenario, stream);
        })
        .map_err(|error| Refusal::broken(&format!("no thread can be started: {error}")))?;
    Ok(body)
}

fn run(setting: Setting, scenario: &Scenario, mut stream: RunStream) {
    let text = |problems: Vec<LineProblem>| {
        let place = |problem: &LineProblem| match problem.line {
            0 => problem.key.clone(),
            line => format!("line {line}, {}", problem.key),
        };
        let lines = problems.iter().map(|problem| format!("{}: {}", place(problem), problem.message));
        lines.collect::<Vec<String>>().join("; ")
    };
    let mut bench = match Bench::new(setting) {
        Ok(bench) => bench,
        Err(problems) => return stream.problem(&text(problems)),
    };
    match sampled(&mut bench, scenario, &mut stream) {
        Ok(Ok(())) => {
            let took = stream.elapsed().as_secs_f64();
            let packets = bench.packets();
            let end =
                json!({ "took": took, "packets": packets, "flows": scenario.flows.len(), "warnings": [] });
            let _ = stream.end(bench.now(), packets, &end.to_string());
        }
        Ok(Err(problems)) => stream.problem(&text(problems)),
        Err(Ended::NoReader) => {}
        Err(Ended::TimeLimit) => {
            let limit = TIME_LIMIT.as_secs();
            stream.problem(&format!(
                "the run has taken {limit} s, which is the limit: `cwnd compare` has none"
            ));
        }
    }
}

/// Runs to the end and sends samples of the first flows.
fn sampled(
    bench: &mut Bench,
    scenario: &Scenario,
    stream: &mut RunStream,
) -> Result<Result<(), Vec<LineProblem>>, Ended> {
    let flows = scenario.flows.len().min(SHOWN_FLOWS);
    let (whole, shown) = (bench.row_length(), bench.row_length_of(flows));
    stream.describe(&bench.describe_first(flows))?;
    let duration = scenario.duration.as_secs_f64();
    let every = duration / f64::from(SAMPLES);
    // The outcome does not depend on the pieces. After each of them the run sees whether it is still wanted.
    let (mut until, mut piece) = (0.0, every / 64.0);
    while until < duration {
        until = (until + piece).min(duration);
        let begin = Instant::now();
        if let Err(problems) = bench.run_until(until, every) {
            return Ok(Err(problems));
        }
        match begin.elapsed() {
            took if took > PIECE => piece /= 2.0,
            took if took < PIECE / 4 => piece = (2.0 * piece).min(8.0 * every),
            _ => {}
        }
        let rows: Vec<f64> = bench.rows().chunks(whole).flat_map(|row| &row[..shown]).copied().collect();
        stream.rows(&rows, bench.now(), bench.packets())?;
    }
    Ok(Ok(()))
}
