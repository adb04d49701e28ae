//! What files mean.

use super::*;
use crate::{ClaimKind, Paper, Scale};
use cwnd_scenario::{Counting, Ecn, Loss, QueueLimit, Rate, Time};

#[track_caller]
fn study(lines: &str) -> Study {
    parse(lines).unwrap_or_else(|error| panic!("{error}"))
}

fn labels(study: &Study) -> Vec<String> {
    (0..study.cells.len()).map(|cell| study.cell_label(cell)).collect()
}

#[test]
fn the_least_study_is_one_cell() {
    let study = study("[scenario]\nalgorithm = \"cubic\"");
    assert_eq!((study.cells.len(), study.repeats, study.seed), (1, 1, 1));
    assert_eq!(study.cell_label(0), "");
    assert_eq!(study.metrics, ["throughput_bps", "utilisation", "loss_ratio", "jain_index"]);
    assert_eq!(study.cells[0].scenario.flows[0].algorithm.name, "cubic");
    assert_eq!((study.trace, study.cells[0].scenario.sample), (None, None));
}

/// An episode may be as short as a round trip, which samples every 100 ms would miss.
#[test]
fn samples_are_as_close_as_a_metric_needs_them() {
    let samples = |metric: &str, trace: &str| {
        let text = format!(
            "[scenario]\nalgorithm = \"cubic\"\n[run]\nmetrics = [\"{metric}\"]\n{trace}\
             [[axes]]\nname = \"rtt\"\nkey = \"rtt\"\nvalues = [\"5 ms\", \"120 ms\", \"2 s\"]\n"
        );
        let cells = study(&text).cells;
        cells.iter().map(|cell| cell.scenario.sample.map(|time| time.0 / 1000)).collect::<Vec<_>>()
    };
    assert_eq!(samples("throughput_bps", ""), [None; 3]);
    assert_eq!(samples("cwnd_max", ""), [Some(100_000); 3]);
    assert_eq!(samples("epoch_time_s", ""), [Some(500), Some(12_000), Some(100_000)]);
    assert_eq!(samples("backoff_factor", "[trace]\nsample = \"30 ms\"\n"), [Some(30_000); 3]);
}

#[test]
fn the_last_axis_varies_fastest() {
    let study = study(
        r#"
        [scenario]
        duration = "10 s"
        [run]
        repeats = 3
        seed = 7
        [[axes]]
        name = "variant"
        key = "algorithm"
        values = ["cubic", { name = "agile-sd", lambda_max = 4 }]
        [[axes]]
        name = "buffer"
        key = "buffer"
        values = [5, "10", "1 BDP"]
        "#,
    );
    let expected = ["cubic, 5", "cubic, 10", "cubic, 1 BDP", "agile-sd:lambda_max=4, 5"];
    assert_eq!(labels(&study)[..4], expected);
    assert_eq!(study.cells.len(), 6);
    assert_eq!(study.cells[4].coordinates, [1, 1]);
    let scenario = &study.cells[4].scenario;
    assert_eq!(scenario.flows[0].algorithm.to_string(), "agile-sd:lambda_max=4");
    assert_eq!(scenario.network.links[0].queue.limit, QueueLimit::Packets(10));
    assert_eq!((scenario.duration, scenario.seed), (Time::from_secs(10), 7));
    assert_eq!(study.scenario(4, 2).seed, 9);
    // Packets and BDPs are no quantity together.
    assert_eq!(study.axes[1].points[0].value, None);
}

#[test]
fn what_is_not_random_is_run_once() {
    let study = study(
        r#"
        [scenario]
        algorithm = "cubic"
        duration = "10 s"
        [run]
        repeats = 3
        seed = 7
        once = { chance = "none" }
        [trace]
        [[axes]]
        name = "chance"
        points = [{ label = "none", start-jitter = "0 s", send-overhead = "0 s" }, { label = "drawn" }]
        "#,
    );
    let seeds = |cell| (0..3).map(|repeat| study.scenario(cell, repeat).seed).collect::<Vec<u64>>();
    assert_eq!((seeds(0), seeds(1)), (vec![7, 7, 7], vec![7, 8, 9]));
    // The run that all repeats share is recorded; of a random cell the first alone is.
    assert_eq!([0, 1].map(|cell| study.is_traced(cell, 2)), [true, false]);
    assert_eq!(study.scenario(0, 0), study.scenario(0, 2));
}

#[test]
fn what_is_random_is_not_run_once() {
    let text = "[scenario]\nalgorithm = \"cubic\"\n[run]\nrepeats = 3\nonce = {}";
    let error = parse(text).unwrap_err().to_string();
    assert!(error.contains("is random: its repeats are not equal"), "{error}");
}

#[test]
fn axes_are_quantities_where_their_key_is() {
    let study = study(
        r#"
        [[axes]]
        name = "variant"
        key = "algorithm"
        values = ["agile-sd:lambda_max=1", "agile-sd:lambda_max=3"]
        labels = [1, 3]
        unit = "segments"
        [[axes]]
        name = "rtt"
        key = "rtt"
        values = ["20 ms", "0.1 s"]
        scale = "log"
        [[axes]]
        name = "per"
        key = "per"
        values = [0, 1e-5]
        title = "Errors"
        [[axes]]
        name = "queues"
        keys = ["buffer", "access-buffer"]
        values = [5, 25]
        "#,
    );
    let values =
        |axis: usize| study.axes[axis].points.iter().map(|point| point.value.unwrap()).collect::<Vec<_>>();
    assert_eq!((values(0), study.axes[0].unit.as_deref()), (vec![1.0, 3.0], Some("segments")));
    assert_eq!((values(1), study.axes[1].unit.as_deref()), (vec![20.0, 100.0], Some("ms")));
    assert_eq!((study.axes[1].scale, study.axes[1].title.as_str()), (Scale::Log, "Base RTT"));
    assert_eq!((values(2), study.axes[2].unit.as_deref()), (vec![0.0, 1e-5], None));
    assert_eq!(study.axes[2].title, "Errors");
    assert_eq!((values(3), study.axes[3].points[1].label.as_str()), (vec![5.0, 25.0], "25"));
    let last = &study.cells[15].scenario;
    assert_eq!(last.network.links[0].loss, Loss::Bernoulli(1e-5));
    assert!(last.network.links.iter().all(|link| link.queue.limit == QueueLimit::Packets(25)));
}

#[test]
fn points_set_several_keys_and_zips_go_in_step() {
    let study = study(
        r#"
        [scenario]
        algorithm = "cubic"
        flows = 2
        [[axes]]
        name = "scenario"
        points = [{ label = "single", flows = 1 }, { label = "pair" }, { flows = 4, stagger = "5 s" }]
        [[axes]]
        name = "path"
        zip = { rate = ["10 Mbit/s", "100 Mbit/s"], rtt = ["10 ms", "100 ms"] }
        [[skip]]
        scenario = ["single", "pair"]
        path = "100 Mbit/s, 100 ms"
        "#,
    );
    let expected = [
        "single, 10 Mbit/s, 10 ms",
        "pair, 10 Mbit/s, 10 ms",
        "4, 5 s, 10 Mbit/s, 10 ms",
        "4, 5 s, 100 Mbit/s, 100 ms",
    ];
    assert_eq!(labels(&study), expected);
    let flows: Vec<usize> = study.cells.iter().map(|cell| cell.scenario.flows.len()).collect();
    assert_eq!(flows, [1, 2, 4, 4]);
    assert_eq!(study.cells[3].scenario.flows[3].start, Time::from_secs(15));
    assert_eq!(study.cells[3].scenario.base_rtt(0), Time::from_millis(100));
    assert_eq!(study.cells[3].scenario.network.links[0].rate, Rate(100_000_000));
}

#[test]
fn every_way_to_say_flows_is_an_axis_too() {
    let study = study(
        r#"
        [scenario]
        stack = "linux"
        ecn-threshold = "20 %"
        sack = false
        timestamps = "on"
        [[axes]]
        name = "flows"
        points = [
          { label = "mix", mix = "cubic*2,elastic" },
          { label = "list", flow = ["cubic; start=1 s", "elastic; reverse"] },
          { label = "two", algorithm = "newreno", flows = 2, reverse-flows = 1 },
        ]
        "#,
    );
    let algorithms = |cell: usize| {
        study.cells[cell].scenario.flows.iter().map(|flow| flow.algorithm.name.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(algorithms(0), ["cubic", "cubic", "elastic"]);
    assert_eq!(algorithms(1), ["cubic", "elastic"]);
    assert_eq!(algorithms(2), ["newreno"; 3]);
    let scenario = &study.cells[1].scenario;
    assert!(scenario.flows[1].reverse && scenario.flows[0].start == Time::from_secs(1));
    assert_eq!(
        (scenario.stack.sack, scenario.stack.timestamps, scenario.stack.ecn),
        (false, true, Ecn::Classic)
    );
    assert_eq!(scenario.network.links[0].queue.counting, Counting::WaitingOnly);
}

#[test]
fn runs_are_sampled_where_their_trace_is_kept_or_a_metric_needs_it() {
    let axes = "[[axes]]\nname = \"variant\"\nkey = \"algorithm\"\nvalues = [\"cubic\", \"elastic\"]\n";
    let plan = "[trace]\nsample = \"50 ms\"\nrepeats = 2\nwhere = { variant = \"cubic\" }\n";
    let run = "[run]\nrepeats = 3\n";
    let sample =
        |study: &Study, cell, repeat| study.scenario(cell, repeat).sample.map(|time| time.0 / 1_000_000);
    let kept = study(&format!("{run}{plan}{axes}"));
    assert_eq!((sample(&kept, 0, 1), sample(&kept, 0, 2), sample(&kept, 1, 0)), (Some(50), None, None));
    assert!(kept.is_traced(0, 1) && !kept.is_traced(0, 2) && !kept.is_traced(1, 0));
    let metric = "metrics = [\"flow1.cwnd_max\"]\n";
    let needed = study(&format!("{run}{metric}{axes}"));
    assert_eq!((sample(&needed, 1, 2), needed.is_traced(1, 2)), (Some(100), false));
    let both = study(&format!("{run}{metric}{plan}{axes}"));
    assert_eq!((sample(&both, 1, 2), both.is_traced(1, 0)), (Some(50), false));
}

#[test]
fn selections_know_labels_and_numbers() {
    let study = study(
        r#"
        [scenario]
        algorithm = "cubic"
        [[axes]]
        name = "per"
        key = "per"
        values = [0, 1e-5, "0.01 %"]
        [[claims]]
        text = "a"
        measure = "wins"
        metric = "throughput_bps"
        axis = "per"
        of = 0.0
        over = [0.00001, "0.01 %"]
        expect = ">= 1"
        "#,
    );
    let Some(ClaimKind::Wins { of, over, .. }) = study.claims[0].kind() else { panic!("another kind") };
    assert_eq!((of.as_str(), over.as_slice()), ("0", ["1e-5".to_owned(), "0.01 %".to_owned()].as_slice()));
}

#[test]
fn the_studies_of_the_repository_are_right() {
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let mut files = 0;
    let mut folders = vec![studies.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder of studies") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.ends_with("paper.toml") {
                let text = std::fs::read_to_string(&path).expect("a paper");
                let folder = path.parent().and_then(Path::file_name).expect("a folder").to_string_lossy();
                let paper =
                    Paper::parse(&folder, "paper.toml", &text).unwrap_or_else(|error| panic!("{error}"));
                for study in paper.studies() {
                    assert!(
                        path.with_file_name(format!("{study}.toml")).is_file(),
                        "{folder} has no {study}"
                    );
                }
            } else if path.ends_with("rfc9743/criteria.toml") {
                // The criteria of `cwnd evaluate`, which its own tests read.
            } else if path.extension().is_some_and(|extension| extension == "toml") {
                // Which algorithms there are is not known here.
                let study = Study::load(&path, &|_| Ok(())).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(studies.join(format!("{}.toml", study.name)), path);
                assert!(!study.figures.is_empty());
                files += 1;
            }
        }
    }
    assert!(files >= 3);
}

#[test]
fn agile_sd_throughput_is_the_papers_grid() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/agile-sd/throughput.toml");
    let study = Study::load(&path, &check).unwrap();
    assert_eq!(study.cells.len(), 3 * 3 * 3 * 2 * 7);
    for cell in &study.cells {
        let (scenario, single) = (&cell.scenario, cell.coordinates[2] == 0);
        let limit = |link: usize| scenario.network.links[link].queue.limit;
        assert_eq!(scenario.base_rtt(0), Time::from_millis(12));
        assert_eq!(scenario.flows.len(), if single { 1 } else { 4 });
        // One flow queues before its own link, which has the bottleneck's limit; four have 25 packets each.
        assert_eq!(limit(2), if single { limit(0) } else { QueueLimit::Packets(25) });
        let stop = (cell.coordinates[2] == 1).then_some(Time::from_secs(85));
        assert_eq!(scenario.flows[0].stop, stop);
    }
}

#[test]
fn a_trace_shows_the_state_of_algorithms_that_have_it() {
    let file = |show: &str, which: &str| {
        format!(
            "[scenario]\nper = 0\n[trace]\n[[axes]]\nname = \"variant\"\nkey = \"algorithm\"\n\
             values = [\"agile-sd\", \"cubic\"]\n[[figures]]\nname = \"a\"\ntitle = \"A\"\nkind = \"trace\"\n\
             show = [\"cwnd\", \"{show}\"]\nseries = \"variant\"\nwhere = {{ variant = [{which}] }}\n"
        )
    };
    let study = parse(&file("state.lambda", "\"agile-sd\", \"cubic\"")).unwrap();
    assert_eq!([0, 1].map(|cell| study.shows_state(cell)), [true; 2]);
    let study = parse(&file("rtt", "\"agile-sd\"")).unwrap();
    assert_eq!([0, 1].map(|cell| study.shows_state(cell)), [false; 2]);
    let error = parse(&file("state.lambda", "\"cubic\"")).unwrap_err().to_string();
    assert!(error.contains("no `state.lambda` of cubic"), "{error}");
    let error = parse(&file("state.lamda", "\"agile-sd\", \"cubic\"")).unwrap_err().to_string();
    assert!(error.contains("no `state.lamda` of agile-sd, cubic"), "{error}");
}
