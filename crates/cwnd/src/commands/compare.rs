//! `cwnd compare`: a study made from flags, in memory unless it is to be kept.

mod flags;
mod picture;
mod study;

pub use flags::Flags;

use super::run::{self, Announce, Prepared};
use crate::{
    engines,
    failure::Failure,
    interrupt,
    measured::Measured,
    output::{self, comparison, json},
    recording::Recorded,
    simulator::Simulator,
    terminal,
};
use cwnd_experiment::FlowGroup;
use cwnd_report::{figure_file, trace_figure};
use cwnd_scenario::{Problem, Scenario, Trace, registered_name};
use cwnd_study::{
    Cell, EngineKind, Engines, Results, RunResult, Study, TracedRun,
    memory::{MemoryBudget, TooMuchMemory},
    runner::{self, Checked, RunError},
    trace_file,
};
use std::{fs, path::PathBuf, sync::Arc};
use study::StudyText;

/// The most CPU time of runs whose results are not kept, seconds.
const MOST_CPU: f64 = 24.0 * 3600.0;

/// Do what the flags ask.
pub fn run(flags: Flags) -> Result<(), Failure> {
    let memory = flags.memory.budget();
    let text = StudyText::new(&flags, memory)?;
    let study = text.study()?;
    if flags.print_study {
        return output::print(&text.text);
    }
    check_files(&flags)?;
    let labels: Vec<String> = (0..study.cells.len()).map(|cell| study.cell_label(cell)).collect();
    let recorded = if flags.recording.is_asked() { study.cells.len() } else { 0 };
    let scenarios: Vec<Scenario> = (0..recorded).map(|cell| study.scenario(cell, 0)).collect();
    let recorded: Vec<Recorded<'_>> = (scenarios.iter().zip(&labels).zip(&study.cells))
        .map(|((scenario, name), cell)| Recorded { name, scenario, engine: cell.engine })
        .collect();
    let engines = engines_for(&flags, &study, &recorded)?;
    let kept = if flags.save.is_none() { kept_memory(&study) } else { 0.0 };
    let checked = check(&engines, &study, memory, kept)?;
    notes(&flags, [study.notes(), flags.recording.check(&recorded)?].concat());

    let command = command(&flags);
    let memory = MemoryBudget { bytes: memory.bytes - kept, ..memory };
    let mut prepared = Prepared::checked(study, checked, engines, flags.save.clone(), command, memory)?;
    if flags.save.is_none() {
        check_time(prepared.plan.cpu_s())?;
    }
    let announce = match (&flags.save, flags.quiet) {
        (None, false) => Announce::IfLong,
        (_, quiet) => Announce::of(quiet),
    };
    let (ran, threads) = prepared.run_shown(flags.threads, announce)?;

    let groups: Vec<Vec<FlowGroup>> = prepared.study.cells.iter().map(|cell| cell.groups()).collect();
    let (results, measured) =
        prepared.results_with(&|run, row| Measured::new(run, &groups[run.cell], row))?;
    let mut runs: Vec<Vec<Measured>> = labels.iter().map(|_| Vec::new()).collect();
    for (run, measured) in results.runs.iter().zip(measured) {
        runs[run.cell].extend(measured);
    }
    // The results are printed even if a file cannot be written after all.
    let written = write_files(&flags, &results);
    let recordings = if ran.stopped { Ok(Vec::new()) } else { flags.recording.write(&recorded) };
    let study = &results.study;
    output::print(&if flags.json {
        json::document(study, &labels, &runs)
    } else {
        let entries: Vec<comparison::Entry<'_>> = (labels.iter().zip(&groups).zip(&study.cells))
            .map(|((name, groups), cell)| comparison::Entry { name, groups, scenario: &cell.scenario })
            .collect();
        let mut text = comparison::table(&entries, &runs, terminal::columns());
        text += &run::failures(study, &ran);
        text += &comparison::cost(runs.iter().flatten(), ran.elapsed, threads);
        for path in [&flags.trace, &flags.plot].into_iter().flatten().filter(|_| written.is_ok()) {
            text += &format!("  wrote {}\n", path.display());
        }
        for path in recordings.iter().flatten() {
            text += &format!("  wrote {}\n", path.display());
        }
        text += &picture::of(&flags, &results, &labels)?;
        text + "\n"
    })?;
    if ran.stopped {
        return Err(prepared.stopped(&ran));
    }
    if let Some(directory) = &flags.save {
        super::report::save(&results, directory, flags.json)?;
        run::failed(ran.failures.len(), true)?;
    }
    if flags.open {
        let directory = flags.save.clone().unwrap_or_else(temporary);
        fs::create_dir_all(&directory).map_err(|error| {
            Failure::broken(format!("--open: cannot make `{}`: {error}", directory.display()))
        })?;
        super::report::open(&super::report::page(&results, &directory)?)?;
    }
    written.and(recordings.map(drop))?;
    run::failed(ran.failures.len(), false)
}

/// Returns the text of the study that flags describe, with samples of all repeats if `--sample` is one of them.
///
/// # Errors
/// Everything that is wrong with them, by flag.
pub fn study_text(flags: &Flags) -> Result<String, Failure> {
    let text = StudyText::sampled(flags, flags.memory.budget())?;
    text.study()?;
    Ok(text.text)
}

/// Returns a directory for a page that is not to be kept.
fn temporary() -> PathBuf {
    std::env::temp_dir().join(format!("cwnd-compare-{}", std::process::id()))
}

/// Returns the engines that the study needs. Over real kernels the one that runs also captures packets.
fn engines_for(flags: &Flags, study: &Study, recorded: &[Recorded<'_>]) -> Result<Engines, Failure> {
    if study.engines().into_iter().any(EngineKind::is_kernels) {
        // What they run in does not end by itself.
        interrupt::catch().map_err(Failure::broken)?;
    }
    let captures = flags.recording.captures(recorded)?;
    if !captures.is_empty() && flags.save.is_some() {
        return Err(Failure::bad_input(
            "--pcap: over real kernels packets are captured while the runs are done, and those that are stored are not \
             done again: leave --save out",
        ));
    }
    if captures.is_empty() {
        return Ok(engines::of_study_with(study, flags.no_fast_path));
    }
    // All runs of a comparison are captured, and one engine does them.
    let simulator = Engines::new(Arc::new(Simulator::new(flags.no_fast_path)));
    captures.into_iter().try_fold(simulator, |engines, (kind, files)| {
        Ok(engines.with(kind, Ok(engines::capturing(kind, files)?)))
    })
}

/// Checks that the engines accept the runs, and that the largest run fits into memory together with `kept` bytes of results.
fn check(engines: &Engines, study: &Study, memory: MemoryBudget, kept: f64) -> Result<Checked, Failure> {
    let checked = runner::check(engines, study).and_then(|checked| checked.fit(memory, kept));
    checked.map_err(|error| match error {
        RunError::Refused { problems, .. } => {
            let by_flag =
                |problem: &Problem| Problem { place: study::by_flag(&problem.place), ..problem.clone() };
            Failure::problems(&problems.iter().map(by_flag).collect::<Vec<_>>())
        }
        RunError::TooLarge { memory, .. } => too_much(study, &memory),
        error @ RunError::Store(_) => run::refused(study, &error),
    })
}

/// Checks that runs whose results are not kept do not take too long.
fn check_time(cpu_s: f64) -> Result<(), Failure> {
    if cpu_s <= MOST_CPU {
        return Ok(());
    }
    Err(Failure::bad_input(format!(
        "this would take about {:.0} hours of CPU time, and {:.0} are the most: take a shorter --duration, a lower --rate or \
         fewer --repeats, or keep what is done with --save",
        cpu_s / 3600.0,
        MOST_CPU / 3600.0
    )))
}

fn too_much(study: &Study, error: &TooMuchMemory) -> Failure {
    let samples = if study.trace.is_some() { ", or a longer --sample" } else { "" };
    Failure::bad_input(format!(
        "{error}: take fewer flows or repeats, a lower rate or delay, or smaller buffers{samples}; or say with --memory \
         what may be used"
    ))
}

/// Returns about the memory that results in memory need until the end, bytes.
fn kept_memory(study: &Study) -> f64 {
    /// Bytes of a sample of a flow, with what writing it takes.
    const SAMPLE: f64 = 110.0;
    let of_cell = |(index, cell): (usize, &Cell)| {
        let (flows, links) = (cell.scenario.lasting_flows() as f64, cell.scenario.network.links.len() as f64);
        let run = flows * 300.0 + links * 120.0;
        let samples = study.trace.as_ref().map_or(0.0, |plan| {
            let times = cell.scenario.duration.0 as f64 / plan.sample.0.max(1) as f64 + 2.0;
            let traced = (0..study.repeats).take_while(|repeat| study.is_traced(index, *repeat)).count();
            traced as f64 * times * (flows * SAMPLE + links * 4.0 + 48.0)
        });
        run * f64::from(study.repeats) + samples
    };
    study.cells.iter().enumerate().map(of_cell).sum()
}

/// Find out before the runs whether what they produce can be written.
fn check_files(flags: &Flags) -> Result<(), Failure> {
    if let Some(path) = &flags.trace {
        trace_file::check_writable(path).map_err(|error| Failure::bad_input(format!("--trace: {error}")))?;
    }
    if let Some(path) = &flags.plot {
        figure_file::check_writable(path).map_err(|error| Failure::bad_input(format!("--plot: {error}")))?;
    }
    Ok(())
}

/// Prints notes on standard error: what has no effect, and what a recording takes.
fn notes(flags: &Flags, more: Vec<String>) {
    if flags.quiet {
        return;
    }
    if flags.algorithms.is_empty() && !flags.settings.values("flows").is_empty() {
        crate::terminal::tell!(
            "note: --flows counts the flows of algorithms named alone; a mix has `*N`, a flow `count=N`"
        );
    }
    for name in flags.algorithms.iter().filter_map(|text| text.split(':').next()).map(str::trim) {
        if let Some(registered) = registered_name(name) {
            crate::terminal::tell!(
                "note: `{name}` is taken as `{registered}`: see `cwnd algorithms {registered}`"
            );
        }
    }
    more.iter().for_each(|note| crate::terminal::tell!("note: {note}"));
}

/// Writes the command that makes the same results: what tells where and how fast is left out.
fn command(flags: &Flags) -> String {
    let mut words: Vec<String> = vec!["cwnd".to_owned(), "compare".to_owned()];
    words.extend(flags.algorithms.iter().map(|algorithm| output::quoted(algorithm)));
    for given in flags.settings.given() {
        for value in &given.values {
            words.extend([format!("--{}", given.setting.key), output::quoted(value)]);
        }
    }
    if let Some(engine) = flags.engine {
        words.extend(["--engine".to_owned(), engine.to_string()]);
    }
    words.extend(["--seed".to_owned(), flags.seed.to_string()]);
    words.extend(["--repeats".to_owned(), flags.repeats.to_string()]);
    words.join(" ")
}

/// Writes the samples of all runs, and draws those of the first repeats.
fn write_files(flags: &Flags, results: &Results) -> Result<(), Failure> {
    if flags.trace.is_none() && flags.plot.is_none() {
        return Ok(());
    }
    let study = &results.study;
    let labels: Vec<String> = (0..study.cells.len()).map(|cell| study.cell_label(cell)).collect();
    let of_cell = |cell: &Cell| -> Vec<String> {
        // Where all flows are of one algorithm the run's name says it.
        let sampled = cell.scenario.flows.iter().filter(|flow| !flow.short && cell.groups().len() > 1);
        sampled.map(|flow| flow.algorithm.to_string()).collect()
    };
    let algorithms: Vec<Vec<String>> = study.cells.iter().map(of_cell).collect();
    let algorithms: Vec<Vec<&str>> =
        algorithms.iter().map(|names| names.iter().map(String::as_str).collect()).collect();
    let mut traces: Vec<(&RunResult, Arc<Trace>)> = Vec::new();
    for run in &results.runs {
        let trace = run.read_trace().map_err(|error| Failure::store(&error))?;
        traces.extend(trace.map(|trace| (run, trace)));
    }
    let traced: Vec<TracedRun<'_>> = (traces.iter())
        .map(|(run, trace)| {
            let network = &study.cells[run.cell].scenario.network;
            TracedRun {
                algorithm: &labels[run.cell],
                flow_algorithms: &algorithms[run.cell],
                seed: run.seed,
                trace,
                bottleneck: &network.links[network.bottleneck].name,
            }
        })
        .collect();
    let failed = |flag: &str, error: &dyn std::fmt::Display| Failure::broken(format!("{flag}: {error}"));
    if let Some(path) = &flags.trace {
        trace_file::write(path, &traced).map_err(|error| failed("--trace", &error))?;
    }
    if let Some(path) = &flags.plot {
        let first: Vec<TracedRun<'_>> = traced.iter().filter(|run| run.seed == study.seed).copied().collect();
        let svg = trace_figure::over_time(&first, &comparison::title(&study.cells[0].scenario));
        let missing = figure_file::write_figure(&svg, path).map_err(|error| failed("--plot", &error))?;
        super::report::note_missing_characters(&missing);
    }
    Ok(())
}
