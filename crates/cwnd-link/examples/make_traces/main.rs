//! Makes the traces of the folder `traces`: `make_traces FOLDER [SCALE] [SEED] [schedules]`. Rates are divided by the scale, so that the
//! files stay small; it prints the tables of `traces/README.md`. `cargo xtask traces` runs this.

mod model;

use model::Made;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("make_traces: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[String]) -> Result<(), String> {
    let folder = words.first().ok_or("say into which folder")?;
    let number = |at: usize, default: u32| match words.get(at) {
        None => Ok(default),
        Some(word) => match word.parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!("`{word}`: scale and seed are whole numbers from 1 on")),
        },
    };
    let (scale, seed) = (number(1, 20)?, number(2, 1)?);
    let all = model::all(u64::from(seed), f64::from(scale));
    for Made { trace, .. } in &all {
        let file = std::path::Path::new(folder).join(format!("{}.trace", trace.name));
        std::fs::write(&file, trace.to_text()).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    print!("{}", model::summary(&all));
    if words.get(3).is_some_and(|word| word == "schedules") {
        for Made { trace, .. } in &all {
            print!("\n{}: {}", trace.name, model::schedule(trace));
        }
    }
    Ok(())
}
