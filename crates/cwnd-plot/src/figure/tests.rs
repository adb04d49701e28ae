use super::super::{Band, Inside, Line, Markers, style};
use super::*;
use style::{Colour, Dash, Marker};

fn small() -> Figure {
    let mut panel = Panel::new(
        Axis::log("buffer", "packets").ticks_at(&[5.0, 50.0, 500.0]).tight(),
        Axis::linear("throughput", "bit/s").from(0.0).to(1e9).si(),
        100.0,
    );
    panel.title = "PER 1e-5".into();
    let points = vec![(5.0, 4e8), (50.0, 7.5e8), (500.0, 9.41e8)];
    let interval = points.iter().map(|&(x, y)| (x, 0.9 * y, 1.05 * y)).collect();
    let colour = Colour::of_series(0);
    let marker = Some(Markers { marker: Marker::Square, spacing: 0.0, phase: 0.0, inside: Inside::Paper });
    let line = Line::new(points, Stroke::solid(colour, 1.5).dashed(Dash::Dashed)).markers(marker);
    panel.keys.push(Key::new("agile-sd:lambda_max=4,beta2=0.9", line.swatch()));
    panel.add(Band { points: interval, colour, opacity: 0.2 });
    panel.add(line);

    let mut figure = Figure::new("Throughput & <buffer>");
    figure.width = 400.0;
    figure.description = "Throughput rises with the buffer.".into();
    figure.caption =
        "Mean of ten repeats, with its 95 % interval, over a network that is described at such length that \
                      the caption takes two lines."
            .into();
    figure.panels.push(panel);
    figure
}

#[test]
fn a_small_figure() {
    insta::assert_snapshot!(small().to_svg());
}

#[test]
fn panels_that_share_an_axis_have_one_range_and_one_set_of_labels() {
    let mut figure = Figure::new("Two panels");
    figure.share_x = true;
    for end in [50.0, 100.0] {
        let mut panel = Panel::new(Axis::linear("time", "s").tight(), Axis::linear("cwnd", "packets"), 100.0);
        panel.add(Line::new(vec![(0.0, 1.0), (end, 2.0)], Stroke::solid(INK, 1.0)));
        figure.panels.push(panel);
    }
    let places = |figure: &Figure| {
        let ends = figure.fit().into_iter().map(|(x, _)| x.place(100.0, 0.0, 1.0));
        ends.collect::<Vec<f64>>()
    };
    assert_eq!(places(&figure), [1.0, 1.0]);
    assert_eq!(figure.to_svg().matches(">time (s)<").count(), 1);
    figure.share_x = false;
    assert_eq!(places(&figure), [2.0, 1.0]);
    assert_eq!(figure.to_svg().matches(">time (s)<").count(), 2);
}

#[test]
fn values_without_a_place_leave_no_trace() {
    let mut panel = Panel::new(Axis::log("x", ""), Axis::log("y", ""), 100.0);
    let points = vec![(0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (2.0, f64::INFINITY), (3.0, 4.0), (5.0, 6.0)];
    let marker = Some(Markers { marker: Marker::Circle, spacing: 0.0, phase: 0.0, inside: Inside::Paper });
    panel.add(Line::new(points, Stroke::solid(INK, 1.0)).markers(marker));
    panel.add(Band { points: vec![(1.0, 0.0, 2.0), (2.0, 3.0, f64::NAN)], colour: INK, opacity: 0.5 });
    let mut figure = Figure::new("");
    figure.panels.push(panel);
    let svg = figure.to_svg();
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    assert_eq!(svg.matches("fill=\"#ffffff\" stroke").count(), 2, "a marker for each point that has a place");
}
