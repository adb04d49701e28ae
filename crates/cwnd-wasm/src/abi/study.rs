//! The functions of the module with studies.

use super::{taken, with};
use crate::playground::{self, Playground};
use std::cell::RefCell;

thread_local! {
    static PLAYGROUND: RefCell<Option<Playground>> = const { RefCell::new(None) };
}

/// Leaves the JSON Schema of study files.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_study_schema() {
    with(|instance| instance.text = playground::schema());
}

/// Reads the study file that the input holds: a line with its scale, and then its text. The text that it leaves describes the study,
/// or lists what is wrong.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_study_open() -> u32 {
    super::keep_panics();
    with(|instance| {
        let input = taken(&mut instance.input);
        let (scale, text) = input.split_once('\n').unwrap_or(("paper", &input));
        match Playground::parse(text, scale) {
            Ok(opened) => {
                instance.text = opened.describe();
                PLAYGROUND.set(Some(opened));
                1
            }
            Err(error) => {
                instance.text = playground::diagnostics(&error);
                0
            }
        }
    })
}

/// Does a run. Its result is at [`cwnd_input`](super::cwnd_input)'s place, as long as this returns.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_study_run(place: usize) -> usize {
    let result = with_study(|study| study.run(place));
    with(|instance| {
        instance.input = result;
        instance.input.len()
    })
}

/// Returns where the result of a run is.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_study_result() -> *const u8 {
    with(|instance| instance.input.as_ptr())
}

/// Makes the first repeat of a cell the run of [`cwnd_run`](super::cwnd_run). The text then describes it, or lists problems.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_study_bench(cell: usize) -> u32 {
    let bench = with_study(|study| study.bench(cell));
    with(|instance| {
        let described = bench.map(|bench| {
            let described = bench.describe();
            instance.bench = Some(bench);
            described
        });
        instance.answer(described)
    })
}

/// Adds the result of a run, which the input holds. Returns 0 if it is none.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_study_put(place: usize) -> u32 {
    let result = with(|instance| std::mem::take(&mut instance.input));
    with_study(|study| study.put(place, &result).is_ok().into())
}

/// Leaves the report of the results so far, an HTML page. The input is the script of live reports, or empty.
#[unsafe(no_mangle)]
pub extern "C" fn cwnd_study_report() {
    let script = with(|instance| taken(&mut instance.input));
    let report = with_study(|study| study.report(&script));
    with(|instance| instance.text = report);
}

fn with_study<T>(work: impl FnOnce(&mut Playground) -> T) -> T {
    PLAYGROUND.with_borrow_mut(|study| work(study.as_mut().expect("a study is opened first")))
}
