//! Every algorithm of cwnd in noq and quinn, in simulated time.

use cwnd_experiment::{Buffer, ExperimentSpec, FlowGroup, LineDelay};
use cwnd_quic::host::run_with;
use cwnd_scenario::{ByteSize, FlowOutcome, Outcome, Rate, Time};

fn run(flow: &str, change: impl FnOnce(&mut ExperimentSpec)) -> Outcome {
    let mut spec = ExperimentSpec {
        rate: Rate(20_000_000),
        delay: LineDelay::OneWay(Time::from_millis(20)),
        duration: Time::from_secs(20),
        ..ExperimentSpec::default()
    };
    change(&mut spec);
    let group: FlowGroup = flow.parse().unwrap();
    run_with(&spec.scenario(&[group], 7).unwrap(), &cwnd_sim::registered).unwrap()
}

/// Mean round-trip time, ms.
fn rtt(flow: &FlowOutcome) -> f64 {
    1e3 * flow.rtt_sum_s / flow.rtt_samples as f64
}

/// Mbit/s.
fn goodput(outcome: &Outcome) -> f64 {
    8e-6 * outcome.flows[0].bytes_in_order as f64 / (outcome.end.as_secs_f64() - outcome.begin.as_secs_f64())
}

/// 3 MB take 1.2 s at 20 Mbit/s.
#[test]
fn every_algorithm_moves_a_transfer() {
    for info in cwnd_cc::all() {
        for stack in ["noq", "quinn"] {
            let flow = format!("{}; stack={stack}", info.name);
            let outcome = run(&flow, |spec| spec.bytes = Some(ByteSize(3_000_000)));
            let outcome = &outcome.flows[0];
            let time = outcome.completed.unwrap_or_else(|| panic!("{flow} does not complete: {outcome:?}"));
            assert_eq!(outcome.bytes_in_order, 3_000_000, "{flow}");
            assert!((1.2..6.0).contains(&time.as_secs_f64()), "{flow}: {time:?}");
        }
    }
}

/// A queue that marks from 20 packets on. Algorithms that count marks keep as much in it as over TCP, and lose nothing, though noq and
/// quinn report marks without their number.
#[test]
fn marks_are_counted() {
    for algorithm in ["dctcp", "prague", "scream"] {
        let of = |stack: &str| {
            let flow = format!("{algorithm}; stack={stack}");
            let outcome = run(&flow, |spec| {
                spec.ecn_threshold = Some("20".parse().unwrap());
                spec.buffer = Buffer::from(1_000);
                spec.warm_up = Time::from_secs(5);
            });
            assert_eq!(outcome.flows[0].packets_dropped, 0, "{flow}");
            assert!(outcome.flows[0].packets_marked > 0, "{flow}");
            (goodput(&outcome), rtt(&outcome.flows[0]))
        };
        let tcp = of("tcp");
        for stack in ["noq", "quinn"] {
            let (goodput, rtt) = of(stack);
            assert!(
                (0.95..1.05).contains(&(goodput / tcp.0)),
                "{algorithm} over {stack}: {goodput} Mbit/s, {}",
                tcp.0
            );
            assert!((0.9..1.1).contains(&(rtt / tcp.1)), "{algorithm} over {stack}: {rtt} ms, {}", tcp.1);
        }
    }
}

/// quinn takes no pacing rate, so that BBR v3 is shaped by the window: it keeps the queue that it keeps over TCP.
#[test]
fn a_rate_is_kept_on_both_stacks() {
    let of = |stack: &str| {
        let outcome = run(&format!("bbr3; stack={stack}"), |spec| spec.buffer = "1 BDP".parse().unwrap());
        (goodput(&outcome), rtt(&outcome.flows[0]))
    };
    let tcp = of("tcp");
    for stack in ["noq", "quinn"] {
        let (goodput, rtt) = of(stack);
        assert!((0.97..1.03).contains(&(goodput / tcp.0)), "{stack}: {goodput} and {} Mbit/s", tcp.0);
        assert!((0.93..1.07).contains(&(rtt / tcp.1)), "{stack}: {rtt} and {} ms", tcp.1);
    }
}
