//! The settings of a command line: a line `key value` for each.

use crate::run;
use cwnd_experiment::{ExperimentSpec, FlowGroup, settings};

pub fn fuzz(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut spec = ExperimentSpec::default();
    let mut groups: Vec<FlowGroup> = Vec::new();
    let mut seed = 1;
    for line in text.lines().take(40) {
        let Some((key, value)) = line.split_once(' ') else { continue };
        match key {
            "flow" => match value.parse() {
                Ok(group) => groups.push(group),
                Err(_) => return,
            },
            "seed" => seed = value.len() as u64,
            // A file is read where a command names it: other targets have what is in files.
            key if matches!(settings::find(key).map(|s| s.kind), Some(settings::SettingKind::File)) => return,
            key => {
                let Some(setting) = settings::find(key) else { return };
                if let Err(why) = (setting.set)(&mut spec, value) {
                    assert!(!why.is_empty(), "`{key}` is refused without a reason");
                    return;
                }
            }
        }
    }
    if groups.is_empty() {
        groups.push(FlowGroup::new("cubic".parse().expect("an algorithm"), 1));
    }
    let Ok(scenario) = spec.scenario(&groups, seed) else { return };
    for setting in settings::SETTINGS {
        // What results show of a run.
        let _ = (setting.get)(&spec, &scenario);
    }
    run::check(&scenario);
}
