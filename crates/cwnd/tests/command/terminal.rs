//! What depends on the terminal: the width of tables and texts, sketches, and questions.

use crate::{command, printed, text};
use std::{fs, path::Path, process::Stdio};

const COMPARISON: [&str; 8] =
    ["compare", "cubic", "bbr", "--rate", "10 Mbit/s", "--duration", "5 s", "--quiet"];

/// The output at this number of columns.
#[track_caller]
fn printed_in(columns: usize, arguments: &[&str]) -> String {
    let output = command(arguments).env("COLUMNS", columns.to_string()).output().expect("cwnd starts");
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn everything_fits_the_columns() {
    let study = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/matrix.toml");
    for arguments in [
        &COMPARISON[..],
        &["algorithms"],
        &["algorithms", "cubic"],
        &["metrics"],
        &["metrics", "throughput_bps"],
        &["networks"],
        &["networks", "codel"],
        &["check", study],
        &["reproduce"],
        &["lab", "doctor"],
        #[cfg(feature = "kernel")]
        &["kernel", "list"],
        #[cfg(feature = "kernel")]
        &["kernel", "status"],
    ] {
        for columns in [80, 100, 160] {
            let text = printed_in(columns, arguments);
            let long = text.lines().find(|line| line.chars().count() > columns);
            assert_eq!(long, None, "{arguments:?} in {columns} columns");
        }
    }
}

#[test]
fn a_difference_fits_the_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let keep =
        |name: &str, more: &[&str]| printed(&[&COMPARISON[..], &["--save", &path(name)], more].concat());
    keep("a", &["--repeats", "3", "--per", "1e-3"]);
    // Two of the three seeds are the same: a note says which runs have no partner.
    keep("b", &["--repeats", "3", "--per", "1e-3", "--seed", "2", "--buffer", "20"]);
    for columns in [80, 100, 160] {
        let mut command = command(&["diff", "a", "b", "--all"]);
        let output = command.current_dir(&folder).env("COLUMNS", columns.to_string()).output().unwrap();
        let text = text(&output.stdout);
        assert!(text.contains("throughput_bps") && text.contains("Note: "), "{text}");
        let long = text.lines().find(|line| line.chars().count() > columns);
        assert_eq!(long, None, "{columns} columns");
    }
}

#[test]
fn what_is_left_out_is_named_and_a_pipe_has_all() {
    let narrow = printed_in(80, &COMPARISON);
    assert!(narrow.contains("  left out at 80 columns: timeouts, resent, goodput; COLUMNS="), "{narrow}");
    let whole = printed(&COMPARISON);
    assert!(!whole.contains("left out"), "{whole}");
    let heading = whole.lines().nth(1).unwrap_or_default();
    for column in ["goodput", "queue p95", "queue p99", "resent", "timeouts"] {
        assert!(heading.contains(column), "{column} in {heading}");
    }
}

#[test]
fn a_sketch_is_drawn_where_it_is_asked_for() {
    let braille = |text: &str| text.contains(|c: char| ('\u{2801}'..='\u{28ff}').contains(&c));
    assert!(!braille(&printed(&COMPARISON)), "a pipe has none");
    for (what, title) in
        [("cwnd", "cwnd, packets over time"), ("throughput", "throughput (payload) over time")]
    {
        let text = printed_in(80, &[&COMPARISON[..], &["--sketch", what]].concat());
        assert!(braille(&text) && text.contains(title), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    assert!(!braille(&printed(&[&COMPARISON[..], &["--sketch", "none"]].concat())));
    let output = command(&[&COMPARISON[..], &["--sketch", "cwnd", "--json"]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn runs_with_too_many_samples_are_not_sampled_unasked() {
    // 1000 flows over 200 s are two million samples; the study would last, and is only printed.
    let many = ["compare", "cubic", "--flows", "1000", "--duration", "200 s", "--print-study"];
    assert!(!printed(&many).contains("queue_delay_p95_s"));
    let asked = |arguments: &[&str]| printed(&[&["compare", "cubic", "--print-study"], arguments].concat());
    assert!(asked(&[]).contains("\"bottleneck.link_queue_delay_p95_s\""));
    assert!(asked(&["--topology", "parking-lot"]).contains("\"hop-1.link_queue_delay_p95_s\""));
}

#[test]
fn sockets_of_a_kernel_are_not_asked_more_often_than_each_millisecond_unasked() {
    let short = ["compare", "newreno", "--topology", "path", "--rtt", "1 ms", "--duration", "100 ms"];
    let sample =
        |engine| printed(&[&short[..], &["--engine", engine, "--trace", "x.csv", "--print-study"]].concat());
    assert!(sample("sim").contains("sample = \"100 us\""), "{}", sample("sim"));
    assert!(sample("kernel").contains("sample = \"1 ms\""), "{}", sample("kernel"));
}

#[test]
fn a_new_study_passes_its_check_and_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let new = |arguments: &[&str]| {
        let mut command = command(&[&["new"], arguments].concat());
        command.stdin(Stdio::null()).output().expect("cwnd starts")
    };
    let said = new(&[&path("a"), "--algorithms", "cubic,agile-sd:lambda_max=4,beta2=0.9", "--rtt", "20 ms"]);
    assert!(said.status.success(), "{}", text(&said.stderr));
    let study = path("a.toml");
    assert!(text(&said.stdout).starts_with(&format!("wrote {study}\n")));
    assert!(printed(&["check", &study]).contains("Nothing is wrong with it."));
    let out = path("out");
    assert!(printed(&["run", &study, "--quiet", "--out", &out, "--repeats", "2"]).contains("12 runs done"));
    let before = fs::read_to_string(&study).unwrap();
    let again = new(&[&path("a")]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).ends_with("is there already, and is not overwritten: choose another name\n"));
    assert_eq!(fs::read_to_string(&study).unwrap(), before);
    for (arguments, part) in [
        (&[path("none/a").as_str()][..], "there is no directory `"),
        (&[path("b").as_str(), "--algorithms", "cubik"], "did you mean `cubic`?"),
        (
            &[path("b").as_str(), "--rate", "unlimited"],
            "a bottleneck has a rate: write `10 Mbit/s`, for example",
        ),
        (&[path("b").as_str(), "--rtt", "5"], "a time needs a unit: write `5 ms`, for example"),
        (&["/"], "is not the name of a file"),
    ] {
        let output = new(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(part), "{arguments:?}: {}", text(&output.stderr));
    }
    assert!(!Path::new(&path("b.toml")).exists());
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let commands = ["compare", "new", "check", "run", "report", "reproduce", "diff", "completions", "man"];
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(&["completions", shell]);
        assert!(commands.iter().all(|name| script.contains(name)), "{shell}");
        assert!(script.contains("buffer"), "{shell} has the flags");
    }
    let page = printed(&["man"]);
    assert!(page.contains(".TH cwnd 1") && page.contains("cwnd\\-compare(1)"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("man1");
    printed(&["man", "--out", out.to_str().unwrap()]);
    for name in commands {
        let page = fs::read_to_string(out.join(format!("cwnd-{name}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
    }
}

/// A program in the place of the system's opener keeps what it is given.
#[cfg(target_os = "linux")]
#[test]
fn a_page_is_opened_with_the_systems_program() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let opened = path("opened");
    fs::write(
        path("xdg-open"),
        format!("#!/bin/sh\necho \"$1\" > {opened}.part\nmv {opened}.part {opened}\n"),
    )
    .unwrap();
    fs::set_permissions(path("xdg-open"), fs::Permissions::from_mode(0o755)).unwrap();
    let search = format!("{}:/usr/bin:/bin", folder.path().display());
    let save = path("kept");
    for arguments in [
        &[&COMPARISON[..], &["--open", "--save", &save]].concat()[..],
        &["report", &save, "--quiet", "--open"],
    ] {
        let output = command(arguments).env("PATH", &search).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        // It is not waited for.
        while !Path::new(&opened).exists() {
            std::thread::yield_now();
        }
        assert_eq!(fs::read_to_string(&opened).unwrap().trim(), format!("{save}/report.html"));
        fs::remove_file(&opened).unwrap();
    }
    let nothing = command(&["report", &save, "--quiet", "--open"]).env("PATH", path("")).output().unwrap();
    assert_eq!(nothing.status.code(), Some(1));
    assert!(text(&nothing.stderr).starts_with("error: --open: nothing opens `"), "{}", text(&nothing.stderr));
}
