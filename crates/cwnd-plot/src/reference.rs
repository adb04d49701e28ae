//! Reference lines: values that somebody states, as thin lines across a panel with a label each.
//!
//! The lines are behind the marks. Each label stands next to its line where it hides least of the marks, of other
//! lines and of other labels.

use super::axis::Axis;
use super::canvas::{Canvas, Label};
use super::frame::{Extent, Frame};
use super::layout::TICK;
use super::style::{Colour, Dash, PAPER, Stroke};
use super::text;

/// A line across a panel at a value of one of its axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Where it is.
    pub at: At,
    /// What it is; nothing is written if this is empty.
    pub label: String,
    /// Its colour.
    pub colour: Colour,
}

/// The value of an axis at which a reference line is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At {
    /// Of the horizontal axis: the line is vertical.
    X(f64),
    /// Of the vertical axis: the line is horizontal.
    Y(f64),
}

/// Between a line and its label, and between a label and the edges.
const GAP: f64 = 3.0;
/// Height of a label.
const HEIGHT: f64 = TICK + 3.0;
/// The part of a value that is free above its line.
const ROOM: f64 = 0.1;
/// How much worse it is to hide a label than to hide a piece of a curve.
const OVER_LABEL: f64 = 1_000.0;
/// How much worse it is to hide another reference line than a piece of a curve.
const OVER_LINE: f64 = 3.0;

/// Left, top, right and bottom.
type Rectangle = [f64; 4];
type Piece = [(f64, f64); 2];

impl Reference {
    /// The values that it covers: above a line that lies there is room for its label, as far as the axis may go.
    pub(super) fn extent(&self, y_axis: &Axis) -> Extent {
        let some = |value: f64, end: f64| value.is_finite().then_some((value, end));
        match self.at {
            At::X(x) => Extent { x: some(x, x), y: None },
            At::Y(y) => {
                let most = y_axis.within.map_or(f64::INFINITY, |(_, most)| most);
                Extent { x: None, y: some(y, (y + ROOM * y.abs()).min(most).max(y)) }
            }
        }
    }

    /// The two ends of its line; none if it is not between the axes.
    fn ends(&self, frame: &Frame) -> Option<Piece> {
        let inside = |v: f64, from: f64, to: f64| v >= from - 0.5 && v <= to + 0.5;
        match self.at {
            At::X(x) => {
                let x = frame.x(x);
                inside(x, frame.left(), frame.right()).then_some([(x, frame.top()), (x, frame.bottom())])
            }
            At::Y(y) => {
                let y = frame.y(y);
                inside(y, frame.top(), frame.bottom()).then_some([(frame.left(), y), (frame.right(), y)])
            }
        }
    }

    /// The rectangles where its label of this width may stand, the most wanted first.
    fn places(&self, frame: &Frame, [start, end]: Piece, width: f64) -> Vec<Rectangle> {
        let mut places = Vec::new();
        match self.at {
            At::Y(_) => {
                let room = end.0 - start.0 - width - 2.0 * GAP;
                for share in [1.0, 0.0, 0.5, 0.75, 0.25, 0.875, 0.125, 0.625, 0.375] {
                    let left = start.0 + GAP + share * room.max(0.0);
                    for top in [start.1 - 1.0 - HEIGHT, start.1 + 1.0] {
                        places.push([left, top, left + width, top + HEIGHT]);
                    }
                }
            }
            At::X(_) => {
                let rows = ((end.1 - start.1 - HEIGHT) / (0.5 * HEIGHT)).floor().max(0.0) as usize;
                for row in 0..=rows {
                    let top = start.1 + 1.0 + 0.5 * HEIGHT * row as f64;
                    for left in [start.0 + GAP, start.0 - GAP - width] {
                        places.push([left, top, left + width, top + HEIGHT]);
                    }
                }
            }
        }
        let fits = |[left, top, right, bottom]: &Rectangle| {
            *left >= frame.left()
                && *right <= frame.right() + 4.0
                && *top >= frame.top() - 4.0
                && *bottom <= frame.bottom()
        };
        places.retain(fits);
        places
    }
}

/// Draws the lines.
pub(super) fn draw_lines(references: &[Reference], frame: &Frame, canvas: &mut Canvas) {
    for reference in references {
        if let Some(ends) = reference.ends(frame) {
            canvas.line(&ends, &Stroke::solid(reference.colour, 0.9).dashed(Dash::Short));
        }
    }
}

/// Writes the labels where they hide least of `curves`: lines through points, with gaps where one is not finite.
pub(super) fn draw_labels(
    references: &[Reference],
    frame: &Frame,
    curves: &[Vec<(f64, f64)>],
    canvas: &mut Canvas,
) {
    let mut taken: Vec<Rectangle> = Vec::new();
    for (i, reference) in references.iter().enumerate().filter(|(_, one)| !one.label.is_empty()) {
        let Some(ends) = reference.ends(frame) else { continue };
        let room = frame.right() - frame.left() - 2.0 * GAP;
        let label = text::shorten(&reference.label, TICK, room);
        let places = reference.places(frame, ends, text::width(&label, TICK) + 2.0);
        let lines: Vec<Piece> = (references.iter().enumerate())
            .filter(|(other, _)| *other != i)
            .filter_map(|(_, other)| other.ends(frame))
            .collect();
        let cost = |place: &Rectangle| {
            let pieces = curves.iter().flat_map(|curve| curve.windows(2));
            let hidden = pieces.filter(|piece| crosses(place, [piece[0], piece[1]])).count();
            let crossed = lines.iter().filter(|line| crosses(place, **line)).count();
            let covered = taken.iter().filter(|other| overlap(place, other)).count();
            hidden as f64 + OVER_LINE * crossed as f64 + OVER_LABEL * covered as f64
        };
        let costs = places.iter().map(cost).collect::<Vec<f64>>();
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let Some(place) = costs.iter().position(|cost| *cost == least) else { continue };
        let [left, top, right, bottom] = places[place];
        canvas.rectangle(left, top, right - left, bottom - top, PAPER, 0.85);
        canvas.text(left + 1.0, bottom - 4.0, &Label::new(TICK, reference.colour), &label);
        taken.push(places[place]);
    }
}

fn overlap(a: &Rectangle, b: &Rectangle) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// Whether any part of a straight piece is in a rectangle (Liang and Barsky).
fn crosses([left, top, right, bottom]: &Rectangle, [from, to]: Piece) -> bool {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    if !(dx.is_finite() && dy.is_finite()) {
        return false;
    }
    let (mut first, mut last) = (0.0f64, 1.0f64);
    let sides = [(-dx, from.0 - left), (dx, right - from.0), (-dy, from.1 - top), (dy, bottom - from.1)];
    for (step, room) in sides {
        if step == 0.0 {
            if room < 0.0 {
                return false;
            }
        } else if step < 0.0 {
            first = first.max(room / step);
        } else {
            last = last.min(room / step);
        }
    }
    first <= last
}

#[cfg(test)]
mod tests {
    use super::super::{Figure, Line, Panel};
    use super::*;
    use crate::style::{GREY, INK};

    fn figure(references: Vec<Reference>, points: Vec<(f64, f64)>) -> String {
        let axis = |name: &str| Axis::linear(name, "").from(0.0);
        let mut panel = Panel::new(axis("x"), axis("y"), 200.0);
        panel.add(Line::new(points, Stroke::solid(INK, 1.0)));
        panel.references = references;
        let mut figure = Figure::new("");
        figure.panels.push(panel);
        figure.to_svg()
    }

    fn reference(at: At, label: &str) -> Reference {
        Reference { at, label: label.into(), colour: GREY }
    }

    /// Where a text begins.
    fn place(svg: &str, label: &str) -> (f64, f64) {
        let line = svg.lines().find(|line| line.contains(&format!(">{label}<"))).expect("the label");
        let value = |name: &str| {
            let rest = line.split(&format!("{name}=\"")).nth(1).expect("the attribute");
            rest.split('"').next().and_then(|text| text.parse().ok()).expect("a number")
        };
        (value(" x"), value(" y"))
    }

    #[test]
    fn a_piece_crosses_a_rectangle() {
        let rectangle = [10.0, 10.0, 20.0, 20.0];
        assert!(crosses(&rectangle, [(0.0, 15.0), (30.0, 15.0)]));
        assert!(crosses(&rectangle, [(12.0, 12.0), (13.0, 13.0)]), "inside");
        assert!(!crosses(&rectangle, [(0.0, 12.0), (12.0, 0.0)]), "past the corner");
        assert!(!crosses(&rectangle, [(0.0, 30.0), (30.0, 30.0)]));
        assert!(!crosses(&rectangle, [(0.0, f64::NAN), (30.0, 15.0)]));
    }

    #[test]
    fn axes_reach_as_far_as_the_lines() {
        let svg = figure(vec![reference(At::Y(1_500.0), "stated")], vec![(0.0, 10.0), (10.0, 400.0)]);
        assert!(svg.contains(">1,500<"), "{svg}");
        let share = reference(At::Y(0.98), "stated");
        assert_eq!(share.extent(&Axis::linear("", "").within(0.0, 1.0)).y, Some((0.98, 1.0)));
        assert_eq!(share.extent(&Axis::linear("", "").within(0.0, 0.9)).y, Some((0.98, 0.98)));
        assert!(svg.contains("stroke-dasharray=\"3 2\""));
    }

    #[test]
    fn a_label_stands_where_no_curve_is() {
        // The curve goes up and down across the line in its right half, and is far from it in the left.
        let zigzag = (50..=100).map(|i| (0.1 * f64::from(i), if i % 2 == 0 { 20.0 } else { 80.0 }));
        let points = [(0.0, 0.0), (4.9, 0.0)].into_iter().chain(zigzag).collect();
        let svg = figure(vec![reference(At::Y(50.0), "stated")], points);
        assert!(place(&svg, "stated").0 < 200.0, "{svg}");
    }

    #[test]
    fn labels_do_not_cover_each_other() {
        let same = |label: &str| reference(At::Y(50.0), label);
        let svg = figure(vec![same("first"), same("second"), same("third")], vec![(0.0, 0.0), (10.0, 100.0)]);
        let places = ["first", "second", "third"].map(|label| {
            let (left, bottom) = place(&svg, label);
            [left, bottom - HEIGHT + 4.0, left + text::width(label, TICK), bottom + 4.0]
        });
        for (i, a) in places.iter().enumerate() {
            assert!(places[..i].iter().all(|b| !overlap(a, b)), "{places:?}");
        }
    }

    #[test]
    fn a_label_at_the_right_edge_stands_to_the_left_of_its_line() {
        let svg = figure(vec![reference(At::X(10.0), "the end")], vec![(0.0, 0.0), (10.0, 1.0)]);
        assert!(place(&svg, "the end").0 + text::width("the end", TICK) < 626.0);
    }
}
