//! Stored runs describe themselves: they are read with the scenario that was run, or refused.

use super::*;
use rusqlite::Connection;

const STUDY: &str = r#"
title = "A study"
question = "What is the throughput?"
[scenario]
rate = "10 Mbit/s"
packet-size = 1000
duration = "5 s"
[run]
repeats = 2
metrics = ["throughput_bps", "utilisation"]
[[axes]]
name = "variant"
key = "algorithm"
values = ["cubic", "newreno"]
"#;

fn run() -> Workplace {
    let place = Workplace::with(STUDY);
    place.printed(&["run", "quick.toml", "--quiet"]);
    place
}

fn connection(place: &Workplace) -> Connection {
    Connection::open(place.path("results/quick/results.sqlite")).unwrap()
}

/// Another version's defaults, as it were: the study's text gives another scenario today. Counts of 1000-byte packets were
/// once read as those of 1400-byte packets, with a utilisation of 1.32.
#[test]
fn a_scenario_that_the_study_does_not_give_any_more_is_refused() {
    let place = run();
    let version = env!("CARGO_PKG_VERSION");
    let change = |from: &str, to: &str| {
        let sql = "UPDATE study SET text = replace(text, ?1, ?2)";
        assert_eq!(connection(&place).execute(sql, [from, to]).unwrap(), 1);
    };
    let before = place.canonical("results/quick");
    for (from, to, difference) in [
        ("packet-size = 1000", "packet-size = 1400", "stack.payload: 1000, today 1400"),
        ("duration = \"5 s\"", "duration = \"6 s\"", "duration: 5000000000, today 6000000000"),
        ("\"cubic\"", "\"cubic:beta=0.5\"", "flows[0].algorithm.parameters.beta: absent, today \"0.5\""),
    ] {
        change(from, to);
        for command in ["export", "report"] {
            let said = place.refused(2, &[command, "results/quick"]);
            let cell = if to.contains("beta") { "cubic:beta=0.5" } else { "cubic" };
            let start = format!(
                "error: `results/quick`: {cell} (repeat 0): its stored scenario is not the one that the study gives \
                 today: {difference}"
            );
            assert!(said.starts_with(&start), "{said}");
            let end = format!(
                "; cwnd {version} stored it, and this is {version}; `cwnd run quick.toml --out results/quick` runs it \
                 again\n"
            );
            assert!(said.ends_with(&end), "{said}");
        }
        change(to, from);
    }
    // What it says helps.
    change("packet-size = 1000", "packet-size = 1400");
    place.printed(&["run", "quick.toml", "--out", "results/quick", "--quiet"]);
    assert_eq!(place.canonical("results/quick"), before);
}

/// What no name in the study changes is read as before.
#[test]
fn titles_and_labels_do_not_matter() {
    let place = run();
    let before = place.canonical("results/quick");
    let sql = "UPDATE study SET text = replace(text, 'A study', 'Another title')";
    assert_eq!(connection(&place).execute(sql, []).unwrap(), 1);
    assert_eq!(place.canonical("results/quick"), before);
}

/// The row of one run under the name of another.
#[test]
fn a_row_that_has_not_its_key_is_told_and_run_again() {
    let place = run();
    let before = place.canonical("results/quick");
    connection(&place).execute("UPDATE runs SET seed = seed + 1 WHERE rowid = 1", []).unwrap();
    let exported = place.printed(&["export", "results/quick"]);
    let failed: Vec<&str> = exported.lines().filter(|line| line.contains(",failed,")).collect();
    assert_eq!(failed.len(), 1, "{exported}");
    assert!(failed[0].contains("its row in the store is damaged"), "{exported}");
    let output = place.cwnd(&["run", "quick.toml"]);
    assert!(text(&output.stderr).contains("is run again: its row in the store is damaged"));
    assert_eq!(place.canonical("results/quick"), before);
}

/// README: a study can be carried on by a program that reads JSON and zlib.
#[test]
fn a_row_can_be_read_without_the_study() {
    let place = run();
    let connection = connection(&place);
    let sql =
        "SELECT engine, seed, hex(key), length(content) FROM runs JOIN scenarios ON scenarios.id = scenario";
    let mut statement = connection.prepare(sql).unwrap();
    let rows: Vec<(String, u64, String, u64)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(rows.len(), 4);
    for (engine, seed, key, length) in rows {
        let identity: serde_json::Value = serde_json::from_str(&engine).unwrap();
        assert_eq!(identity["engine"], "cwnd-sim");
        assert!(identity["versions"]["cwnd-sim"].is_string(), "{engine}");
        assert!((1..=2).contains(&seed) && key.len() == 64, "{seed} {key}");
        assert!(length < 700, "{length} bytes");
    }
}
