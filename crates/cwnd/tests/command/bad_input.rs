//! Bad input: one message that names the place and what would be right, exit code 2, and nothing on standard output.

use crate::{cwnd, text};
use std::fs;

/// The first line of the message, without `error: `.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = cwnd(arguments);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
    assert_eq!(message.matches("error:").count(), 1, "one message: {message}");
    let first = message.lines().next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or_else(|| panic!("{arguments:?}: {message}")).to_owned()
}

/// The message for `cwnd compare cubic` with these flags; where the flag does not parse, what comes after the place.
#[track_caller]
fn compare(flags: &[&str]) -> String {
    refused(&[&["compare", "cubic"], flags].concat())
}

#[test]
fn unknown_algorithms_and_parameters() {
    assert_eq!(
        refused(&["compare", "cubik"]),
        "invalid value 'cubik' for '[ALGORITHM]...': there is no algorithm `cubik`; did you mean `cubic`? `cwnd \
         algorithms` lists all"
    );
    assert!(
        refused(&["compare", "agile-sd:lamda_max=4"]).starts_with(
            "invalid value 'agile-sd:lamda_max=4' for '[ALGORITHM]...': `agile-sd` has no parameter `lamda_max`; did \
             you mean `lambda_max`? (it has lambda_max, "
        )
    );
    assert!(
        refused(&["compare", "agile-sd:lambda_max=nan"])
            .contains("`agile-sd` does not take lambda_max = `NaN`: it takes a number from")
    );
    assert_eq!(
        refused(&["compare", "cubic:"]),
        "invalid value 'cubic:' for '[ALGORITHM]...': column 7: a parameter is written `name=value`, after the colon"
    );
    assert_eq!(
        refused(&["compare", "--mix", "cubic,renoo*2"]),
        "invalid value 'cubic,renoo*2' for '--mix <MIX>': item 2: there is no algorithm `renoo`; did you mean `areno`? \
         `cwnd algorithms` lists all"
    );
    assert_eq!(
        refused(&["algorithms", "elastik"]),
        "there is no algorithm `elastik`; did you mean `elastic`? `cwnd algorithms` lists all"
    );
    // The same under two names is the same twice.
    let twice = refused(&["compare", "CUBIC", "bbr", "cubic"]);
    assert_eq!(twice, "`cubic` is there twice: name it once");
    let twice = refused(&["compare", "htcp:adaptive_backoff=on", "H-TCP:adaptive_backoff = on", "--quiet"]);
    assert!(twice.ends_with("is `htcp:adaptive_backoff=on`, which is there twice: name it once"), "{twice}");
    assert!(
        refused(&["compare"]).starts_with("nothing to run: name an algorithm (`cwnd compare cubic elastic`)")
    );
}

#[test]
fn unknown_flags_and_units() {
    assert_eq!(compare(&["--dely", "3 ms"]), "unexpected argument '--dely' found");
    assert_eq!(
        compare(&["--delay", "100"]),
        "invalid value '100' for '--delay <TIME>': a time needs a unit: write `100 ms`, for example"
    );
    assert_eq!(
        compare(&["--delay", "5 millis"]),
        "invalid value '5 millis' for '--delay <TIME>': unknown unit `millis` (did you mean `ms`?): a time takes ns, us, \
         ms, s, min or h"
    );
    assert_eq!(
        compare(&["--rate", "1 MB/s"]),
        "invalid value '1 MB/s' for '--rate <RATE>': a rate counts bits, not bytes: 1 MB/s is written `8 Mbit/s`"
    );
    assert!(compare(&["--access-buffer", "3 bdp"]).contains("unknown unit `bdp` (did you mean `BDP`?)"));
    assert_eq!(
        compare(&["--rate", "--json"]),
        "invalid value '--json' for '--rate <RATE>': a value is missing before `--json`"
    );
}

#[test]
fn negative_zero_and_not_numbers() {
    for flag in
        ["--delay", "--rtt", "--rate", "--per", "--buffer", "--duration", "--stagger", "--sample", "--bytes"]
    {
        let message = compare(&[flag, "-1 s"]);
        assert!(message.contains(flag) && message.ends_with("it must not be negative"), "{message}");
        let message = compare(&[flag, "nan"]);
        assert!(message.contains(flag) && message.contains("`nan` is not a number"), "{message}");
    }
    for flag in ["--flows", "--repeats", "--seed", "--receive-window", "--reverse-flows", "--packet-size"] {
        let message = compare(&[flag, "-1"]);
        assert!(message.contains(flag) && message.ends_with("it must not be negative"), "{message}");
        let message = compare(&[flag, "2.5"]);
        assert!(
            message.contains(flag) && message.ends_with("it must be a whole number, such as `4`"),
            "{message}"
        );
    }
    assert!(
        compare(&["--sample", "0 s"])
            .ends_with("samples need a time between them: write `100 ms`, for example")
    );
    assert!(compare(&["--flows", "0"]).ends_with("there must be at least 1"));
    assert!(compare(&["--repeats", "0"]).ends_with("there must be at least 1"));
    assert!(compare(&["--rate", "0"]).ends_with("it is too small: 1 kbit/s is the least"));
    assert!(compare(&["--buffer", "0"]).ends_with("it must hold something: 1 packet is the least"));
    assert_eq!(compare(&["--duration", "0 s"]), "--duration: a run must last: write `100 s`, for example");
    assert_eq!(compare(&["--bytes", "0"]), "--bytes: a transfer has at least 1 byte");
    assert_eq!(compare(&["--receive-window", "0"]), "--receive-window: it must hold at least 1 packet");
    assert!(compare(&["--packet-size", "0"]).starts_with("--packet-size: it is 0 bytes of payload"));
    // What an error calls valid is taken: one limit holds for settings and engines.
    let limits =
        [("--packet-size", "65000", "65535", "1 to 65000"), ("--mtu", "65040", "65535", "68 to 65040")];
    for (flag, most, more, range) in limits {
        assert!(compare(&[flag, more]).ends_with(&format!("it must be {range}")), "{flag}");
        let output = cwnd(&["compare", "cubic", flag, most, "--duration", "1 ms", "--quiet"]);
        assert!(output.status.success(), "{flag}: {}", text(&output.stderr));
        let switched = cwnd(&["compare", "cubic", flag, most, "--timestamps", "off", "--duration", "1 ms"]);
        assert!(switched.status.success(), "{flag}: {}", text(&switched.stderr));
    }
}

#[test]
fn absurd_values_end_at_once() {
    assert!(compare(&["--flows", "1000000000"]).ends_with("too many: 100000 flows are the most"));
    assert!(compare(&["--repeats", "1000000000000"]).ends_with("too many: 100000 repeats are the most"));
    assert!(compare(&["--buffer", "1e18"]).ends_with("it is too large: 4294967295 packets are the most"));
    assert!(
        compare(&["--duration", "1e9 s"]).ends_with("it is too large: 140737 s (about 39 h) is the most")
    );
    assert!(
        compare(&["--rate", "1e30 Gbit/s"])
            .ends_with("it is too large: 10 Tbit/s (or `unlimited`) is the most")
    );
    assert!(compare(&["--packet-size", "99999999999"]).ends_with("it is far too large"));
    assert_eq!(
        compare(&["--seed", "18446744073709551615", "--repeats", "2"]),
        "--seed: 2 repeats from 18446744073709551615 on run out of seeds: take a smaller one"
    );
    assert!(compare(&["--repeats", "100000", "--duration", "10 h"]).starts_with("this would take about "));
    let large =
        ["--rate", "1 Tbit/s", "--access-rate", "10 Tbit/s", "--delay", "10 s", "--buffer", "4000000000"];
    let long = ["--receive-window", "1000000000", "--duration", "1000 s"];
    let message = compare(&[&large[..], &long].concat());
    assert!(
        message.starts_with("about ") && message.contains(" GB of memory may be needed, and "),
        "{message}"
    );
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("t.csv");
    let trace_flags = ["--trace", trace.to_str().unwrap()];
    assert!(compare(&[&["--sample", "1 ns"], &trace_flags[..]].concat()).starts_with("--sample: "));
    assert!(compare(&["--sample", "1 ns"]).starts_with("--sample: one every 1 ns makes "));
    assert!(
        compare(
            &[&["--sample", "100 us", "--repeats", "1000", "--memory", "1 GB"], &trace_flags[..]].concat()
        )
        .contains("or smaller buffers, or a longer --sample; or say with --memory")
    );
    assert!(!trace.exists());
}

#[test]
fn what_does_not_go_together() {
    assert_eq!(
        compare(&["--stack", "ns2", "--mtu", "1500"]),
        "--mtu: only the linux stack has one: give a packet size (payload) with ns2"
    );
    assert_eq!(
        compare(&["--mtu", "1500", "--packet-size", "1000"]),
        "the argument '--mtu <BYTES>' cannot be used with '--packet-size <BYTES>'"
    );
    assert_eq!(
        compare(&["--rtt", "50 ms", "--delay", "20 ms"]),
        "the argument '--rtt <TIME>' cannot be used with '--delay <TIME>'"
    );
    assert!(
        compare(&["--rtt", "1 ms"])
            .starts_with("--rtt: a base round trip of 1 ms is shorter than the access links")
    );
    assert_eq!(
        compare(&["--topology", "path", "--access-rate", "1 Gbit/s"]),
        "--access-rate: a path has no access links: leave it out, or take a dumbbell"
    );
    assert_eq!(
        compare(&["--ecn-threshold", "20%", "--buffer", "unlimited"]),
        "--ecn-threshold: a percentage of an unlimited queue is nothing: give a number of packets, such as `20`"
    );
    assert_eq!(
        compare(&["--stagger", "60 s", "--flows", "3"]),
        "--stagger: a flow would start at the end of the run, 100 s, or after it"
    );
    assert!(
        compare(&["--start-jitter", "30 s", "--duration", "10 s"])
            .starts_with("--start-jitter: a flow that starts at 0 s may start up to 30 s later")
    );
    // Round trips that flows take in turn are named by their own flag.
    let rtts = |times: &str, flows: &str| {
        compare(&["--rate", "10 Mbit/s", "--duration", "10 s", "--rtts", times, "--flows", flows])
    };
    assert!(rtts("10 ms, 250 ms", "2").starts_with("--rtts: a base round trip of 10 ms is shorter than"));
    assert!(
        refused(&["compare", "--mix", "cubic,elastic", "--reverse-flows", "1"])
            .contains("of which algorithm?")
    );
    assert!(
        refused(&["compare", "--flow", "cubic", "--flow", "elastic", "--reverse-flows", "1"])
            .starts_with("--reverse-flows: of which algorithm?")
    );
}

#[test]
fn flows_and_mixes_name_the_column() {
    assert_eq!(
        refused(&["compare", "--flow", "cubic; strat=3 s"]),
        "invalid value 'cubic; strat=3 s' for '--flow <FLOW>': column 8: a flow has no `strat` (did you mean `start`?): \
         it takes count, start, stop, rtt, bytes, traffic, deadline, side, hop, path, group, receiver, stack and reverse"
    );
    assert_eq!(
        refused(&["compare", "--mix", "cubic*2*3"]),
        "invalid value 'cubic*2*3' for '--mix <MIX>': column 6: `*N` must stand last in its item, and once"
    );
    assert_eq!(
        refused(&["compare", "--flow", "cubic; start=300 s"]),
        "--flow 'cubic; start=300 s', start: a flow would start at the end of the run, 100 s, or after it"
    );
    assert_eq!(
        refused(&["compare", "--flow", "cubic; reverse"]),
        "--flow 'cubic; reverse': there must be at least 1 flow that is not reverse"
    );
    assert!(refused(&["compare", "--flow", "4"]).ends_with("--flows says how many"));
}

#[test]
fn files_that_cannot_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let message = compare(&["--trace", &path("none/x.csv")]);
    assert!(message.starts_with("--trace: cannot write ") && message.contains("does not exist"), "{message}");
    let message = compare(&["--trace", &path("x.txt")]);
    assert!(message.ends_with(&format!("try `{}`", path("x.csv"))), "{message}");
    let message = compare(&["--plot", &path("x.gif")]);
    assert!(message.starts_with("--plot: cannot write "), "{message}");
    fs::create_dir(path("taken.svg")).unwrap();
    let message = compare(&["--plot", &path("taken.svg")]);
    assert!(message.contains("it is a directory"), "{message}");
    // A valid file next to an invalid one is not started either.
    compare(&["--trace", &path("sound.csv"), "--plot", &path("none/x.svg")]);
    fs::remove_dir(path("taken.svg")).unwrap();
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn unknown_traffic() {
    assert!(compare(&["--traffic", "on-of:1 s,1 s"]).ends_with(
        "': there is no traffic `on-of` (did you mean `on-off`?): it is one of bulk, on-off, live, responses, pulses, media"
    ));
    assert!(
        compare(&["--short-flows", "cubik; load=20 %; size=1 KB"])
            .contains("there is no algorithm `cubik`; did you mean `cubic`?")
    );
    assert!(
        compare(&["--short-flows", "cubic; size=1 KB"])
            .contains("how many arrive? Say `load=20 %` or `rate=50/s`")
    );
    assert!(
        compare(&["--short-flows", "cubic; rate=10000/s; size=1 KB"])
            .starts_with("--short-flows: 1000000 flows would arrive, and 90000 are the most")
    );
    assert!(
        compare(&["--rate", "unlimited", "--buffer", "100", "--short-flows", "cubic; load=20 %; size=1 KB"])
            .starts_with("--short-flows: a bottleneck without a rate has no load")
    );
    assert!(compare(&["--deadline", "0 s"]).starts_with("--deadline: a flow needs some time"));
    assert!(
        refused(&["compare", "--flow", "cubic; traffic=responses:sise=1 KB"])
            .contains("`responses` have no `sise` (did you mean `size`?)")
    );
}
