//! `cwnd drill`.

use crate::{cwnd, document, printed, text};
use std::path::Path;

/// The example of the how-to page: its script, and its events.
fn examples() -> (String, String) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/packetdrill.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks = page.split("```text\n").skip(1).map(|block| block.split("```").next().unwrap());
    let find = |begin: &str| blocks.clone().find(|block| block.starts_with(begin)).unwrap().to_owned();
    (find("`sysctl"), find("algorithm"))
}

#[test]
fn the_examples_of_the_page_pass_and_a_changed_one_names_the_mechanism() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (script, events) = examples();
    std::fs::write(path("a.pkt"), &script).unwrap();
    std::fs::write(path("b.events"), events).unwrap();
    let report = printed(&["drill", &path("a.pkt"), "--events", &path("b.events")]);
    assert!(report.ends_with("2 of 2 passed\n"), "{report}");

    let late = script.replace("  +0 > . 1:1001(1000) ack 1", "+.02 > . 1:1001(1000) ack 1");
    std::fs::write(path("a.pkt"), late).unwrap();
    // A folder stands for its scripts.
    let output = cwnd(&["drill", &folder.path().display().to_string()]);
    assert_eq!(output.status.code(), Some(1));
    let report = text(&output.stdout);
    for part in
        ["FAILED", "a.pkt:15:1: +.02", "expected:", "actual:", "mechanism: fast retransmit", "0 of 1 passed"]
    {
        assert!(report.contains(part), "{part} in {report}");
    }
}

#[test]
fn the_document_has_a_result_for_every_script() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cwnd-drill");
    let scripts = folder.join("tests/scripts").display().to_string();
    let events = folder.join("fixtures/newreno.events").display().to_string();
    let results = document(&["drill", "--json", "--kernel", "6.1", &scripts, "--events", &events]);
    let results = results.as_array().unwrap();
    assert_eq!(results.len(), 17);
    assert!(results.iter().all(|result| result["result"] == "passed"), "{results:?}");
}

#[test]
fn what_cannot_be_played_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pkt").display().to_string();
    std::fs::write(&path, "\n +0 fork() = 0\n").unwrap();
    let output = cwnd(&["drill", &path]);
    assert_eq!(output.status.code(), Some(1));
    let report = text(&output.stdout);
    assert!(report.contains("a.pkt:2:5: the system call `fork` is not supported"), "{report}");
    for (arguments, part) in [
        (vec!["drill"], "<SCRIPT>"),
        (vec!["drill", "--kernel", "two", &path], "`two` is not a version of Linux"),
        (vec!["drill", "no-such.pkt"], "no-such.pkt"),
    ] {
        let output = cwnd(&arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert!(said.contains(part), "{part} in {said}");
    }
}
