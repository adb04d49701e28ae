//! Studies with algorithms in the kernel's C.

use crate::{Workplace, text};

const STUDY: &str = r#"
title = "The Rust and the C"
question = "Does it matter which of the two runs?"
[scenario]
rate = "20 Mbit/s"
delay = "20 ms"
buffer = 40
stack = "linux"
duration = "20 s"
[run]
repeats = 2
metrics = ["throughput_bps"]
[[axes]]
name = "variant"
key = "algorithm"
values = ["elastic", "elastic@kernel", "cubic-linux@kernel:fast_convergence=false"]
"#;

#[test]
fn a_study_runs_the_kernels_c_and_keeps_what_it_ran() {
    let place = Workplace::with(STUDY);
    assert!(place.printed(&["check", "quick.toml"]).contains("6 (3 cells x 2 repeats)"));
    let run = || place.printed(&["run", "quick.toml", "--out", "results"]);
    assert!(run().contains("6 runs done"));
    assert!(run().contains("all 6 runs were stored already"));
    let table = place.printed(&["export", "results", "--format", "csv"]);
    let mean = |variant: &str| {
        let values: Vec<f64> = table
            .lines()
            .filter(|line| line.split(',').any(|field| field == variant))
            .filter_map(|line| {
                line.rsplit(',').find_map(|field| field.parse().ok().filter(|v: &f64| *v > 1e6))
            })
            .collect();
        assert_eq!(values.len(), 2, "{variant} in {table}");
        values.iter().sum::<f64>() / 2.0
    };
    let (rust, c) = (mean("elastic"), mean("elastic@kernel"));
    assert!((rust - c).abs() < 0.01 * rust, "{rust} bit/s in Rust, {c} in C");
}

#[test]
fn what_the_c_does_is_not_recorded() {
    let place = Workplace::with(STUDY);
    let recorded = ["run", "quick.toml", "--recorded-cell", "elastic@kernel", "--qlog", "a.sqlog"];
    let output = place.cwnd(&recorded);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("`elastic`, which is the same in Rust, can be"),
        "{}",
        text(&output.stderr)
    );
}
