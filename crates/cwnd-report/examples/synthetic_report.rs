//! Writes the report of a made-up study, for whoever changes how reports look:
//! `cargo run -p cwnd-report --example synthetic_report -- DIRECTORY`.

#[path = "../tests/report/synthetic.rs"]
mod synthetic;

use cwnd_report::{figures, report, series::SeriesStyles};
use std::{env, fs, path::PathBuf};

fn main() -> Result<(), std::io::Error> {
    let directory = PathBuf::from(env::args().nth(1).unwrap_or_else(|| ".".into()));
    let mut results = synthetic::results();
    // Some runs are missing and some failed, to see how that looks.
    if env::args().nth(2).is_some_and(|word| word == "incomplete") {
        for (i, run) in results.runs.iter_mut().enumerate() {
            if i / 5 % 17 == 3 {
                run.state = cwnd_study::RunState::Missing;
            } else if i % 41 == 7 {
                run.state = cwnd_study::RunState::Failed("the engine refused `buffer`: it is zero".into());
            }
        }
    }
    let traces = synthetic::traces(&results);
    let html = report::html_with(&results, &traces);
    println!("report: {} bytes", html.len());
    fs::write(directory.join("report.html"), html)?;
    for figure in &results.study.figures {
        let svg = figures::file(&results, figure, &SeriesStyles::new(&results.study), &traces);
        println!("{}: {} bytes", figure.name, svg.len());
        fs::write(directory.join(format!("{}.svg", figure.name)), svg)?;
    }
    Ok(())
}
