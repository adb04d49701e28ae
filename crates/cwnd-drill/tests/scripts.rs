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

/// Events that no connection can have.
#[test]
fn impossible_events_are_refused() {
    for (events, message) in [
        ("init mss=0", "mss=0: write a number of bytes from 1 to 65535"),
        ("init cwnd=inf", "cwnd=inf: write a number of segments from 1"),
        ("init rtt=0ms", "`rtt` must be more than zero"),
        ("init\nrecovered", "no episode is open that could end: `loss`, `ecn` or `timeout` begins one"),
        ("init\nundo", "there was no episode that could prove spurious"),
        ("init\nloss\nloss", "an episode is on, and this would begin another: `recovered` ends it"),
        ("init\nloss\necn", "an episode is on, and this would begin another: `recovered` ends it"),
        ("init at=2s\nidle at=3s for=2s", "`for` is longer than the connection has lasted"),
        ("init\nack acked=1 cumulative=2", "`cumulative` passes segments that were not delivered (`acked`)"),
        (
            "init\nack acked=1 marked=2",
            "`marked` is more than `acked`: marks are counted in delivered segments",
        ),
        (
            "init\nack acked=3 interval=1ms prior_delivered=4",
            "prior_delivered=4: only 3 were delivered so far",
        ),
    ] {
        match cwnd_drill::events::run(&format!("algorithm newreno\n{events}\n")) {
            Err(cwnd_drill::events::EventsError::Line(error)) => {
                assert_eq!(error.message, message, "{events}")
            }
            other => panic!("{events}: {other:?}"),
        }
    }
    // Congestion notifications become losses, a timeout can interrupt anything, and SACKed segments are acknowledged later.
    let possible = "algorithm newreno\ninit\necn\nloss\ntimeout\nloss\nrecovered\nundo\nack acked=2 cumulative=0\n\
                    ack acked=1 cumulative=3\nexpect cwnd=1~1e9\n";
    let result = cwnd_drill::events::run(possible);
    assert!(result.is_ok(), "{result:?}");
}
