use super::*;

/// A study with few runs.
fn small() -> Workplace {
    Workplace::with(&STUDY.replace("repeats = 4", "repeats = 1"))
}

#[test]
fn a_study_with_mistakes_writes_nothing() {
    let place = Workplace::with(&STUDY.replace("agile-sd", "agile-ds"));
    let said = place.refused(2, &["run", "quick.toml"]);
    assert!(said.starts_with("error: ") && said.contains("did you mean `agile-sd`?"), "{said}");
    let said = place.refused(2, &["run", "nowhere.toml"]);
    assert!(said.starts_with("error: cannot read the study `nowhere.toml`"), "{said}");
    assert_eq!(files(place.directory.path()), ["quick.toml"]);
}

#[test]
fn flags_are_checked() {
    let place = small();
    for (arguments, expected) in [
        (&["run", "quick.toml", "--threads", "0"][..], "--threads"),
        (&["run", "quick.toml", "--repeats", "0"], "--repeats"),
        (&["run", "quick.toml", "--repeats", "-3"], "--repeats"),
        (&["run", "quick.toml", "--executor", "dask://a:8786"], "pip install 'cwnd[dask]'"),
        (&["run", "quick.toml", "--executor", "ray", "--threads", "2"], "cannot be used with"),
        (&["export", "nowhere"], "there are no results; `cwnd run STUDY --out DIR` makes them"),
        (&["export", "x", "--format", "parquet"], "--out FILE.parquet"),
        (&["export", "x", "--canonical", "--format", "parquet", "--out", "a.parquet"], "--format csv"),
        (&["export", "x", "--out", "table.xlsx"], "end it in .csv, .parquet or .json"),
        (&["diff", "nowhere", "elsewhere"], "there are no results"),
    ] {
        let said = place.refused(2, arguments);
        assert!(said.starts_with("error: ") && said.contains(expected), "{arguments:?}: {said}");
    }
    assert_eq!(files(place.directory.path()), ["quick.toml"]);
    let too_large = STUDY.replace("flows = 2", "flows = 10").replace("20 Mbit/s", "10 Tbit/s");
    let place = Workplace::with(&too_large.replace("[5, 25, 100, 400]", "[5, 25, \"100000 BDP\"]"));
    let said = place.refused(2, &["run", "quick.toml"]);
    assert!(said.starts_with("error: "), "{said}");
    assert_eq!(files(place.directory.path()), ["quick.toml"]);
}

#[test]
fn a_directory_of_another_study_is_left_alone() {
    let place = small();
    fs::copy(place.path("quick.toml"), place.path("other.toml")).unwrap();
    place.printed(&["run", "quick.toml", "--quiet"]);
    let before = place.canonical("results/quick");
    let said = place.refused(2, &["run", "other.toml", "--out", "results/quick"]);
    assert_eq!(
        said,
        "error: `results/quick` has the results of another study, `quick`; choose another directory with --out\n"
    );
    assert_eq!(place.canonical("results/quick"), before);
}

#[test]
fn what_is_no_store_is_left_alone() {
    let place = small();
    fs::create_dir_all(place.path("results/quick")).unwrap();
    let database = place.path("results/quick/results.sqlite");
    let noise = "this is a diary\n".repeat(1000);
    fs::write(&database, &noise).unwrap();
    let said = place.refused(2, &["run", "quick.toml"]);
    let expected =
        "error: `results/quick/results.sqlite`: it is no SQLite database; choose another directory\n";
    assert_eq!(said, expected);
    assert_eq!(place.refused(2, &["export", "results/quick"]), expected);
    assert_eq!(fs::read_to_string(&database).unwrap(), noise);
}

/// The version is at byte 60 of the file's header, big-endian.
#[test]
fn a_store_of_a_later_version_is_left_alone() {
    let place = small();
    place.printed(&["run", "quick.toml", "--quiet"]);
    let database = place.path("results/quick/results.sqlite");
    let mut bytes = fs::read(&database).unwrap();
    bytes[63] += 1;
    fs::write(&database, &bytes).unwrap();
    for arguments in [&["run", "quick.toml"][..], &["export", "results/quick"]] {
        let said = place.refused(2, arguments);
        assert!(said.contains("it was made by a later version of cwnd (its schema is version 4"), "{said}");
    }
    assert_eq!(fs::read(&database).unwrap(), bytes);
}

#[test]
fn a_torn_store_is_told_and_left_alone() {
    let place = Workplace::new();
    place.printed(&["run", "quick.toml", "--quiet"]);
    let before = place.canonical("results/quick");
    let database = place.path("results/quick/results.sqlite");
    let whole = fs::read(&database).unwrap();
    let mut torn = whole.clone();
    let middle = torn.len() / 2 / 4096 * 4096;
    torn[middle..middle + 4096].fill(0x5a);
    fs::write(&database, &torn).unwrap();
    let said = place.refused(1, &["run", "quick.toml"]);
    assert!(
        said.contains("results.sqlite`: it is damaged, or the disk failed to read it (")
            && said.contains("Nothing has been changed"),
        "{said}"
    );
    assert!(said.contains("mv results/quick/results.sqlite results/quick/results.sqlite.damaged"), "{said}");
    assert_eq!(fs::read(&database).unwrap(), torn);
    // What it says helps.
    fs::rename(&database, place.path("results/quick/results.sqlite.damaged")).unwrap();
    place.printed(&["run", "quick.toml", "--quiet"]);
    assert_eq!(place.canonical("results/quick"), before);
}

#[test]
fn a_torn_trace_is_told_and_made_again() {
    let place = small();
    place.printed(&["run", "quick.toml", "--quiet"]);
    let before = place.canonical("results/quick");
    let name = &files(&place.path("results/quick/traces"))[0];
    let path = place.path("results/quick/traces").join(name);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let output = place.cwnd(&["run", "quick.toml"]);
    let said = text(&output.stderr);
    assert!(said.starts_with("note: ") && said.contains("is torn, or was changed"), "{said}");
    assert!(text(&output.stdout).contains("1 run done in "), "{}", text(&output.stdout));
    assert_eq!(place.canonical("results/quick"), before);
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

/// Tears the trace of a run, so that its row cannot be used.
fn with_a_torn_trace() -> Workplace {
    let figure = "\n[[figures]]\nname = \"windows\"\ntitle = \"Windows\"\nkind = \"trace\"\nshow = [\"cwnd\"]\nseries = \"variant\"\n";
    let place = Workplace::with(
        &(STUDY.replace("repeats = 4", "repeats = 1") + figure + "where = { buffer = 25 }\n"),
    );
    place.printed(&["run", "quick.toml", "--quiet"]);
    for name in files(&place.path("results/quick/traces")) {
        let path = place.path("results/quick/traces").join(name);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    }
    place
}

#[test]
fn an_export_with_runs_that_cannot_be_used_fails_and_names_them() {
    let place = with_a_torn_trace();
    let to_file: &[&str] = &["export", "results/quick", "--out", "table.csv"];
    for arguments in [&["export", "results/quick"], to_file] {
        let output = place.cwnd(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[0], "error: the table is incomplete: the store has 3 runs that cannot be used");
        assert!(lines[1].starts_with("  agile-sd, 25 (seed ") && lines.len() == 4, "{said}");
        for line in &lines[1..] {
            assert!(
                line.contains("is torn, or was changed; `cwnd run quick.toml")
                    && line.ends_with("runs it again")
            );
        }
    }
    // The other runs are there.
    let table = fs::read_to_string(place.path("table.csv")).unwrap();
    assert_eq!((table.matches(",done,").count(), table.matches(",failed,").count()), (9, 3));
}

#[test]
fn a_report_says_that_a_trace_is_damaged() {
    let place = with_a_torn_trace();
    place.printed(&["report", "results/quick", "--out", "report.html"]);
    let page = fs::read_to_string(place.path("report.html")).unwrap();
    assert!(!page.contains("no samples were recorded"));
    let caption = page.find("Missing: ").map(|at| &page[at..at + 400]).expect("it says what is missing");
    assert!(caption.contains("is torn, or was changed") && caption.contains("runs it again"), "{caption}");
}

/// The stem of `...toml` is `..`.
#[test]
fn results_stay_in_their_directory_whatever_the_study_is_called() {
    let place = small();
    let inner = place.path("inner");
    fs::create_dir(&inner).unwrap();
    fs::copy(place.path("quick.toml"), inner.join("...toml")).unwrap();
    let run =
        place.command(&["run", "...toml", "--quiet"]).current_dir(&inner).output().expect("cwnd starts");
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(files(&inner), ["...toml", "results"]);
    assert_eq!(files(&inner.join("results")), ["...toml"]);
    assert_eq!(files(place.directory.path()), ["inner", "quick.toml"]);
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_no_success() {
    let place = small();
    place.printed(&["run", "quick.toml", "--quiet"]);
    for arguments in [
        &["export", "results/quick"] as &[&str],
        &["export", "results/quick", "--format", "json"],
        &["diff", "results/quick", "results/quick"],
        &["check", "quick.toml"],
        &["run", "quick.toml", "--quiet"],
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = place.command(arguments).stdout(full).output().expect("cwnd starts");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("cannot write to standard output: "), "{arguments:?}: {said}");
    }
}
