//! `cwnd advise`: its table, its study, what it reads, and what it refuses.

use crate::{cwnd, document, printed, text};
use std::fs;

/// A slow path and short runs, so that a test takes a moment.
const SMALL: &[&str] = &[
    "advise",
    "--rate",
    "4Mbit/s",
    "--rtt",
    "20ms",
    "--loss",
    "0.01%",
    "--buffer",
    "0.5BDP",
    "--duration",
    "6s",
    "--warm-up",
    "1s",
    "--repeats",
    "3",
    "--quiet",
];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [SMALL, more].concat()
}

#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = cwnd(arguments);
    let message = text(&output.stderr);
    assert_eq!(
        (output.status.code(), text(&output.stdout)),
        (Some(2), String::new()),
        "{arguments:?}: {message}"
    );
    message.strip_prefix("error: ").unwrap_or(&message).to_owned()
}

/// Returns the tables, without what depends on the host: the last column, and what is to be set.
fn without_host(text: &str) -> String {
    let (tables, _) =
        text.split_once("  To apply it").or_else(|| text.split_once("  This host has")).expect("an end");
    let (tables, _) = tables.split_once("  Use ").expect("a recommendation");
    let words = ["yes", "modprobe", "cwnd kernel load", "no", "on this host"];
    let line = |line: &str| {
        let line = line.trim_end_matches('─').trim_end();
        let cut = words.iter().find_map(|word| line.strip_suffix(word)).unwrap_or(line);
        format!("{}\n", cut.trim_end())
    };
    tables.lines().map(line).collect()
}

#[test]
fn the_tables_of_a_small_case() {
    let text = printed(&small(&["--algorithms", "cubic-linux,newreno,bbr,copa", "--short-flows", "web"]));
    insta::assert_snapshot!(without_host(&text));
}

#[test]
fn a_score_of_several_quantities_has_its_definition() {
    let text = printed(&small(&["--algorithms", "cubic-linux,vegas", "--for", "throughput=2,rtt=1"]));
    assert!(
        text.contains(
            "Ranked by throughput^2 / rtt in Mbit/s and ms, more is better (--for throughput=2,rtt=1)"
        ),
        "{text}"
    );
    assert!(text.contains("score"), "{text}");
}

#[test]
fn the_document_has_base_units_and_both_harms() {
    let document = document(&small(&["--algorithms", "cubic-linux,vegas", "--for", "interactive", "--json"]));
    assert_eq!(document["path"]["rate_bps"], 4_000_000);
    assert_eq!(document["path"]["base_rtt_s"], 0.02);
    assert_eq!(document["path"]["bdp_bytes"], 10_000.0);
    assert_eq!(document["path"]["quantities"]["buffer"]["source"], "given by --buffer");
    assert_eq!(document["criterion"]["better"], "less");
    let ranking = document["ranking"].as_array().expect("a ranking");
    assert_eq!(ranking.len(), 2);
    // Less is better.
    assert_eq!(ranking[0]["as_good_as_first"], true);
    let rtts: Vec<f64> = ranking.iter().filter_map(|row| row["rtt_p95_s"]["mean"].as_f64()).collect();
    assert!(rtts.len() == 2 && rtts[0] <= rtts[1] && rtts[0] > 0.02, "{rtts:?}");
    // The harm is that of the metric's formula, for each pair of runs; CUBIC beside itself has no verdict of more.
    let cubic = ranking.iter().find(|row| row["algorithm"] == "cubic-linux").expect("CUBIC");
    assert_eq!(cubic["cubic_beside"]["throughput_harm"], document["cubic_beside_cubic"]["throughput_harm"]);
    assert_eq!(cubic["cubic_beside"]["throughput_harm_than_cubic"], "same");
    let harm = document["cubic_beside_cubic"]["throughput_harm"]["mean"].as_f64().expect("a harm");
    assert!((0.2..0.8).contains(&harm), "{harm}");
}

/// The table, the document and the study name all that makes the path, and what of the runs is counted.
#[test]
fn every_setting_of_the_path_is_stated() {
    let given = [
        ("queue", "fq-codel"),
        ("jitter", "uniform:5 ms"),
        ("policer", "3 Mbit/s, 100 KB"),
        ("reverse-rate", "1 Mbit/s"),
        ("mtu", "9000"),
    ];
    let flags: Vec<String> =
        given.iter().flat_map(|(key, value)| [format!("--{key}"), (*value).to_owned()]).collect();
    let flags: Vec<&str> = flags.iter().map(String::as_str).chain(["--algorithms", "newreno"]).collect();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words(&printed(&small(&flags)));
    let document = document(&small(&[&flags[..], &["--json"]].concat()));
    let study = printed(&small(&[&flags[..], &["--print-study"]].concat()));
    for (key, value) in given {
        assert!(text.contains(&format!("{key} {value} given by --{key}")), "{key}: {text}");
        assert_eq!(document["path"]["settings"][key]["value"], value);
        assert!(study.contains(&format!("\"{key}: {value} (given by --{key})\",")), "{key}: {study}");
    }
    assert!(
        text.contains("for 6 s, of which 1 s is a warm-up that is not counted, from each of 3 seeds"),
        "{text}"
    );
    assert_eq!(document["warm_up_s"], 1.0);
}

#[test]
fn the_recommendation_claims_only_what_was_found() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let one = words(&printed(&small(&["--algorithms", "cubic-linux"])));
    assert!(
        one.contains("It is the only candidate.")
            && one.contains("Use cubic-linux: it is the only candidate."),
        "{one}"
    );
    assert!(!one.contains("overlap") && !one.contains("better than"), "{one}");

    let lost = ["--loss", "1", "--algorithms", "cubic-linux,newreno"];
    let lost: Vec<&str> =
        small(&[]).into_iter().filter(|word| !["--loss", "0.01%"].contains(word)).chain(lost).collect();
    let none = words(&printed(&lost));
    assert!(none.contains("Nothing is recommended: every throughput is 0"), "{none}");
    assert!(!none.contains("equally good") && !none.contains("as good") && !none.contains("Use "), "{none}");
    let document = document(&[&lost[..], &["--json"]].concat());
    assert!(document["recommended"].is_null(), "{document}");
    assert!(document["because"].as_str().unwrap().starts_with("every throughput is 0"), "{document}");
}

#[test]
fn the_study_that_is_printed_gives_the_same_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let flags = ["--algorithms", "newreno", "--for", "web"];
    let study = printed(&small(&[&flags[..], &["--print-study"]].concat()));
    assert!(study.contains("stack = \"linux\"") && study.contains("rate = \"4Mbit/s\""), "{study}");
    assert!(study.contains("short-flows = \"newreno; load=10 %; size=pareto 30 KB shape 1.2\""), "{study}");
    fs::write(path("advise.toml"), study).unwrap();
    let saved = path("saved");
    printed(&small(&[&flags[..], &["--save", &saved]].concat()));
    let table = |directory: &str| printed(&["export", directory, "--format", "csv", "--canonical"]);
    printed(&["run", &path("advise.toml"), "--out", &path("run"), "--quiet"]);
    assert_eq!(table(&saved), table(&path("run")));
    // Nothing is run again.
    let again = small(&[&flags[..], &["--save", &saved]].concat());
    let again: Vec<&str> = again.into_iter().filter(|word| *word != "--quiet").collect();
    assert!(!text(&cwnd(&again).stderr).contains("to do"));
}

/// Flags with which a recommendation takes little time.
const SHORT: [&str; 10] =
    ["--algorithms", "newreno", "--duration", "2s", "--warm-up", "1s", "--repeats", "2", "--json", "--quiet"];

#[test]
fn a_file_gives_the_path_and_flags_replace_it() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/advise/ss.txt");
    let of = |more: &[&str]| document(&[&["advise", "--from", file][..], &SHORT, more].concat());
    let whole = of(&[]);
    assert!(whole["path"]["from"].as_str().unwrap().starts_with("ss, 4 snapshots of "));
    let rate = whole["path"]["rate_bps"].as_f64().unwrap();
    assert!((9.5e6..10.5e6).contains(&rate), "{rate}");
    let stated = of(&["--rate", "3 Mbit/s", "--loss", "0"]);
    assert_eq!(stated["path"]["rate_bps"], 3_000_000);
    assert_eq!(stated["path"]["quantities"]["loss"]["source"], "given by --loss");
    assert_eq!(stated["path"]["base_rtt_s"], whole["path"]["base_rtt_s"]);
}

/// cwnd's own capture of a known path: Ethernet and pcapng.
#[test]
fn a_capture_of_a_simulated_path_gives_this_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("path.pcapng");
    let file = file.to_str().unwrap();
    let flags = [
        "--rate",
        "10 Mbit/s",
        "--rtt",
        "40 ms",
        "--buffer",
        "1 BDP",
        "--duration",
        "10 s",
        "--topology",
        "path",
    ];
    printed(&[&["compare", "newreno", "--stack", "linux", "--pcap", file, "--quiet"], &flags[..]].concat());
    let path = document(&[&["advise", "--from", file][..], &SHORT].concat())["path"].clone();
    let number = |name: &str| path[name].as_f64().unwrap_or_else(|| panic!("{path}"));
    // The ACK that ends a recovery acknowledges what came in a round trip or two.
    assert!((9.4e6..10.6e6).contains(&number("rate_bps")), "{path}");
    assert!((0.040..0.043).contains(&number("base_rtt_s")), "{path}");
    // 33 packets of 1,514 B.
    assert!((40e3..60e3).contains(&number("buffer_bytes")), "{path}");
    // No packet is lost but by the queue.
    assert_eq!(path["quantities"]["loss"]["value"], "0");
}

#[test]
fn a_mahimahi_trace_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cell.trace");
    fs::write(&file, (1..=1_000).map(|i| format!("{}\n", i * 3)).collect::<String>()).unwrap();
    let file = file.to_str().unwrap();
    let study = printed(&[
        "advise",
        "--from",
        file,
        "--rtt",
        "40ms",
        "--loss",
        "0",
        "--buffer",
        "1BDP",
        "--print-study",
    ]);
    assert!(study.contains(&format!("rate-trace = \"{file}\"")) && !study.contains("\nrate = "), "{study}");
    assert!(refused(&["advise", "--from", file]).starts_with(
        "3 things are wrong\n  --rtt: the file does not tell it (a Mahimahi trace has no round-trip times): state it, such as \
         `--rtt 40ms`"
    ));
}

/// 120 Mbit/s for 1 s and 1.2 for 9 s: a mean of 13.08 Mbit/s, and a queue of 65.4 KB. 120 Mbit/s x 40 ms are 600 KB, so that a window has 665.4 KB.
#[test]
fn socket_memory_is_enough_for_the_best_time_of_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cell.trace");
    let first = (1..=1_000).flat_map(|ms| std::iter::repeat_n(ms, 10));
    let times = first.chain((1_010..=10_000).step_by(10));
    fs::write(&file, times.map(|ms| format!("{ms}\n")).collect::<String>()).unwrap();
    let path =
        ["advise", "--from", file.to_str().unwrap(), "--rtt", "40ms", "--loss", "0", "--buffer", "1BDP"];
    let memory = |more: &[&str]| {
        let text = document(&[&path[..], &SHORT, more].concat()).to_string();
        let (_, needed) = text.split_once("receiver: at least ").unwrap_or_else(|| panic!("{text}"));
        needed.split_once(' ').and_then(|(bytes, _)| bytes.parse::<u64>().ok()).expect("bytes")
    };
    let needed = memory(&[]);
    assert!((1_325_000..1_340_000).contains(&needed), "{needed}");
    // A rate that is given is constant: 2 x 2 x 65.4 KB.
    let constant = memory(&["--rate", "13.08 Mbit/s"]);
    assert!((261_600..=266_240).contains(&constant), "{constant}");
}

#[test]
fn what_is_missing_or_wrong_is_told_by_flag() {
    let missing = refused(&["advise", "--rate", "1Gbit/s", "--loss", "0"]);
    assert!(
        missing.contains("--rtt: it is not given") && missing.contains("--buffer: it is not given"),
        "{missing}"
    );
    assert!(!missing.contains("--rate:") && !missing.contains("--loss:"), "{missing}");
    for (more, wanted) in [
        (
            &["--for", "fastest"][..],
            "`fastest` is none: write `bulk`, `interactive`, `web`, `power`, or weights",
        ),
        (&["--algorithms", "renoo"], "did you mean `areno`?"),
        (&["--algorithms", "cubic@host"], "is not simulated"),
        (&["--short-flows", "wep"], "`wep` is none: write `web`, `none`"),
        (
            &["--for", "web", "--short-flows", "none"],
            "--for web: completion times are those of short flows, and there are none",
        ),
        (&["--from", "nowhere.txt"], "--from: cannot read `nowhere.txt`"),
        (&["--max-cpu", "1 ms"], "--max-cpu: "),
    ] {
        let message = refused(&small(more));
        assert!(message.contains(wanted), "{more:?}: {message}");
    }
    assert!(refused(&["advise", "--rate", "10", "--rtt", "1 ms"]).contains("a rate needs a unit"));
    let unlimited =
        refused(&["advise", "--rate", "unlimited", "--rtt", "1ms", "--loss", "0", "--buffer", "10"]);
    assert!(unlimited.starts_with("--rate: without a limit nothing distinguishes"), "{unlimited}");
    let one = refused(&["advise", "--repeats", "1"]);
    assert!(one.contains("'1' for '--repeats <N>'"), "{one}");
    let readme = refused(&["advise", "--from", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    assert!(
        readme
            .contains("it is none of the files that are read: a CSV with the columns time, rate, rtt, loss"),
        "{readme}"
    );
}
