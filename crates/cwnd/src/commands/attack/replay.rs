//! The found path over this host's kernel.

use crate::commands::run::{Announce, Prepared};
use crate::{catalogue, engines, failure::Failure};
use cwnd_attack::{Arena, Path, study};
use cwnd_scenario::AlgorithmSpec;
use cwnd_study::{EngineKind, Study, memory::MemoryBudget};

/// Runs both algorithms once over this host's kernel, in real time, and returns the values, or why that is not possible. In
/// builds that load no algorithms, Linux's CUBIC stands for that of RFC 9438.
///
/// # Errors
/// The user has stopped it, or the results cannot be kept.
pub fn text(
    arena: &Arena<'_>,
    path: &Path,
    about: &study::About<'_>,
    quiet: bool,
) -> Result<String, Failure> {
    let not = |why: &str| Ok(format!("  Not replayed on this host's kernel: {why}\n\n"));
    let arena = &Arena {
        candidate: of_kernel(&arena.candidate),
        reference: of_kernel(&arena.reference),
        goal: arena.goal.clone(),
        ..*arena
    };
    let text = study::text(arena, path, about);
    let study = Study::parse("replay", "replay", &text, &catalogue::check)
        .map_err(|error| error.to_string())
        .and_then(|study| study.on_engine(EngineKind::Kernel));
    let mut study = match study {
        Ok(study) => study,
        Err(why) => return not(&why),
    };
    study.repeats = 1;
    let engines = engines::of_study(&study);
    if let Some(why) = engines.why_not(EngineKind::Kernel) {
        return not(why);
    }
    let prepared =
        Prepared::new(study, engines, None, "cwnd attack".to_owned(), MemoryBudget::of_this_process());
    let mut prepared = match prepared {
        Ok(prepared) => prepared,
        Err(failure) if failure.is_bad_input() => return not(failure.message()),
        Err(failure) => return Err(failure),
    };
    let announce = if quiet { Announce::Never } else { Announce::Always };
    let (ran, _) = prepared.run_shown(Some(1), announce)?;
    if ran.stopped {
        return Err(prepared.stopped(&ran));
    }
    if let Some((.., why)) = ran.failures.first() {
        return not(why);
    }
    let results = prepared.results()?;
    let value = |cell: usize| {
        let value = results.runs_of(cell).first().and_then(|run| run.metric(&arena.goal.name));
        value.map_or_else(|| "–".to_owned(), study::number)
    };
    Ok(format!(
        "  One run on this host's kernel: {} with {}, {} with {}\n\n",
        value(0),
        arena.candidate,
        value(1),
        arena.reference
    ))
}

fn of_kernel(spec: &AlgorithmSpec) -> AlgorithmSpec {
    match (spec.name.as_str(), spec.parameters.is_empty()) {
        ("cubic", true) if cfg!(not(feature = "kernel")) => {
            AlgorithmSpec { name: "cubic-linux".to_owned(), ..spec.clone() }
        }
        _ => spec.clone(),
    }
}
