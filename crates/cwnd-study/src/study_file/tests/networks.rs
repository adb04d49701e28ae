//! Networks in files: what a line does, and graphs.

use super::*;
use cwnd_scenario::{Ecn, Loss, QueueLimit, Rate, Scenario, Schedule};
use std::collections::BTreeMap;

#[track_caller]
fn study(lines: &str) -> Study {
    parse(lines).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn link<'a>(scenario: &'a Scenario, name: &str) -> &'a cwnd_scenario::LinkSpec {
    scenario.network.links.iter().find(|link| link.name == name).unwrap_or_else(|| panic!("no link {name}"))
}

#[test]
fn lines_are_said_in_words() {
    let study = study(
        r#"
        [scenario]
        algorithm = "cubic"
        topology = "parking-lot"
        hops = 2
        cross-flows = "newreno*2"
        rate = "50 Mbit/s"
        delay = "10 ms"
        schedule = ["10 s: 20 Mbit/s", "30 s: down", "31 s: up, 40 ms", "every 60 s"]
        l4s = false
        [[axes]]
        name = "queue"
        key = "queue"
        values = ["drop-tail", "codel:ecn=on", "red:min=20,max=60"]
        [[axes]]
        name = "loss"
        key = "loss"
        values = [0, 1e-3, "gilbert-elliott:to_bad=1e-4,to_good=0.1"]
        "#,
    );
    let labels: Vec<String> = (0..3).map(|cell| study.cell_label(cell)).collect();
    assert_eq!(
        labels,
        ["drop-tail, 0", "drop-tail, 1e-3", "drop-tail, gilbert-elliott:to_bad=1e-4,to_good=0.1"]
    );
    let of = |cell: usize| &study.cells[cell].scenario;
    assert_eq!(link(of(1), "hop-1").loss, Loss::Bernoulli(1e-3));
    assert_eq!((of(0).stack.ecn, of(3).stack.ecn, of(6).stack.ecn), (Ecn::Off, Ecn::Classic, Ecn::Off));
    assert_eq!(link(of(3), "hop-2-reverse").queue.discipline.to_string(), "codel:ecn=on");
    assert!(!of(0).stack.l4s);
    let algorithms: Vec<&str> = of(0).flows.iter().map(|flow| flow.algorithm.name.as_str()).collect();
    assert_eq!(algorithms, ["cubic", "newreno", "newreno", "newreno", "newreno"]);
    let Some(Schedule::Steps(steps)) = &link(of(0), "hop-1").schedule else { panic!("steps") };
    assert_eq!((steps.steps.len(), steps.period), (3, Some(Time::from_secs(60))));
    assert_eq!(steps.steps[2].rate, Rate(20_000_000));
}

#[test]
fn unusual_settings_are_those_that_decide() {
    let unusual = |lines: &str| -> Vec<(&str, String)> {
        let scenario =
            "[scenario]\nalgorithm = \"cubic\"\nrate = \"50 Mbit/s\"\nrtt = \"40 ms\"\nbuffer = 80\n";
        let study = study(&format!("{scenario}{lines}"));
        let all = study.cells[0].unusual_settings().into_iter();
        all.map(|(setting, value)| (setting.key, value)).filter(|(key, _)| *key != "engine").collect()
    };
    assert_eq!(unusual(""), []);
    assert_eq!(unusual("stack = \"ns2\"\nduration = \"7 s\"\ntopology = \"path\""), []);
    let lines = "queue = \"codel\"\nschedule = [\"5 s: down\"]\nwarm-up = \"5 s\"\ndelayed-ack = \"off\"\nreverse-rate = \"1 Mbit/s\"";
    let said: BTreeMap<&str, String> = unusual(lines).into_iter().collect();
    for (key, value) in
        [("queue", "codel"), ("warm-up", "5 s"), ("delayed-ack", "off"), ("reverse-rate", "1 Mbit/s")]
    {
        assert_eq!(said.get(key).map(String::as_str), Some(value), "{said:?}");
    }
    assert!(said["schedule"].starts_with("5 s"), "{said:?}");
}

#[test]
fn a_kernels_run_has_no_setting_of_the_simulator() {
    let keys = |engine: &str| -> Vec<&str> {
        let study = study(&format!("[scenario]\nalgorithm = \"newreno\"\n[run]\nengine = \"{engine}\""));
        study.cells[0].settings().map(|(setting, _)| setting.key).collect()
    };
    for key in ["timer-hz", "linux-version", "send-overhead", "ties"] {
        assert!(keys("sim").contains(&key), "{key}");
        assert!(!keys("kernel").contains(&key) && !keys("vm").contains(&key), "{key}");
    }
    assert!(keys("vm").contains(&"start-jitter"));
}

/// A graph with a trunk and two ways in.
const GRAPH: &str = r#"
    [scenario]
    algorithm = "cubic"
    flows = 3
    access-rate = "1 Gbit/s"
    stack = "ns2"
    [network]
    nodes = ["a", "b", "in", "out", "c"]
    links = [
        { from = "a", to = "in", delay = "2 ms" },
        { from = "b", to = "in", rate = "5 Mbit/s", loss = 1e-3, reverse-loss = 0.5 },
        { name = "trunk", from = "in", to = "out", delay = "20 ms" },
        { name = "last", from = "out", to = "c", both-ways = true, buffer = "2 BDP", queue = "fq-codel" },
    ]
    paths = ["a -> c", "b -> c"]
    bottleneck = "trunk"
    [[axes]]
    name = "rate"
    key = "rate"
    values = ["10 Mbit/s", "100 Mbit/s"]
    [[axes]]
    name = "buffer"
    key = "buffer"
    values = [20, "1 BDP"]
"#;

#[test]
fn a_graph_is_drawn_link_by_link() {
    let study = study(GRAPH);
    let scenario = &study.cells[3].scenario;
    let names: Vec<&str> = scenario.network.links.iter().map(|link| link.name.as_str()).collect();
    let expected =
        ["a-in", "a-in-reverse", "b-in", "b-in-reverse", "trunk", "trunk-reverse", "last", "last-reverse"];
    assert_eq!(names, expected);
    assert_eq!(scenario.network.links[scenario.network.bottleneck].name, "trunk");
    let routes: Vec<&[usize]> = scenario.flows.iter().map(|flow| flow.route.as_slice()).collect();
    assert_eq!(routes, [&[0, 4, 6][..], &[2, 4, 6], &[0, 4, 6]]);
    assert_eq!(scenario.flows[1].ack_route, [7, 5, 3]);
    // What the trunk leaves out the axes say; what others leave out the access links.
    assert_eq!(
        (link(scenario, "trunk").rate, link(scenario, "a-in").rate),
        (Rate(100_000_000), Rate(1_000_000_000))
    );
    assert_eq!(
        (link(scenario, "b-in").delay, link(scenario, "a-in").delay),
        (Time::from_millis(1), Time::from_millis(2))
    );
    assert_eq!(
        (&link(scenario, "b-in").loss, &link(scenario, "b-in-reverse").loss),
        (&Loss::Bernoulli(1e-3), &Loss::Bernoulli(0.5))
    );
    // 1e8 x 46 ms / 8,400 = 547.6; 2 x 1e9 x 46 ms / 8,400 = 10,952.4.
    assert_eq!(link(scenario, "trunk").queue.limit, QueueLimit::Packets(548));
    assert_eq!(link(scenario, "last").queue.limit, QueueLimit::Packets(10_952));
    assert_eq!(link(&study.cells[0].scenario, "trunk").queue.limit, QueueLimit::Packets(20));
    assert_eq!(scenario.stack.ecn, Ecn::Classic);
    assert_eq!(study.axes[0].points[1].value, Some(100.0));
    let own = study_with_flows(r#"flow = ["cubic; path=b -> a", "elastic"]"#);
    assert_eq!(own.cells[0].scenario.flows[0].route, [2, 1]);
    assert_eq!(own.cells[0].scenario.flows[1].route, [0, 4, 6]);
}

#[track_caller]
fn study_with_flows(flows: &str) -> Study {
    study(&GRAPH.replace("algorithm = \"cubic\"\n    flows = 3", flows))
}

#[test]
fn a_drawn_link_whose_trace_is_too_slow_is_named() {
    let folder = tempfile::tempdir().unwrap();
    // 12,000 bits in 60 s.
    std::fs::write(folder.path().join("slow.trace"), "60000\n").unwrap();
    let error = |bottleneck: &str, rate: &str| {
        let text = format!(
            "title = \"A\"\nquestion = \"B\"\n[scenario]\nalgorithm = \"newreno\"\n[network]\nnodes = [\"a\", \"b\", \"c\"]\n\
             paths = [\"a -> c\"]\n\
             bottleneck = \"{bottleneck}\"\n[[network.links]]\nname = \"ab\"\nfrom = \"a\"\nto = \"b\"\n\
             [[network.links]]\nname = \"bc\"\nfrom = \"b\"\nto = \"c\"\nrate-trace = \"slow.trace\"\n{rate}"
        );
        let path = folder.path().join("a.toml");
        std::fs::write(&path, text).unwrap();
        Study::load(&path, &|_| Ok(())).err().map(|error| error.to_string())
    };
    let message = "`rate-trace` of the link `bc`: the mean rate of `slow.trace` is 200 bit/s";
    // Whether or not it is the bottleneck.
    for bottleneck in ["ab", "bc"] {
        let error = error(bottleneck, "").unwrap();
        assert!(error.starts_with(message) && error.contains("a.toml:17:14"), "{error}");
    }
    assert_eq!(error("bc", "rate = \"1 Mbit/s\""), None);
}

#[test]
fn traces_are_read_beside_the_study() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("studies")).unwrap();
    std::fs::write(folder.path().join("here.trace"), "2\n5\n10\n").unwrap();
    let lines = "title = \"A\"\nquestion = \"B\"\n[scenario]\nalgorithm = \"cubic\"\nrtt = \"100 ms\"\n\
                 rate-trace = \"../here.trace\"\n";
    let file = folder.path().join("studies/a.toml");
    std::fs::write(&file, lines).unwrap();
    let study = Study::load(&file, &check).unwrap();
    // 3 x 1,500 B in 10 ms.
    let bottleneck = link(&study.cells[0].scenario, "bottleneck");
    assert_eq!((bottleneck.rate, bottleneck.queue.limit), (Rate(3_600_000), QueueLimit::Packets(30)));
    assert_eq!(study.traces.len(), 1);
    assert_eq!(study.traces[0].name, "../here.trace");
    std::fs::write(folder.path().join("here.trace"), "2\n1\n").unwrap();
    let error = Study::load(&file, &check).unwrap_err().to_string();
    for part in ["`../here.trace` is no trace: line 2: 1 ms comes after 2 ms", "a.toml:6:14"] {
        assert!(error.contains(part), "{part} in {error}");
    }
    std::fs::remove_file(folder.path().join("here.trace")).unwrap();
    assert!(Study::load(&file, &check).unwrap_err().to_string().contains("cannot read `"));
}

/// A link that is the bottleneck, with keys of its own, and an axis.
fn shadowed(scenario: &str, link: &str, axis: &str) -> Result<Study, StudyError> {
    parse(&format!(
        "[scenario]\nalgorithm = \"newreno\"\nduration = \"10 s\"\n{scenario}\n[network]\nnodes = [\"a\", \"b\"]\n\
         paths = [\"a -> b\"]\n[[network.links]]\nname = \"ab\"\nfrom = \"a\"\nto = \"b\"\n{link}\n{axis}"
    ))
}

#[test]
fn a_setting_that_the_bottleneck_has_of_its_own_is_refused() {
    let axis =
        |key: &str, values: &str| format!("[[axes]]\nname = \"x\"\nkey = \"{key}\"\nvalues = {values}");
    let of_link = |key: &str, own: &str| {
        format!("`{key}` has no effect: the link `ab`, which is the bottleneck, has its own `{own}`")
    };
    let buffers = axis("buffer", "[5, 100, 1000]");
    let cases = [
        ("", "buffer = 20", buffers.clone(), of_link("buffer", "buffer"), "values = [5, 100, 1000]"),
        ("", "loss = \"nth:5\"", axis("per", "[0, 0.1]"), of_link("per", "loss"), "values = [0, 0.1]"),
        ("rate = \"5 Mbit/s\"", "rate = \"10 Mbit/s\"", String::new(), of_link("rate", "rate"), "rate = \"5 Mbit/s\""),
        (
            "",
            "rate = \"10 Mbit/s\"",
            axis("access-rate", "[\"1 Mbit/s\", \"2 Mbit/s\"]"),
            "`access-rate` has no effect: the only link, `ab`, is the bottleneck".to_owned(),
            "values = [\"1 Mbit/s\", \"2 Mbit/s\"]",
        ),
        (
            "access-buffer = 500",
            "rate = \"10 Mbit/s\"",
            String::new(),
            "`access-buffer` has no effect: the only link, `ab`, is the bottleneck".to_owned(),
            "access-buffer = 500",
        ),
        (
            "",
            "schedule = [\"0 s: 5 Mbit/s\"]",
            axis("rate", "[\"1 Mbit/s\", \"2 Mbit/s\"]"),
            "`rate` is never the rate of the link `ab`, which is the bottleneck: its `schedule` sets another at 0 s"
                .to_owned(),
            "values = [\"1 Mbit/s\", \"2 Mbit/s\"]",
        ),
    ];
    for (scenario, link, axis, message, place) in &cases {
        let error = shadowed(scenario, link, axis).unwrap_err().to_string();
        assert!(error.starts_with(message.as_str()), "{error}");
        assert_eq!(
            error.matches("no effect").count() + error.matches("never the rate").count(),
            1,
            "{error}"
        );
        assert!(error.contains(&format!("| {place}\n")), "{error}");
    }
    // What the link leaves out is of the settings.
    let study = shadowed("rate = \"5 Mbit/s\"", "", &buffers).unwrap();
    assert_eq!(study.cells.len(), 3);
    // Of the rate in `[scenario]` buffers in BDP are computed, although the schedule replaces it at once.
    assert!(shadowed("rate = \"5 Mbit/s\"", "schedule = [\"0 s: 5 Mbit/s\"]", "").is_ok());
    let later = axis("rate", "[\"1 Mbit/s\", \"2 Mbit/s\"]");
    assert!(shadowed("", "schedule = [\"1 s: 5 Mbit/s\"]", &later).is_ok());
}

#[test]
fn links_without_a_rate_or_buffer_follow_the_bottleneck() {
    let network = |scenario: &str, bottleneck: &str, axis: &str| {
        parse(&format!(
            "[scenario]\nalgorithm = \"newreno\"\nduration = \"30 s\"\n{scenario}\n[network]\nnodes = [\"a\", \"b\", \"c\"]\n\
             paths = [\"a -> c\"]\nbottleneck = \"bc\"\n[[network.links]]\nname = \"ab\"\nfrom = \"a\"\nto = \"b\"\n\
             [[network.links]]\nname = \"bc\"\nfrom = \"b\"\nto = \"c\"\n{bottleneck}\n{axis}"
        ))
        .unwrap_or_else(|error| panic!("{error}"))
    };
    let axis = "[[axes]]\nname = \"buffer\"\nkey = \"buffer\"\nvalues = [2000, 5000]";
    let study = network("rate = \"10 Mbit/s\"", "buffer = 20", axis);
    assert!(study.cells[0].scenario != study.cells[1].scenario && study.notes().is_empty());
    let study = network("rate = \"1 Mbit/s\"", "schedule = [\"10 s: 100 Mbit/s\"]", "");
    let links = &study.cells[0].scenario.network.links;
    assert_eq!(links.iter().find(|link| link.name == "ab").unwrap().rate, Rate(200_000_000));
}

#[test]
fn the_data_of_a_flow_cross_the_bottleneck() {
    let network = |paths: &str, bottleneck: &str| {
        parse(&format!(
            "[scenario]\nalgorithm = \"newreno\"\n[network]\nnodes = [\"a\", \"b\", \"c\"]\npaths = [\"{paths}\"]\n\
             bottleneck = \"{bottleneck}\"\nlinks = [{{ name = \"ab\", from = \"a\", to = \"b\", rate = \"3 Mbit/s\" }}, \
             {{ name = \"bc\", from = \"b\", to = \"c\" }}]"
        ))
    };
    assert!(network("a -> c", "bc").is_ok() && network("a -> b", "ab").is_ok());
    let error = network("a -> b", "bc").unwrap_err().to_string();
    let expected = "`network.bottleneck`: no flow's data cross the link `bc`: name a link that the data of a flow cross\n \
                    --> a-study.toml:8:14";
    assert!(error.starts_with(expected), "{error}");
    let error = network("b -> a", "ab").unwrap_err().to_string();
    assert!(error.contains("data cross the link `ab` only from `b` to `a`: write `from = \"b\"`"), "{error}");
}

#[test]
fn an_axis_of_access_links_needs_one() {
    let axis = "[[axes]]\nname = \"access\"\nkey = \"access-queue\"\nvalues = [\"drop-tail\", \"codel\"]";
    assert!(parse(&format!("{GRAPH}{axis}")).is_ok());
    let all =
        GRAPH.replace("delay = \"2 ms\"", "queue = \"codel\"").replace("loss = 1e-3", "queue = \"codel\"");
    let error = parse(&format!("{all}{axis}")).unwrap_err().to_string();
    assert!(
        error.starts_with("`access-queue` has no effect: every link but the bottleneck has its own `queue`"),
        "{error}"
    );
}

#[test]
fn what_is_wrong_with_a_network_has_its_place() {
    let graph = |from: &str, to: &str| {
        assert!(GRAPH.contains(from), "{from}");
        GRAPH.replacen(from, to, 1)
    };
    let files: &[(&str, String)] = &[
        ("kinds", "[scenario]\nalgorithm = \"cubic\"\nqueue = \"coddle\"\nloss = \"nth:5,3\"\njitter = \"5 ms\"\npolicer = \"5 Mbit/s\"\nreverse-queue = 5\nslot = 3\nduplication = 2".into()),
        ("schedules", "[scenario]\nalgorithm = \"cubic\"\nschedule = [\"10 s: 20 Mbit/s\", \"5 s: down\"]".into()),
        ("a schedule in one text", "[scenario]\nalgorithm = \"cubic\"\nschedule = \"10 s: 20 Mbit/s; 20 s: dwn\"".into()),
        ("a schedule of numbers", "[scenario]\nalgorithm = \"cubic\"\nschedule = [[1, 2]]".into()),
        ("conflicts", "[scenario]\nalgorithm = \"cubic\"\nper = 1e-3\nloss = 1e-3\nschedule = \"1 s: down\"\nrate-trace = \"x\"".into()),
        ("cells that cannot be", "[scenario]\nalgorithm = \"cubic\"\nhops = 3\n[[axes]]\nname = \"q\"\nkey = \"queue\"\nvalues = [\"codel\", \"drop-tail\"]\n[[axes]]\nname = \"t\"\nkey = \"ecn-threshold\"\nvalues = [5]".into()),
        ("cross flows of an unknown algorithm", "[scenario]\nalgorithm = \"cubic\"\ntopology = \"satellite\"\ncross-flows = \"cubik*2\"".into()),
        ("a trace that is not there", "[scenario]\nalgorithm = \"cubic\"\nrate-trace = \"nowhere.trace\"".into()),
        ("an unknown node of a link", graph("from = \"b\"", "from = \"bb\"")),
        ("an unknown node of a path", graph("\"a -> c\"", "\"a -> d\"")),
        ("an unknown node of a flow's path", graph("flows = 3", "").replace("algorithm = \"cubic\"", "flow = [\"cubic\", \"cubic; path=a -> ouch\"]")),
        ("an unknown link", graph("bottleneck = \"trunk\"", "bottleneck = \"trunc\"")),
        ("no bottleneck", graph("bottleneck = \"trunk\"", "")),
        ("unknown keys of a link", graph("both-ways = true", "both-way = true, buferr = 5, flows = 3")),
        ("wrong values of a link", graph("both-ways = true, buffer = \"2 BDP\"", "both-ways = 1, buffer = \"2 bdp\"")),
        ("links of the same name", graph("name = \"last\"", "name = \"a-in-reverse\"")),
        ("a link from a node to itself", graph("to = \"in\", delay", "to = \"a\", delay")),
        ("a path that leads nowhere", graph("both-ways = true", "both-ways = false")),
        ("a buffer of a link that holds nothing", graph("buffer = \"2 BDP\"", "buffer = \"10 B\"")),
        ("a buffer of the bottleneck that holds nothing", graph("[20, \"1 BDP\"]", "[20, \"10 B\"]")),
        ("a topology with it", graph("access-rate = \"1 Gbit/s\"", "topology = \"path\"")),
        ("a round trip", graph("access-rate = \"1 Gbit/s\"", "rtt = \"5 ms\"")),
        ("nothing in it", "[scenario]\nalgorithm = \"cubic\"\n[network]".into()),
        ("empty lists", "[scenario]\nalgorithm = \"cubic\"\n[network]\nnodes = []\nlinks = []\npaths = []".into()),
        ("nodes twice", graph("nodes = [\"a\",", "nodes = [\"a\", \"a\", \"x -> y\",")),
    ];
    let mut all = String::new();
    for (name, lines) in files {
        match parse(lines) {
            Ok(_) => panic!("{name}: this is right:\n{lines}"),
            Err(error) => all += &format!("======== {name}\n{error}\n\n"),
        }
    }
    insta::assert_snapshot!(all);
}
