//! Flow sizes from a file.

use super::*;
use crate::ScenarioText;
use cwnd_scenario::Scenario;

const STUDY: &str = r#"
title = "Short flows"
question = "How long do they take?"
[scenario]
algorithm = "cubic"
rate = "10 Mbit/s"
duration = "20 s"
short-flows = "cubic; load=20 %; size=sizes.csv"
"#;

fn with(file: Result<&str, &str>) -> Result<Study, StudyError> {
    let read = |path: &str| {
        assert_eq!(path, "sizes.csv");
        file.map(str::to_owned).map_err(str::to_owned)
    };
    Study::parse_with("a-study", "a-study.toml", STUDY, &check, cwnd_experiment::Defaults::Current, &read)
}

#[test]
fn the_content_of_the_file_is_part_of_the_run() {
    let study = |text: &str| with(Ok(text)).unwrap_or_else(|error| panic!("{error}"));
    let small = study("size,probability\n1000,0.5\n20000,1\n");
    let scenario = small.scenario(0, 0);
    let sizes: Vec<u64> =
        scenario.flows.iter().filter(|flow| flow.short).filter_map(|flow| flow.bytes).collect();
    assert!(sizes.len() > 50 && sizes.iter().all(|size| (1000..=20_000).contains(size)), "{sizes:?}");
    assert!(sizes.contains(&1000), "half of the flows have the least size");
    // A longer tail, which no flow need have drawn, is another run.
    let other = study("size,probability\n1000,0.5\n20000,0.999999\n20001,1\n").scenario(0, 0);
    assert_ne!(ScenarioText::of(&scenario), ScenarioText::of(&other));
    assert_eq!(ScenarioText::of(&scenario), ScenarioText::of(&study("1000,0.5\n20000,1").scenario(0, 0)));
    let text = serde_json::to_string(&scenario).unwrap();
    assert_eq!(serde_json::from_str::<Scenario>(&text).unwrap(), scenario);
    assert_eq!(small.sizes.len(), 1);
}

#[test]
fn what_is_wrong_with_the_file_is_told_at_the_key() {
    let said = |file| with(file).expect_err("it is wrong").to_string();
    let wrong = said(Ok("size,probability\n1000,0.5\n900,1\n"));
    assert!(
        wrong.contains("`sizes.csv` is no table of sizes: line 3: the size 900 comes after 1000"),
        "{wrong}"
    );
    assert!(wrong.contains("short-flows = "), "{wrong}");
    let missing = said(Err("cannot read `sizes.csv`: no such file"));
    assert!(missing.contains("cannot read `sizes.csv`"), "{missing}");
}
