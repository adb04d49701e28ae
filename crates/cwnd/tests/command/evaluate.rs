//! `cwnd evaluate`: the instrument finds known failures, gives the same bytes, and fails where it is asked to.

use crate::{cwnd, text};
use serde_json::Value;
use std::{fs, path::Path};

/// Evaluates at the quick scale and returns the ledger.
#[track_caller]
fn ledger(directory: &Path, algorithm: &str, section: &str, more: &[&str]) -> Value {
    let out = directory.to_str().expect("UTF-8");
    let mut arguments = vec!["evaluate", algorithm, "--section", section, "--quick", "--quiet", "--json"];
    arguments.extend(["--against", "cubic", "--out", out]);
    arguments.extend(more);
    let output = cwnd(&arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a ledger")
}

/// The verdict of a criterion.
#[track_caller]
fn verdict(ledger: &Value, id: &str) -> String {
    let rows = ledger["rows"].as_array().expect("rows");
    let mut criteria = rows.iter().flat_map(|row| row["criteria"].as_array().expect("criteria"));
    let found = criteria.find(|criterion| criterion["id"] == id).expect("the criterion");
    let name = ledger["candidate"].as_str().expect("a name");
    found["effects"][name]["verdict"].as_str().expect("a verdict").to_owned()
}

#[test]
fn known_failures_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = |algorithm: &str, section: &str| {
        ledger(&folder.path().join(format!("{algorithm}-{section}")), algorithm, section, &[])
    };
    // N. Cardwell and others, and M. Hock and others (ICNP 2017): many flows of BBR v1 before a buffer of 1.5 BDP.
    assert_eq!(verdict(&of("bbr", "5.1.3"), "5.1.3-loss"), "worse");
    // J. Mo and others (INFOCOM 1999): Vegas alongside Reno.
    let vegas = of("vegas", "5.2.1");
    assert_eq!(verdict(&vegas, "5.2.1-own"), "worse");
    // D.-M. Chiu and R. Jain (1989): multiplicative increase does not converge to fair shares.
    assert_eq!(verdict(&of("scalable", "5.1.4"), "5.1.4-staggered"), "worse");
    // A scavenger gives way by design.
    let scavenger = of("ledbat-pp", "5.2.1");
    assert_eq!(verdict(&scavenger, "5.2.1-own"), "worse");
    assert_eq!(verdict(&scavenger, "5.2.1-reno"), "better");
}

#[test]
fn the_reference_is_as_itself_and_the_bytes_are_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let ledger_of = |directory: &Path, threads| ledger(directory, "cubic", "5.2.2", &["--threads", threads]);
    let document = ledger_of(&first, "1");
    assert_eq!(document, ledger_of(&second, "3"));
    for id in ["5.2.2-delay", "5.2.2-rate"] {
        assert_eq!(verdict(&document, id), "as");
    }
    for file in ["ledger-against-cubic-5.2.2.json", "index-against-cubic-5.2.2.html"] {
        let read = |directory: &Path| fs::read_to_string(directory.join(file)).expect("the file");
        // The page names the directory in the commands that record a cell again.
        let place = |directory: &Path| directory.display().to_string();
        let text = |directory: &Path| read(directory).replace(&place(directory), "DIR");
        assert_eq!(text(&first), text(&second), "{file}");
    }
    let page = fs::read_to_string(first.join("index-against-cubic-5.2.2.html")).expect("the page");
    assert!(page.contains("5.2.2-real-time/report.html") && page.contains("--recorded-cell"));
    assert!(first.join("5.2.2-real-time/report.html").is_file());
}

/// A scavenger leaves a call more than CUBIC does.
#[test]
fn a_call_gets_more_alongside_a_scavenger() {
    let folder = tempfile::tempdir().expect("a folder");
    let document = ledger(folder.path(), "ledbat-pp", "5.2.2", &[]);
    assert_eq!(verdict(&document, "5.2.2-media"), "better");
    assert_eq!(verdict(&document, "5.2.2-frames"), "better");
}

#[test]
fn an_algorithm_of_the_host_needs_the_kernel_engine() {
    let output = cwnd(&["evaluate", "my_module@host", "--section", "6.3", "--quick"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("add `--engine kernel`"), "{}", text(&output.stderr));
}

#[test]
fn it_fails_where_it_is_asked_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("vegas");
    let document = ledger(&out, "vegas", "5.2.1", &[]);
    let old = folder.path().join("old.json");
    let run = |more: &[&str]| {
        let mut arguments = vec!["evaluate", "vegas", "--section", "5.2.1", "--quick", "--quiet"];
        arguments.extend(["--against", "cubic", "--out", out.to_str().expect("UTF-8")]);
        arguments.extend(more);
        let output = cwnd(&arguments);
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, _, why) = run(&["--fail-on", "worse"]);
    assert_eq!(code, Some(1), "{why}");
    assert!(why.contains("--fail-on: 1 sections are worse"), "{why}");

    fs::write(&old, document.to_string()).expect("written");
    let old = old.to_str().expect("UTF-8");
    let (code, told, why) = run(&["--diff", old, "--fail-on", "regression"]);
    assert_eq!(code, Some(0), "{why}");
    assert!(told.contains("Nothing has changed"), "{told}");

    // Verdicts of another reference, or of another part, are others.
    let refused = |arguments: &[&str]| {
        let output = cwnd(&[&["evaluate", "vegas", "--quick", "--diff", old], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        text(&output.stderr)
    };
    let why = refused(&["--section", "5.2.1", "--against", "reno"]);
    assert!(why.contains("its reference is `cubic`, and that of this evaluation `newreno`"), "{why}");
    assert!(
        refused(&["--against", "cubic"])
            .contains("its section is `5.2.1`, and that of this evaluation `all`")
    );

    // A better past.
    let better = document.to_string().replace("\"worse\"", "\"better\"");
    fs::write(old, better).expect("written");
    let (code, told, why) = run(&["--diff", old, "--fail-on", "regression"]);
    assert_eq!(code, Some(1), "{why}");
    assert!(told.contains("worse than before"), "{told}");
    assert_eq!(run(&["--fail-on", "regression"]).0, Some(2));
    assert_eq!(cwnd(&["evaluate", "cubic", "--section", "9.9"]).status.code(), Some(2));
}

/// A class in a file is run by the package for Python, and where that is missing the command says what to install.
#[test]
fn a_class_in_a_file_needs_the_package_for_python() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.py");
    fs::write(&file, "import cwnd\n").expect("written");
    let class = format!("{}:Aimd", file.display());
    let evaluate = |path: &Path| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_cwnd"))
            .args(["evaluate", &class, "--section", "6.3", "--quick"])
            .current_dir(folder.path())
            .env("PATH", path)
            .env_remove("PYTHONPATH")
            .output()
            .expect("the program runs");
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    // No Python at all.
    let told = evaluate(folder.path());
    assert!(told.contains("`python3` cannot be started") && told.contains("pip install ."), "{told}");

    // A Python without the package: an environment of its own has none.
    let environment = folder.path().join("environment");
    let made = std::process::Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(&environment)
        .output();
    if made.is_ok_and(|made| made.status.success()) {
        let told = evaluate(&environment.join("bin"));
        assert!(told.contains("No module named 'cwnd'") && told.contains("pip install ."), "{told}");
    }

    let output = cwnd(&["evaluate", "./mine.py", "--quick"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("name the class as well"), "{}", text(&output.stderr));
}

#[test]
fn a_file_of_parameters_is_evaluated() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.toml");
    fs::write(&file, "name = \"cubic\"\nbeta = 0.8\n").expect("written");
    let document = ledger(&folder.path().join("out"), file.to_str().expect("UTF-8"), "6.3", &[]);
    assert_eq!(document["candidate"], "cubic:beta=0.8");
    assert_eq!(document["rows"].as_array().expect("rows").len(), 1);
}

/// Section 7.10 is not applicable to one algorithm, and has no studies that make the directory.
#[test]
fn a_section_without_studies_has_a_ledger() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("not").join("there");
    let document = ledger(&out, "elastic", "7.10", &[]);
    assert_eq!(document["rows"].as_array().expect("rows").len(), 1);
    for file in ["ledger-against-cubic-7.10.json", "index-against-cubic-7.10.html"] {
        assert!(out.join(file).is_file(), "{file}");
    }
}
