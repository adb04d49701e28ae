//! Settings and algorithms that name files, of which a page has the trace of `rate-trace` at most.

use cwnd_wasm::{Bench, Setting};

#[test]
fn only_the_trace_of_rate_trace_is_read() {
    let problems = |text: &str| Setting::parse(text, Some("1\n2\n3\n")).map(drop).err().unwrap_or_default();
    assert_eq!(problems("flow=cubic\nrate-trace=a.trace"), []);
    assert_eq!(problems("flow=cubic\nrate-trace=a.trace\nreverse-rate-trace=a.trace"), []);
    for (text, line, key) in [
        ("rate-trace=a.trace\nreverse-rate-trace=b.trace", 2, "reverse-rate-trace"),
        ("reverse-rate-trace=b.trace", 1, "reverse-rate-trace"),
        ("flow=cubic\nshort-flows=cubic; load=20 %; size=sizes.csv", 2, "short-flows"),
    ] {
        let found = problems(text);
        assert_eq!((found.len(), found[0].line, found[0].key.as_str()), (1, line, key), "{found:?}");
        assert!(found[0].message.contains("`cwnd compare` and study files do"), "{}", found[0].message);
    }
}

#[test]
fn a_trace_that_the_caller_does_not_have_is_refused_and_an_empty_one_is_called_empty() {
    let text = "flow=cubic\nrate-trace=a.trace";
    for (trace, wanted) in [
        (None, "does not read the file `a.trace`: `cwnd compare` and study files do"),
        (Some(""), "the trace `a.trace`: the trace is empty"),
    ] {
        let problems = Setting::parse(text, trace).err().expect("there is no trace");
        assert_eq!((problems.len(), problems[0].line, problems[0].key.as_str()), (1, 2, "rate-trace"));
        assert!(problems[0].message.contains(wanted), "{}", problems[0].message);
    }
}

#[test]
fn a_trained_policy_is_refused_with_what_runs_it() {
    let setting = Setting::parse("flow=policy:file=aurora.json", None).expect("valid lines");
    let problems = Bench::new(setting).err().expect("its file is not read");
    let message = &problems[0].message;
    assert!(
        message.contains("a trained policy of a file") && message.contains("`cwnd compare`"),
        "{message}"
    );
}
