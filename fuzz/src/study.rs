//! Study files: a text is a study or a list of errors, and small cells of a study run.

use crate::run;
use cwnd_study::Study;

/// Cells of a study whose scenarios are made.
const CELLS: usize = 4;

pub fn fuzz(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // A folder that does not exist: files that the text names are not there.
    let parse = || Study::parse("fuzz", "/nonexistent/fuzz.toml", text, &|_| Ok(()));
    match parse() {
        Err(error) => {
            assert!(!error.to_string().is_empty());
            let again = parse().expect_err("the same text is refused again");
            assert_eq!(error.to_string(), again.to_string());
        }
        Ok(study) => {
            for cell in 0..study.cells.len().min(CELLS) {
                let scenario = study.scenario(cell, study.repeats - 1);
                assert_eq!(scenario, study.scenario(cell, study.repeats - 1));
                // Names of algorithms were not checked, and an unknown one is refused here.
                run::check(&scenario);
            }
        }
    }
}
