//! Prints what the simulated runs of a study were planned to cost and did cost, in milliseconds of CPU: the record for the
//! tests of the time that remains (`crates/cwnd-study/src/runner/forecast/`).
//!
//! ```sh
//! cwnd run studies/networks/queues.toml --out /tmp/queues && cargo run --example run_costs -- /tmp/queues
//! ```

use cwnd_scenario::Engine;
use cwnd_sim::Simulator;
use cwnd_study::{Results, Store};
use std::{env, path::Path, process::ExitCode};

fn main() -> ExitCode {
    let Some(directory) = env::args().nth(1) else {
        eprintln!("which results? cargo run --example run_costs -- DIR");
        return ExitCode::from(2);
    };
    match print(Path::new(&directory)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn print(directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let store = Store::open(directory)?;
    let study = Results::study(&store)?;
    println!("cell,planned_ms,cpu_ms");
    let (_, lines) = Results::with_each(study.clone(), &store, &|run, row| {
        let row = row?;
        Some(match Simulator.check(&study.scenario(run.cell, run.repeat)) {
            Ok(cost) => Ok(format!("{},{:.3},{:.3}", run.cell, cost.cpu_s * 1e3, row.cpu_s * 1e3)),
            Err(problems) => Err(format!("cell {}: {problems:?}", run.cell)),
        })
    })?;
    for line in lines.into_iter().flatten() {
        println!("{}", line?);
    }
    Ok(())
}
