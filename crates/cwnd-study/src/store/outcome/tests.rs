use super::*;
use cwnd_scenario::{
    FlowGroup,
    build::{LineDelay, Setup},
};
use proptest::prelude::*;

fn scenario(flows: u32) -> Scenario {
    let group = FlowGroup::new("cubic".parse().unwrap(), flows);
    let setup = Setup { delay: LineDelay::OneWay(Time::from_millis(100)), ..Setup::default() };
    Scenario { warm_up: Time::from_secs(5), ..setup.scenario(&[group], 7).unwrap() }
}

/// What a run of four flows over a busy link might give.
fn likely(scenario: &Scenario) -> Outcome {
    let flow = FlowOutcome {
        start: Time(98_765_432),
        stop: None,
        completed: None,
        packets_sent: 1_234_567 + 12 + 345 + 678 + 9,
        retransmissions: 1_030,
        packets_received: 1_234_567,
        duplicates: 12,
        wire_bytes_received: 1_234_567 * 1_000,
        bytes_in_order: 1_234_000 * 960,
        bytes_left: [5_250, 3_150, 0].map(|more| 1_234_567 * 1_000 + more).to_vec(),
        packets_dropped: 345,
        packets_lost: 678,
        packets_copied: 0,
        packets_in_flight: 9,
        timeouts: 1,
        congestion_events: 76,
        acks_received: 1_234_500,
        packets_marked: 0,
        rtt_samples: 1_234_400,
        rtt_sum_s: 255_678.123_456_789,
        rtt_min: Some(Time(204_016_000)),
        rtt_max: Some(Time(212_345_678)),
        cwnd_integral: 1_987_654.321_098_7,
        cwnd: 6_543.210_987_6,
        ssthresh: 5_432.109_876_5,
        messages: Vec::new(),
    };
    let link = |i: usize| LinkOutcome {
        name: scenario.network.links[i].name.clone(),
        arrived: 1_235_000,
        data_arrived: 1_235_000,
        dropped: 0,
        lost: 0,
        marked: 0,
        copied: 0,
        delivered: 1_234_990,
        in_flight: 10,
        waiting_integral: 123.456_789,
        max_waiting: 24,
    };
    Outcome {
        begin: scenario.warm_up,
        end: scenario.duration,
        flows: vec![flow; scenario.flows.len()],
        links: (0..scenario.network.links.len()).map(link).collect(),
        trace: None,
        emulation: None,
    }
}

#[test]
fn a_run_of_four_flows_is_short() {
    let scenario = scenario(4);
    let outcome = likely(&scenario);
    let bytes = encode(&scenario, &outcome).unwrap();
    assert_eq!(decode(&scenario, &bytes), Some(outcome));
    assert!(bytes.len() < 700, "{} bytes", bytes.len());
}

/// The bytes of the format, so that a change of it cannot go unnoticed: then `FORMAT` is counted up.
#[test]
fn the_format_is_what_it_was() {
    let scenario = scenario(1);
    let mut outcome = likely(&scenario);
    outcome.links.iter_mut().for_each(|link| link.waiting_integral = 0.0);
    let bytes = encode(&scenario, &outcome).unwrap();
    let digits: Vec<String> =
        bytes.chunks(24).map(|line| line.iter().map(|b| format!("{b:02x}")).collect()).collect();
    insta::assert_snapshot!(digits.join("\n"));
}

#[test]
fn what_was_not_written_is_not_read() {
    let scenario = scenario(2);
    let bytes = encode(&scenario, &likely(&scenario)).unwrap();
    for length in 0..bytes.len() {
        assert_eq!(decode(&scenario, &bytes[..length]), None, "{length} bytes");
    }
    assert_eq!(decode(&scenario, &[&bytes[..], &[0]].concat()), None);
    let other = [&[FORMAT + 1], &bytes[1..]].concat();
    assert_eq!(decode(&scenario, &other), None);
}

/// Rows from before there were emulated networks stay valid, and are written as they were.
#[test]
fn an_emulation_is_written_behind_all_else() {
    let scenario = scenario(1);
    let simulated = likely(&scenario);
    let emulation = Emulation {
        late_p50: Time(1_500),
        late_p99: Time(80_000),
        late_max: Time(2_000_000),
        rate_error: Some(0.001),
        steal: 0.02,
        doubts: vec!["it was late".to_owned()],
        host: "6.18.0 x86_64".to_owned(),
        implementations: vec![Implementation {
            algorithm: "elastic:beta=0.8".into(),
            by: "BPF, source 12ab".into(),
        }],
    };
    let emulated = Outcome { emulation: Some(emulation.clone()), ..simulated.clone() };
    let (short, long) = (encode(&scenario, &simulated).unwrap(), encode(&scenario, &emulated).unwrap());
    assert!(long.starts_with(&short) && long.len() > short.len());
    assert_eq!(decode(&scenario, &long), Some(emulated));
    for length in short.len() + 1..long.len() {
        assert_eq!(decode(&scenario, &long[..length]), None, "{length} bytes");
    }
    // As it was before it said what ran the algorithms: without the count of them, and with its own mark.
    let silent = Emulation { implementations: Vec::new(), ..emulation };
    let silent = Outcome { emulation: Some(silent), ..simulated };
    let mut old = encode(&scenario, &silent).unwrap();
    assert_eq!(old.pop(), Some(0));
    old[short.len()] = EMULATION_ALONE;
    assert_eq!(decode(&scenario, &old), Some(silent));
}

#[test]
fn an_outcome_of_another_scenario_is_refused() {
    let outcome = likely(&scenario(2));
    let error = encode(&scenario(1), &outcome).unwrap_err();
    assert!(error.starts_with("the engine answered with 2 flows and "), "{error}");
}

fn time() -> impl Strategy<Value = Time> {
    any::<u64>().prop_map(Time)
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<u64>().prop_map(f64::from_bits), Just(0.0), Just(f64::INFINITY), Just(-0.0)]
}

prop_compose! {
    fn flow()(
        times in (time(), proptest::option::of(time()), proptest::option::of(time())),
        extremes in (proptest::option::of(time()), proptest::option::of(time())),
        counts in prop::array::uniform15(any::<u64>()),
        numbers in (number(), number(), number(), number()),
        past in prop::collection::vec(any::<u64>(), 0..4),
        messages in prop::collection::vec((any::<u64>(), time(), proptest::option::of(time())), 0..4),
    ) -> FlowOutcome {
        FlowOutcome {
            start: times.0,
            stop: times.1,
            completed: times.2,
            packets_sent: counts[0],
            retransmissions: counts[1],
            packets_received: counts[2],
            duplicates: counts[3],
            wire_bytes_received: counts[4],
            bytes_in_order: counts[5],
            bytes_left: past,
            packets_dropped: counts[6],
            packets_lost: counts[7],
            packets_in_flight: counts[8],
            timeouts: counts[9],
            congestion_events: counts[10],
            acks_received: counts[11],
            packets_marked: counts[12],
            rtt_samples: counts[13],
            packets_copied: counts[14],
            rtt_sum_s: numbers.0,
            rtt_min: extremes.0,
            rtt_max: extremes.1,
            cwnd_integral: numbers.1,
            cwnd: numbers.2,
            ssthresh: numbers.3,
            messages: messages
                .into_iter()
                .map(|(bytes, start, end)| MessageOutcome { bytes, start, end })
                .collect(),
        }
    }
}

prop_compose! {
    fn link()(
        name in "[a-z]{0,8}", counts in prop::array::uniform9(any::<u64>()), integral in number(),
    ) -> LinkOutcome {
        LinkOutcome {
            name,
            arrived: counts[0],
            data_arrived: counts[1],
            dropped: counts[2],
            lost: counts[3],
            marked: counts[4],
            delivered: counts[5],
            in_flight: counts[6],
            waiting_integral: integral,
            max_waiting: counts[7],
            copied: counts[8],
        }
    }
}

prop_compose! {
    fn emulation()(
        late in (time(), time(), time()), rate_error in proptest::option::of(number()), steal in number(),
        doubts in prop::collection::vec("\\PC{0,40}", 0..3), host in "\\PC{0,20}",
        ran in prop::collection::vec(("\\PC{0,20}", "\\PC{0,80}"), 0..3),
    ) -> Emulation {
        let implementations = ran.into_iter().map(|(algorithm, by)| Implementation { algorithm, by }).collect();
        let (late_p50, late_p99, late_max) = late;
        Emulation { late_p50, late_p99, late_max, rate_error, steal, doubts, host, implementations }
    }
}

proptest! {
    /// Whatever an engine counts, likely or not, is read back to the bit.
    #[test]
    fn what_is_read_is_what_was_written(
        begin in time(),
        end in time(),
        flows in prop::collection::vec(flow(), 2),
        stop in proptest::option::of(time()),
        links in prop::collection::vec(link(), 10),
        emulation in proptest::option::of(emulation()),
    ) {
        let mut scenario = scenario(2);
        prop_assert_eq!(scenario.network.links.len(), links.len());
        scenario.flows[1].stop = stop;
        let mut outcome = Outcome { begin, end, flows, links, trace: None, emulation };
        outcome.flows[1].stop = stop.or(outcome.flows[1].stop);
        let read = decode(&scenario, &encode(&scenario, &outcome).unwrap());
        // As text, since a NaN is not itself; its bits are in the number's own test.
        prop_assert_eq!(format!("{read:?}"), format!("{:?}", Some(outcome)));
    }

    #[test]
    fn numbers_keep_their_bits(bits in any::<u64>()) {
        let mut out = Out::default();
        out.number(f64::from_bits(bits));
        prop_assert_eq!(In(&out.0).number().map(f64::to_bits), Some(bits));
    }

    /// Torn bytes are refused or read as something; they never make it panic.
    #[test]
    fn torn_bytes_are_harmless(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(&scenario(1), &[&[FORMAT][..], &bytes].concat());
    }
}
