use super::*;
use crate::testing::{Toy, study, traced};
use cwnd_scenario::{DeliveryTrace, Schedule};

/// The canonical text of a committed run. If this fails, keys have changed, and every stored run is run again: give a
/// renamed field its old name with `#[serde(rename)]`, or state the change in the changelog and write the file again.
#[test]
fn the_canonical_text_and_the_key_are_what_they_were() {
    let text = include_str!("../../tests/fixtures/canonical-run.json").trim_end();
    let study = study(
        r#"
title = "A study"
question = "What is its key?"
[scenario]
algorithm = "cubic:beta=0.5"
short-flows = "newreno; rate=0.3/s; size=30 KB"
rate = "10 Mbit/s"
per = 1e-4
queue = "red:min=3,ecn=on"
buffer = 40
duration = "10 s"
stack = "ns2"
access-rate = "bottleneck"
access-buffer = "bottleneck"
warm-up = "2 s"
[run]
seed = 7
"#,
    );
    let spec = RunSpec::new(&Toy::default(), &study.scenario(0, 1));
    assert_eq!(spec.canonical_text(), text);
    assert_eq!(spec.key().to_string(), "55d5d999a7e8b51f3df6ce530adf02b62e92df0b6786ca8196c88d2a157fc75b");
    // It is JSON, and the scenario in it is read as what was written.
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(value["seed"], 8);
    let scenario = Scenario { seed: 8, ..spec.scenario.parse().unwrap() };
    assert_eq!(scenario, study.scenario(0, 1).without_labels());
    assert_eq!(RunSpec::new(&Toy::default(), &scenario), spec);
}

#[test]
fn what_decides_the_outcome_decides_the_key_and_names_do_not() {
    let scenario = traced().scenario(0, 0);
    let key = |scenario: &Scenario| RunKey::of(&Toy::default(), scenario);
    let changed = |change: &dyn Fn(&mut Scenario)| {
        let mut other = scenario.clone();
        change(&mut other);
        key(&other)
    };
    let trace = |name: &str, times: &[u32]| {
        changed(&|s| {
            let trace = DeliveryTrace { name: name.to_owned(), times_ms: times.into() };
            s.network.links[0].schedule = Some(Schedule::Trace(trace));
        })
    };
    let own = key(&scenario);
    assert_eq!(changed(&|s| s.flows[0].group = Some("background".to_owned())), own);
    assert_eq!(trace("a", &[2, 5]), trace("b", &[2, 5]));
    let others = [
        changed(&|s| s.seed += 1),
        changed(&|s| s.seed = 0),
        changed(&|s| s.sample = Some(cwnd_scenario::Time(7))),
        changed(&|s| s.stack.payload += 1),
        changed(&|s| s.stack.initial_ssthresh = None),
        changed(&|s| s.flows[1].algorithm.name = "bbr".to_owned()),
        changed(&|s| _ = s.flows[1].algorithm.parameters.insert("beta".to_owned(), "0.5".to_owned())),
        changed(&|s| s.flows.swap_remove(0).short = true),
        trace("a", &[2, 5]),
        trace("a", &[2, 6]),
        RunKey::of(&Toy { newreno: 1, ..Toy::default() }, &traced().scenario(2, 0)),
        RunKey::of(&Toy::default(), &traced().scenario(2, 0)),
    ];
    let mut all: Vec<RunKey> = others.into_iter().chain([own]).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 13);
}

#[test]
fn differences_are_named_by_their_paths() {
    let scenario = traced().scenario(0, 0);
    let differences = |change: &dyn Fn(&mut Scenario)| {
        let mut other = scenario.clone();
        change(&mut other);
        let found = ScenarioText::of(&scenario).differences(&ScenarioText::of(&other));
        found
            .into_iter()
            .map(|Difference { path, values: [one, other] }| {
                format!("{path}: {} {}", one.as_deref().unwrap_or("-"), other.as_deref().unwrap_or("-"))
            })
            .collect::<Vec<_>>()
    };
    assert!(differences(&|s| s.seed += 1).is_empty());
    assert_eq!(differences(&|s| s.stack.payload = 1400), ["stack.payload: 1000 1400"]);
    assert_eq!(
        differences(&|s| {
            s.stack.sack = false;
            s.flows[1].algorithm.parameters.insert("beta".to_owned(), "0.5".to_owned());
        }),
        ["stack.sack: true false", r#"flows[1].algorithm.parameters.beta: - "0.5""#]
    );
    let [fewer] = &differences(&|s| s.flows.truncate(1))[..] else { panic!("one flow is gone") };
    assert!(fewer.starts_with(r#"flows[1]: {"algorithm":{"#) && fewer.ends_with(" -"), "{fewer}");
}

#[test]
fn a_text_that_nobody_reads_is_not_kept_and_has_the_same_key() {
    let scenario = Arc::new(traced().scenario(0, 0));
    let (written, later) =
        (RunSpec::new(&Toy::default(), &scenario), RunSpec::without_text(&Toy::default(), &scenario));
    assert_eq!(later.key(), written.key());
    assert!(matches!(&*later.scenario.0, Text::Later(_, text) if text.get().is_none()));
    assert_eq!(later, written);
    assert_eq!(later.canonical_text(), written.canonical_text());
    assert!(matches!(&*later.scenario.0, Text::Later(_, text) if text.get().is_some()));
    assert_eq!(later.key(), written.key());
}
