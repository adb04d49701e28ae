//! Parsers take any text without panicking, and read back what they write.

use cwnd_experiment::{
    Buffer, BufferTerm, CrossFlows, EcnThreshold, FlowGroup, Mix, ScheduleChoice, ShortFlows,
};
use cwnd_scenario::{
    AlgorithmSpec, ByteSize, Decimal, Discipline, Distribution, Jitter, Loss, Policer, Probability, Rate,
    Time, Traffic,
};
use proptest::prelude::*;
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Texts that look like what the parsers read, so that the paths behind the first character are taken.
fn likely() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[0-9]{0,25}",
        "[-+.eE_0-9]{0,8}",
        Just(" ".to_owned()),
        prop::sample::select(vec![
            "ns",
            "us",
            "\u{b5}s",
            "ms",
            "s",
            "min",
            "h",
            "bit/s",
            "kbit/s",
            "Mbit/s",
            "Gbit/s",
            "MB/s",
            "B",
            "KB",
            "MiB",
            "%",
            "BDP",
            "/flow",
            "packets",
            "max(",
            ")",
            ",",
            ";",
            ":",
            "=",
            "*",
            "unlimited",
            "cubic",
            "agile-sd",
            "lambda_max",
            "count",
            "start",
            "stop",
            "rtt",
            "bytes",
            "reverse",
            "traffic",
            "deadline",
            "on-off",
            "live",
            "responses",
            "exponential ",
            "uniform ",
            " to ",
            "pareto ",
            " shape ",
            "lognormal ",
            " sigma ",
            "web-search",
            "size",
            "think",
            "load",
            "rate",
            "/s",
            "side=wired",
            "path=",
            "->",
            "red",
            "codel",
            "min",
            "target",
            "ecn",
            "on",
            "nth",
            "gilbert-elliott",
            "to_bad=",
            "to_good=",
            "normal",
            "sometimes",
            "reorder",
            "down",
            "every ",
            "nan",
            "inf",
            "--",
            "\u{2212}",
            "\u{1F600}",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// What is read is written as something that reads the same.
fn stable<T: FromStr<Err: Debug> + Display + PartialEq + Debug>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        let written = value.to_string();
        assert_eq!(written.parse::<T>().expect(&written), value, "{text} is written {written}");
    }
}

fn try_all(text: &str) {
    stable::<Time>(text);
    stable::<Rate>(text);
    stable::<ByteSize>(text);
    stable::<Probability>(text);
    stable::<Buffer>(text);
    stable::<EcnThreshold>(text);
    stable::<Decimal>(text);
    stable::<Traffic>(text);
    stable::<Distribution<Time>>(text);
    stable::<Distribution<u64>>(text);
    stable::<ShortFlows>(text);
    stable::<AlgorithmSpec>(text);
    stable::<Mix>(text);
    stable::<FlowGroup>(text);
    stable::<Discipline>(text);
    stable::<Loss>(text);
    stable::<Jitter>(text);
    stable::<Policer>(text);
    stable::<CrossFlows>(text);
    stable::<ScheduleChoice>(text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,40}") {
        try_all(&text);
    }

    #[test]
    fn any_likely_text_is_read_or_refused(text in likely()) {
        try_all(&text);
    }
}

proptest! {
    #[test]
    fn every_time_is_read_back(ns in 0..=Time::LONGEST.0) {
        prop_assert_eq!(Time(ns).to_string().parse(), Ok(Time(ns)));
    }

    #[test]
    fn every_rate_is_read_back(rate in Rate::LEAST.0..=Rate::MOST.0) {
        prop_assert_eq!(Rate(rate).to_string().parse(), Ok(Rate(rate)));
    }

    #[test]
    fn every_size_is_read_back(bytes in 0..=ByteSize::MOST.0) {
        prop_assert_eq!(ByteSize(bytes).to_string().parse(), Ok(ByteSize(bytes)));
    }

    #[test]
    fn every_probability_is_read_back(value in 0.0..=1.0f64) {
        let probability = Probability::new(value).expect("from 0 to 1");
        prop_assert_eq!(probability.to_string().parse(), Ok(probability));
    }

    #[test]
    fn every_decimal_is_read_back(digits: u64, exponent in -400..400) {
        prop_assume!(digits <= 9_999_999_999_999_999_999);
        let decimal = Decimal::new(digits, exponent);
        prop_assert_eq!(decimal.to_string().parse(), Ok(decimal));
    }

    #[test]
    fn milliseconds_are_exact(us in 0..1_000_000_000u64) {
        let text = format!("{}.{:03} ms", us / 1000, us % 1000);
        prop_assert_eq!(text.parse(), Ok(Time(us * 1000)));
    }

    #[test]
    fn a_buffer_of_packets_is_read_back(packets in 1..=u32::MAX, flows in 1..1000u32) {
        for terms in [vec![BufferTerm::Fixed(packets)], vec![BufferTerm::PerFlow(flows), BufferTerm::Fixed(packets)]] {
            let buffer = Buffer::Packets(terms);
            prop_assert_eq!(buffer.to_string().parse(), Ok(buffer));
        }
    }
}
