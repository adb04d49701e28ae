//! `cwnd compare`: the document, the table and the files.

use crate::{cwnd, document, printed, text};
use serde_json::Value;
use std::fs;

/// A short run of every algorithm named.
const SHORT: [&str; 6] = ["--rate", "10 Mbit/s", "--rtt", "20 ms", "--duration", "3 s"];

fn short<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["compare"], arguments, &SHORT].concat()
}

#[track_caller]
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn the_document_has_its_fields() {
    let arguments = [
        "compare",
        "cubic-2008",
        "elastic",
        "--topology",
        "dumbbell",
        "--flows",
        "4",
        "--rate",
        "1 Gbit/s",
        "--delay",
        "100 ms",
        "--access-rate",
        "1 Gbit/s",
        "--access-delay",
        "1 ms",
        "--buffer",
        "1000",
        "--access-buffer",
        "1000",
        "--per",
        "0",
        "--packet-size",
        "1000",
        "--duration",
        "2 s",
        "--stack",
        "ns2",
        "--seed",
        "1",
        "--repeats",
        "1",
        "--start-jitter",
        "0 s",
        "--send-overhead",
        "0 s",
        "--stagger",
        "0 s",
        "--json",
    ];
    let document = document(&arguments);
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!((&runs[0]["algorithm"], &runs[1]["algorithm"]), (&"cubic-2008".into(), &"elastic".into()));
    for run in runs {
        for key in [
            "seed",
            "throughput_bps",
            "throughput_active_bps",
            "goodput_bps",
            "utilisation",
            "loss_ratio",
            "drop_ratio",
            "unreceived_ratio",
            "jain_index",
            "packets_sent",
            "packets_received",
            "packets_dropped",
            "packets_lost_to_errors",
            "retransmissions",
            "timeouts",
            "congestion_events",
        ] {
            assert!(run[key].is_number(), "{key} in {:?}", keys(run));
        }
        assert_eq!(run["flows"].as_array().unwrap().len(), 4);
        for key in ["throughput_bps", "goodput_bps", "rtt_mean_s", "cwnd_mean", "retransmissions", "timeouts"]
        {
            assert!(run["flows"][3][key].is_number(), "{key} in {:?}", keys(&run["flows"][3]));
        }
        assert_eq!(run["flows"][3]["algorithm"], run["algorithm"]);
        for key in ["dropped", "mean_packets", "max_packets"] {
            assert!(run["queues"][0][key].is_number(), "{key}");
        }
        let links: Vec<&str> =
            run["queues"].as_array().unwrap().iter().map(|queue| queue["link"].as_str().unwrap()).collect();
        for link in ["bottleneck", "bottleneck-reverse", "access-1", "access-1-reverse", "access-4"] {
            assert!(links.contains(&link), "{link} in {links:?}");
        }
        for key in ["cpu_s", "cpu_ns_per_packet"] {
            assert!(run["timing"][key].as_f64().unwrap() > 0.0, "{key}");
        }
        let flows: f64 = run["flows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|flow| flow["throughput_bps"].as_f64().unwrap())
            .sum();
        let throughput = run["throughput_bps"].as_f64().unwrap();
        assert!(throughput > 0.0 && (flows / throughput - 1.0).abs() < 1e-9);
        assert!((run["utilisation"].as_f64().unwrap() * 1e9 / throughput - 1.0).abs() < 1e-9);
    }
}

/// The document without what differs between two runs of the same command.
fn canonical(mut document: Value) -> Value {
    for run in document["runs"].as_array_mut().unwrap() {
        run.as_object_mut().unwrap().remove("timing");
    }
    document
}

#[test]
fn the_same_command_gives_the_same_document() {
    let arguments = short(&["cubic", "elastic", "--flows", "2", "--per", "1e-3", "--repeats", "3", "--json"]);
    let first = canonical(document(&arguments));
    assert_eq!(first, canonical(document(&arguments)));
    let order: Vec<(&str, u64)> = first["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["algorithm"].as_str().unwrap(), run["seed"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        order,
        [("cubic", 1), ("cubic", 2), ("cubic", 3), ("elastic", 1), ("elastic", 2), ("elastic", 3)]
    );
    assert_ne!(first["runs"][0]["rtt_mean_s"], first["runs"][1]["rtt_mean_s"]);
}

#[test]
fn a_mix_and_flows_are_runs_of_their_own() {
    let mix = "agile-sd:lambda_max=4,beta2=0.9*2,elastic*2";
    let arguments = [
        "cubic",
        "--mix",
        mix,
        "--flow",
        "newreno; start=1 s; stop=2 s; rtt=40 ms",
        "--flow",
        "cubic; bytes=100 KB",
        "--flow",
        "elastic; reverse",
        "--json",
    ];
    let document = document(&short(&arguments));
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    assert_eq!(runs[1]["algorithm"], mix);
    let algorithms: Vec<&str> =
        runs[1]["flows"].as_array().unwrap().iter().map(|flow| flow["algorithm"].as_str().unwrap()).collect();
    let agile = "agile-sd:beta2=0.9,lambda_max=4";
    assert_eq!(algorithms, [agile, agile, "elastic", "elastic"]);
    let [first, second, third] = runs[2]["flows"].as_array().unwrap().as_slice() else {
        panic!("three flows")
    };
    assert!(first["start_s"].as_f64().unwrap() >= 1.0);
    assert_eq!(first["stop_s"], 2.0);
    assert!(first["rtt_min_s"].as_f64().unwrap() >= 0.04);
    assert!(second["completion_time_s"].is_number());
    assert_eq!((&second["reverse"], &third["reverse"]), (&false.into(), &true.into()));
    assert!(runs[2]["reverse_throughput_bps"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_table_is_for_people() {
    let table = printed(&short(&["cubic", "elastic", "--flows", "2", "--repeats", "2"]));
    for part in [
        "throughput",
        "Mbit/s",
        "Jain",
        "± ",
        "2 flows over a dumbbell of 10 Mbit/s, base RTT 20 ms",
        "seeds 1 to 2",
    ] {
        assert!(table.contains(part), "{part} in {table}");
    }
    assert!(table.starts_with('\n') && table.ends_with("\n\n"));
    assert!(table.lines().all(|line| line.is_empty() || line.starts_with("  ")));
}

#[test]
fn files_are_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (trace, plot) = (path("trace.csv"), path("plot.svg"));
    let arguments =
        ["cubic", "elastic", "--repeats", "2", "--trace", &trace, "--plot", &plot, "--sample", "500 ms"];
    let table = printed(&short(&arguments));
    assert!(table.contains(&format!("wrote {trace}\n  wrote {plot}\n")), "{table}");
    let csv = fs::read_to_string(&trace).unwrap();
    let header = csv.lines().next().unwrap();
    assert!(header.starts_with(
        "algorithm,seed,time_s,flow,cwnd,ssthresh,rtt_s,delivered_bytes,in_flight,state,queue_bottleneck,"
    ));
    assert!(header.contains(",queue_access-1,"), "{header}");
    // The state of both algorithms; CUBIC's columns are empty for Elastic-TCP, and the other way round.
    assert!(header.contains(",state.w_max,") && header.contains(",state.wwf,"), "{header}");
    let last = csv.lines().last().unwrap();
    assert!(last.starts_with("elastic,2,") && last.contains(",,,,,"), "{last}");
    assert!(
        last.rsplit(',').take(4).all(|value| value.parse::<f64>().is_ok_and(|value| value > 0.0)),
        "{last}"
    );
    for run in ["cubic,1,", "cubic,2,", "elastic,1,", "elastic,2,"] {
        assert!(csv.lines().any(|line| line.starts_with(run)), "{run}");
    }
    assert!(fs::read_to_string(&plot).unwrap().starts_with("<svg"));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
}

#[test]
fn an_interval_that_is_given_makes_samples_of_any_number() {
    // 3 s have 150,000 samples, more than are taken of a run unasked.
    let table = printed(&short(&["cubic", "--sample", "20 us"]));
    assert!(table.contains("queue p95") && table.contains("sampled every 20 us"), "{table}");
}

#[test]
fn flags_without_effect_are_noted() {
    let output = cwnd(&short(&["--mix", "cubic*2", "--flows", "4"]));
    assert!(output.status.success());
    assert!(text(&output.stderr).starts_with("note: --flows counts the flows of algorithms named alone"));
    let output = cwnd(&short(&["--mix", "cubic*2", "--flows", "4", "--quiet"]));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn short_flows_are_summed_up() {
    let arguments =
        short(&["cubic", "--short-flows", "newreno; load=20 %; size=10 KB; deadline=100 ms", "--json"]);
    let document = document(&arguments);
    let run = &document["runs"][0];
    // 2 Mbit/s in flows of 10 KB with headers: 23.8 a second for 3 s, give or take six deviations of 8.4.
    let short = &run["short_flows"];
    let count = short["flows"].as_u64().expect("a number");
    assert!((21..=122).contains(&count), "{count}");
    assert!(short["completed"].as_u64().expect("a number") <= count);
    for key in ["completion_time_s", "completion_p99_s", "slowdown", "slowdown_p50", "missed_deadline_ratio"]
    {
        assert!(short[key].is_f64(), "{key}: {short}");
    }
    // Flows one by one are those that last.
    assert_eq!(run["flows"].as_array().map(Vec::len), Some(1));
    let table = printed(&short_alone());
    assert!(table.contains("short flows over a dumbbell of 10 Mbit/s"), "{table}");
    assert!(table.contains("completed, slowdown"), "{table}");
}

/// Short flows, and no others.
fn short_alone() -> Vec<&'static str> {
    short(&["--short-flows", "cubic; rate=20/s; size=10 KB", "--quiet"])
}

#[test]
fn repeats_have_short_flows_of_their_own() {
    let document = document(&[short_alone(), vec!["--repeats", "2", "--json"]].concat());
    let sent = |run: usize| document["runs"][run]["short_flows"]["packets_sent"].as_u64().expect("a number");
    assert_ne!(sent(0), sent(1));
}

#[test]
fn messages_are_told() {
    let arguments = short(&["cubic", "--traffic", "responses:size=20 KB,think=exponential 50 ms"]);
    let table = printed(&arguments);
    assert!(table.contains("messages: ") && table.contains(" ms in the mean, slowdown "), "{table}");
    let document = document(&[arguments, vec!["--json"]].concat());
    let messages = &document["runs"][0]["flows"][0]["messages"];
    assert!(messages["completed"].as_f64().expect("a number") > 5.0, "{messages}");
}

#[test]
fn topologies_have_their_flags() {
    let lot = ["cubic", "--topology", "parking-lot", "--hops", "2", "--cross-flows", "elastic", "--json"];
    let document = document(&short(&lot));
    let flows = document["runs"][0]["flows"].as_array().unwrap();
    let algorithms: Vec<&str> = flows.iter().map(|flow| flow["algorithm"].as_str().unwrap()).collect();
    assert_eq!(algorithms, ["cubic", "elastic", "elastic"]);
    let queues = document["runs"][0]["queues"].as_array().unwrap();
    assert!(queues.iter().any(|queue| queue["link"] == "hop-2-reverse"));
    let output = cwnd(&short(&["cubic", "--queue", "coddle"]));
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("'--queue <QUEUE>': there is no `coddle`; did you mean `codel`?"), "{said}");
    let output = cwnd(&short(&["cubic", "--hops", "2"]));
    assert!(text(&output.stderr).contains("--hops: only a parking lot has hops"));
    let output = cwnd(&short(&["cubic", "--per", "0.1", "--loss", "0.1"]));
    assert!(text(&output.stderr).contains("cannot be used with"));
    let output = cwnd(&short(&["cubic", "--rate-trace", "nowhere.trace"]));
    assert!(text(&output.stderr).contains("--rate-trace: cannot read `nowhere.trace`"));
}
