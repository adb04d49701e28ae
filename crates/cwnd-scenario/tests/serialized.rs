//! The serialized form of scenarios and outcomes, which stores keep: what is written here must stay readable.

use cwnd_scenario::*;
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

#[track_caller]
fn is_written<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T, text: &str) {
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
    assert_eq!(serde_json::from_str::<T>(text).unwrap(), value);
}

#[test]
fn quantities_are_integers() {
    is_written(Time::from_millis(204), "204000000");
    is_written(Rate(10_000_000), "10000000");
    is_written(Rate::UNLIMITED, "18446744073709551615");
}

#[test]
fn every_choice_has_its_name() {
    is_written(Ties::ByNumber, r#""by-number""#);
    is_written(Ties::ByTurn, r#""by-turn""#);
    is_written(StackProfile::Ns2, r#""ns2""#);
    is_written(StackProfile::Linux, r#""linux""#);
    is_written(Recovery::Ns2, r#""ns2""#);
    is_written(Recovery::Prr, r#""prr""#);
    is_written(Recovery::Linux, r#""linux""#);
    is_written(DelayedAck::Off, r#""off""#);
    is_written(DelayedAck::After(Time(40)), r#"{"after":40}"#);
    is_written(Ecn::Off, r#""off""#);
    is_written(Ecn::Classic, r#""classic""#);
    is_written(Ecn::Exact, r#""exact""#);
    is_written(QueueLimit::Packets(5), r#"{"packets":5}"#);
    is_written(QueueLimit::Bytes(5000), r#"{"bytes":5000}"#);
    is_written(QueueLimit::Unlimited, r#""unlimited""#);
    is_written(Counting::WithTransmission, r#""with-transmission""#);
    is_written(Counting::WaitingOnly, r#""waiting-only""#);
    is_written(Workload::WebSearch, r#""web-search""#);
    is_written(Workload::DataMining, r#""data-mining""#);
}

#[test]
fn losses_disciplines_and_effects_have_their_names() {
    is_written(Loss::None, r#""none""#);
    is_written(Loss::Bernoulli(1e-4), r#"{"bernoulli":0.0001}"#);
    is_written(Loss::Nth(vec![1, 7]), r#"{"nth":[1,7]}"#);
    is_written(
        Loss::GilbertElliott(GilbertElliott { to_bad: 0.1, to_good: 0.2, loss_good: 0.0, loss_bad: 1.0 }),
        r#"{"gilbert-elliott":{"to-bad":0.1,"to-good":0.2,"loss-good":0.0,"loss-bad":1.0}}"#,
    );
    is_written(Discipline::DropTail, r#""drop-tail""#);
    is_written(
        Discipline::Red(Red::default()),
        r#"{"red":{"min":5.0,"max":15.0,"p-max":0.1,"weight":0.002,"gentle":true,"ecn":false}}"#,
    );
    is_written(
        Discipline::CoDel(CoDel::default()),
        r#"{"codel":{"target":5000000,"interval":100000000,"ecn":false}}"#,
    );
    is_written(
        Discipline::FqCoDel(FqCoDel::default()),
        r#"{"fq-codel":{"queues":1024,"quantum":1514,"codel":{"target":5000000,"interval":100000000,"ecn":true}}}"#,
    );
    is_written(
        Discipline::Pie(Pie::default()),
        r#"{"pie":{"target":15000000,"update":15000000,"alpha":0.125,"beta":1.25,"max-burst":150000000,"ecn":false,"max-mark-probability":0.1}}"#,
    );
    is_written(
        Discipline::DualPi2(DualPi2::default()),
        r#"{"dualpi2":{"target":15000000,"update":16000000,"alpha":0.16,"beta":3.2,"coupling":2.0,"step":1000000,"classic-max-probability":0.25,"classic-share":0.1}}"#,
    );
    is_written(
        Effects::default(),
        r#"{"policer":null,"ack-thinning":null,"slot":null,"jitter":null,"duplication":0.0}"#,
    );
    is_written(Policer { rate: Rate(8), burst: 9 }, r#"{"rate":8,"burst":9}"#);
    is_written(
        Jitter { shape: JitterShape::Uniform(Time(3)), reorders: true },
        r#"{"shape":{"uniform":3},"reorders":true}"#,
    );
    is_written(JitterShape::Exponential(Time(3)), r#"{"exponential":3}"#);
    is_written(JitterShape::Normal(Time(3), Time(4)), r#"{"normal":[3,4]}"#);
    is_written(JitterShape::Sometimes(0.5, Time(4)), r#"{"sometimes":[0.5,4]}"#);
}

#[test]
fn schedules_and_traffic_have_their_names() {
    let step = Step { at: Time(1), rate: Rate(2), delay: Time(3) };
    is_written(
        Schedule::Steps(Steps { steps: vec![step], period: Some(Time(9)) }),
        r#"{"steps":{"steps":[{"at":1,"rate":2,"delay":3}],"period":9}}"#,
    );
    let trace =
        |name: &str| Schedule::Trace(DeliveryTrace { name: name.to_owned(), times_ms: [2, 5].into() });
    is_written(trace("a.trace"), r#"{"trace":{"name":"a.trace","times-ms":[2,5]}}"#);
    is_written(trace(""), r#"{"trace":{"times-ms":[2,5]}}"#);
    is_written(Traffic::Bulk, r#""bulk""#);
    is_written(Traffic::Live(Rate(5)), r#"{"live":5}"#);
    is_written(
        Traffic::OnOff { on: Distribution::Exponential(Time(1)), off: Distribution::Constant(Time(2)) },
        r#"{"on-off":{"on":{"exponential":1},"off":{"constant":2}}}"#,
    );
    is_written(
        Traffic::Responses { size: Distribution::Uniform(1, 2), think: Distribution::Pareto(Time(1), 1.5) },
        r#"{"responses":{"size":{"uniform":[1,2]},"think":{"pareto":[1,1.5]}}}"#,
    );
    is_written(Distribution::<u64>::Lognormal(7, 0.5), r#"{"lognormal":[7,0.5]}"#);
    is_written(Distribution::<u64>::Measured(Workload::WebSearch), r#"{"measured":"web-search"}"#);
}

fn flow(ssthresh: f64) -> FlowOutcome {
    FlowOutcome {
        rtt_min: Some(Time(204_016_000)),
        rtt_sum_s: 255_678.123_456_789,
        cwnd: 0.1 + 0.2,
        ssthresh,
        bytes_left: vec![5_250, 0],
        messages: vec![MessageOutcome { bytes: 7, start: Time(1), end: None }],
        ..FlowOutcome::default()
    }
}

#[test]
fn outcomes_have_their_names() {
    let emulation = Emulation {
        late_p50: Time(1_500),
        late_p99: Time(80_000),
        late_max: Time(2_000_000),
        rate_error: None,
        steal: 0.02,
        validity_warnings: vec!["it was late".to_owned()],
        host: "6.18.0 x86_64".to_owned(),
        implementations: vec![Implementation {
            algorithm: "cubic".to_owned(),
            by: "built into the kernel".to_owned(),
        }],
    };
    let outcome = Outcome {
        begin: Time(5),
        end: Time(9),
        flows: vec![flow(f64::INFINITY)],
        links: vec![LinkOutcome {
            name: "bottleneck".to_owned(),
            arrived: u64::MAX,
            ..LinkOutcome::default()
        }],
        trace: None,
        emulation: Some(emulation),
    };
    is_written(
        outcome.clone(),
        concat!(
            r#"{"begin":5,"end":9,"flows":[{"start":0,"stop":null,"completed":null,"packets-sent":0,"#,
            r#""retransmissions":0,"packets-received":0,"duplicates":0,"wire-bytes-received":0,"bytes-in-order":0,"#,
            r#""bytes-left":[5250,0],"packets-dropped":0,"packets-lost":0,"packets-copied":0,"packets-in-flight":0,"#,
            r#""timeouts":0,"congestion-events":0,"acks-received":0,"packets-marked":0,"rtt-samples":0,"#,
            r#""rtt-sum-s":255678.123456789,"rtt-min":204016000,"rtt-max":null,"cwnd-integral":0.0,"#,
            r#""cwnd":0.30000000000000004,"ssthresh":null,"messages":[{"bytes":7,"start":1,"end":null}]}],"#,
            r#""links":[{"name":"bottleneck","arrived":18446744073709551615,"data-arrived":0,"dropped":0,"lost":0,"#,
            r#""marked":0,"copied":0,"delivered":0,"in-flight":0,"waiting-integral":0.0,"max-waiting":0}],"#,
            r#""emulation":{"late-p50":1500,"late-p99":80000,"late-max":2000000,"rate-error":null,"steal":0.02,"#,
            r#""validity-warnings":["it was late"],"host":"6.18.0 x86_64","#,
            r#""implementations":[{"algorithm":"cubic","by":"built into the kernel"}]}}"#,
        ),
    );
    // Samples have files of their own.
    let sampled = Outcome { trace: Some(Trace::default()), ..outcome.clone() };
    assert_eq!(serde_json::to_string(&sampled).unwrap(), serde_json::to_string(&outcome).unwrap());
}

#[test]
fn fields_that_are_not_known_are_refused() {
    let text = serde_json::to_string(&flow(5.0)).unwrap();
    let other = text.replacen('{', r#"{"packets-reordered":3,"#, 1);
    let error = serde_json::from_str::<FlowOutcome>(&other).unwrap_err().to_string();
    assert!(error.starts_with("unknown field `packets-reordered`"), "{error}");
    let fewer = text.replacen(r#""timeouts":0,"#, "", 1);
    let error = serde_json::from_str::<FlowOutcome>(&fewer).unwrap_err().to_string();
    assert!(error.starts_with("missing field `timeouts`"), "{error}");
}

#[test]
fn what_is_no_threshold_is_not_written() {
    for ssthresh in [f64::NAN, f64::NEG_INFINITY] {
        assert!(serde_json::to_string(&flow(ssthresh)).is_err(), "{ssthresh}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]
    #[test]
    fn floats_are_read_back_to_the_bit(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        prop_assume!(value.is_finite());
        let text = serde_json::to_string(&flow(value)).unwrap();
        let read: FlowOutcome = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read.ssthresh.to_bits(), bits);
        let loss = serde_json::to_string(&Loss::Bernoulli(value)).unwrap();
        let Loss::Bernoulli(read) = serde_json::from_str(&loss).unwrap() else { panic!("{loss}") };
        prop_assert_eq!(read.to_bits(), bits);
    }
}
