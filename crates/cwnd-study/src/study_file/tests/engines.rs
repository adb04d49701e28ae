//! Which engine answers a cell.

use super::*;
use crate::{EngineKind, RunScale};
use EngineKind::{Kernel, Sim};

#[track_caller]
fn study(lines: &str) -> Study {
    parse(lines).unwrap_or_else(|error| panic!("{error}"))
}

fn engines(study: &Study) -> Vec<(String, EngineKind)> {
    (0..study.cells.len()).map(|cell| (study.cell_label(cell), study.cells[cell].engine)).collect()
}

const BUFFERS: &str = "[[axes]]\nname = \"buffer\"\nkey = \"buffer\"\nvalues = [5, 10, 20]\n";
const ENGINES: &str = "[[axes]]\nname = \"engine\"\nkey = \"engine\"\nvalues = [\"sim\", \"kernel\"]\n";
const HEAD: &str = "[scenario]\nalgorithm = \"cubic\"\nstack = \"linux\"\n";

#[test]
fn a_file_says_it_for_all_cells_or_an_axis_does() {
    let plain = study(&format!("{HEAD}{BUFFERS}"));
    assert_eq!((plain.engines(), plain.engine_axis), (vec![Sim], None));
    let kernel = study(&format!("{HEAD}[run]\nengine = \"kernel\"\n{BUFFERS}"));
    assert_eq!((kernel.engines(), kernel.engine_axis), (vec![Kernel], None));
    // The engine is no part of what is run.
    let scenarios = |study: &Study| study.cells.iter().map(|cell| cell.scenario.clone()).collect::<Vec<_>>();
    assert_eq!(scenarios(&plain), scenarios(&kernel));

    let both = study(&format!("{HEAD}{BUFFERS}{ENGINES}"));
    assert_eq!((both.engines(), both.engine_axis), (vec![Sim, Kernel], Some(1)));
    assert_eq!((both.axes[1].title.as_str(), both.axes[1].points[1].label.as_str()), ("Engine", "kernel"));
    assert_eq!(engines(&both)[..2], [("5, sim".to_owned(), Sim), ("5, kernel".to_owned(), Kernel)]);
    assert_eq!(both.cells[0].scenario, both.cells[1].scenario);

    let points = study(
        "[scenario]\nalgorithm = \"cubic\"\n[[axes]]\nname = \"what\"\n\
         points = [{ label = \"simulated\" }, { label = \"measured\", engine = \"kernel\", stack = \"linux\" }]",
    );
    assert_eq!((points.engines(), points.engine_axis), (vec![Sim, Kernel], Some(0)));
}

#[test]
fn one_engine_alone_answers_all_or_its_own_cells() {
    let plain = study(&format!("{HEAD}[run]\nrepeats = 3\n{BUFFERS}"));
    let kernel = plain.on_engine(Kernel).unwrap();
    assert_eq!((kernel.engines(), kernel.cells.len(), kernel.repeats), (vec![Kernel], 3, 3));
    assert_eq!(kernel.on_engine(Sim).unwrap(), plain);

    let both = study(&format!("{HEAD}{BUFFERS}{ENGINES}"));
    for (engine, label) in [(Sim, "sim"), (Kernel, "kernel")] {
        let alone = both.on_engine(engine).unwrap();
        assert_eq!((alone.engines(), alone.cells.len()), (vec![engine], 3));
        assert_eq!(alone.axes[1].points.len(), 1);
        assert_eq!(alone.cell_label(2), format!("20, {label}"));
        let of_both = both.cells.iter().filter(|cell| cell.engine == engine);
        assert!(of_both.zip(&alone.cells).all(|(a, b)| a.scenario == b.scenario));
    }
    let simulated = both.on_engine(Sim).unwrap();
    let error = simulated.on_engine(Kernel).unwrap_err();
    assert!(error.starts_with("the axis `engine` has no cell for the engine `kernel`"), "{error}");
}

#[test]
fn scales_and_engines_do_not_mind_their_order() {
    let quick = "[quick]\naxes = { buffer = [5, 20] }\n";
    let both = study(&format!("{HEAD}{quick}{BUFFERS}{ENGINES}"));
    for scale in [RunScale::Paper, RunScale::Quick, RunScale::Sample] {
        let one = both.at_scale(scale).on_engine(Kernel).unwrap();
        let other = both.on_engine(Kernel).unwrap().at_scale(scale);
        assert_eq!(one, other);
        assert_eq!(one.scale(), scale);
        assert_eq!(one.cells.len(), if scale == RunScale::Paper { 3 } else { 2 });
    }
    let sim_alone = study(&format!("{HEAD}[quick]\naxes = {{ engine = \"sim\" }}\n{BUFFERS}{ENGINES}"));
    let error = sim_alone.at_scale(RunScale::Quick).on_engine(Kernel).unwrap_err();
    assert!(error.contains("the quick scale leaves no cell for the engine `kernel`"), "{error}");
}
