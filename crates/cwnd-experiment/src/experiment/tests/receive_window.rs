//! The receive window of the linux profile.

use super::*;

#[test]
fn a_buffer_of_any_size_leaves_the_receive_window_within_its_limit() {
    let window = |buffer: &str| said(&[("buffer", buffer)]).unwrap().stack.receive_window;
    assert_eq!(window("1000"), 4 * (16_843 + 1000 + 1000));
    assert_eq!(window("1 TB"), 1 << 30);
}

#[test]
fn a_linux_window_holds_four_times_the_network() {
    let setup = ExperimentSpec {
        rate: Rate(100_000_000),
        delay: LineDelay::BaseRtt(Time::from_millis(80)),
        buffer: 50.into(),
        access_rate: Some(OrBottleneck::Bottleneck),
        access_buffer: Some(OrBottleneck::Own(1000.into())),
        ..ExperimentSpec::default()
    };
    // 100e6 x 0.08 / (8 x 1514) = 660.5.
    assert_eq!(built(&setup, &[cubic(1)]).stack.receive_window, 4 * (661 + 50 + 1000));
    assert_eq!(built(&setup, &[cubic(1)]).network.links[0].queue.counting, Counting::WaitingOnly);
    let path =
        ExperimentSpec { topology: Topology::Path, access_rate: None, access_buffer: None, ..setup.clone() };
    assert_eq!(built(&path, &[cubic(1)]).stack.receive_window, 4 * (661 + 50));
    // A queue without a limit counts as 25,000 packets; the sender's own, at ten times the rate, holds only bursts.
    let unlimited = ExperimentSpec { buffer: Buffer::Unlimited, access_buffer: None, ..setup.clone() };
    assert_eq!(built(&unlimited, &[cubic(1)]).stack.receive_window, 4 * (661 + 25_000));
    let own = ExperimentSpec {
        access_rate: None,
        access_buffer: Some(OrBottleneck::Own(Buffer::Unlimited)),
        ..setup
    };
    assert_eq!(built(&own, &[cubic(1)]).stack.receive_window, 4 * (661 + 50));
}

#[test]
fn a_linux_window_is_enough_for_every_flow() {
    let window = |flows: &[FlowGroup], settings: &[(&str, &str)]| {
        let mut experiment = ExperimentSpec::default();
        set(&mut experiment, settings);
        built(&experiment, flows).stack.receive_window
    };
    let settings = [
        ("rate", "1 Mbit/s"),
        ("reverse-rate", "1 Gbit/s"),
        ("access-rate", "unlimited"),
        ("rtt", "40 ms"),
        ("buffer", "20"),
        ("reverse-buffer", "3300"),
    ];
    // 1e6 x 0.04 / 12,112 = 3.3, and 1e9 x 0.04 / 12,112 = 3,302.5. The senders' own queues hold 1,000.
    assert_eq!(window(&[cubic(1)], &settings), 4 * (3 + 20 + 1_000));
    let reverse = FlowGroup { reverse: true, ..cubic(1) };
    assert_eq!(window(&[cubic(1), reverse], &settings), 4 * (3_303 + 3_300 + 1_000));

    // Two lines that share nothing. The second has 1e9 x 0.02 / 12,112 = 1,651.3.
    let link = |name: &str, ends: (usize, usize)| crate::GraphLink {
        name: name.to_owned(),
        from: ends.0,
        to: ends.1,
        ..crate::GraphLink::default()
    };
    let graph = crate::Graph {
        nodes: ["a", "b", "c", "d"].map(str::to_owned).into(),
        links: vec![
            link("ab", (0, 1)),
            crate::GraphLink {
                rate: Some(Rate(1_000_000_000)),
                delay: Some(Time::from_millis(10)),
                buffer: Some(1650.into()),
                ..link("cd", (2, 3))
            },
        ],
        bottleneck: 0,
        paths: Vec::new(),
    };
    let setup = ExperimentSpec {
        topology: Topology::Graph(graph.into()),
        rate: Rate(1_000_000),
        delay: LineDelay::OneWay(Time::from_millis(10)),
        buffer: 20.into(),
        ..ExperimentSpec::default()
    };
    let on = |from: &str, to: &str| FlowGroup {
        place: Place::Path(vec![from.to_owned(), to.to_owned()]),
        ..cubic(1)
    };
    let window = |flows: &[FlowGroup]| built(&setup, flows).stack.receive_window;
    assert_eq!(window(&[on("a", "b")]), 4 * (2 + 20));
    assert_eq!(window(&[on("a", "b"), on("c", "d")]), 4 * (1_651 + 1_650));
}

#[test]
fn the_window_of_the_bottleneck_is_that_of_flows_whose_data_cross_it() {
    let link = |name: &str, from, rate, buffer: u32| crate::GraphLink {
        name: name.to_owned(),
        from,
        to: from + 1,
        rate: Some(Rate(rate)),
        delay: Some(Time::from_millis(10)),
        buffer: Some(buffer.into()),
        ..crate::GraphLink::default()
    };
    // A narrower link comes behind the bottleneck.
    let graph = crate::Graph {
        nodes: ["a", "b", "c", "d"].map(str::to_owned).into(),
        links: vec![
            link("ab", 0, 1_000_000_000, 5_000),
            link("bc", 1, 1_000_000, 3_000),
            link("cd", 2, 500_000, 5),
        ],
        bottleneck: 1,
        paths: vec![vec![0, 3]],
    };
    let setup = ExperimentSpec { topology: Topology::Graph(graph.into()), ..ExperimentSpec::default() };
    let window = |flows: &[FlowGroup]| built(&setup, flows).stack.receive_window;
    // 1e6 x 0.06 / 12,112 = 5.0, in the queue of `bc` 3,000, and in the sender's own 5,000.
    let expected = 4 * (5 + 3_000 + 5_000);
    let reverse = FlowGroup { reverse: true, ..cubic(1) };
    assert_eq!(window(&[cubic(1)]), expected);
    // The own queue of a reverse flow's sender, `cd-reverse`, says nothing of it, whichever flow comes first.
    assert_eq!(window(&[cubic(1), reverse.clone()]), expected);
    assert_eq!(window(&[reverse, cubic(1)]), expected);
}

#[test]
fn a_window_is_enough_for_the_best_that_a_schedule_has() {
    let window = |settings: &[(&str, &str)]| {
        let linux = [("stack", "linux"), ("rate", "10 Mbit/s"), ("rtt", "104 ms"), ("buffer", "20")];
        said(&[&linux, settings].concat()).unwrap().stack.receive_window
    };
    // 1e7 x 0.104 / 12,112 = 86 packets; 4 x (86 + 20 + 1,000).
    assert_eq!(window(&[]), 4_424);
    assert_eq!(window(&[("access-buffer", "bottleneck")]), 504);
    // 86 x 30 Mbit/s / 10 Mbit/s x (104 + 2 x 26) ms / 104 ms = 387; 4 x (387 + 1,020).
    assert_eq!(window(&[("schedule", "1 s: 5 Mbit/s; 2 s: 30 Mbit/s, 76 ms")]), 5_628);
}

#[test]
fn a_window_without_data_over_the_bottleneck_is_that_of_the_other_links() {
    let mut setup = ExperimentSpec::default();
    set(&mut setup, &[("topology", "parking-lot"), ("stack", "linux"), ("rate", "10 Mbit/s")]);
    let window = |hop| {
        let group = FlowGroup { place: crate::Place::Hop(hop), ..cubic(1) };
        built(&setup, &[group]).stack.receive_window
    };
    // All hops are alike, and the first one is the bottleneck.
    assert_eq!(window(2), window(1));
}
