use super::*;
use crate::measured::Timing;
use cwnd_experiment::{ExperimentSpec, Topology};
use cwnd_metrics::View;
use cwnd_scenario::{
    AlgorithmSpec, ByteSize, FlowOutcome, Identity, Implementation, LinkOutcome, Outcome, Time,
};

fn group(name: &str, count: u32) -> FlowGroup {
    FlowGroup::new(AlgorithmSpec { name: name.to_owned(), ..AlgorithmSpec::default() }, count)
}

fn setup() -> ExperimentSpec {
    ExperimentSpec { buffer: 1000.into(), duration: Time::from_secs(10), ..ExperimentSpec::default() }
}

/// A run in which flow i (from 0) receives i + 1 times `bytes` on the wire.
fn done(scenario: &Scenario, groups: &[FlowGroup], bytes: u64) -> Measured {
    let flow = |i: usize| FlowOutcome {
        packets_sent: 1_000,
        packets_received: 990,
        packets_dropped: 10,
        retransmissions: 10,
        timeouts: i as u64,
        wire_bytes_received: bytes * (i as u64 + 1),
        bytes_in_order: bytes * (i as u64 + 1) / 2,
        completed: scenario.flows[i].bytes.map(|_| Time::from_millis(2_500)),
        rtt_samples: 2,
        rtt_sum_s: 0.42,
        ..FlowOutcome::default()
    };
    done_with(scenario, groups, flow)
}

/// A run in which this happens to each flow.
fn done_with(scenario: &Scenario, groups: &[FlowGroup], flow: impl Fn(usize) -> FlowOutcome) -> Measured {
    let links = scenario.network.links.iter().map(|link| LinkOutcome {
        name: link.name.clone(),
        data_arrived: 100,
        waiting_integral: if link.name == "bottleneck" { 123.0 } else { 0.0 },
        ..LinkOutcome::default()
    });
    let outcome = Outcome {
        begin: Time::ZERO,
        end: scenario.duration,
        flows: (0..scenario.flows.len()).map(flow).collect(),
        links: links.collect(),
        trace: None,
        emulation: None,
    };
    let timing = Timing { cpu_s: Some(1e-6), cpu_ns_per_packet: Some(10.0), packets: 100 };
    Measured {
        seed: 1,
        identity: Identity::new("made up", []),
        metrics: RunMetrics::new(scenario, &outcome),
        rows: crate::measured::rows(&View::new(scenario, &outcome), groups),
        emulation: None,
        timing,
    }
}

fn shown(groups: &[FlowGroup], setup: &ExperimentSpec, runs: &[u64]) -> String {
    let scenario = setup.scenario(groups, 1).expect("a sound setup");
    let runs: Vec<Measured> = runs.iter().map(|bytes| done(&scenario, groups, *bytes)).collect();
    let entry = Entry { name: "a name", groups, scenario: &scenario };
    table(&[entry], &[runs], None)
}

/// Flows that fill another hop do not use the bottleneck, and with those that cross it they do not hide how it is used.
#[test]
fn only_flows_that_cross_the_bottleneck_use_it() {
    let cross_flows = Some("1".parse().unwrap());
    let cross = ExperimentSpec { topology: Topology::ParkingLot, cross_flows, ..setup() };
    let groups = cross.with_cross_flows(&[group("cubic", 1)]).unwrap();
    let scenario = cross.scenario(&groups, 1).unwrap();
    let used: Vec<bool> =
        done(&scenario, &groups, 9).rows.iter().map(|row| row.contains_key("utilisation")).collect();
    assert_eq!(used, [true, true, true, false, false]);
}

#[test]
fn one_flow() {
    let expected = "
  algorithm  throughput  goodput  used   loss     RTT    queue  resent  timeouts
                 Mbit/s   Mbit/s     %      %      ms  packets
  ─────────  ──────────  ───────  ────  ─────  ──────  ───────  ──────  ────────
  a name         800.00   400.00  80.0  1.000  210.00     12.3      10         0

  1 flow over a dumbbell of 1 Gbit/s, base RTT 204 ms; buffer 1,000 packets, access 1,000 packets at 10 Gbit/s
  linux stack, 1,448 B of payload in packets of 1,514 B, delayed ACKs; 10 s from seed 1
";
    assert_eq!(shown(&[group("cubic", 1)], &setup(), &[1_000_000_000]), expected);
}

#[test]
fn a_narrow_terminal_drops_what_matters_least() {
    let groups = [group("cubic", 1)];
    let scenario = setup().scenario(&groups, 1).expect("a sound setup");
    let mut run = done(&scenario, &groups, 1_000_000_000);
    run.rows[0].extend(QUEUE_DELAYS.into_iter().zip([0.0123, 0.0456]));
    let at = |columns| {
        let entry = Entry { name: "a name", groups: &groups, scenario: &scenario };
        table(&[entry], &[vec![run_copy(&run)]], columns)
    };
    let whole = at(None);
    assert!(whole.contains("queue p95  queue p99  resent  timeouts\n"), "{whole}");
    assert!(whole.contains("12.30      45.60      10         0\n"), "{whole}");
    let expected = "
  algorithm  throughput  used   loss     RTT    queue  queue p95  queue p99
                 Mbit/s     %      %      ms  packets         ms         ms
  ─────────  ──────────  ────  ─────  ──────  ───────  ─────────  ─────────
  a name         800.00  80.0  1.000  210.00     12.3      12.30      45.60
  left out at 80 columns: timeouts, resent, goodput; COLUMNS=102 or a wider
  terminal shows all

  1 flow over a dumbbell of 1 Gbit/s, base RTT 204 ms; buffer 1,000 packets,
    access 1,000 packets at 10 Gbit/s
  linux stack, 1,448 B of payload in packets of 1,514 B, delayed ACKs; 10 s
    from seed 1
";
    assert_eq!(at(Some(80)), expected);
    for columns in [40, 60, 80, 100, 102, 120] {
        let text = at(Some(columns));
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}: {text}");
        assert_eq!(text.contains("left out"), columns < 102, "{columns}: {text}");
    }
}

/// The same run again.
fn run_copy(run: &Measured) -> Measured {
    let Measured { seed, identity, metrics, rows, emulation, timing } = run;
    Measured {
        seed: *seed,
        identity: identity.clone(),
        metrics: metrics.clone(),
        rows: rows.clone(),
        emulation: emulation.clone(),
        timing: *timing,
    }
}

#[test]
fn several_algorithms_with_repeats() {
    let mut reverse = group("newreno", 1);
    reverse.reverse = true;
    let text = shown(&[group("cubic", 2), reverse], &setup(), &[1_250_000, 1_375_000]);
    let cells =
        |line: usize| text.lines().nth(line).unwrap_or_default().split_whitespace().collect::<Vec<_>>();
    // Forward flows of 1 and 2 Mbit/s, then 1.1 and 2.2: mean 3.15, SD 0.2121, SE 0.15, x t 12.706 = 1.906.
    // Jain's index of 1 to 2 is 9/10.
    let run =
        ["a", "name", "3.15", "±", "1.91", "1.57", "0.3", "1.000", "0.900", "210.00", "12.3", "20", "1.0"];
    assert_eq!(cells(4), run, "{text}");
    let group =
        ["cubic", "×", "2", "3.15", "±", "1.91", "1.57", "0.3", "1.000", "0.900", "210.00", "–", "20", "1.0"];
    assert_eq!(cells(5), group, "{text}");
    let reverse =
        ["newreno,", "reverse", "3.15", "±", "1.91", "1.57", "–", "1.000", "–", "210.00", "–", "10", "2.0"];
    assert_eq!(cells(6), reverse, "{text}");
    assert!(text.contains("\n  2 flows and 1 reverse over a dumbbell of 1 Gbit/s"), "{text}");
    assert!(
        text.contains("10 s from seeds 1 to 2\n  means of 2 repeats ± half a 95 % confidence interval"),
        "{text}"
    );
}

fn emulation(validity_warnings: &[&str]) -> Emulation {
    Emulation {
        late_p50: Time(5_000),
        late_p99: Time(80_000),
        late_max: Time::from_millis(2),
        rate_error: None,
        steal: 0.0,
        validity_warnings: validity_warnings.iter().map(|doubt| (*doubt).to_owned()).collect(),
        host: "6.18.0 x86_64".to_owned(),
        implementations: vec![Implementation { algorithm: "elastic".into(), by: "BPF, source 12ab".into() }],
    }
}

#[test]
fn invalid_runs_are_marked() {
    let scenario = setup().scenario(&[group("cubic", 1)], 1).expect("a sound setup");
    let run = |seed, validity_warnings: &[&str]| Measured {
        seed,
        emulation: Some(Box::new(emulation(validity_warnings))),
        ..done(&scenario, &[], 1_000_000)
    };
    let entry = |name| Entry { name, groups: &[], scenario: &scenario };
    let good = || vec![run(1, &[]), run(2, &[])];
    let bad = vec![run(1, &["it was late"]), run(2, &["it was late", "it was slow"])];
    let text = table(&[entry("good"), entry("bad")], &[good(), bad], None);
    assert!(text.lines().nth(4).is_some_and(|line| line.starts_with("  good  ")), "{text}");
    assert!(text.lines().nth(5).is_some_and(|line| line.starts_with("  bad (!)  ")), "{text}");
    let equal = "800.00 to 800.00 kbit/s over 2 repeats, standard deviation 0.0 % of the mean";
    let spreads = format!("  throughput of good: {equal}\n  throughput of bad: {equal}\n");
    let end = "\n  (!) 2 of 2 runs of bad are not valid:\n      it was late (seeds 1, 2)\n      \
               it was slow (seed 2)\n";
    let ran = "  run by 6.18.0 x86_64; of 100 packets 99 were at most 80 us late, the latest 2 ms\n  elastic: BPF, source 12ab\n";
    assert!(text.ends_with(&format!("{ran}{spreads}{end}")), "{text}");
    let text = table(&[entry("good")], &[good()], None);
    assert!(!text.contains("(!)") && text.contains("run by 6.18.0 x86_64"), "{text}");
    let text = table(&[entry("good")], &[vec![run(1, &[])]], None);
    assert!(
        text.ends_with("one repeat: how much runs differ is not known; `--repeats 5` measures it\n"),
        "{text}"
    );
}

#[test]
fn means_of_repeats_that_differ_too_much_are_marked() {
    let scenario = setup().scenario(&[group("cubic", 1)], 1).expect("a sound setup");
    let run = |seed, bytes| Measured {
        seed,
        emulation: Some(Box::new(emulation(&[]))),
        ..done(&scenario, &[], bytes)
    };
    let entry = |name| Entry { name, groups: &[], scenario: &scenario };
    let narrow = vec![run(1, 1_000_000), run(2, 1_010_000)];
    let wide = vec![run(1, 1_000_000), run(2, 1_080_000)];
    let text = table(&[entry("narrow"), entry("wide")], &[narrow, wide], None);
    assert!(text.lines().nth(4).is_some_and(|line| line.starts_with("  narrow  ")), "{text}");
    assert!(text.lines().nth(5).is_some_and(|line| line.starts_with("  wide (!)  ")), "{text}");
    assert!(
        text.contains("throughput of wide: 800.00 to 864.00 kbit/s over 2 repeats, standard deviation 5.4 %"),
        "{text}"
    );
    assert!(
        text.contains(
            "\n  (!) the mean of wide is not valid: the repeats' standard deviation is more than 2 % of it"
        ),
        "{text}"
    );
}

#[test]
fn equal_repeats_have_no_interval() {
    let text = shown(&[group("cubic", 1)], &setup(), &[1_000_000, 1_000_000]);
    assert!(text.contains("all repeats are equal, since nothing here is random"), "{text}");
    assert!(!text.contains('±'), "{text}");
}

#[test]
fn a_comparison_without_data_packets_says_why() {
    let shown = |setup: &ExperimentSpec, rtt_min: Option<Time>| {
        let groups = [group("cubic", 1)];
        let scenario = setup.scenario(&groups, 1).expect("a sound setup");
        let flow = FlowOutcome { rtt_min, ..FlowOutcome::default() };
        let run = done_with(&scenario, &groups, |_| flow.clone());
        let entry = Entry { name: "a name", groups: &groups, scenario: &scenario };
        about(&[entry], &[vec![&run.metrics]], false)
    };
    let without_handshake = "note: no data packet was sent, for no handshake was completed\n";
    assert!(shown(&setup(), None).contains(without_handshake));
    assert!(shown(&setup(), Some(Time::from_millis(40))).contains("note: no data packet was sent\n"));
    // Counts begin after a warm-up, in which a transfer may be complete.
    let warmed_up = ExperimentSpec { warm_up: Time::from_secs(5), ..setup() };
    for rtt_min in [None, Some(Time::from_millis(40))] {
        let text = shown(&warmed_up, rtt_min);
        assert!(text.contains("note: no data packet was sent in the counted time\n"), "{text}");
    }
}

#[test]
fn transfers_show_when_they_were_done() {
    let setup = ExperimentSpec { bytes: Some(ByteSize(1_000_000)), ..setup() };
    let text = shown(&[group("cubic", 1)], &setup, &[1_000_000]);
    assert!(text.lines().nth(1).unwrap().contains("done"), "{text}");
    assert!(text.lines().nth(4).unwrap().contains(" 2.50 "), "{text}");
}

#[test]
fn little_is_not_written_as_nothing() {
    assert_eq!(number(0.0, 3), "0.000");
    assert_eq!(number(0.0004, 3), "<0.001");
    assert_eq!(number(0.0005, 3), "0.001");
    assert_eq!(number(1234.5678, 2), "1,234.57");
}

#[test]
fn rates_have_a_fitting_unit() {
    assert_eq!(rate_unit(0.0).0, "kbit/s");
    assert_eq!(rate_unit(999e3).0, "kbit/s");
    assert_eq!(rate_unit(8.4e6).0, "Mbit/s");
    assert_eq!(rate_unit(1e9).0, "Mbit/s");
    assert_eq!(rate_unit(40e9).0, "Gbit/s");
}
