//! Writes every model figure, for whoever changes a model or how it is drawn:
//! `cargo run -p cwnd-report --example model_figures -- DIRECTORY`.

use cwnd_report::figures::model;
use std::{env, fs, path::PathBuf};

fn main() -> Result<(), std::io::Error> {
    let directory = PathBuf::from(env::args().nth(1).unwrap_or_else(|| ".".into()));
    for figure in cwnd_models::all() {
        let mut drawn = model::draw(figure.title, figure.name);
        drawn.grid.caption = drawn.notes.join(" ");
        let path = directory.join(format!("{}.svg", figure.name));
        fs::write(&path, drawn.grid.to_svg())?;
        println!("{}", path.display());
    }
    Ok(())
}
