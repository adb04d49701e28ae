//! Where on the paper boxes, wires and what is written at them stand.

use super::fold::Folded;
use super::label::WireLabel;
use super::layout::Layout;
use cwnd_plot::text::width;

/// A point on the paper.
pub type Point = (f64, f64);

/// Size of the text in boxes.
pub const TEXT: f64 = 11.0;
/// Size of the text at wires.
pub const SMALL: f64 = 9.5;
/// Height of a line of it.
pub const LINE: f64 = 11.5;
/// Height of a box.
pub const BOX_HEIGHT: f64 = 28.0;
/// Between courses on a wire.
pub const BESIDE: f64 = 3.2;

/// Between the rows' middles at least.
const ROW: f64 = 62.0;
/// What a wire that changes its row takes for that.
const SLOPE: f64 = 56.0;

/// A picture, its first box at the left and the first row of boxes at 0.
pub struct Place {
    /// Middle of each box, and its width.
    pub boxes: Vec<(Point, f64)>,
    /// The points of each wire, from its first box to its second.
    pub wires: Vec<Vec<Point>>,
    /// The middle of what is written at each wire, and how far off the wire that begins.
    pub labels: Vec<(Point, f64)>,
    /// The least and the greatest height of all of it.
    pub heights: (f64, f64),
    /// How wide it is.
    pub width: f64,
}

impl Place {
    pub fn new(folded: &Folded, layout: &Layout, labels: &[WireLabel]) -> Place {
        let layers = layout.layers.iter().copied().max().unwrap_or(0) + 1;
        let widths: Vec<f64> =
            folded.boxes.iter().map(|b| (width(&b.label, TEXT) + 20.0).max(64.0)).collect();
        let mut left = 0.0;
        let mut columns = Vec::with_capacity(layers);
        for layer in 0..layers {
            let here = (0..widths.len()).filter(|index| layout.layers[*index] == layer);
            let column = here.map(|index| widths[index]).fold(64.0, f64::max);
            columns.push((left, column));
            left += column + if layer + 1 < layers { gap(folded, layout, labels, layer) } else { 0.0 };
        }
        let row = row(folded, layout, labels, layers);
        let middle = |index: usize| {
            let (left, column) = columns[layout.layers[index]];
            ((left + column / 2.0, layout.rows[index] * row), widths[index])
        };
        let mut place = Place {
            boxes: (0..widths.len()).map(middle).collect(),
            wires: Vec::new(),
            labels: Vec::new(),
            heights: (0.0, 0.0),
            width: left,
        };
        for index in 0..folded.wires.len() {
            let path = place.path(folded, layout, row, index);
            place.labels.push((at(&path), clear(folded, index)));
            place.wires.push(path);
        }
        place.heights = place.heights(labels);
        place
    }

    /// The same, moved down.
    pub fn moved(mut self, right: f64, down: f64) -> Place {
        let by = |point: &mut Point| *point = (point.0 + right, point.1 + down);
        self.boxes.iter_mut().for_each(|(middle, _)| by(middle));
        self.wires.iter_mut().flatten().for_each(by);
        self.labels.iter_mut().for_each(|(middle, _)| by(middle));
        self.heights = (self.heights.0 + down, self.heights.1 + down);
        self
    }

    /// A wire leaves a box at its side. One that changes its row runs level beside the box that is farther from the middle
    /// row, where its label has room, and slopes to the other.
    fn path(&self, folded: &Folded, layout: &Layout, row: f64, wire: usize) -> Vec<Point> {
        let (a, b) = folded.wires[wire].ends;
        let ((from, from_width), (to, to_width)) = (self.boxes[a], self.boxes[b]);
        if (from.0 - to.0).abs() < 1.0 {
            let half = (to.1 - from.1).signum() * BOX_HEIGHT / 2.0;
            return vec![(from.0, from.1 + half), (to.0, to.1 - half)];
        }
        let forth = (to.0 - from.0).signum();
        let start = (from.0 + forth * from_width / 2.0, from.1);
        let end = (to.0 - forth * to_width / 2.0, to.1);
        let ends = folded.wires[wire].ends;
        let again =
            folded.wires[..wire].iter().filter(|w| w.ends == ends || (w.ends.1, w.ends.0) == ends).count();
        let between = |((x, _), width): &(Point, f64)| {
            let other = (*x - from.0).abs() > 1.0 && (*x - to.0).abs() > 1.0;
            other && x + width / 2.0 > start.0.min(end.0) && x - width / 2.0 < start.0.max(end.0)
        };
        let within = |of_box: &(Point, f64)| {
            let (x, y) = of_box.0;
            let share = ((x - start.0) / (end.0 - start.0)).clamp(0.0, 1.0);
            between(of_box) && (start.1 + share * (end.1 - start.1) - y).abs() < BOX_HEIGHT
        };
        // One that would run through a box, or on another one, goes round over all that is there.
        if again > 0 || self.boxes.iter().any(within) {
            let there = self.boxes.iter().filter(|of_box| between(of_box)).map(|((_, y), _)| *y);
            let over = there.fold(start.1.min(end.1), f64::min) - row * again.max(1) as f64;
            return vec![start, (start.0 + forth * SLOPE, over), (end.0 - forth * SLOPE, over), end];
        }
        if (start.1 - end.1).abs() < 1.0 {
            return vec![start, end];
        }
        let outer = layout.rows[a].abs() >= layout.rows[b].abs();
        match outer {
            true => vec![start, (end.0 - forth * SLOPE, start.1), end],
            false => vec![start, (start.0 + forth * SLOPE, end.1), end],
        }
    }

    fn heights(&self, labels: &[WireLabel]) -> (f64, f64) {
        let boxes = self.boxes.iter().map(|((_, y), _)| (y - BOX_HEIGHT / 2.0, y + BOX_HEIGHT / 2.0));
        let wires = self.wires.iter().flatten().map(|(_, y)| (*y, *y));
        let texts = self.labels.iter().zip(labels).map(|(((_, y), clear), label)| {
            (y - clear - label.forth.len() as f64 * LINE, y + clear + label.back.len() as f64 * LINE)
        });
        let all = boxes.chain(wires).chain(texts);
        all.fold((f64::MAX, f64::MIN), |(least, most), (top, bottom)| (least.min(top), most.max(bottom)))
    }
}

/// The middle of the longest level part of a path, or else of all of it.
fn at(path: &[Point]) -> Point {
    let level = path.windows(2).filter(|pair| (pair[0].1 - pair[1].1).abs() < 1.0);
    let longest = level.max_by(|a, b| (a[0].0 - a[1].0).abs().total_cmp(&(b[0].0 - b[1].0).abs()));
    let (a, b) = match longest {
        Some(pair) => (pair[0], pair[1]),
        None => (path[0], path[path.len() - 1]),
    };
    ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0)
}

/// How much the courses beside a wire take.
fn clear(folded: &Folded, wire: usize) -> f64 {
    let lines = folded.courses.iter().map(|course| {
        let dotted = !course.returns() && course.acks.wires.contains(&wire);
        usize::from(course.data.wires.contains(&wire)) + usize::from(dotted)
    });
    4.0 + (lines.sum::<usize>() as f64 / 2.0).ceil() * BESIDE
}

/// Between two layers there is room for what is written at the wires between them, and for those that change their row.
fn gap(folded: &Folded, layout: &Layout, labels: &[WireLabel], layer: usize) -> f64 {
    let between = folded.wires.iter().zip(labels).filter(|(wire, _)| {
        let (a, b) = (layout.layers[wire.ends.0], layout.layers[wire.ends.1]);
        a.min(b) == layer && a.max(b) == layer + 1
    });
    let rooms = between.map(|(wire, label)| {
        let texts = label.forth.iter().chain(&label.back);
        let room = texts.map(|text| width(text, SMALL)).fold(0.0, f64::max) + 20.0;
        let level = (layout.rows[wire.ends.0] - layout.rows[wire.ends.1]).abs() < 0.01;
        room + if level { 0.0 } else { SLOPE }
    });
    rooms.fold(80.0, f64::max)
}

/// Between two rows there is room for what is written under a wire in one and over a wire in the next.
fn row(folded: &Folded, layout: &Layout, labels: &[WireLabel], layers: usize) -> f64 {
    let mut most = ROW;
    for layer in 0..layers {
        let here = folded.wires.iter().zip(labels).filter(|(wire, _)| {
            let (a, b) = (layout.layers[wire.ends.0], layout.layers[wire.ends.1]);
            (a.min(b)..a.max(b)).contains(&layer)
        });
        let here: Vec<_> = here.collect();
        if here.len() < 2 {
            continue;
        }
        let lines = |of: fn(&WireLabel) -> usize| here.iter().map(|(_, label)| of(label)).max().unwrap_or(0);
        let texts = (lines(|label| label.forth.len()) + lines(|label| label.back.len())) as f64 * LINE;
        most = most.max(texts + 30.0);
    }
    most
}
