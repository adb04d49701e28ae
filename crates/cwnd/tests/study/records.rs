//! Stored runs describe themselves: they are read with the scenario that was run, or refused.

use super::*;
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::io::Read;

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

/// Makes the study's row one of a version that wrote no checksum behind its keys of 32 bytes.
const WITHOUT_CHECKSUM: &str = "keys = substr(keys, 1, length(keys) / 32 * 32)";

/// Another version's defaults, as it were: the study's text gives another scenario today. Counts of 1000-byte packets were
/// once read as those of 1400-byte packets, with a utilisation of 1.32.
#[test]
fn a_scenario_that_the_study_does_not_give_any_more_is_refused() {
    let place = run();
    let version = env!("CARGO_PKG_VERSION");
    let change = |from: &str, to: &str| {
        let sql = format!("UPDATE study SET text = replace(text, ?1, ?2), {WITHOUT_CHECKSUM}");
        assert_eq!(connection(&place).execute(&sql, [from, to]).unwrap(), 1);
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
    let sql =
        format!("UPDATE study SET text = replace(text, 'A study', 'Another title'), {WITHOUT_CHECKSUM}");
    assert_eq!(connection(&place).execute(&sql, []).unwrap(), 1);
    assert_eq!(place.canonical("results/quick"), before);
}

/// The row of one run under the name of another.
#[test]
fn a_row_that_has_not_its_key_is_told_and_run_again() {
    let place = run();
    let before = place.canonical("results/quick");
    connection(&place).execute("UPDATE runs SET seed = seed + 1 WHERE rowid = 1", []).unwrap();
    let output = place.cwnd(&["export", "results/quick"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("the store has 1 run that cannot be used"));
    let exported = text(&output.stdout);
    let failed: Vec<&str> = exported.lines().filter(|line| line.contains(",failed,")).collect();
    assert_eq!(failed.len(), 1, "{exported}");
    assert!(failed[0].contains("its row in the store is damaged"), "{exported}");
    let output = place.cwnd(&["run", "quick.toml"]);
    assert!(text(&output.stderr).contains("is run again: its row in the store is damaged"));
    assert_eq!(place.canonical("results/quick"), before);
}

#[test]
fn the_general_path_gives_the_same_results() {
    let place = run();
    let before = place.canonical("results/quick");
    for (flag, directory) in [("--no-fast-path", "general"), ("--no-fast-path=zero-queue", "without-one")] {
        place.printed(&["run", "quick.toml", "--quiet", flag, "--out", directory]);
        assert_eq!(place.canonical(directory), before);
    }
    let said = place.refused(2, &["run", "quick.toml", "--no-fast-path=no-such"]);
    assert!(said.contains("zero-queue"), "{said}");
}

/// SQL, zlib and JSON are enough to read a run.
#[test]
fn a_row_can_be_read_without_cwnd_and_the_study() {
    let place = run();
    let document = place.printed(&["export", "results/quick", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let runs = document["runs"].as_array().unwrap();
    let connection = connection(&place);
    let sql = "SELECT engine, scenarios.text, seed, content, lower(hex(key)) FROM runs \
               JOIN scenarios ON scenarios.id = scenario";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| {
        let texts: (String, Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(3)?);
        Ok((texts, row.get::<_, i64>(2)?, row.get::<_, String>(4)?))
    });
    let rows: Vec<_> = rows.unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    for ((engine, scenario, content), seed, key) in rows {
        let (scenario, content) = (inflated(&scenario), inflated(&content));
        let canonical =
            format!(r#"{},"scenario":{scenario},"seed":{seed}}}"#, engine.strip_suffix('}').unwrap());
        let digest: String = Sha256::digest(canonical).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, key);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let (scenario, content) = (value(&scenario), value(&content));
        assert_eq!(content["format"], 1);
        let algorithm = scenario["flows"][0]["algorithm"]["name"].as_str().unwrap();
        assert!(value(&engine)["versions"][algorithm].is_string(), "{engine}");
        let counts = &content["counts"];
        let seconds = (counts["end"].as_f64().unwrap() - counts["begin"].as_f64().unwrap()) / 1e9;
        let throughput = counts["flows"][0]["wire-bytes-received"].as_f64().unwrap() * 8.0 / seconds;
        let exported = runs.iter().find(|run| run["seed"] == seed && run["variant"] == algorithm).unwrap();
        assert_eq!(exported["throughput_bps"], throughput);
    }
}

fn inflated(bytes: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::ZlibDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}
