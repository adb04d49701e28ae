//! Two engines under one study, from outside, on machines with and without a laboratory of real kernels: no kernel has
//! Copa, so that its runs can be done on none.

use super::{Workplace, text};

/// A second of a slow line, on both engines.
const BOTH: &str = r#"
title = "Two engines"
question = "Do they agree?"
[scenario]
rate = "5 Mbit/s"
rtt = "20 ms"
stack = "linux"
algorithm = "cdg"
duration = "1 s"
[[axes]]
name = "buffer"
key = "buffer"
values = [20, 40, 80]
[[axes]]
name = "engine"
key = "engine"
values = ["sim", "kernel"]
"#;

/// Why the kernel's runs cannot be done here.
#[track_caller]
fn why_not(place: &Workplace) -> String {
    let checked = place.printed(&["check", "quick.toml"]);
    assert!(checked.contains("3 runs, about 3 s in real time, one by one"), "{checked}");
    let (_, why) = checked.split_once("the kernel's runs cannot be done here: ").expect("a reason");
    // `run` shows place and cell differently.
    let why = why.split(" (in `").next().unwrap_or(why).trim_end().trim_end_matches('.');
    why.split_once("flows[0].algorithm: ").map_or(why, |(_, why)| why).to_owned()
}

#[test]
fn one_engine_of_two_is_run_alone() {
    let place = Workplace::with(BOTH);
    place.printed(&["run", "quick.toml", "--engine", "sim", "--no-report"]);
    let exported = place.printed(&["export", "results/quick", "--format", "csv"]);
    assert_eq!((exported.lines().count(), exported.matches(",sim,").count()), (4, 3), "{exported}");
    assert!(!exported.contains("valid"), "{exported}");
    // What was run is there, as the command that makes it again says.
    let report = place.printed(&["report", "results/quick"]);
    assert!(report.contains("report.html"), "{report}");
    let page = std::fs::read_to_string(place.path("results/quick/report.html")).expect("a page");
    assert!(page.contains("cwnd run quick.toml --engine sim"));
}

/// What no kernel can do is wrong with the file, on every machine.
#[test]
fn what_no_kernel_can_do_is_refused_by_check_too() {
    let kernel_alone = BOTH.replace("\"sim\", \"kernel\"", "\"kernel\"");
    let place = Workplace::with(&kernel_alone.replace("stack = \"linux\"", "stack = \"ns2\""));
    for arguments in [["check", "quick.toml"], ["run", "quick.toml"]] {
        let said = place.refused(2, &arguments);
        assert!(said.contains("is not Linux's"), "{said}");
    }
}

#[test]
fn what_the_kernel_cannot_do_is_refused_with_the_reason() {
    let place = Workplace::with(BOTH);
    let why = why_not(&place);
    for arguments in [["run", "quick.toml"].as_slice(), &["run", "quick.toml", "--engine", "kernel"]] {
        let said = place.refused(2, arguments);
        assert!(said.contains(&why) && said.contains(", kernel"), "{said}");
        assert!(!place.path("results").exists());
    }
    let said = place.refused(2, &["compare", "cdg", "--engine", "kernel", "--duration", "1 s"]);
    assert!(said.contains(&why), "{said}");
}

#[test]
fn a_sample_leaves_out_loudly_what_cannot_be_run() {
    let place = Workplace::with(BOTH);
    let why = why_not(&place);
    let output = place.cwnd(&["run", "quick.toml", "--scale", "sample", "--no-report"]);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("SKIPPED: quick: 2 of 4 cells, those for kernels: "), "{said}");
    assert!(said.contains(&why), "{said}");
    let exported = place.printed(&["export", "results/quick", "--format", "csv"]);
    assert_eq!(exported.lines().count(), 3, "{exported}");
    // Nothing at all is left.
    let output = place.cwnd(&["run", "quick.toml", "--scale", "sample", "--engine", "kernel"]);
    let said = text(&output.stderr);
    assert!(output.status.success() && said.contains("SKIPPED: quick: 2 of 2 cells"), "{said}");
}

#[test]
fn what_senders_do_is_recorded_of_the_simulator_alone() {
    let place = Workplace::with(BOTH);
    let cell = ["run", "quick.toml", "--recorded-cell", "20, kernel"];
    for more in [["--qlog", "a.sqlog"].as_slice(), &["--pcap", "a.pcapng", "--pcap-link", "bottleneck"]] {
        let said = place.refused(2, &[&cell, more].concat());
        assert!(said.contains("recorded of the simulator's runs alone"), "{said}");
    }
    let said = place.refused(2, &["compare", "newreno", "--engine", "kernel", "--qlog", "a.sqlog"]);
    assert!(said.contains("recorded of the simulator's runs alone"), "{said}");
}

/// The host's own congestion controls as values of an axis, by the names that its kernel gives them.
const HOST: &str = r#"
title = "This host's own"
question = "Do its modules run as any algorithm?"
[scenario]
rate = "5 Mbit/s"
rtt = "20 ms"
stack = "linux"
duration = "1 s"
[run]
engine = "kernel"
metrics = ["throughput_bps"]
[[axes]]
name = "variant"
key = "algorithm"
values = ["reno@host", "cubic@host"]
"#;

#[test]
fn the_simulator_has_none_of_the_hosts_own() {
    let place = Workplace::with(HOST);
    for arguments in [&["check", "quick.toml", "--engine", "sim"], &["run", "quick.toml", "--engine", "sim"]]
    {
        let said = place.refused(2, arguments);
        let why = "`reno@host` is what a host's kernel calls `reno`, and the simulator has no kernel: run it with the engine";
        assert!(said.contains(why), "{said}");
    }
    let said = place.refused(2, &["compare", "cdg@host"]);
    assert!(said.contains("`cdg@host` is what a host's kernel calls `cdg`"), "{said}");
    let said =
        Workplace::with(&HOST.replace("reno@host", "reno@host:beta=1")).refused(2, &["check", "quick.toml"]);
    assert!(said.contains("`reno@host` takes no parameters here"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs root, TUN devices and ip"]
fn the_hosts_own_are_values_of_an_axis() {
    let place = Workplace::with(HOST);
    place.printed(&["run", "quick.toml", "--no-report"]);
    let exported = place.printed(&["export", "results/quick", "--format", "csv"]);
    assert_eq!(exported.matches(",done,").count(), 2, "{exported}");
    assert!(exported.contains("reno@host") && exported.contains("cubic@host"), "{exported}");
    // What no kernel has.
    let nowhere = Workplace::with(&HOST.replace("reno@host", "no_such_one@host"));
    let said = nowhere.refused(2, &["run", "quick.toml"]);
    assert!(said.contains("this kernel has no congestion control `no_such_one`: it has "), "{said}");
    assert!(said.contains("modprobe tcp_no_such_one"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs root, TUN devices and ip"]
fn packets_over_the_kernel_are_captured_while_it_runs() {
    let place = Workplace::with(&BOTH.replace("cdg", "newreno").replace("[20, 40, 80]", "[20]"));
    let captured = |name: &str| std::fs::metadata(place.path(name)).expect("a capture").len();
    place.printed(&[
        "run",
        "quick.toml",
        "--no-report",
        "--recorded-cell",
        "20, kernel",
        "--pcap",
        "a.pcapng",
    ]);
    let exported = place.printed(&["export", "results/quick", "--format", "csv"]);
    assert_eq!(exported.matches(",done,").count(), 2, "{exported}");
    // A second of 5 Mbit/s is 400 packets, each seen at both ends.
    assert!(captured("a.pcapng") > 50_000);
    let flags = ["--rate", "5 Mbit/s", "--rtt", "20 ms", "--duration", "1 s", "--topology", "path"];
    place
        .printed(&[&["compare", "newreno", "--engine", "kernel", "--pcap", "b.pcapng"], &flags[..]].concat());
    assert!(captured("b.pcapng") > 50_000);
}

#[test]
fn what_the_file_does_not_have_is_told() {
    let place = Workplace::with(&BOTH.replace("\"sim\", \"kernel\"", "\"sim\""));
    let said = place.refused(2, &["run", "quick.toml", "--engine", "kernel"]);
    assert!(said.contains("--engine: the axis `engine` has no cell for the engine `kernel`"), "{said}");
}
