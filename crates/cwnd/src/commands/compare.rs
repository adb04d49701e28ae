//! `cwnd compare`: run algorithms over the same network and lay their results side by side.

mod budget;
mod flags;
mod plan;

pub use flags::{Flags, NetworkFlags};

use crate::{
    engines,
    failure::Failure,
    interrupt,
    output::{self, comparison, json},
    recording::Recorded,
    runner::{self, Done, Task},
    simulator::Simulator,
};
use budget::Budget;
use cwnd_report::{svg_file, trace_figure};
use cwnd_scenario::Engine;
use cwnd_study::{EngineKind, TracedRun, trace_file};
use plan::Plan;
use std::time::Instant;

/// Do what the flags ask.
pub fn run(flags: Flags) -> Result<(), Failure> {
    let kind = flags.engine.map_or(EngineKind::Sim, EngineKind::from);
    let memory = flags.memory.budget();
    let plans = plan::plans(&flags, memory)?;
    check_files(&flags)?;
    let recorded: Vec<Recorded<'_>> = plans
        .iter()
        .map(|plan| Recorded { name: &plan.name, scenario: &plan.scenario, engine: kind })
        .collect();
    let tasks = tasks(&flags, &plans)?;
    let (simulator, kernel);
    let engine: &(dyn Engine + Send + Sync) = match kind {
        EngineKind::Sim => {
            simulator = Simulator::new(flags.no_fast_path);
            &simulator
        }
        EngineKind::Kernel => {
            kernel = engines::capturing(flags.recording.captures(&recorded)?)?;
            interrupt::catch()?;
            &*kernel
        }
    };
    let budget = budget::check(engine, kind, &plans, &tasks, memory)?;
    notes(&flags, &budget, flags.recording.check(&recorded)?);

    let begin = Instant::now();
    let progress = !flags.quiet;
    let done = runner::run(engine, kind, &tasks, budget.threads, progress, |task| {
        let mut scenario = plans[task.plan].scenario.with_seed(task.seed);
        scenario.sample = scenario.sample.filter(|_| task.sampled);
        scenario
    })?;
    let took = begin.elapsed();

    // The results are printed even if a file cannot be written after all.
    let written = write_files(&flags, &plans, &tasks, &done);
    let recordings = flags.recording.write(&recorded);
    let results = runner::by_plan(plans.len(), &tasks, &done);
    output::print(&if flags.json {
        json::document(&plans_named(&plans), &results)
    } else {
        let names = plans.iter().map(|plan| comparison::Entry {
            name: &plan.name,
            groups: &plan.groups,
            scenario: &plan.scenario,
        });
        let mut text = comparison::table(&names.collect::<Vec<_>>(), &results);
        text += &comparison::cost(&done, took, budget.threads);
        for path in [&flags.trace, &flags.plot].into_iter().flatten().filter(|_| written.is_ok()) {
            text += &format!("  wrote {}\n", path.display());
        }
        for path in recordings.iter().flatten() {
            text += &format!("  wrote {}\n", path.display());
        }
        text + "\n"
    })?;
    written.and(recordings.map(drop))
}

fn plans_named(plans: &[Plan]) -> Vec<&str> {
    plans.iter().map(|plan| plan.name.as_str()).collect()
}

/// Every repeat of every plan, plan by plan.
fn tasks(flags: &Flags, plans: &[Plan]) -> Result<Vec<Task>, Failure> {
    if flags.seed.checked_add(u64::from(flags.repeats) - 1).is_none() {
        return Err(Failure::bad_input(format!(
            "--seed: {} repeats from {} on run out of seeds: take a smaller one",
            flags.repeats, flags.seed
        )));
    }
    let task = |plan, repeat: u32| Task {
        plan,
        seed: flags.seed + u64::from(repeat),
        sampled: flags.trace.is_some() || (flags.plot.is_some() && repeat == 0),
    };
    Ok((0..plans.len()).flat_map(|plan| (0..flags.repeats).map(move |repeat| task(plan, repeat))).collect())
}

/// Find out before the runs whether what they produce can be written.
fn check_files(flags: &Flags) -> Result<(), Failure> {
    if let Some(path) = &flags.trace {
        trace_file::check_writable(path).map_err(|error| Failure::bad_input(format!("--trace: {error}")))?;
    }
    if let Some(path) = &flags.plot {
        svg_file::check_writable(path).map_err(|error| Failure::bad_input(format!("--plot: {error}")))?;
    }
    Ok(())
}

/// Say what has no effect, and what will take long.
fn notes(flags: &Flags, budget: &Budget, more: Vec<String>) {
    const LONG: f64 = 60.0;
    if flags.quiet {
        return;
    }
    if flags.algorithms.is_empty() && flags.flows.is_some() {
        crate::output::tell!(
            "note: --flows counts the flows of algorithms named alone; a mix has `*N`, a flow `count=N`"
        );
    }
    if budget.seconds > LONG {
        crate::output::tell!("note: this may take up to {:.0} minutes", (budget.seconds / 60.0).ceil());
    }
    more.iter().for_each(|note| crate::output::tell!("note: {note}"));
}

fn write_files(flags: &Flags, plans: &[Plan], tasks: &[Task], done: &[Done]) -> Result<(), Failure> {
    let flow_algorithms: Vec<Vec<String>> = plans
        .iter()
        .map(|plan| {
            let sampled = plan.scenario.flows.iter().filter(|flow| !flow.short);
            sampled.map(|flow| flow.algorithm.to_string()).collect()
        })
        .collect();
    let flow_algorithms: Vec<Vec<&str>> =
        flow_algorithms.iter().map(|names| names.iter().map(String::as_str).collect()).collect();
    let traced: Vec<TracedRun<'_>> = tasks
        .iter()
        .zip(done)
        .filter_map(|(task, done)| {
            let plan = &plans[task.plan];
            let network = &plan.scenario.network;
            Some(TracedRun {
                algorithm: &plan.name,
                flow_algorithms: if plan.groups.len() > 1 { &flow_algorithms[task.plan] } else { &[] },
                seed: task.seed,
                trace: done.trace.as_ref()?,
                bottleneck: &network.links[network.bottleneck].name,
            })
        })
        .collect();
    let failed = |flag: &str, error: &dyn std::fmt::Display| Failure::broken(format!("{flag}: {error}"));
    if let Some(path) = &flags.trace {
        trace_file::write(path, &traced).map_err(|error| failed("--trace", &error))?;
    }
    if let Some(path) = &flags.plot {
        let first: Vec<TracedRun<'_>> = traced.iter().filter(|run| run.seed == flags.seed).copied().collect();
        let svg = trace_figure::cwnd_and_queue(&first, &comparison::title(&plans[0].scenario));
        svg_file::write(path, &svg).map_err(|error| failed("--plot", &error))?;
    }
    Ok(())
}
