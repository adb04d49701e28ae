//! Recordings: the files of `--pcap` and `--qlog`, and what is said of wrong use.

use crate::{cwnd, document, printed, text};
use std::fs;

const SHORT: [&str; 8] = ["--rate", "10 Mbit/s", "--rtt", "20 ms", "--duration", "2 s", "--buffer", "20"];

fn refused(arguments: &[&str]) -> String {
    let output = cwnd(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    text(&output.stderr)
}

#[test]
fn each_run_of_a_comparison_has_its_capture() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("run.pcapng");
    let pcap = ["--pcap", file.to_str().unwrap()];
    let one = printed(&[&["compare", "cubic"], &SHORT[..], &pcap].concat());
    assert!(one.contains(&format!("wrote {}", file.display())), "{one}");
    // The magic number of a section, and nothing left behind.
    assert_eq!(fs::read(&file).unwrap()[..4], [0x0A, 0x0D, 0x0D, 0x0A]);
    printed(&[&["compare", "cubic", "newreno", "--repeats", "2"], &SHORT[..], &pcap].concat());
    let mut names: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["run-cubic.pcapng", "run-newreno.pcapng", "run.pcapng"]);
    // The first repeat is the run of before.
    assert_eq!(fs::read(directory.path().join("run-cubic.pcapng")).unwrap(), fs::read(&file).unwrap());
}

#[test]
fn a_recording_changes_no_result() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (pcap, qlog) = (path("run.pcapng"), path("run.sqlog"));
    let arguments = [&["compare", "cubic", "--stack", "linux", "--json"], &SHORT[..]].concat();
    let mut plain = document(&arguments);
    let mut recorded = document(&[&arguments[..], &["--pcap", &pcap, "--qlog", &qlog]].concat());
    let log = fs::read_to_string(&qlog).unwrap();
    assert!(log.starts_with("\u{1e}{") && log.matches("\u{1e}").count() > 500, "{} bytes", log.len());
    for document in [&mut plain, &mut recorded] {
        strip(document);
    }
    assert_eq!(plain, recorded);
}

/// Take out what tells how it was asked for and how long it took.
fn strip(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.retain(|name, _| !name.starts_with("cpu") && name != "timing" && name != "command");
            fields.values_mut().for_each(strip);
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}

#[test]
fn wrong_use_teaches() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let compare = |more: &[&str]| refused(&[&["compare", "cubic"], &SHORT[..], more].concat());
    let file = path("x.pcapng");
    let message = compare(&["--pcap", &file, "--pcap-link", "bottle"]);
    let known =
        "error: --pcap-link: there is no link `bottle`; there are bottleneck, bottleneck-reverse, access-1";
    assert!(message.starts_with(known), "{message}");
    let message = compare(&["--pcap", &file, "--pcap-link", "bottleneck:end"]);
    assert!(message.contains("`bottleneck:leave` where they come out"), "{message}");
    let message = compare(&["--pcap", &file, "--pcap-link", "bottleneck", "--pcap-link", "bottleneck:enter"]);
    assert!(message.contains("`bottleneck:enter` is there twice"), "{message}");
    let message = compare(&["--pcap", &path("x.pcap")]);
    assert!(message.contains("ends in .pcapng; try"), "{message}");
    assert!(compare(&["--qlog", &path("x.qlog")]).contains("--qlog: cannot write"));
    assert!(compare(&["--pcap-link", "bottleneck"]).contains("--pcap <FILE>"));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_cell_of_a_study_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let study = path("study.toml");
    let text = "title = \"t\"\nquestion = \"q\"\n[scenario]\nrate = \"10 Mbit/s\"\nrtt = \"20 ms\"\nduration = \"2 s\"\n\
                [[axes]]\nname = \"variant\"\nkey = \"algorithm\"\nvalues = [\"cubic\", \"newreno\"]\n";
    fs::write(&study, text).unwrap();
    let (out, pcap) = (path("out"), path("x.pcapng"));
    let run = ["run", &study, "--out", &out, "--quiet", "--no-report", "--pcap", &pcap];
    let message = refused(&run);
    assert!(message.contains("the study has 2 cells") && message.contains("\n  newreno"), "{message}");
    let message = refused(&[&run[..], &["--recorded-cell", "reno"]].concat());
    assert!(message.contains("there is no cell `reno`; there are \n  cubic\n  newreno"), "{message}");
    let message = refused(&["run", &study, "--out", &out, "--recorded-cell", "cubic"]);
    assert!(message.contains("--recorded-cell: of what?"), "{message}");
    assert!(!fs::exists(&out).unwrap());
    let said = printed(&[&run[..], &["--recorded-cell", "newreno"]].concat());
    assert!(said.starts_with(&format!("  wrote {pcap}\n")) && said.contains("results in"), "{said}");
    assert!(fs::metadata(&pcap).unwrap().len() > 10_000);
}

#[test]
fn the_first_difference_of_two_recordings_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let record = |recovery: &str| {
        let file = directory.path().join(format!("{recovery}.sqlog")).to_str().unwrap().to_owned();
        let stack = ["compare", "cubic", "--stack", "linux", "--recovery", recovery, "--qlog", &file];
        printed(&[&stack, &SHORT[..]].concat());
        file
    };
    let (linux, rack) = (record("linux"), record("rack"));
    let same = printed(&["diff", &linux, &linux]);
    assert!(same.contains("No difference within the tolerances."), "{same}");
    let different = cwnd(&["diff", &linux, &rack, "--relative", "1 %"]);
    assert_eq!(different.status.code(), Some(1));
    assert!(text(&different.stdout).contains("First difference: "));
    assert_eq!(text(&different.stderr), "the recordings differ\n");

    let log = fs::read_to_string(&linux).unwrap();
    fs::write(&rack, &log[..log.len() - 10]).unwrap();
    assert!(refused(&["diff", &linux, &rack]).contains(&format!("{rack}:{}:", log.lines().count())));
    let capture = directory.path().join("linux.pcapng").to_str().unwrap().to_owned();
    printed(&[&["compare", "cubic", "--pcap", &capture][..], &SHORT].concat());
    let message = refused(&["diff", &linux, &capture]);
    assert!(message.contains(&format!("`{capture}` is a packet capture")), "{message}");
    assert!(message.contains("compare two qlog files, which a run writes with `--qlog FILE`"), "{message}");
    assert!(refused(&["diff", &linux, directory.path().to_str().unwrap()]).contains("is a file and"));
    assert!(refused(&["diff", &linux, &linux, "--relative", "2"]).contains("--relative: `2` is no ratio"));
}
