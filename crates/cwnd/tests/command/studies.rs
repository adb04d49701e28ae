//! `cwnd check`, `cwnd schema` and `cwnd metrics`.

use std::{path::Path, process::Command};

use crate::{command, cwnd, document, printed, text};

const THROUGHPUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/agile-sd/throughput.toml");

#[test]
fn a_study_is_checked_without_a_run() {
    let checked = printed(&["check", THROUGHPUT, "--threads", "2"]);
    for part in [
        "agile-sd/throughput",
        "1638 (378 cells x 5 repeats, 63 of them once)",
        "on 2 threads",
        "Nothing is wrong",
    ] {
        assert!(checked.contains(part), "{part} in {checked}");
    }
}

#[test]
fn what_is_wrong_has_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wrong.toml");
    let lines = "title = \"A\"\nquestion = \"B\"\n[scenario]\nalgorithm = \"cubik\"\nbufer = 5\n";
    std::fs::write(&file, lines).expect("written");
    let output = cwnd(&["check", file.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    for part in [
        "error: there is no algorithm `cubik`; did you mean `cubic`?",
        "wrong.toml:4:13",
        "wrong.toml:5:1",
        "did you mean `buffer`?",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert!(output.stdout.is_empty());
}

#[test]
fn what_an_engine_refuses_has_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("clock.toml");
    let lines = "title = \"A\"\nquestion = \"B\"\n[scenario]\nalgorithm = \"cubic\"\n\
                 [[axes]]\nname = \"hz\"\nkey = \"timer-hz\"\nvalues = [250, 2000000000]\n";
    std::fs::write(&file, lines).expect("written");
    for name in ["check", "run"] {
        let mut command = command(&[name, file.to_str().expect("UTF-8")]);
        let output = command.current_dir(&folder).output().expect("it ran");
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        for part in [
            "error: `timer-hz`: is 2000000000; it must be 0 to 1000000",
            "clock.toml:8:16",
            "8 | values = [250, 2000000000]",
            "help: in the cell `2000000000`",
        ] {
            assert!(said.contains(part), "{part} in {said}");
        }
    }
    assert!(!folder.path().join("results").exists());
}

#[test]
fn what_has_no_effect_is_noted() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("idle.toml");
    let lines = "title = \"A\"\nquestion = \"B\"\n[scenario]\nalgorithm = \"cubic\"\nduration = \"20 s\"\nrate = \"2 Mbit/s\"\n\
                 schedule = \"25 s: 5 Mbit/s\"\n[[axes]]\nname = \"name\"\nkey = \"candidate\"\nvalues = [\"bbr\", \"elastic\"]\n";
    std::fs::write(&file, lines).expect("written");
    let output = cwnd(&["check", file.to_str().expect("UTF-8")]);
    assert!(output.status.success());
    let notes = "note: the axis `name` has no effect: the runs are equal along it\n\
                 note: the step at 25 s of `schedule` has no effect: the run ends at 20 s\n";
    assert_eq!(text(&output.stderr), notes);
    let arguments =
        ["compare", "cubic", "--rate", "1 Mbit/s", "--duration", "1 s", "--schedule", "2 s: 5 Mbit/s"];
    let said = text(&cwnd(&arguments).stderr);
    assert!(
        said.starts_with("note: the step at 2 s of `schedule` has no effect: the run ends at 1 s\n"),
        "{said}"
    );
}

#[test]
fn the_schema_knows_the_algorithms() {
    let schema = document(&["schema"]);
    let names = &schema["$defs"]["setting"]["algorithm"]["anyOf"][0]["examples"];
    assert!(names.as_array().expect("names").contains(&serde_json::json!("agile-sd")));
}

#[test]
fn metrics_are_listed_and_told() {
    assert!(printed(&["metrics"]).contains("time_to_cwnd_max_s"));
    assert!(printed(&["metrics", "flow2.throughput_bps"]).contains("wire bytes"));
    let output = cwnd(&["metrics", "thoughput"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("did you mean `throughput_bps`?"));
}

#[test]
fn nothing_is_wrong_with_any_study_of_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // The repository does not keep the delivery traces that `studies/networks` uses.
    let made = Command::new(env!("CARGO")).args(["xtask", "traces"]).current_dir(&root).output();
    let made = made.expect("cargo starts");
    assert!(made.status.success(), "{}", text(&made.stderr));
    let mut folders = vec![root.join("studies")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder of studies") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "toml")
                && !path.ends_with("paper.toml")
                && !path.ends_with("criteria.toml")
            {
                printed(&["check", path.to_str().expect("a plain path")]);
                files += 1;
            }
        }
    }
    assert!(files >= 6, "{files}");
}

#[test]
fn networks_are_listed_and_told() {
    let list = printed(&["networks"]);
    for name in ["fq-codel", "gilbert-elliott", "sometimes", "parking-lot"] {
        assert!(list.contains(name), "{name} in {list}");
    }
    assert!(printed(&["networks", "dualpi2"]).contains("RFC 9332"));
    let page = printed(&["networks", "--markdown"]);
    // A test of `cwnd-experiment` compares it with the committed page.
    assert!(page.starts_with("# Networks\n") && page.contains("\n### dualpi2\n"), "{page}");
    let kinds = document(&["networks", "--json"]);
    let red = kinds["kinds"].as_array().expect("kinds").iter().find(|kind| kind["name"] == "red");
    assert_eq!(red.expect("RED")["parameters"][0]["default"], "5");
    let output = cwnd(&["networks", "coddel"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("did you mean `codel`?"));
}

#[test]
fn the_network_of_a_cell_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("network.svg");
    let file = file.to_str().expect("UTF-8");
    let study = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/networks/parking-lot.toml");
    let said = printed(&["check", study, "--topology", file, "--cell", "cubic, 5"]);
    assert!(said.ends_with(&format!("  wrote {file}\n\n")), "{said}");
    let svg = std::fs::read_to_string(file).expect("written");
    assert!(svg.starts_with("<svg") && svg.contains(">hop-5</text>") && !svg.contains("hop-6"));
    printed(&["check", study, "--topology", file, "--cell", "1"]);
    assert!(!std::fs::read_to_string(file).expect("written").contains("hop-2"));
    for (arguments, part) in [
        (
            ["--topology", file, "--cell", "cubic, 6"],
            "--cell: no cell is called `cubic, 6`; did you mean `cubic,",
        ),
        (["--topology", file, "--cell", "99"], "--cell: the study has cells 1 to 16"),
        (["--topology", "network.gif", "--cell", "1"], "--topology: cannot write `network.gif`"),
    ] {
        let output = cwnd(&[&["check", study][..], &arguments].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(part), "{}", text(&output.stderr));
    }
}
