use cwnd_scenario::{SampleState, Trace};

use super::*;

/// Ten seconds, a sample each: windows that rise from the flow's number, and given queues.
fn trace(flows: usize, queues: &[(&str, u32)]) -> Trace {
    let mut trace =
        Trace { queues: queues.iter().map(|(name, _)| (*name).into()).collect(), ..Trace::default() };
    for time_index in 0..=10 {
        trace.times.push(Time::from_secs(time_index));
        trace.queue_lengths.push(queues.iter().map(|&(_, most)| most * time_index as u32 / 10).collect());
        trace.samples.extend((0..flows).map(|flow| Sample {
            time_index: time_index as usize,
            flow,
            cwnd: (flow as f64 + 1.0) * (time_index as f64 + 1.0),
            ssthresh: f64::INFINITY,
            rtt: None,
            delivered_bytes: 0,
            in_flight: 0,
            sent: None,
            state: SampleState::Open,
        }));
    }
    trace
}

fn run<'a>(algorithm: &'a str, seed: u64, trace: &'a Trace) -> TracedRun<'a> {
    TracedRun { algorithm, flow_algorithms: &[], seed, trace, bottleneck: "bottleneck" }
}

fn labels(keys: &[Key]) -> Vec<&str> {
    keys.iter().map(|key| key.label.as_str()).collect()
}

const ONE_QUEUE: &[(&str, u32)] = &[("bottleneck", 100)];

#[test]
fn one_flow() {
    let trace = trace(1, &[("bottleneck", 0), ("bottleneck-reverse", 2), ("access-1", 1000)]);
    let figure = over_time_figure(&[run("cubic", 1, &trace)], "One flow");
    assert_eq!(labels(&figure.keys), ["cubic"]);
    assert_eq!(
        labels(&figure.panels[3].keys),
        ["access-1", "bottleneck"],
        "not the few ACKs on their way back"
    );
    assert_eq!(
        figure.caption,
        "Queues besides the bottleneck's are shown where they held more. Sampled every 1 s."
    );
    insta::assert_snapshot!(figure.to_svg());
}

#[test]
fn the_flows_of_one_algorithm_have_colours() {
    let trace = trace(3, ONE_QUEUE);
    let figure = over_time_figure(&[run("cubic", 1, &trace)], "");
    assert_eq!(figure.panels[0].title, "cubic");
    let keys = &figure.panels[0].keys;
    assert_eq!(labels(keys), ["flow 1", "flow 2", "flow 3"]);
    let strokes: Vec<Stroke> = keys.iter().filter_map(|key| key.swatch.line).collect();
    assert!(
        strokes
            .iter()
            .enumerate()
            .all(|(i, s)| s.colour == Colour::of_series(i) && s.dash == Dash::of_series(i))
    );
    assert_eq!(labels(&figure.panels[3].keys), ["bottleneck"]);
}

#[test]
fn several_algorithms_have_colours_and_their_flows_patterns() {
    let trace = trace(2, ONE_QUEUE);
    let figure = over_time_figure(&[run("cubic", 1, &trace), run("elastic", 1, &trace)], "");
    assert_eq!(labels(&figure.keys), ["cubic", "elastic"]);
    assert_eq!(labels(&figure.panels[0].keys), ["flow 1", "flow 2"]);
    assert_eq!(figure.panels[2].marks.len(), 4);
    assert_eq!(figure.panels[3].marks.len(), 2);
}

#[test]
fn a_mix_has_the_colours_of_its_algorithms() {
    let trace = trace(4, ONE_QUEUE);
    let mix =
        TracedRun { flow_algorithms: &["agile-sd", "reno", "reno", "reno"], ..run("the mix", 1, &trace) };
    let figure = over_time_figure(&[mix], "");
    assert_eq!(labels(&figure.keys), ["agile-sd", "reno"]);
    assert_eq!(labels(&figure.panels[0].keys), [""; 0]);
    assert_eq!(figure.caption, "Dash patterns tell the flows of an algorithm apart. Sampled every 1 s.");
}

#[test]
fn runs_of_mixes_have_keys_for_their_queues() {
    let trace = trace(2, ONE_QUEUE);
    let mix = |name, other| TracedRun { flow_algorithms: other, ..run(name, 1, &trace) };
    let runs = [mix("cubic,reno", &["cubic", "reno"]), mix("elastic,reno", &["elastic", "reno"])];
    let figure = over_time_figure(&runs, "");
    assert_eq!(labels(&figure.keys), ["cubic", "reno", "elastic"]);
    let keys = &figure.panels[3].keys;
    assert_eq!(labels(keys), ["bottleneck", "cubic,reno", "elastic,reno"]);
    let colours: Vec<_> = keys[1..].iter().map(|key| key.swatch.line.map(|line| line.colour)).collect();
    assert_eq!(colours, [Some(Colour::of_series(3)), Some(Colour::of_series(4))]);
}

#[test]
fn many_flows_are_a_mean_in_a_band() {
    let many = trace(9, ONE_QUEUE);
    let figure = over_time_figure(&[run("cubic", 1, &many)], "");
    assert_eq!(figure.panels[2].marks.len(), 2);
    let extent = |i: usize| figure.panels[2].marks[i].extent().y;
    assert_eq!(extent(0), Some((1.0, 99.0)), "flow 1 at the beginning, flow 9 at the end");
    assert_eq!(extent(1), Some((5.0, 55.0)), "the mean of 1 to 9, times 1 and times 11");
    assert!(figure.caption.starts_with("Lines are means of 9 flows; bands span the least to the greatest."));

    let few = trace(7, ONE_QUEUE);
    let figure = over_time_figure(&[run("cubic", 1, &few), run("elastic", 1, &few)], "");
    assert_eq!(figure.panels[2].marks.len(), 4, "14 lines are too many, so two means in two bands");
}

#[test]
fn the_first_of_several_seeds_is_drawn_in_a_band_of_all() {
    let [low, high] = [trace(1, ONE_QUEUE), trace(2, ONE_QUEUE)];
    let figure = over_time_figure(&[run("cubic", 5, &low), run("cubic", 6, &high)], "");
    let extents: Vec<_> = figure.panels[2].marks.iter().map(|mark| mark.extent().y).collect();
    assert_eq!(extents, [Some((1.0, 22.0)), Some((1.0, 11.0))]);
    assert_eq!(figure.caption, "Lines are of seed 5; bands span all 2 seeds. Sampled every 1 s.");
}

#[test]
fn a_flow_that_pauses_leaves_a_gap() {
    let mut trace = trace(1, ONE_QUEUE);
    trace.samples.retain(|sample| sample.time_index != 5);
    let flows = flows_by_algorithm(&run("cubic", 1, &trace), Quantity::Window).remove(0).1;
    let gaps: Vec<usize> = (0..11).filter(|&i| flows[0].points()[i].1.is_nan()).collect();
    assert_eq!(gaps, [5], "between the fifth sample and the sixth");
}

#[test]
fn many_queues_are_a_mean_in_a_band() {
    let trace = trace(
        4,
        &[("bottleneck", 0), ("access-1", 10), ("access-2", 20), ("access-3", 20), ("access-4", 30)],
    );
    let figure = over_time_figure(&[run("cubic", 1, &trace)], "");
    let keys = labels(&figure.panels[3].keys);
    assert_eq!(
        keys,
        ["access-2", "access-3", "access-4", "bottleneck"],
        "the first is short beside the longest"
    );

    let equal: Vec<(String, u32)> = (1..=4).map(|i| (format!("access-{i}"), 20)).collect();
    let equal: Vec<(&str, u32)> = equal.iter().map(|(name, most)| (name.as_str(), *most)).collect();
    let trace = self::trace(4, &equal);
    let figure = over_time_figure(&[run("cubic", 1, &trace)], "");
    let expected = ["access-1 to access-4: mean, and from the least to the greatest", "bottleneck"];
    assert_eq!(labels(&figure.panels[3].keys), expected);
}

#[test]
fn without_samples_there_are_empty_axes() {
    let empty = Trace::default();
    for runs in [&[][..], &[run("cubic", 1, &empty)]] {
        let svg = over_time(runs, "Nothing");
        assert!(svg.contains(">time (s)<") && !svg.contains("NaN"));
    }
}

#[test]
fn throughput_is_what_is_delivered_between_samples() {
    let mut trace = trace(1, ONE_QUEUE);
    // 1 Mbit/s for 5 s, then nothing; round trips of 20 ms from the third sample on.
    for sample in &mut trace.samples {
        sample.delivered_bytes = 125_000 * sample.time_index.min(5) as u64;
        sample.rtt = (sample.time_index >= 3).then_some(Time::from_millis(20));
    }
    let values = |quantity| -> Vec<f64> {
        let flows = flows_by_algorithm(&run("cubic", 1, &trace), quantity).remove(0).1;
        flows[0].samples.iter().map(|(_, _, value)| *value).collect()
    };
    assert_eq!(values(Quantity::Throughput), [1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(values(Quantity::RoundTripTime), [20.0; 8]);
    assert_eq!(values(Quantity::Window)[..3], [1.0, 2.0, 3.0]);
}
