//! `--calibrate`: how often the instrument sees a difference where there is none.
//!
//! The reference takes both places, with other seeds in each. Every verdict but "as" is a false alarm.

use super::{
    Flags,
    plan::{self, Job, Library},
    results,
};
use crate::{
    commands::{reproduce, run},
    failure::Failure,
    output,
};
use cwnd_evaluate::{
    Field,
    judge::{self, LEVEL, Pairing},
    ledger::Verdict,
};
use cwnd_study::RunScale;

/// Runs the trials and prints the rates.
pub fn run(flags: &Flags, library: &Library<'_>, trials: u32) -> Result<(), Failure> {
    let reference = flags.against.0[0].to_string();
    let field = Field::new(&reference, std::slice::from_ref(&reference));
    let criteria = library.criteria(flags.section.as_deref())?;
    let scale = if flags.quick { RunScale::Quick } else { RunScale::Paper };
    let directory = flags.out.clone().unwrap_or_else(|| plan::directory("calibration", scale));
    let command = format!("cwnd evaluate {reference} --calibrate {trials}");
    let job = Job {
        field: &field,
        scale,
        directory: &directory,
        command: &command,
        memory: flags.memory.budget(),
        times: trials + 1,
        engines: &crate::engines::of_study,
    };
    let mut studies = library.studies(&criteria, &job)?;
    let failures = reproduce::complete(&mut studies, run::threads(flags.threads), flags.quiet)?;
    let results = results(&studies)?;

    let (mut rows, mut alarms, mut lists, mut uncorrected, mut effects) = (0, 0, 0, 0, 0);
    let mut told = String::new();
    for trial in 0..trials {
        let judged = judge::judge_paired(
            &criteria,
            &field,
            &results,
            Pairing::Shifted { block: trial as usize, blocks: trials as usize + 1 },
        )
        .map_err(Failure::broken)?;
        let measured: Vec<_> = judged.iter().filter(|row| !row.criteria.is_empty()).collect();
        let wrong: Vec<&str> = measured
            .iter()
            .filter(|row| matches!(row.verdict, Verdict::Better | Verdict::Worse))
            .map(|row| row.section.as_str())
            .collect();
        for effect in measured.iter().flat_map(|row| &row.criteria).flat_map(|entry| entry.effects.values()) {
            effects += 1;
            uncorrected += u32::from(effect.p.is_some_and(|p| p < LEVEL));
        }
        rows += measured.len();
        alarms += wrong.len();
        lists += u32::from(!wrong.is_empty());
        if !wrong.is_empty() {
            told += &format!("  trial {}: {}\n", trial + 1, wrong.join(", "));
        }
    }
    let percent = |part: f64, whole: f64| 100.0 * part / whole.max(1.0);
    output::print(&format!(
        "\n{reference} against itself, {trials} trials of other seeds\n\n{told}  false alarms: {alarms} of {rows} rows ({:.1} %), in \
         {lists} of {trials} lists\n  p under {:.0} % without correction and margin: {uncorrected} of {effects} criteria ({:.1} %)\n\n",
        percent(alarms as f64, rows as f64),
        100.0 * LEVEL,
        percent(f64::from(uncorrected), f64::from(effects)),
    ))?;
    run::failed(failures, true)
}
