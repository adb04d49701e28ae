//! The curves of a model: a figure that no run has a part in.

use super::Drawn;
use super::frame::height;
use crate::measure::small;
use crate::series::SeriesStyle;
use cwnd_models::{LineKind, Model, Quantity};
use cwnd_plot::style::{Dash, GREY, Stroke};
use cwnd_plot::{self as plot, Block, Grid, Inside, Key, Line, Markers, Panel, Swatch, Trajectory};

/// The least distance between two markers of a curve.
const SPACING: f64 = 56.0;

/// Draws the figure of the model of this name, under a title of the study's own.
pub fn draw(title: &str, name: &str) -> Drawn {
    match cwnd_models::find(name) {
        Some(model) => Drawn { grid: grid(title, model), notes: vec![model.reading.into()], samples: None },
        None => {
            let notes =
                vec![format!("It cannot be drawn: there is no model `{name}`; there are {}.", known())];
            Drawn { grid: Grid::new(title, 1), notes, samples: None }
        }
    }
}

/// The names of all models, in a sentence.
fn known() -> String {
    cwnd_models::all().iter().map(|model| format!("`{}`", model.name)).collect::<Vec<_>>().join(", ")
}

fn grid(title: &str, model: &Model) -> Grid {
    let panels = (model.panels)();
    // Panels with a name each are the same thing under several conditions and stand side by side; without they are
    // several things over one axis and stand on top of each other.
    let is_beside = panels.len() > 1 && panels.iter().all(|panel| !panel.title.is_empty());
    let columns = if is_beside { panels.len().min(2) } else { 1 };
    let mut grid = Grid::new(title, columns);
    grid.width = if is_beside { 720.0 } else { 560.0 };

    let labels = Labels::new(&panels);
    grid.keys = labels.0.iter().map(|(label, kind)| labels.key(label, *kind)).collect();
    let is_square = panels.iter().flat_map(|p| &p.lines).any(|line| line.kind == LineKind::Trajectory);
    let high = match panels.len() {
        _ if is_square => 430.0,
        1 => height(1),
        _ if is_beside => 230.0,
        _ => 170.0,
    };
    let drawn = panels.iter().map(|panel| {
        let mut drawn = Panel::new(axis(&model.x), axis(&panel.y), high);
        for line in &panel.lines {
            labels.add(&mut drawn, line);
        }
        drawn
    });
    if is_beside {
        let titles = panels.iter().map(|panel| panel.title.to_string());
        grid.blocks = titles.zip(drawn).map(|(title, panel)| Block { title, panels: vec![panel] }).collect();
    } else {
        grid.blocks = vec![Block { title: String::new(), panels: drawn.collect() }];
    }
    let shown: Vec<&str> = panels.iter().map(|panel| panel.y.name).collect();
    grid.description =
        format!("{} against {}, from a model. {}.", shown.join(" and "), small(model.x.name), model.title);
    grid
}

fn axis(quantity: &Quantity) -> plot::Axis {
    let axis = match quantity.logarithmic {
        true => plot::Axis::log(quantity.name, quantity.unit),
        false => plot::Axis::linear(quantity.name, quantity.unit),
    };
    plot::Axis { from: quantity.from, to: quantity.to, tight: true, ..axis }
}

/// The labels of a figure, each once, in the order of their lines; the number of one among those of its kind is its
/// look.
struct Labels(Vec<(String, LineKind)>);

impl Labels {
    fn new(panels: &[cwnd_models::Panel]) -> Labels {
        let mut labels: Vec<(String, LineKind)> = Vec::new();
        for line in panels.iter().flat_map(|panel| &panel.lines) {
            if labels.iter().all(|(label, _)| *label != line.label) {
                labels.push((line.label.clone(), line.kind));
            }
        }
        Labels(labels)
    }

    fn number(&self, label: &str, kind: LineKind) -> usize {
        let is_guide = |kind: LineKind| kind == LineKind::Guide;
        let mut alike = self.0.iter().filter(|(_, other)| is_guide(*other) == is_guide(kind));
        alike.position(|(other, _)| other == label).unwrap_or(0)
    }

    fn stroke(&self, label: &str, kind: LineKind) -> Stroke {
        let number = self.number(label, kind);
        match kind {
            LineKind::Guide => {
                let dashes = [Dash::Dashed, Dash::Dotted, Dash::LongShort];
                Stroke::solid(GREY, 1.1).dashed(dashes[number % dashes.len()])
            }
            LineKind::Curve => SeriesStyle(number).stroke(1.5),
            LineKind::Trajectory => SeriesStyle(number).stroke(1.3),
        }
    }

    fn markers(&self, label: &str, kind: LineKind) -> Option<Markers> {
        let number = self.number(label, kind);
        let phase = 0.3 + 0.17 * number as f64;
        (kind == LineKind::Curve).then(|| Markers {
            marker: SeriesStyle(number).marker(),
            spacing: SPACING,
            phase,
            inside: Inside::Paper,
        })
    }

    fn key(&self, label: &str, kind: LineKind) -> Key {
        let marker = self.markers(label, kind).map(|markers| markers.marker);
        Key::new(label, Swatch::line(self.stroke(label, kind)).marker(marker))
    }

    fn add(&self, panel: &mut Panel, line: &cwnd_models::Line) {
        let stroke = self.stroke(&line.label, line.kind);
        let points = line.points.clone();
        match line.kind {
            LineKind::Trajectory => panel.add(Trajectory { points, stroke }),
            kind => panel.add(Line::new(points, stroke).markers(self.markers(&line.label, kind))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_has_a_figure_with_a_legend_and_labelled_axes() {
        for model in cwnd_models::all() {
            let drawn = draw("A title", model.name);
            let svg = drawn.grid.to_svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", model.name);
            assert_eq!(drawn.notes, [model.reading]);
            let mut labels: Vec<String> =
                (model.panels)().iter().flat_map(|p| &p.lines).map(|l| l.label.clone()).collect();
            labels.sort();
            labels.dedup();
            assert_eq!(drawn.grid.keys.len(), labels.len(), "{}", model.name);
            let label = axis(&model.x).label;
            assert!(svg.contains(&format!(">{label}<")), "{}: {label}", model.name);
        }
    }

    #[test]
    fn a_model_that_does_not_exist_is_named_with_those_that_do() {
        let drawn = draw("A title", "elastic-figure-3");
        assert!(drawn.notes[0].contains("no model `elastic-figure-3`"));
        assert!(drawn.notes[0].contains("`elastic-figure-2`"));
    }
}
