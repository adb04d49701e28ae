//! The project's own scripts, which follow from the RFCs that their comments name.

use cwnd_drill::{Settings, report, run_file};
use cwnd_scenario::LinuxVersion;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn files(name: &str, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder(name)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == extension));
    files.sort();
    files
}

#[test]
fn scripts_pass_with_the_rules_of_every_kernel() {
    let scripts = files("tests/scripts", "pkt");
    assert!(scripts.len() >= 12, "{} scripts", scripts.len());
    let mut failed = String::new();
    for kernel in [None, Some(LinuxVersion::RECORDED), Some(LinuxVersion::new(6, 18))] {
        for path in &scripts {
            let result = run_file(path, Settings { kernel, ..Settings::default() });
            if !result.as_ref().is_ok_and(cwnd_drill::Outcome::passed) {
                failed.push_str(&report::text(&path.display().to_string(), &result, true));
            }
        }
    }
    assert_eq!(failed, "");
}

#[test]
fn fixtures_of_events_pass() {
    let fixtures = files("fixtures", "events");
    assert!(fixtures.len() >= 4, "{} fixtures", fixtures.len());
    for path in fixtures {
        let text = std::fs::read_to_string(&path).unwrap();
        let result = cwnd_drill::events::run(&text);
        assert!(result.is_ok(), "{}", cwnd_drill::events::text(&path.display().to_string(), &result));
    }
}
