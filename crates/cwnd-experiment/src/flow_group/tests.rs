use super::*;
use cwnd_scenario::{Distribution, Transport};

fn spec(name: &str, parameters: &[(&str, &str)]) -> AlgorithmSpec {
    AlgorithmSpec {
        name: name.to_owned(),
        parameters: parameters.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        ..AlgorithmSpec::default()
    }
}

#[track_caller]
fn refused<T: FromStr<Err = NotationError> + fmt::Debug>(text: &str) -> String {
    text.parse::<T>().expect_err(text).to_string()
}

#[test]
fn a_piece_without_a_parameter_begins_an_item() {
    let mix: Mix = "agile-sd:lambda_max=4,beta2=0.9*2,elastic*2".parse().unwrap();
    let agile = spec("agile-sd", &[("lambda_max", "4"), ("beta2", "0.9")]);
    assert_eq!(mix, Mix(vec![FlowGroup::new(agile, 2), FlowGroup::new(spec("elastic", &[]), 2)]));
    assert_eq!(mix.to_string(), "agile-sd:beta2=0.9,lambda_max=4*2,elastic*2");

    let mix: Mix = "cltcp, Reno * 4".parse().unwrap();
    assert_eq!(mix.to_string(), "cltcp,newreno*4");

    let mix: Mix = "cubic:c=1,cubic:c=2,d=3".parse().unwrap();
    assert_eq!(mix.to_string(), "cubic:c=1,cubic:c=2,d=3");
}

#[test]
fn refuses_mixes_with_a_place() {
    assert_eq!(refused::<Mix>(""), "column 1: an algorithm's name is missing here");
    assert_eq!(refused::<Mix>("cubic,,reno"), "column 7: an algorithm's name is missing here");
    assert_eq!(refused::<Mix>("cubic*0"), "column 7: there must be at least 1 flow");
    assert_eq!(refused::<Mix>("cubic*x"), "column 7: `x` is not a number of flows: write 4, for example");
    assert_eq!(refused::<Mix>("cubic*"), "column 7: `` is not a number of flows: write 4, for example");
    assert_eq!(
        refused::<Mix>("cubic*99999999999"),
        "column 7: `99999999999` flows are too many: 100000 are the most"
    );
    assert_eq!(refused::<Mix>("cubic*2*3"), "column 6: `*N` must stand last in its item, and once");
    assert_eq!(refused::<Mix>("cubic:c=1*2,d=3"), "column 10: `*N` must stand last in its item, and once");
    assert_eq!(
        refused::<Mix>("elastic,beta=3"),
        "column 8: `elastic,beta=3`: a parameter follows an algorithm's name and a colon, as in `name:a=1,b=2`"
    );
}

#[test]
fn reads_flows() {
    let text = "agile-sd:lambda_max=4; count=2; start=21 s; stop=85 s; rtt=320 ms; bytes=5.1 GB; \
                traffic=on-off:exponential 2 s,1 s; deadline=50 ms; group=back-ground; \
                receiver=hide-ce; stack=noq; reverse";
    let group: FlowGroup = text.parse().unwrap();
    let expected = FlowGroup {
        algorithm: spec("agile-sd", &[("lambda_max", "4")]),
        count: 2,
        start: Some(Time::from_secs(21)),
        stop: Some(Time::from_secs(85)),
        rtt: Some(Time::from_millis(320)),
        bytes: Some(ByteSize(5_100_000_000)),
        traffic: Some(Traffic::OnOff {
            on: Distribution::Exponential(Time::from_secs(2)),
            off: Distribution::Constant(Time::from_secs(1)),
        }),
        deadline: Some(Time::from_millis(50)),
        reverse: true,
        place: Place::Usual,
        name: Some("back-ground".to_owned()),
        receiver: ReceiverBehaviour::HideCe,
        transport: Some(Transport::Noq),
    };
    assert_eq!(group, expected);
    assert_eq!(group.to_string(), text);
    let path = Place::Path(vec!["a".to_owned(), "b 2".to_owned(), "c".to_owned()]);
    for (text, place) in [
        ("cubic; side=wired", Place::Side(Side::Wired)),
        ("cubic; side=satellite; reverse", Place::Side(Side::Satellite)),
        ("cubic; hop=2", Place::Hop(2)),
        ("cubic; path=a -> b 2 -> c", path),
    ] {
        let group: FlowGroup = text.parse().unwrap();
        assert_eq!((&group.place, group.to_string().as_str()), (&place, text));
    }
    assert_eq!("cubic".parse::<FlowGroup>().unwrap().to_string(), "cubic");
}

#[test]
fn refuses_flows_with_a_place() {
    assert_eq!(refused::<FlowGroup>("; count=2"), "column 1: an algorithm's name is missing here");
    assert_eq!(
        refused::<FlowGroup>("cubic; strat=3 s"),
        "column 8: a flow has no `strat` (did you mean `start`?): it takes count, start, stop, rtt, bytes, traffic, deadline, \
         side, hop, path, group, receiver, stack and reverse"
    );
    assert_eq!(
        refused::<FlowGroup>("cubic; start=3"),
        "column 14: `3`: a time needs a unit: write `3 ms`, for example"
    );
    assert_eq!(
        refused::<FlowGroup>("cubic; start"),
        "column 8: `start` needs a value: `start=21 s`, for example"
    );
    assert_eq!(
        refused::<FlowGroup>("cubic; reverse=1"),
        "column 16: `reverse` stands alone, without a value"
    );
    assert_eq!(
        refused::<FlowGroup>("cubic; traffic=live:5"),
        "column 21: `5`: a rate needs a unit: write `5 Mbit/s`, for example"
    );
    assert_eq!(refused::<FlowGroup>("cubic; count=2; count=3"), "column 17: `count` is said twice");
    assert_eq!(
        refused::<FlowGroup>("cubic; side=wird"),
        "column 13: a side is `satellite` or `wired`; did you mean `wired`?"
    );
    assert_eq!(refused::<FlowGroup>("cubic; hop=0"), "column 12: `0` is no hop: they are counted from 1 on");
    assert_eq!(
        refused::<FlowGroup>("cubic; path=a"),
        "column 13: a path is written with its nodes: `a -> b`, or `a -> r -> b`"
    );
    assert_eq!(refused::<FlowGroup>("cubic; hop=1; hop=2"), "column 15: `hop` is said twice");
    assert_eq!(
        refused::<FlowGroup>("cubic; hop=1; side=wired"),
        "column 15: `side` and `hop` cannot both be said"
    );
    assert_eq!(refused::<FlowGroup>("cubic;"), "column 7: something is missing here, or a `;` is too much");
    assert_eq!(refused::<FlowGroup>("cubic; rtt=-3 ms"), "column 12: `-3 ms`: it must not be negative");
}
