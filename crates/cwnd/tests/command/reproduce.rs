//! `cwnd reproduce`.

use crate::{cwnd, printed, text};

#[test]
fn without_a_name_it_lists_papers_and_studies() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("nothing");
    let list = printed(&["reproduce", "--out", out.to_str().expect("UTF-8")]);
    for part in [
        "P0 elastic: ",
        "P1 agile-sd: ",
        "throughput",
        "figure 11 a to i",
        "1638",
        "quick: runs",
        "paper: runs",
    ] {
        assert!(list.contains(part), "{part} in {list}");
    }
    assert!(!out.exists(), "a list makes nothing");
}

#[test]
fn a_wrong_name_is_told_the_right_ones() {
    let output = cwnd(&["reproduce", "agile", "--scale", "sample"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(
        said.starts_with(
            "error: there is no paper `agile`; did you mean `agile-sd`? There are elastic, agile-sd"
        ),
        "{said}"
    );
    let output = cwnd(&["reproduce", "agile-sd", "--scale", "large"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("[possible values: quick, paper, sample]"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_part_of_a_study_is_checked_and_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.toml");
    let lines = "title = \"A\"\nquestion = \"B\"\n[scenario]\nalgorithm = \"cubic\"\nrate = \"10 Mbit/s\"\nduration = \"1 s\"\n\
                 [run]\nrepeats = 3\n[quick]\nrepeats = 2\naxes = { buffer = [5, 20, 30] }\n\
                 [[axes]]\nname = \"buffer\"\nkey = \"buffer\"\nvalues = [5, 10, 20, 30]\n";
    std::fs::write(&file, lines).expect("written");
    let file = file.to_str().expect("UTF-8");
    for (scale, runs) in
        [("paper", "12 (4 cells x 3"), ("quick", "6 (3 cells x 2"), ("sample", "2 (2 cells x 1")]
    {
        let checked = printed(&["check", file, "--scale", scale]);
        assert!(checked.contains(runs), "{runs} in {checked}");
    }
    let out = folder.path().join("out");
    let out = out.to_str().expect("UTF-8");
    printed(&["run", file, "--out", out, "--scale", "quick", "--quiet"]);
    // Its results are those of a part, with the command that makes it again.
    let rows = printed(&["export", out, "--format", "csv"]);
    assert_eq!(rows.lines().count(), 7, "{rows}");
    let page = std::fs::read_to_string(format!("{out}/report.html")).expect("a page");
    assert!(
        page.contains("--scale quick")
            && page.contains("at the quick scale: of 4 scenarios with 3 repeats each")
    );
    // More of it runs only what is new.
    let more = printed(&["run", file, "--out", out, "--quiet"]);
    assert!(more.contains("6 runs done") && more.contains("6 were stored already"), "{more}");
}
