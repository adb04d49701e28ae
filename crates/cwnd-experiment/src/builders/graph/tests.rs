use super::*;
use cwnd_scenario::{Discipline, Loss, QueueLimit};

/// `a` and `b` on a router, a slow and a quick way to another, and `c` behind it.
fn graph() -> Graph {
    let link = |name: &str, from, to, ms| GraphLink {
        name: name.to_owned(),
        from,
        to,
        delay: Some(Time::from_millis(ms)),
        ..GraphLink::default()
    };
    Graph {
        nodes: ["a", "b", "left", "right", "c", "detour"].map(str::to_owned).into(),
        links: vec![
            link("a-left", 0, 2, 1),
            link("b-left", 1, 2, 2),
            GraphLink { delay: None, ..link("trunk", 2, 3, 0) },
            link("right-c", 3, 4, 1),
            link("up", 2, 5, 5),
            GraphLink { one_way: true, ..link("down", 5, 3, 5) },
        ],
        bottleneck: 2,
        paths: vec![vec![0, 4], vec![1, 4]],
    }
}

fn drawn(graph: &Graph, flows: Vec<Endpoints>) -> Drawn<'_> {
    Drawn {
        graph,
        bottleneck: Bottleneck {
            rate: Rate(80_000_000),
            delay: LineDelay::OneWay(Time::from_millis(10)),
            buffer: "1 BDP".parse().unwrap(),
            ecn_threshold: None,
            forward: LineOptions { loss: Some(Loss::Bernoulli(0.5)), ..LineOptions::default() },
            reverse: LineOptions::default(),
        },
        access: Access {
            rate: Rate(1_000_000_000),
            delay: Time::from_millis(7),
            buffer: 50.into(),
            queue: Discipline::DropTail,
        },
        flows,
        counting: Counting::WaitingOnly,
        full_packet: 1_000,
    }
}

fn path(nodes: &[&str]) -> Endpoints {
    let place = Place::Path(nodes.iter().map(|node| (*node).to_owned()).collect());
    Endpoints { place, ..Endpoints::default() }
}

fn names(built: &Built, links: &[LinkId]) -> String {
    links.iter().map(|link| built.network.links[*link].name.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn flows_take_the_shortest_way_along_their_path() {
    let graph = graph();
    let flows = vec![
        Endpoints::default(),
        Endpoints::default(),
        Endpoints { reverse: true, ..Endpoints::default() },
        path(&["b", "detour", "c"]),
    ];
    let built = drawn(&graph, flows).build().unwrap();
    let of = |flow: usize| (names(&built, &built.routes[flow].data), names(&built, &built.routes[flow].acks));
    let own = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    // Both ways to the right take 10 ms: the one with fewer links is taken.
    assert_eq!(of(0), own("a-left trunk right-c", "right-c-reverse trunk-reverse a-left-reverse"));
    assert_eq!(of(1), own("b-left trunk right-c", "right-c-reverse trunk-reverse b-left-reverse"));
    // The third takes the first path again, the other way round.
    assert_eq!(of(2), own("right-c-reverse trunk-reverse a-left-reverse", "a-left trunk right-c"));
    // Nothing leads from the right up to the detour: ACKs go round by the trunk and the way up.
    let back = "right-c-reverse trunk-reverse up up-reverse b-left-reverse";
    assert_eq!(of(3), own("b-left up down right-c", back));
    // 2 x 12; 2 x 13; 2 + 5 + 5 + 1 there, and 1 + 10 + 5 + 5 + 2 back.
    assert_eq!(built.base_rtt, Time::from_millis(36));
}

#[test]
fn links_have_what_is_said_or_what_is_left_to_them() {
    let mut graph = graph();
    graph.links[3].buffer = Some("2 BDP".parse().unwrap());
    graph.links[0].rate = Some(Rate(8_000_000));
    let built = drawn(&graph, vec![Endpoints::default(); 2]).build().unwrap();
    let link = |name: &str| built.network.links.iter().find(|link| link.name == name).unwrap();
    assert_eq!(built.network.links[built.network.bottleneck].name, "trunk");
    assert_eq!(link("trunk").loss, Loss::Bernoulli(0.5));
    assert_eq!(link("trunk-reverse").loss, Loss::None);
    assert_eq!((link("trunk").rate, link("trunk").delay), (Rate(80_000_000), Time::from_millis(10)));
    assert_eq!((link("a-left").rate, link("b-left").rate), (Rate(8_000_000), Rate(1_000_000_000)));
    // 8e7 x 26 ms / 8,000 = 260 packets.
    assert_eq!((link("trunk").queue.limit, built.bdp_packets), (QueueLimit::Packets(260), Some(260)));
    // 2 x 1e9 x 26 ms / 8,000 = 6,500.
    assert_eq!(link("right-c").queue.limit, QueueLimit::Packets(6_500));
    assert_eq!(link("up").queue.limit, QueueLimit::Packets(50));
    assert!(built.network.links.iter().all(|link| link.name != "down-reverse"));
}

#[test]
fn the_bottlenecks_own_none_holds_against_the_settings() {
    let mut graph = graph();
    let jitter = |graph: &Graph| {
        let mut drawn = drawn(graph, vec![Endpoints::default()]);
        drawn.bottleneck.forward.jitter = Some("uniform:5 ms".parse().ok());
        let built = drawn.build().unwrap();
        built.network.links[built.network.bottleneck].effects.jitter
    };
    assert_eq!(jitter(&graph), "uniform:5 ms".parse().ok());
    graph.links[2].forward.jitter = Some(None);
    assert_eq!(jitter(&graph), None);
}

#[test]
fn what_cannot_be_says_where_and_why() {
    let graph = graph();
    let said = |flow: Endpoints| drawn(&graph, vec![flow]).build().unwrap_err()[0].to_string();
    assert_eq!(
        said(path(&["a", "rigth"])),
        "flows[0].path: there is no node `rigth`; did you mean `right`?: there are a, b, left, right, c, detour"
    );
    assert_eq!(said(path(&["a", "a"])), "flows[0].path: it names `a` twice in a row");
    assert_eq!(said(path(&["a", "c", "a"])), "flows[0].path: it ends at `a`, where it begins");
    let own = Endpoints { rtt: Some(Time::from_millis(1)), ..Endpoints::default() };
    assert!(said(own).starts_with("flows[0].rtt: the round trips of a graph"));
    let twice = path(&["a", "c", "a", "b"]);
    assert!(said(twice).contains("crosses the link"), "ways that cross a link twice are no routes");
    let mut lost = graph.clone();
    lost.nodes.push("island".to_owned());
    lost.paths = vec![vec![0, 6]];
    let error = drawn(&lost, vec![Endpoints::default()]).build().unwrap_err();
    assert_eq!(error[0].to_string(), "network.paths[0]: no links lead from `a` to `island`");
    lost.paths.clear();
    let error = drawn(&lost, vec![Endpoints::default()]).build().unwrap_err();
    assert_eq!(error[0].place, "network.paths");
    let mut small = graph.clone();
    small.links[3].buffer = Some(Buffer::Bytes(10));
    let error = drawn(&small, vec![Endpoints::default()]).build().unwrap_err();
    assert_eq!(error[0].place, "network.links[3].buffer");
}
