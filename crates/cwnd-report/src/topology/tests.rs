use super::*;
use cwnd_experiment::{ExperimentSpec, settings};

#[track_caller]
fn scenario(said: &[(&str, &str)]) -> Scenario {
    let mut experiment = ExperimentSpec::default();
    for (key, value) in said {
        let setting = settings::find(key).unwrap_or_else(|| panic!("{key}"));
        (setting.set)(&mut experiment, value).unwrap_or_else(|error| panic!("{key}: {error}"));
    }
    experiment.resolve(1).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Boxes by layer, from the top of each.
fn shown(scenario: &Scenario) -> Vec<String> {
    let folded = fold::fold(scenario);
    let layout = layout::layout(&folded);
    let most = layout.layers.iter().copied().max().unwrap_or(0);
    (0..=most)
        .map(|layer| {
            let mut here: Vec<usize> =
                (0..folded.boxes.len()).filter(|b| layout.layers[*b] == layer).collect();
            here.sort_by(|a, b| layout.rows[*a].total_cmp(&layout.rows[*b]));
            here.iter().map(|b| folded.boxes[*b].label.as_str()).collect::<Vec<_>>().join(" | ")
        })
        .collect()
}

#[test]
fn equal_hosts_are_one_box() {
    let dumbbell = scenario(&[("mix", "cubic*20,elastic*2")]);
    let expected = [
        "sender-1 … 20 | sender-21 | sender-22",
        "left",
        "right",
        "receiver-1 … 20 | receiver-21 | receiver-22",
    ];
    assert_eq!(shown(&dumbbell), expected);
    let folded = fold::fold(&dumbbell);
    let counts: Vec<usize> = folded.courses.iter().map(|course| course.flows).collect();
    assert_eq!(counts, [20, 1, 1]);
    assert_eq!(folded.wires.len(), 7);
    let most = folded.wires.iter().map(|wire| wire.forth.len()).max();
    assert_eq!(most, Some(20));
    // Round trips of their own set hosts apart, until there are too many.
    let few: Vec<(&str, &str)> =
        ["cubic; rtt=210 ms", "cubic; rtt=220 ms", "cubic; rtt=230 ms"].map(|flow| ("flow", flow)).into();
    assert_eq!(fold::fold(&scenario(&few)).boxes.len(), 8);
    let flows: Vec<String> = (0..40).map(|i| format!("cubic; rtt={} ms", 210 + i)).collect();
    let many: Vec<(&str, &str)> = flows.iter().map(|flow| ("flow", flow.as_str())).collect();
    let picture = svg(&scenario(&many), "Many");
    assert!(picture.contains("sender-1 … 40") && picture.contains("2.5 ms to 12.25 ms"), "{picture}");
}

#[test]
fn layers_follow_the_data() {
    assert_eq!(
        shown(&scenario(&[("algorithm", "cubic"), ("topology", "path"), ("reverse-flows", "1")])),
        ["left", "right"]
    );
    let lot =
        scenario(&[("algorithm", "cubic"), ("topology", "parking-lot"), ("hops", "2"), ("cross-flows", "1")]);
    let expected = [
        "sender-1 | sender-2",
        "router-0 | sender-3",
        "router-1",
        "receiver-2 | router-2",
        "receiver-1 | receiver-3",
    ];
    assert_eq!(shown(&lot), expected);
    let satellite = scenario(&[("algorithm", "invs"), ("topology", "satellite"), ("cross-flows", "cubic")]);
    assert_eq!(shown(&satellite), ["satellite-client", "gateway | wired-client", "core", "server"]);
    let incast = scenario(&[("algorithm", "dctcp"), ("topology", "incast"), ("flows", "32")]);
    assert_eq!(shown(&incast), ["sender-1 … 32", "switch", "receiver"]);
}

#[test]
fn the_picture_tells_what_links_do() {
    let scenario = scenario(&[
        ("algorithm", "cubic"),
        ("flows", "4"),
        ("rate", "50 Mbit/s"),
        ("buffer", "2500"),
        ("queue", "codel:ecn"),
        ("loss", "1e-3"),
        ("reverse-rate", "5 Mbit/s"),
        ("schedule", "1 s: down; 2 s: up; every 10 s"),
    ]);
    let picture = svg(&scenario, "A <network>");
    for part in [
        "A &lt;network&gt;",
        ">bottleneck</text>",
        ">50 Mbit/s, 100 ms</text>",
        ">2,500 packets, codel:ecn=on</text>",
        ">loses 0.001</text>",
        ">2 steps in 10 s</text>",
        ">back: 5 Mbit/s, 100 ms</text>",
        ">cubic × 4: sender-1 … 4 → receiver-1 … 4</text>",
    ] {
        assert!(picture.contains(part), "{part} in {picture}");
    }
    assert_eq!(picture, svg(&scenario, "A <network>"));
}
