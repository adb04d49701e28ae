//! Whether the runs that are asked for fit into this machine, found out before they start.

use super::plan::Plan;
use crate::{failure::Failure, runner::Task};
use cwnd_scenario::{Engine, Problem, Scenario};
use cwnd_study::{EngineKind, memory::MemoryBudget};
use std::thread;

/// The most CPU time that they may need together, seconds.
const MOST_CPU: f64 = 24.0 * 3600.0;

/// What the runs may use.
pub struct Budget {
    /// How many run at once.
    pub threads: usize,
    /// About how long they take together, seconds.
    pub seconds: f64,
}

/// Whether the engine takes the plans, and the tasks fit.
///
/// # Errors
/// What the engine refuses, and what would take too much memory or time.
pub fn check(
    engine: &dyn Engine,
    kind: EngineKind,
    plans: &[Plan],
    tasks: &[Task],
    memory: MemoryBudget,
) -> Result<Budget, Failure> {
    let cost = |scenario: &Scenario| {
        engine.check(scenario).map_err(|problems| {
            let named: Vec<Problem> =
                problems.into_iter().map(|p| Problem { place: flag(&p.place), ..p }).collect();
            Failure::problems(&named)
        })
    };
    // Of each plan a run with samples, if there are any, and one without.
    let mut costs = Vec::with_capacity(plans.len());
    for plan in plans {
        let sampled = cost(&plan.scenario)?;
        let bare = match plan.scenario.sample {
            None => sampled,
            Some(_) => cost(&Scenario { sample: None, ..plan.scenario.clone() })?,
        };
        costs.push((sampled, bare));
    }
    // Samples count with what is kept.
    let largest = costs.iter().map(|(_, bare)| bare.memory).fold(0.0, f64::max);
    let cost_of = |task: &Task| if task.sampled { &costs[task.plan].0 } else { &costs[task.plan].1 };
    let cpu: f64 = tasks.iter().map(|task| cost_of(task).cpu_s).sum();
    let kept: f64 = tasks.iter().map(|task| kept_memory(&plans[task.plan].scenario, task.sampled)).sum();
    memory.check(largest + kept).map_err(|error| {
        let samples = tasks.iter().any(|task| task.sampled);
        Failure::bad_input(format!(
            "{error}: take fewer flows or repeats, a lower rate or delay, or smaller buffers{}; or say with --memory \
             what may be used",
            if samples { ", or a longer --sample" } else { "" },
        ))
    })?;
    if cpu > MOST_CPU {
        return Err(Failure::bad_input(format!(
            "this would take about {:.0} hours of CPU time, and {:.0} are the most: take a shorter --duration, a lower \
             --rate or fewer --repeats",
            cpu / 3600.0,
            MOST_CPU / 3600.0
        )));
    }
    if kind.is_real_time() {
        // One by one, and as long as the scenarios last.
        let seconds = tasks.iter().map(|task| cost_of(task).wall_s).sum();
        return Ok(Budget { threads: 1, seconds });
    }
    let fitting = (memory.bytes - kept) / largest.max(1.0);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(tasks.len()).min(fitting as usize).max(1);
    Ok(Budget { threads, seconds: cpu / threads as f64 })
}

/// Checks, before scenarios are made of plans, that the descriptions of so many flows fit into memory.
///
/// # Errors
/// If they do not.
pub fn check_descriptions(flows: u64, memory: MemoryBudget) -> Result<(), Failure> {
    /// Bytes of a flow's description, with those of the links that only it crosses.
    const DESCRIPTION: f64 = 2_000.0;
    memory.check(flows as f64 * DESCRIPTION).map_err(|error| {
        Failure::bad_input(format!("--flows: to describe {flows} flows {error}: take fewer"))
    })
}

/// A field of the scenario by the flag that sets it; the parts of the network have none.
fn flag(place: &str) -> String {
    let field = place != "network" && place.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    if field { format!("--{}", place.replace('_', "-")) } else { place.to_owned() }
}

/// About the memory that stays in use when a run is over: its metrics, and its samples.
fn kept_memory(scenario: &Scenario, sampled: bool) -> f64 {
    /// Bytes of a sample of a flow, with what writing it takes.
    const SAMPLE: f64 = 110.0;
    // Of short flows the sum alone is kept.
    let (flows, links) = (scenario.lasting_flows() as f64, scenario.network.links.len() as f64);
    let samples = match scenario.sample.filter(|_| sampled) {
        Some(sample) => scenario.duration.0 as f64 / sample.0.max(1) as f64 + 2.0,
        None => 0.0,
    };
    flows * 300.0 + links * 120.0 + samples * (flows * SAMPLE + links * 4.0 + 48.0)
}
