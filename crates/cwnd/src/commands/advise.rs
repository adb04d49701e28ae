//! `cwnd advise`: which congestion control for a path, found by simulation.
//!
//! Flags and a recording give a path ([`path`]); the path and the candidates give the text of a study ([`study`]), which runs
//! as any other. Its results are ranked ([`ranking`]) and printed with what the host must set ([`host`]).

pub(super) mod candidates;
mod criterion;
mod flags;
mod host;
pub(super) mod import;
mod json;
mod path;
mod ranking;
mod study;
mod text;
mod traffic;

pub use flags::Flags;

use super::{
    check,
    run::{self, Announce, Prepared},
};
use crate::{engines, failure::Failure, output};
use candidates::Modules;
use criterion::Quantity;
use cwnd_study::runner::RunSummary;
use host::Host;
use path::Path;
use ranking::Ranking;
use std::time::Duration;
use study::AdviseStudy;
use text::Recommendation;
use traffic::ShortFlowsChoice;

/// Do what the flags ask.
pub fn run(flags: Flags) -> Result<(), Failure> {
    check_criterion(&flags)?;
    let path = Path::of(&flags)?;
    let candidates = match &flags.algorithms {
        Some(list) => list.0.clone(),
        None => candidates::usual(path.marks()),
    };
    let advise = AdviseStudy::new(&flags, &path, &candidates);
    let study = advise.study()?;
    if flags.print_study {
        return output::print(&advise.text);
    }
    let engines = engines::of_study(&study);
    let cost = check::cost(&engines, &study)?;
    let most = flags.max_cpu.as_secs_f64();
    if cost.cpu_s > most {
        return Err(Failure::bad_input(format!(
            "--max-cpu: {} runs of {} would take about {} of CPU time, and {} are the most: name fewer --algorithms, take \
             fewer --repeats or a shorter --duration, or allow more with --max-cpu",
            cost.runs,
            advise.duration,
            run::duration(Duration::from_secs_f64(cost.cpu_s)),
            run::duration(Duration::from_secs_f64(most)),
        )));
    }
    let command = command(&flags);
    let mut prepared =
        Prepared::new(study, engines, flags.save.clone(), command.clone(), flags.memory.budget())?;
    let (ran, threads) = prepared.run_shown(flags.threads, Announce::of(flags.quiet))?;
    if ran.stopped {
        return Err(prepared.stopped(&ran));
    }

    let results = prepared.results()?;
    let ranking =
        Ranking::of(&results, &advise.cells, &candidates, &flags.criterion, &Modules::of_this_host());
    let steps = match ranking.choice() {
        Ok((row, _)) => Host::of_this_host().steps(&row.spec, &row.on_host, &path),
        Err(_) => Vec::new(),
    };
    let recommendation = Recommendation {
        path: &path,
        study: &advise,
        criterion: &flags.criterion,
        flows: flags.settings.values("flows").first().map_or("1", String::as_str),
        repeats: flags.repeats,
        ranking: &ranking,
        steps: &steps,
    };
    output::print(&match flags.json {
        true => json::document(&recommendation, &command),
        false => recommendation.text() + &run::failures(&prepared.study, &ran) + &took(&ran, threads) + "\n",
    })?;
    if let Some(directory) = &flags.save {
        super::report::save(&results, directory, flags.json)?;
    }
    run::failed(ran.failures.len(), flags.save.is_some())
}

/// Checks that what is ranked by is measured.
fn check_criterion(flags: &Flags) -> Result<(), Failure> {
    let counts = flags.criterion.counted().any(|quantity| quantity == Quantity::Completion);
    if counts && flags.short_flows == Some(ShortFlowsChoice::None) {
        return Err(Failure::bad_input(format!(
            "--for {}: completion times are those of short flows, and there are none: leave `--short-flows none` out",
            flags.criterion
        )));
    }
    if flags.seed.checked_add(u64::from(flags.repeats)).is_none() {
        return Err(Failure::bad_input("--seed: the repeats run out of seeds: take a smaller one"));
    }
    Ok(())
}

/// Writes the command that makes the same results: what tells where and how fast is left out.
fn command(flags: &Flags) -> String {
    let mut words: Vec<String> = vec!["cwnd".to_owned(), "advise".to_owned()];
    let mut flag = |name: &str, value: &str| words.extend([format!("--{name}"), output::quoted(value)]);
    if let Some(file) = &flags.from {
        flag("from", &file.to_string_lossy());
    }
    for given in flags.settings.given() {
        given.values.iter().for_each(|value| flag(given.setting.key, value));
    }
    match &flags.short_flows {
        Some(ShortFlowsChoice::Web) => flag("short-flows", "web"),
        Some(ShortFlowsChoice::None) => flag("short-flows", "none"),
        Some(ShortFlowsChoice::Stated(text)) => flag("short-flows", text),
        None => {}
    }
    flag("for", &flags.criterion.to_string());
    if let Some(list) = &flags.algorithms {
        flag("algorithms", &list.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
    }
    flag("seed", &flags.seed.to_string());
    flag("repeats", &flags.repeats.to_string());
    words.join(" ")
}

fn took(ran: &RunSummary, threads: usize) -> String {
    let on = if threads > 1 { format!(" on {threads} threads") } else { String::new() };
    format!("  took {:.2} s{on}: {:.2} s of CPU\n", ran.elapsed.as_secs_f64(), ran.cpu_s)
}
